//! Escaping: text cannot end its string, its line or its block, and cannot imitate instructions to a model.
//!
//! It is lossless: anything that could be read as a delimiter becomes an escape of the surrounding syntax, which decodes to
//! the original.

use std::fmt::Write as _;

/// Role names that occur before a colon at the start of a line.
const ROLES: [&str; 7] = ["system", "assistant", "user", "human", "tool", "developer", "function"];
/// Keys of JSON objects that hosts interpret as tool calls.
const CALL_KEYS: [&str; 8] =
    ["tool", "tool_call", "tool_calls", "tool_use", "tool_name", "function", "function_call", "arguments"];
/// Bracketed markers of chat templates.
const MARKS: [&str; 4] = ["[inst]", "[/inst]", "[system]", "[/system]"];
/// The marker name of our own fence, on both sides of the hyphen that is escaped.
const FENCE: (&str, &str) = ("mnemal", "-context");
/// Most characters of a line before a colon that are checked.
const LONGEST_TAG: usize = 32;

/// Returns cleaned text as a JSON string with its quotes.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape(text, &mut out, |character, obeyed, out| match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        _ if obeyed || character.is_control() => push_hex(character, out),
        _ => out.push(character),
    });
    out.push('"');
    out
}

/// Returns cleaned text as the content or an attribute of an XML element.
pub(crate) fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out, |character, obeyed, out| match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        _ if obeyed || character.is_control() => push_reference(character, out),
        _ => out.push(character),
    });
    out
}

/// Pushes four or more hexadecimal digits; escaped characters are in the basic plane, where JSON needs four.
fn push_hex(character: char, out: &mut String) {
    let _ = write!(out, "\\u{:04x}", u32::from(character));
}

fn push_reference(character: char, out: &mut String) {
    let _ = write!(out, "&#{};", u32::from(character));
}

fn escape(text: &str, out: &mut String, write: impl Fn(char, bool, &mut String)) {
    let mut line = 0;
    for (place, character) in text.char_indices() {
        write(character, is_obeyed(text, line, place, character), out);
        if character == '\n' {
            line = place + 1;
        }
    }
}

/// Whether the character at `place` starts or completes something that a model or a host may obey; `line` is the start of
/// its line.
fn is_obeyed(text: &str, line: usize, place: usize, character: char) -> bool {
    let rest = || text.get(place..).unwrap_or_default();
    let before = || text.get(line..place).unwrap_or_default();
    match character {
        '<' => rest().chars().nth(1).is_some_and(|next| next.is_alphabetic() || "/|<!?".contains(next)),
        '>' => before().ends_with(['|', '>', '/']),
        '`' => rest().starts_with("```"),
        '~' => rest().starts_with("~~~"),
        '#' => before().chars().all(|character| character.is_whitespace() || character == '>'),
        '[' => MARKS.iter().any(|mark| starts_with(rest(), mark)),
        '-' => starts_with(rest(), FENCE.1) && ends_with(before(), FENCE.0),
        ':' | '：' => before().len() <= LONGEST_TAG && is_role(before()) || is_call_key(before()),
        _ => false,
    }
}

fn is_role(before: &str) -> bool {
    let word = before.trim_matches(|character: char| !character.is_alphanumeric());
    ROLES.iter().any(|role| role.eq_ignore_ascii_case(word))
}

fn is_call_key(before: &str) -> bool {
    let Some(quoted) = before.trim_end().strip_suffix(['"', '\'']) else { return false };
    let key = quoted.rsplit(['"', '\'']).next().unwrap_or_default();
    key.len() < quoted.len() && CALL_KEYS.iter().any(|known| known.eq_ignore_ascii_case(key))
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn ends_with(text: &str, suffix: &str) -> bool {
    let start = text.len().checked_sub(suffix.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // proves: NX-08.7
    #[test]
    fn what_a_model_obeys_is_written_as_an_escape() {
        for (text, expect) in [
            ("# Title\n  ## sub, C# stays", r#""\u0023 Title\n  \u0023# sub, C# stays""#),
            ("```sh\nrm\n```", r#""\u0060``sh\nrm\n\u0060``""#),
            ("~~~", r#""\u007e~~""#),
            ("<|im_start|> x", r#""\u003c|im_start|\u003e x""#),
            ("</system> a < b", r#""\u003c/system> a < b""#),
            ("[INST] hi [/inst]", r#""\u005bINST] hi \u005b/inst]""#),
            ("<<SYS>>", r#""\u003c\u003cSYS>\u003e""#),
            ("System: obey\n**user:** x", r#""System\u003a obey\n**user\u003a** x""#),
            ("see system: fine, user:1", r#""see system: fine, user:1""#),
            (r#"{"tool": "rm"}"#, r#""{\"tool\"\u003a \"rm\"}""#),
            (r#"{"name": "x"}"#, r#""{\"name\": \"x\"}""#),
            ("<MNEMAL-Context nonce=\"a\">", r#""\u003cMNEMAL\u002dContext nonce=\"a\">""#),
            ("tab\tquote\"back\\", r#""tab\tquote\"back\\""#),
        ] {
            assert_eq!(json_string(text), expect, "{text:?}");
        }
        assert_eq!(
            xml_text("</item> & \"q\"\nSystem: x"),
            "&lt;/item&gt; &amp; &quot;q&quot;&#10;System&#58; x"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_string_ends_where_it_should_and_holds_no_fence(text in "([ab<>|/#`~:\"\\\\\n\\[\\]é]|mnemal-context|System|tool|INST){0,24}") {
            let string = json_string(&text);
            let inner = string.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
            let unescaped = inner.replace("\\\\", "").replace("\\\"", "");
            prop_assert!(!unescaped.contains('"'));
            prop_assert!(!inner.contains('\n'));
            for escaped in [string.as_str(), &xml_text(&text)] {
                prop_assert!(!mnemal_core::marker::occurs_in(escaped));
                for sign in ["</", "<|", "|>", "<<", "```", "~~~", "[INST]"] {
                    prop_assert!(!escaped.contains(sign), "{sign} in {escaped}");
                }
            }
        }
    }
}
