//! The encodings in which bytes can hold a text, and a single-pass search for all of them.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// First bytes of a form by which it is looked up; a shorter form is compared everywhere.
const HEAD: usize = 4;
/// Bits of the prefilter, which most positions do not pass. Source: own choice, 8 KB, which stay in the L1 cache.
const FILTER_BITS: u32 = 16;
/// The digits of base64. Source: RFC 4648, table 1.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// One encoded form of one text.
#[derive(Debug)]
struct EncodedText {
    text: usize,
    name: &'static str,
    bytes: Vec<u8>,
}

/// The forms of some texts.
#[derive(Debug)]
pub(super) struct EncodedTexts {
    texts: Vec<usize>,
    all: Vec<EncodedText>,
    by_head: HashMap<[u8; HEAD], Vec<usize>>,
    short: Vec<usize>,
    filter: Vec<u64>,
    longest: usize,
}

impl EncodedTexts {
    /// Prepares the search; empty texts have no form.
    pub(super) fn of(texts: &[String]) -> Self {
        let mut all = Self {
            texts: Vec::new(),
            all: Vec::new(),
            by_head: HashMap::new(),
            short: Vec::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            longest: 0,
        };
        for (text, words) in texts.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
            all.texts.push(text);
            let mut known = BTreeSet::new();
            for (name, bytes) in encodings(words) {
                if known.insert(bytes.clone()) {
                    all.add(EncodedText { text, name, bytes });
                }
            }
        }
        all
    }

    fn add(&mut self, form: EncodedText) {
        let at = self.all.len();
        self.longest = self.longest.max(form.bytes.len());
        match form.bytes.first_chunk::<HEAD>() {
            Some(head) => {
                let bit = bit_of(*head);
                if let Some(word) = self.filter.get_mut(bit >> 6) {
                    *word |= 1 << (bit & 63);
                }
                self.by_head.entry(*head).or_default().push(at);
            }
            None => self.short.push(at),
        }
        self.all.push(form);
    }

    /// Whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the texts with a form.
    pub(super) fn texts(&self) -> &[usize] {
        &self.texts
    }

    /// Returns the length of the longest form, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Adds the texts that occur in the bytes, each with the name of its form.
    pub(super) fn find(&self, bytes: &[u8], hits: &mut BTreeSet<(usize, &'static str)>) {
        for (at, head) in bytes.array_windows::<HEAD>().enumerate() {
            let bit = bit_of(*head);
            if self.filter.get(bit >> 6).is_none_or(|word| word >> (bit & 63) & 1 == 0) {
                continue;
            }
            for form in self.by_head.get(head).into_iter().flatten() {
                self.compare(*form, bytes.get(at..).unwrap_or_default(), hits);
            }
        }
        for form in &self.short {
            for at in 0..bytes.len() {
                self.compare(*form, bytes.get(at..).unwrap_or_default(), hits);
            }
        }
    }

    fn compare(&self, form: usize, bytes: &[u8], hits: &mut BTreeSet<(usize, &'static str)>) {
        if let Some(form) = self.all.get(form).filter(|form| bytes.starts_with(&form.bytes)) {
            hits.insert((form.text, form.name));
        }
    }
}

/// Returns the filter bit of a prefix.
fn bit_of(head: [u8; HEAD]) -> usize {
    // Knuth's multiplicative hash; its highest bits are mixed best.
    (u32::from_le_bytes(head).wrapping_mul(2_654_435_769) >> (32 - FILTER_BITS)) as usize
}

/// Returns the named forms of a text; some may be the same bytes, none is empty.
fn encodings(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let escaped = serde_json::to_string(text).unwrap_or_default();
    let escaped = escaped.get(1..escaped.len().saturating_sub(1)).unwrap_or_default().as_bytes().to_vec();
    let mut all = vec![
        ("as it is", text.as_bytes().to_vec()),
        ("in lower case", text.to_lowercase().into_bytes()),
        ("as UTF-16, low byte first", wide(u16::to_le_bytes)),
        ("as UTF-16, high byte first", wide(u16::to_be_bytes)),
        ("escaped as in JSON", escaped),
        ("escaped as in JSON, ASCII only", ascii_only(text)),
        ("escaped as in addresses", percent(text)),
    ];
    all.extend((0..3).map(|shift| ("as base64", base64(text.as_bytes(), shift))));
    all.retain(|(_, bytes)| !bytes.is_empty());
    all
}

fn ascii_only(text: &str) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out.into_bytes()
}

fn percent(text: &str) -> Vec<u8> {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out.into_bytes()
}

/// Returns the digits that depend on the text alone, if `shift` bytes, 0 to 2, precede it in its group of three.
fn base64(text: &[u8], shift: usize) -> Vec<u8> {
    let bits = |at: usize| -> u32 {
        let byte = |at: usize| at.checked_sub(shift).and_then(|at| text.get(at)).copied().unwrap_or_default();
        let group = at / 4 * 3;
        let group = u32::from_be_bytes([0, byte(group), byte(group + 1), byte(group + 2)]);
        group >> (18 - 6 * (at % 4)) & 63
    };
    let first = (8 * shift).div_ceil(6);
    let end = 8 * (shift + text.len()) / 6;
    (first..end).filter_map(|at| DIGITS.get(bits(at) as usize).copied()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The forms of a text, for the search through files.
    pub(in super::super) fn encodings(text: &str) -> Vec<(&'static str, Vec<u8>)> {
        super::encodings(text)
    }

    #[test]
    fn base64_is_what_an_encoder_writes_whatever_stands_around_the_text() {
        // `base64` of coreutils over "xyzHello, 123", "xHello, 123" and "yzHello, 123".
        for (shift, encoded) in
            [(0, "eHl6SGVsbG8sIDEyMw=="), (1, "eEhlbGxvLCAxMjM="), (2, "eXpIZWxsbywgMTIz")]
        {
            let digits = String::from_utf8(base64(b"Hello, 123", shift)).unwrap();
            assert!(encoded.contains(&digits), "{shift}: {digits}");
            assert!(digits.len() >= 12, "{shift}: {digits}");
        }
    }

    #[test]
    fn each_of_many_texts_is_told_apart_and_the_shortest_is_found() {
        let texts: Vec<String> =
            (0..500).map(|n| format!("text number {n};")).chain(["ab".to_owned()]).collect();
        let forms = EncodedTexts::of(&texts);
        let mut hits = BTreeSet::new();
        forms.find(b"before text number 41; between text number 499; behind xaby", &mut hits);
        let found: Vec<usize> =
            hits.iter().filter(|(_, name)| *name == "as it is").map(|(text, _)| *text).collect();
        assert_eq!(found, [41, 499, 500]);
    }

    #[test]
    fn an_address_holds_what_it_may_and_no_more() {
        assert_eq!(percent("a b/ü~"), b"a%20b%2F%C3%BC~");
    }
}
