//! The receipt of an answer: every line with its sources and scores, every omission with a reason; ids, never text.

use crate::{
    Cursor, Error, EventId, FactId, Gap, InstallationKey, LearningId, Level, ModelId, Producer, ReceiptId,
    Result, Section, SessionId, Source, Timestamp, TokenCount, Trust,
};

/// A reference to any record that can be recalled.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordRef {
    /// An event.
    Event(EventId),
    /// A note or another learning.
    Learning(LearningId),
    /// A fact.
    Fact(FactId),
}

impl std::fmt::Display for RecordRef {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Event(id) => id.fmt(out),
            Self::Learning(id) => id.fmt(out),
            Self::Fact(id) => id.fmt(out),
        }
    }
}

impl std::str::FromStr for RecordRef {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split('_').next() {
            Some(EventId::PREFIX) => text.parse().map(Self::Event),
            Some(LearningId::PREFIX) => text.parse().map(Self::Learning),
            Some(FactId::PREFIX) => text.parse().map(Self::Fact),
            _ => Err(Error::invalid("not an id of a record: it starts with none of evt_, mem_ and fct_")),
        }
    }
}

/// The reason why a candidate did not become a line. The list is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OmittedReason {
    /// Over the total budget.
    Budget,
    /// Over the section's budget.
    SectionFull,
    /// Below the relevance floor.
    BelowFloor,
    /// Superseded by a newer version.
    Superseded,
    /// Duplicate of another line.
    Duplicate,
    /// Already shown to this session.
    AlreadyInjected,
    /// Quarantined by a rule.
    Quarantined,
    /// No longer valid.
    Expired,
    /// Archived.
    Archived,
    /// Outside the scope of the request.
    Scope,
}

impl OmittedReason {
    /// All reasons, in the order of their stored codes.
    pub const ALL: [Self; 10] = [
        Self::Budget,
        Self::SectionFull,
        Self::BelowFloor,
        Self::Superseded,
        Self::Duplicate,
        Self::AlreadyInjected,
        Self::Quarantined,
        Self::Expired,
        Self::Archived,
        Self::Scope,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::SectionFull => "section_full",
            Self::BelowFloor => "below_floor",
            Self::Superseded => "superseded",
            Self::Duplicate => "duplicate",
            Self::AlreadyInjected => "already_injected",
            Self::Quarantined => "quarantined",
            Self::Expired => "expired",
            Self::Archived => "archived",
            Self::Scope => "scope",
        }
    }
}

/// The reason why a line is included.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InclusionReason {
    /// Pinned.
    Pinned,
    /// An explicit preference of the user.
    ExplicitPreference,
    /// It matches the query.
    Query,
    /// Part of a timeline answer.
    Time,
    /// It happened just now.
    Recent,
    /// Important.
    Importance,
    /// Its section always carries it.
    Section,
}

impl InclusionReason {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::ExplicitPreference => "explicit_preference",
            Self::Query => "query",
            Self::Time => "time",
            Self::Recent => "recent",
            Self::Importance => "importance",
            Self::Section => "section",
        }
    }
}

/// One summand of a score; the parts of a record add up to its score within 1e-6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScorePart {
    /// The signal.
    pub name: &'static str,
    /// As measured.
    pub raw: f32,
    /// Divided by the largest among the candidates.
    pub normalized: f32,
    /// Weight of the signal, renormalized over the arms that ran.
    pub weight: f32,
    /// Its contribution to the score.
    pub value: f32,
}

/// The three blocks of a context, in the best order for a prompt cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// Byte-identical until its sources change.
    Stable,
    /// Grows within a session.
    Session,
    /// Changes with every query.
    Volatile,
}

impl BlockKind {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Session => "session",
            Self::Volatile => "volatile",
        }
    }
}

/// One rendered line.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiptLine {
    /// Its block.
    pub block: BlockKind,
    /// Its section.
    pub section: Section,
    /// The record.
    pub record: RecordRef,
    /// The producer of the record; `None` for an event.
    pub producer: Option<Producer>,
    /// The sources of its text; never empty.
    pub sources: Vec<Source>,
    /// Its trust.
    pub trust: Trust,
    /// Its level.
    pub level: Level,
    /// The summands of its score; empty for an unranked line.
    pub parts: Vec<ScorePart>,
    /// Its score, 0 for an unranked line.
    pub score: f32,
    /// The reason why it is included.
    pub because: InclusionReason,
    /// Tokens of the rendered line.
    pub tokens: TokenCount,
    /// First 16 bytes of BLAKE3 of the record's text; a session's delta uses it to detect changed text.
    pub content_hash: [u8; 16],
}

/// A candidate that did not become a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Omitted {
    /// The record.
    pub record: RecordRef,
    /// The section that considered it.
    pub section: Section,
    /// The reason.
    pub reason: OmittedReason,
    /// Its score, 0 when it was not ranked.
    pub score: f32,
}

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockReceipt {
    /// Its kind.
    pub kind: BlockKind,
    /// Tokens of its rendered text, fence included.
    pub tokens: TokenCount,
    /// BLAKE3 of its rendered text.
    pub hash: [u8; 32],
}

/// The account of one context: the source of every line, and the reason for every omission.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// Its id.
    pub id: ReceiptId,
    /// The session that received the context.
    pub session: SessionId,
    /// Time of the answer.
    pub at: Timestamp,
    /// Version of the engine.
    pub version: String,
    /// First 16 bytes of BLAKE3 over the settings that shape a context.
    pub settings_hash: [u8; 16],
    /// Last position of the log that it saw.
    pub head: Cursor,
    /// Model of the query vector, if there was one.
    pub model: Option<ModelId>,
    /// Name of the token counter.
    pub tokenizer: String,
    /// The requested limit.
    pub budget: TokenCount,
    /// Sum over the blocks; at most `budget`.
    pub tokens: TokenCount,
    /// The fenced blocks, in order.
    pub blocks: Vec<BlockReceipt>,
    /// The lines, in order.
    pub lines: Vec<ReceiptLine>,
    /// Omitted candidates, best first, at most 100.
    pub omitted: Vec<Omitted>,
    /// Counts of all omissions by reason.
    pub omitted_counts: Vec<(OmittedReason, u32)>,
    /// The gaps of the answer.
    pub gaps: Vec<Gap>,
    /// The seal from the time of storage; `None` for an older receipt, or for one that was not stored.
    pub seal: Option<ReceiptSeal>,
}

/// The seal of a stored receipt, under the installation's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptSeal {
    /// Keyed hash of the complete receipt: see [`Receipt::sealed`].
    pub hash: [u8; 32],
    /// Number of its lines; a forget removes some.
    pub lines: u32,
    /// Number of its omissions; a forget removes some.
    pub omitted: u32,
}

impl Receipt {
    /// Computes the seal of the receipt as it stands. The hash covers every field but the seal and the causes of the gaps:
    /// session, time, request, each block, line, source, score and omission, in order.
    pub fn sealed(&self, key: &InstallationKey) -> ReceiptSeal {
        let mut all = CanonicalBytes(Vec::with_capacity(16 * 1_024));
        all.bytes(&self.id.0.to_be_bytes());
        all.text(self.session.as_str());
        all.bytes(&self.at.as_micros().to_be_bytes());
        all.text(&self.version);
        all.bytes(&self.settings_hash);
        all.number(self.head.0.map_or(0, |seq| seq.0));
        all.text(self.model.as_ref().map_or("", ModelId::as_str));
        all.text(&self.tokenizer);
        all.number(u64::from(self.budget.0));
        all.number(u64::from(self.tokens.0));
        all.number(self.blocks.len() as u64);
        for block in &self.blocks {
            all.text(block.kind.as_str());
            all.number(u64::from(block.tokens.0));
            all.bytes(&block.hash);
        }
        all.number(self.lines.len() as u64);
        for line in &self.lines {
            all.line(line);
        }
        all.number(self.omitted.len() as u64);
        for omitted in &self.omitted {
            all.text(omitted.section.as_str());
            all.text(omitted.reason.as_str());
            all.record(omitted.record);
            all.share(omitted.score);
        }
        all.number(self.omitted_counts.len() as u64);
        for (reason, count) in &self.omitted_counts {
            all.text(reason.as_str());
            all.number(u64::from(*count));
        }
        for gap in &self.gaps {
            all.text(gap.layer.as_str());
        }
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (lines, omitted) = (small(self.lines.len()), small(self.omitted.len()));
        ReceiptSeal { hash: key.hash("receipt", &[&all.0]), lines, omitted }
    }
}

/// Canonical bytes of a receipt: each part with its length, so that two receipts never have the same.
struct CanonicalBytes(Vec<u8>);

impl CanonicalBytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    fn share(&mut self, share: f32) {
        self.0.extend_from_slice(&share.to_bits().to_be_bytes());
    }

    fn record(&mut self, record: RecordRef) {
        let (kind, id) = match record {
            RecordRef::Event(id) => (1, id.0),
            RecordRef::Learning(id) => (2, id.0),
            RecordRef::Fact(id) => (3, id.0),
        };
        self.0.push(kind);
        self.0.extend_from_slice(&id.to_be_bytes());
    }

    fn line(&mut self, line: &ReceiptLine) {
        self.text(line.block.as_str());
        self.text(line.section.as_str());
        self.record(line.record);
        self.text(line.producer.as_ref().map_or("", |producer| &producer.id));
        self.number(line.producer.as_ref().map_or(0, |producer| u64::from(producer.version)));
        self.number(line.sources.len() as u64);
        for source in &line.sources {
            self.bytes(&source.event.0.to_be_bytes());
            self.number(u64::from(source.span.start));
            self.number(u64::from(source.span.end));
        }
        self.text(line.trust.as_str());
        self.text(line.level.as_str());
        self.number(line.parts.len() as u64);
        for part in &line.parts {
            self.text(part.name);
            for share in [part.raw, part.normalized, part.weight, part.value] {
                self.share(share);
            }
        }
        self.share(line.score);
        self.text(line.because.as_str());
        self.number(u64::from(line.tokens.0));
        self.bytes(&line.content_hash);
    }
}

/// One record that a session was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRecord {
    /// The record.
    pub record: RecordRef,
    /// Hash of the shown text.
    pub content_hash: [u8; 16],
    /// The sources of that text.
    pub sources: Vec<Source>,
}

/// The records that a session was shown so far; the newest showing of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenRecords {
    /// By record.
    pub items: Vec<SeenRecord>,
}

impl SeenRecords {
    /// Whether the record was shown with exactly this text.
    pub fn has(&self, record: RecordRef, content_hash: &[u8; 16]) -> bool {
        self.items.iter().any(|item| item.record == record && item.content_hash == *content_hash)
    }
}
