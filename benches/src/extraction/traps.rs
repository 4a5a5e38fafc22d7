//! Trap texts without a valid claim: sentences that only look like claims, and texts by others.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use mnemal_core::{Event, EventKind, Extractor, Gazetteer, Origin, Timestamp, ToolName, Utterance, Zone};
use serde::Deserialize;
use serde_json::Value;

use super::{Share, TurnText};

/// When the texts were said; none of them depends on it.
const SAID_AT: i64 = 1_772_355_600_000_000;

#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    text: String,
    #[serde(default)]
    role: String,
}

/// Counts the sentences of `g2/HALF.jsonl` from which a claim is made, other than that something ended and what is
/// attributed to someone else; and names them.
///
/// # Errors
/// A file that is missing, or a line that is no such record.
pub fn claimed(gold: &Path, half: &str, extractor: &dyn Extractor) -> Result<(Share, Vec<String>)> {
    let (mut share, mut failures) = (Share::default(), Vec::new());
    for (number, line) in lines(&gold.join(format!("g2/{half}.jsonl")))?.into_iter().enumerate() {
        let event = event(&line, number)?;
        let found = extractor.extract(&utterance(&event));
        let wrong = found.facts.iter().find(|fact| !fact.act.is_of_past() && fact.attributed_to.is_none());
        share.count(wrong.is_some());
        failures.extend(wrong.map(|fact| format!("TRAP {} {}", line.id, super::gold::described(fact))));
    }
    Ok((share, failures))
}

/// Counts the texts of `g6.jsonl` from which anything is claimed: tool results, documents, the assistant's words.
///
/// # Errors
/// A file that is missing, or a line that is no such record.
pub fn of_others(gold: &Path, extractor: &dyn Extractor) -> Result<Share> {
    let mut share = Share::default();
    for (number, line) in lines(&gold.join("g6.jsonl"))?.into_iter().enumerate() {
        let event = event(&line, number)?;
        share.count(!extractor.extract(&utterance(&event)).facts.is_empty());
    }
    Ok(share)
}

fn utterance(event: &Event) -> Utterance<'_> {
    static NOBODY: std::sync::LazyLock<Gazetteer> = std::sync::LazyLock::new(Gazetteer::default);
    Utterance { event, before: &[], known: &NOBODY }
}

/// Makes the event of a text; without a role it is the user's.
fn event(line: &Line, number: usize) -> Result<Event> {
    let at = Timestamp::from_micros(SAID_AT)?;
    let said = TurnText {
        id: line.id.clone(),
        before: String::new(),
        text: line.text.clone(),
        at,
        zone: Zone::utc(),
    };
    let mut event = said.event(number)?;
    let (kind, origin) = match line.role.as_str() {
        "" => return Ok(event),
        "assistant" => (EventKind::AssistantMessage, Origin::Assistant),
        "tool" => (EventKind::ToolResult { tool: ToolName::new("fetch")?, ok: true }, Origin::ToolExternal),
        "document" => (EventKind::Document, Origin::Document),
        "observation" => (EventKind::Observation, Origin::ToolInternal),
        other => bail!("{}: no role {other}", line.id),
    };
    (event.role, event.level, event.trust) = (kind.role(), origin.level(), origin.trust());
    if let mnemal_core::Body::Present(said) = &mut event.body {
        (said.kind, said.origin) = (kind, origin);
    }
    Ok(event)
}

fn lines(path: &Path) -> Result<Vec<Line>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let read = |line: &str| {
        serde_json::from_str::<Line>(line).with_context(|| format!("{}: {line}", path.display()))
    };
    text.lines().filter(|line| !line.is_empty()).map(read).collect()
}

/// Adds both figures to those of a gold folder, whose siblings hold these texts.
///
/// # Errors
/// Those of [`claimed`] and [`of_others`].
pub fn add_to(
    figures: &mut Value,
    folder: &Path,
    half: &str,
    extractor: &dyn Extractor,
) -> Result<Vec<String>> {
    let gold = folder.parent().context("the gold folder stands alone")?;
    let (share, failures) = claimed(gold, half, extractor)?;
    if let Value::Object(all) = figures {
        all.insert("traps_claimed".to_owned(), share.json());
        all.insert("of_others_claimed".to_owned(), of_others(gold, extractor)?.json());
    }
    Ok(failures)
}
