//! The closed kinds of feedback.

/// The act of a piece of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FeedbackAct {
    /// Something is wrong or unwanted, without a correction.
    Reject,
    /// Correction: what is right instead.
    Repair,
    /// How the assistant should act from now on.
    Directive,
    /// A preference about the assistant's output.
    Preference,
    /// A repetition of earlier feedback in the session, in addition to the repeated act.
    Repeat,
    /// Praise.
    Praise,
    /// The user drops the task, or does it without the assistant.
    GiveUp,
}

impl FeedbackAct {
    /// Every act, in declaration order.
    pub const ALL: [Self; 7] = [
        Self::Reject,
        Self::Repair,
        Self::Directive,
        Self::Preference,
        Self::Repeat,
        Self::Praise,
        Self::GiveUp,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::Repair => "repair",
            Self::Directive => "directive",
            Self::Preference => "preference",
            Self::Repeat => "repeat",
            Self::Praise => "praise",
            Self::GiveUp => "give_up",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.as_str() == name)
    }

    /// Whether it is a correction: the assistant was wrong.
    pub fn is_correction(self) -> bool {
        matches!(self, Self::Reject | Self::Repair)
    }
}

/// The aspect of the target that feedback concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Aspect {
    /// Length.
    Length,
    /// Format.
    Format,
    /// Tone.
    Tone,
    /// Language.
    Language,
    /// Level of detail.
    Detail,
    /// Emoji.
    Emoji,
    /// Openings, closings and forms of address.
    Greeting,
    /// Sources and links.
    Citation,
    /// Asking for confirmation.
    Confirmation,
    /// Time and order.
    Timing,
    /// The tool.
    Tool,
    /// Code style.
    CodeStyle,
    /// Naming.
    Naming,
    /// None of these.
    Other,
}

impl Aspect {
    /// Every aspect, in declaration order.
    pub const ALL: [Self; 14] = [
        Self::Length,
        Self::Format,
        Self::Tone,
        Self::Language,
        Self::Detail,
        Self::Emoji,
        Self::Greeting,
        Self::Citation,
        Self::Confirmation,
        Self::Timing,
        Self::Tool,
        Self::CodeStyle,
        Self::Naming,
        Self::Other,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Format => "format",
            Self::Tone => "tone",
            Self::Language => "language",
            Self::Detail => "detail",
            Self::Emoji => "emoji",
            Self::Greeting => "greeting",
            Self::Citation => "citation",
            Self::Confirmation => "confirmation",
            Self::Timing => "timing",
            Self::Tool => "tool",
            Self::CodeStyle => "code_style",
            Self::Naming => "naming",
            Self::Other => "other",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|aspect| aspect.as_str() == name)
    }
}

/// The irritation of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Irritation {
    /// In passing.
    Casual,
    /// Pushback.
    Mild,
    /// A repeated complaint, shouting or swearing.
    Very,
}

/// Weight of a casual signal. Source: thresholds of one very irritated, two mild or three casual signals, as one sum.
const CASUAL_WEIGHT: f32 = 1.0;
/// Weight of a mild signal. Source: as [`CASUAL_WEIGHT`].
const MILD_WEIGHT: f32 = 1.5;
/// Weight of a very irritated signal. Source: as [`CASUAL_WEIGHT`].
const VERY_WEIGHT: f32 = 3.0;

impl Irritation {
    /// Returns the weight of one signal; a sum of 3 from distinct messages is enough to learn from.
    pub fn weight(self) -> f32 {
        match self {
            Self::Casual => CASUAL_WEIGHT,
            Self::Mild => MILD_WEIGHT,
            Self::Very => VERY_WEIGHT,
        }
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Casual => "casual",
            Self::Mild => "mild",
            Self::Very => "very",
        }
    }
}

/// The polarity of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Polarity {
    /// Do it.
    Do,
    /// Avoid it.
    DoNot,
}
