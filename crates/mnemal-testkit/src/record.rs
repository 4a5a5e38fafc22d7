//! Builders of valid records for tests.

use mnemal_core::{
    Act, Basis, BlockKind, BlockReceipt, Category, ChannelId, Confidence, Consent, Cursor, Entity, EntityId,
    EntityKind, EntityName, EventId, EventKind, Fact, FactId, FactStatus, Importance, InclusionReason,
    InstallationKey, Learning, LearningId, LearningKind, LearningStatus, Level, LogEntry, Metadata, ModelId,
    NewEvent, NodePath, NoteKey, Origin, Predicate, Producer, Receipt, ReceiptId, ReceiptLine, ReceiptSeal,
    RecordRef, Result, RuleId, Section, Seq, SessionId, Source, Span, Speaker, SummaryLine, SummaryNode,
    Support, Timestamp, TokenCount, Tombstone, TombstoneHash, Trust, Value, Zone,
};

use crate::fake::{TermIndexer, mix, with_vector};

/// Makes log entries, one after the other; the same seed makes the same entries.
#[derive(Debug)]
pub struct Records {
    seed: u64,
    next: u64,
}

impl Records {
    /// Starts a sequence; two seeds never share an id.
    pub fn new(seed: u64) -> Self {
        Self { seed, next: 0 }
    }

    /// Makes a user's turn in a session.
    ///
    /// # Errors
    /// `Invalid` for a session that is no name.
    pub fn turn(&mut self, session: &str, content: &str) -> Result<LogEntry> {
        self.next += 1;
        let at = Timestamp::EPOCH
            .plus_micros(1_772_355_600_000_000 + i64::try_from(self.next).unwrap_or(0) * 1_000_000);
        let id = EventId((u128::from(mix(self.seed ^ 0x5eed)) << 64) | u128::from(self.next));
        let event = NewEvent {
            kind: EventKind::UserMessage,
            content: content.to_owned(),
            session: SessionId::new(session)?,
            channel: ChannelId::new("test")?,
            parent: None,
            speaker: Some(Speaker::new("Ada")?),
            user: None,
            agent: None,
            occurred_at: at,
            zone: Zone::utc(),
            origin: Origin::UserDirect,
            idempotency_key: None,
            metadata: Metadata::new(),
        };
        let body_hash = InstallationKey::new([1; 32]).hash("body", &[content.as_bytes()]);
        let index = Some(TermIndexer::entry(content));
        Ok(LogEntry { id, recorded_at: at, event, index, quarantined: None, echo: Vec::new(), body_hash })
    }

    /// Makes a user's turn with an idempotency key.
    ///
    /// # Errors
    /// `Invalid` for a session that is no name.
    pub fn keyed(&mut self, session: &str, content: &str, key: &str) -> Result<LogEntry> {
        let mut entry = self.turn(session, content)?;
        entry.event.idempotency_key = Some(key.to_owned());
        Ok(entry)
    }

    /// Makes a quarantined user's turn: it has no index entry.
    ///
    /// # Errors
    /// `Invalid` for a session that is no name.
    pub fn quarantined(&mut self, session: &str, content: &str) -> Result<LogEntry> {
        let mut entry = self.turn(session, content)?;
        entry.quarantined = Some(RuleId::new("test")?);
        entry.index = None;
        Ok(entry)
    }

    /// Makes a user's turn with a vector of a model.
    ///
    /// # Errors
    /// `Invalid` for an invalid vector.
    pub fn embedded(&mut self, content: &str, model: &ModelId, values: &[f32]) -> Result<LogEntry> {
        let mut entry = self.turn("s", content)?;
        entry.index = Some(with_vector(TermIndexer::entry(content), model, values)?);
        Ok(entry)
    }
}

/// Makes the tombstone of an event.
pub fn tombstone(event: EventId, at: Timestamp) -> Tombstone {
    let hash = |salt: u128| TombstoneHash((event.0 ^ salt).to_be_bytes());
    Tombstone { event, body: hash(1), sentences: vec![hash(2), hash(3)], at }
}

/// Makes version 1 of a note that was read in one event.
///
/// # Errors
/// `Invalid` for a key that is no name.
pub fn learning(id: u128, key: &str, source: EventId, created_at: Timestamp) -> Result<Learning> {
    Ok(Learning {
        id: LearningId(id),
        kind: LearningKind::Note,
        key: Some(NoteKey::new(key)?),
        version: 1,
        category: Category::new("general")?,
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        content: format!("note {key}"),
        pattern: None,
        basis: Basis::Stated,
        confidence: Confidence::new(1.0),
        consent: Consent::NotRequired,
        topics: Vec::new(),
        tool: None,
        speaker: None,
        superseded_by: None,
        verdict: None,
        signal: None,
        tally: None,
        occurred_at: created_at,
        session: SessionId::new("s")?,
        user: None,
        agent: None,
        sources: vec![Source { event: source, span: Span { start: 0, end: 4 } }],
        trust: Trust::User,
        level: Level::User,
        status: LearningStatus::Active,
        expires_at: None,
        created_at,
        expired_at: None,
        away: Vec::new(),
        producer: Producer { id: "test".to_owned(), version: 1 },
    })
}

/// Makes an entity of one name that was read in one event; the key of the name is the name in lower case.
pub fn entity(id: u128, name: &str, kind: EntityKind, source: EventId, created_at: Timestamp) -> Entity {
    let (text, key) = (name.to_owned(), name.to_lowercase());
    Entity {
        id: EntityId(id),
        kind,
        kind_word: None,
        name: text.clone(),
        made_as: text.clone(),
        names: vec![EntityName {
            text,
            key,
            source,
            occurred_at: created_at,
            recorded_at: created_at,
            expired_at: None,
        }],
        chosen: Vec::new(),
        roles: Vec::new(),
        merges: Vec::new(),
        identity_claims: Vec::new(),
        sources: vec![source],
        decisions: Vec::new(),
        created_at,
        producer: Producer { id: "test".to_owned(), version: 1 },
    }
}

/// Makes a fact about an entity, with words as its object, that was read in one event.
///
/// # Errors
/// `Invalid` for a predicate that is no name.
pub fn fact(
    id: u128,
    subject: u128,
    predicate: &str,
    source: EventId,
    created_at: Timestamp,
) -> Result<Fact> {
    let object = Value::Literal { text: "Oslo".to_owned(), key: "oslo".to_owned() };
    let support = Support {
        source: Source { event: source, span: Span { start: 0, end: 4 } },
        rule: RuleId::new("test.rule")?,
        subject: EntityId(subject),
        object: object.clone(),
        act: Act::Assert,
        valid_at: None,
        invalid_at: None,
        grain: None,
        occurred_at: created_at,
        recorded_at: created_at,
        session: SessionId::new("s")?,
        speaker: Some(Speaker::new("Ada")?),
        trust: Trust::User,
        level: Level::User,
        confidence: Confidence::new(0.9),
    };
    Ok(Fact {
        id: FactId(id),
        subject: EntityId(subject),
        predicate: Predicate::new(predicate)?,
        topic: None,
        object,
        act: Act::Assert,
        valid_at: None,
        invalid_at: None,
        valid_grain: None,
        invalid_grain: None,
        created_at,
        expired_at: None,
        status: FactStatus::Active,
        superseded: None,
        supports: vec![support],
        trust: Trust::User,
        level: Level::User,
        producer: Producer { id: "test".to_owned(), version: 1 },
    })
}

/// Makes a node of the summary tree with one line, whose event is also its last.
///
/// # Errors
/// `Invalid` never; names are checked.
pub fn summary(path: NodePath, parent: NodePath, source: EventId, last_at: Timestamp) -> Result<SummaryNode> {
    let line = SummaryLine {
        source: Source { event: source, span: Span { start: 0, end: 17 } },
        text: "Ada lives in Oslo".to_owned(),
        session: SessionId::new("s")?,
        speaker: Some(Speaker::new("Ada")?),
        occurred_at: last_at,
        zone: Zone::utc(),
        trust: Trust::User,
        level: Level::User,
    };
    Ok(SummaryNode {
        path,
        parents: vec![parent],
        lines: vec![line],
        sources: vec![source],
        events: 1,
        channel: Some(ChannelId::new("test")?),
        first_at: last_at,
        last_at,
        through: Seq(1),
        updated_at: last_at,
        producer: Producer { id: "test".to_owned(), version: 1 },
    })
}

/// Makes the receipt of a context with one line that shows one event.
///
/// # Errors
/// `Invalid` for a session that is no name.
pub fn receipt(id: u128, session: &str, shown: EventId, at: Timestamp) -> Result<Receipt> {
    let line = ReceiptLine {
        block: BlockKind::Volatile,
        section: Section::Recall,
        record: RecordRef::Event(shown),
        producer: None,
        sources: vec![Source { event: shown, span: Span { start: 0, end: 4 } }],
        trust: Trust::User,
        level: Level::User,
        parts: Vec::new(),
        score: 0.5,
        because: InclusionReason::Query,
        tokens: TokenCount(7),
        content_hash: [7; 16],
    };
    Ok(Receipt {
        id: ReceiptId(id),
        session: SessionId::new(session)?,
        at,
        version: "test".to_owned(),
        settings_hash: [3; 16],
        head: Cursor::START,
        model: None,
        tokenizer: "words".to_owned(),
        budget: TokenCount(100),
        tokens: TokenCount(7),
        blocks: vec![BlockReceipt { kind: BlockKind::Volatile, tokens: TokenCount(7), hash: [5; 32] }],
        lines: vec![line],
        omitted: Vec::new(),
        omitted_counts: Vec::new(),
        gaps: Vec::new(),
        seal: Some(ReceiptSeal { hash: [9; 32], lines: 1, omitted: 0 }),
    })
}
