//! The printed profile of an entity.

use std::collections::BTreeMap;

use anyhow::Result;
use mnemal::Zone;
use mnemal::graph::{EntityProfile, FactView};
use serde::Serialize;

use super::EntityForm;
use crate::command::fact::{FactForm, SentenceForm};
use crate::output::Output;

/// Maximum number of sentences of a fact on the screen, newest first; JSON output contains all. Source: own choice.
const SENTENCES: usize = 3;
/// Maximum number of co-occurring entities on the screen. Source: own choice, a line.
const COMPANY: usize = 10;

/// Prints the profile.
pub(super) fn print(profile: &EntityProfile, output: &Output) -> Result<()> {
    let mut entity = EntityForm::new(&profile.entity, profile.stats.as_ref());
    entity.aliases.clone_from(&profile.aliases);
    entity.roles = profile.roles.iter().map(|(owner, role)| format!("{role} of {owner}")).collect();
    let form = ProfileForm {
        entity,
        description: profile.description(),
        metadata: profile.metadata(),
        source_event_ids: profile.entity.sources.iter().map(ToString::to_string).collect(),
        facts: profile.facts.iter().map(full).collect(),
        past: profile.past.iter().map(full).collect(),
        company: profile
            .company
            .iter()
            .map(|(name, one)| CooccurrenceForm {
                id: one.entity.to_string(),
                name: name.clone(),
                event_count: one.stats.events,
                first_seen: one.stats.first_at.to_string(),
                last_seen: one.stats.last_at.to_string(),
            })
            .collect(),
    };
    output.answer(&form, || text(profile))
}

/// A fact with its sentences.
fn full(told: &FactView) -> FactDetailForm {
    let sentences = told.sentences.iter().map(SentenceForm::from).collect();
    FactDetailForm { fact: FactForm::from(told), sentences }
}

fn text(profile: &EntityProfile) -> String {
    let mut lines = vec![profile.line()];
    lines.extend(profile.description().map(str::to_owned));
    if let Some(seen) = &profile.stats {
        let day = |at: mnemal::Timestamp| at.civil(&Zone::utc()).day_text();
        let (first, last) = (day(seen.first_at), day(seen.last_at));
        let when = if first == last { format!("on {first}") } else { format!("{first} to {last}") };
        lines.push(format!("{when} UTC"));
    }
    lines.push(profile.entity.id.to_string());
    section(&mut lines, "known", &profile.facts);
    section(&mut lines, "before", &profile.past);
    if !profile.company.is_empty() {
        let with = profile.company.iter().take(COMPANY);
        let with: Vec<String> = with.map(|(name, one)| format!("{name} ({})", one.stats.events)).collect();
        lines.push(format!("\nnamed with: {}", with.join(", ")));
    }
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, facts: &[FactView]) {
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
struct ProfileForm<'p> {
    #[serde(flatten)]
    entity: EntityForm,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'p str>,
    metadata: BTreeMap<&'p str, &'p str>,
    source_event_ids: Vec<String>,
    facts: Vec<FactDetailForm>,
    past: Vec<FactDetailForm>,
    company: Vec<CooccurrenceForm>,
}

#[derive(Serialize)]
struct FactDetailForm {
    #[serde(flatten)]
    fact: FactForm,
    sentences: Vec<SentenceForm>,
}

#[derive(Serialize)]
struct CooccurrenceForm {
    id: String,
    name: String,
    event_count: usize,
    first_seen: String,
    last_seen: String,
}
