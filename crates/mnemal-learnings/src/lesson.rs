//! What taught a learning, whether it speaks for what it is about, and what to do because of it. Source: NB-12.

use mnemal_core::{Basis, Learning, LearningKind, Stance};

use crate::read::LEARNED;

/// What taught a learning.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LearntFrom {
    /// What the user says about work that was done for him, and of what he likes.
    UserFeedback,
    /// Results of a tool that say that it failed.
    ToolErrors,
}

impl LearntFrom {
    /// Returns what taught a learning; `None` for what was stored, and for what the engine concluded.
    pub fn of(learning: &Learning) -> Option<Self> {
        match learning.kind {
            LearningKind::Tool => Some(Self::ToolErrors),
            _ => learning.signal.is_some().then_some(Self::UserFeedback),
        }
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserFeedback => "user_feedback",
            Self::ToolErrors => "tool_error_pattern",
        }
    }
}

/// Whether a learning speaks for what it is about or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sentiment {
    /// It is to be done, or liked so.
    Positive,
    /// It is only to be known.
    Neutral,
    /// It is to be left, it fails, or it was concluded from complaints.
    Negative,
}

impl Sentiment {
    /// Returns what a learning speaks for. Less of something, as in "shorter", is a wish and no complaint.
    pub fn of(learning: &Learning) -> Self {
        let stance = learning.signal.as_ref().map(|signal| signal.stance);
        match (learning.kind, stance) {
            (LearningKind::AntiPattern | LearningKind::Tool, _) => Self::Negative,
            (LearningKind::Preference, Some(Stance::Keep)) => Self::Positive,
            (LearningKind::Preference, Some(Stance::Leave)) if !is_of_amount(learning) => Self::Negative,
            (LearningKind::Preference, _) if learning.basis == Basis::Inferred => Self::Negative,
            (LearningKind::Preference, _) => Self::Positive,
            _ => Self::Neutral,
        }
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Neutral => "neutral",
            Self::Negative => "negative",
        }
    }
}

/// Returns what to do because of a learning, in the words of who said it; `None` where it says only what not to do, or what to know.
pub fn recommendation(learning: &Learning) -> Option<&str> {
    match learning.kind {
        LearningKind::AntiPattern => learning.pattern.as_ref()?.instead.as_deref(),
        _ => (Sentiment::of(learning) == Sentiment::Positive).then_some(&learning.content),
    }
}

/// Whether a learning is about how much of something there is, which its key names behind what it is about.
fn is_of_amount(learning: &Learning) -> bool {
    let side = learning.key.as_ref().and_then(|key| key.as_str().strip_prefix(LEARNED)?.split('/').nth(1));
    side.is_some_and(|side| ["length", "detail"].contains(&side))
}
