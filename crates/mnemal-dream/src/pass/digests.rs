//! Digests pass: summarizes ingested texts.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    AgentId, BackgroundPermit, Category, Classification, Completion, Cursor, Digest, ErrorKind, Event,
    EventFilter, EventId, EventKind, EventStore, Importance, LedgerKind, LedgerLine, LedgerStore, MOST_NAMED,
    MOST_PARTS, ModelCaller, ModelDigester, NewEvent, Operation, OperationKind, Pass, PassOutcome, Producer,
    PromptHash, Proposal, Result, Role, SessionId, Slot, Tag, Timestamp, UserId, Within,
};

use super::read_through;
use crate::dreamer::line;
use crate::history::{History, operation_identity};

/// Texts per cycle, the oldest first. Source: GB-33, 20 rows per run.
const AT_ONCE: usize = 20;
/// Bytes of a text that a digest is made from, from its start. Source: own choice, about 6,000 tokens.
const READ: usize = 24_000;
/// Category of digests.
const DOCUMENTS: &str = "documents";
/// Events per page. Source: own default.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("a page holds something");

/// Makes digests by rule.
pub trait Digester: std::fmt::Debug + Send + Sync + 'static {
    /// Returns the digest of a text, given as one event with all of its words; `None` for a text without content.
    fn digest(&self, text: &NewEvent) -> Option<Digest>;
}

/// A model that makes digests.
#[derive(Clone, Debug)]
pub struct DigestWriter {
    /// The model.
    pub caller: ModelCaller,
    /// Makes the questions and parses the answers.
    pub writer: Arc<dyn ModelDigester>,
}

/// Makes a digest of each ingested text: files, and texts that a host handed over.
///
/// It follows the log: a text with new parts is read from its start, up to 24,000 bytes. Its digest is a note with names,
/// topics and importance that rests on the parts of the text and is removed with any of them; the rest is then digested
/// again. With a model, an unusable or missing answer falls back to the digest by rule.
#[derive(Clone, Debug)]
pub struct DigestsPass {
    /// The event log.
    pub events: Arc<dyn EventStore>,
    /// How far it was read; without a ledger a cycle begins at the start of the log.
    pub ledger: Slot<dyn LedgerStore>,
    /// The digester by rule.
    pub digester: Arc<dyn Digester>,
    /// The model; `None` uses rules only.
    pub writer: Option<DigestWriter>,
}

/// Identity of a text: its session and its owner.
type TextKey = (SessionId, Option<UserId>, Option<AgentId>);

/// Texts with new parts, in order of arrival.
#[derive(Debug, Default)]
struct PendingTexts {
    texts: Vec<TextKey>,
    through: Cursor,
    has_more: bool,
}

impl DigestsPass {
    /// The name of the pass, in the ledger too.
    pub const NAME: &str = "digests";

    /// Whether a text was ingested after its position.
    ///
    /// # Errors
    /// `Unavailable` when the log or the ledger does not answer.
    pub async fn is_due(&self) -> Result<bool> {
        let read = EventFilter { roles: Within::Only(vec![Role::Document]), ..EventFilter::live() };
        let newest = self.events.latest(&read, NonZeroUsize::MIN).await?.pop();
        let after = read_through(&self.ledger, Self::NAME).await?;
        Ok(newest.is_some_and(|event| Cursor(Some(event.seq)) > after))
    }

    /// Returns the ledger line that restarts the pass after digests were forgotten.
    pub fn again(at: Timestamp) -> LedgerLine {
        line(LedgerKind::Pass, Self::NAME, at).with_through(Cursor::START)
    }

    /// Returns the texts without a digest that have parts after a position.
    async fn pending(&self, after: Cursor, known: &KnownDigests) -> Result<PendingTexts> {
        let read = EventFilter { roles: Within::Only(vec![Role::Document]), ..EventFilter::live() };
        let head = self.events.head().await?;
        let mut pending = PendingTexts { through: after, ..PendingTexts::default() };
        loop {
            let page = self.events.scan(&read, pending.through, PAGE).await?;
            if page.is_empty() {
                pending.through = pending.through.max(head);
                return Ok(pending);
            }
            for event in page {
                let Some(kept) = event.body() else { continue };
                let text = (kept.session.clone(), kept.user.clone(), kept.agent.clone());
                if is_part(kept) && !known.has(event.id) && !pending.texts.contains(&text) {
                    if pending.texts.len() == AT_ONCE {
                        pending.has_more = true;
                        return Ok(pending);
                    }
                    pending.texts.push(text);
                }
                pending.through = Cursor(Some(event.seq));
            }
        }
    }

    /// Returns the parts of a text, in order.
    async fn parts(&self, (session, user, agent): &TextKey) -> Result<Vec<Event>> {
        let of_text = EventFilter {
            session: Within::Only(session.clone()),
            roles: Within::Only(vec![Role::Document]),
            ..EventFilter::live()
        };
        let (mut parts, mut after) = (Vec::new(), Cursor::START);
        while parts.len() < MOST_PARTS {
            let page = self.events.scan(&of_text, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Cursor(Some(last.seq));
            let is_of_text = |event: &Event| {
                event.body().is_some_and(|kept| is_part(kept) && kept.user == *user && kept.agent == *agent)
            };
            parts.extend(page.into_iter().filter(is_of_text));
        }
        parts.truncate(MOST_PARTS);
        Ok(parts)
    }

    /// Returns the digest of a text and its producer; `None` for a text without content.
    async fn digest(
        &self,
        permit: &mut BackgroundPermit,
        writer: &mut Option<&DigestWriter>,
        parts: &[Event],
    ) -> Result<Option<Proposal>> {
        let from: Vec<EventId> = parts.iter().map(|part| part.id).collect();
        let Some(text) = whole(parts) else { return Ok(None) };
        if let Some(by) = *writer {
            let prompt = by.writer.prompt(&text.content);
            let hash = PromptHash::of(by.caller.model.model(), &prompt);
            let read = |completion: &Completion| by.writer.parse(&text.content, completion);
            match by.caller.ask(permit, &prompt, &from, read).await {
                Ok(digest) => {
                    let producer = by.caller.producer(&by.writer.producer());
                    let mut proposal = proposal(parts, digest, producer, "a model says what a text says")?;
                    proposal.operation.prompt = Some(hash);
                    return Ok(Some(proposal));
                }
                // An unavailable model is not asked again in this cycle; an unusable answer affects its text only.
                Err(error) if error.kind() != ErrorKind::Unsupported => *writer = None,
                Err(_) => {}
            }
        }
        let producer = Producer { id: format!("dream/{}", Self::NAME), version: 1 };
        let digest = self.digester.digest(&text);
        digest.map(|digest| proposal(parts, digest, producer, "a text was read in")).transpose()
    }
}

#[async_trait]
impl Pass for DigestsPass {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn run(&self, permit: &mut BackgroundPermit) -> Result<PassOutcome> {
        let after = read_through(&self.ledger, Self::NAME).await?;
        let known = KnownDigests::of(&History::read(self.events.as_ref()).await?);
        let pending = self.pending(after, &known).await?;
        let mut looked = PassOutcome {
            through: Some(pending.through),
            waiting: u64::from(pending.has_more),
            ..PassOutcome::default()
        };
        let mut writer = self.writer.as_ref();
        for text in &pending.texts {
            let parts = self.parts(text).await?;
            let kind = operation_kind(&parts, Vec::new(), Vec::new(), Importance::DEFAULT)?;
            if !parts.is_empty() && !known.is_said(&kind) {
                let is_for_rules = known.words.contains(&operation_identity(&kind));
                let mut none = None;
                let by = if is_for_rules { &mut none } else { &mut writer };
                looked.proposals.extend(self.digest(permit, by, &parts).await?);
            }
        }
        Ok(looked)
    }
}

/// The existing digests, and those that a person undid.
#[derive(Debug)]
struct KnownDigests {
    parts: BTreeSet<EventId>,
    said: BTreeSet<u128>,
    /// Model digests that a person undid.
    words: BTreeSet<u128>,
}

impl KnownDigests {
    fn of(history: &History) -> Self {
        let mut known = Self {
            parts: BTreeSet::new(),
            said: history.taken_back.clone(),
            words: history.words_taken_back.clone(),
        };
        for (_, kind) in &history.operations {
            if let OperationKind::Digest { from, .. } = kind {
                known.said.insert(operation_identity(kind));
                known.parts.extend(from);
            }
        }
        known
    }

    /// Whether a digest rests on a part.
    fn has(&self, part: EventId) -> bool {
        self.parts.contains(&part)
    }

    /// Whether exactly these parts have a digest, or a person undid it.
    fn is_said(&self, kind: &OperationKind) -> bool {
        self.said.contains(&operation_identity(kind))
    }
}

/// Whether an event is a part of an ingested text, and not a line that describes a file.
fn is_part(kept: &NewEvent) -> bool {
    let place = kept.metadata.get("chunk").and_then(|chunk| chunk.split('/').next());
    kept.kind == EventKind::Document && place.is_some_and(|place| place != "0")
}

/// Returns the joined parts of a text, up to the read limit, as one event; `None` without parts.
fn whole(parts: &[Event]) -> Option<NewEvent> {
    let first = parts.iter().find_map(Event::body)?;
    let mut text = String::new();
    for part in parts.iter().filter_map(Event::body) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&part.content);
        if text.len() >= READ {
            text.truncate(text.floor_char_boundary(READ));
            break;
        }
    }
    Some(NewEvent { content: text, ..first.clone() })
}

fn operation_kind(
    parts: &[Event],
    entities: Vec<String>,
    tags: Vec<Tag>,
    importance: Importance,
) -> Result<OperationKind> {
    let classification = Classification { category: Category::new(DOCUMENTS)?, tags, importance };
    Ok(OperationKind::Digest { from: parts.iter().map(|part| part.id).collect(), entities, classification })
}

fn proposal(parts: &[Event], digest: Digest, producer: Producer, because: &str) -> Result<Proposal> {
    let mut entities = digest.entities;
    entities.truncate(MOST_NAMED);
    let kind = operation_kind(parts, entities, digest.topics, digest.importance)?;
    let shown = kind.names();
    let operation = Operation { kind, producer, prompt: None, shown, because: because.to_owned() };
    Ok(Proposal { operation, text: digest.text })
}
