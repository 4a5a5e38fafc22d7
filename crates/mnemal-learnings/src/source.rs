//! Offers notes for a context: who somebody is, how he wants things, and what always matters.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Basis, Because, Category, ContextRequest, ContextSource, Degraded, Embedder, Fragment, Label, Layer,
    Learning, LearningFilter, LearningKind, LearningStore, Leave, Level, RecordRef, Result, Score, ScorePart,
    Section, Slot, Timestamp, Zone,
};

use crate::decay::Decay;
use crate::preferences::PreferenceSource;

/// Importance from which a note stands in knowledge without being asked for. Source: RB-12, importance of at least 0.7.
const WORTHY: f32 = 0.7;
/// Most notes that are offered without being asked for because they matter. Source: RB-12.
const UNASKED: usize = 5;
/// Most notes offered for one section. Source: NB-54, at most 200 active learnings.
const OFFERED: usize = 200;
/// How sure a warning of a tool must be where a conversation begins, 0 to 1, and most of them. Source: BA-38.
const WARNED: (f32, usize) = (0.6, 5);
/// The tag of what a person has pinned. Source: AD-31.
pub const PINNED: &str = "pinned";
/// Categories whose notes say who somebody is. Source: RB-04, the conventional categories.
const IDENTITY: [&str; 2] = ["identity", "user-preferences/identity"];

/// How long what a conversation taught stands apart in its own contexts: until the next full hour, in microseconds. Source: own
/// choice; `LoCoMo`, 500 turns, whose users tell something lasting in every 24th turn.
const FRESH: i64 = 3_600_000_000;

/// Offers notes and learnings that need no question; the others are found by recall, through their events.
///
/// What only matters is offered where a conversation begins, without a question, and not to a host that wants few lines.
///
/// Evidence of others is never offered here. Within a section they stand by importance and confidence, the newest first among
/// equals; what fades loses its place when there are too many, and never moves within the section, so that a text that is kept in
/// a cache stays as it is. For the same reason what a conversation itself taught within this hour is offered to it with the
/// learnings, in the part that changes anyway; other conversations have it in its place at once.
#[derive(Clone, Debug)]
pub struct NotesSource {
    store: Arc<dyn LearningStore>,
    decay: Decay,
    preferences: Option<PreferenceSource>,
}

impl NotesSource {
    /// Offers these rows.
    pub fn new(store: Arc<dyn LearningStore>) -> Self {
        Self { store, decay: Decay::default(), preferences: None }
    }

    /// Says how they fade, and how many hold.
    #[must_use]
    pub fn with_decay(self, decay: Decay) -> Self {
        Self { decay, ..self }
    }

    /// Offers what a [`PreferenceSource`] of the same rows would, too, so that they are read once for both.
    #[must_use]
    pub fn with_preferences(self, embedder: Slot<dyn Embedder>, at_once: usize) -> Self {
        let preferences = PreferenceSource::new(Arc::clone(&self.store), embedder, at_once);
        Self { preferences: Some(preferences), ..self }
    }

    /// Offers those of some rows that need no question.
    fn unasked(&self, request: &ContextRequest, notes: &[Arc<Learning>]) -> Vec<Fragment> {
        let too_many = self.decay.too_many(notes, request.as_of);
        let identity = IDENTITY.map(Category::new);
        let identity: Vec<&Category> = identity.iter().filter_map(|parent| parent.as_ref().ok()).collect();
        let mut placed: Vec<Placed<'_>> = notes
            .iter()
            .map(AsRef::as_ref)
            .filter(|note| note.level > Level::External && !too_many.contains(&note.id))
            .filter_map(|note| Some((place(note, request, &identity)?, rank(note, request), note)))
            .filter(|(.., note)| may_warn(note, request))
            .filter(|(section, ..)| request.sections.only().is_none_or(|wanted| wanted.contains(section)))
            .filter(|(section, ..)| *section != Section::Knowledge || begins(request))
            .collect();
        placed.sort_by_key(|(section, ..)| *section);
        let best_first = |(_, rank_a, a): &Placed<'_>, (_, rank_b, b): &Placed<'_>| {
            let by_age = (Reverse(a.created_at), a.id).cmp(&(Reverse(b.created_at), b.id));
            rank_b.total_cmp(rank_a).then(by_age)
        };
        let mut fragments: Vec<Fragment> = Vec::new();
        for of_section in placed.chunk_by(|(a, ..), (b, ..)| a == b) {
            let is_unasked = of_section.first().is_some_and(|(section, ..)| *section == Section::Knowledge);
            let mut chosen = of_section.to_vec();
            best(&mut chosen, if is_unasked { UNASKED } else { OFFERED }, best_first);
            let mut warnings = 0;
            chosen.retain(|(.., note)| {
                let is_warning = note.kind == LearningKind::Tool && !is_of_tool(note, request);
                warnings += usize::from(is_warning);
                !is_warning || request.query.is_some() || warnings <= WARNED.1
            });
            fragments.extend(chosen.into_iter().map(|(section, rank, note)| fragment(section, rank, note)));
        }
        fragments
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
        let mut chosen = match &self.preferences {
            Some(preferences) => preferences.chosen(request, rows.clone()).await,
            None => Degraded::whole(Vec::new()),
        };
        let mut fragments = self.unasked(request, &rows);
        fragments.append(&mut chosen.value);
        Ok(Degraded { value: fragments, gaps: chosen.gaps })
    }
}

/// A note with its section and what decides its place there.
type Placed<'n> = (Section, f32, &'n Learning);

/// Keeps the first `most` in an order in which no two are equal; the rest is not sorted.
pub(crate) fn best<T>(all: &mut Vec<T>, most: usize, order: impl Fn(&T, &T) -> Ordering) {
    if most > 0 && most < all.len() {
        all.select_nth_unstable_by(most - 1, &order);
    }
    all.truncate(most);
    all.sort_unstable_by(order);
}

/// Whether a conversation begins whose host has room for what nobody asked for.
fn begins(request: &ContextRequest) -> bool {
    request.query.is_none() && request.lines.is_none()
}

/// Whether a note is about the tool that is about to be used.
fn is_of_tool(note: &Learning, request: &ContextRequest) -> bool {
    request.tool.is_some() && note.tool == request.tool
}

/// Whether a note may be offered if it is a warning of a tool: nobody asks where a conversation begins, and a host that wants few
/// lines then has no room for any.
fn may_warn(note: &Learning, request: &ContextRequest) -> bool {
    let is_asked = request.query.is_some() || is_of_tool(note, request);
    note.kind != LearningKind::Tool || is_asked || begins(request) && note.confidence.get() >= WARNED.0
}

/// Returns where a note stands in a context of a conversation.
fn place(note: &Learning, request: &ContextRequest, identity: &[&Category]) -> Option<Section> {
    let hour = |at: Timestamp| at.as_micros().div_euclid(FRESH);
    let is_own = note.signal.is_some() && note.session == request.session;
    let is_fresh = is_own && hour(note.occurred_at) == hour(request.as_of.world);
    section(note, identity).map(|section| if is_fresh { Section::Learnings } else { section })
}

/// Returns where a note stands without being asked for; `identity` are the categories that say who somebody is.
fn section(note: &Learning, identity: &[&Category]) -> Option<Section> {
    match note.kind {
        _ if is_pinned(note) => Some(Section::Identity),
        _ if identity.iter().any(|parent| note.category.is_within(parent)) => Some(Section::Identity),
        LearningKind::Preference | LearningKind::AntiPattern => Some(Section::Preferences),
        LearningKind::Tool => Some(Section::Learnings),
        _ if note.importance.get() >= WORTHY => Some(Section::Knowledge),
        _ => None,
    }
}

/// Whether a person has said that it must stand in every context.
pub fn is_pinned(note: &Learning) -> bool {
    note.level == Level::User && note.tags.iter().any(|tag| tag.as_str() == PINNED)
}

/// What stands first: what is pinned, or about the tool that is about to be used, then by importance × confidence.
fn rank(note: &Learning, request: &ContextRequest) -> f32 {
    standing(note) + if is_pinned(note) || is_of_tool(note, request) { 1.0 } else { 0.0 }
}

/// Importance × confidence, which do not change with time.
fn standing(note: &Learning) -> f32 {
    note.importance.get() * note.confidence.get()
}

/// Returns the line; what needs the user's leave is a question.
fn text(note: &Learning) -> String {
    match note.leave {
        Leave::Given => note.content.clone(),
        Leave::Asked => format!("{} (Ask the user first: may this be done?)", note.content),
    }
}

fn fragment(section: Section, rank: f32, note: &Learning) -> Fragment {
    let importance = note.importance.get();
    let part = ScorePart {
        name: "importance",
        raw: importance,
        normalised: importance,
        weight: note.confidence.get(),
        value: standing(note),
    };
    Fragment {
        section,
        record: RecordRef::Learning(note.id),
        producer: Some(note.producer.clone()),
        sources: note.sources.clone(),
        text: text(note),
        label: Label {
            level: note.level,
            at: if note.signal.is_some() { note.occurred_at } else { note.created_at },
            zone: Zone::utc(),
            speaker: note.speaker.clone(),
            space: None,
        },
        trust: note.trust,
        importance: note.importance,
        score: Score::new(rank),
        parts: vec![part],
        because: match section {
            Section::Identity if is_pinned(note) => Because::Pinned,
            Section::Preferences if note.basis == Basis::Told => Because::ExplicitPreference,
            Section::Knowledge => Because::Importance,
            _ => Because::Section,
        },
        withheld: None,
    }
}
