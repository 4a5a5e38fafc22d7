//! Canned answers of the scripted model, derived from the requested form, so that every kind of question gets one.

use serde_json::{Value, json};

/// A sentence about a person who occurs in no text of the walk.
pub(super) const NOBODY: &str = "Zebulon Quaritch paid 77431 in Xanadu.";

/// Words in a row that are quoted unchanged.
const OWN: usize = 6;

/// An answer in the requested form, from shown words.
pub(super) fn good(request: &Value) -> String {
    let texts = numbered(material(request));
    let first = texts.first().cloned().unwrap_or_default();
    if !instructions(request).contains("JSON") {
        return plain(request, &texts);
    }
    let Some(fields) = fields(request) else { return plain(request, &texts) };
    let of = |name: &str| match name {
        "edits" => json!([{"edit": "add", "line": 0, "sentences": [1], "text": spoken(&first)}]),
        "score" => json!(4),
        "summary" => json!(clause(&first)),
        "importance" => json!(0.8),
        "insight" | "sentence" | "text" => json!(""),
        _ => json!([]),
    };
    let answer: serde_json::Map<String, Value> = fields.keys().map(|name| (name.clone(), of(name))).collect();
    Value::Object(answer).to_string()
}

/// An answer in the requested form with invented content.
pub(super) fn lie(request: &Value) -> String {
    let Some(fields) = fields(request) else { return NOBODY.to_owned() };
    let claim = json!({
        "message": 1, "quote": NOBODY, "subject": "Zebulon Quaritch", "relation": "lives_in", "value": "Xanadu",
    });
    let of = |name: &str| match name {
        "claims" => json!([claim]),
        "edits" => json!([{"edit": "add", "line": 0, "sentences": [1], "text": NOBODY}]),
        "notes" => json!([{"note": 1, "category": "xanadu", "tags": ["quaritch"], "noise": true}]),
        "preferences" => json!([{"message": 1, "quote": NOBODY}]),
        "score" => json!(1),
        "importance" => json!(1.0),
        "entities" | "topics" => json!(["Zebulon Quaritch", "Xanadu"]),
        _ => json!(NOBODY),
    };
    let answer: serde_json::Map<String, Value> = fields.keys().map(|name| (name.clone(), of(name))).collect();
    Value::Object(answer).to_string()
}

fn instructions(request: &Value) -> &str {
    request.pointer("/messages/0/content").and_then(Value::as_str).unwrap_or_default()
}

fn material(request: &Value) -> &str {
    request.pointer("/messages/1/content").and_then(Value::as_str).unwrap_or_default()
}

/// The fields of the form that is asked for, where it is a JSON object.
fn fields(request: &Value) -> Option<&serde_json::Map<String, Value>> {
    request.pointer("/response_format/json_schema/schema/properties")?.as_object()
}

/// The texts of lines `1: text`.
fn numbered(material: &str) -> Vec<String> {
    let text = |line: &str| {
        let (number, text) = line.split_once(": ")?;
        let is_number = !number.is_empty() && number.chars().all(|sign| sign.is_ascii_digit());
        is_number.then(|| text.to_owned())
    };
    material.lines().filter_map(text).collect()
}

/// Says what the texts say, in fewer words of theirs; asked what they show together, names what all of them name.
fn plain(request: &Value, texts: &[String]) -> String {
    let told = instructions(request);
    if told.contains("show together") {
        return format!("These notes belong together: {}.", shared(texts).join(" and "));
    }
    if told.contains("make one note") {
        return texts.join(" ");
    }
    let said = texts.iter().map(|text| retold(&clause(text))).collect::<Vec<_>>().join("\n");
    if said.is_empty() { "ready".to_owned() } else { said }
}

/// What follows who spoke.
fn spoken(text: &str) -> String {
    let bare = |(who, words): (&str, &str)| (who.split(' ').count() <= 2).then(|| words.to_owned());
    text.split_once(": ").and_then(bare).unwrap_or_else(|| text.to_owned())
}

/// The first sentence of what was spoken.
fn clause(text: &str) -> String {
    let spoken = spoken(text);
    let end = spoken.find(['.', '!', '?']).map_or(spoken.len(), |at| at + 1);
    spoken.get(..end).unwrap_or(&spoken).to_owned()
}

/// The same in other words here and there: what repeats a question for long is no answer.
fn retold(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    words.chunks(OWN).map(|chunk| chunk.join(" ")).collect::<Vec<_>>().join(" and so ")
}

/// Words that begin large, inside a sentence, in every text.
fn shared(texts: &[String]) -> Vec<String> {
    let names = |text: &String| -> Vec<String> {
        let words =
            text.split_whitespace().map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()));
        words.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned).collect()
    };
    let mut all = texts.iter().map(names);
    let first = all.next().unwrap_or_default();
    let rest: Vec<Vec<String>> = all.collect();
    let mut found: Vec<String> =
        first.into_iter().filter(|name| rest.iter().all(|names| names.contains(name))).collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(instructions: &str, material: &str, fields: &Value) -> Value {
        json!({
            "messages": [{"content": instructions}, {"content": material}],
            "response_format": {"json_schema": {"schema": {"properties": fields}}},
        })
    }

    #[test]
    fn a_good_answer_says_what_was_shown_and_a_lie_does_not() {
        let texts = "Texts:\n1: user: Ada leads Genoa. It rains.\n2: user: Ada likes Genoa.";
        let asked =
            json!({"messages": [{"content": "You write down what is worth it."}, {"content": texts}]});
        assert_eq!(good(&asked), "Ada leads Genoa.\nAda likes Genoa.");
        assert_eq!(lie(&asked), NOBODY);
        let asked = json!({"messages": [{"content": "what the notes show together"}, {"content": texts}]});
        assert_eq!(good(&asked), "These notes belong together: Ada and Genoa.");
    }

    #[test]
    fn the_form_is_read_off_the_question() {
        let asked = request(
            "Answer with JSON",
            "Messages:\n1: Ada leads Genoa.",
            &json!({"claims": {}, "edits": {}}),
        );
        let said: Value = serde_json::from_str(&good(&asked)).unwrap();
        assert_eq!(said.pointer("/claims"), Some(&json!([])));
        assert_eq!(said.pointer("/edits/0/text"), Some(&json!("Ada leads Genoa.")));
        let said: Value = serde_json::from_str(&lie(&asked)).unwrap();
        assert_eq!(said.pointer("/claims/0/quote"), Some(&json!(NOBODY)));
    }
}
