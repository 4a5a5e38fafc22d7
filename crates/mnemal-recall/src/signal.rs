//! Ranking signals and their weights.

use mnemal_core::{Error, Result};

/// Largest weight. Source: own choice; sums of such weights stay accurate enough.
const MOST: f32 = 1_000.0;

/// Boost of an arm over its shipped weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boost {
    /// No change.
    #[default]
    None,
    /// Twice the weight.
    Low,
    /// Four times the weight.
    Medium,
    /// Seven times the weight.
    High,
}

impl Boost {
    /// Returns the factor for the arm's weights. Source: hindsight, `recall_boost.py`.
    pub fn factor(self) -> f32 {
        match self {
            Self::None => 1.0,
            Self::Low => 2.0,
            Self::Medium => 4.0,
            Self::High => 7.0,
        }
    }
}

/// Boosts of the arms for one request; none by default.
///
/// The factor applies to all weights of the arm; signals of the turn itself and its speaker are not boosted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boosts {
    /// Lexical: exact names, codes, quotations.
    pub words: Boost,
    /// Vectors: similar meaning.
    pub vectors: Boost,
    /// Graph facts.
    pub graph: Boost,
    /// Times that the question names.
    pub times: Boost,
}

impl Boosts {
    fn of(self, signal: &Signal) -> Boost {
        match signal.arm {
            Arm::Lexical => self.words,
            Arm::Vector => self.vectors,
            Arm::Graph => self.graph,
            Arm::Turn if signal.name == TABLE[DATE].name => self.times,
            Arm::Turn => Boost::None,
        }
    }
}

/// The arm that a signal depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// Lexical search.
    Lexical,
    /// Vector search.
    Vector,
    /// Graph.
    Graph,
    /// The turn itself and its speaker; needs no arm.
    Turn,
}

/// Normalization of a raw value to 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Divided by the largest value among the candidates.
    Largest,
    /// Already in range.
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
pub(crate) const SIGNALS: usize = 22;

/// Index of `words` in the table.
pub(crate) const WORDS: usize = 0;
/// Index of `nearness` in the table.
pub(crate) const NEARNESS: usize = 5;
/// Index of `form` in the table; it counts in proportion to the topical relevance of its turn.
pub(crate) const FORM: usize = 11;
/// Index of `denial` in the table.
pub(crate) const DENIAL: usize = 13;
/// Index of `date` in the table.
pub(crate) const DATE: usize = 14;
/// Index of `session_best` in the table; it is computed from the other signals.
pub(crate) const SESSION_BEST: usize = 16;
/// Index of `contradiction` in the table; it is computed from the other signals.
pub(crate) const CONTRADICTION: usize = 17;
/// Index of `fact_support` in the table; the graph is queried for the best candidates only.
pub(crate) const FACT_SUPPORT: usize = 18;
/// Index of `kind` in the table; as `fact_support`.
pub(crate) const KIND: usize = 19;

/// The score of a candidate is Σ weight · value / Σ weight, over the signals whose arm ran.
///
/// | signal | value |
/// |---|---|
/// | `words` | BM25 of the turn, smoothed with its neighbors |
/// | `session` | BM25 of its session as one text |
/// | `coverage` | idf share of the question in the turn and two messages per side, no speaker names; 0 if it asks for a number |
/// | `names` | share of the idf of the question's names in the turn itself, without speaker names |
/// | `reply` | BM25 of the previous message, if that is a different question and both are a person's |
/// | `nearness` | cosine, 0 below 0 |
/// | `speaker` | its speaker is named in the question; less for a turn of few words |
/// | `self` | the speaker is named, and uses the first person |
/// | `brevity` | 1 for a person's turn; falls with the logarithm of the length of a machine's turn; 0 for a message |
/// | `asked` | the question asks for the assistant's words, and these are |
/// | `summary` | the question asks for a summary, and the turn is a machine's |
/// | `form` | mean of `words` and `nearness` of a person's turn, if it holds a requested time, number or name |
/// | `wish` | `coverage`, if the question asks for help and a person states a lasting preference |
/// | `denial` | a yes-or-no question, and a person denies something |
/// | `date` | the question names a time, and the event happened then, or close to it |
/// | `session_start` | it is the first message of its session |
/// | `session_best` | it is in the session of the best turn by all other signals |
/// | `contradiction` | a yes-or-no question, and a person's turn without a denial in the session of the best denial |
/// | `fact_support` | a fact with a requested predicate, about an entity in the question, rests on it |
/// | `kind` | a speaker whom the question names mentions an entity of the requested kind, per the graph |
/// | `fullness` | the query is a message, and the turn is long: the logarithm of its length |
/// | `recent` | the query is a message, and the turn is recent: half a week after it was said |
///
/// Source: learned once, listwise (softmax over the candidates, cross-entropy on the evidence), on the development halves
/// of `LoCoMo` and BEAM-100K together, all roles indexed, then rounded: `cargo xtask bench signals --fit --data locomo
/// --data beam100k`. With one conversation left out at a time: `LoCoMo` R@10 .824, nDCG@10 .673 (n = 689); BEAM .661, .540
/// (n = 179). BM25 alone has .636, .504 and .406, .295 (ADR 19). `brevity`, `asked` and `summary` were fixed (`--hold
/// brevity=1.1 --hold asked=1.8 --hold summary=2.8`), because the total hides the difference between speakers: R@10 on BEAM
/// is .683 for people's words (n = 170) and .304 for the assistant's (n = 33).
///
/// `fullness` and `recent` were learned afterwards with all others fixed, on the development half of `RealMem`, the only
/// set with messages as queries. With one person left out at a time: R@10 .469 against .395, nDCG@10 .302 against .235 (n =
/// 611).
pub(crate) const TABLE: [Signal; SIGNALS] = [
    signal("words", Arm::Lexical, Scale::Largest, 3.35),
    signal("session", Arm::Lexical, Scale::Largest, 1.4),
    signal("coverage", Arm::Lexical, Scale::Bounded, 1.25),
    signal("names", Arm::Lexical, Scale::Bounded, 0.45),
    signal("reply", Arm::Lexical, Scale::Largest, 1.35),
    signal("nearness", Arm::Vector, Scale::Largest, 2.45),
    signal("speaker", Arm::Turn, Scale::Bounded, 2.35),
    signal("self", Arm::Turn, Scale::Bounded, 0.65),
    signal("brevity", Arm::Turn, Scale::Bounded, 1.1),
    signal("asked", Arm::Turn, Scale::Bounded, 1.8),
    signal("summary", Arm::Turn, Scale::Bounded, 2.8),
    signal("form", Arm::Turn, Scale::Bounded, 2.2),
    signal("wish", Arm::Lexical, Scale::Bounded, 4.1),
    signal("denial", Arm::Turn, Scale::Bounded, 1.95),
    signal("date", Arm::Turn, Scale::Bounded, 1.8),
    signal("session_start", Arm::Turn, Scale::Bounded, 0.6),
    signal("session_best", Arm::Turn, Scale::Bounded, 0.3),
    signal("contradiction", Arm::Turn, Scale::Bounded, 1.85),
    signal("fact_support", Arm::Graph, Scale::Bounded, 0.65),
    signal("kind", Arm::Graph, Scale::Bounded, 1.5),
    signal("fullness", Arm::Turn, Scale::Bounded, 3.5),
    signal("recent", Arm::Turn, Scale::Bounded, 1.9),
];

const fn signal(name: &'static str, arm: Arm, scale: Scale, weight: f32) -> Signal {
    Signal { name, arm, scale, weight }
}

/// Signal weights by name; the shipped table by default.
///
/// Only the ratio of the weights matters: a score is divided by their sum over the arms that ran. The table in `signal.rs`
/// defines each signal and the origin of its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights([f32; SIGNALS]);

impl Default for Weights {
    /// The shipped table.
    fn default() -> Self {
        Self(TABLE.map(|signal| signal.weight))
    }
}

impl Weights {
    /// Returns the signal names with their weights, in the order of the score parts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f32)> + '_ {
        TABLE.iter().zip(self.0).map(|(signal, weight)| (signal.name, weight))
    }

    /// Sets the weight of one signal; 0 switches it off.
    ///
    /// # Errors
    /// `Invalid` for an unknown signal name, and for a weight below 0, above 1,000 or not finite.
    pub fn with(mut self, name: &str, weight: f32) -> Result<Self> {
        if !(0.0..=MOST).contains(&weight) {
            return Err(Error::invalid(format!(
                "weight {weight} of signal {name} is not within 0 to {MOST}"
            )));
        }
        let place = TABLE.iter().position(|signal| signal.name == name);
        let own = place.and_then(|place| self.0.get_mut(place));
        *own.ok_or_else(|| Error::invalid(format!("there is no signal {name}")))? = weight;
        Ok(self)
    }

    /// Returns the weights with those of each boosted arm multiplied.
    #[must_use]
    pub fn boosted(mut self, boosts: Boosts) -> Self {
        for (weight, signal) in self.0.iter_mut().zip(&TABLE) {
            *weight *= boosts.of(signal).factor();
        }
        self
    }

    /// The weights of the signals whose arm ran, divided by their sum; all 0 if none of them counts.
    pub(crate) fn over(&self, ran: impl Fn(Arm) -> bool) -> [f32; SIGNALS] {
        let mut weights = self.0;
        for (weight, signal) in weights.iter_mut().zip(&TABLE) {
            if !ran(signal.arm) {
                *weight = 0.0;
            }
        }
        let total: f32 = weights.iter().sum();
        if total > 0.0 {
            for weight in &mut weights {
                *weight /= total;
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mnemal_core::ErrorKind;

    #[test]
    fn a_weight_is_set_by_name_and_nothing_else_is() {
        let weights = Weights::default().with("words", 0.0).unwrap();
        let of = |weights: &Weights, name: &str| weights.iter().find(|(known, _)| *known == name).unwrap().1;
        assert!(of(&weights, "words") == 0.0 && of(&Weights::default(), "words") > 0.0);
        for (name, weight) in [("word", 1.0), ("words", -1.0), ("words", f32::NAN), ("words", f32::INFINITY)]
        {
            let error = Weights::default().with(name, weight).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{name} {weight}");
        }
        for (place, name) in [
            (DENIAL, "denial"),
            (DATE, "date"),
            (SESSION_BEST, "session_best"),
            (CONTRADICTION, "contradiction"),
            (FACT_SUPPORT, "fact_support"),
            (KIND, "kind"),
        ] {
            assert_eq!(TABLE.get(place).map(|signal| signal.name), Some(name));
        }
    }

    #[test]
    fn a_boost_multiplies_the_weights_of_its_arm_alone() {
        let boosts =
            Boosts { words: Boost::Low, vectors: Boost::Medium, graph: Boost::High, ..Boosts::default() };
        let dated = Boosts { times: Boost::Low, ..Boosts::default() };
        let factor = |boosts: Boosts, name: &str| {
            let of = |weights: Weights| weights.iter().find(|(known, _)| *known == name).unwrap().1;
            of(Weights::default().boosted(boosts)) / of(Weights::default())
        };
        let names = ["words", "names", "nearness", "fact_support", "kind", "speaker", "date"];
        let factors = |boosts: Boosts| names.map(|name| factor(boosts, name).to_bits());
        assert_eq!(factors(boosts), [2.0_f32, 2.0, 4.0, 7.0, 7.0, 1.0, 1.0].map(f32::to_bits));
        assert_eq!(factors(dated), [1.0_f32, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0].map(f32::to_bits));
        assert_eq!(Weights::default().boosted(Boosts::default()), Weights::default());
    }

    #[test]
    fn weights_add_up_to_1_over_the_arms_that_ran() {
        let sum = |weights: [f32; SIGNALS]| weights.iter().sum::<f32>();
        let default = Weights::default();
        assert!((sum(default.over(|_| true)) - 1.0).abs() < 1e-6);
        assert!((sum(default.over(|arm| arm == Arm::Turn)) - 1.0).abs() < 1e-6);
        assert!(sum(default.over(|_| false)) == 0.0);
    }
}
