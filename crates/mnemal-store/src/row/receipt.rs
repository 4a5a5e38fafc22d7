//! Legacy JSON receipts: with names in place, with each name once, and with lines as lists. New receipts are
//! [binary](crate::codec::receipt).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mnemal_core::{
    BlockKind, BlockReceipt, Cursor, ErrorKind, Gap, GapCause, InclusionReason, Layer, ModelId, Omitted,
    OmittedReason, Producer, Receipt, ReceiptId, ReceiptLine, ReceiptSeal, RecordRef, Result, ScorePart,
    Section, Seq, SessionId, Timestamp, TokenCount,
};
use serde::Deserialize;

use super::learning::source_of;
use super::{named, required};
use crate::codec::corrupt;
use crate::hash::Hash;
use crate::{codec, entry};

/// Most signal names that one process interns from stored receipts.
///
/// Source: own default, ten times the signals that ranking has; a hostile file must not fill the memory.
const MOST_SIGNALS: usize = 256;

/// A name in a row: its index among the row's names, or the name itself in older rows.
#[derive(Deserialize)]
#[serde(untagged)]
enum NameRef {
    Number(u8),
    Name(String),
}

#[derive(Deserialize)]
struct ReceiptRow {
    id: String,
    session: String,
    at: i64,
    version: String,
    settings: Hash<16>,
    head: Option<u64>,
    model: Option<String>,
    tokenizer: String,
    budget: u32,
    tokens: u32,
    blocks: Vec<(String, u32, Hash<32>)>,
    lines: Vec<LineRow>,
    omitted: Vec<(String, NameRef, NameRef, f32)>,
    counts: Vec<(String, u32)>,
    gaps: Vec<(String, CauseRow)>,
    /// Hash, lines, omissions; older rows have none.
    #[serde(default)]
    seal: Option<(Hash<32>, u32, u32)>,
    /// The table of names in lines and omissions; absent in older rows.
    #[serde(default)]
    names: Vec<String>,
    /// Weights of the first names, which are those of signals.
    #[serde(default)]
    weights: Vec<f32>,
}

/// A list, or, in older rows, with the names of the fields.
#[derive(Deserialize)]
struct LineRow {
    block: NameRef,
    section: NameRef,
    record: String,
    producer: Option<(String, u32)>,
    sources: Vec<(String, u32, u32)>,
    trust: u8,
    level: u8,
    parts: Vec<PartRow>,
    score: f32,
    because: NameRef,
    tokens: u32,
    hash: Hash<16>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CauseRow {
    NotConfigured,
    Failed(String),
    TimedOut { micros: u64 },
    Stale { behind: u64 },
    Truncated { dropped: u32 },
}

/// The names of a row, each once, with the weights of signals.
struct NameTable {
    names: Vec<String>,
    weights: Vec<f32>,
}

impl NameTable {
    fn name<'a>(&'a self, called: &'a NameRef) -> Result<&'a str> {
        match called {
            NameRef::Name(name) => Ok(name),
            NameRef::Number(place) => self.at(*place),
        }
    }

    fn at(&self, place: u8) -> Result<&str> {
        required(self.names.get(usize::from(place)).map(String::as_str))
    }

    fn part_of(&self, row: &PartRow) -> Result<ScorePart> {
        let (place, raw, normalized, value) = match row {
            PartRow::Named((name, numbers)) => return Ok(numbers.part(signal(name)?)),
            PartRow::Nothing((place,)) => (*place, 0.0, 0.0, None),
            PartRow::Counted((place, both)) => (*place, *both, *both, None),
            PartRow::ButValue((place, raw, normalized)) => (*place, *raw, *normalized, None),
            PartRow::All((place, raw, normalized, value)) => (*place, *raw, *normalized, Some(*value)),
        };
        let weight = *required(self.weights.get(usize::from(place)))?;
        let value = value.unwrap_or(weight * normalized);
        Ok(ScorePart { name: signal(self.at(place)?)?, raw, normalized, weight, value })
    }
}

/// A part of a line. If the signal has its usual weight, only what does not follow from it: nothing for a zero part; the
/// normalized value; before it the raw value, if it differs; after it the contribution, if it is not the product. Else name and
/// [`Numbers`].
#[derive(Deserialize)]
#[serde(untagged)]
enum PartRow {
    Nothing((u8,)),
    Counted((u8, f32)),
    ButValue((u8, f32, f32)),
    All((u8, f32, f32, f32)),
    Named((String, Numbers)),
}

/// Reads a receipt.
///
/// # Errors
/// `Corrupt` when it is not what was written.
pub(crate) fn read(stored: &str) -> Result<Receipt> {
    let row: ReceiptRow = super::read_sealed(stored)?;
    let names = NameTable { names: row.names, weights: row.weights };
    let block = |(kind, tokens, hash): (String, u32, Hash<32>)| {
        Ok(BlockReceipt { kind: block_kind(&kind)?, tokens: TokenCount(tokens), hash: hash.0 })
    };
    let gap = |(name, cause): (String, CauseRow)| Ok(Gap { layer: layer(&name)?, cause: cause_of(cause)? });
    Ok(Receipt {
        id: named(row.id.parse::<ReceiptId>())?,
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
        lines: row.lines.into_iter().map(|line| line_of(line, &names)).collect::<Result<_>>()?,
        omitted: row.omitted.into_iter().map(|omitted| omitted_of(omitted, &names)).collect::<Result<_>>()?,
        omitted_counts: row
            .counts
            .into_iter()
            .map(|(name, count)| Ok((reason(&name)?, count)))
            .collect::<Result<_>>()?,
        gaps: row.gaps.into_iter().map(gap).collect::<Result<_>>()?,
        seal: row.seal.map(|(hash, lines, omitted)| ReceiptSeal { hash: hash.0, lines, omitted }),
    })
}

/// The numbers of a part that do not follow from the rest, because most parts are zero or a product: its weight; before it the
/// normalized value, unless zero; before that the raw value, if it differs; and the contribution at the end, if it is not the
/// product.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Numbers {
    Weight([f32; 1]),
    CountedAndWeight([f32; 2]),
    ButValue([f32; 3]),
    /// Older rows have all four.
    All([f32; 4]),
}

impl Numbers {
    fn part(&self, name: &'static str) -> ScorePart {
        let (raw, normalized, weight) = match *self {
            Self::All([raw, normalized, weight, value]) => {
                return ScorePart { name, raw, normalized, weight, value };
            }
            Self::ButValue([raw, normalized, weight]) => (raw, normalized, weight),
            Self::CountedAndWeight([both, weight]) => (both, both, weight),
            Self::Weight([weight]) => (0.0, 0.0, weight),
        };
        ScorePart { name, raw, normalized, weight, value: weight * normalized }
    }
}

fn line_of(row: LineRow, names: &NameTable) -> Result<ReceiptLine> {
    Ok(ReceiptLine {
        block: block_kind(names.name(&row.block)?)?,
        section: required(Section::from_name(names.name(&row.section)?))?,
        record: named(row.record.parse::<RecordRef>())?,
        producer: row.producer.map(|(id, version)| Producer { id, version }),
        sources: row.sources.iter().map(source_of).collect::<Result<_>>()?,
        trust: entry::trust(row.trust)?,
        level: codec::level(row.level)?,
        parts: row.parts.iter().map(|part| names.part_of(part)).collect::<Result<_>>()?,
        score: row.score,
        because: because(names.name(&row.because)?)?,
        tokens: TokenCount(row.tokens),
        content_hash: row.hash.0,
    })
}

fn omitted_of(
    (record, section, why, score): (String, NameRef, NameRef, f32),
    names: &NameTable,
) -> Result<Omitted> {
    Ok(Omitted {
        record: named(record.parse::<RecordRef>())?,
        section: required(Section::from_name(names.name(&section)?))?,
        reason: reason(names.name(&why)?)?,
        score,
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

pub(crate) fn block_kind(name: &str) -> Result<BlockKind> {
    let all = [BlockKind::Stable, BlockKind::Session, BlockKind::Volatile];
    required(all.into_iter().find(|kind| kind.as_str() == name))
}

pub(crate) fn reason(name: &str) -> Result<OmittedReason> {
    required(OmittedReason::ALL.into_iter().find(|reason| reason.as_str() == name))
}

pub(crate) fn because(name: &str) -> Result<InclusionReason> {
    let all = [
        InclusionReason::Pinned,
        InclusionReason::ExplicitPreference,
        InclusionReason::Query,
        InclusionReason::Time,
        InclusionReason::Recent,
        InclusionReason::Importance,
        InclusionReason::Section,
    ];
    required(all.into_iter().find(|because| because.as_str() == name))
}

pub(crate) fn layer(name: &str) -> Result<Layer> {
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
    required(all.into_iter().find(|layer| layer.as_str() == name))
}

pub(crate) fn error_kind(name: &str) -> Result<ErrorKind> {
    let all = [
        ErrorKind::NotFound,
        ErrorKind::Conflict,
        ErrorKind::Invalid,
        ErrorKind::Unsupported,
        ErrorKind::Unavailable,
        ErrorKind::Corrupt,
        ErrorKind::Internal,
    ];
    required(all.into_iter().find(|kind| kind.as_str() == name))
}

/// Interns a signal name, which is a static text; names from stored receipts are kept for the life of the process.
pub(crate) fn signal(name: &str) -> Result<&'static str> {
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
    use mnemal_core::{EventId, Level, Source, Span, Trust};

    use super::*;

    fn part([raw, normalized, weight, value]: [f32; 4]) -> ScorePart {
        ScorePart { name: "words", raw, normalized, weight, value }
    }

    #[test]
    fn a_part_of_before_has_one_to_four_numbers_and_none_has_five() {
        let read = |text: &str| crate::row::read::<Numbers>(text).map(|numbers| numbers.part("words"));
        let rows = [
            ("[0.06]", [0.0, 0.0, 0.06, 0.0]),
            ("[0.7, 0.3]", [0.7, 0.7, 0.3, 0.7 * 0.3]),
            ("[11.5, 0.9, 0.3]", [11.5, 0.9, 0.3, 0.9 * 0.3]),
            ("[11.148734092712402, 1.0, 0.09178468585014343, 0.5]", [11.148_734, 1.0, 0.091_784_686, 0.5]),
        ];
        for (text, numbers) in rows {
            assert_eq!(read(text).unwrap(), part(numbers), "{text}");
        }
        assert_eq!(read("[]").unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(read("[1, 1, 1, 1, 1]").unwrap_err().kind(), ErrorKind::Corrupt);
    }

    fn line(parts: Vec<ScorePart>) -> ReceiptLine {
        ReceiptLine {
            block: BlockKind::Volatile,
            section: Section::Recall,
            record: RecordRef::Event(EventId(1)),
            producer: None,
            sources: vec![Source { event: EventId(1), span: Span { start: 0, end: 9 } }],
            trust: Trust::User,
            level: Level::User,
            parts,
            score: 0.5,
            because: InclusionReason::Query,
            tokens: TokenCount(7),
            content_hash: [9; 16],
        }
    }

    fn a_receipt(lines: Vec<ReceiptLine>) -> Receipt {
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
            lines,
            omitted: vec![Omitted {
                record: RecordRef::Event(EventId(6)),
                section: Section::Recent,
                reason: OmittedReason::Budget,
                score: 0.4,
            }],
            omitted_counts: Vec::new(),
            gaps: Vec::new(),
            seal: None,
        }
    }

    /// Returns a row with these lines, omissions and last fields.
    fn row(lines: &str, omitted: &str, rest: &str) -> String {
        let numbers = |byte: u8, count: usize| format!("{:?}", vec![byte; count]);
        format!(
            r#"{{"id":"{}","session":"s","at":0,"version":"1","settings":{},"head":5,"model":null,"tokenizer":"bytes",
            "budget":100,"tokens":14,"blocks":[["volatile",14,{}]],"lines":[{lines}],"omitted":[{omitted}],"counts":[],
            "gaps":[]{rest}}}"#,
            ReceiptId(1),
            numbers(1, 16),
            numbers(3, 32),
        )
    }

    #[test]
    fn a_row_with_names_in_place_is_read() {
        let (one, six, trust, level) =
            (EventId(1), EventId(6), entry::trust_code(Trust::User), codec::level_code(Level::User));
        let lines = format!(
            r#"{{"block":"volatile","section":"recall","record":"{one}","producer":null,"sources":[["{one}",0,9]],
            "trust":{trust},"level":{level},"parts":[["words",[0.7,0.3]]],"score":0.5,"because":"query","tokens":7,
            "hash":{:?}}}"#,
            [9_u8; 16],
        );
        let stored = row(&lines, &format!(r#"["{six}","recent","budget",0.4]"#), "");
        assert_eq!(read(&stored).unwrap(), a_receipt(vec![line(vec![part([0.7, 0.7, 0.3, 0.7 * 0.3])])]));
    }

    /// A row of lists, with a checksum and these names.
    fn numbered(names: &str) -> String {
        let (one, six, trust, level) =
            (EventId(1), EventId(6), entry::trust_code(Trust::User), codec::level_code(Level::User));
        let lines = format!(
            r#"[1,2,"{one}",["rules",4],[["{one}",0,9]],{trust},{level},
            [[0],[0,0.7],[0,11.5,0.9],[0,11.5,0.9,0.1],["words",[0.7,0.25]]],0.5,3,7,"{}"]"#,
            "09".repeat(16),
        );
        let rest = format!(r#","names":{names},"weights":[0.3]"#);
        let json = row(&lines, &format!(r#"["{six}",4,5,0.4]"#), &rest);
        format!("{:016x}{json}", u64::from_be_bytes(codec::checksum(json.as_bytes())))
    }

    #[test]
    fn a_row_of_lists_that_says_each_name_once_is_read() {
        let parts = [
            [0.0, 0.0, 0.3, 0.0],
            [0.7, 0.7, 0.3, 0.7 * 0.3],
            [11.5, 0.9, 0.3, 0.9 * 0.3],
            [11.5, 0.9, 0.3, 0.1],
            [0.7, 0.7, 0.25, 0.7 * 0.25],
        ];
        let producer = Some(Producer { id: "rules".to_owned(), version: 4 });
        let expected = a_receipt(vec![ReceiptLine { producer, ..line(parts.map(part).to_vec()) }]);
        let names = r#"["words","volatile","recall","query","recent","budget"]"#;
        assert_eq!(read(&numbered(names)).unwrap(), expected);
    }

    #[test]
    fn a_number_that_stands_for_no_name_is_damage() {
        assert_eq!(read(&numbered("[]")).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
