//! The nine signals and their weights: the whole of what ranking believes.

/// Which arm must have run for a signal to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// Words.
    Lexical,
    /// Vectors.
    Vector,
    /// What a turn is like and who speaks; needs no arm.
    Turn,
}

/// How a raw value becomes one in 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Divided by the largest among the candidates.
    Largest,
    /// It lies there already.
    Bounded,
}

/// One signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) name: &'static str,
    pub(crate) arm: Arm,
    pub(crate) scale: Scale,
    pub(crate) weight: f32,
}

/// Number of signals.
pub(crate) const SIGNALS: usize = 9;

/// The score of a candidate is Σ weight · value / Σ weight, over the signals whose arm ran.
///
/// | signal | value |
/// |---|---|
/// | `words` | BM25 of the turn with its neighbours' share |
/// | `session` | BM25 of its conversation as one text |
/// | `coverage` | share of the question's idf that the turn and two messages on either side hold, names of speakers left out |
/// | `nearness` | cosine, 0 below 0 |
/// | `speaker` | its speaker is named in the question |
/// | `self` | he is, and speaks of himself |
/// | `brevity` | 1 for a person's turn; falls with the logarithm of the length of what a machine said |
/// | `asked` | the question asks for the assistant's words, and they are |
/// | `form` | it holds a time, a number or a name where the question asks for one |
///
/// Source: learnt once, listwise (softmax over a conversation's turns, cross-entropy on the evidence), on the development
/// halves of `LoCoMo` and BEAM-100K together, all roles indexed, then rounded.
/// With one conversation left out at a time: `LoCoMo` R@10 .798, nDCG@10 .643 (n = 689); BEAM .544, .470 (n = 179).
/// BM25 alone has .633, .494 and .411, .306.
/// `brevity` was learnt as 3.4 and lowered by hand, because the total hides whose words it finds. R@10 on BEAM of people's
/// words (n = 170) and of the assistant's (n = 33): .585 and .07 with 3.4, .584 and .26 with 1.75, .546 and .34 with 1.0.
pub(crate) const TABLE: [Signal; SIGNALS] = [
    signal("words", Arm::Lexical, Scale::Largest, 4.0),
    signal("session", Arm::Lexical, Scale::Largest, 1.8),
    signal("coverage", Arm::Lexical, Scale::Bounded, 1.75),
    signal("nearness", Arm::Vector, Scale::Largest, 3.25),
    signal("speaker", Arm::Turn, Scale::Bounded, 2.0),
    signal("self", Arm::Turn, Scale::Bounded, 1.2),
    signal("brevity", Arm::Turn, Scale::Bounded, 1.75),
    signal("asked", Arm::Turn, Scale::Bounded, 1.35),
    signal("form", Arm::Turn, Scale::Bounded, 1.15),
];

const fn signal(name: &'static str, arm: Arm, scale: Scale, weight: f32) -> Signal {
    Signal { name, arm, scale, weight }
}
