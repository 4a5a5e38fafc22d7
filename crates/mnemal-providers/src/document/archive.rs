//! Zip containers, read in memory within limits; zip bombs are refused, and nothing is unpacked to disk.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

/// Most files in a container. Source: own choice; long books have some thousand.
const FILES: usize = 10_000;
/// Highest expansion ratio of a container. Source: own choice; zip bombs exceed it.
const RATIO: u64 = 100;
/// Bytes of content that are always allowed: small containers of plain text are packed well. Source: own choice.
const ALWAYS: u64 = 4 * 1024 * 1024;
/// Most bytes of content that are read at all. Source: own choice, a quarter of the child's memory.
const MOST: u64 = 128 * 1024 * 1024;

/// A container.
#[derive(Debug)]
pub(super) struct Archive<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    left: u64,
}

impl<'b> Archive<'b> {
    /// Opens a container and checks the names in it.
    ///
    /// # Errors
    /// The reason: no container, too many files, a name that leads outside, a link.
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, String> {
        let mut zip =
            ZipArchive::new(Cursor::new(bytes)).map_err(|why| format!("no readable container: {why}"))?;
        if zip.len() > FILES {
            return Err(format!("a container of more than {FILES} files"));
        }
        for place in 0..zip.len() {
            let file = zip.by_index_raw(place).map_err(|why| format!("a damaged container: {why}"))?;
            let name = file.name().map_err(|why| format!("a damaged container: {why}"))?;
            if file.enclosed_name().is_none() || leads_outside(&name) {
                return Err("a container with a name that leads outside of it".to_owned());
            }
            if file.is_symlink() {
                return Err("a container with a link in it".to_owned());
            }
        }
        let allowed = (bytes.len() as u64).saturating_mul(RATIO).clamp(ALWAYS, MOST);
        Ok(Self { zip, left: allowed })
    }

    /// Returns the text of a file; `None` when there is none of this name.
    ///
    /// # Errors
    /// The reason: it is damaged, larger than allowed, or not UTF-8.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let mut file = match self.zip.by_name(name) {
            Ok(file) => file,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(why) => return Err(format!("a damaged container: {why}")),
        };
        let mut bytes = Vec::new();
        let read = (&mut file).take(self.left + 1).read_to_end(&mut bytes);
        read.map_err(|why| format!("a damaged container: {why}"))?;
        let length = bytes.len() as u64;
        if length > self.left {
            return Err(format!("a container that holds more than {RATIO} times its size"));
        }
        self.left -= length;
        super::decode(&bytes).map(Some)
    }
}

fn leads_outside(name: &str) -> bool {
    name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..")
}
