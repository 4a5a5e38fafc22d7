//! Extraction of the single JSON object from an answer with surrounding prose.

use mnemal_core::{Result, unusable};
use serde::de::DeserializeOwned;

/// Most objects examined. Source: own choice; prose has few braces, and each is read to its end.
const MOST: usize = 64;

/// Parses the one outermost object that has the form of `T`; prose around it, fences and braces in the prose are skipped.
///
/// # Errors
/// `Unsupported` when there is none, when the last one is incomplete, or when two fit.
pub(super) fn find<T: DeserializeOwned>(text: &str) -> Result<T> {
    let mut found = None;
    let mut rest = text;
    for _ in 0..MOST {
        let Some(open) = rest.find('{') else { break };
        let from = rest.get(open..).unwrap_or_default();
        let Some(length) = balanced(from) else {
            // An opening brace in the prose; what begins behind it may still be whole.
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        let (object, behind) = from.split_at_checked(length).unwrap_or((from, ""));
        match serde_json::from_str(object) {
            Ok(_) if found.is_some() => return Err(unusable("it held two answers")),
            Ok(value) => {
                found = Some(value);
                rest = behind;
            }
            // Braces of the prose around it.
            Err(_) => rest = from.get(1..).unwrap_or_default(),
        }
    }
    found.ok_or_else(|| unusable("it held no JSON object of the form that was asked for"))
}

/// Returns the byte length of the object at the start of a text; `None` when it is incomplete.
fn balanced(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use mnemal_core::ErrorKind;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct AnswerForm {
        claims: Vec<u32>,
    }

    #[test]
    fn the_object_is_found_among_prose_fences_and_braces() {
        for text in [
            "{\"claims\":[1]}",
            "Sure! Here it is:\n```json\n{\"claims\": [1]}\n```\nAnything else?",
            "In {braces} and {\"other\": 2}: {\"claims\":[1],\"why\":\"a } in { words \\\" too\"}",
            "An { that is not closed, then {\"claims\":[1]}",
            "\u{feff}{\"claims\":[1],\"more\":{\"claims\":\"x\"}} 😀",
        ] {
            assert_eq!(find::<AnswerForm>(text).unwrap(), AnswerForm { claims: vec![1] }, "{text}");
        }
    }

    #[test]
    fn no_object_half_an_object_and_two_objects_are_no_answer() {
        for text in [
            "",
            "I cannot do that.",
            "{\"claims\":[1",
            "{\"claims\":[1]",
            "{\"claims\":\"one\"}",
            "{\"claim\":[1]}",
            "{\"claims\":[1]} or rather {\"claims\":[2]}",
            "[1, 2]",
        ] {
            assert_eq!(find::<AnswerForm>(text).unwrap_err().kind(), ErrorKind::Unsupported, "{text}");
        }
    }

    #[test]
    fn many_braces_end_soon() {
        assert!(find::<AnswerForm>(&"{".repeat(100_000)).is_err());
        assert!(find::<AnswerForm>(&"{}".repeat(100_000)).is_err());
        assert!(find::<AnswerForm>(&"{\"a\":".repeat(20_000)).is_err());
    }
}
