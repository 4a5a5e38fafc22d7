//! Removal of invisible characters.

/// Returns the text without invisible characters, with line breaks as `\n`.
///
/// Removed are C0 and C1 controls except tab and line breaks, bidirectional controls, zero-width and tag characters, blank
/// fillers, and variation selectors that do not follow an emoji. Joiners are kept where the spelling requires them: between
/// letters of joining scripts, and between emoji.
pub(crate) fn clean(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.to_owned();
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    cleaned.push('\n');
                }
            }
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => cleaned.push('\n'),
            '\n' | '\t' => cleaned.push(character),
            '\u{fe0e}' | '\u{fe0f}' => {
                if cleaned.chars().next_back().is_some_and(takes_a_selector) {
                    cleaned.push(character);
                }
            }
            '\u{200c}' | '\u{200d}'
                if cleaned.chars().next_back().zip(characters.peek().copied()).is_some_and(joins) =>
            {
                cleaned.push(character);
            }
            _ if character.is_control() || is_invisible(character) => {}
            _ => cleaned.push(character),
        }
    }
    cleaned
}

/// Returns a name reduced to the characters of a label: letters, digits, spaces and `.`, `-`, `_`, `'`, `@`, `+`; `None` if
/// none is left.
pub(crate) fn clean_name(name: &str) -> Option<String> {
    let allowed = |character: &char| {
        character.is_alphanumeric() || matches!(character, ' ' | '.' | '-' | '_' | '\'' | '@' | '+' | '/')
    };
    let kept: String =
        name.chars().filter(allowed).filter(|character| !is_invisible(*character)).take(48).collect();
    let kept = kept.trim();
    (!kept.is_empty() && !kept.to_ascii_lowercase().contains("mnemal-context")).then(|| kept.to_owned())
}

fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a joiner between two characters is part of a word or of an emoji. Source: Unicode blocks from Arabic to Myanmar, and
/// Mongolian; UTS 51, sequences of emoji.
fn joins((before, behind): (char, char)) -> bool {
    let is_joined = |character| matches!(character, '\u{600}'..='\u{109f}' | '\u{1800}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    let is_emoji = |character| matches!(character, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}');
    let ends_emoji = is_emoji(before) || before == '\u{fe0f}';
    let is_letter = behind.is_alphabetic() && is_joined(behind);
    (is_joined(before) && is_letter) || (ends_emoji && is_emoji(behind))
}

/// Whether a variation selector is meaningful after this character: emoji, symbols with an emoji form, keycaps.
fn takes_a_selector(character: char) -> bool {
    matches!(character,
        '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: NX-08.7
    #[test]
    fn what_nobody_can_see_goes_and_what_is_read_stays() {
        for (text, expect) in [
            ("a\u{0}b\u{7}c\u{9f}d\u{7f}e", "abcde"),
            ("x\u{202e}y\u{2066}z\u{200f}\u{61c}", "xyz"),
            ("in\u{200b}vis\u{200d}ible\u{feff}\u{ad}", "invisible"),
            ("می\u{200c}خواهم بروم\u{200c}", "می\u{200c}خواهم بروم"),
            ("👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥", "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥"),
            ("tag\u{e0041}\u{e007f}s\u{e0100}", "tags"),
            ("a\u{fe0f}b ☀\u{fe0f} 1\u{fe0f}\u{20e3}", "ab ☀\u{fe0f} 1\u{fe0f}\u{20e3}"),
            ("one\r\ntwo\rthree\u{2028}four\tfive", "one\ntwo\nthree\nfour\tfive"),
            ("naïve 日本語 👍🏽 \u{928}\u{93f}", "naïve 日本語 👍🏽 \u{928}\u{93f}"),
        ] {
            assert_eq!(clean(text), expect, "{text:?}");
        }
    }

    #[test]
    fn a_name_in_a_label_cannot_end_the_label() {
        assert_eq!(clean_name("Zoë O'Hara-Lee").unwrap(), "Zoë O'Hara-Lee");
        assert_eq!(clean_name("Eve] \"x\" <system>:\u{202e}\n").unwrap(), "Eve x system");
        assert_eq!(clean_name("]\"<>"), None);
        assert_eq!(clean_name("<mnemal-Context nonce"), None);
        assert_eq!(clean_name(&"a".repeat(300)).unwrap().len(), 48);
    }
}
