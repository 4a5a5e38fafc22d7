//! Fragment filter: turns fragments into candidates, and sets excluded ones apart with a reason.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use mnemal_core::{
    ContextRequest, Fragment, Level, Omitted, OmittedReason, Producer, RecordRef, Section, SeenRecords,
    TokenCounter, Within,
};
use mnemal_text::content_words;

use crate::candidate::{Candidate, block_of, is_secondary, is_stated};
use crate::pack::tells_recent;
use crate::{ContextSettings, LineCache};

/// Share of the best score that a recall hit needs if few lines are wanted.
///
/// Source: own choice; in the command line's test `fortnight` answers and their repetitions score above it.
const SHARE_OF_BEST: f32 = 0.7;
/// Content words that a recent turn needs if few lines are wanted: "you are welcome" says nothing about the state of a
/// conversation. Source: own choice.
const RECENT_WORDS: usize = 3;

/// Candidates, ordered by section and best first within a section, and the excluded fragments.
#[derive(Debug, Default)]
pub(crate) struct FilteredFragments {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) omitted: Vec<Omitted>,
}

/// The filter that decides whether a fragment may be shown.
pub(crate) struct FragmentFilter<'a> {
    pub(crate) request: &'a ContextRequest,
    pub(crate) seen: &'a SeenRecords,
    pub(crate) settings: &'a ContextSettings,
    pub(crate) counter: &'a dyn TokenCounter,
    pub(crate) nonce: &'a str,
    /// The line cache.
    pub(crate) line_cache: &'a LineCache,
}

impl FragmentFilter<'_> {
    /// Filters fragments; each record is returned once.
    pub(crate) fn filter(&self, fragments: Vec<Fragment>) -> FilteredFragments {
        let seen: HashSet<[u8; 16]> = self.seen.items.iter().map(|item| item.content_hash).collect();
        let mut filtered = FilteredFragments::default();
        let settings = (self.settings, self.settings.hash());
        let least = if self.request.lines.is_some() { least_score(&fragments) } else { 0.0 };
        let is_weak = |one: &Fragment| match one.section {
            _ if self.request.lines.is_none() => false,
            Section::Recall => one.score.get() < least || is_question(one),
            Section::Recent => content_words(&one.text) < RECENT_WORDS || is_question(one),
            _ => false,
        };
        // Fragments are large: their order is computed before any is moved.
        let mut kept: Vec<(usize, (usize, &Fragment))> =
            once_each(&fragments).into_iter().enumerate().collect();
        kept.sort_by(|(_, (_, a)), (_, (_, b))| {
            let by_score = b.score.get().total_cmp(&a.score.get());
            a.section.cmp(&b.section).then(by_score).then(is_secondary(a).cmp(&is_secondary(b)))
        });
        let order: Vec<(usize, usize)> =
            kept.into_iter().map(|(offered, (number, _))| (offered, number)).collect();
        let mut fragments: Vec<Option<Fragment>> = fragments.into_iter().map(Some).collect();
        filtered.candidates.reserve(order.len());
        for (offered, number) in order {
            let Some(fragment) = fragments.get_mut(number).and_then(Option::take) else { continue };
            let weak = is_weak(&fragment).then_some(OmittedReason::BelowFloor);
            if let Some(reason) = self.refusal(&fragment).or(weak) {
                filtered.omitted.push(omitted(&fragment, reason));
                continue;
            }
            let rendered = self.line_cache.line(&fragment, settings, self.counter);
            let block = block_of(fragment.section, self.request.query.as_deref());
            let candidate = Candidate::new(fragment, rendered, offered, block);
            let refusal = if candidate.rendered_line.contains_nonce(self.nonce) {
                Some(OmittedReason::Quarantined)
            } else if candidate.rendered_line.is_blank {
                Some(OmittedReason::BelowFloor)
            } else if seen.contains(&candidate.rendered_line.hash) {
                Some(OmittedReason::AlreadyInjected)
            } else {
                None
            };
            match refusal {
                Some(reason) => filtered.omitted.push(omitted(&candidate.fragment, reason)),
                None => filtered.candidates.push(candidate),
            }
        }
        filtered
    }

    fn refusal(&self, fragment: &Fragment) -> Option<OmittedReason> {
        let always = fragment.section != Section::Preferences || self.settings.always_include_preferences;
        let wanted = match &self.request.sections {
            Within::Only(sections) => sections.contains(&fragment.section),
            Within::All => always,
        };
        if fragment.withheld.is_some() {
            fragment.withheld
        } else if !wanted || fragment.section == Section::Recent && !tells_recent(self.request) {
            Some(OmittedReason::Scope)
        } else if fragment.sources.is_empty() || is_above_its_level(fragment) {
            Some(OmittedReason::Quarantined)
        } else {
            None
        }
    }
}

/// Returns the least score of a recall hit if few lines are wanted: there the text around an answer is not useful.
///
/// The best hit counts even if the session was shown it already, because a weaker one is still no better answer; an earlier
/// question does not count.
fn least_score(fragments: &[Fragment]) -> f32 {
    let answers =
        |one: &&Fragment| one.section == Section::Recall && one.withheld.is_none() && !is_question(one);
    fragments.iter().filter(answers).map(|one| one.score.get()).fold(0.0, f32::max) * SHARE_OF_BEST
}

/// Whether a turn is an earlier question, which resembles the query and answers nothing.
fn is_question(one: &Fragment) -> bool {
    matches!(one.record, RecordRef::Event(_)) && one.text.trim_end().ends_with(['?', '？'])
}

/// Returns the omission of a fragment.
pub(crate) fn omitted(fragment: &Fragment, reason: OmittedReason) -> Omitted {
    Omitted { record: fragment.record, section: fragment.section, reason, score: fragment.score.get() }
}

/// Whether an external fragment is in a section that must not hold external text, such as identity and preferences. Text of
/// ingested documents is knowledge, among the external lines.
fn is_above_its_level(fragment: &Fragment) -> bool {
    let is_guarded =
        matches!(fragment.section, Section::Identity | Section::Preferences | Section::Learnings);
    is_guarded && fragment.label.level == Level::External
}

/// Keeps each record once, by priority: shown over withheld, its own section over recall, recall over recent, then the
/// better score.
fn once_each(fragments: &[Fragment]) -> Vec<(usize, &Fragment)> {
    let rank = |fragment: &Fragment| {
        let section = match fragment.section {
            Section::Recall => (1, Section::Identity),
            Section::Recent | Section::Learnings => (2, fragment.section),
            section => (0, section),
        };
        (fragment.withheld.is_some(), section)
    };
    // A sentence about a record is a separate candidate, by producer. A preference is offered twice: always, and for the
    // question, where it may be one of very many.
    let mut places: HashMap<(RecordRef, Option<&Producer>, bool), usize> =
        HashMap::with_capacity(fragments.len());
    let mut kept: Vec<(usize, &Fragment)> = Vec::with_capacity(fragments.len());
    for (number, fragment) in fragments.iter().enumerate() {
        let key = (fragment.record, fragment.producer.as_ref(), is_stated(fragment));
        let place = *places.entry(key).or_insert(kept.len());
        match kept.get_mut(place) {
            None => kept.push((number, fragment)),
            Some((known_number, known)) => {
                let by_score = known.score.get().total_cmp(&fragment.score.get());
                if rank(fragment).cmp(&rank(known)).then(by_score).is_lt() {
                    (*known_number, *known) = (number, fragment);
                }
            }
        }
    }
    kept
}
