//! The closed kinds of feedback.

/// What a user does by saying something about the assistant's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FeedbackAct {
    /// Says that it is wrong or not wanted, and not what is right.
    Reject,
    /// Says what is right instead.
    Repair,
    /// Says how the assistant shall act from now on.
    Directive,
    /// Says how the user likes what the assistant makes.
    Preference,
    /// Says the same as earlier feedback of the session; stands beside the act that it repeats.
    Repeat,
    /// Says that it is right.
    Praise,
    /// Drops the task, or does it without the assistant.
    GiveUp,
}

impl FeedbackAct {
    /// Every act, in the order of their declaration.
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

    /// Says whether it is a correction: the assistant was wrong.
    pub fn is_correction(self) -> bool {
        matches!(self, Self::Reject | Self::Repair)
    }
}

/// Which side of its target feedback is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Aspect {
    /// How long.
    Length,
    /// In which shape.
    Format,
    /// In which manner.
    Tone,
    /// In which language.
    Language,
    /// How deep.
    Detail,
    /// Pictures in the text.
    Emoji,
    /// How it opens and closes, and how people are addressed.
    Greeting,
    /// Sources and links.
    Citation,
    /// Whether to ask first.
    Confirmation,
    /// When, and in which order.
    Timing,
    /// With which tool.
    Tool,
    /// How code is written.
    CodeStyle,
    /// What things are called.
    Naming,
    /// None of these.
    Other,
}

impl Aspect {
    /// Every aspect, in the order of their declaration.
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

/// How much a user is put out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Irritation {
    /// Says it in passing.
    Casual,
    /// Pushes back.
    Mild,
    /// Repeats the complaint, shouts or swears.
    Very,
}

/// Weight of a casual signal. Source: thresholds of one very irritated, two mild or three casual signals, as one sum.
const CASUAL_WEIGHT: f32 = 1.0;
/// Weight of a mild signal. Source: as [`CASUAL_WEIGHT`].
const MILD_WEIGHT: f32 = 1.5;
/// Weight of a very irritated signal. Source: as [`CASUAL_WEIGHT`].
const VERY_WEIGHT: f32 = 3.0;

impl Irritation {
    /// Returns what one signal weighs; a sum of 3 from distinct messages is enough to learn from.
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

/// Whether what is said is to be done or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Polarity {
    /// To be done.
    Do,
    /// To be left.
    DoNot,
}
