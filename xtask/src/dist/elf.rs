//! Needs of an ELF program: its processor, the version of the C library, and its libraries by name.

use anyhow::{Context as _, Result, bail};

use super::bytes::Bytes;

/// The start of a 64-bit little-endian file.
const START: &[u8] = b"\x7fELF\x02\x01";
/// Types of sections, an entry and a flag. Source: the System V ABI, and the Linux Standard Base for versions.
const DYNAMIC: u32 = 6;
const VERSION_NEEDS: u32 = 0x6fff_fffe;
const NEEDED: usize = 1;
const WEAK: u16 = 2;
/// Size of an entry of the dynamic section.
const ENTRY: usize = 16;

/// What a program asks of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needs {
    /// Number of the processor.
    pub(super) machine: u16,
    /// The newest version of the C library whose symbols it cannot do without; `None` for a static program.
    pub(super) glibc: Option<(u32, u32)>,
    /// Libraries by the names of their files.
    pub(super) libraries: Vec<String>,
}

/// Whether a file is an ELF file.
pub(super) fn is_elf(file: &[u8]) -> bool {
    file.starts_with(b"\x7fELF")
}

/// Reads what a program needs.
pub(super) fn needs(file: &[u8]) -> Result<Needs> {
    if !file.starts_with(START) {
        bail!("the program is not a 64-bit little-endian ELF file");
    }
    let file = Bytes(file);
    let mut needs = Needs { machine: file.u16(18)?, glibc: None, libraries: Vec::new() };
    let sections = sections(file)?;
    let names = |section: &Section| {
        sections.get(section.link).map(|names| names.offset).context("a section without its names")
    };
    for section in &sections {
        match section.kind {
            DYNAMIC => needs.libraries = libraries(file, section, names(section)?)?,
            VERSION_NEEDS => needs.glibc = newest(file, section, names(section)?)?,
            _ => {}
        }
    }
    Ok(needs)
}

/// One row of the table of sections.
struct Section {
    kind: u32,
    offset: usize,
    size: usize,
    link: usize,
    count: usize,
}

fn sections(file: Bytes<'_>) -> Result<Vec<Section>> {
    let (table, size) = (file.long(40)?, usize::from(file.u16(58)?));
    let count = usize::from(file.u16(60)?);
    let places = (0..count).map(|number| table.saturating_add(number.saturating_mul(size)));
    places
        .map(|at| {
            Ok(Section {
                kind: file.u32(at + 4)?,
                offset: file.long(at + 24)?,
                size: file.long(at + 32)?,
                link: file.short(at + 40)?,
                count: file.short(at + 44)?,
            })
        })
        .collect()
}

fn libraries(file: Bytes<'_>, section: &Section, names: usize) -> Result<Vec<String>> {
    let places = (0..section.size / ENTRY).map(|number| section.offset + number * ENTRY);
    let mut libraries = Vec::new();
    for at in places {
        if file.long(at)? == NEEDED {
            libraries.push(file.name(names + file.long(at + 8)?)?);
        }
    }
    libraries.sort();
    Ok(libraries)
}

/// Returns the newest version of the C library among those that are needed by more than weak symbols.
fn newest(file: Bytes<'_>, section: &Section, names: usize) -> Result<Option<(u32, u32)>> {
    let (mut at, mut newest) = (section.offset, None);
    for _library in 0..section.count {
        let mut version = at + file.short(at + 8)?;
        for _version in 0..file.u16(at + 2)? {
            let is_weak = file.u16(version + 4)? & WEAK != 0;
            let name = file.name(names + file.short(version + 8)?)?;
            if !is_weak {
                newest = newest.max(glibc(&name));
            }
            version += file.short(version + 12)?;
        }
        at += file.short(at + 12)?;
    }
    Ok(newest)
}

/// Reads `GLIBC_2.17` and `GLIBC_2.2.5`; other names are of other libraries.
fn glibc(name: &str) -> Option<(u32, u32)> {
    // Relative relocations in their packed form have a name in place of a version. Source: the release notes of glibc 2.36.
    if name == "GLIBC_ABI_DT_RELR" {
        return Some((2, 36));
    }
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn versions_and_libraries_of_a_program_are_read() {
        let versions =
            [("libc.so.6", "GLIBC_2.2.5", 0), ("libc.so.6", "GLIBC_2.28", 0), ("libm.so.6", "GLIBC_2.9", 0)];
        let needs = needs(&sample::program(&versions)).unwrap();
        assert_eq!(needs.glibc, Some((2, 28)));
        assert_eq!(needs.libraries, ["libc.so.6", "libm.so.6"]);
        assert_eq!(needs.machine, 62);
    }

    #[test]
    fn a_weak_symbol_asks_for_no_newer_library() {
        let versions = [("libc.so.6", "GLIBC_2.17", 0), ("libc.so.6", "GLIBC_2.39", WEAK)];
        assert_eq!(needs(&sample::program(&versions)).unwrap().glibc, Some((2, 17)));
    }

    #[test]
    fn a_program_that_is_cut_off_is_an_error() {
        let program = sample::program(&[("libc.so.6", "GLIBC_2.17", 0)]);
        for length in [0, 6, 40, program.len() / 2, program.len() - 20] {
            assert!(needs(&program[..length]).is_err(), "{length}");
        }
    }
}
