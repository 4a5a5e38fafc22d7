//! Helpers of several tools: entity resolution, and facts as lines for models and fields for programs.

use std::collections::HashMap;

use mnemal::Memory;
use mnemal::graph::{FactView, ProfileText};
use mnemal_core::{AsOf, Entity, EntityFilter, ErrorKind, RecordRef, Timestamp};
use serde_json::{Value, json};

use crate::mcp::answer::CorrectableError;
use crate::mcp::nearest::nearest;

/// Returns the entity of a name or an id.
pub(super) async fn whom(memory: &Memory, who: &str) -> Result<Entity, CorrectableError> {
    let graph = memory.facts().graph().await?;
    match graph.whom(who, AsOf::present(Timestamp::MAX)).await {
        Ok(entity) => Ok(entity),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(unknown(memory, who).await),
        Err(error) => Err(error.into()),
    }
}

/// Returns the error for an unknown name, with similar names.
pub(super) async fn unknown(memory: &Memory, who: &str) -> CorrectableError {
    let known = match memory.facts().graph().await {
        Ok(graph) => graph.all(&EntityFilter::all(), AsOf::present(Timestamp::MAX)).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let names = known.iter().flat_map(|entity| &entity.names).map(|name| name.text.as_str());
    let near: Vec<String> = nearest(who, names).into_iter().filter_map(plain).collect();
    let near = if near.is_empty() { String::new() } else { format!(" Nearest: {}.", near.join(", ")) };
    let who = plain(who).unwrap_or_else(|| "that name".to_owned());
    CorrectableError::new(format!("Nobody and nothing is known by {who}.{near} Use memory_recall to search."))
}

/// Maximum length of a name outside a block, in characters. Source: own default; the error is one line.
const SHOWN: usize = 48;

/// Returns a name in quotes if it is safe outside a block: letters, digits and what joins them; `None` for any other, so that no
/// name can act as an instruction.
fn plain(name: &str) -> Option<String> {
    let joins = |letter: char| matches!(letter, ' ' | '.' | '-' | '\'' | '_');
    let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || joins(letter));
    (is_plain && name.chars().count() <= SHOWN).then(|| format!("'{name}'"))
}

/// Returns the texts of a block's lines after the first `skip`, by record.
pub(super) fn texts(rendered: &ProfileText, skip: usize) -> HashMap<RecordRef, &str> {
    rendered.lines.iter().skip(skip).map(|(record, text)| (*record, text.as_str())).collect()
}

/// Returns a fact for programs, with its text in the block.
pub(super) fn fact(told: &FactView, text: &str) -> Value {
    let fact = &told.fact;
    let mut form = json!({
        "id": fact.id.to_string(),
        "text": text,
        "predicate": fact.predicate.as_str(),
        "status": fact.status.as_str(),
        "confidence": rounded(fact.confidence().get()),
        "strength": rounded(fact.strength()),
        "source_event_ids": told.events().iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    for (name, at) in [("valid_at", fact.since()), ("invalid_at", fact.until())] {
        if let (Some(fields), Some(at)) = (form.as_object_mut(), at) {
            fields.insert(name.to_owned(), at.into());
        }
    }
    form
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * 100.0).round() / 100.0
}

/// Removes entries from the end of the named lists, the last list first, until the document fits, and marks it as truncated;
/// returns their number.
pub(super) fn truncate_lists(document: &mut Value, lists: &[&str], fits: impl Fn(&str) -> bool) -> u32 {
    let mut dropped = 0;
    while !fits(&document.to_string()) {
        let longest = lists.iter().rev().find(|list| {
            document.get(**list).and_then(Value::as_array).is_some_and(|entries| !entries.is_empty())
        });
        let Some(entries) = longest.and_then(|list| document.get_mut(*list)).and_then(Value::as_array_mut)
        else {
            break;
        };
        entries.pop();
        dropped += 1;
        if let Some(truncated) = document.get_mut("truncated") {
            *truncated = true.into();
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_stand_outside_a_block() {
        assert_eq!(plain("Anna-Lena O'Neil").as_deref(), Some("'Anna-Lena O'Neil'"));
        assert_eq!(plain("张伟").as_deref(), Some("'张伟'"));
        for wild in ["a\nb", "<mnemal-context>", "ignore: all", &"x".repeat(49)] {
            assert_eq!(plain(wild), None, "{wild}");
        }
    }

    #[test]
    fn the_last_list_is_cut_first() {
        let mut document = json!({"facts": [1, 2], "events": [3], "truncated": false});
        assert_eq!(truncate_lists(&mut document, &["facts", "events"], |text| text.len() < 46), 1);
        assert_eq!((&document["facts"], &document["truncated"]), (&json!([1, 2]), &json!(true)));
        assert_eq!(truncate_lists(&mut document, &["facts", "events"], |_| false), 2);
    }
}
