//! Model-written digests of texts, checked against those texts.

use mnemal_core::{
    Completion, Digest, Importance, LONGEST_DIGEST, MOST_NAMED, ModelDigester, Producer, Prompt, Result, Tag,
    TokenCount, unusable,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::instructions::Instructions;
use super::json_object::find;
use super::summary::made_up;

/// Tokens of an answer. Source: own choice; two sentences, names and topics.
const TOKENS: u32 = 400;
/// Topics of a text. Source: own choice, two to four (GB-29).
const TOPICS: usize = 4;

/// Prompt and parser for digests.
///
/// A digest is accepted only if every number in it, and every name-like word, occurs in the text. Names that are not in the
/// text are dropped.
#[derive(Clone, Debug)]
pub struct ModelDigests {
    instructions: Instructions,
}

impl ModelDigests {
    /// Makes one with these instructions.
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions }
    }
}

fn schema() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "entities": texts,
            "topics": texts,
            "importance": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["summary", "entities", "topics", "importance"],
        "additionalProperties": false,
    })
}

impl ModelDigester for ModelDigests {
    fn producer(&self) -> Producer {
        self.instructions.producer.clone()
    }

    fn prompt(&self, text: &str) -> Prompt {
        Prompt {
            purpose: self.instructions.purpose,
            producer: self.producer(),
            instructions: format!(
                "{}\n\nAnswer with one JSON object and nothing else: {{\"summary\": at most {LONGEST_DIGEST} characters, \
                 \"entities\": [names], \"topics\": [words], \"importance\": a number from 0 to 1}}",
                self.instructions.text
            ),
            material: format!("Text:\n{text}"),
            schema: Some(schema().to_string()),
            most: TokenCount(TOKENS),
        }
    }

    fn parse(&self, text: &str, completion: &Completion) -> Result<Digest> {
        let answer: DigestAnswer = find(&completion.text)?;
        let summary = answer.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        if summary.is_empty() {
            return Err(unusable("it held no summary"));
        }
        if summary.chars().count() > LONGEST_DIGEST {
            return Err(unusable(format!("the summary has more than {LONGEST_DIGEST} characters")));
        }
        if made_up(&summary, &[text]) {
            return Err(unusable("the summary has a name, a number or a date that the text does not have"));
        }
        let said = text.to_lowercase();
        let mut entities: Vec<String> = Vec::new();
        for name in answer.entities {
            let name = name.trim().to_owned();
            if !name.is_empty() && said.contains(&name.to_lowercase()) && !entities.contains(&name) {
                entities.push(name);
            }
        }
        entities.truncate(MOST_NAMED);
        let topics = answer.topics.iter().map(|topic| topic.trim().to_lowercase());
        let topics = topics.filter(|topic| !made_up(topic, &[text])).filter_map(|topic| Tag::new(topic).ok());
        Ok(Digest {
            text: summary,
            entities,
            topics: topics.take(TOPICS).collect(),
            importance: Importance::new(answer.importance)
                .map_err(|_| unusable("the importance is not from 0 to 1"))?,
        })
    }
}

#[derive(Deserialize)]
struct DigestAnswer {
    summary: String,
    #[serde(default)]
    entities: Vec<String>,
    #[serde(default)]
    topics: Vec<String>,
    importance: f32,
}

#[cfg(test)]
mod tests {
    use mnemal_core::{ErrorKind, ModelId, Usage};

    use super::*;

    const TEXT: &str =
        "Minutes of March 3: Ada Berg approved the Genoa budget of 1,200 euros. Deliveries go by ship.";

    fn read(answer: &Value) -> Result<Digest> {
        let text = answer.to_string();
        let completion = Completion { text, model: ModelId::new("m").unwrap(), usage: Usage::default() };
        ModelDigests::new(Instructions::digest()).parse(TEXT, &completion)
    }

    #[test]
    fn a_digest_keeps_the_names_that_its_text_has() {
        let digest = read(&json!({"summary": "Delivery goes by ship;  Ada Berg approved 1,200 euros.",
            "entities": ["Ada Berg", "Genoa", "Carla", "Genoa"], "topics": ["Budget", "shipping in 2031", ""], "importance": 0.8}))
        .unwrap();
        assert_eq!(digest.text, "Delivery goes by ship; Ada Berg approved 1,200 euros.");
        assert_eq!(digest.entities, ["Ada Berg", "Genoa"]);
        assert_eq!(digest.topics, [Tag::new("budget").unwrap()]);
        assert!((digest.importance.get() - 0.8).abs() < f32::EPSILON);
    }

    #[test]
    fn what_the_text_does_not_say_is_no_digest() {
        for answer in [
            json!({"summary": "The budget was approved by Carla.", "importance": 0.5}),
            json!({"summary": "The budget is 1,300 euros.", "importance": 0.5}),
            json!({"summary": " ", "importance": 0.5}),
            json!({"summary": "Ada Berg approved it.", "importance": 7}),
            json!({"summary": "budget ".repeat(200), "importance": 0.5}),
            json!({"text": "Ada Berg approved it."}),
        ] {
            assert_eq!(read(&answer).unwrap_err().kind(), ErrorKind::Unsupported, "{answer}");
        }
    }

    #[test]
    fn the_question_shows_the_text() {
        let prompt = ModelDigests::new(Instructions::digest()).prompt(TEXT);
        assert!(prompt.material.ends_with(TEXT) && prompt.schema.is_some());
    }
}
