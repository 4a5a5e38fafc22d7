//! Offers notes for a context: who somebody is, how he wants things, and what always matters.

use std::cmp::Reverse;
use std::sync::Arc;

use async_trait::async_trait;
use mnemal_core::{
    Because, Category, ContextRequest, ContextSource, Degraded, Fragment, Label, Layer, Learning,
    LearningFilter, LearningKind, LearningStore, Level, RecordRef, Result, Score, ScorePart, Section, Zone,
};

/// Importance from which a note stands in knowledge without being asked for. Source: RB-12, importance of at least 0.7.
const WORTHY: f32 = 0.7;
/// Most notes offered for one section. Source: NB-54, at most 200 active learnings.
const OFFERED: usize = 200;
/// Categories whose notes say who somebody is. Source: RB-04, the conventional categories.
const IDENTITY: [&str; 2] = ["identity", "user-preferences/identity"];

/// Offers notes that need no question; the others are found by recall, through their events.
///
/// Evidence of others is never offered here. Within a section the notes stand by importance, the newest first among equals.
#[derive(Clone, Debug)]
pub struct NotesSource {
    store: Arc<dyn LearningStore>,
}

impl NotesSource {
    /// Offers these rows.
    pub fn new(store: Arc<dyn LearningStore>) -> Self {
        Self { store }
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
        let notes = self.store.active(&filter, request.as_of).await?;
        let mut placed: Vec<(Section, Learning)> = notes
            .into_iter()
            .filter(|note| note.level > Level::External)
            .filter_map(|note| Some((section(&note)?, note)))
            .filter(|(section, _)| request.sections.only().is_none_or(|wanted| wanted.contains(section)))
            .collect();
        placed.sort_by(|(section_a, a), (section_b, b)| {
            let by_importance = b.importance.get().total_cmp(&a.importance.get());
            let by_age = (Reverse(a.created_at), a.id).cmp(&(Reverse(b.created_at), b.id));
            section_a.cmp(section_b).then(by_importance).then(by_age)
        });
        let mut fragments: Vec<Fragment> = Vec::with_capacity(placed.len());
        for of_section in placed.chunk_by(|(a, _), (b, _)| a == b) {
            fragments.extend(of_section.iter().take(OFFERED).map(|(section, note)| fragment(*section, note)));
        }
        Ok(Degraded::whole(fragments))
    }
}

/// Returns where a note stands without being asked for.
fn section(note: &Learning) -> Option<Section> {
    let is_identity =
        |parent| Category::new(parent).is_ok_and(|parent: Category| note.category.is_within(&parent));
    match note.kind {
        _ if IDENTITY.into_iter().any(is_identity) => Some(Section::Identity),
        LearningKind::Preference => Some(Section::Preferences),
        _ if note.importance.get() >= WORTHY => Some(Section::Knowledge),
        _ => None,
    }
}

fn fragment(section: Section, note: &Learning) -> Fragment {
    let importance = note.importance.get();
    let part = ScorePart {
        name: "importance",
        raw: importance,
        normalised: importance,
        weight: 1.0,
        value: importance,
    };
    Fragment {
        section,
        record: RecordRef::Learning(note.id),
        producer: Some(note.producer.clone()),
        sources: note.sources.clone(),
        text: note.content.clone(),
        label: Label {
            level: note.level,
            at: note.created_at,
            zone: Zone::utc(),
            speaker: None,
            space: None,
        },
        trust: note.trust,
        importance: note.importance,
        score: Score::new(importance),
        parts: vec![part],
        because: match section {
            Section::Preferences => Because::ExplicitPreference,
            Section::Knowledge => Because::Importance,
            _ => Because::Section,
        },
        withheld: None,
    }
}
