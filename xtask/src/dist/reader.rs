//! Packages of the trained reader: a wheel whose file lies where the program looks for it, and the bare file.

use anyhow::Result;

use super::pack::{self, Entry};
use super::parts::{LICENSE, NAME, Parts, REPOSITORY};
use super::wheel::record;

/// The trained reader, and what is to be known about it.
const MODEL: &str = "crates/mnemal-reader/model/reader.mnrd";
const CARD: &str = "crates/mnemal-reader/model/README.md";
/// Where the program looks for it, beside the folder of programs.
const PLACE: &str = "share/mnemal/reader.mnrd";

/// Makes the wheel, which is for every platform, and the file that `mnemal models add` takes.
pub(super) fn make(parts: &Parts) -> Result<Vec<Entry>> {
    let release = format!("{NAME}_reader-{}", parts.version);
    let info = format!("{release}.dist-info");
    let model = parts.source(MODEL)?;
    let mut entries = vec![
        Entry::file(format!("{release}.data/data/{PLACE}"), model.as_slice()),
        Entry::file(format!("{info}/METADATA"), metadata(parts)?),
        Entry::file(
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: xtask\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
    ];
    entries.extend(parts.own_licenses(&format!("{info}/licenses/"))?);
    entries.push(Entry::file(format!("{info}/RECORD"), record(&entries, &info)));
    let wheel = Entry::file(name(parts), pack::zip(&entries, parts.stamp)?);
    Ok(vec![wheel, Entry::file(format!("{NAME}-reader-{}.mnrd", parts.version), model)])
}

/// Returns the name of the wheel.
pub(super) fn name(parts: &Parts) -> String {
    format!("{NAME}_reader-{}-py3-none-any.whl", parts.version)
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
    use crate::dist::sample::{self, VERSION};

    #[test]
    fn the_reader_lies_where_the_program_looks_for_it() {
        let made = make(&sample::parts()).unwrap();
        let wheel = sample::file(&made, &format!("mnemal_reader-{VERSION}-py3-none-any.whl"));
        let entries = sample::unzip(&wheel.bytes);
        let release = format!("mnemal_reader-{VERSION}");
        let file = sample::file(&entries, &format!("{release}.data/data/share/mnemal/reader.mnrd"));
        assert!(file.bytes.starts_with(b"MNRD2\n"));
        assert_eq!(sample::file(&made, &format!("mnemal-reader-{VERSION}.mnrd")).bytes, file.bytes);
        let info = format!("{release}.dist-info");
        let record = sample::text(&entries, &format!("{info}/RECORD"));
        assert_eq!(record.lines().count(), entries.len());
        assert!(sample::text(&entries, &format!("{info}/licenses/NOTICE")).contains("e5-small"));
        assert!(entries.iter().all(|entry| !entry.path.contains("THIRD-PARTY")), "it has no code of others");
    }
}
