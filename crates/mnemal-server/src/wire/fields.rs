//! Custom metadata fields of a host: JSON values in the API, texts in the log.

use std::collections::BTreeMap;

use mnemal_core::{Error, Metadata, Result};
use serde_json::Value;

/// The event field that lists the names of fields with JSON values other than texts, as a JSON list.
const TYPED: &str = "$json";

/// Custom fields by name.
pub(crate) type Fields = BTreeMap<String, Value>;

/// Converts fields for the log: texts as they are, other values as JSON, with a list of their names.
///
/// # Errors
/// `Invalid` for a field with the reserved name of that list.
pub(crate) fn stored(fields: Fields) -> Result<Metadata> {
    let mut metadata = Metadata::new();
    let mut typed = Vec::new();
    for (name, value) in fields {
        if name == TYPED {
            return Err(Error::invalid(format!(
                "metadata.{TYPED}: this name is used for the types of the others"
            )));
        }
        let text = match value {
            Value::String(text) => text,
            other => {
                typed.push(Value::from(name.as_str()));
                other.to_string()
            }
        };
        metadata.insert(name, text);
    }
    if !typed.is_empty() {
        metadata.insert(TYPED.to_owned(), Value::from(typed).to_string());
    }
    Ok(metadata)
}

/// Returns the fields of an event as their writer gave them; a value that was redacted since is a text.
pub(crate) fn event_fields(metadata: &Metadata) -> Fields {
    let typed = metadata.get(TYPED).and_then(|names| serde_json::from_str::<Vec<String>>(names).ok());
    let typed = typed.unwrap_or_default();
    let value = |(name, text): (&String, &String)| {
        let read = typed.contains(name).then(|| serde_json::from_str(text).ok()).flatten();
        (name.clone(), read.unwrap_or_else(|| Value::from(text.as_str())))
    };
    metadata.iter().filter(|(name, _)| *name != TYPED).map(value).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: &Value) -> Fields {
        value.as_object().unwrap().clone().into_iter().collect()
    }

    #[test]
    fn values_come_back_as_they_were_and_texts_that_look_like_values_stay_texts() {
        let given = fields(
            &json!({"n": 3, "x": "3", "f": 0.5, "yes": true, "none": null, "l": ["a", 1], "o": {"k": []}}),
        );
        let kept = stored(given.clone()).unwrap();
        assert_eq!((kept["n"].as_str(), kept["x"].as_str()), ("3", "3"));
        assert_eq!(event_fields(&kept), given);
        let texts = stored(fields(&json!({"a": "b"}))).unwrap();
        assert_eq!(texts.len(), 1, "nothing is added to texts: {texts:?}");
    }

    #[test]
    fn the_name_of_the_list_is_refused_and_a_replaced_value_is_a_text() {
        assert!(stored(fields(&json!({"$json": "[]"}))).unwrap_err().what().contains("$json"));
        let mut kept = stored(fields(&json!({"o": {"token": "x"}}))).unwrap();
        kept.insert("o".to_owned(), "[redacted]".to_owned());
        assert_eq!(event_fields(&kept)["o"], "[redacted]");
    }
}
