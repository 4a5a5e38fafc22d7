//! Files of a zip.

use std::fs::File;
use std::io::{Error as IoError, Read, Result as Io};

use mnemal_core::{Error, Result};
use zip::ZipArchive;

/// Returns the names of the files in a zip.
///
/// # Errors
/// `Invalid` for what is no zip or a damaged one.
pub(super) fn names(file: File) -> Result<Vec<String>> {
    let zip = ZipArchive::new(file).map_err(|why| Error::invalid(format!("no readable zip: {why}")))?;
    let names = zip.file_names().filter_map(std::result::Result::ok).map(std::borrow::Cow::into_owned);
    Ok(names.filter(|name| !name.ends_with('/')).collect())
}

/// Passes the content of a file in a zip to `take`.
///
/// # Errors
/// What keeps it from being unpacked or taken.
pub(super) fn unpack(file: File, name: &str, take: impl FnOnce(&mut dyn Read) -> Io<()>) -> Io<()> {
    let mut zip = ZipArchive::new(file).map_err(IoError::other)?;
    let mut entry = zip.by_name(name).map_err(IoError::other)?;
    take(&mut entry)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::document::container::{PackedFiles, Packing};

    #[test]
    fn files_of_a_zip_are_read_as_they_were_packed() {
        let mut zip = zip::ZipWriter::new(tempfile::tempfile().unwrap());
        let long = "a line of a long file\n".repeat(100_000);
        for (name, text) in [("b/long.txt", long.as_str()), ("a.json", "[]")] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.add_directory("b/", zip::write::SimpleFileOptions::default()).unwrap();
        let files = PackedFiles::open(zip.finish().unwrap(), Packing::Zip).unwrap();
        assert_eq!(files.names(), ["a.json", "b/long.txt"]);
        let mut text = String::new();
        files.read("b/long.txt").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, long);
        assert!(PackedFiles::open(tempfile::tempfile().unwrap(), Packing::Zip).is_err());
    }
}
