//! Search hits as a fenced block for a model, by the rules of a context.

use std::collections::HashMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_context::{Assembler, Context, FencedBlock, Format, block_hashes, fenced, line_number};
use mnemal_core::{
    AsOf, ContextRequest, ContextSource, Cursor, Degraded, EventId, Fragment, GapCause, Gaps, Importance,
    InclusionReason, Label, Layer, Learning, LearningStatus, OmittedReason, ReceiptId, RecordRef,
    RepeatPolicy, Result, Role, Section, SessionId, Source, Span, TokenCount, Within,
};
use mnemal_recall::Hit;

use crate::areas::{AdminHandle, EventsHandle};
use crate::memory::Memory;
use crate::remember::DEFAULT_CATEGORY;

/// Rendered hits for a model, with the receipt of what was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotedBlock {
    /// The id of the stored receipt.
    pub id: ReceiptId,
    /// One fenced block; empty when it has no line.
    pub text: String,
    /// Its number of tokens, at most the budget.
    pub tokens: TokenCount,
    /// The lines of the block, best first; each record once.
    pub lines: Vec<QuotedLine>,
    /// Number of hits that did not fit.
    pub left_out: u32,
}

/// One line of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotedLine {
    /// The record of the line.
    pub record: RecordRef,
    /// The rendered text: cleaned, truncated, and with prompt-injection characters escaped.
    pub text: String,
    /// The hit behind it.
    pub hit: Hit,
    /// The note of the hit; `None` for other records, and for a note that is not folded yet.
    pub note: Option<Learning>,
}

/// A pending block; awaiting it renders it and stores its receipt.
#[derive(Debug)]
#[must_use = "nothing is rendered until it is awaited"]
pub struct QuoteCall {
    memory: Memory,
    query: String,
    hits: Vec<Hit>,
    budget: TokenCount,
    session: Option<SessionId>,
    filing: FilingDisplay,
    unfiled: Option<String>,
}

/// Whether lines of notes show their filing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilingDisplay {
    /// No filing.
    Silent,
    /// Key, category and importance.
    Told,
}

impl EventsHandle<'_> {
    /// Renders the hits of a search for `query` as a fenced block: escaped, dated, labelled, within a budget, with a receipt.
    pub fn quote(self, query: impl Into<String>, hits: Vec<Hit>) -> QuoteCall {
        let budget = TokenCount(self.memory.engine.settings().context.budget_tokens);
        let session = self.memory.scope.session.only().cloned();
        QuoteCall {
            memory: self.memory.clone(),
            query: query.into(),
            hits,
            budget,
            session,
            filing: FilingDisplay::Silent,
            unfiled: None,
        }
    }
}

impl AdminHandle<'_> {
    /// Renders texts that are not records, such as working memory entries, as a fenced block within a token budget.
    pub fn fence(self, texts: &[String], budget: u32) -> FencedBlock {
        let parts = &self.memory.engine.parts().context;
        let session = self.memory.scope.session.only().map_or(SessionId::NOBODY, SessionId::as_str);
        fenced(texts, &parts.key.nonce(session), TokenCount(budget), parts.counter.as_ref())
    }
}

impl QuoteCall {
    /// Sets the token budget, a hard limit.
    pub fn budget(mut self, tokens: u32) -> Self {
        self.budget = TokenCount(tokens);
        self
    }

    /// Sets the session that will receive the block.
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Shows key, category and importance of each note on its line, between the label and the text: `- [label] key [category]
    /// [importance: 0.5]: "words"`. Source: the recall lines of `PicoBot`.
    pub fn filed(mut self) -> Self {
        self.filing = FilingDisplay::Told;
        self
    }

    /// Sets the category name shown for records without a category of their own; by default the memory's name for it.
    pub fn unfiled(mut self, name: impl Into<String>) -> Self {
        self.unfiled = Some(name.into());
        self
    }

    async fn run(self) -> Result<Degraded<QuotedBlock>> {
        let mut gaps = Gaps::default();
        let notes = self.notes(&mut gaps).await;
        let offered: Vec<Fragment> = self.hits.iter().filter_map(|hit| fragment(hit, &notes)).collect();
        let filed = match self.filing {
            FilingDisplay::Silent => HashMap::new(),
            FilingDisplay::Told => {
                let told = |note: &Learning| {
                    (RecordRef::Learning(note.id), filing_text(note, self.unfiled.as_deref()))
                };
                notes.values().map(told).collect()
            }
        };
        let request = request(&self.memory, self.query, self.session, self.budget);
        let (context, texts) = gaps.merge(filed_block(&self.memory, request, offered, &filed).await?);
        Ok(gaps.attach(quoted(context, texts, self.hits, notes)))
    }

    /// Returns the valid notes among the hits, by their events.
    async fn notes(&self, gaps: &mut Gaps) -> HashMap<EventId, Learning> {
        let decisions = self.hits.iter().filter(|hit| hit.event.role == Role::Decision);
        let events: Vec<EventId> = decisions.map(|hit| hit.event.id).collect();
        if events.is_empty() {
            return HashMap::new();
        }
        let known = gaps.keep(Layer::Learnings, self.memory.notes_of(&events).await);
        let active = known.into_iter().filter(|note| note.status == LearningStatus::Active);
        let mut notes = HashMap::new();
        for note in active {
            for source in note.sources.iter().filter(|source| events.contains(&source.event)) {
                notes.insert(source.event, note.clone());
            }
        }
        notes
    }
}

/// Builds the context request of one block of these fragments.
pub(crate) fn request(
    memory: &Memory,
    query: String,
    session: Option<SessionId>,
    budget: TokenCount,
) -> ContextRequest {
    ContextRequest {
        query: Some(query),
        query_vector: None,
        session: session.unwrap_or_else(SessionId::nobody),
        channel: Within::All,
        user: memory.scope.user.clone(),
        agent: memory.scope.agent.clone(),
        budget,
        sections: Within::Only(vec![Section::Recall]),
        as_of: AsOf::present(memory.engine.now()),
        injected: RepeatPolicy::Repeat,
        tool: None,
        lines: None,
    }
}

/// Renders fragments as one block by the rules of a context, and stores its receipt.
pub(crate) async fn block(
    memory: &Memory,
    request: &ContextRequest,
    offered: Vec<Fragment>,
) -> Result<Degraded<Context>> {
    let mut gaps = Gaps::default();
    let context = gaps.merge(assembled(memory, request, offered).await?);
    let context = gaps.merge(store_receipt(memory, context).await);
    Ok(gaps.attach(context))
}

/// Renders fragments as one block by the rules of a context.
async fn assembled(
    memory: &Memory,
    request: &ContextRequest,
    offered: Vec<Fragment>,
) -> Result<Degraded<Context>> {
    let engine = &memory.engine;
    let mut gaps = Gaps::default();
    let mut parts = engine.parts().context.clone();
    parts.settings.format = Format::Cited;
    parts.sources = vec![Arc::new(GivenFragments(offered))];
    let head = match engine.answering().events.part() {
        Ok(events) => events.head().await.map_err(GapCause::from),
        Err(cause) => Err(cause),
    };
    let head: Cursor = gaps.keep(Layer::Events, head);
    let context = gaps.merge(Assembler::new(parts).assemble(request, head).await?);
    Ok(gaps.attach(context))
}

/// Seals the receipt of a block and stores it.
async fn store_receipt(memory: &Memory, mut context: Context) -> Degraded<Context> {
    let engine = &memory.engine;
    let mut gaps = Gaps::default();
    context.receipt.seal = Some(context.receipt.sealed(&engine.parts().key));
    let stored = match engine.answering().receipts.part() {
        Ok(receipts) => receipts.put(&context.receipt).await.map_err(GapCause::from),
        Err(cause) => Err(cause),
    };
    gaps.keep(Layer::Receipts, stored);
    gaps.attach(context)
}

/// Texts of lines, by record.
type LineTexts = HashMap<RecordRef, String>;

/// Renders fragments as one block whose note lines show their filing, and stores its receipt; also returns the text of each line.
///
/// The filing counts against the budget: fewer lines are rendered until it fits.
async fn filed_block(
    memory: &Memory,
    mut request: ContextRequest,
    offered: Vec<Fragment>,
    filed: &LineTexts,
) -> Result<Degraded<(Context, LineTexts)>> {
    let budget = request.budget;
    let count = |text: &str| memory.engine.count_tokens(text);
    let mut gaps = Gaps::default();
    let (context, texts) = loop {
        let mut context = gaps.merge(assembled(memory, &request, offered.clone()).await?);
        let texts: LineTexts = context.quotes().into_iter().collect();
        let is_changed = file(&mut context, filed, count);
        let over = context.tokens.0.saturating_sub(budget.0);
        if over == 0 || !is_changed {
            (context.budget, context.receipt.budget) = (budget, budget);
            break (context, texts);
        }
        request.budget = TokenCount(request.budget.0.saturating_sub(over));
    };
    let context = gaps.merge(store_receipt(memory, context).await);
    Ok(gaps.attach((context, texts)))
}

/// Returns the number of lines that did not fit.
pub(crate) fn left_out(context: &Context) -> u32 {
    let cut = |reason: &OmittedReason| matches!(reason, OmittedReason::Budget | OmittedReason::SectionFull);
    let counts = context.receipt.omitted_counts.iter();
    counts.filter(|(reason, _)| cut(reason)).map(|(_, count)| count).sum()
}

impl IntoFuture for QuoteCall {
    type Output = Result<Degraded<QuotedBlock>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// A context source of given fragments.
#[derive(Debug)]
struct GivenFragments(Vec<Fragment>);

#[async_trait]
impl ContextSource for GivenFragments {
    fn layer(&self) -> Layer {
        Layer::Lexical
    }

    async fn fragments(&self, _: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        Ok(Degraded::whole(self.0.clone()))
    }
}

fn fragment(hit: &Hit, notes: &HashMap<EventId, Learning>) -> Option<Fragment> {
    let event = &hit.event;
    let kept = event.body()?;
    let note = notes.get(&event.id);
    Some(Fragment {
        section: Section::Recall,
        record: record(hit, note),
        producer: note.map(|note| note.producer.clone()),
        sources: vec![Source { event: event.id, span: Span::whole(&kept.content).ok()? }],
        text: kept.content.clone(),
        label: Label {
            level: note.map_or(event.level, |note| note.level),
            at: kept.occurred_at,
            zone: kept.zone.clone(),
            speaker: kept.speaker.clone(),
            space: hit.space.clone(),
            remark: mnemal_extract::foreign_remark(kept),
        },
        trust: note.map_or(event.trust, |note| note.trust),
        importance: note.map_or(Importance::DEFAULT, |note| note.importance),
        score: hit.score,
        parts: hit.parts.clone(),
        because: InclusionReason::Query,
        withheld: None,
    })
}

fn record(hit: &Hit, note: Option<&Learning>) -> RecordRef {
    note.map_or(RecordRef::Event(hit.event.id), |note| RecordRef::Learning(note.id))
}

/// Returns the filing of a note as its line shows it. Characters that would break the line are removed from names.
fn filing_text(note: &Learning, unfiled: Option<&str>) -> String {
    /// Longest name on a line, in characters. Source: own default, the same as for speakers.
    const LONGEST: usize = 48;
    let name = |name: &str| -> String {
        let allowed = |letter: &char| letter.is_alphanumeric() || " ._-/:@+".contains(*letter);
        let kept: String = name.chars().filter(allowed).take(LONGEST).collect();
        if kept.to_lowercase().contains("mnemal-context") { String::new() } else { kept.trim().to_owned() }
    };
    let key = note.key.as_ref().map(|key| name(key.as_str())).filter(|key| !key.is_empty());
    let key = key.map(|key| format!("{key} ")).unwrap_or_default();
    let category =
        unfiled.filter(|_| note.category.as_str() == DEFAULT_CATEGORY).unwrap_or(note.category.as_str());
    format!("{key}[{}] [importance: {:.1}]: ", name(category), note.importance.get())
}

/// Inserts the filing before the text of each line, and recomputes token counts and hashes; returns whether anything changed.
fn file(context: &mut Context, filed: &LineTexts, count: impl Fn(&str) -> TokenCount) -> bool {
    let records: Vec<RecordRef> = context.receipt.lines.iter().map(|line| line.record).collect();
    let line = |line: &str| -> String {
        let found = line.split_once(" \"");
        let number = line_number(line).and_then(|number| number.checked_sub(1));
        let record = number.and_then(|place| records.get(place));
        match (found, record.and_then(|record| filed.get(record))) {
            (Some((label, words)), Some(told)) => format!("{label} {told}\"{words}"),
            _ => line.to_owned(),
        }
    };
    let mut is_changed = false;
    for (block, receipt) in context.blocks.iter_mut().zip(&mut context.receipt.blocks) {
        let text: String = block.text.lines().map(|one| line(one) + "\n").collect();
        let nonce = text.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        // Only a block that verification will recognize is accepted.
        let [hash] = block_hashes(&text, nonce)[..] else { continue };
        is_changed |= text != block.text;
        (block.tokens, block.hash, block.text) = (count(&text), hash, text);
        (receipt.tokens, receipt.hash) = (block.tokens, block.hash);
    }
    if is_changed {
        context.text = context.blocks.iter().map(|block| block.text.as_str()).collect();
        context.tokens = TokenCount(context.blocks.iter().map(|block| block.tokens.0).sum());
        context.receipt.tokens = context.tokens;
    }
    is_changed
}

fn quoted(
    context: Context,
    mut texts: LineTexts,
    hits: Vec<Hit>,
    mut notes: HashMap<EventId, Learning>,
) -> QuotedBlock {
    let mut lines = Vec::new();
    for hit in hits {
        let note = notes.remove(&hit.event.id);
        let record = record(&hit, note.as_ref());
        // A note that was found by two of its events is one line.
        if let Some(text) = texts.remove(&record) {
            lines.push(QuotedLine { record, text, hit, note });
        }
    }
    let left_out = left_out(&context);
    QuotedBlock { id: context.receipt.id, text: context.text, tokens: context.tokens, lines, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    async fn filled() -> Memory {
        let memory = Memory::in_memory().await.unwrap();
        assert!(memory.remember("Deploys happen on Tuesdays ```").await.unwrap().created);
        for number in 0..20 {
            let text = format!("deploy number {number} went well, said the {number} people who were there");
            assert!(!memory.log(Message::user(text)).await.unwrap().duplicate);
        }
        memory
    }

    #[tokio::test]
    async fn hits_become_one_marked_block_within_the_budget_with_a_stored_receipt() {
        let memory = filled().await;
        let found = memory.recall("when do deploys happen?").limit(20).await.unwrap();
        let quoted =
            memory.events().quote("when do deploys happen?", found.value.hits).budget(300).await.unwrap();
        assert!(quoted.tokens.0 <= 300, "{quoted:?}");
        assert!(quoted.left_out > 0);
        assert_eq!(quoted.text.matches("<mnemal-context").count(), 1);
        assert_eq!(memory.admin().receipt(quoted.id).await.unwrap().lines.len(), quoted.lines.len());
        for line in &quoted.lines {
            assert!(quoted.text.contains(&line.record.to_string()));
        }
    }

    #[tokio::test]
    async fn a_note_is_named_by_its_own_id_and_its_text_obeys_the_rules_of_the_block() {
        let memory = filled().await;
        let found = memory.recall("Deploys happen on Tuesdays").limit(1).await.unwrap();
        let quoted = memory.events().quote("x", found.value.hits).budget(1_000).await.unwrap();
        let [line] = quoted.lines.as_slice() else { panic!("{quoted:?}") };
        assert!(line.record.to_string().starts_with("mem_"));
        assert_eq!(line.text, "Deploys happen on Tuesdays \\u0060``");
        assert!(line.note.is_some());
    }

    // proves: PB-41 (the line)
    #[tokio::test]
    async fn a_note_says_how_it_is_filed_within_the_budget_and_its_receipt_holds() {
        let memory = Memory::in_memory().await.unwrap();
        for number in 0..30 {
            let note = memory.remember(format!("Deploys of service {number} happen on Tuesdays"));
            let key = mnemal_core::NoteKey::new(format!("deploy_{number}")).unwrap();
            let category = mnemal_core::Category::new("ops/deploys").unwrap();
            let importance = Importance::new(0.84).unwrap();
            assert!(note.key(key).category(category).importance(importance).await.unwrap().created);
        }
        assert!(!memory.log(Message::user("deploys are loud")).await.unwrap().duplicate);
        for budget in [200, 400, 2_000] {
            let hits = memory.recall("deploys").limit(31).await.unwrap().value.hits;
            let quoted = memory.events().quote("deploys", hits).budget(budget).filed().await.unwrap();
            assert!(
                quoted.tokens.0 <= budget
                    && quoted.tokens == memory.admin().engine().count_tokens(&quoted.text)
            );
            assert!(!quoted.lines.is_empty(), "{budget}");
            for line in &quoted.lines {
                let id = line.record.to_string();
                let shown = quoted.text.lines().find(|shown| shown.contains(&id)).unwrap();
                let words = format!("{:?}", line.text);
                let filed = line.note.as_ref().map_or_else(String::new, |note| {
                    format!("{} [ops/deploys] [importance: 0.8]: ", note.key.as_ref().unwrap())
                });
                assert!(shown.ends_with(&format!("{id} {filed}{words}")), "{shown}");
            }
            let check = memory.admin().check_receipt(quoted.id, Some(&quoted.text)).await.unwrap();
            assert_eq!((check.findings.as_slice(), check.whole), ([].as_slice(), Some(true)), "{check:?}");
        }
    }

    #[tokio::test]
    async fn without_hits_there_is_no_block() {
        let memory = Memory::in_memory().await.unwrap();
        let quoted = memory.events().quote("x", Vec::new()).await.unwrap();
        assert_eq!((quoted.text.as_str(), quoted.left_out), ("", 0));
    }
}
