//! The printed profile of an entity.

use std::collections::BTreeMap;

use anyhow::Result;
use mnemal::{Portrait, Told, Zone};
use serde::Serialize;

use super::EntityForm;
use crate::command::fact::{FactForm, SentenceForm};
use crate::output::Output;

/// Maximum number of sentences of a fact on the screen, newest first; JSON output contains all. Source: own choice.
const SENTENCES: usize = 3;
/// Maximum number of co-occurring entities on the screen. Source: own choice, a line.
const COMPANY: usize = 10;

/// Prints the profile.
pub(super) fn print(portrait: &Portrait, output: &Output) -> Result<()> {
    let mut entity = EntityForm::new(&portrait.entity, portrait.seen.as_ref());
    entity.aliases.clone_from(&portrait.aliases);
    entity.roles = portrait.roles.iter().map(|(owner, role)| format!("{role} of {owner}")).collect();
    let form = ShownForm {
        entity,
        description: portrait.description(),
        metadata: portrait.metadata(),
        source_event_ids: portrait.entity.sources.iter().map(ToString::to_string).collect(),
        facts: portrait.facts.iter().map(full).collect(),
        past: portrait.past.iter().map(full).collect(),
        company: portrait
            .company
            .iter()
            .map(|(name, one)| CompanyForm {
                id: one.entity.to_string(),
                name: name.clone(),
                event_count: one.seen.events,
                first_seen: one.seen.first_at.to_string(),
                last_seen: one.seen.last_at.to_string(),
            })
            .collect(),
    };
    output.answer(&form, || text(portrait))
}

/// A fact with its sentences.
fn full(told: &Told) -> FullForm {
    let sentences = told.sentences.iter().map(SentenceForm::from).collect();
    FullForm { fact: FactForm::from(told), sentences }
}

fn text(portrait: &Portrait) -> String {
    let mut lines = vec![portrait.line()];
    lines.extend(portrait.description().map(str::to_owned));
    if let Some(seen) = &portrait.seen {
        let day = |at: mnemal::Timestamp| at.civil(&Zone::utc()).day_text();
        let (first, last) = (day(seen.first_at), day(seen.last_at));
        let when = if first == last { format!("on {first}") } else { format!("{first} to {last}") };
        lines.push(format!("{when} UTC"));
    }
    lines.push(portrait.entity.id.to_string());
    section(&mut lines, "known", &portrait.facts);
    section(&mut lines, "before", &portrait.past);
    if !portrait.company.is_empty() {
        let with = portrait.company.iter().take(COMPANY);
        let with: Vec<String> = with.map(|(name, one)| format!("{name} ({})", one.seen.events)).collect();
        lines.push(format!("\nnamed with: {}", with.join(", ")));
    }
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, facts: &[Told]) {
    if facts.is_empty() {
        return;
    }
    lines.push(format!("\n{title}:"));
    for told in facts {
        lines.push(format!("  {}  ({})", told.line(), told.sureness()));
        for sentence in told.sentences.iter().rev().take(SENTENCES) {
            let words = if sentence.text.is_empty() {
                "you decided so".to_owned()
            } else {
                let speaker = sentence.speaker.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
                format!("{speaker}“{}”", sentence.text)
            };
            lines.push(format!("      {}  {words}  {}", sentence.day(), sentence.source.event));
        }
        let more = told.sentences.len().saturating_sub(SENTENCES);
        if more > 0 {
            lines.push(format!("      and {more} more"));
        }
    }
}

#[derive(Serialize)]
struct ShownForm<'p> {
    #[serde(flatten)]
    entity: EntityForm,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'p str>,
    metadata: BTreeMap<&'p str, &'p str>,
    source_event_ids: Vec<String>,
    facts: Vec<FullForm>,
    past: Vec<FullForm>,
    company: Vec<CompanyForm>,
}

#[derive(Serialize)]
struct FullForm {
    #[serde(flatten)]
    fact: FactForm,
    sentences: Vec<SentenceForm>,
}

#[derive(Serialize)]
struct CompanyForm {
    id: String,
    name: String,
    event_count: usize,
    first_seen: String,
    last_seen: String,
}
