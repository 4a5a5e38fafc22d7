//! Independent byte search for words in a folder, not the engine's own.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Result;

/// Events a page.
pub(super) const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// First bytes by which a form is looked up.
const HEAD: usize = 4;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns which of some words, of letters of ASCII alone, a file below a folder holds, each with the first place.
///
/// Such a word looks the same escaped as in JSON and in addresses, so that beside itself in any case there are its forms in
/// UTF-16 and in base64.
pub(super) fn holding(folder: &Path, words: &[String]) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    look(folder, &Needles::of(words), words, &mut found)?;
    Ok(found)
}

fn look(
    folder: &Path,
    needles: &Needles,
    words: &[String],
    found: &mut BTreeMap<String, String>,
) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            look(&path, needles, words, found)?;
            continue;
        }
        let (name, bytes) = (entry.file_name().to_string_lossy().to_lowercase(), fs::read(&path)?);
        let mut places = Vec::new();
        needles.find(name.as_bytes(), "its name", &mut places);
        needles.find(&bytes.to_ascii_lowercase(), "its bytes", &mut places);
        needles.find(&bytes, "its base64", &mut places);
        for (word, place) in places {
            if let Some(word) = words.get(word) {
                found.entry(word.clone()).or_insert_with(|| format!("{}: {place}", path.display()));
            }
        }
    }
    Ok(())
}

/// What is looked for, by its first bytes, so that one way through a file finds all of it.
struct Needles(HashMap<[u8; HEAD], Vec<(usize, Vec<u8>)>>);

impl Needles {
    fn of(words: &[String]) -> Self {
        let mut by_head: HashMap<[u8; HEAD], Vec<(usize, Vec<u8>)>> = HashMap::new();
        for (number, word) in words.iter().enumerate() {
            let small = word.to_ascii_lowercase();
            // The other order of UTF-16 holds these bytes too, but for the outermost ones.
            let mut wide: Vec<u8> = small.bytes().flat_map(|byte| [byte, 0]).collect();
            wide.pop();
            let mut forms = vec![small.clone().into_bytes(), wide];
            forms.extend((0..3).flat_map(|shift| [word, &small].map(|text| base64(text.as_bytes(), shift))));
            for form in forms {
                if let Some(head) = form.first_chunk::<HEAD>() {
                    by_head.entry(*head).or_default().push((number, form.clone()));
                }
            }
        }
        Self(by_head)
    }

    fn find(&self, bytes: &[u8], place: &'static str, found: &mut Vec<(usize, &'static str)>) {
        for (at, head) in bytes.array_windows::<HEAD>().enumerate() {
            for (number, form) in self.0.get(head).into_iter().flatten() {
                if bytes.get(at..).is_some_and(|rest| rest.starts_with(form)) {
                    found.push((*number, place));
                }
            }
        }
    }
}

/// Encodes the text behind `shift` zero bytes, without the digits that depend on what stands around it.
fn base64(text: &[u8], shift: usize) -> Vec<u8> {
    let padded: Vec<u8> = vec![0; shift].into_iter().chain(text.iter().copied()).collect();
    let mut digits = Vec::new();
    for group in padded.chunks_exact(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        for place in [18, 12, 6, 0] {
            digits.extend(DIGITS.get((bits >> place & 63) as usize));
        }
    }
    digits.get([0, 2, 3].get(shift).copied().unwrap_or_default()..).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_any_form_and_in_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["Xvelzorab".to_owned()];
        // Base64 by coreutils: "the Xvelzorab flies", "a Xvelzorab", "of Xvelzorab".
        for (name, bytes) in [
            ("plain", b"-- XVELzorab --".to_vec()),
            ("wide", "xvelzorab".encode_utf16().flat_map(u16::to_be_bytes).collect()),
            ("encoded0", b"dGhlIFh2ZWx6b3JhYiBmbGllcw==".to_vec()),
            ("encoded1", b"YSBYdmVsem9yYWI=".to_vec()),
            ("encoded2", b"b2YgWHZlbHpvcmFi".to_vec()),
            ("named-xvelzorab", b"nothing".to_vec()),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            assert_eq!(holding(folder.path(), &words).unwrap().len(), 1, "{name}");
            fs::remove_file(path).unwrap();
        }
        fs::write(folder.path().join("other"), "xvelzorba").unwrap();
        assert!(holding(folder.path(), &words).unwrap().is_empty());
    }
}
