//! Model assessments of finished tasks, checked against the steps that the model was shown.

use mnemal_core::{
    BEST_SCORE, Completion, LONGEST_LINE, Producer, Prompt, Result, TaskEvaluation, TaskEvaluator,
    TokenCount, unusable,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::instructions::Instructions;
use super::json_object::find;
use super::numbered;
use super::summary::{bare, made_up};

/// Tokens of an answer. Source: own choice; a number and a sentence of at most 300 characters.
const TOKENS: u32 = 200;

/// Prompt and parser for task assessments.
///
/// An answer is accepted only if its score is on the scale, and its sentence is one line in which every number and every
/// name-like word occurs in the steps.
#[derive(Clone, Debug)]
pub struct ModelAppraiser {
    instructions: Instructions,
}

impl ModelAppraiser {
    /// Makes one with these instructions.
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions }
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 1, "maximum": BEST_SCORE},
            "sentence": {"type": "string"},
        },
        "required": ["score", "sentence"],
        "additionalProperties": false,
    })
}

impl TaskEvaluator for ModelAppraiser {
    fn producer(&self) -> Producer {
        self.instructions.producer.clone()
    }

    fn prompt(&self, steps: &[String]) -> Prompt {
        Prompt {
            purpose: self.instructions.purpose,
            producer: self.producer(),
            instructions: format!(
                "{}\n\nAnswer with one JSON object and nothing else: {{\"score\": a number from 1 to {BEST_SCORE}, \
                 \"sentence\": at most {LONGEST_LINE} characters}}",
                self.instructions.text
            ),
            material: format!("Steps:{}", numbered(steps.iter().map(String::as_str))),
            schema: Some(schema().to_string()),
            most: TokenCount(TOKENS),
        }
    }

    fn parse(&self, steps: &[String], completion: &Completion) -> Result<Option<TaskEvaluation>> {
        let answer: AssessmentAnswer = find(&completion.text)?;
        if !(1..=BEST_SCORE).contains(&answer.score) {
            return Err(unusable(format!("the score is not from 1 to {BEST_SCORE}")));
        }
        let lesson = answer.sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        let lesson = bare(&lesson);
        if lesson.is_empty() {
            return Ok(None);
        }
        if lesson.chars().count() > LONGEST_LINE {
            return Err(unusable(format!("the sentence has more than {LONGEST_LINE} characters")));
        }
        let shown: Vec<&str> = steps.iter().map(String::as_str).collect();
        if made_up(lesson, &shown) {
            return Err(unusable("the sentence has a name, a number or a date that no step has"));
        }
        Ok(Some(TaskEvaluation { score: answer.score, lesson: lesson.to_owned() }))
    }
}

#[derive(Deserialize)]
struct AssessmentAnswer {
    score: u8,
    sentence: String,
}

#[cfg(test)]
mod tests {
    use mnemal_core::{ErrorKind, ModelId, Usage};

    use super::*;

    fn steps() -> Vec<String> {
        [
            "2026-05-07 begun: move the till to port 4711",
            "2026-05-07 failure of deploy: Porto refused",
            "2026-05-07 failed: gave up",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn read(text: &str) -> Result<Option<TaskEvaluation>> {
        let completion =
            Completion { text: text.to_owned(), model: ModelId::new("m").unwrap(), usage: Usage::default() };
        ModelAppraiser::new(Instructions::appraise()).parse(&steps(), &completion)
    }

    #[test]
    fn a_score_and_a_sentence_that_the_steps_show_are_read() {
        let said = "- Ask Porto  before port 4711\nis taken.";
        let found = read(&json!({"score": 3, "sentence": said}).to_string()).unwrap().unwrap();
        assert_eq!((found.score, found.lesson.as_str()), (3, "Ask Porto before port 4711 is taken."));
        let nothing = json!({"score": 10, "sentence": " "}).to_string();
        assert_eq!(read(&nothing).unwrap(), None, "nothing to remember is an answer");
    }

    // proves: BA-32 (no score outside the scale, and no name, number or date that no step has)
    #[test]
    fn what_is_no_judgement_of_these_steps_is_no_answer() {
        for said in [
            json!({"score": 0, "sentence": "Ask first."}),
            json!({"score": 11, "sentence": "Ask first."}),
            json!({"score": -1, "sentence": "Ask first."}),
            json!({"score": "good", "sentence": "Ask first."}),
            json!({"score": 7}),
            json!({"sentence": "Ask first."}),
            json!({"score": 7, "sentence": "Always use port 4712."}),
            json!({"score": 7, "sentence": "Then ask Carla."}),
            json!({"score": 7, "sentence": "ask first ".repeat(40)}),
            json!("ignore the steps"),
        ] {
            assert_eq!(read(&said.to_string()).unwrap_err().kind(), ErrorKind::Unsupported, "{said}");
        }
    }

    #[test]
    fn the_question_shows_the_steps_with_numbers() {
        let prompt = ModelAppraiser::new(Instructions::appraise()).prompt(&steps());
        assert!(prompt.material.starts_with("Steps:\n1: 2026-05-07 begun: move") && prompt.schema.is_some());
    }
}
