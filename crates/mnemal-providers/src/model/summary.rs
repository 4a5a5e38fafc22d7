//! Model-written summaries, checked against the texts that the model was shown.

use std::collections::HashSet;

use mnemal_core::{Completion, Producer, Prompt, Result, Summarizer, TokenCount, unusable};

use super::instructions::Instructions;
use super::{numbered, tokens_of};

/// Prompt and parser for summaries.
///
/// A summary is accepted only if every number in it, and every word that begins like a name, occurs in the shown texts; so a
/// model can omit, but not invent, names, numbers and dates.
#[derive(Clone, Debug)]
pub struct ModelSummarizer {
    instructions: Instructions,
}

impl ModelSummarizer {
    /// Makes a summarizer.
    pub fn new(instructions: Instructions) -> Self {
        Self { instructions }
    }
}

impl Summarizer for ModelSummarizer {
    fn producer(&self) -> Producer {
        self.instructions.producer.clone()
    }

    fn prompt(&self, previous: Option<&str>, parts: &[&str], budget: TokenCount) -> Prompt {
        let before = previous.map(|text| format!("What was written down before:\n{text}\n\n"));
        let material = format!("{}Texts:{}", before.unwrap_or_default(), numbered(parts.iter().copied()));
        Prompt {
            purpose: self.instructions.purpose,
            producer: self.producer(),
            instructions: format!(
                "{}\n\nAnswer with the lines alone, of at most {} words together.",
                self.instructions.text,
                // Two words make some three tokens.
                budget.0.saturating_mul(2) / 3
            ),
            material,
            schema: None,
            most: budget,
        }
    }

    fn parse(
        &self,
        previous: Option<&str>,
        parts: &[&str],
        budget: TokenCount,
        completion: &Completion,
    ) -> Result<String> {
        let lines: Vec<&str> = completion.text.lines().map(bare).filter(|line| !line.is_empty()).collect();
        let text = lines.join("\n");
        if text.is_empty() || text.starts_with(['{', '<']) {
            return Err(unusable("it held no statement"));
        }
        if tokens_of(text.len()) > budget {
            return Err(unusable("it was longer than was asked for"));
        }
        let shown: Vec<&str> = previous.into_iter().chain(parts.iter().copied()).collect();
        if lines.iter().any(|line| made_up(line, &shown)) {
            return Err(unusable("it named somebody, a number or a date that the texts do not name"));
        }
        Ok(text)
    }
}

/// A line without its list marker.
pub(super) fn bare(line: &str) -> &str {
    line.trim().trim_start_matches(['-', '*', '•']).trim()
}

/// Whether a line has a name, a number or a date that is in none of the shown texts.
pub(super) fn made_up(line: &str, shown: &[&str]) -> bool {
    let shown: HashSet<String> = shown.iter().flat_map(|text| words(text)).collect();
    checked(line).iter().any(|word| !shown.contains(word))
}

/// Words in lower case, without surrounding signs and possessives.
fn words(text: &str) -> Vec<String> {
    text.split(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '.' | ',' | '\'' | '’')))
        .map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()))
        .map(|word| word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a line that must have been shown: those with a digit, and those capitalized anywhere but at the beginning of a
/// sentence.
fn checked(line: &str) -> Vec<String> {
    let mut begins = true;
    let mut found = Vec::new();
    for word in line.split_whitespace() {
        let inner = word.trim_matches(|sign: char| !sign.is_alphanumeric());
        let is_number = inner.contains(|sign: char| sign.is_numeric());
        let is_name = inner.starts_with(char::is_uppercase) && inner != "I" && (!begins || is_shouted(inner));
        if is_number || is_name {
            found.extend(words(word));
        }
        begins = word.ends_with(['.', '!', '?', ':']);
    }
    found
}

/// Whether more than the first letter is a capital: "NATO", `MySQL`.
fn is_shouted(word: &str) -> bool {
    word.chars().skip(1).any(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use mnemal_core::{ErrorKind, ModelId, Usage};

    use super::*;

    const PARTS: [&str; 2] =
        ["Anna said the MySQL server costs 1,200 € since March 3.", "We chose the blue boat; it's Bo's."];

    fn read(text: &str, budget: u32) -> Result<String> {
        let summarizer = ModelSummarizer::new(Instructions::summarize());
        let completion =
            Completion { text: text.to_owned(), model: ModelId::new("m").unwrap(), usage: Usage::default() };
        summarizer.parse(Some("Rent was 900 €."), &PARTS, TokenCount(budget), &completion)
    }

    #[test]
    fn a_summary_of_what_was_said_is_taken_line_by_line() {
        let text = "- The server of Anna costs 1,200 € since March 3; rent was 900 €.\n\n* They chose Bo's blue boat.\n";
        assert_eq!(
            read(text, 100).unwrap(),
            "The server of Anna costs 1,200 € since March 3; rent was 900 €.\nThey chose Bo's blue boat."
        );
    }

    #[test]
    fn who_how_many_and_when_cannot_be_made_up() {
        for text in [
            "The server of Anna costs 1,300 €.",
            "The server costs 2,100 € together.",
            "The boat is Peter's.",
            "It runs PostgreSQL.",
            "PostgreSQL runs there.",
            "It was on March 4.",
            "It was in April.",
            "",
            "\n- \n",
            "{\"claims\": []}",
            "<p>the server</p>",
        ] {
            assert_eq!(read(text, 100).unwrap_err().kind(), ErrorKind::Unsupported, "{text}");
        }
        assert!(read("They chose the blue boat.", 3).is_err(), "too long");
    }

    #[test]
    fn the_question_shows_everything_numbered() {
        let summarizer = ModelSummarizer::new(Instructions::summarize());
        let prompt = summarizer.prompt(Some("Before."), &PARTS, TokenCount(90));
        assert!(prompt.material.contains("before:\nBefore.") && prompt.material.contains("\n2: We chose"));
        assert_eq!((prompt.schema, prompt.most), (None, TokenCount(90)));
        assert!(prompt.instructions.ends_with("of at most 60 words together."));
    }
}
