//! Learning attributes: source, sentiment, and recommendation. Source: NB-12, the learning of nanobot.

use mnemal_core::{Basis, Learning, LearningKind, Stance};

use crate::read::LEARNED;

/// The source of a learning.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LearningOrigin {
    /// The user's feedback on work, and tastes.
    UserFeedback,
    /// Failed tool results.
    ToolErrors,
}

impl LearningOrigin {
    /// Returns the source of a learning; `None` for a stored note, and for an engine's conclusion.
    pub fn of(learning: &Learning) -> Option<Self> {
        match learning.kind {
            LearningKind::Tool => Some(Self::ToolErrors),
            _ => learning.signal.is_some().then_some(Self::UserFeedback),
        }
    }

    /// Returns the wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserFeedback => "user_feedback",
            Self::ToolErrors => "tool_error_pattern",
        }
    }
}

/// The sentiment of a learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sentiment {
    /// To be done, or liked.
    Positive,
    /// Information only.
    Neutral,
    /// To be avoided, failing, or concluded from complaints.
    Negative,
}

impl Sentiment {
    /// Returns the sentiment of a learning. Less of something, as in "shorter", is a wish and no complaint.
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

    /// Returns the wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Neutral => "neutral",
            Self::Negative => "negative",
        }
    }
}

/// Returns the recommended action, in the original words; `None` for a bare prohibition or plain information.
pub fn recommendation(learning: &Learning) -> Option<&str> {
    match learning.kind {
        LearningKind::AntiPattern => learning.pattern.as_ref()?.instead.as_deref(),
        _ => (Sentiment::of(learning) == Sentiment::Positive).then_some(&learning.content),
    }
}

/// Whether a learning is about an amount, which its key names after the subject.
fn is_of_amount(learning: &Learning) -> bool {
    let side = learning.key.as_ref().and_then(|key| key.as_str().strip_prefix(LEARNED)?.split('/').nth(1));
    side.is_some_and(|side| ["length", "detail"].contains(&side))
}
