//! Stand-ins for a built program and its pages, and readers of archives, for tests.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};

use flate2::read::GzDecoder;

use super::pack::{EARLIEST, Entry};
use super::parts::Parts;
use super::target::Target;
use crate::workspace::root;

/// The version of the stand-in.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns an ELF file without code that needs these versions: the library, the version, its flags.
pub(super) fn program(versions: &[(&str, &str, u16)]) -> Vec<u8> {
    let libraries: BTreeSet<&str> = versions.iter().map(|(library, ..)| *library).collect();
    let mut names = vec![0];
    let mut name = |text: &str| {
        let at = u32::try_from(names.len()).unwrap();
        names.extend(text.bytes().chain([0]));
        at
    };
    let (mut needs, mut dynamic) = (Vec::new(), Vec::new());
    for (number, library) in (1..).zip(&libraries) {
        let own: Vec<_> = versions.iter().filter(|(of, ..)| of == library).collect();
        let at = name(library);
        dynamic.extend([1_u64.to_le_bytes(), u64::from(at).to_le_bytes()].concat());
        let next = if number == libraries.len() { 0 } else { 16 + 16 * own.len() };
        needs.extend([1_u16, u16::try_from(own.len()).unwrap()].map(u16::to_le_bytes).concat());
        needs.extend([at, 16, u32::try_from(next).unwrap()].map(u32::to_le_bytes).concat());
        for (number, (_, version, flags)) in (1..).zip(&own) {
            needs.extend([0_u32.to_le_bytes().as_slice(), &flags.to_le_bytes(), &[0, 0]].concat());
            let next = if number == own.len() { 0 } else { 16_u32 };
            needs.extend([name(version), next].map(u32::to_le_bytes).concat());
        }
    }
    elf(&names, &needs, (&dynamic, libraries.len()))
}

fn elf(names: &[u8], needs: &[u8], (dynamic, n_libraries): (&[u8], usize)) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(18, 0);
    file.extend(62_u16.to_le_bytes());
    file.resize(64, 0);
    let mut sections = vec![0; 64];
    let kinds = [(3_u32, names, 0), (0x6fff_fffe, needs, n_libraries), (6, dynamic, 0)];
    for (kind, bytes, info) in kinds.into_iter().filter(|(_, bytes, _)| !bytes.is_empty()) {
        let (offset, size) = (file.len() as u64, bytes.len() as u64);
        sections.extend([0, kind].map(u32::to_le_bytes).concat());
        sections.extend([0, 0, offset, size].map(u64::to_le_bytes).concat());
        sections.extend([1, u32::try_from(info).unwrap()].map(u32::to_le_bytes).concat());
        sections.extend([0_u64; 2].map(u64::to_le_bytes).concat());
        file.extend(bytes);
    }
    let count = u16::try_from(sections.len() / 64).unwrap();
    let table = (file.len() as u64).to_le_bytes();
    file[40..48].copy_from_slice(&table);
    file[58..60].copy_from_slice(&64_u16.to_le_bytes());
    file[60..62].copy_from_slice(&count.to_le_bytes());
    file.extend(sections);
    file
}

/// Returns what packages are made from, with a stand-in for the program.
pub(super) fn parts() -> Parts {
    let program = program(&[("libc.so.6", "GLIBC_2.28", 0), ("libgcc_s.so.1", "GCC_3.0", 0)]);
    Parts {
        root: root(),
        version: VERSION.to_owned(),
        stamp: EARLIEST,
        target: Target::of(&program).unwrap(),
        module: Some(self::program(&[("libc.so.6", "GLIBC_2.17", 0)])),
        program,
        notices: "serde 1.0: MIT OR Apache-2.0\n".to_owned(),
        man: vec![("mnemal.1".to_owned(), b".TH mnemal 1\n".to_vec())],
        completions: vec![("bash", b"complete mnemal\n".to_vec()), ("zsh", b"#compdef mnemal\n".to_vec())],
    }
}

/// Reads the files of a tar with gzip.
pub(super) fn untar(packed: &[u8]) -> Vec<Entry> {
    let mut tar = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut tar).unwrap();
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.iter().copied().take_while(|byte| *byte != 0).collect()).unwrap()
    };
    let number = |bytes: &[u8]| u32::from_str_radix(&text(bytes), 8).unwrap();
    let (mut at, mut entries) = (0, Vec::new());
    while tar[at] != 0 {
        let head = &tar[at..at + 512];
        let sum: u32 = head
            .iter()
            .enumerate()
            .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
            .sum();
        assert_eq!(sum, number(&head[148..155]), "the sum of a header");
        let (name, folder, size) =
            (text(&head[..100]), text(&head[345..500]), number(&head[124..136]) as usize);
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let bytes = tar[at + 512..at + 512 + size].to_vec();
        entries.push(Entry { path, bytes, mode: number(&head[100..108]) });
        at += 512 + size.next_multiple_of(512);
    }
    entries
}

/// Reads the files of a zip.
pub(super) fn unzip(packed: &[u8]) -> Vec<Entry> {
    let mut archive = zip::ZipArchive::new(Cursor::new(packed)).unwrap();
    let mut entries = Vec::new();
    for number in 0..archive.len() {
        let mut file = archive.by_index(number).unwrap();
        let mut bytes = Vec::new();
        let path = file.name().unwrap().into_owned();
        let mode = file.unix_mode().unwrap() & 0o777;
        file.read_to_end(&mut bytes).unwrap();
        entries.push(Entry { path, bytes, mode });
    }
    entries
}

/// Returns the file of this path.
pub(super) fn file<'e>(entries: &'e [Entry], path: &str) -> &'e Entry {
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    entries.iter().find(|entry| entry.path == path).unwrap_or_else(|| panic!("no {path} in {paths:?}"))
}

/// Returns a file as text.
pub(super) fn text(entries: &[Entry], path: &str) -> String {
    String::from_utf8(file(entries, path).bytes.clone()).unwrap()
}
