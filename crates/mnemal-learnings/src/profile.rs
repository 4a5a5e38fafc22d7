//! Preference profile: one page of sentences under headings.

use std::collections::BTreeMap;

use mnemal_core::{Learning, LearningKind};

use crate::read::{LEARNED, is_own};

/// Most learnings that the page is made from. Source: BA-34, at most 50.
const READ: usize = 50;
/// Most sentences on the page. Source: BA-34, 8 to 15 bullets.
const SHOWN: usize = 15;
/// Aspects of an answer that concern its style, by the extractor's names. Source: BA-34, communication preferences.
const COMMUNICATION: [&str; 8] =
    ["length", "format", "tone", "language", "detail", "emoji", "greeting", "citation"];
/// Default target of feedback without one, as in message extraction.
const ANY_ANSWER: &str = "answer";

/// The heading of a sentence, in page order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProfileHeading {
    /// The user's own life: tastes, needs, habits.
    Owner,
    /// Rules for the agent.
    Agent,
    /// Style of answers.
    Communication,
    /// Ways of working, and tools.
    Work,
}

impl ProfileHeading {
    /// Returns the heading's text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "Owner profile",
            Self::Agent => "Agent rules",
            Self::Communication => "Communication preferences",
            Self::Work => "Tool and work preferences",
        }
    }

    /// Returns the heading of a learning; `None` for one that is no preference.
    pub fn of(learning: &Learning) -> Option<Self> {
        match learning.kind {
            LearningKind::AntiPattern => return Some(Self::Agent),
            LearningKind::Preference => {}
            _ => return None,
        }
        let Some(key) = learning.key.as_ref().filter(|key| key.as_str().starts_with(LEARNED)) else {
            return Some(Self::Owner);
        };
        if is_own(key) {
            return Some(Self::Owner);
        }
        // After their prefix, keys contain the target of feedback, then its aspect.
        let mut path = key.as_str().split('/').skip(1);
        let (about, side) = (path.next().unwrap_or_default(), path.next().unwrap_or_default());
        if COMMUNICATION.contains(&side) {
            return Some(Self::Communication);
        }
        Some(if about == ANY_ANSWER { Self::Agent } else { Self::Work })
    }
}

/// Returns the profile: of the first 50 preferences and anti-patterns up to 15, evenly from all headings as far as they
/// have some, by heading and then in the given order, which is that of confidence × weight.
pub fn profile(best_first: &[Learning]) -> Vec<(ProfileHeading, &Learning)> {
    let mut of_heading = BTreeMap::<ProfileHeading, usize>::new();
    let headed = |(place, row)| {
        let heading = ProfileHeading::of(row)?;
        let rank = of_heading.entry(heading).or_default();
        *rank += 1;
        Some((*rank, place, heading, row))
    };
    let mut page: Vec<(usize, usize, ProfileHeading, &Learning)> =
        best_first.iter().enumerate().filter_map(headed).take(READ).collect();
    page.sort_by_key(|(rank, place, ..)| (*rank, *place));
    page.truncate(SHOWN);
    page.sort_by_key(|(_, place, heading, _)| (*heading, *place));
    page.into_iter().map(|(_, _, heading, row)| (heading, row)).collect()
}
