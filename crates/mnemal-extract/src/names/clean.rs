//! Name normalization, the single intake for names from every source.

use crate::names::token::POSSESSIVES;

/// The longest name, in characters. Source: own choice.
const LONGEST: usize = 80;

/// Normalizes a name: control and format characters are removed, white space becomes single spaces, and surrounding signs and a
/// possessive ending are removed. `None` without a letter or digit, or for more than 80 characters.
///
/// ```
/// assert_eq!(mnemal_extract::clean_name(" Anna\u{200b}  Weber's, ").as_deref(), Some("Anna Weber"));
/// assert_eq!(mnemal_extract::clean_name("?!"), None);
/// ```
#[must_use]
pub fn clean_name(name: &str) -> Option<String> {
    let mut clean = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_whitespace() {
            if !clean.ends_with(' ') {
                clean.push(' ');
            }
        } else if !is_invisible(c) {
            clean.push(c);
        }
    }
    let bare = bare(&clean);
    let fits = bare.chars().count() <= LONGEST && bare.chars().any(char::is_alphanumeric);
    fits.then(|| bare.to_owned())
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Without signs around it and without a possessive ending.
fn bare(name: &str) -> &str {
    let mut name = name.trim();
    loop {
        let before = name.len();
        name = name.trim_end_matches(|c: char| is_closing(c) || c.is_whitespace());
        name = name.trim_start_matches(|c: char| is_opening(c) || c.is_whitespace());
        for ending in POSSESSIVES {
            name = name.strip_suffix(ending).filter(|bare| !bare.is_empty()).unwrap_or(name);
        }
        if name.len() == before {
            return name;
        }
    }
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        ',' | ';'
            | ':'
            | '?'
            | '"'
            | '\''
            | '’'
            | '”'
            | '»'
            | ')'
            | ']'
            | '}'
            | '*'
            | '…'
            | '。'
            | '，'
            | '、'
            | '`'
            | '>'
    ) || c == '!'
}

fn is_opening(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '‘'
            | '“'
            | '„'
            | '«'
            | '('
            | '['
            | '{'
            | '*'
            | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '`'
            | '<'
            | '-'
            | '–'
            | '—'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_does_not_belong_to_them() {
        let check =
            |name: &str, clean: Option<&str>| assert_eq!(clean_name(name).as_deref(), clean, "{name:?}");
        check("Anna\u{7}'s", Some("Anna"));
        check("“St. Malo”,", Some("St. Malo"));
        check("Ana\u{202e} \n Silva’s!", Some("Ana Silva"));
        check("U.S.", Some("U.S."));
        check("'s", Some("s"));
        check(&"x".repeat(80), Some(&"x".repeat(80)));
        check(&"x".repeat(81), None);
        check(" … ", None);
    }
}
