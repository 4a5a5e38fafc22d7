//! Why a record was shown or not, from the log and from stored receipts, and whether a receipt still holds.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mnemal_context::{block_hashes, content_hash, line_number};
use mnemal_core::{
    AsOf, Degraded, Error, ErrorKind, Event, EventFilter, EventId, Fact, FactFilter, LearningFilter,
    LearningStatus, Omitted, Producer, Receipt, ReceiptId, ReceiptLine, RecordRef, Result, Source, Span,
    Timestamp,
};
use mnemal_graph::Weighing;
use mnemal_text::Language;

use crate::feedback::Feedback;
use crate::ground::{Ground, grounded};
use crate::memory::Memory;
use crate::portrait::{Sentence, sentence_of};

/// Hits among which the rank of a record is looked for. Source: own choice; what stands behind them no context is offered.
const RANKED: usize = 200;

/// The chain from a record to the words that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The record.
    pub record: RecordRef,
    /// What it says, as it stands now.
    pub text: String,
    /// What made it; `None` for an event.
    pub producer: Option<Producer>,
    /// The words that it rests on, by event and place.
    pub evidence: Vec<Sentence>,
    /// Of a fact: what it was weighed against, and what ended it.
    pub weighing: Option<Weighing>,
    /// What a receipt says of it, where one was named.
    pub shown: Option<Outcome>,
    /// What it was found to be in earlier answers, in the order of the log.
    pub feedback: Vec<Feedback>,
}

/// What became of a record when a context was assembled.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is a line, with its scores.
    Line(Box<ReceiptLine>),
    /// It was considered and left out.
    Omitted(Omitted),
    /// The receipt does not list it: it was no candidate, or one of those that are only counted.
    Unlisted {
        /// How many omissions are counted and not listed.
        counted: u32,
    },
}

/// Why a record is not in a context.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyNot {
    /// It is: the context has it as a line.
    Shown(Box<ReceiptLine>),
    /// It was a candidate, and left out.
    Omitted {
        /// The reason, the section and the score.
        omitted: Omitted,
        /// Its place in the ranking for the question, from 1, and its score there, as far as 200 hits show it.
        ranked: Option<(usize, f32)>,
    },
    /// It was found and stood too far down to be offered.
    Behind {
        /// Its place, from 1.
        rank: usize,
        /// Its score.
        score: f32,
    },
    /// It never was a candidate.
    Barred(Gate),
}

/// What keeps a record from becoming a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It was forgotten.
    Forgotten,
    /// A rule holds it back: its name.
    Quarantined(String),
    /// It is a note or learning that does not hold.
    Status(LearningStatus),
    /// It is a note or learning that has ended.
    Expired,
    /// It is a fact that holds no more, or is no more believed.
    NotBelieved,
    /// Nothing of the question leads to it.
    NotFound,
}

impl std::fmt::Display for Gate {
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

/// What a check of a receipt found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiptCheck {
    /// Lines of the receipt.
    pub lines: usize,
    /// Those whose sources are all in the log, with spans inside their texts.
    pub resolved: usize,
    /// Those whose record has a text of its own and still has the one that was shown.
    pub same: usize,
    /// Those whose text is made of several records or of a part of one, so that only the sources can be checked.
    pub not_compared: usize,
    /// Blocks of the text that was handed in that are the receipt's, byte by byte.
    pub blocks: usize,
    /// Whether it is what was stored, to the last omission, under the installation's key; `None` for one that was stored without
    /// a seal, and one of which something was forgotten since.
    pub whole: Option<bool>,
    /// Lines and omissions that a forget took out of it.
    pub forgotten: usize,
    /// Lines of the text that was handed in that stand on the words of their sources: verbatim, as the value of a fact, or with
    /// nine tenths of their content stems.
    pub grounded: usize,
    /// On what each line of that text stands that has an account, in their order.
    pub grounds: Vec<Ground>,
    /// What does not hold, one sentence each; empty for a good receipt.
    pub findings: Vec<String>,
}

impl Memory {
    /// Returns the record that a text names: an id, the number of a line of a context, or that line; a number is one of the receipt.
    ///
    /// # Errors
    /// `Invalid` for a text that names none, and for a number without a receipt; `NotFound` for a receipt that is not there, and a
    /// line that it does not have.
    pub async fn record_named(&self, text: &str, receipt: Option<ReceiptId>) -> Result<RecordRef> {
        // What a line quotes may have ids too: its number comes first.
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

    /// Returns the chain from a record to its words, and with a receipt what became of it there.
    ///
    /// # Errors
    /// `NotFound` for a record or a receipt that is not there, or is forgotten.
    pub async fn why(&self, record: RecordRef, receipt: Option<ReceiptId>) -> Result<Why> {
        let known = self.known(record).await?;
        let shown = match receipt {
            Some(id) => Some(outcome(&self.receipt(id).await?, record)),
            None => None,
        };
        let evidence = self.sentences_of(&known.sources).await?;
        let feedback = self.feedback_on(record).await?;
        let weighing = match &known.fact {
            Some(fact) => Some(self.graph().await?.weighing(fact).await?),
            None => None,
        };
        Ok(Why { record, text: known.text, producer: known.producer, evidence, weighing, shown, feedback })
    }

    /// Returns why a context for a question does not have a record: the reason and the score at which it was left out, or what
    /// it never passed. The context is assembled for it, for no conversation.
    ///
    /// # Errors
    /// `NotFound` for a record that never was; as [`context`](Self::context).
    pub async fn why_not(&self, record: RecordRef, query: &str) -> Result<Degraded<WhyNot>> {
        if let Some(gate) = self.barred(record).await? {
            return Ok(Degraded::whole(WhyNot::Barred(gate)));
        }
        let context = self.context(query).await?;
        let gaps = context.gaps.clone();
        let why = match outcome(&context.receipt, record) {
            Outcome::Line(line) => WhyNot::Shown(line),
            Outcome::Omitted(omitted) => WhyNot::Omitted { omitted, ranked: self.rank(record, query).await? },
            Outcome::Unlisted { .. } => match self.rank(record, query).await? {
                Some((rank, score)) => WhyNot::Behind { rank, score },
                None => WhyNot::Barred(Gate::NotFound),
            },
        };
        Ok(Degraded { value: why, gaps })
    }

    /// Checks a stored receipt against its seal, which covers its omissions too, and against the log: the sums of tokens, that
    /// every line resolves to words that are there, that each record still has the text that was shown, that no candidate
    /// appears twice; and with the context's text that its blocks are those of the receipt, and that each line stands on the
    /// words of its sources.
    ///
    /// # Errors
    /// `NotFound` when there is no such receipt; `Unavailable` when the store does not answer.
    pub async fn check_receipt(&self, id: ReceiptId, text: Option<&str>) -> Result<ReceiptCheck> {
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
        self.check_seal(&receipt, &mut check).await?;
        let mut finding = |what: String| check.findings.push(what);
        for twice in twice(&receipt) {
            finding(format!("{twice} is listed as a line and as left out"));
        }
        let wanted: BTreeSet<EventId> =
            receipt.lines.iter().flat_map(|line| &line.sources).map(|source| source.event).collect();
        let events = self.living(wanted).await?;
        for (number, line) in (1..).zip(&receipt.lines) {
            match unresolved(line, &events) {
                None => check.resolved += 1,
                Some(why) => check.findings.push(format!("line {number}, {}: {why}", line.record)),
            }
            match self.text_shown(line, &events).await? {
                None => check.not_compared += 1,
                Some(hashes) if hashes.contains(&line.content_hash) => check.same += 1,
                Some(_) => check
                    .findings
                    .push(format!("line {number}, {}: its text is another one now", line.record)),
            }
        }
        if let Some(text) = text {
            let nonce = self.engine.parts().key.nonce(receipt.session.as_str());
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
            let values = self.values_of(&receipt).await?;
            let code = &self.engine.settings().recall.language;
            let language = Language::from_code(code).unwrap_or(Language::English);
            let (grounds, findings) = grounded((text, &receipt), &events, (&values, language));
            check.grounded = grounds.iter().filter(|ground| ground.is_enough()).count();
            check.grounds = grounds;
            check.findings.extend(findings);
        }
        Ok(check)
    }

    /// Compares a receipt with its seal. A forget takes lines and omissions out, and then it is no more the whole that was
    /// sealed; where nothing was forgotten since, what is missing was taken out by somebody else.
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

    /// Returns what a record says, and where it comes from.
    async fn known(&self, record: RecordRef) -> Result<Known> {
        let none = || Error::not_found(format!("no record {record}"));
        match record {
            RecordRef::Event(id) => {
                let event = self.get(id).await?;
                let kept = event.kept().ok_or_else(none)?;
                let source = Source { event: id, span: Span::whole(&kept.content)? };
                Ok(Known { text: kept.content.clone(), sources: vec![source], producer: None, fact: None })
            }
            RecordRef::Learning(id) => {
                let rows = self.all_learnings(&LearningFilter::all()).await?;
                let row = rows.into_iter().find(|row| row.id == id).ok_or_else(none)?;
                let producer = Some(row.producer);
                Ok(Known { text: row.content, sources: row.sources, producer, fact: None })
            }
            RecordRef::Fact(id) => {
                let graph = self.graph().await?;
                let facts = graph.history(&FactFilter::all()).await?;
                let fact = facts.into_iter().find(|fact| fact.id == id).ok_or_else(none)?;
                let sources = fact.supports.iter().map(|support| support.source).collect();
                let producer = Some(fact.producer.clone());
                let told = self.tell(&graph, vec![fact.clone()], AsOf::present(Timestamp::MAX)).await?;
                let text = told.first().map(crate::portrait::Told::line).unwrap_or_default();
                Ok(Known { text, sources, producer, fact: Some(fact) })
            }
            _ => Err(none()),
        }
    }

    pub(crate) async fn sentences_of(&self, sources: &[Source]) -> Result<Vec<Sentence>> {
        let events = self.living(sources.iter().map(|source| source.event).collect()).await?;
        let mut sources = sources.to_vec();
        sources.sort_unstable();
        sources.dedup();
        let sentence = |source: &Source| sentence_of(events.get(&source.event)?, *source);
        Ok(sources.iter().filter_map(sentence).collect())
    }

    /// Returns those of some events that are in the log with their words.
    async fn living(&self, ids: BTreeSet<EventId>) -> Result<BTreeMap<EventId, Event>> {
        let ids: Vec<EventId> = ids.into_iter().collect();
        let known = self.engine.known(&ids).await?;
        Ok(known.into_iter().filter(|event| event.kept().is_some()).map(|event| (event.id, event)).collect())
    }

    /// Returns what keeps a record from becoming a candidate, whatever is asked.
    async fn barred(&self, record: RecordRef) -> Result<Option<Gate>> {
        match record {
            RecordRef::Event(id) => {
                let event = self.get(id).await?;
                let held = event.quarantined.as_ref().map(|why| Gate::Quarantined(why.to_string()));
                Ok(if event.kept().is_none() { Some(Gate::Forgotten) } else { held })
            }
            RecordRef::Learning(id) => {
                let rows = self.all_learnings(&LearningFilter::all()).await?;
                let row = rows.iter().find(|row| row.id == id);
                let row = row.ok_or_else(|| Error::not_found(format!("no record {record}")))?;
                let ended = row.expires_at.is_some_and(|at| at <= self.engine.now());
                let holds = row.status == LearningStatus::Active;
                Ok(match (holds, ended) {
                    (false, _) => Some(Gate::Status(row.status)),
                    (true, true) => Some(Gate::Expired),
                    (true, false) => None,
                })
            }
            RecordRef::Fact(id) => {
                let graph = self.graph().await?;
                let now = AsOf::present(self.engine.now());
                if graph.facts(&FactFilter::all(), now).await?.iter().any(|fact| fact.id == id) {
                    return Ok(None);
                }
                let known = graph.history(&FactFilter::all()).await?.iter().any(|fact| fact.id == id);
                let gone = || Error::not_found(format!("no record {record}"));
                known.then_some(Some(Gate::NotBelieved)).ok_or_else(gone)
            }
            _ => Err(Error::not_found(format!("no record {record}"))),
        }
    }

    /// Returns the place of a record in the ranking for a question, from 1, and its score.
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

    /// Returns the hashes of the texts that a line's record can be shown with; `None` where it has none of its own.
    async fn text_shown(
        &self,
        line: &ReceiptLine,
        events: &BTreeMap<EventId, Event>,
    ) -> Result<Option<Vec<[u8; 16]>>> {
        match line.record {
            RecordRef::Event(id) if line.producer.is_none() => {
                let Some(kept) = events.get(&id).and_then(Event::kept) else { return Ok(Some(Vec::new())) };
                let parts = line.sources.iter().filter(|source| source.event == id);
                let part =
                    |source: &Source| kept.content.get(source.span.start as usize..source.span.end as usize);
                Ok(Some(parts.filter_map(part).chain([kept.content.as_str()]).map(content_hash).collect()))
            }
            RecordRef::Learning(_) => {
                let known = self.known(line.record).await;
                Ok(Some(known.map(|known| vec![content_hash(&known.text)]).unwrap_or_default()))
            }
            _ => Ok(None),
        }
    }
}

/// What is known of a record.
struct Known {
    text: String,
    sources: Vec<Source>,
    producer: Option<Producer>,
    /// The fact, where it is one.
    fact: Option<Fact>,
}

fn outcome(receipt: &Receipt, record: RecordRef) -> Outcome {
    if let Some(line) = receipt.lines.iter().find(|line| line.record == record) {
        return Outcome::Line(Box::new(line.clone()));
    }
    if let Some(omitted) = receipt.omitted.iter().find(|omitted| omitted.record == record) {
        return Outcome::Omitted(*omitted);
    }
    let counted: u32 = receipt.omitted_counts.iter().map(|(_, count)| count).sum();
    let listed = u32::try_from(receipt.omitted.len()).unwrap_or(u32::MAX);
    Outcome::Unlisted { counted: counted.saturating_sub(listed) }
}

/// Returns the records that stand both as a line and as left out, in the same section.
fn twice(receipt: &Receipt) -> Vec<RecordRef> {
    let lines: HashSet<_> = receipt.lines.iter().map(|line| (line.record, line.section)).collect();
    let omitted = receipt.omitted.iter().filter(|one| lines.contains(&(one.record, one.section)));
    omitted.map(|one| one.record).collect()
}

/// Says why a line does not resolve to words in the log, if it does not.
fn unresolved(line: &ReceiptLine, events: &BTreeMap<EventId, Event>) -> Option<String> {
    if line.sources.is_empty() {
        return Some("it names no source".to_owned());
    }
    let lacks = |source: &Source| {
        let Some(kept) = events.get(&source.event).and_then(Event::kept) else {
            return Some(format!("{} is not in the log", source.event));
        };
        let span = source.span.start as usize..source.span.end as usize;
        kept.content.get(span).is_none().then(|| format!("its place lies outside of {}", source.event))
    };
    line.sources.iter().find_map(lacks)
}
