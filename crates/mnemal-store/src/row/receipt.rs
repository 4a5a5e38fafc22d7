//! Receipts: lists without names of fields, each name, producer and weight of a signal once, and what equal omissions have in
//! common once, because a receipt is written with every context and has a hundred omissions and some forty lines of a dozen
//! parts. Rows of before have all of it in place; both are read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mnemal_core::{
    Because, BlockKind, BlockReceipt, Cursor, Error, ErrorKind, EventId, Gap, GapCause, Layer, ModelId,
    Omitted, OmittedReason, Producer, Receipt, ReceiptId, ReceiptLine, ReceiptSeal, RecordRef, Result,
    ScorePart, Section, Seq, SessionId, Source, Span, Timestamp, TokenCount,
};
use serde::{Deserialize, Serialize, Serializer};

use super::{Id, known, named};
use crate::codec::corrupt;
use crate::hash::Hash;
use crate::{codec, entry};

/// Most names of signals that one process takes out of stored receipts.
///
/// Source: own default, ten times the signals that ranking has; a hostile file must not fill the memory.
const MOST_SIGNALS: usize = 256;

/// Bytes that the text of a receipt mostly stays below. Source: own measurement, 45 lines and 100 omissions.
const MOSTLY: usize = 12 << 10;

/// A name out of a list that both sides know.
type Name = Cow<'static, str>;

/// A name as it stands in a row: its number among the row's names, or itself in rows of before.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
enum Called {
    Number(u8),
    Name(Name),
}

#[derive(Deserialize, Serialize)]
struct ReceiptRow {
    id: Id<ReceiptId>,
    session: String,
    at: i64,
    version: String,
    settings: Hash<16>,
    head: Option<u64>,
    model: Option<String>,
    tokenizer: String,
    budget: u32,
    tokens: u32,
    blocks: Vec<(Name, u32, Hash<32>)>,
    lines: Vec<LineRow>,
    omitted: Vec<OmittedRow>,
    counts: Vec<(Name, u32)>,
    gaps: Vec<(Name, CauseRow)>,
    /// Hash, lines, omissions; rows of before have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<(Hash<32>, u32, u32)>,
    /// What numbers in lines and omissions stand for; rows of before have none.
    #[serde(default)]
    names: Vec<Name>,
    /// Weights of the first names, which are those of signals.
    #[serde(default)]
    weights: Vec<f32>,
    /// What numbers of producers stand for; rows of before have none.
    #[serde(default)]
    producers: Vec<(String, u32)>,
}

/// Written as a list, because there are some forty of them; rows of before have the names of the fields, and both are read.
#[derive(Deserialize)]
struct LineRow {
    block: Called,
    section: Called,
    record: Id<RecordRef>,
    producer: Option<ProducerRow>,
    sources: Vec<SourceRow>,
    trust: u8,
    level: u8,
    parts: Vec<PartRow>,
    score: f32,
    because: Called,
    tokens: u32,
    hash: Hash<16>,
}

impl Serialize for LineRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self {
            block,
            section,
            record,
            producer,
            sources,
            trust,
            level,
            parts,
            score,
            because,
            tokens,
            hash,
        } = self;
        (block, section, record, producer, sources, trust, level, parts, score, because, tokens, hash)
            .serialize(serializer)
    }
}

/// A producer by its number among the row's producers, or itself in rows of before.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum ProducerRow {
    Number(u8),
    Itself((String, u32)),
}

/// Start and end; before them the event, unless the line is of that event. Rows of before always have it.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum SourceRow {
    Own((u32, u32)),
    Of((Id<EventId>, u32, u32)),
}

/// Section, reason and score of omissions that stand one behind the other, and the records. Rows of before have each by itself,
/// its record first.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum OmittedRow {
    Alike((Called, Called, f32, Vec<Id<RecordRef>>)),
    One((Id<RecordRef>, Called, Called, f32)),
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum CauseRow {
    NotConfigured,
    Failed(String),
    TimedOut { micros: u64 },
    Stale { behind: u64 },
    Truncated { dropped: u32 },
}

/// What lines and omissions of a row share, each once: names, the weights of those of signals, and producers.
#[derive(Debug, Default)]
struct Shared {
    names: Vec<Name>,
    weights: Vec<f32>,
    producers: Vec<(String, u32)>,
}

impl Shared {
    /// Collects the signals of the lines, each with the weight that it has first.
    fn of_signals(lines: &[ReceiptLine]) -> Self {
        let mut found = Self::default();
        for part in lines.iter().flat_map(|line| &line.parts) {
            if found.place(part.name).is_none() && u8::try_from(found.names.len()).is_ok() {
                found.names.push(part.name.into());
                found.weights.push(part.weight);
            }
        }
        found
    }

    fn place(&self, name: &str) -> Option<u8> {
        u8::try_from(self.names.iter().position(|known| known == name)?).ok()
    }

    fn call(&mut self, name: &'static str) -> Called {
        if let Some(place) = self.place(name) {
            return Called::Number(place);
        }
        match u8::try_from(self.names.len()) {
            Ok(place) => {
                self.names.push(name.into());
                Called::Number(place)
            }
            Err(_) => Called::Name(name.into()),
        }
    }

    fn producer(&mut self, producer: &Producer) -> ProducerRow {
        let is_it = |(id, version): &(String, u32)| *version == producer.version && *id == producer.id;
        let place = self.producers.iter().position(is_it);
        let number = u8::try_from(place.unwrap_or(self.producers.len()));
        if place.is_none() && number.is_ok() {
            self.producers.push((producer.id.clone(), producer.version));
        }
        number.map_or_else(
            |_| ProducerRow::Itself((producer.id.clone(), producer.version)),
            ProducerRow::Number,
        )
    }

    fn producer_of(&self, row: ProducerRow) -> Result<Producer> {
        let (id, version) = match row {
            ProducerRow::Number(place) => known(self.producers.get(usize::from(place)))?.clone(),
            ProducerRow::Itself(producer) => producer,
        };
        Ok(Producer { id, version })
    }

    fn part(&self, part: &ScorePart) -> PartRow {
        let place = self.place(part.name);
        let weight = place.and_then(|place| self.weights.get(usize::from(place)));
        match (place, Numbers::of(part)) {
            (Some(place), numbers) if weight.is_some_and(|weight| is_same(*weight, part.weight)) => {
                match numbers {
                    Numbers::Weight(_) => PartRow::Nothing((place,)),
                    Numbers::CountedAndWeight([both, _]) => PartRow::Counted((place, both)),
                    Numbers::ButValue([raw, normalised, _]) => PartRow::ButValue((place, raw, normalised)),
                    Numbers::All([raw, normalised, _, value]) => {
                        PartRow::All((place, raw, normalised, value))
                    }
                }
            }
            (_, numbers) => PartRow::Named((part.name.into(), numbers)),
        }
    }

    fn name<'a>(&'a self, called: &'a Called) -> Result<&'a str> {
        match called {
            Called::Name(name) => Ok(name),
            Called::Number(place) => self.at(*place),
        }
    }

    fn at(&self, place: u8) -> Result<&str> {
        known(self.names.get(usize::from(place)).map(Cow::as_ref))
    }

    fn part_of(&self, row: &PartRow) -> Result<ScorePart> {
        let (place, raw, normalised, value) = match row {
            PartRow::Named((name, numbers)) => return Ok(numbers.part(signal(name)?)),
            PartRow::Nothing((place,)) => (*place, 0.0, 0.0, None),
            PartRow::Counted((place, both)) => (*place, *both, *both, None),
            PartRow::ButValue((place, raw, normalised)) => (*place, *raw, *normalised, None),
            PartRow::All((place, raw, normalised, value)) => (*place, *raw, *normalised, Some(*value)),
        };
        let weight = *known(self.weights.get(usize::from(place)))?;
        let value = value.unwrap_or(weight * normalised);
        Ok(ScorePart { name: signal(self.at(place)?)?, raw, normalised, weight, value })
    }
}

/// A part of a line. Where the signal has the weight that stands with its name, only what cannot be told from that: nothing if
/// nothing was counted; what was counted; before it what was measured, if it is not the same; behind it the value, if it is not
/// the product. Else, and in rows of before, name and [`Numbers`].
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum PartRow {
    Nothing((u8,)),
    Counted((u8, f32)),
    ButValue((u8, f32, f32)),
    All((u8, f32, f32, f32)),
    Named((Name, Numbers)),
}

fn is_same(one: f32, other: f32) -> bool {
    one.to_bits() == other.to_bits()
}

/// Writes a receipt.
///
/// # Errors
/// `Unsupported` for a cause of a gap that this version does not know.
pub(crate) fn write(receipt: &Receipt) -> Result<String> {
    let mut shared = Shared::of_signals(&receipt.lines);
    let lines = receipt.lines.iter().map(|line| line_row(line, &mut shared)).collect();
    let is_alike = |one: &Omitted, other: &Omitted| {
        (one.section, one.reason) == (other.section, other.reason) && is_same(one.score, other.score)
    };
    let alike = |all: &[Omitted]| {
        let first = all.first()?;
        let (section, reason) = (shared.call(first.section.as_str()), shared.call(first.reason.as_str()));
        let records = all.iter().map(|omitted| Id(omitted.record)).collect();
        Some(OmittedRow::Alike((section, reason, first.score, records)))
    };
    let omitted = receipt.omitted.chunk_by(is_alike).filter_map(alike).collect();
    let gap = |gap: &Gap| Ok((gap.layer.as_str().into(), cause_row(gap.cause)?));
    let row = ReceiptRow {
        id: Id(receipt.id),
        session: receipt.session.as_str().to_owned(),
        at: receipt.at.as_micros(),
        version: receipt.version.clone(),
        settings: Hash(receipt.settings_hash),
        head: receipt.head.0.map(|seq| seq.0),
        model: receipt.model.as_ref().map(|model| model.as_str().to_owned()),
        tokenizer: receipt.tokenizer.clone(),
        budget: receipt.budget.0,
        tokens: receipt.tokens.0,
        blocks: receipt
            .blocks
            .iter()
            .map(|block| (block.kind.as_str().into(), block.tokens.0, Hash(block.hash)))
            .collect(),
        lines,
        omitted,
        counts: receipt
            .omitted_counts
            .iter()
            .map(|(reason, count)| (reason.as_str().into(), *count))
            .collect(),
        gaps: receipt.gaps.iter().map(gap).collect::<Result<_>>()?,
        seal: receipt.seal.map(|seal| (Hash(seal.hash), seal.lines, seal.omitted)),
        names: shared.names,
        weights: shared.weights,
        producers: shared.producers,
    };
    super::write_sealed_into(Vec::with_capacity(MOSTLY), &row)
}

/// Reads a receipt.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str) -> Result<Receipt> {
    let row: ReceiptRow = super::read_sealed(stored)?;
    let shared = Shared { names: row.names, weights: row.weights, producers: row.producers };
    let block = |(kind, tokens, hash): (Name, u32, Hash<32>)| {
        Ok(BlockReceipt { kind: block_kind(&kind)?, tokens: TokenCount(tokens), hash: hash.0 })
    };
    let gap = |(name, cause): (Name, CauseRow)| Ok(Gap { layer: layer(&name)?, cause: cause_of(cause)? });
    Ok(Receipt {
        id: row.id.0,
        session: named(SessionId::new(row.session))?,
        at: named(Timestamp::from_micros(row.at))?,
        version: row.version,
        settings_hash: row.settings.0,
        head: Cursor(row.head.map(Seq)),
        model: named(row.model.map(ModelId::new).transpose())?,
        tokenizer: row.tokenizer,
        budget: TokenCount(row.budget),
        tokens: TokenCount(row.tokens),
        blocks: row.blocks.into_iter().map(block).collect::<Result<_>>()?,
        lines: row.lines.into_iter().map(|line| line_of(line, &shared)).collect::<Result<_>>()?,
        omitted: omitted_of(row.omitted, &shared)?,
        omitted_counts: row
            .counts
            .into_iter()
            .map(|(name, count)| Ok((reason(&name)?, count)))
            .collect::<Result<_>>()?,
        gaps: row.gaps.into_iter().map(gap).collect::<Result<_>>()?,
        seal: row.seal.map(|(hash, lines, omitted)| ReceiptSeal { hash: hash.0, lines, omitted }),
    })
}

fn line_row(line: &ReceiptLine, shared: &mut Shared) -> LineRow {
    LineRow {
        block: shared.call(line.block.as_str()),
        section: shared.call(line.section.as_str()),
        record: Id(line.record),
        producer: line.producer.as_ref().map(|producer| shared.producer(producer)),
        sources: line.sources.iter().map(|source| source_row(source, line.record)).collect(),
        trust: entry::trust_code(line.trust),
        level: codec::level_code(line.level),
        parts: line.parts.iter().map(|part| shared.part(part)).collect(),
        score: line.score,
        because: shared.call(line.because.as_str()),
        tokens: line.tokens.0,
        hash: Hash(line.content_hash),
    }
}

/// What of a part cannot be told from the rest, because most parts of a line are nothing or a product: its weight; before it
/// what was counted, if that is anything; before that what was measured, if it is not the same; and the value at the end, if it
/// is not the product.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
enum Numbers {
    Weight([f32; 1]),
    CountedAndWeight([f32; 2]),
    ButValue([f32; 3]),
    /// Those of before have all four.
    All([f32; 4]),
}

impl Numbers {
    fn of(part: &ScorePart) -> Self {
        let ScorePart { raw, normalised, weight, value, .. } = *part;
        if !is_same(value, weight * normalised) {
            Self::All([raw, normalised, weight, value])
        } else if !is_same(raw, normalised) {
            Self::ButValue([raw, normalised, weight])
        } else if is_same(raw, 0.0) {
            Self::Weight([weight])
        } else {
            Self::CountedAndWeight([normalised, weight])
        }
    }

    fn part(&self, name: &'static str) -> ScorePart {
        let (raw, normalised, weight) = match *self {
            Self::All([raw, normalised, weight, value]) => {
                return ScorePart { name, raw, normalised, weight, value };
            }
            Self::ButValue([raw, normalised, weight]) => (raw, normalised, weight),
            Self::CountedAndWeight([both, weight]) => (both, both, weight),
            Self::Weight([weight]) => (0.0, 0.0, weight),
        };
        ScorePart { name, raw, normalised, weight, value: weight * normalised }
    }
}

fn line_of(row: LineRow, shared: &Shared) -> Result<ReceiptLine> {
    let record = row.record.0;
    Ok(ReceiptLine {
        block: block_kind(shared.name(&row.block)?)?,
        section: known(Section::from_name(shared.name(&row.section)?))?,
        record,
        producer: row.producer.map(|producer| shared.producer_of(producer)).transpose()?,
        sources: row.sources.into_iter().map(|source| source_of(source, record)).collect::<Result<_>>()?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        parts: row.parts.iter().map(|part| shared.part_of(part)).collect::<Result<_>>()?,
        score: row.score,
        because: because(shared.name(&row.because)?)?,
        tokens: TokenCount(row.tokens),
        content_hash: row.hash.0,
    })
}

fn source_row(source: &Source, record: RecordRef) -> SourceRow {
    let Source { event, span: Span { start, end } } = *source;
    match record {
        RecordRef::Event(own) if own == event => SourceRow::Own((start, end)),
        _ => SourceRow::Of((Id(event), start, end)),
    }
}

fn source_of(row: SourceRow, record: RecordRef) -> Result<Source> {
    let (event, start, end) = match (row, record) {
        (SourceRow::Of((event, start, end)), _) => (event.0, start, end),
        (SourceRow::Own((start, end)), RecordRef::Event(own)) => (own, start, end),
        (SourceRow::Own(_), _) => return Err(corrupt("a source names no event")),
    };
    Ok(Source { event, span: Span { start, end } })
}

fn omitted_of(rows: Vec<OmittedRow>, shared: &Shared) -> Result<Vec<Omitted>> {
    let mut all = Vec::new();
    for row in rows {
        let (section, why, score, records) = match row {
            OmittedRow::Alike(row) => row,
            OmittedRow::One((record, section, why, score)) => (section, why, score, vec![record]),
        };
        let section = known(Section::from_name(shared.name(&section)?))?;
        let reason = reason(shared.name(&why)?)?;
        all.extend(records.into_iter().map(|record| Omitted { record: record.0, section, reason, score }));
    }
    Ok(all)
}

fn cause_row(cause: GapCause) -> Result<CauseRow> {
    Ok(match cause {
        GapCause::NotConfigured => CauseRow::NotConfigured,
        GapCause::Failed(kind) => CauseRow::Failed(kind.as_str().to_owned()),
        GapCause::TimedOut(after) => {
            CauseRow::TimedOut { micros: u64::try_from(after.as_micros()).unwrap_or(u64::MAX) }
        }
        GapCause::Stale { behind } => CauseRow::Stale { behind },
        GapCause::Truncated { dropped } => CauseRow::Truncated { dropped: dropped.0 },
        _ => return Err(Error::new(ErrorKind::Unsupported, "cannot store this kind of gap")),
    })
}

fn cause_of(row: CauseRow) -> Result<GapCause> {
    Ok(match row {
        CauseRow::NotConfigured => GapCause::NotConfigured,
        CauseRow::Failed(name) => GapCause::Failed(error_kind(&name)?),
        CauseRow::TimedOut { micros } => GapCause::TimedOut(Duration::from_micros(micros)),
        CauseRow::Stale { behind } => GapCause::Stale { behind },
        CauseRow::Truncated { dropped } => GapCause::Truncated { dropped: TokenCount(dropped) },
    })
}

fn block_kind(name: &str) -> Result<BlockKind> {
    let all = [BlockKind::Stable, BlockKind::Session, BlockKind::Volatile];
    known(all.into_iter().find(|kind| kind.as_str() == name))
}

fn reason(name: &str) -> Result<OmittedReason> {
    known(OmittedReason::ALL.into_iter().find(|reason| reason.as_str() == name))
}

fn because(name: &str) -> Result<Because> {
    let all = [
        Because::Pinned,
        Because::ExplicitPreference,
        Because::Query,
        Because::Time,
        Because::Recent,
        Because::Importance,
        Because::Section,
    ];
    known(all.into_iter().find(|because| because.as_str() == name))
}

fn layer(name: &str) -> Result<Layer> {
    let all = [
        Layer::Events,
        Layer::Learnings,
        Layer::Lexical,
        Layer::Vector,
        Layer::Rerank,
        Layer::Context,
        Layer::Receipts,
        Layer::Graph,
        Layer::Summaries,
        Layer::Working,
    ];
    known(all.into_iter().find(|layer| layer.as_str() == name))
}

fn error_kind(name: &str) -> Result<ErrorKind> {
    let all = [
        ErrorKind::NotFound,
        ErrorKind::Conflict,
        ErrorKind::Invalid,
        ErrorKind::Unsupported,
        ErrorKind::Unavailable,
        ErrorKind::Corrupt,
        ErrorKind::Internal,
    ];
    known(all.into_iter().find(|kind| kind.as_str() == name))
}

/// Shared of signals are static texts; those of stored receipts are kept once for the life of the process.
fn signal(name: &str) -> Result<&'static str> {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() >= MOST_SIGNALS || name.len() > 64 {
        return Err(corrupt("a receipt names signals that cannot be"));
    }
    let kept: &'static str = Box::leak(Box::from(name));
    names.insert(kept);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use mnemal_core::{FactId, Level, Trust};

    use super::*;

    fn part([raw, normalised, weight, value]: [f32; 4]) -> ScorePart {
        ScorePart { name: "words", raw, normalised, weight, value }
    }

    #[test]
    fn what_follows_from_the_rest_of_a_part_is_not_written_and_comes_back() {
        let rows = [
            (part([0.0, 0.0, 0.06, 0.0]), 1),
            (part([0.7, 0.7, 0.3, 0.7 * 0.3]), 2),
            (part([11.5, 0.9, 0.3, 0.9 * 0.3]), 3),
            (part([11.5, 0.9, 0.3, 0.1]), 4),
            (part([-0.0, -0.0, 0.3, -0.0]), 2),
        ];
        for (part, count) in rows {
            let text = serde_json::to_string(&Numbers::of(&part)).unwrap();
            assert_eq!(text.split(',').count(), count, "{part:?}");
            let read = serde_json::from_str::<Numbers>(&text).unwrap().part("words");
            assert_eq!(format!("{read:?}"), format!("{part:?}"));
        }
    }

    #[test]
    fn a_part_of_before_has_four_numbers_and_none_has_five() {
        let read = |text: &str| crate::row::read::<Numbers>(text);
        let old = read("[11.148734092712402, 1.0, 0.09178468585014343, 0.09178468585014343]").unwrap();
        assert_eq!(old.part("words"), part([11.148_734, 1.0, 0.091_784_686, 0.091_784_686]));
        assert_eq!(read("[]").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(read("[1, 1, 1, 1, 1]").unwrap_err().kind(), ErrorKind::Corrupt);
    }

    fn line(record: u128, parts: Vec<ScorePart>) -> ReceiptLine {
        ReceiptLine {
            block: BlockKind::Volatile,
            section: Section::Recall,
            record: RecordRef::Event(EventId(record)),
            producer: None,
            sources: vec![Source { event: EventId(record), span: Span { start: 0, end: 9 } }],
            trust: Trust::User,
            level: Level::User,
            parts,
            score: 0.5,
            because: Because::Query,
            tokens: TokenCount(7),
            content_hash: [9; 16],
        }
    }

    fn a_receipt() -> Receipt {
        let time = ScorePart { name: "time", raw: 0.0, normalised: 0.0, weight: 0.1, value: 0.0 };
        let omitted = |record, reason, score| Omitted {
            record: RecordRef::Event(EventId(record)),
            section: Section::Recent,
            reason,
            score,
        };
        Receipt {
            id: ReceiptId(1),
            session: SessionId::new("s").unwrap(),
            at: Timestamp::EPOCH,
            version: "1".to_owned(),
            settings_hash: [1; 16],
            head: Cursor(Some(Seq(5))),
            model: None,
            tokenizer: "bytes".to_owned(),
            budget: TokenCount(100),
            tokens: TokenCount(14),
            blocks: vec![BlockReceipt { kind: BlockKind::Volatile, tokens: TokenCount(14), hash: [3; 32] }],
            lines: vec![
                line(1, vec![part([0.7, 0.7, 0.3, 0.7 * 0.3]), time]),
                line(2, vec![part([11.5, 0.9, 0.3, 0.9 * 0.3]), time]),
                line(3, vec![part([11.5, 0.9, 0.3, 0.1]), time]),
                line(4, vec![part([0.7, 0.7, 0.25, 0.7 * 0.25]), time]),
            ],
            omitted: vec![
                omitted(6, OmittedReason::Budget, 0.4),
                omitted(7, OmittedReason::BelowFloor, 0.1),
                omitted(8, OmittedReason::BelowFloor, 0.1),
                omitted(9, OmittedReason::BelowFloor, 0.05),
                omitted(10, OmittedReason::Budget, 0.4),
            ],
            omitted_counts: vec![(OmittedReason::BelowFloor, 3), (OmittedReason::Budget, 2)],
            gaps: vec![Gap { layer: Layer::Graph, cause: GapCause::NotConfigured }],
            seal: Some(ReceiptSeal { hash: [4; 32], lines: 4, omitted: 5 }),
        }
    }

    #[test]
    fn a_receipt_comes_back_and_says_each_name_once() {
        let receipt = a_receipt();
        let stored = write(&receipt).unwrap();
        assert_eq!(read(&stored).unwrap(), receipt);
        // A signal that has another weight in one line is written there whole.
        for (name, times) in [("time", 1), ("words", 2), (Section::Recall.as_str(), 1), ("below_floor", 2)] {
            assert_eq!(stored.matches(&format!("\"{name}\"")).count(), times, "{name} in {stored}");
        }
        assert!(!stored.contains("because"), "a line is a list: {stored}");
    }

    #[test]
    fn who_made_lines_is_said_once_and_the_source_of_an_event_is_its_own() {
        let producer = |version| Some(Producer { id: "rules".to_owned(), version });
        let source = |event| Source { event: EventId(event), span: Span { start: 3, end: 5 } };
        let of = |producer, line: ReceiptLine| ReceiptLine { producer, ..line };
        let lines = vec![
            of(producer(1), line(1, Vec::new())),
            of(producer(2), line(2, Vec::new())),
            of(producer(1), ReceiptLine { sources: vec![source(3), source(1)], ..line(3, Vec::new()) }),
            of(None, ReceiptLine { record: RecordRef::Fact(FactId(4)), ..line(4, Vec::new()) }),
        ];
        let receipt = Receipt { lines, ..a_receipt() };
        let stored = write(&receipt).unwrap();
        assert_eq!(read(&stored).unwrap(), receipt);
        assert_eq!(stored.matches("\"rules\"").count(), 2, "each version once: {stored}");
        for (event, times) in [(1, 2), (2, 1), (3, 1), (4, 1)] {
            let name = EventId(event).to_string();
            assert_eq!(stored.matches(&name).count(), times, "an erase looks for {name} in {stored}");
        }
        let (_, json) = stored.split_at(16);
        let lost = json.replace(&RecordRef::Event(EventId(2)).to_string(), &FactId(2).to_string());
        assert_eq!(read(&lost).unwrap_err().kind(), ErrorKind::Corrupt, "a source names no event");
    }

    #[test]
    fn omissions_that_are_alike_say_once_why_and_keep_their_order() {
        let receipt = a_receipt();
        let stored = write(&receipt).unwrap();
        let (six, seven, eight) = (EventId(6), EventId(7), EventId(8));
        assert!(stored.contains(&format!("0.4,[\"{six}\"]")), "{stored}");
        assert!(stored.contains(&format!("0.1,[\"{seven}\",\"{eight}\"]")), "{stored}");
        assert_eq!(read(&stored).unwrap().omitted, receipt.omitted);
    }

    #[test]
    fn a_row_of_before_is_read() {
        let receipt = Receipt {
            lines: vec![ReceiptLine {
                producer: Some(Producer { id: "rules".to_owned(), version: 4 }),
                ..line(1, vec![part([0.7, 0.7, 0.3, 0.7 * 0.3])])
            }],
            omitted: a_receipt().omitted.into_iter().take(1).collect(),
            omitted_counts: Vec::new(),
            gaps: Vec::new(),
            seal: None,
            ..a_receipt()
        };
        let numbers = |byte: u8, count: usize| format!("{:?}", vec![byte; count]);
        let (one, six) = (EventId(1), EventId(6));
        let before = format!(
            r#"{{"id":"{}","session":"s","at":0,"version":"1","settings":{},"head":5,"model":null,"tokenizer":"bytes",
            "budget":100,"tokens":14,"blocks":[["volatile",14,{}]],"lines":[{{"block":"volatile","section":"recall",
            "record":"{one}","producer":["rules",4],"sources":[["{one}",0,9]],"trust":{},"level":{},"parts":[["words",[0.7,0.3]]],
            "score":0.5,"because":"query","tokens":7,"hash":{}}}],"omitted":[["{six}","recent","budget",0.4]],"counts":[],
            "gaps":[]}}"#,
            ReceiptId(1),
            numbers(1, 16),
            numbers(3, 32),
            entry::trust_code(Trust::User),
            codec::level_code(Level::User),
            numbers(9, 16),
        );
        assert_eq!(read(&before).unwrap(), receipt);
    }

    #[test]
    fn a_number_that_stands_for_no_name_is_damage() {
        let stored = write(&a_receipt()).unwrap();
        let (whole, _) = stored.split_at(16).1.split_once("\"names\"").unwrap();
        let damaged = format!("{whole}\"names\":[],\"weights\":[]}}");
        assert_eq!(read(&damaged).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
