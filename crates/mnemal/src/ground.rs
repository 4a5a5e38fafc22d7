//! Whether the lines of a context stand on the words that their receipt names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mnemal_core::{
    AsOf, Decision, EntityFilter, EntityId, ErrorKind, Event, EventId, EventKind, Fact, FactDecision,
    FactFilter, FactId, Receipt, ReceiptLine, RecordRef, Result, Timestamp, Value,
};
use mnemal_text::{Analyzer, Language, is_stop_word};

use crate::memory::Memory;

/// Share of the content stems of a line that its words must hold, in percent. Source: issue of trust, .9.
const COVERED: usize = 90;

/// The texts that the value of each fact may have.
pub(crate) type Values = BTreeMap<FactId, Vec<String>>;

/// A line as a reader sees it.
struct Shown {
    /// The record that it names, as text.
    record: Option<String>,
    text: String,
}

impl Memory {
    /// Returns what the values of the facts of a receipt are called.
    pub(crate) async fn values_of(&self, receipt: &Receipt) -> Result<Values> {
        if !receipt.lines.iter().any(|line| matches!(line.record, RecordRef::Fact(_))) {
            return Ok(Values::new());
        }
        let graph = match self.graph().await {
            Ok(graph) => graph.value,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(Values::new()),
            Err(error) => return Err(error),
        };
        let always = AsOf::present(Timestamp::MAX);
        let mut names: BTreeMap<EntityId, Vec<String>> = BTreeMap::new();
        for whole in graph.all(&EntityFilter::all(), always).await? {
            let parts = graph.parts(whole.id, always).await?;
            for entity in parts.into_iter().chain([whole]) {
                names.insert(entity.id, entity.names.into_iter().map(|name| name.text).collect());
            }
        }
        let texts = |fact: &Fact| match &fact.object {
            Value::Literal { text, .. } => vec![text.clone()],
            // What somebody is taken for may have other names than stand in the words.
            Value::Entity(whole) => {
                let said = fact.supports.iter().filter_map(|support| support.object.entity());
                said.chain([*whole]).filter_map(|id| names.get(&id)).flatten().cloned().collect()
            }
        };
        let facts = graph.history(&FactFilter::all()).await?;
        Ok(facts.iter().map(|fact| (fact.id, texts(fact))).collect())
    }
}

/// Returns the words that a line rests on: the spans of its sources, with who said them and what was decided in them.
fn words(line: &ReceiptLine, events: &BTreeMap<EventId, Event>) -> String {
    let mut all = String::new();
    for source in &line.sources {
        let Some(kept) = events.get(&source.event).and_then(Event::kept) else { continue };
        let part = source.span.of(&kept.content).unwrap_or_default();
        let speaker = kept.speaker.as_ref().map_or("", |speaker| speaker.as_str());
        let decided = match &kept.kind {
            EventKind::Decision(Decision::Fact(FactDecision {
                object: Value::Literal { text, .. }, ..
            })) => text.as_str(),
            _ => "",
        };
        let _ = writeln!(all, "{part} {speaker} {decided}");
    }
    all
}

/// Returns how many lines of a context's text stand on the words of their account, and a sentence for each that does not: it is
/// said verbatim, tells where and when an event was, gives the value of a fact that its words have, or has nine tenths of its
/// content stems from them. A line that names no record is judged where every line is accounted for.
pub(crate) fn grounded(
    (text, receipt): (&str, &Receipt),
    events: &BTreeMap<EventId, Event>,
    (values, language): (&Values, Language),
) -> (usize, Vec<String>) {
    let lines = shown(text);
    let is_whole = lines.len() == receipt.lines.len();
    let (mut sure, mut findings) = (0, Vec::new());
    for (number, line) in (1..).zip(&lines) {
        if line.record.is_none() && !is_whole {
            continue;
        }
        let may_be = |known: &&ReceiptLine| {
            line.record.as_ref().is_none_or(|record| known.record.to_string() == *record)
        };
        let covered = receipt
            .lines
            .iter()
            .filter(may_be)
            .map(|known| line.covered(known, events, (values, language)))
            .max();
        match covered {
            Some(percent) if percent >= COVERED => sure += 1,
            Some(percent) => {
                findings.push(format!("line {number} of the text: its words hold {percent} % of it"));
            }
            None => findings.push(format!("line {number} of the text has no account")),
        }
    }
    (sure, findings)
}

/// Returns the lines of a text that quote something.
fn shown(text: &str) -> Vec<Shown> {
    let read = |line: &str| {
        let (label, quoted) = line.split_at_checked(line.find('"')?)?;
        let mut names = label.split([',', ']', ' ']).map(str::trim);
        let record = names.find(|name| name.parse::<RecordRef>().is_ok()).map(str::to_owned);
        let text = unquoted(quoted)?;
        Some(Shown { record, text: text.trim_end_matches('…').trim().to_owned() })
    };
    text.lines().filter(|line| line.starts_with("- ")).filter_map(read).collect()
}

/// Reads a JSON string.
fn unquoted(quoted: &str) -> Option<String> {
    let inner = quoted.trim_end().strip_prefix('"')?.strip_suffix('"')?;
    let (mut text, mut letters, mut high) = (String::new(), inner.chars(), None);
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        text.push(match letters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let digits: String = letters.by_ref().take(4).collect();
                let unit = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4)?;
                match (unit, high.take()) {
                    (0xd800..=0xdbff, _) => {
                        high = Some(unit);
                        continue;
                    }
                    (0xdc00..=0xdfff, Some(first)) => {
                        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (unit - 0xdc00))?
                    }
                    (unit, _) => char::from_u32(unit)?,
                }
            }
            other => other,
        });
    }
    Some(text)
}

impl Shown {
    /// Returns how much of the line stands in the words of an account, in percent.
    fn covered(
        &self,
        known: &ReceiptLine,
        events: &BTreeMap<EventId, Event>,
        (values, language): (&Values, Language),
    ) -> usize {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = plain(&self.text);
        for source in &known.sources {
            let Some(kept) = events.get(&source.event).and_then(Event::kept) else { continue };
            let place =
                format!("last activity before this conversation: {} on {}", kept.session, kept.channel);
            let part = source.span.of(&kept.content).unwrap_or_default();
            if plain(part).contains(&text) || place.starts_with(&text) {
                return 100;
            }
        }
        let there = stems(&words(known, events), language);
        if let RecordRef::Fact(fact) = known.record {
            let mut texts = values.get(&fact).into_iter().flatten();
            if texts.any(|value| !value.is_empty() && stems(value, language).is_subset(&there)) {
                return 100;
            }
        }
        let wanted = stems(&text, language);
        let found = wanted.iter().filter(|stem| there.contains(*stem)).count();
        100 * found / wanted.len().max(1)
    }
}

fn stems(text: &str, language: Language) -> BTreeSet<String> {
    let terms = Analyzer::new(language).terms(text);
    let is_content = |term: &&mnemal_text::Term| {
        let word = text.get(term.start..term.end).unwrap_or_default().to_lowercase();
        !is_stop_word(language, &word)
    };
    terms.iter().filter(is_content).map(|term| term.text.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_line_is_read_as_json_is() {
        let words = "a \"b\" \\ / \n\t é 😀 \u{1f}";
        let quoted = serde_json::to_string(words).unwrap();
        assert_eq!(unquoted(&quoted).unwrap(), words);
        assert_eq!(unquoted("\"\\ud83d\\ude00\\u00e9\"").unwrap(), "😀é");
        for wrong in ["", "\"", "\"\\", "\"\\u12\"", "\"\\udc00\"", "x"] {
            assert_eq!(unquoted(wrong), None, "{wrong}");
        }
        let text = "# Facts\n- [user, 2026-01-01, evt_00000000000000000000000001] \"red lamp…\"\n- no quote\nx \"y\"\n";
        let lines = shown(text);
        assert_eq!((lines.len(), lines[0].text.as_str()), (1, "red lamp"));
    }
}
