//! Package of the trained reader: a wheel whose file lies where the program looks for it.

use anyhow::Result;

use super::pack::{self, Entry};
use super::parts::{LICENSE, NAME, Parts, REPOSITORY};
use super::wheel::record;

/// The trained reader, and what is to be known about it.
const MODEL: &str = "crates/mnemal-reader/model/reader.mnrd";
const CARD: &str = "crates/mnemal-reader/model/README.md";
/// Where the program looks for it, beside the folder of programs.
const PLACE: &str = "share/mnemal/reader.mnrd";

/// Makes the wheel, which is for every platform.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    let release = format!("{NAME}_reader-{}", parts.version);
    let info = format!("{release}.dist-info");
    let mut entries = vec![
        Entry::file(format!("{release}.data/data/{PLACE}"), parts.source(MODEL)?),
        Entry::file(format!("{info}/METADATA"), metadata(parts)?),
        Entry::file(
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
    ];
    entries.extend(parts.licenses(&format!("{info}/licenses/"))?);
    entries.push(Entry::file(format!("{info}/RECORD"), record(&entries, &info)));
    Ok(vec![Entry::file(format!("{release}-py3-none-any.whl"), pack::zip(&entries, parts.stamp)?)])
}

fn metadata(parts: &Parts) -> Result<String> {
    let (version, card) = (&parts.version, parts.text(CARD)?);
    Ok(format!(
        "Metadata-Version: 2.4\nName: {NAME}-reader\nVersion: {version}\n\
         Summary: A trained model that votes with the extraction rules of mnemal\n\
         License-Expression: {LICENSE}\nProject-URL: Source, {REPOSITORY}\nRequires-Python: >=3.9\n\
         Description-Content-Type: text/markdown\n\n{card}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn the_reader_lies_where_the_program_looks_for_it() {
        let made = make(&sample::parts()).unwrap().remove(0);
        assert_eq!(made.path, "mnemal_reader-0.1.0-py3-none-any.whl");
        let entries = sample::unzip(&made.bytes);
        let file = sample::file(&entries, "mnemal_reader-0.1.0.data/data/share/mnemal/reader.mnrd");
        assert!(file.bytes.starts_with(b"MNRD2\n"));
        let record = sample::text(&entries, "mnemal_reader-0.1.0.dist-info/RECORD");
        assert_eq!(record.lines().count(), entries.len());
        assert!(sample::text(&entries, "mnemal_reader-0.1.0.dist-info/licenses/NOTICE").contains("e5-small"));
    }
}
