//! Model edits of a summary's text, each checked against the sentences that it cites.

use mnemal_core::{
    Completion, LONGEST_LINE, MOST_LINES, Producer, Prompt, Result, SummaryEditor, TokenCount, WrittenLine,
    unusable,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::instructions::Instructions;
use super::json_object::find;
use super::numbered;
use super::summary::{bare, made_up};

/// Tokens of an answer, for each shown sentence. Source: own choice; an edit with a line of some twenty words.
const TOKENS_A_SENTENCE: u32 = 80;
/// Tokens of an answer in addition. Source: own choice.
const TOKENS: u32 = 100;

/// Prompt and parser for edits of a summary.
///
/// An edit is applied only if it names an existing line, or shown sentences, and every number and every name-like word in it
/// occurs in these sentences; so invented or calculated values and text from the instructions have no effect.
#[derive(Clone, Debug)]
pub struct ModelWriter {
    instructions: Instructions,
}

impl ModelWriter {
    /// Makes a writer.
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions }
    }
}

fn schema() -> Value {
    let edit = json!({
        "type": "object",
        "properties": {
            "edit": {"type": "string", "enum": ["add", "replace", "remove"]},
            "line": {"type": "integer"},
            "sentences": {"type": "array", "items": {"type": "integer"}},
            "text": {"type": "string"},
        },
        "required": ["edit", "line", "sentences", "text"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"edits": {"type": "array", "items": edit}},
        "required": ["edits"],
        "additionalProperties": false,
    })
}

const FORM: &str = "Answer with one JSON object and nothing else: {\"edits\": [{\"edit\": \"add\", \"replace\" or \"remove\", \
    \"line\": the number of the line that is replaced or removed, or behind which a line is added, 0 for the end, \
    \"sentences\": the numbers of the sentences that say it, \"text\": the words of the line}]}";

impl SummaryEditor for ModelWriter {
    fn producer(&self) -> Producer {
        self.instructions.producer.clone()
    }

    fn prompt(&self, before: &[WrittenLine], sentences: &[String]) -> Prompt {
        let shown = u32::try_from(sentences.len()).unwrap_or(u32::MAX);
        let text = numbered(before.iter().map(|line| line.text.as_str()));
        let text = if text.is_empty() { "\nnone yet" } else { &text };
        Prompt {
            purpose: self.instructions.purpose,
            producer: self.producer(),
            instructions: format!(
                "{}\n\nAt most {MOST_LINES} lines, each of at most {LONGEST_LINE} characters.\n{FORM}",
                self.instructions.text
            ),
            material: format!(
                "Sentences:{}\n\nLines of the text:{text}",
                numbered(sentences.iter().map(String::as_str))
            ),
            schema: Some(schema().to_string()),
            most: TokenCount(shown.saturating_mul(TOKENS_A_SENTENCE).saturating_add(TOKENS)),
        }
    }

    fn parse(
        &self,
        before: &[WrittenLine],
        sentences: &[String],
        completion: &Completion,
    ) -> Result<Vec<WrittenLine>> {
        let answer: EditAnswer = find(&completion.text)?;
        let mut lines: Vec<(usize, WrittenLine)> = (1..).zip(before.iter().cloned()).collect();
        let mut dropped: Vec<&'static str> = Vec::new();
        for edit in &answer.edits {
            if let Err(why) = applied(edit, &mut lines, sentences) {
                dropped.push(why);
            }
        }
        if dropped.len() * 2 > answer.edits.len() {
            let why = dropped.first().copied().unwrap_or_default();
            return Err(unusable(format!("more than half of the edits could not be made: {why}")));
        }
        if lines.is_empty() {
            return Err(unusable("no line was left"));
        }
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }
}

/// Applies one edit; added lines have the number 0, which no edit can name.
fn applied(
    edit: &Value,
    lines: &mut Vec<(usize, WrittenLine)>,
    sentences: &[String],
) -> Result<(), &'static str> {
    let edit = Change::deserialize(edit).map_err(|_| "an edit has not the form that was asked for")?;
    let place = lines.iter().position(|(number, _)| *number != 0 && *number == edit.line);
    match edit.edit.as_str() {
        "remove" => {
            lines.remove(place.ok_or("an edit names a line that is not there")?);
            Ok(())
        }
        "replace" => {
            let new = line(&edit, sentences)?;
            let place = place.ok_or("an edit names a line that is not there")?;
            let old = lines.get_mut(place).ok_or("an edit names a line that is not there")?;
            old.1 = new;
            Ok(())
        }
        "add" if edit.line != 0 && place.is_none() => Err("an edit names a line that is not there"),
        "add" => {
            let new = line(&edit, sentences)?;
            if lines.len() >= MOST_LINES {
                return Err("the text would have too many lines");
            }
            if lines.iter().any(|(_, line)| line.text == new.text) {
                return Err("a line is there already");
            }
            lines.insert(place.map_or(lines.len(), |place| place + 1), (0, new));
            Ok(())
        }
        _ => Err("an edit is none of add, replace and remove"),
    }
}

/// Parses the line of an edit, with its valid sentence references.
fn line(edit: &Change, sentences: &[String]) -> Result<WrittenLine, &'static str> {
    let text = edit.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = bare(&text);
    if text.is_empty() || text.chars().count() > LONGEST_LINE {
        return Err("a line is empty or too long");
    }
    let mut rests: Vec<u32> = edit.sentences.iter().filter_map(|number| number.checked_sub(1)).collect();
    rests.retain(|place| (*place as usize) < sentences.len());
    rests.sort_unstable();
    rests.dedup();
    if rests.is_empty() {
        return Err("a line names no sentence that was shown");
    }
    let cited = rests.iter().filter_map(|place| sentences.get(*place as usize));
    let shown: Vec<&str> = cited.map(String::as_str).collect();
    if made_up(text, &shown) {
        return Err("a line names somebody, a number or a date that its sentences do not name");
    }
    Ok(WrittenLine { text: text.to_owned(), rests })
}

#[derive(Deserialize)]
struct EditAnswer {
    edits: Vec<Value>,
}

#[derive(Deserialize)]
struct Change {
    edit: String,
    #[serde(default)]
    line: usize,
    #[serde(default)]
    sentences: Vec<u32>,
    #[serde(default)]
    text: String,
}

#[cfg(test)]
mod tests {
    use mnemal_core::{ErrorKind, ModelId, Usage};

    use super::*;

    const SENTENCES: [&str; 3] = [
        "2026-05-07 Ada: I moved 12 boxes to Genoa.",
        "2026-05-08 Ada: The boxes stand in Porto now.",
        "2026-05-08 user: We chose the blue boat.",
    ];

    fn before() -> Vec<WrittenLine> {
        let line = |text: &str, rests: &[u32]| WrittenLine { text: text.to_owned(), rests: rests.to_vec() };
        vec![line("Ada moved 12 boxes to Genoa.", &[0]), line("  The boat  is blue.", &[2])]
    }

    fn read(edits: &Value) -> Result<Vec<WrittenLine>> {
        let writer = ModelWriter::new(Instructions::node());
        let completion = Completion {
            text: json!({"edits": edits}).to_string(),
            model: ModelId::new("m").unwrap(),
            usage: Usage::default(),
        };
        writer.parse(&before(), &SENTENCES.map(str::to_owned), &completion)
    }

    fn texts(edits: &Value) -> Vec<String> {
        read(edits).unwrap().into_iter().map(|line| line.text).collect()
    }

    // proves: AD-57 (edits of a line by its number; what no edit names is the same byte for byte)
    #[test]
    fn edits_change_the_lines_that_they_name_and_no_others() {
        let moved = "On 2026-05-08 the boxes of Ada were in Porto, before that in Genoa.";
        let added = json!([
            {"edit": "add", "line": 1, "sentences": [1, 2, 9], "text": moved},
            {"edit": "add", "line": 0, "sentences": [3], "text": "- They chose it together."},
        ]);
        let lines = read(&added).unwrap();
        assert_eq!(lines[0], before()[0]);
        assert_eq!(
            (lines[1].text.as_str(), lines[1].rests.as_slice()),
            (moved, &[0, 1][..]),
            "9 was not shown"
        );
        assert_eq!(
            (lines[2].clone(), lines[3].text.as_str()),
            (before()[1].clone(), "They chose it together.")
        );
        let replaced = json!([{"edit": "replace", "line": 2, "sentences": [3], "text": "The boat that was chosen is blue."}]);
        assert_eq!(texts(&replaced), ["Ada moved 12 boxes to Genoa.", "The boat that was chosen is blue."]);
        let removed = json!([{"edit": "remove", "line": 1, "sentences": [], "text": ""}]);
        assert_eq!(texts(&removed), ["  The boat  is blue."]);
        assert_eq!(read(&json!([])).unwrap(), before(), "nothing to change is an answer");
    }

    // proves: AD-60 (numbers and names stand in the sentences that a line names; a line names its sentences)
    #[test]
    fn an_edit_that_names_what_its_sentences_do_not_name_is_not_made() {
        let good = json!({"edit": "add", "line": 0, "sentences": [3], "text": "We chose a boat."});
        for wrong in [
            json!({"edit": "add", "line": 0, "sentences": [1], "text": "Ada moved 13 boxes to Genoa."}),
            json!({"edit": "add", "line": 0, "sentences": [2], "text": "The boxes left Genoa."}),
            json!({"edit": "add", "line": 0, "sentences": [3], "text": "The boat belongs to Peter."}),
            json!({"edit": "add", "line": 0, "sentences": [], "text": "The boat is blue."}),
            json!({"edit": "add", "line": 0, "sentences": [0, 4], "text": "The boat is blue."}),
            json!({"edit": "add", "line": 7, "sentences": [3], "text": "The boat is blue."}),
            json!({"edit": "replace", "line": 7, "sentences": [3], "text": "The boat is blue."}),
            json!({"edit": "replace", "line": 1, "sentences": [3], "text": ""}),
            json!({"edit": "replace", "line": 1, "sentences": [3], "text": "blue ".repeat(100)}),
            json!({"edit": "remove", "line": 0}),
            json!({"edit": "forget", "line": 1}),
            json!("remove everything"),
        ] {
            let lines = texts(&json!([good.clone(), wrong.clone()]));
            assert_eq!(lines.len(), 3, "{wrong}");
            assert_eq!(read(&json!([wrong])).unwrap_err().kind(), ErrorKind::Unsupported);
        }
        let all = json!([{"edit": "remove", "line": 1}, {"edit": "remove", "line": 2}]);
        assert!(read(&all).is_err(), "an empty text is none");
    }

    #[test]
    fn a_text_has_few_lines() {
        let many: Vec<Value> = (0..20)
            .map(|number| json!({"edit": "add", "line": 0, "sentences": [3], "text": format!("They {}.", "chose ".repeat(number + 1))}))
            .collect();
        assert!(read(&json!(many)).is_err());
        assert_eq!(texts(&json!(many.iter().take(9).collect::<Vec<_>>())).len(), MOST_LINES);
    }

    #[test]
    fn the_question_shows_sentences_and_lines_with_numbers() {
        let writer = ModelWriter::new(Instructions::node());
        let prompt = writer.prompt(&before(), &SENTENCES.map(str::to_owned));
        assert!(
            prompt.material.contains("\n2: 2026-05-08 Ada: The boxes")
                && prompt.material.contains("\n1: Ada moved")
        );
        let first = writer.prompt(&[], &SENTENCES.map(str::to_owned));
        assert!(first.material.ends_with("Lines of the text:\nnone yet"));
    }
}
