//! Grounding check: whether the lines of a context are supported by the sources in its receipt.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mnemal_context::line_number;
use mnemal_core::{
    AsOf, Decision, EntityId, ErrorKind, Event, EventId, EventKind, Fact, FactDecision, FactFilter, FactId,
    Receipt, ReceiptLine, RecordRef, Result, Timestamp, Value, Within,
};
use mnemal_text::{Analyzer, Language, is_stop_word};

use crate::memory::Memory;

/// Minimum share of a line's content stems that its sources must contain, in percent. Source: own choice, which leaves room for a
/// label or a date.
const COVERED: u8 = 90;

/// The accepted texts of each fact's value.
pub(crate) type Values = BTreeMap<FactId, Vec<String>>;

/// How a line of a context is grounded; later variants are stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grounding {
    /// Its sources contain this share of its content stems, in percent.
    Covered(u8),
    /// It is a fact, and its sources contain its value.
    Value,
    /// Its sources contain it verbatim.
    Verbatim,
}

impl Grounding {
    /// Returns the share of the line that its sources contain, in percent.
    pub fn percent(self) -> u8 {
        match self {
            Self::Covered(percent) => percent,
            Self::Value | Self::Verbatim => 100,
        }
    }

    /// Whether the line counts as grounded.
    pub fn is_enough(self) -> bool {
        self.percent() >= COVERED
    }
}

/// A line of the rendered text.
struct RenderedLine {
    text: String,
}

impl Memory {
    /// Returns the accepted texts of the values of a receipt's facts; the cost is proportional to its number of lines.
    pub(crate) async fn values_of(&self, receipt: &Receipt) -> Result<Values> {
        let lines = || receipt.lines.iter().filter(|line| matches!(line.record, RecordRef::Fact(_)));
        let sources: BTreeSet<EventId> =
            lines().flat_map(|line| &line.sources).map(|source| source.event).collect();
        if sources.is_empty() {
            return Ok(Values::new());
        }
        let graph = match self.facts().graph().await {
            Ok(graph) => graph.value,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(Values::new()),
            Err(error) => return Err(error),
        };
        let filter = FactFilter { sources: Within::Only(sources.into_iter().collect()), ..FactFilter::all() };
        let mut facts = graph.history(&filter).await?;
        facts.retain(|fact| lines().any(|line| line.record == RecordRef::Fact(fact.id)));
        let always = AsOf::present(Timestamp::MAX);
        let mut names: BTreeMap<EntityId, Vec<String>> = BTreeMap::new();
        for whole in graph.entities(facts.iter().flat_map(objects), always).await? {
            let parts = graph.parts(whole.id, always).await?;
            for entity in parts.into_iter().chain([whole]) {
                names.insert(entity.id, entity.names.into_iter().map(|name| name.text).collect());
            }
        }
        let texts = |fact: &Fact| match &fact.object {
            Value::Literal { text, .. } => vec![text.clone()],
            Value::Entity(_) => {
                objects(fact).iter().filter_map(|id| names.get(id)).flatten().cloned().collect()
            }
        };
        Ok(facts.iter().map(|fact| (fact.id, texts(fact))).collect())
    }
}

/// Returns the object entities of a fact: as stated in its sources, and after merges, which may change the names.
fn objects(fact: &Fact) -> Vec<EntityId> {
    let said = fact.supports.iter().filter_map(|support| support.object.entity());
    said.chain(fact.object.entity()).collect()
}

/// Returns the source text of a line: the spans of its sources, their speakers, and the decisions in them.
fn words(line: &ReceiptLine, events: &BTreeMap<EventId, Event>) -> String {
    let mut all = String::new();
    for source in &line.sources {
        let Some(kept) = events.get(&source.event).and_then(Event::body) else { continue };
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

/// Returns how each line of a rendered text with a receipt entry is grounded, and a finding for each line that has no entry,
/// cannot be parsed, or is not grounded. A line is grounded when it is verbatim, gives the place and time of an event, gives the
/// value of a fact that its sources contain, or has nine tenths of its content stems in its sources.
pub(crate) fn check_citations(
    (text, receipt): (&str, &Receipt),
    events: &BTreeMap<EventId, Event>,
    (values, language): (&Values, Language),
) -> (Vec<Grounding>, Vec<String>) {
    let (mut grounds, mut findings) = (Vec::new(), Vec::new());
    for (number, line) in numbered_lines(text) {
        let Some(line) = line else {
            findings.push(format!("line {number} of the text cannot be read"));
            continue;
        };
        let Some(known) = number.checked_sub(1).and_then(|place| receipt.lines.get(place)) else {
            findings.push(format!("line {number} of the text has no account"));
            continue;
        };
        let ground = line.ground(known, events, (values, language));
        if !ground.is_enough() {
            let percent = ground.percent();
            findings.push(format!("line {number} of the text: its words hold {percent} % of it"));
        }
        grounds.push(ground);
    }
    (grounds, findings)
}

/// Returns the numbered lines of a text; `None` for a line whose quotation cannot be parsed.
fn numbered_lines(text: &str) -> Vec<(usize, Option<RenderedLine>)> {
    let read = |line: &str| {
        // The name of a speaker may contain quotes too: the quoted text starts at one of them and ends with the line.
        let mut quotes = line.match_indices('"').filter_map(|(place, _)| line.get(place..));
        let text = quotes.find_map(|quoted| serde_json::from_str::<String>(quoted).ok())?;
        Some(RenderedLine { text: text.trim_end_matches('…').trim().to_owned() })
    };
    text.lines().filter_map(|line| Some((line_number(line)?, read(line)))).collect()
}

impl RenderedLine {
    /// Returns how the line is grounded, if the receipt entry belongs to it.
    fn ground(
        &self,
        known: &ReceiptLine,
        events: &BTreeMap<EventId, Event>,
        (values, language): (&Values, Language),
    ) -> Grounding {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = plain(&self.text);
        for source in &known.sources {
            let Some(kept) = events.get(&source.event).and_then(Event::body) else { continue };
            if plain(source.span.of(&kept.content).unwrap_or_default()).contains(&text) {
                return Grounding::Verbatim;
            }
        }
        let there = stems(&words(known, events), language);
        if let RecordRef::Fact(fact) = known.record {
            let mut texts = values.get(&fact).into_iter().flatten();
            if texts.any(|value| !value.is_empty() && stems(value, language).is_subset(&there)) {
                return Grounding::Value;
            }
        }
        let wanted = stems(&text, language);
        let found = wanted.iter().filter(|stem| there.contains(*stem)).count();
        Grounding::Covered(u8::try_from(100 * found / wanted.len().max(1)).unwrap_or_default())
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
    fn a_line_is_read_from_the_quote_that_ends_it_and_one_without_is_told() {
        let words = "a \"b\" \\ / \n\t é 😀 \u{1f}";
        let quoted = serde_json::to_string(words).unwrap();
        let text = format!(
            "# Facts\n- 1 2026-01-01 Ann \"A\" Lee (pasted) {quoted}\n- 2 2026-01-01 \"red lamp…\"\n\
             - 3 2026-01-01 no quote\n- 4 2026-01-01 half \"a quote\n- 5 2026-01-01 \"two\" \"parts\"x\nx \"y\"\n"
        );
        let lines = numbered_lines(&text);
        let texts: Vec<(usize, Option<&str>)> = lines
            .iter()
            .map(|(number, line)| (*number, line.as_ref().map(|line| line.text.as_str())))
            .collect();
        let expected = [(1, Some(words.trim())), (2, Some("red lamp")), (3, None), (4, None), (5, None)];
        assert_eq!(texts, expected);
    }

    #[test]
    fn the_best_ground_counts_and_nine_tenths_are_enough() {
        assert!(Grounding::Verbatim > Grounding::Value && Grounding::Value > Grounding::Covered(100));
        assert!(Grounding::Covered(90).is_enough() && !Grounding::Covered(89).is_enough());
    }
}
