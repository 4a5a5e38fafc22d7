//! Notes context source: identity, preferences, important notes, tasks and warnings.

use std::cmp::{Ordering, Reverse};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mnemal_core::{
    Basis, Consent, ContextRequest, ContextSource, Degraded, Embedder, Fragment, InclusionReason, Label,
    Layer, Learning, LearningFilter, LearningId, LearningKind, LearningStore, Level, NoteKey, RecordRef,
    Remark, RepeatPolicy, Result, Score, ScorePart, Section, Slot, Timestamp, TokenCount, Zone,
};

use crate::decay::Decay;
use crate::knowledge_base;
use crate::owner::{InstructionAuthors, Owner};
use crate::preferences::{PreferenceSource, in_conversation, is_about_user};
use crate::row_identity::RowIdentity;
use crate::{task, task_evaluation};

/// Importance from which a note is in section knowledge without a question. Source: RB-12, importance of at least 0.7.
const WORTHY: f32 = 0.7;
/// Most important notes offered without a question. Source: RB-12, at most five.
const UNASKED: usize = 5;
/// Most notes offered for one section. Source: NB-54, at most 200 active learnings.
const OFFERED: usize = 200;
/// Fewest tokens of a line with level, day and id, which bounds the notes that can fit a context. Source: the shortest of
/// such lines in 800 stored receipts of `bench latency --life` had 40.
const LINE_TOKENS: u32 = 32;
/// Most tokens of preferences in a context of 4,000, if they have the room of the whole stable block; a smaller context has
/// no limit, a larger one a proportional one. Source: NB-58, shares of 200, 300 and 500 tokens.
const PREFERENCE_TOKENS: u32 = 1_000;
/// The same as one part in this many of a larger context.
const PREFERENCES_ONE_IN: u32 = 4;
/// Least confidence of a tool warning at session start, 0 to 1. Source: BA-38, the threshold of warnings.
const WARNED: f32 = 0.6;
/// Most lines about tools, that of the requested tool first. Source: BA-36, five tool events.
const OF_TOOLS: usize = 5;
/// The tag of pinned notes. Source: AD-31, pinned memories.
pub const PINNED: &str = "pinned";
/// Categories of identity notes. Source: RB-04, the conventional categories.
const IDENTITY: [&str; 2] = ["identity", "user-preferences/identity"];

/// Category of an agent's state: mood, focus, current topics. Source: BA-08, the agent state.
const STATE: &str = "agent-state";
/// Most open tasks, the newest. Source: BA-36, ten task events.
const OPEN: usize = 10;

/// Most lines about the agent's own work. Source: own choice; as few as a person reads before starting.
const OF_OWN_WORK: usize = 3;

/// Time for which a session's own learnings are kept in its volatile block: until the next full hour, in microseconds.
/// Source: own choice; `LoCoMo`, 500 turns, whose users state something lasting in every 24th turn.
const FRESH: i64 = 3_600_000_000;

/// Offers notes and learnings that need no question; recall finds the others through their events.
///
/// Notes that are only important, or are about the user, are offered at session start, without a question, and not to a
/// host that wants few lines.
///
/// The state of an agent (notes of category `agent-state`) and the ten newest open tasks (`tasks`) are offered to section
/// `state`, in every context except for a host that wants few lines.
///
/// Evaluations of the agent's own tasks are offered too at session start, at most three, labeled as the agent's own
/// judgment.
///
/// External notes are never offered here, except tasks observed by the host and their evaluations. Within a section notes
/// are sorted by importance and confidence, the newest first among equals; a decayed note is dropped when there are too
/// many, but never moves within the section, so that cached text stays unchanged. For the same reason a session's own
/// learnings of the current hour are offered to it in section learnings, which is in the volatile block; other sessions get
/// them in their place immediately.
///
/// If insights are requested explicitly, the five newest are offered, and section knowledge has only notes: the five
/// nearest to the question, or without a question the most important ones.
#[derive(Clone, Debug)]
pub struct NotesSource {
    store: Arc<dyn LearningStore>,
    decay: Decay,
    preferences: Option<PreferenceSource>,
    owner: Owner,
    beside_insights: usize,
    standings: Arc<Mutex<Option<Arc<Placements>>>>,
}

impl NotesSource {
    /// Offers these rows.
    pub fn new(store: Arc<dyn LearningStore>) -> Self {
        Self {
            store,
            decay: Decay::default(),
            preferences: None,
            owner: Owner::default(),
            beside_insights: knowledge_base::NOTES,
            standings: Arc::default(),
        }
    }

    /// Sets decay and the limit of active learnings.
    #[must_use]
    pub fn with_decay(self, decay: Decay) -> Self {
        Self { decay, standings: Arc::default(), ..self }
    }

    /// Sets the number of notes in section knowledge next to insights; 5 by default.
    #[must_use]
    pub fn at_most(self, notes: usize) -> Self {
        Self { beside_insights: notes, ..self }
    }

    /// Also offers the fragments of a [`PreferenceSource`] over the same rows, so that they are read once for both.
    #[must_use]
    pub fn with_preferences(self, embedder: Slot<dyn Embedder>, at_once: usize) -> Self {
        let preferences = PreferenceSource::new(Arc::clone(&self.store), embedder, at_once);
        Self { preferences: Some(preferences), ..self }
    }

    /// Sets the memory's owner: other people's wishes are offered where they are asked about, and not as instructions.
    #[must_use]
    pub fn of_owner(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    /// Returns the placement of these rows, cached from the last call.
    fn standings(&self, rows: &[Arc<Learning>]) -> Arc<Placements> {
        let mut kept = self.standings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(standings) = kept.as_ref().filter(|standings| standings.of.is(rows)) {
            return Arc::clone(standings);
        }
        let standings = Arc::new(Placements::new(rows, self.decay));
        *kept = Some(Arc::clone(&standings));
        standings
    }

    /// Offers the rows that need no question.
    fn offer_unprompted(
        &self,
        request: &ContextRequest,
        notes: &[Arc<Learning>],
        own: &InstructionAuthors,
    ) -> Vec<Fragment> {
        let is_of_base = knowledge_base::is_asked(request);
        let standings = self.standings(notes);
        let too_many =
            if standings.do_all_hold { HashSet::new() } else { self.decay.too_many(notes, request.as_of) };
        let seen = |standing: &Placement| {
            let note = notes.get(standing.row)?.as_ref();
            Some((standing.seen_by(request, note), note))
        };
        let most = OFFERED.min(lines_of(request.budget, LINE_TOKENS));
        let preferences = most.min(preferences_of(request));
        let most_of = |section| if section == Section::Preferences { preferences } else { most };
        let mut in_order = BestFirst { most: most_of, section: None, taken: 0 };
        let mut placed: Vec<PlacedNote<'_>> = Vec::new();
        let wanted = standings
            .all
            .iter()
            .filter_map(seen)
            .filter(|(.., note)| too_many.is_empty() || !too_many.contains(&note.id))
            .filter(|(standing, note)| !standing.is_of_a_tool || may_warn(note, request))
            .filter(|(_, note)| own.may_order(note))
            .filter(|(Placement { section, .. }, _)| {
                request.sections.only().is_none_or(|wanted| wanted.contains(section))
            })
            .filter(|(standing, _)| standing.section != Section::Knowledge || begins(request))
            .filter(|(standing, _)| !standing.is_own_work || begins(request))
            .filter(|(standing, _)| standing.section != Section::State || request.lines.is_none())
            .filter(|(standing, _)| standing.section != Section::Knowledge || !is_of_base)
            .filter(|(standing, _)| in_order.may_be_offered(standing));
        placed.extend(wanted);
        placed.sort_by_key(|(standing, _)| standing.section);
        let best_first = |(a, _): &&PlacedNote<'_>, (b, _): &&PlacedNote<'_>| a.cmp_in_section(b);
        let mut fragments: Vec<Fragment> = Vec::new();
        for of_section in placed.chunk_by(|(a, _), (b, _)| a.section == b.section) {
            let Some((Placement { section, .. }, _)) = of_section.first() else { continue };
            let mut chosen: Vec<&PlacedNote<'_>> = of_section.iter().collect();
            let most = if *section == Section::Knowledge { UNASKED } else { most_of(*section) };
            best(&mut chosen, most, best_first);
            let (mut tools, mut tasks, mut own) = (0, 0, 0);
            chosen.retain(|(standing, _)| {
                tools += usize::from(standing.is_of_a_tool);
                tasks += usize::from(standing.is_task);
                own += usize::from(standing.is_own_work);
                (!standing.is_of_a_tool || tools <= OF_TOOLS)
                    && (!standing.is_task || tasks <= OPEN)
                    && (!standing.is_own_work || own <= OF_OWN_WORK)
            });
            let line = |(standing, note): &PlacedNote<'_>| fragment(standing.section, standing.rank, note);
            fragments.extend(chosen.into_iter().map(line));
        }
        if is_of_base {
            fragments.extend(self.of_base(request, notes));
        }
        fragments
    }
}

impl NotesSource {
    /// Offers the notes of a knowledge base query.
    fn of_base(&self, request: &ContextRequest, notes: &[Arc<Learning>]) -> Vec<Fragment> {
        let because = |section| match section {
            Section::Knowledge if request.query.is_some() => InclusionReason::Query,
            Section::Knowledge => InclusionReason::Importance,
            _ => InclusionReason::Section,
        };
        let fragment = |(section, note, part): knowledge_base::KnowledgeLine<'_>| Fragment {
            text: text_with_key(note),
            parts: vec![part],
            because: because(section),
            ..fragment(section, part.value, note)
        };
        knowledge_base::choose(request, notes, self.beside_insights).into_iter().map(fragment).collect()
    }
}

#[async_trait]
impl ContextSource for NotesSource {
    fn layer(&self) -> Layer {
        Layer::Learnings
    }

    async fn fragments(&self, request: &ContextRequest) -> Result<Degraded<Vec<Fragment>>> {
        let filter = LearningFilter {
            user: request.user.clone(),
            agent: request.agent.clone(),
            ..LearningFilter::all()
        };
        let rows = self.store.active(&filter, request.as_of).await?;
        let rows = in_conversation(&rows, &request.session);
        let own = self.owner.instruction_authors(request, &rows).await;
        let mut chosen = match &self.preferences {
            Some(preferences) => preferences.choose(request, &rows, &own).await,
            None => Degraded::whole(Vec::new()),
        };
        let mut fragments = self.offer_unprompted(request, &rows, &own);
        fragments.append(&mut chosen.value);
        Ok(Degraded { value: fragments, gaps: chosen.gaps })
    }
}

/// A note with its placement.
type PlacedNote<'n> = (Placement, &'n Learning);

/// Placement of the rows that need no question, by section, best first; independent of the request.
#[derive(Debug)]
struct Placements {
    of: RowIdentity<Learning>,
    all: Vec<Placement>,
    /// Whether the limit of active learnings is never exceeded.
    do_all_hold: bool,
}

impl Placements {
    fn new(rows: &[Arc<Learning>], decay: Decay) -> Self {
        let may_be_shown = |note: &Learning| {
            note.level > Level::External || task::is_observed(note) || task_evaluation::is_own_work(note)
        };
        let shown = rows.iter().enumerate().filter(|(_, note)| may_be_shown(note));
        let place = |(row, note): (usize, &Arc<Learning>)| {
            let section = section(note)?;
            let is_task = section == Section::State && is_filed(note, task::TASKS);
            let is_own_work = task_evaluation::is_own_work(note);
            let is_first = is_pinned(note) || section == Section::State && !is_task && !is_own_work;
            Some(Placement {
                section,
                rank: base_rank(note) + if is_first { 1.0 } else { 0.0 },
                created_at: note.created_at,
                id: note.id,
                row,
                taught_in: note.signal.is_some().then(|| hour(note.occurred_at)),
                is_of_a_tool: note.kind == LearningKind::Tool,
                is_task,
                is_own_work,
                is_moved: false,
            })
        };
        let mut all: Vec<Placement> = shown.filter_map(place).collect();
        all.sort_unstable_by(|a, b| a.section.cmp(&b.section).then_with(|| a.cmp_in_section(b)));
        Self { of: RowIdentity::new(rows), all, do_all_hold: decay.do_all_hold(rows) }
    }
}

/// Drops rows that cannot be among the best of their section, if rows come by section, best first.
struct BestFirst<F> {
    most: F,
    section: Option<Section>,
    taken: usize,
}

impl<F: Fn(Section) -> usize> BestFirst<F> {
    fn may_be_offered(&mut self, standing: &Placement) -> bool {
        if standing.is_moved {
            return true;
        }
        if self.section != Some(standing.section) {
            (self.section, self.taken) = (Some(standing.section), 0);
        }
        self.taken += 1;
        self.taken <= (self.most)(standing.section)
    }
}

/// The placement of a row.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked by its name, and they exclude nothing")]
struct Placement {
    section: Section,
    /// See [`seen_by`](Self::seen_by).
    rank: f32,
    created_at: Timestamp,
    id: LearningId,
    /// Its index among the rows.
    row: usize,
    /// The hour in which a session taught it, if any.
    taught_in: Option<i64>,
    is_of_a_tool: bool,
    is_task: bool,
    is_own_work: bool,
    /// Whether its placement differs for this request.
    is_moved: bool,
}

impl Placement {
    /// Returns the placement for a request: pinned notes, and those about the requested tool, first, then by importance ×
    /// confidence; recent learnings of the session itself are kept apart.
    fn seen_by(self, request: &ContextRequest, note: &Learning) -> Self {
        let is_fresh = self.taught_in == Some(hour(request.as_of.world)) && note.session == request.session;
        let is_meant = is_of_tool(note, request) && !is_pinned(note);
        Self {
            section: if is_fresh { Section::Learnings } else { self.section },
            rank: if is_meant { self.rank + 1.0 } else { self.rank },
            is_moved: is_fresh || is_meant,
            ..self
        }
    }

    /// Order: best first, the newest first among equals; no two are equal.
    fn cmp_in_section(&self, other: &Self) -> Ordering {
        let by_age = (Reverse(self.created_at), self.id).cmp(&(Reverse(other.created_at), other.id));
        other.rank.total_cmp(&self.rank).then(by_age)
    }
}

/// Keeps the first `most` of a strict order; the rest is not sorted.
pub(crate) fn best<T>(all: &mut Vec<T>, most: usize, order: impl Fn(&T, &T) -> Ordering) {
    if most > 0 && most < all.len() {
        all.select_nth_unstable_by(most - 1, &order);
    }
    all.truncate(most);
    all.sort_unstable_by(order);
}

/// Returns how many lines of this many tokens fit a budget, at least one.
pub(crate) fn lines_of(budget: TokenCount, line: u32) -> usize {
    (budget.0 / line).max(1) as usize
}

/// Returns how many preferences may be offered; a session that omits records already shown gets the next ones.
fn preferences_of(request: &ContextRequest) -> usize {
    let all = request.injected == RepeatPolicy::Skip || request.asks_for(Section::Insights);
    let room = request.budget.0.min(PREFERENCE_TOKENS.max(request.budget.0 / PREFERENCES_ONE_IN));
    if all { usize::MAX } else { lines_of(TokenCount(room), LINE_TOKENS) }
}

/// Whether a session starts and its host has room for unsolicited lines.
fn begins(request: &ContextRequest) -> bool {
    request.query.is_none() && request.lines.is_none()
}

/// Whether a note is about the requested tool.
fn is_of_tool(note: &Learning, request: &ContextRequest) -> bool {
    request.tool.is_some() && note.tool == request.tool
}

/// Whether a note may be offered, if it is a tool warning: a session start has no question, and a host that wants few lines
/// has no room for warnings.
fn may_warn(note: &Learning, request: &ContextRequest) -> bool {
    let is_asked = request.query.is_some() || is_of_tool(note, request);
    note.kind != LearningKind::Tool || is_asked || begins(request) && note.confidence.get() >= WARNED
}

fn hour(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(FRESH)
}

/// Returns the section of a note that needs no question.
fn section(note: &Learning) -> Option<Section> {
    match note.kind {
        _ if is_pinned(note) => Some(Section::Identity),
        _ if IDENTITY.iter().any(|parent| is_filed(note, parent)) => Some(Section::Identity),
        LearningKind::Note if [STATE, task::TASKS].iter().any(|parent| is_filed(note, parent)) => {
            Some(Section::State)
        }
        LearningKind::Preference | LearningKind::AntiPattern => Some(Section::Preferences),
        LearningKind::Tool => Some(Section::Learnings),
        LearningKind::Note if task_evaluation::is_own_work(note) => Some(Section::State),
        _ if note.importance.get() >= WORTHY || is_about_user(note) => Some(Section::Knowledge),
        _ => None,
    }
}

/// Whether a note is filed in a category or below it.
pub(crate) fn is_filed(note: &Learning, parent: &str) -> bool {
    below(note.category.as_str(), parent).is_some()
}

/// Returns the part below a path, empty for the path itself; `None` for another path.
fn below<'p>(path: &'p str, parent: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(parent)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Whether a person pinned it, so that it is in every context.
pub fn is_pinned(note: &Learning) -> bool {
    note.level == Level::User && note.tags.iter().any(|tag| tag.as_str() == PINNED)
}

/// Importance × confidence, which do not change with time.
fn base_rank(note: &Learning) -> f32 {
    note.importance.get() * note.confidence.get()
}

/// Returns the remark to render with a note.
pub(crate) fn remark(note: &Learning) -> Option<Remark> {
    (note.consent == Consent::Required).then_some(Remark::AskFirst)
}

/// Returns the time of a note: when it was said, else stored.
pub(crate) fn said_at(note: &Learning) -> Timestamp {
    if note.signal.is_some() { note.occurred_at } else { note.created_at }
}

/// Returns the line of an open task, or of a part of the agent's state, with its name.
fn state_line(note: &Learning) -> String {
    let key = note.key.as_ref();
    let name = if is_filed(note, task::TASKS) {
        key.and_then(task::name).map_or_else(|| "task".to_owned(), |id| format!("task {id}"))
    } else {
        let path =
            key.map_or_else(|| below(note.category.as_str(), STATE).unwrap_or_default(), NoteKey::as_str);
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    if name.is_empty() { note.content.clone() } else { format!("{name}: {}", note.content) }
}

/// Returns the text of a note after its key, if it has one. Source: `PicoBot`, key and content on one line.
fn text_with_key(note: &Learning) -> String {
    note.key.as_ref().map_or_else(|| note.content.clone(), |key| format!("{key}: {}", note.content))
}

fn fragment(section: Section, rank: f32, note: &Learning) -> Fragment {
    let importance = note.importance.get();
    let part = ScorePart {
        name: "importance",
        raw: importance,
        normalized: importance,
        weight: note.confidence.get(),
        value: base_rank(note),
    };
    Fragment {
        section,
        record: RecordRef::Learning(note.id),
        producer: Some(note.producer.clone()),
        sources: note.sources.clone(),
        text: match section {
            Section::State if task_evaluation::is_own_work(note) => task_evaluation::line(note),
            Section::State => state_line(note),
            _ => note.content.clone(),
        },
        label: Label {
            level: note.level,
            at: said_at(note),
            zone: Zone::utc(),
            speaker: note.speaker.clone(),
            space: None,
            remark: remark(note),
        },
        trust: note.trust,
        importance: note.importance,
        score: Score::new(rank),
        parts: vec![part],
        because: match section {
            Section::Identity if is_pinned(note) => InclusionReason::Pinned,
            Section::Preferences if note.basis == Basis::Stated => InclusionReason::ExplicitPreference,
            Section::Knowledge => InclusionReason::Importance,
            _ => InclusionReason::Section,
        },
        withheld: None,
    }
}
