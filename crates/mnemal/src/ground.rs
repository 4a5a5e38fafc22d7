//! Whether the lines of a context stand on the words that their receipt names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mnemal_context::line_number;
use mnemal_core::{
    AsOf, Decision, EntityId, ErrorKind, Event, EventId, EventKind, Fact, FactDecision, FactFilter, FactId,
    Receipt, ReceiptLine, RecordRef, Result, Timestamp, Value, Within,
};
use mnemal_text::{Analyzer, Language, is_stop_word};

use crate::memory::Memory;

/// Share of the content stems of a line that its words must hold, in percent. Source: issue of trust, .9.
const COVERED: u8 = 90;

/// The texts that the value of each fact may have.
pub(crate) type Values = BTreeMap<FactId, Vec<String>>;

/// On what a line of a context stands; the better the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Its words hold this share of its content stems, in percent.
    Covered(u8),
    /// It is a fact, and its value stands in its words.
    Value,
    /// It is said as it stands there.
    Verbatim,
}

impl Ground {
    /// Returns how much of the line its words hold, in percent.
    pub fn percent(self) -> u8 {
        match self {
            Self::Covered(percent) => percent,
            Self::Value | Self::Verbatim => 100,
        }
    }

    /// Whether that is enough for a line that is remembered and not made up.
    pub fn is_enough(self) -> bool {
        self.percent() >= COVERED
    }
}

/// A line as a reader sees it.
struct Shown {
    text: String,
}

impl Memory {
    /// Returns what the values of the facts of a receipt are called; what is read follows the number of its lines.
    pub(crate) async fn values_of(&self, receipt: &Receipt) -> Result<Values> {
        let lines = || receipt.lines.iter().filter(|line| matches!(line.record, RecordRef::Fact(_)));
        let sources: BTreeSet<EventId> =
            lines().flat_map(|line| &line.sources).map(|source| source.event).collect();
        if sources.is_empty() {
            return Ok(Values::new());
        }
        let graph = match self.graph().await {
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

/// Returns the entities that a fact leads to: what its words said, and what that is taken for, which may have other names.
fn objects(fact: &Fact) -> Vec<EntityId> {
    let said = fact.supports.iter().filter_map(|support| support.object.entity());
    said.chain(fact.object.entity()).collect()
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

/// Returns on what each line of a context's text stands that has an account, and a sentence for each line that has none, that
/// cannot be read, or of which its words hold too little: it is said verbatim, tells where and when an event was, gives the value
/// of a fact that its words have, or has nine tenths of its content stems from them.
pub(crate) fn grounded(
    (text, receipt): (&str, &Receipt),
    events: &BTreeMap<EventId, Event>,
    (values, language): (&Values, Language),
) -> (Vec<Ground>, Vec<String>) {
    let (mut grounds, mut findings) = (Vec::new(), Vec::new());
    for (number, line) in shown(text) {
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

/// Returns the numbered lines of a text; `None` for one that quotes nothing that can be read.
fn shown(text: &str) -> Vec<(usize, Option<Shown>)> {
    let read = |line: &str| {
        // The name of a speaker may have quotes too: the text is what stands from one of them to the end.
        let mut quotes = line.match_indices('"').filter_map(|(place, _)| line.get(place..));
        let text = quotes.find_map(|quoted| serde_json::from_str::<String>(quoted).ok())?;
        Some(Shown { text: text.trim_end_matches('…').trim().to_owned() })
    };
    text.lines().filter_map(|line| Some((line_number(line)?, read(line)))).collect()
}

impl Shown {
    /// Returns on what the line stands, if this is its account.
    fn ground(
        &self,
        known: &ReceiptLine,
        events: &BTreeMap<EventId, Event>,
        (values, language): (&Values, Language),
    ) -> Ground {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = plain(&self.text);
        for source in &known.sources {
            let Some(kept) = events.get(&source.event).and_then(Event::kept) else { continue };
            if plain(source.span.of(&kept.content).unwrap_or_default()).contains(&text) {
                return Ground::Verbatim;
            }
        }
        let there = stems(&words(known, events), language);
        if let RecordRef::Fact(fact) = known.record {
            let mut texts = values.get(&fact).into_iter().flatten();
            if texts.any(|value| !value.is_empty() && stems(value, language).is_subset(&there)) {
                return Ground::Value;
            }
        }
        let wanted = stems(&text, language);
        let found = wanted.iter().filter(|stem| there.contains(*stem)).count();
        Ground::Covered(u8::try_from(100 * found / wanted.len().max(1)).unwrap_or_default())
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
        let lines = shown(&text);
        let texts: Vec<(usize, Option<&str>)> = lines
            .iter()
            .map(|(number, line)| (*number, line.as_ref().map(|line| line.text.as_str())))
            .collect();
        let expected = [(1, Some(words.trim())), (2, Some("red lamp")), (3, None), (4, None), (5, None)];
        assert_eq!(texts, expected);
    }

    #[test]
    fn the_best_ground_counts_and_nine_tenths_are_enough() {
        assert!(Ground::Verbatim > Ground::Value && Ground::Value > Ground::Covered(100));
        assert!(Ground::Covered(90).is_enough() && !Ground::Covered(89).is_enough());
    }
}
