//! Receipts: codes and ids in short arrays, because most of a receipt is a hundred omissions.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mnemal_core::{
    Because, BlockKind, BlockReceipt, Cursor, Error, ErrorKind, Gap, GapCause, Layer, ModelId, Omitted,
    OmittedReason, Producer, Receipt, ReceiptId, ReceiptLine, ReceiptSeal, RecordRef, Result, ScorePart,
    Section, Seq, SessionId, Timestamp, TokenCount,
};
use serde::{Deserialize, Serialize};

use super::learning::{source_of, source_row};
use super::{known, named};
use crate::codec::corrupt;
use crate::{codec, entry};

/// Most names of signals that one process takes out of stored receipts.
///
/// Source: own default, ten times the signals that ranking has; a hostile file must not fill the memory.
const MOST_SIGNALS: usize = 256;

/// A name out of a list that both sides know.
type Name = Cow<'static, str>;

#[derive(Deserialize, Serialize)]
struct ReceiptRow {
    id: String,
    session: String,
    at: i64,
    version: String,
    settings: [u8; 16],
    head: Option<u64>,
    model: Option<String>,
    tokenizer: String,
    budget: u32,
    tokens: u32,
    blocks: Vec<(Name, u32, [u8; 32])>,
    lines: Vec<LineRow>,
    omitted: Vec<(String, Name, Name, f32)>,
    counts: Vec<(Name, u32)>,
    gaps: Vec<(Name, CauseRow)>,
    /// Hash, lines, omissions; rows of before have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<([u8; 32], u32, u32)>,
}

#[derive(Deserialize, Serialize)]
struct LineRow {
    block: Name,
    section: Name,
    record: String,
    producer: Option<(String, u32)>,
    sources: Vec<(String, u32, u32)>,
    trust: u8,
    level: u8,
    parts: Vec<(Name, Numbers)>,
    score: f32,
    because: Name,
    tokens: u32,
    hash: [u8; 16],
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

/// Writes a receipt.
///
/// # Errors
/// `Unsupported` for a cause of a gap that this version does not know.
pub(crate) fn write(receipt: &Receipt) -> Result<String> {
    let omitted = |omitted: &Omitted| {
        let (section, reason) = (omitted.section.as_str(), omitted.reason.as_str());
        (omitted.record.to_string(), section.into(), reason.into(), omitted.score)
    };
    let gap = |gap: &Gap| Ok((gap.layer.as_str().into(), cause_row(gap.cause)?));
    let row = ReceiptRow {
        id: receipt.id.to_string(),
        session: receipt.session.as_str().to_owned(),
        at: receipt.at.as_micros(),
        version: receipt.version.clone(),
        settings: receipt.settings_hash,
        head: receipt.head.0.map(|seq| seq.0),
        model: receipt.model.as_ref().map(|model| model.as_str().to_owned()),
        tokenizer: receipt.tokenizer.clone(),
        budget: receipt.budget.0,
        tokens: receipt.tokens.0,
        blocks: receipt
            .blocks
            .iter()
            .map(|block| (block.kind.as_str().into(), block.tokens.0, block.hash))
            .collect(),
        lines: receipt.lines.iter().map(line_row).collect(),
        omitted: receipt.omitted.iter().map(omitted).collect(),
        counts: receipt
            .omitted_counts
            .iter()
            .map(|(reason, count)| (reason.as_str().into(), *count))
            .collect(),
        gaps: receipt.gaps.iter().map(gap).collect::<Result<_>>()?,
        seal: receipt.seal.map(|seal| (seal.hash, seal.lines, seal.omitted)),
    };
    super::write_sealed(&row)
}

/// Reads a receipt.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str) -> Result<Receipt> {
    let row: ReceiptRow = super::read_sealed(stored)?;
    let block = |(kind, tokens, hash): (Name, u32, [u8; 32])| {
        Ok(BlockReceipt { kind: block_kind(&kind)?, tokens: TokenCount(tokens), hash })
    };
    let gap = |(name, cause): (Name, CauseRow)| Ok(Gap { layer: layer(&name)?, cause: cause_of(cause)? });
    Ok(Receipt {
        id: named(row.id.parse::<ReceiptId>())?,
        session: named(SessionId::new(row.session))?,
        at: named(Timestamp::from_micros(row.at))?,
        version: row.version,
        settings_hash: row.settings,
        head: Cursor(row.head.map(Seq)),
        model: named(row.model.map(ModelId::new).transpose())?,
        tokenizer: row.tokenizer,
        budget: TokenCount(row.budget),
        tokens: TokenCount(row.tokens),
        blocks: row.blocks.into_iter().map(block).collect::<Result<_>>()?,
        lines: row.lines.into_iter().map(line_of).collect::<Result<_>>()?,
        omitted: row.omitted.into_iter().map(omitted_of).collect::<Result<_>>()?,
        omitted_counts: row
            .counts
            .into_iter()
            .map(|(name, count)| Ok((reason(&name)?, count)))
            .collect::<Result<_>>()?,
        gaps: row.gaps.into_iter().map(gap).collect::<Result<_>>()?,
        seal: row.seal.map(|(hash, lines, omitted)| ReceiptSeal { hash, lines, omitted }),
    })
}

fn line_row(line: &ReceiptLine) -> LineRow {
    LineRow {
        block: line.block.as_str().into(),
        section: line.section.as_str().into(),
        record: line.record.to_string(),
        producer: line.producer.as_ref().map(|producer| (producer.id.clone(), producer.version)),
        sources: line.sources.iter().map(source_row).collect(),
        trust: entry::trust_code(line.trust),
        level: codec::level_code(line.level),
        parts: line.parts.iter().map(|part| (part.name.into(), Numbers::of(part))).collect(),
        score: line.score,
        because: line.because.as_str().into(),
        tokens: line.tokens.0,
        hash: line.content_hash,
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
        let is_same = |one: f32, other: f32| one.to_bits() == other.to_bits();
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

fn line_of(row: LineRow) -> Result<ReceiptLine> {
    let part = |(name, numbers): (Name, Numbers)| Ok(numbers.part(signal(&name)?));
    Ok(ReceiptLine {
        block: block_kind(&row.block)?,
        section: known(Section::from_name(&row.section))?,
        record: named(row.record.parse::<RecordRef>())?,
        producer: row.producer.map(|(id, version)| Producer { id, version }),
        sources: row.sources.iter().map(source_of).collect::<Result<_>>()?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        parts: row.parts.into_iter().map(part).collect::<Result<_>>()?,
        score: row.score,
        because: because(&row.because)?,
        tokens: TokenCount(row.tokens),
        content_hash: row.hash,
    })
}

fn omitted_of((record, section, why, score): (String, Name, Name, f32)) -> Result<Omitted> {
    Ok(Omitted {
        record: named(record.parse::<RecordRef>())?,
        section: known(Section::from_name(&section))?,
        reason: reason(&why)?,
        score,
    })
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

/// Names of signals are static texts; those of stored receipts are kept once for the life of the process.
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
}
