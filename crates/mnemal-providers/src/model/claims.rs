//! Claims extracted by a model, each checked against the words that it was shown.

use mnemal_core::{
    Completion, EntityKind, ExtractedFact, Extraction, ExtractionContext, ModelExtractor, Predicate,
    Producer, Prompt, Result, Span, Subject, TokenCount, Utterance, unusable,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::instructions::Instructions;
use super::json_object::find;
use super::numbered;

/// Tokens of an answer, for each shown message. Source: own choice; some four claims.
const TOKENS_A_MESSAGE: u32 = 200;
/// Tokens of an answer in addition. Source: own choice.
const TOKENS: u32 = 100;
/// Most claims of one message. Source: own choice; a longer output is a list and not a statement.
const CLAIMS_A_MESSAGE: usize = 8;
/// Characters of the longest subject name. Source: the limit of name normalization in mnemal-extract.
const LONGEST_NAME: usize = 80;

/// Prompt and parser for claims.
///
/// Known entities are listed next to the messages, so that a claim can refer by number to the entity that a partial name means;
/// the words of the message are stored all the same.
///
/// A claim is accepted only if it names a shown message, quotes words of that message, and its object and subject occur in
/// those words or are the user; so invented or calculated values and text from the instructions are rejected. The meaning of
/// the words (a question, a denial, reported speech) is judged by the rules.
#[derive(Clone, Debug)]
pub struct ModelClaims {
    instructions: Instructions,
    predicates: Vec<Predicate>,
}

impl ModelClaims {
    /// Makes an extractor of claims with these predicates; claims with other predicates are dropped.
    pub fn new(instructions: Instructions, predicates: Vec<Predicate>) -> Self {
        Self { instructions, predicates }
    }

    fn schema(&self) -> Value {
        let names: Vec<&str> = self.predicates.iter().map(Predicate::as_str).collect();
        let text = json!({"type": "string"});
        let claim = json!({
            "type": "object",
            "properties": {
                "message": {"type": "integer"},
                "quote": text,
                "subject": text,
                "relation": {"type": "string", "enum": names},
                "value": text,
            },
            "required": ["message", "quote", "relation", "subject", "value"],
            "additionalProperties": false,
        });
        json!({
            "type": "object",
            "properties": {"claims": {"type": "array", "items": claim}},
            "required": ["claims"],
            "additionalProperties": false,
        })
    }

    fn form(&self, familiar: &ExtractionContext) -> String {
        let names: Vec<&str> = self.predicates.iter().map(Predicate::as_str).collect();
        format!(
            "Answer with one JSON object and nothing else: {{\"claims\": [{{\"message\": its number, \"quote\": the words of \
             the message that say it, copied exactly, \"relation\": one of the list, \"subject\": \"user\", or a name that \
             stands in the quote{}, \"value\": words of the quote, copied exactly}}]}}\nRelations: {}",
            if familiar.entities.is_empty() { "" } else { ", or the number of a known name that it means" },
            names.join(", ")
        )
    }

    fn claim(
        &self,
        utterances: &[Utterance<'_>],
        familiar: &ExtractionContext,
        said: &Value,
    ) -> Result<(usize, ExtractedFact), &'static str> {
        let said = Claim::deserialize(said).map_err(|_| "a claim has not the form that was asked for")?;
        let place = said.message.checked_sub(1).ok_or("a claim names a message that was not shown")?;
        let shown = utterances.get(place).ok_or("a claim names a message that was not shown")?;
        let text = shown.event.body().map_or("", |kept| kept.content.as_str());
        let whole = Span::whole(text).map_err(|_| "a message is too long")?;
        let quote =
            whole.find(text, &said.quote).ok_or("a claim quotes words that the message does not say")?;
        let value = quote.find(text, &said.object).ok_or("the value of a claim is not in its quote")?;
        let predicate = self.predicates.iter().find(|known| known.as_str() == said.predicate.trim());
        let predicate = predicate.ok_or("a claim has a predicate that is not one of the list")?;
        let subject = subject(&said.subject, familiar, text, quote)
            .ok_or("whom a claim is about is not in its quote")?;
        let words = value.of(text).unwrap_or_default();
        if matches!(&subject, Subject::Named(name) if name == words) {
            return Err("a claim says something of itself");
        }
        let fact = ExtractedFact::of_model(predicate.clone(), subject, (words, value), quote);
        Ok((place, fact))
    }
}

impl ModelExtractor for ModelClaims {
    fn producer(&self) -> Producer {
        self.instructions.producer.clone()
    }

    fn prompt(&self, utterances: &[Utterance<'_>], familiar: &ExtractionContext) -> Prompt {
        let texts =
            utterances.iter().map(|shown| shown.event.body().map_or("", |kept| kept.content.as_str()));
        let messages = u32::try_from(utterances.len()).unwrap_or(u32::MAX);
        Prompt {
            purpose: self.instructions.purpose,
            producer: self.producer(),
            instructions: format!("{}\n\n{}", self.instructions.text, self.form(familiar)),
            material: format!("{}Messages:{}", format_context(familiar), numbered(texts)),
            schema: Some(self.schema().to_string()),
            most: TokenCount(messages.saturating_mul(TOKENS_A_MESSAGE).saturating_add(TOKENS)),
        }
    }

    fn parse(
        &self,
        utterances: &[Utterance<'_>],
        familiar: &ExtractionContext,
        completion: &Completion,
    ) -> Result<Vec<Extraction>> {
        let answer: ClaimsAnswer = find(&completion.text)?;
        let mut found = vec![Extraction::default(); utterances.len()];
        let mut dropped: Vec<&'static str> = Vec::new();
        for said in &answer.claims {
            match self.claim(utterances, familiar, said) {
                Ok((place, fact)) => match found.get_mut(place) {
                    Some(of) if of.facts.len() < CLAIMS_A_MESSAGE && !of.facts.contains(&fact) => {
                        of.facts.push(fact);
                    }
                    _ => dropped.push("a claim was made twice, or a message makes too many"),
                },
                Err(why) => dropped.push(why),
            }
        }
        if dropped.len() * 2 > answer.claims.len() {
            let why = dropped.first().copied().unwrap_or_default();
            return Err(unusable(format!("more than half of it could not be true: {why}")));
        }
        for of in &mut found {
            of.facts.sort_by_key(|fact| (fact.span.start, fact.object.span.start));
        }
        if let Some(first) = found.first_mut() {
            first.remarks = dropped.into_iter().map(str::to_owned).collect();
        }
        Ok(found)
    }
}

#[derive(Deserialize)]
struct ClaimsAnswer {
    claims: Vec<Value>,
}

/// The field names sort in the best order for writing a claim, because a schema is sorted in transit: a model that writes the
/// quotation first copies the value from it.
#[derive(Deserialize)]
struct Claim {
    message: usize,
    quote: String,
    #[serde(rename = "relation")]
    predicate: String,
    subject: String,
    #[serde(rename = "value")]
    object: String,
}

/// Writes the known entities and topics; nothing if there are none.
fn format_context(familiar: &ExtractionContext) -> String {
    let entity = |(name, kind): &(String, EntityKind)| format!("{name} ({})", kind.as_str());
    let entities: Vec<String> = familiar.entities.iter().map(entity).collect();
    let list = |title: &str, words: &[String]| match words {
        [] => String::new(),
        words => format!("{title}:{}\n\n", numbered(words.iter().map(String::as_str))),
    };
    list("Known names", &entities) + &list("Known topics", &familiar.topics)
}

/// Returns the words of a quote that stand for a known entity by its number: all of the name, or else one word of it.
fn known_in(quote: Span, text: &str, familiar: &ExtractionContext, number: usize) -> Option<Subject> {
    let (name, _) = familiar.entities.get(number.checked_sub(1)?)?;
    let mut forms = std::iter::once(name.as_str()).chain(name.split_whitespace());
    let span = forms.find_map(|form| quote.find(text, form))?;
    Some(Subject::Named(span.of(text)?.to_owned()))
}

/// Returns the subject of a claim: the user, a relation of the user, a name in the quote, or a known entity of which a part
/// occurs there.
fn subject(said: &str, familiar: &ExtractionContext, text: &str, quote: Span) -> Option<Subject> {
    let said = said.trim();
    if let Ok(number) = said.parse() {
        return known_in(quote, text, familiar, number);
    }
    let lower = said.to_lowercase();
    if ["user", "the user", "i", "me", "speaker"].contains(&lower.as_str()) {
        return Some(Subject::Speaker);
    }
    if said.chars().count() > LONGEST_NAME {
        return None;
    }
    let span = quote.find(text, said)?;
    match lower.strip_prefix("my ") {
        Some(role) if role.chars().all(char::is_alphabetic) => {
            Some(Subject::Relation { role: role.to_owned(), name: None })
        }
        Some(_) => None,
        None => Some(Subject::Named(span.of(text)?.to_owned())),
    }
}

#[cfg(test)]
mod tests;
