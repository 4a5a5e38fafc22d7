//! Stored form of a receipt, which is written with every context: about forty lines of up to a dozen parts, and a hundred
//! omissions.
//!
//! Byte 0 is the version of the format, bytes 1 to 8 are the first bytes of BLAKE3 over the rest. Numbers are varints, ids and
//! hashes their bytes, fractions four little-endian bytes. Names, signals with their weights, and producers are listed once, at
//! the start, and referenced by number; what an omission has in common with the preceding one is stored once too. Legacy
//! receipts are JSON ([`row::receipt`](crate::row::receipt)).

use std::time::Duration;

use mnemal_core::{
    BlockReceipt, Cursor, Error, ErrorKind, EventId, FactId, Gap, GapCause, LearningId, ModelId, Omitted,
    Producer, Receipt, ReceiptId, ReceiptLine, ReceiptSeal, RecordRef, Result, ScorePart, Section, Seq,
    SessionId, Source, Span, Timestamp, TokenCount,
};

use super::bytes::{Input, corrupt, intern, put_length, put_share, put_small, put_text, put_varint, zigzag};
use super::{level, level_code, seal, unsealed};
use crate::entry::{trust, trust_code};
use crate::row::receipt::{because, block_kind, error_kind, layer, reason, signal};
use crate::row::{named, required};

/// Incremented with every change of the format.
const VERSION: u8 = 1;
/// Typical upper size of a receipt in bytes. Source: own measurement, 45 lines and 100 omissions.
const MOSTLY: usize = 6 << 10;
/// Bytes of a record: its kind and its id.
pub(crate) const RECORD: usize = 17;

/// One more than the most fractions stored per part: none for a zero part; the normalized value; before it the raw value, if it
/// differs; and after it the contribution, if it is not the product with the weight.
const SHARES: usize = 4;

/// Values shared by lines and omissions, each once.
#[derive(Debug, Default)]
struct SharedValues<'r> {
    names: Vec<&'r str>,
    /// A signal with different weights is listed once per weight.
    signals: Vec<(&'r str, f32)>,
    producers: Vec<&'r Producer>,
    /// The expected next signal if a line repeats the signals of the preceding one.
    next: usize,
}

impl SharedValues<'_> {
    fn signal(&mut self, part: &ScorePart) -> usize {
        let is_it = |(name, weight): &(&str, f32)| *name == part.name && is_same(*weight, part.weight);
        let next = self.signals.get(self.next).is_some_and(is_it).then_some(self.next);
        let place = next.or_else(|| self.signals.iter().position(is_it)).unwrap_or_else(|| {
            self.signals.push((part.name, part.weight));
            self.signals.len() - 1
        });
        self.next = place + 1;
        place
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_length(out, self.names.len());
        for name in &self.names {
            put_text(out, name);
        }
        put_length(out, self.signals.len());
        for (name, weight) in &self.signals {
            put_text(out, name);
            put_share(out, *weight);
        }
        put_length(out, self.producers.len());
        for producer in &self.producers {
            put_text(out, &producer.id);
            put_small(out, producer.version);
        }
    }
}

fn is_same(one: f32, other: f32) -> bool {
    one.to_bits() == other.to_bits()
}

/// Writes a receipt.
///
/// # Errors
/// `Unsupported` for a record or a gap cause that this version does not know.
pub(crate) fn encode(receipt: &Receipt) -> Result<Vec<u8>> {
    let mut shared = SharedValues::default();
    let mut rest = Vec::with_capacity(MOSTLY);
    put_head(&mut rest, receipt, &mut shared);
    put_length(&mut rest, receipt.lines.len());
    for line in &receipt.lines {
        put_line(&mut rest, line, &mut shared)?;
    }
    put_omitted(&mut rest, receipt, &mut shared)?;
    put_length(&mut rest, receipt.gaps.len());
    for gap in &receipt.gaps {
        put_length(&mut rest, intern(&mut shared.names, gap.layer.as_str()));
        put_cause(&mut rest, gap.cause, &mut shared)?;
    }
    let mut out = Vec::with_capacity(rest.len() + 1_024);
    out.extend_from_slice(&[VERSION, 0, 0, 0, 0, 0, 0, 0, 0]);
    shared.put(&mut out);
    out.extend_from_slice(&rest);
    seal(&mut out);
    Ok(out)
}

fn put_head<'r>(out: &mut Vec<u8>, receipt: &'r Receipt, shared: &mut SharedValues<'r>) {
    out.extend_from_slice(&receipt.id.0.to_be_bytes());
    put_text(out, receipt.session.as_str());
    put_varint(out, zigzag(receipt.at.as_micros()));
    put_text(out, &receipt.version);
    out.extend_from_slice(&receipt.settings_hash);
    put_varint(out, receipt.head.0.map_or(0, |seq| seq.0));
    // No model has an empty name.
    put_text(out, receipt.model.as_ref().map_or("", ModelId::as_str));
    put_text(out, &receipt.tokenizer);
    put_small(out, receipt.budget.0);
    put_small(out, receipt.tokens.0);
    put_length(out, receipt.blocks.len());
    for block in &receipt.blocks {
        put_length(out, intern(&mut shared.names, block.kind.as_str()));
        put_small(out, block.tokens.0);
        out.extend_from_slice(&block.hash);
    }
    out.push(u8::from(receipt.seal.is_some()));
    if let Some(seal) = receipt.seal {
        out.extend_from_slice(&seal.hash);
        put_small(out, seal.lines);
        put_small(out, seal.omitted);
    }
}

fn put_line<'r>(out: &mut Vec<u8>, line: &'r ReceiptLine, shared: &mut SharedValues<'r>) -> Result<()> {
    for name in [line.block.as_str(), line.section.as_str(), line.because.as_str()] {
        put_length(out, intern(&mut shared.names, name));
    }
    out.extend_from_slice(&record_bytes(line.record)?);
    put_length(out, line.producer.as_ref().map_or(0, |producer| intern(&mut shared.producers, producer) + 1));
    out.extend_from_slice(&[trust_code(line.trust), level_code(line.level)]);
    put_length(out, line.sources.len());
    for source in &line.sources {
        let is_own = line.record == RecordRef::Event(source.event);
        out.push(u8::from(is_own));
        if !is_own {
            out.extend_from_slice(&source.event.0.to_be_bytes());
        }
        put_small(out, source.span.start);
        put_small(out, source.span.end);
    }
    put_length(out, line.parts.len());
    shared.next = 0;
    for part in &line.parts {
        put_part(out, part, shared);
    }
    put_share(out, line.score);
    put_small(out, line.tokens.0);
    out.extend_from_slice(&line.content_hash);
    Ok(())
}

fn put_part(out: &mut Vec<u8>, part: &ScorePart, shared: &mut SharedValues<'_>) {
    let ScorePart { raw, normalized, weight, value, .. } = *part;
    let numbers: &[f32] = if !is_same(value, weight * normalized) {
        &[raw, normalized, value]
    } else if !is_same(raw, normalized) {
        &[raw, normalized]
    } else if !is_same(raw, 0.0) {
        &[raw]
    } else {
        &[]
    };
    put_length(out, shared.signal(part) * SHARES + numbers.len());
    for number in numbers {
        put_share(out, *number);
    }
}

fn put_omitted<'r>(out: &mut Vec<u8>, receipt: &'r Receipt, shared: &mut SharedValues<'r>) -> Result<()> {
    let is_alike = |one: &Omitted, other: &Omitted| {
        (one.section, one.reason) == (other.section, other.reason) && is_same(one.score, other.score)
    };
    put_length(out, receipt.omitted.chunk_by(is_alike).count());
    for alike in receipt.omitted.chunk_by(is_alike) {
        let Some(first) = alike.first() else { continue };
        put_length(out, intern(&mut shared.names, first.section.as_str()));
        put_length(out, intern(&mut shared.names, first.reason.as_str()));
        put_share(out, first.score);
        put_length(out, alike.len());
        for omitted in alike {
            out.extend_from_slice(&record_bytes(omitted.record)?);
        }
    }
    put_length(out, receipt.omitted_counts.len());
    for (reason, count) in &receipt.omitted_counts {
        put_length(out, intern(&mut shared.names, reason.as_str()));
        put_small(out, *count);
    }
    Ok(())
}

fn put_cause(out: &mut Vec<u8>, cause: GapCause, shared: &mut SharedValues<'_>) -> Result<()> {
    let (code, number) = match cause {
        GapCause::NotConfigured => (0, 0),
        GapCause::Failed(kind) => (1, intern(&mut shared.names, kind.as_str()) as u64),
        GapCause::TimedOut(after) => (2, u64::try_from(after.as_micros()).unwrap_or(u64::MAX)),
        GapCause::Stale { behind } => (3, behind),
        GapCause::Truncated { dropped } => (4, u64::from(dropped.0)),
        _ => return Err(Error::new(ErrorKind::Unsupported, "cannot store this kind of gap")),
    };
    out.push(code);
    put_varint(out, number);
    Ok(())
}

/// The tables that the numbers of a receipt refer to.
struct Tables<'a> {
    names: Vec<&'a str>,
    signals: Vec<(&'static str, f32)>,
    producers: Vec<Producer>,
}

impl<'a> Tables<'a> {
    fn read(input: &mut Input<'a>) -> Result<Self> {
        let mut names = Vec::new();
        for _ in 0..input.count(1)? {
            names.push(input.str()?);
        }
        let mut signals = Vec::new();
        for _ in 0..input.count(5)? {
            signals.push((signal(input.str()?)?, input.share()?));
        }
        let mut producers = Vec::new();
        for _ in 0..input.count(2)? {
            producers.push(Producer { id: input.text()?, version: input.small()? });
        }
        Ok(Self { names, signals, producers })
    }

    fn name(&self, input: &mut Input<'_>) -> Result<&'a str> {
        required(self.names.get(input.length()?).copied())
    }
}

fn take_record(input: &mut Input<'_>) -> Result<RecordRef> {
    record(&input.bytes::<RECORD>()?)
}

/// Reads a receipt. Counts are checked against the available bytes before anything is allocated.
///
/// # Errors
/// `Corrupt` for anything that [`encode`] does not write; never panics, never allocates more than the bytes justify.
pub(crate) fn decode(stored: &[u8]) -> Result<Receipt> {
    let mut input = unsealed(stored, VERSION, "a receipt")?;
    let input = &mut input;
    let tables = Tables::read(input)?;
    let id = ReceiptId(u128::from_be_bytes(input.bytes()?));
    let session = named(SessionId::new(input.str()?))?;
    let at = named(Timestamp::from_micros(input.signed()?))?;
    let version = input.text()?;
    let settings_hash = input.bytes()?;
    let head = input.varint()?;
    let head = Cursor((head > 0).then_some(Seq(head)));
    let model = Some(input.str()?).filter(|model| !model.is_empty());
    let model = named(model.map(ModelId::new).transpose())?;
    let tokenizer = input.text()?;
    let (budget, tokens) = (TokenCount(input.small()?), TokenCount(input.small()?));
    let mut blocks = Vec::new();
    for _ in 0..input.count(34)? {
        let kind = block_kind(tables.name(input)?)?;
        blocks.push(BlockReceipt { kind, tokens: TokenCount(input.small()?), hash: input.bytes()? });
    }
    let seal = match input.byte()? {
        0 => None,
        _ => Some(ReceiptSeal { hash: input.bytes()?, lines: input.small()?, omitted: input.small()? }),
    };
    let mut lines = Vec::new();
    for _ in 0..input.count(45)? {
        lines.push(line(input, &tables)?);
    }
    let omitted = omitted(input, &tables)?;
    let mut omitted_counts = Vec::new();
    for _ in 0..input.count(2)? {
        omitted_counts.push((reason(tables.name(input)?)?, input.small()?));
    }
    let mut gaps = Vec::new();
    for _ in 0..input.count(3)? {
        gaps.push(Gap { layer: layer(tables.name(input)?)?, cause: cause(input, &tables)? });
    }
    if !input.0.is_empty() {
        return Err(corrupt("a receipt goes on behind its end"));
    }
    Ok(Receipt {
        id,
        session,
        at,
        version,
        settings_hash,
        head,
        model,
        tokenizer,
        budget,
        tokens,
        blocks,
        lines,
        omitted,
        omitted_counts,
        gaps,
        seal,
    })
}

fn line(input: &mut Input<'_>, tables: &Tables<'_>) -> Result<ReceiptLine> {
    let block = block_kind(tables.name(input)?)?;
    let section = required(Section::from_name(tables.name(input)?))?;
    let because = because(tables.name(input)?)?;
    let record = take_record(input)?;
    let producer = match input.length()? {
        0 => None,
        place => Some(required(tables.producers.get(place - 1))?.clone()),
    };
    let (trust, level) = (trust(input.byte()?)?, level(input.byte()?)?);
    let mut sources = Vec::new();
    for _ in 0..input.count(3)? {
        let event = match (input.byte()?, record) {
            (0, _) => EventId(u128::from_be_bytes(input.bytes()?)),
            (_, RecordRef::Event(own)) => own,
            _ => return Err(corrupt("a source names no event")),
        };
        sources.push(Source { event, span: Span { start: input.small()?, end: input.small()? } });
    }
    let mut parts = Vec::new();
    for _ in 0..input.count(1)? {
        parts.push(part(input, tables)?);
    }
    let (score, tokens, content_hash) = (input.share()?, TokenCount(input.small()?), input.bytes()?);
    Ok(ReceiptLine {
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
        content_hash,
    })
}

fn part(input: &mut Input<'_>, tables: &Tables<'_>) -> Result<ScorePart> {
    let code = input.length()?;
    let (name, weight) = *required(tables.signals.get(code / SHARES))?;
    let shares = code % SHARES;
    let raw = if shares > 0 { input.share()? } else { 0.0 };
    let normalized = if shares > 1 { input.share()? } else { raw };
    let value = if shares > 2 { input.share()? } else { weight * normalized };
    Ok(ScorePart { name, raw, normalized, weight, value })
}

fn omitted(input: &mut Input<'_>, tables: &Tables<'_>) -> Result<Vec<Omitted>> {
    let mut all = Vec::new();
    for _ in 0..input.count(7)? {
        let section = required(Section::from_name(tables.name(input)?))?;
        let reason = reason(tables.name(input)?)?;
        let score = input.share()?;
        for _ in 0..input.count(RECORD)? {
            all.push(Omitted { record: take_record(input)?, section, reason, score });
        }
    }
    Ok(all)
}

fn cause(input: &mut Input<'_>, tables: &Tables<'_>) -> Result<GapCause> {
    Ok(match (input.byte()?, input.varint()?) {
        (0, _) => GapCause::NotConfigured,
        (1, place) => {
            let name = usize::try_from(place).ok().and_then(|place| tables.names.get(place));
            GapCause::Failed(error_kind(required(name)?)?)
        }
        (2, micros) => GapCause::TimedOut(Duration::from_micros(micros)),
        (3, behind) => GapCause::Stale { behind },
        (4, dropped) => {
            let dropped = u32::try_from(dropped).map_err(|_| corrupt("a number is too large"))?;
            GapCause::Truncated { dropped: TokenCount(dropped) }
        }
        _ => return Err(corrupt("an unknown cause of a gap")),
    })
}

/// Returns a record as 17 bytes that sort as records do.
///
/// # Errors
/// `Unsupported` for a record that this version does not know.
pub(crate) fn record_bytes(record: RecordRef) -> Result<[u8; RECORD]> {
    let (kind, id) = match record {
        RecordRef::Event(id) => (0, id.0),
        RecordRef::Learning(id) => (1, id.0),
        RecordRef::Fact(id) => (2, id.0),
        _ => return Err(Error::new(ErrorKind::Unsupported, format!("cannot store what {record} names"))),
    };
    let mut bytes = [kind; RECORD];
    for (byte, of_id) in bytes.iter_mut().skip(1).zip(id.to_be_bytes()) {
        *byte = of_id;
    }
    Ok(bytes)
}

/// Reads a record.
///
/// # Errors
/// `Corrupt` for what [`record_bytes`] does not write.
pub(crate) fn record(bytes: &[u8]) -> Result<RecordRef> {
    let [kind, id @ ..] = bytes else { return Err(corrupt("a record has no kind")) };
    let id = <[u8; 16]>::try_from(id).map_err(|_| corrupt("a record has the wrong length"))?;
    match kind {
        0 => Ok(RecordRef::Event(EventId(u128::from_be_bytes(id)))),
        1 => Ok(RecordRef::Learning(LearningId(u128::from_be_bytes(id)))),
        2 => Ok(RecordRef::Fact(FactId(u128::from_be_bytes(id)))),
        _ => Err(corrupt("an unknown kind of record")),
    }
}

#[cfg(test)]
mod tests {
    use mnemal_core::{BlockKind, InclusionReason, Layer, Level, OmittedReason, Trust};

    use super::*;

    fn part(name: &'static str, [raw, normalized, weight, value]: [f32; 4]) -> ScorePart {
        ScorePart { name, raw, normalized, weight, value }
    }

    fn line(record: RecordRef, sources: &[u128], parts: Vec<ScorePart>) -> ReceiptLine {
        let source = |event: &u128| Source { event: EventId(*event), span: Span { start: 3, end: 900 } };
        ReceiptLine {
            block: BlockKind::Volatile,
            section: Section::Recall,
            record,
            producer: None,
            sources: sources.iter().map(source).collect(),
            trust: Trust::User,
            level: Level::User,
            parts,
            score: 0.5,
            because: InclusionReason::Query,
            tokens: TokenCount(700),
            content_hash: [9; 16],
        }
    }

    fn omitted(record: u128, reason: OmittedReason, score: f32) -> Omitted {
        let record = RecordRef::Learning(LearningId(record));
        Omitted { record, section: Section::Recent, reason, score }
    }

    fn a_receipt() -> Receipt {
        let producer = |version| Some(Producer { id: "rules".to_owned(), version });
        let time = part("time", [0.0, 0.0, 0.1, 0.0]);
        let of = |producer, line: ReceiptLine| ReceiptLine { producer, ..line };
        let event = |id| RecordRef::Event(EventId(id));
        Receipt {
            id: ReceiptId(1 << 100),
            session: SessionId::new("s").unwrap(),
            at: Timestamp::EPOCH.plus_micros(-5),
            version: "1".to_owned(),
            settings_hash: [1; 16],
            head: Cursor(Some(Seq(u64::MAX))),
            model: Some(ModelId::new("m").unwrap()),
            tokenizer: "bytes".to_owned(),
            budget: TokenCount(u32::MAX),
            tokens: TokenCount(14),
            blocks: vec![BlockReceipt { kind: BlockKind::Stable, tokens: TokenCount(14), hash: [3; 32] }],
            lines: vec![
                of(producer(1), line(event(1), &[1], vec![part("words", [0.7, 0.7, 0.3, 0.7 * 0.3]), time])),
                of(
                    producer(2),
                    line(event(2), &[1, 2], vec![part("words", [11.5, 0.9, 0.3, 0.9 * 0.3]), time]),
                ),
                of(
                    producer(1),
                    line(RecordRef::Fact(FactId(3)), &[3], vec![part("words", [11.5, 0.9, 0.3, 0.1])]),
                ),
                line(
                    RecordRef::Learning(LearningId(4)),
                    &[],
                    vec![time, part("words", [0.7, 0.7, 0.25, 0.7 * 0.25])],
                ),
                line(event(5), &[5], vec![part("words", [-0.0, -0.0, 0.3, -0.0])]),
                line(event(6), &[6], vec![part("words", [f32::NAN, f32::INFINITY, 0.3, f32::NAN])]),
            ],
            omitted: vec![
                omitted(6, OmittedReason::Budget, 0.4),
                omitted(7, OmittedReason::BelowFloor, 0.1),
                omitted(8, OmittedReason::BelowFloor, 0.1),
                omitted(9, OmittedReason::BelowFloor, 0.05),
                omitted(10, OmittedReason::Budget, 0.4),
            ],
            omitted_counts: vec![(OmittedReason::BelowFloor, 3), (OmittedReason::Budget, 2_000)],
            gaps: [
                GapCause::NotConfigured,
                GapCause::Failed(ErrorKind::Unavailable),
                GapCause::TimedOut(Duration::from_millis(70)),
                GapCause::Stale { behind: u64::MAX },
                GapCause::Truncated { dropped: TokenCount(9) },
            ]
            .map(|cause| Gap { layer: Layer::Graph, cause })
            .to_vec(),
            seal: Some(ReceiptSeal { hash: [4; 32], lines: 4, omitted: 5 }),
        }
    }

    fn times(stored: &[u8], wanted: &[u8]) -> usize {
        stored.windows(wanted.len()).filter(|bytes| *bytes == wanted).count()
    }

    #[test]
    fn a_receipt_comes_back_to_the_bit_and_says_each_thing_once() {
        let receipt = a_receipt();
        let stored = encode(&receipt).unwrap();
        let read = decode(&stored).unwrap();
        // The sign of zero is no difference to `==`.
        assert_eq!(format!("{read:?}"), format!("{receipt:?}"));
        // A signal with two weights and a producer with two versions stand twice.
        for (name, count) in [("time", 1), ("words", 2), ("rules", 2), ("recall", 1), ("below_floor", 1)] {
            assert_eq!(times(&stored, name.as_bytes()), count, "{name}");
        }
        // The source of an event is its own; an erase looks for these bytes.
        for (event, count) in [(1_u128, 2), (2, 1), (5, 1)] {
            assert_eq!(times(&stored, &event.to_be_bytes()), count, "{event}");
        }
        let bare = Receipt {
            model: None,
            head: Cursor::START,
            seal: None,
            lines: Vec::new(),
            omitted: Vec::new(),
            gaps: Vec::new(),
            ..receipt
        };
        assert_eq!(decode(&encode(&bare).unwrap()).unwrap(), bare);
    }

    #[test]
    fn omissions_that_are_alike_take_the_bytes_of_their_records() {
        let with = |count: u128| {
            let omitted = (0..count).map(|id| omitted(id, OmittedReason::SectionFull, 0.5)).collect();
            encode(&Receipt { omitted, ..a_receipt() }).unwrap().len()
        };
        assert_eq!(with(100) - with(50), 50 * RECORD);
    }

    #[test]
    fn damage_is_told_and_never_read() {
        let stored = encode(&a_receipt()).unwrap();
        for end in 0..stored.len() {
            assert_eq!(decode(&stored[..end]).unwrap_err().kind(), ErrorKind::Corrupt, "cut at {end}");
        }
        for place in 0..stored.len() {
            let mut damaged = stored.clone();
            damaged[place] ^= 1;
            assert_eq!(decode(&damaged).unwrap_err().kind(), ErrorKind::Corrupt, "byte {place}");
        }
    }

    #[test]
    fn what_no_program_writes_is_refused_even_with_its_checksum() {
        let stored = encode(&a_receipt()).unwrap();
        let mut refused = 0;
        for place in 9..stored.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut made = stored.clone();
                made[place] = value;
                seal(&mut made);
                match decode(&made) {
                    Ok(_) => {}
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Corrupt);
                        refused += 1;
                    }
                }
                // An end within is told too.
                let mut cut = made[..place].to_vec();
                seal(&mut cut);
                assert_eq!(decode(&cut).unwrap_err().kind(), ErrorKind::Corrupt, "cut at {place}");
            }
        }
        assert!(refused > 100, "{refused}");
        let mut more = stored;
        more.push(0);
        seal(&mut more);
        assert_eq!(decode(&more).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
