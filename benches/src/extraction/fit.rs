//! Calibration of the claim rules: the table `measured` of a language's pack.
//!
//! A score is corrected in two steps. Each rule has a shift: the mean difference between its claims and their scores, shrunk
//! toward the mean of all rules by eight virtual claims. Its claims in plain words, at the start of a short clause, have their
//! own shift, shrunk toward the mean of all such claims, because they are more often right; a rule with few claims so behaves
//! like most rules.
//! Then a curve that never falls (pool adjacent violators) says what share of the claims of a shifted score was right.
//!
//! Turns that rules were written on count a quarter of unseen ones, because rules do better there than elsewhere;
//! the curve is made of unseen ones alone, each shifted without its own part.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mnemal_core::Confidence;
use mnemal_extract::RuleExtractor;

use super::gold::Label;

/// Claims like the mean that a rule must be told from. Source: measured on unseen claims, each shifted without its own part: 3
/// to 8 rank the best eighty of them alike, and a mean of the predicate between rule and all makes the ranking no better; of
/// these the most careful.
const CALM: f64 = 8.0;
/// Weight of a claim from turns that rules were written on. Source: measured, as above; .1 to .5 differ little.
const READ: f64 = 0.28;
/// Claims that a step of the curve needs. Source: own choice; a share of 25 has an error of about .08.
const STEP: usize = 25;

/// A claim that was judged.
#[derive(Clone, Debug)]
pub struct JudgedClaim {
    /// The rule that made it.
    pub rule: String,
    /// It is said in plain words.
    pub is_plain: bool,
    /// Its score.
    pub score: f64,
    /// 1 if a reader found the same, else 0.
    pub right: f64,
}

/// Sums of what claims were less what they were thought to be, with how many they count for.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    more: f64,
    n: f64,
}

impl Sum {
    fn add(&mut self, claim: &JudgedClaim, weight: f64) {
        self.more += weight * (claim.right - claim.score);
        self.n += weight;
    }

    /// The mean, drawn to another one.
    fn near(self, mean: f64) -> f64 {
        (self.more + CALM * mean) / (self.n + CALM)
    }
}

/// The sums of each rule and of all.
#[derive(Clone, Debug, Default)]
struct Sums {
    rules: BTreeMap<String, Sum>,
    all: Sum,
}

impl Sums {
    fn add(&mut self, claim: &JudgedClaim, weight: f64) {
        self.rules.entry(claim.rule.clone()).or_default().add(claim, weight);
        self.all.add(claim, weight);
    }

    fn shift(&self, rule: &str) -> f64 {
        self.rules.get(rule).copied().unwrap_or_default().near(self.mean())
    }

    /// The shift of a rule without claims.
    fn mean(&self) -> f64 {
        self.all.near(0.0)
    }

    /// Writes the shifts as a table of a pack: that of the language first, which is for rules without claims.
    fn write(&self, name: &str, text: &mut String) {
        let _ = writeln!(text, "\n[measured.{name}]");
        if let Some(language) = self.rules.keys().next().and_then(|rule| rule.split('.').next()) {
            let _ = writeln!(text, "\"{language}\" = {:.3}", self.mean());
        }
        for rule in self.rules.keys() {
            let _ = writeln!(text, "\"{rule}\" = {:.3}", self.shift(rule));
        }
    }
}

/// The sums of claims in any words, and of those in plain words.
#[derive(Clone, Debug, Default)]
struct Kinds {
    any: Sums,
    plain: Sums,
}

impl Kinds {
    fn of(&mut self, claim: &JudgedClaim) -> &mut Sums {
        if claim.is_plain { &mut self.plain } else { &mut self.any }
    }

    /// The score of a claim, shifted without its own part.
    fn score_without(&mut self, claim: &JudgedClaim) -> f64 {
        let sums = self.of(claim);
        sums.add(claim, -1.0);
        let shift = sums.shift(&claim.rule);
        sums.add(claim, 1.0);
        (claim.score + shift).clamp(0.0, 1.0)
    }
}

/// Returns the table as the text of a pack, from claims of turns that rules were written on, and of unseen ones.
pub fn table(read: &[JudgedClaim], unseen: &[JudgedClaim]) -> String {
    let mut kinds = Kinds::default();
    for claim in read {
        kinds.of(claim).add(claim, READ);
    }
    for claim in unseen {
        kinds.of(claim).add(claim, 1.0);
    }
    let mut points: Vec<(f64, f64)> =
        unseen.iter().map(|claim| (kinds.score_without(claim), claim.right)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let curve = rising(&points);
    let list = |values: &mut dyn Iterator<Item = f64>| -> String {
        values.map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::from(HEAD);
    let _ = writeln!(text, "score = [{}]", list(&mut curve.iter().map(|(score, _)| *score)));
    let _ = writeln!(text, "share = [{}]", list(&mut curve.iter().map(|(_, share)| *share)));
    kinds.any.write("shift", &mut text);
    kinds.plain.write("plain", &mut text);
    text
}

const HEAD: &str = "# Written by `cargo xtask bench extract --fit` from labelled turns: how far each rule is from its prior, and what
# share of the claims of a score is right. Not edited by hand.

[measured]
";

/// Pools neighbors until no mean is below the one before it and each pool is large enough.
fn rising(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    struct Pool {
        score: f64,
        right: f64,
        n: f64,
    }
    let mut pools: Vec<Pool> = Vec::new();
    for chunk in points.chunks(STEP) {
        let n = chunk.len() as f64;
        pools.push(Pool {
            score: chunk.iter().map(|point| point.0).sum(),
            right: chunk.iter().map(|point| point.1).sum(),
            n,
        });
        while let [.., before, last] = pools.as_slice()
            && before.right / before.n >= last.right / last.n
        {
            let (score, right, n) = (last.score, last.right, last.n);
            pools.pop();
            if let Some(pool) = pools.last_mut() {
                pool.score += score;
                pool.right += right;
                pool.n += n;
            }
        }
    }
    pools.iter().map(|pool| (pool.score / pool.n, pool.right / pool.n)).collect()
}

impl JudgedClaim {
    /// Makes a claim that is right if it has a label.
    pub fn new(rule: &str, score: Confidence, label: Option<&Label>) -> Self {
        Self {
            rule: rule.strip_suffix(RuleExtractor::IN_PLAIN_WORDS).unwrap_or(rule).to_owned(),
            is_plain: rule.ends_with(RuleExtractor::IN_PLAIN_WORDS),
            score: f64::from(score.get()),
            right: if label.is_some() { 1.0 } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_rise() {
        let points: Vec<(f64, f64)> =
            (0..100).map(|at| (f64::from(at) / 100.0, f64::from(u8::from(at >= 50)))).collect();
        let curve = rising(&points);
        assert_eq!(curve.len(), 2);
        assert!((curve[0].1, curve[1].1) == (0.0, 1.0) && curve[0].0 < curve[1].0, "{curve:?}");
        let falling: Vec<(f64, f64)> = points.iter().map(|(score, right)| (*score, 1.0 - right)).collect();
        assert_eq!(rising(&falling).len(), 1);
    }

    fn claims(rule: &str, n: usize, right: f64) -> Vec<JudgedClaim> {
        let (rule, is_plain) = rule.strip_suffix(" plain").map_or((rule, false), |rule| (rule, true));
        (0..n).map(|_| JudgedClaim { rule: rule.to_owned(), is_plain, score: 0.8, right }).collect()
    }

    /// The shift of a name in the part of a table.
    fn shift(table: &str, part: &str, name: &str) -> f64 {
        let part = table.split(&format!("[measured.{part}]")).nth(1).unwrap();
        let part = part.split("[measured").next().unwrap();
        let line = part.lines().find(|line| line.starts_with(&format!("\"{name}\""))).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn a_rule_that_is_often_wrong_is_shifted_down_and_unseen_turns_count_more() {
        let (wrong, good) = (claims("en.a.bad", 8, 0.0), claims("en.b.good", 8, 1.0));
        let bad =
            |read: &[JudgedClaim], unseen: &[JudgedClaim]| shift(&table(read, unseen), "shift", "en.a.bad");
        let of_read = bad(&[wrong.clone(), good.clone()].concat(), &[]);
        let of_unseen = bad(&[], &[wrong, good].concat());
        assert!(of_unseen < of_read && of_read < 0.0 && of_unseen > -0.8, "{of_unseen} {of_read}");
    }

    #[test]
    fn claims_in_plain_words_are_measured_by_themselves_and_a_rule_without_claims_is_as_its_language() {
        let all = [claims("en.a.x", 8, 0.0), claims("en.a.x plain", 8, 1.0)].concat();
        let table = table(&[], &all);
        let of = |part, name| shift(&table, part, name);
        assert!(of("shift", "en.a.x") < -0.5 && of("plain", "en.a.x") > 0.1, "{table}");
        assert!(of("shift", "en") < -0.3 && of("plain", "en") > 0.05, "{table}");
    }
}
