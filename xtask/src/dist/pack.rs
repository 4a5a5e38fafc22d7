//! Archives that are the same for the same content: zip, tar with gzip, ar.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use anyhow::{Context as _, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Seconds from the epoch to 1980, before which a zip has no times.
pub(super) const EARLIEST: u64 = 315_532_800;
/// Modes of files that are read, and of those that are run.
pub(super) const READ: u32 = 0o644;
pub(super) const RUN: u32 = 0o755;
/// Size of a block of a tar.
const BLOCK: usize = 512;
/// Most bytes of a name in a tar, and of the folder before it.
const NAME: usize = 100;
const FOLDER: usize = 155;
/// Digits of a number in base 64, for names of digests in a wheel. Source: RFC 4648, section 5.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// One file of a package, or a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its path, with `/`.
    pub(super) path: String,
    /// Its content.
    pub(super) bytes: Vec<u8>,
    /// Who may do what with it.
    pub(super) mode: u32,
}

impl Entry {
    /// Makes a file that is read.
    pub(super) fn file(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), mode: READ }
    }

    /// Makes a file that is run.
    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { mode: RUN, ..Self::file(path, bytes) }
    }
}

/// Packs files into a zip, in their order.
pub(super) fn zip(entries: &[Entry], stamp: u64) -> Result<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(date(stamp).unwrap_or(DateTime::DEFAULT));
    for entry in entries {
        writer.start_file(entry.path.as_str(), options.unix_permissions(entry.mode))?;
        writer.write_all(&entry.bytes)?;
    }
    Ok(writer.finish()?.into_inner())
}

/// Converts seconds since 1970 to a date of the proleptic Gregorian calendar.
fn date(stamp: u64) -> Option<DateTime> {
    const ERA: u64 = 146_097;
    let (days, second) = (stamp / 86_400, stamp % 86_400);
    // Years begin in March here, so that a leap day is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days / ERA, days % ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) =
        if month < 10 { (era * 400 + year, month + 3) } else { (era * 400 + year + 1, month - 9) };
    let small = |number: u64| u8::try_from(number).ok();
    let (hour, minute, second) = (small(second / 3_600)?, small(second / 60 % 60)?, small(second % 60)?);
    let year = u16::try_from(year).ok()?;
    DateTime::from_date_and_time(year, small(month)?, small(day)?, hour, minute, second).ok()
}

/// Packs files into a tar with gzip, in their order.
pub(super) fn tar_gz(entries: &[Entry], stamp: u64) -> Result<Vec<u8>> {
    let mut tar = Vec::new();
    for entry in entries {
        tar.extend(head(entry, stamp)?);
        tar.extend(&entry.bytes);
        tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    gzip(&tar)
}

/// Writes the header of a file of a tar; a path that ends with `/` is a folder.
fn head(entry: &Entry, stamp: u64) -> Result<Vec<u8>> {
    let (folder, name) = split(&entry.path)?;
    let kind = if entry.path.ends_with('/') { b'5' } else { b'0' };
    let mut head = Vec::with_capacity(BLOCK);
    field(&mut head, name, NAME);
    for (number, digits) in [(u64::from(entry.mode), 7), (0, 7), (0, 7)] {
        field(&mut head, &format!("{number:0digits$o}"), digits + 1);
    }
    for number in [u64::try_from(entry.bytes.len())?, stamp] {
        field(&mut head, &format!("{number:011o}"), 12);
    }
    let sum_at = head.len();
    head.extend(b"        ");
    head.push(kind);
    field(&mut head, "", NAME);
    head.extend(b"ustar\x0000");
    field(&mut head, "root", 32);
    field(&mut head, "root", 32);
    field(&mut head, "0000000", 8);
    field(&mut head, "0000000", 8);
    field(&mut head, folder, FOLDER);
    head.resize(BLOCK, 0);
    let sum: u64 = head.iter().map(|byte| u64::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    head.splice(sum_at..sum_at + 8, sum.bytes());
    Ok(head)
}

fn field(head: &mut Vec<u8>, text: &str, size: usize) {
    let end = head.len() + size;
    head.extend(text.bytes());
    head.resize(end, 0);
}

/// Splits a path that is too long for the name of a tar.
fn split(path: &str) -> Result<(&str, &str)> {
    if path.len() <= NAME {
        return Ok(("", path));
    }
    let places = path.match_indices('/').map(|(at, _)| path.split_at(at));
    let mut fitting = places.map(|(folder, rest)| (folder, rest.trim_start_matches('/')));
    let found =
        fitting.find(|(folder, name)| folder.len() <= FOLDER && name.len() <= NAME && !name.is_empty());
    match found {
        Some(found) => Ok(found),
        None => bail!("the path {path} is too long for a tar"),
    }
}

/// Packs bytes with gzip, without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    writer.finish().context("cannot compress")
}

/// Packs files into an ar, which is what a package of Debian is.
pub(super) fn ar(members: &[(&str, &[u8])], stamp: u64) -> Vec<u8> {
    let mut ar = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let head = format!("{name:<16}{stamp:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        ar.extend(head.bytes());
        ar.extend(*bytes);
        if bytes.len() % 2 == 1 {
            ar.push(b'\n');
        }
    }
    ar
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the SHA-256 of bytes as a wheel writes it: in base 64 for addresses, without padding.
pub(super) fn sha256_of_wheel(bytes: &[u8]) -> String {
    let mut text = String::new();
    for part in Sha256::digest(bytes).chunks(3) {
        let bits =
            part.iter().chain([0, 0].iter()).take(3).fold(0, |bits, byte| (bits << 8) | usize::from(*byte));
        let digits = [18, 12, 6, 0].into_iter().map(|shift| DIGITS.get((bits >> shift) & 63));
        text.extend(digits.take(part.len() + 1).flatten().map(|digit| char::from(*digit)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn digests_are_those_of_the_standard() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256_of_wheel(b""), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
    }

    #[test]
    fn a_tar_has_its_files_with_modes_and_long_paths() {
        let long = format!("{}/{}", "folder".repeat(20), "name".repeat(20));
        let entries = [
            Entry::file("./a/", ""),
            Entry::program("./a/run", "#!"),
            Entry::file(long.as_str(), vec![7; 600]),
        ];
        let read = sample::untar(&tar_gz(&entries, EARLIEST).unwrap());
        assert_eq!(read, entries);
        assert!(tar_gz(&[Entry::file("x".repeat(300), "")], EARLIEST).is_err());
    }

    #[test]
    fn a_zip_has_its_files_with_modes_and_the_time_that_is_given() {
        let entries = [Entry::file("a", "text"), Entry::program("b/c", "run")];
        let packed = zip(&entries, 1_709_210_096).unwrap();
        assert_eq!(sample::unzip(&packed), entries);
        let mut archive = zip::ZipArchive::new(Cursor::new(packed)).unwrap();
        let time = archive.by_index(0).unwrap().last_modified().unwrap();
        assert_eq!((time.year(), time.month(), time.day(), time.hour()), (2024, 2, 29, 12));
        assert_eq!(date(EARLIEST), Some(DateTime::DEFAULT));
        assert_eq!(date(0), None);
    }

    #[test]
    fn members_of_an_ar_begin_at_even_places() {
        let ar = ar(&[("one", b"abc"), ("two", b"d")], 5);
        let text = String::from_utf8(ar).unwrap();
        let expected = "!<arch>\none             5           0     0     100644  3         `\nabc\n\
            two             5           0     0     100644  1         `\nd\n";
        assert_eq!(text, expected);
    }
}
