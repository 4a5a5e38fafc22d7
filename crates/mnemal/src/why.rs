//! Explanations: why a record was shown or left out, from the log and stored receipts; and verification of receipts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mnemal_context::{block_hashes, content_hash, line_number};
use mnemal_core::{
    AsOf, Degraded, Error, ErrorKind, Event, EventFilter, EventId, Fact, FactFilter, LearningFilter,
    LearningStatus, Omitted, Producer, Receipt, ReceiptId, ReceiptLine, RecordRef, Result, Source, Span,
    Timestamp,
};
use mnemal_graph::FactExplanation;
use mnemal_text::Language;

use crate::areas::AdminHandle;
use crate::citation_check::{Grounding, check_citations};
use crate::entity_profile::{SourceSentence, sentence_of};
use crate::feedback::Feedback;
use crate::memory::Memory;

/// Number of hits among which a record's rank is determined. Source: own choice; contexts are never offered lower hits.
const RANKED: usize = 200;

/// The provenance of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The record.
    pub record: RecordRef,
    /// Its current text.
    pub text: String,
    /// Its producer; `None` for an event.
    pub producer: Option<Producer>,
    /// Its source sentences.
    pub evidence: Vec<SourceSentence>,
    /// For a fact: the competing facts, and what ended it.
    pub explanation: Option<FactExplanation>,
    /// Its outcome in the given receipt, if there is one.
    pub shown: Option<ContextOutcome>,
    /// Feedback on it in earlier answers, in log order.
    pub feedback: Vec<Feedback>,
}

/// The outcome of a record in a context.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextOutcome {
    /// It is a line, with its scores.
    Line(Box<ReceiptLine>),
    /// It was a candidate and was left out.
    Omitted(Omitted),
    /// The receipt does not list it: it was no candidate, or one of the unlisted omissions.
    Unlisted {
        /// Number of unlisted omissions.
        counted: u32,
    },
}

/// Why a record is not in a context.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyNot {
    /// It is in the context, as this line.
    Shown(Box<ReceiptLine>),
    /// It was a candidate and was left out.
    Omitted {
        /// The reason, the section and the score.
        omitted: Omitted,
        /// Its rank for the question, from 1, and its score there, if it is among the top 200 hits.
        ranked: Option<(usize, f32)>,
    },
    /// It was found, but ranked too low to become a candidate.
    Behind {
        /// Its rank, from 1.
        rank: usize,
        /// Its score.
        score: f32,
    },
    /// It could not become a candidate.
    Barred(CandidateGate),
}

/// The reason why a record could not become a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CandidateGate {
    /// It was forgotten.
    Forgotten,
    /// It is quarantined, by this rule.
    Quarantined(String),
    /// It is a note or learning that is not valid.
    Status(LearningStatus),
    /// It is a note or learning that has expired.
    Expired,
    /// It is a fact that has ended, or is no longer believed.
    NotBelieved,
    /// The question does not match it.
    NotFound,
}

impl std::fmt::Display for CandidateGate {
    /// Writes the name on the wire.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forgotten => out.write_str("forgotten"),
            Self::Quarantined(rule) => write!(out, "quarantined: {rule}"),
            Self::Status(status) => out.write_str(status.as_str()),
            Self::Expired => out.write_str("expired"),
            Self::NotBelieved => out.write_str("not_believed"),
            Self::NotFound => out.write_str("not_found_by_the_question"),
        }
    }
}

/// The result of a receipt check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiptCheck {
    /// Number of lines of the receipt.
    pub lines: usize,
    /// Lines whose sources are all in the log, with spans inside their texts.
    pub resolved: usize,
    /// Lines whose record has its own text, unchanged since it was shown.
    pub same: usize,
    /// Lines with a text from several records or a part of one, for which only the sources can be checked.
    pub not_compared: usize,
    /// Blocks of the given text that match the receipt byte by byte.
    pub blocks: usize,
    /// Whether the receipt is unchanged, including its omissions, under the installation's key; `None` for one without a seal,
    /// and for one with forgotten lines.
    pub whole: Option<bool>,
    /// Lines and omissions that a forget removed from it.
    pub forgotten: usize,
    /// Lines of the given text that are grounded in their sources: verbatim, as the value of a fact, or with nine tenths of their
    /// content stems.
    pub grounded: usize,
    /// How each line of that text with a receipt entry is grounded, in order.
    pub grounds: Vec<Grounding>,
    /// Problems, one sentence each; empty for a valid receipt.
    pub findings: Vec<String>,
}

impl Memory {
    /// Checks a receipt against its seal. A forget removes lines and omissions, which breaks the seal; if nothing was forgotten
    /// since, a missing line means tampering.
    async fn check_seal(&self, receipt: &Receipt, check: &mut ReceiptCheck) -> Result<()> {
        let Some(seal) = receipt.seal else { return Ok(()) };
        let present = receipt.sealed(&self.engine.parts().key);
        let gone = |then: u32, now: u32| then.saturating_sub(now) as usize;
        check.forgotten = gone(seal.lines, present.lines) + gone(seal.omitted, present.omitted);
        if check.forgotten == 0 {
            check.whole = Some(seal == present);
            if seal != present {
                check
                    .findings
                    .push("it is not what was stored: a line, an omission or a score is another".to_owned());
            }
            return Ok(());
        }
        let stones = self.engine.events()?.tombstones().await?;
        if !stones.iter().any(|stone| stone.at >= receipt.at) {
            let what =
                format!("{} of its lines and omissions are gone, and nothing was forgotten", check.forgotten);
            check.findings.push(what);
        }
        Ok(())
    }

    /// Returns the text of a record, and its sources.
    async fn record_detail(&self, record: RecordRef) -> Result<RecordDetail> {
        let none = || Error::not_found(format!("no record {record}"));
        match record {
            RecordRef::Event(id) => {
                let event = self.events().get(id).await?;
                let kept = event.body().ok_or_else(none)?;
                let source = Source { event: id, span: Span::whole(&kept.content)? };
                Ok(RecordDetail {
                    text: kept.content.clone(),
                    sources: vec![source],
                    producer: None,
                    fact: None,
                })
            }
            RecordRef::Learning(id) => {
                let rows = self.preferences().all_learnings(&LearningFilter::all()).await?;
                let row = rows.into_iter().find(|row| row.id == id).ok_or_else(none)?;
                let producer = Some(row.producer);
                Ok(RecordDetail { text: row.content, sources: row.sources, producer, fact: None })
            }
            RecordRef::Fact(id) => {
                let graph = self.facts().graph().await?;
                let facts = graph.history(&FactFilter::all()).await?;
                let fact = facts.into_iter().find(|fact| fact.id == id).ok_or_else(none)?;
                let sources = fact.supports.iter().map(|support| support.source).collect();
                let producer = Some(fact.producer.clone());
                let told = self
                    .facts()
                    .describe_facts(&graph, vec![fact.clone()], AsOf::present(Timestamp::MAX))
                    .await?;
                let text = told.first().map(crate::entity_profile::FactView::line).unwrap_or_default();
                Ok(RecordDetail { text, sources, producer, fact: Some(fact) })
            }
            _ => Err(none()),
        }
    }

    pub(crate) async fn sentences_of(&self, sources: &[Source]) -> Result<Vec<SourceSentence>> {
        let events = self.living(sources.iter().map(|source| source.event).collect()).await?;
        let mut sources = sources.to_vec();
        sources.sort_unstable();
        sources.dedup();
        let sentence = |source: &Source| sentence_of(events.get(&source.event)?, *source);
        Ok(sources.iter().filter_map(sentence).collect())
    }

    /// Returns those events that are in the log and not erased.
    async fn living(&self, ids: BTreeSet<EventId>) -> Result<BTreeMap<EventId, Event>> {
        let ids: Vec<EventId> = ids.into_iter().collect();
        let known = self.engine.existing_events(&ids).await?;
        Ok(known.into_iter().filter(|event| event.body().is_some()).map(|event| (event.id, event)).collect())
    }

    /// Returns the reason that keeps a record from becoming a candidate for any question.
    async fn barred(&self, record: RecordRef) -> Result<Option<CandidateGate>> {
        match record {
            RecordRef::Event(id) => {
                let event = self.events().get(id).await?;
                let held = event.quarantined.as_ref().map(|why| CandidateGate::Quarantined(why.to_string()));
                Ok(if event.body().is_none() { Some(CandidateGate::Forgotten) } else { held })
            }
            RecordRef::Learning(id) => {
                let rows = self.preferences().all_learnings(&LearningFilter::all()).await?;
                let row = rows.iter().find(|row| row.id == id);
                let row = row.ok_or_else(|| Error::not_found(format!("no record {record}")))?;
                let ended = row.expires_at.is_some_and(|at| at <= self.engine.now());
                let holds = row.status == LearningStatus::Active;
                Ok(match (holds, ended) {
                    (false, _) => Some(CandidateGate::Status(row.status)),
                    (true, true) => Some(CandidateGate::Expired),
                    (true, false) => None,
                })
            }
            RecordRef::Fact(id) => {
                let graph = self.facts().graph().await?;
                let now = AsOf::present(self.engine.now());
                if graph.facts(&FactFilter::all(), now).await?.iter().any(|fact| fact.id == id) {
                    return Ok(None);
                }
                let known = graph.history(&FactFilter::all()).await?.iter().any(|fact| fact.id == id);
                let gone = || Error::not_found(format!("no record {record}"));
                known.then_some(Some(CandidateGate::NotBelieved)).ok_or_else(gone)
            }
            _ => Err(Error::not_found(format!("no record {record}"))),
        }
    }

    /// Returns the rank of a record for a question, from 1, and its score.
    async fn rank(&self, record: RecordRef, query: &str) -> Result<Option<(usize, f32)>> {
        let RecordRef::Event(id) = record else { return Ok(None) };
        if query.trim().is_empty() {
            return Ok(None);
        }
        let found = self.recall(query).filter(EventFilter::live()).limit(RANKED).await;
        let found = match found {
            Err(error) if error.kind() == ErrorKind::Invalid => return Ok(None),
            found => found?,
        };
        let place = found.hits.iter().position(|hit| hit.space.is_none() && hit.event.id == id);
        Ok(place.and_then(|place| found.hits.get(place).map(|hit| (place + 1, hit.score.get()))))
    }

    /// Returns the hashes of all texts that a line's record can be shown with; `None` for a record without a text of its own.
    async fn text_shown(
        &self,
        line: &ReceiptLine,
        events: &BTreeMap<EventId, Event>,
    ) -> Result<Option<Vec<[u8; 16]>>> {
        match line.record {
            RecordRef::Event(id) if line.producer.is_none() => {
                let Some(kept) = events.get(&id).and_then(Event::body) else { return Ok(Some(Vec::new())) };
                let parts = line.sources.iter().filter(|source| source.event == id);
                let part =
                    |source: &Source| kept.content.get(source.span.start as usize..source.span.end as usize);
                Ok(Some(parts.filter_map(part).chain([kept.content.as_str()]).map(content_hash).collect()))
            }
            RecordRef::Learning(_) => {
                let known = self.record_detail(line.record).await;
                Ok(Some(known.map(|known| vec![content_hash(&known.text)]).unwrap_or_default()))
            }
            _ => Ok(None),
        }
    }
}

impl AdminHandle<'_> {
    /// Parses a reference to a record: an id, the number of a line of a context, or that line; a number refers to the given
    /// receipt.
    ///
    /// # Errors
    /// `Invalid` for a text without a reference, and for a number without a receipt; `NotFound` for an unknown receipt, and for a
    /// line that it does not have.
    pub async fn record_named(self, text: &str, receipt: Option<ReceiptId>) -> Result<RecordRef> {
        // The quotation of a line may contain ids too, so its number comes first.
        let number = line_number(text).or_else(|| text.trim().parse().ok());
        let (Some(number), Some(receipt)) = (number, receipt) else {
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let record = words.filter(|word| word.contains('_')).find_map(|word| word.parse().ok());
            let missing = match number {
                Some(_) => "the number of a line needs the receipt of its context: rcl_…",
                None => "no id in it: evt_…, mem_… or fct_…, and no number of a line",
            };
            return record.ok_or_else(|| Error::invalid(missing));
        };
        let lines = self.receipt(receipt).await?.lines;
        let line = number.checked_sub(1).and_then(|place| lines.get(place));
        let missing =
            || Error::not_found(format!("{receipt} has {} lines, and no line {number}", lines.len()));
        line.map(|line| line.record).ok_or_else(missing)
    }

    /// Returns the provenance of a record, and its outcome in the given receipt.
    ///
    /// # Errors
    /// `NotFound` for a record or a receipt that does not exist or was forgotten.
    pub async fn why(self, record: RecordRef, receipt: Option<ReceiptId>) -> Result<Why> {
        let known = self.memory.record_detail(record).await?;
        let shown = match receipt {
            Some(id) => Some(outcome(&self.receipt(id).await?, record)),
            None => None,
        };
        let evidence = self.memory.sentences_of(&known.sources).await?;
        let feedback = self.memory.preferences().feedback_on(record).await?;
        let explanation = match &known.fact {
            Some(fact) => Some(self.memory.facts().graph().await?.explain_fact(fact).await?),
            None => None,
        };
        Ok(Why { record, text: known.text, producer: known.producer, evidence, explanation, shown, feedback })
    }

    /// Returns why a context for a question lacks a record: the reason and score at which it was left out, or the reason why it
    /// was no candidate. A context without a session is assembled for it.
    ///
    /// # Errors
    /// `NotFound` for a record that never existed; as [`context`](crate::Memory::context).
    pub async fn why_not(self, record: RecordRef, query: &str) -> Result<Degraded<WhyNot>> {
        if let Some(gate) = self.memory.barred(record).await? {
            return Ok(Degraded::whole(WhyNot::Barred(gate)));
        }
        let context = self.memory.context(query).await?;
        let gaps = context.gaps.clone();
        let why = match outcome(&context.receipt, record) {
            ContextOutcome::Line(line) => WhyNot::Shown(line),
            ContextOutcome::Omitted(omitted) => {
                WhyNot::Omitted { omitted, ranked: self.memory.rank(record, query).await? }
            }
            ContextOutcome::Unlisted { .. } => match self.memory.rank(record, query).await? {
                Some((rank, score)) => WhyNot::Behind { rank, score },
                None => WhyNot::Barred(CandidateGate::NotFound),
            },
        };
        Ok(Degraded { value: why, gaps })
    }

    /// Verifies a stored receipt against its seal, which covers its omissions too, and against the log: the token sums, that the
    /// sources of every line exist, that each record still has the shown text, that no candidate appears twice; and with the
    /// context's text, that its blocks are those of the receipt, and that each line is grounded in its sources.
    ///
    /// # Errors
    /// `NotFound` when there is no such receipt; `Unavailable` when the store does not answer.
    pub async fn check_receipt(self, id: ReceiptId, text: Option<&str>) -> Result<ReceiptCheck> {
        let receipt = self.receipt(id).await?;
        let mut check = ReceiptCheck { lines: receipt.lines.len(), ..ReceiptCheck::default() };
        let mut finding = |what: String| check.findings.push(what);
        let sum: u32 = receipt.blocks.iter().map(|block| block.tokens.0).sum();
        if sum != receipt.tokens.0 || receipt.tokens.0 > receipt.budget.0 {
            finding(format!(
                "its blocks have {sum} tokens, it says {} of {}",
                receipt.tokens.0, receipt.budget.0
            ));
        }
        self.memory.check_seal(&receipt, &mut check).await?;
        let mut finding = |what: String| check.findings.push(what);
        for twice in twice(&receipt) {
            finding(format!("{twice} is listed as a line and as left out"));
        }
        let wanted: BTreeSet<EventId> =
            receipt.lines.iter().flat_map(|line| &line.sources).map(|source| source.event).collect();
        let events = self.memory.living(wanted).await?;
        for (number, line) in (1..).zip(&receipt.lines) {
            match unresolved(line, &events) {
                None => check.resolved += 1,
                Some(why) => check.findings.push(format!("line {number}, {}: {why}", line.record)),
            }
            match self.memory.text_shown(line, &events).await? {
                None => check.not_compared += 1,
                Some(hashes) if hashes.contains(&line.content_hash) => check.same += 1,
                Some(_) => check
                    .findings
                    .push(format!("line {number}, {}: its text is another one now", line.record)),
            }
        }
        if let Some(text) = text {
            let nonce = self.memory.engine.parts().key.nonce(receipt.session.as_str());
            let found = block_hashes(text, &nonce);
            let expect: Vec<[u8; 32]> = receipt.blocks.iter().map(|block| block.hash).collect();
            check.blocks = found.iter().filter(|hash| expect.contains(hash)).count();
            if found != expect {
                check.findings.push(format!(
                    "of {} blocks of the text {} are those of the receipt, which has {}",
                    found.len(),
                    check.blocks,
                    expect.len()
                ));
            }
            let values = self.memory.values_of(&receipt).await?;
            let code = &self.memory.engine.settings().recall.language;
            let language = Language::from_code(code).unwrap_or(Language::English);
            let (grounds, findings) = check_citations((text, &receipt), &events, (&values, language));
            check.grounded = grounds.iter().filter(|ground| ground.is_enough()).count();
            check.grounds = grounds;
            check.findings.extend(findings);
        }
        Ok(check)
    }
}

/// The text and sources of a record.
struct RecordDetail {
    text: String,
    sources: Vec<Source>,
    producer: Option<Producer>,
    /// The fact, if it is one.
    fact: Option<Fact>,
}

fn outcome(receipt: &Receipt, record: RecordRef) -> ContextOutcome {
    if let Some(line) = receipt.lines.iter().find(|line| line.record == record) {
        return ContextOutcome::Line(Box::new(line.clone()));
    }
    if let Some(omitted) = receipt.omitted.iter().find(|omitted| omitted.record == record) {
        return ContextOutcome::Omitted(*omitted);
    }
    let counted: u32 = receipt.omitted_counts.iter().map(|(_, count)| count).sum();
    let listed = u32::try_from(receipt.omitted.len()).unwrap_or(u32::MAX);
    ContextOutcome::Unlisted { counted: counted.saturating_sub(listed) }
}

/// Returns the records that appear both as a line and as an omission, in the same section.
fn twice(receipt: &Receipt) -> Vec<RecordRef> {
    let lines: HashSet<_> = receipt.lines.iter().map(|line| (line.record, line.section)).collect();
    let omitted = receipt.omitted.iter().filter(|one| lines.contains(&(one.record, one.section)));
    omitted.map(|one| one.record).collect()
}

/// Returns why the sources of a line do not exist in the log, if they do not.
fn unresolved(line: &ReceiptLine, events: &BTreeMap<EventId, Event>) -> Option<String> {
    if line.sources.is_empty() {
        return Some("it names no source".to_owned());
    }
    let lacks = |source: &Source| {
        let Some(kept) = events.get(&source.event).and_then(Event::body) else {
            return Some(format!("{} is not in the log", source.event));
        };
        let span = source.span.start as usize..source.span.end as usize;
        kept.content.get(span).is_none().then(|| format!("its place lies outside of {}", source.event))
    };
    line.sources.iter().find_map(lacks)
}
