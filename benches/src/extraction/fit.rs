//! What is measured of the rules: the table `measured` of a language's pack.
//!
//! A score is corrected in two steps. Each rule has a shift: the mean of what its claims were less what they were thought
//! to be, drawn to the mean of its predicate as if six claims had been like that one, and this to the mean of all.
//! Then a curve that never falls (pool adjacent violators) says what share of the claims of a shifted score was right.
//!
//! Turns that rules were written on count a fifth of unseen ones, because rules do better there than elsewhere;
//! the curve is made of unseen ones alone, each shifted without its own part.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mnemal_core::Confidence;

/// Claims like the mean that a rule must be told from. Source: measured; 4 to 8 give the best ranking of unseen claims in
/// eight folds.
const CALM: f64 = 6.0;
/// What a claim of a turn counts that rules were written on. Source: measured, as above; 0, .2 and .5.
const READ: f64 = 0.2;
/// Claims that a step of the curve needs. Source: own choice; a share of 25 has an error of about .08.
const STEP: usize = 25;

/// A claim that was judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The rule that made it.
    pub rule: String,
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
    fn add(&mut self, claim: &Judged, weight: f64) {
        self.more += weight * (claim.right - claim.score);
        self.n += weight;
    }

    /// The mean, drawn to another one.
    fn near(self, mean: f64) -> f64 {
        (self.more + CALM * mean) / (self.n + CALM)
    }
}

/// The sums of each rule, of each predicate and of all.
#[derive(Clone, Debug, Default)]
struct Sums {
    rules: BTreeMap<String, Sum>,
    predicates: BTreeMap<String, Sum>,
    all: Sum,
}

impl Sums {
    fn add(&mut self, claim: &Judged, weight: f64) {
        self.rules.entry(claim.rule.clone()).or_default().add(claim, weight);
        self.predicates.entry(predicate(&claim.rule).to_owned()).or_default().add(claim, weight);
        self.all.add(claim, weight);
    }

    fn shift(&self, rule: &str) -> f64 {
        let of = |sums: &BTreeMap<String, Sum>, name: &str| sums.get(name).copied().unwrap_or_default();
        of(&self.rules, rule).near(of(&self.predicates, predicate(rule)).near(self.all.near(0.0)))
    }
}

/// The part of an id that names language and predicate: `en.role` of `en.role.be`.
fn predicate(rule: &str) -> &str {
    rule.match_indices('.').nth(1).map_or(rule, |(end, _)| rule.get(..end).unwrap_or(rule))
}

/// Returns the table as the text of a pack, from claims of turns that rules were written on, and of unseen ones.
pub fn table(read: &[Judged], unseen: &[Judged]) -> String {
    let mut sums = Sums::default();
    for claim in read {
        sums.add(claim, READ);
    }
    for claim in unseen {
        sums.add(claim, 1.0);
    }
    let mut points: Vec<(f64, f64)> = unseen
        .iter()
        .map(|claim| {
            let mut others = sums.clone();
            others.add(claim, -1.0);
            ((claim.score + others.shift(&claim.rule)).clamp(0.0, 1.0), claim.right)
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let curve = rising(&points);
    let list = |values: &mut dyn Iterator<Item = f64>| -> String {
        values.map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::from(HEAD);
    let _ = writeln!(text, "score = [{}]", list(&mut curve.iter().map(|(score, _)| *score)));
    let _ = writeln!(text, "share = [{}]", list(&mut curve.iter().map(|(_, share)| *share)));
    text.push_str("\n[measured.shift]\n");
    for rule in sums.rules.keys() {
        let _ = writeln!(text, "\"{rule}\" = {:.3}", sums.shift(rule));
    }
    text
}

const HEAD: &str = "# Written by `cargo xtask bench extract --fit` from labelled turns: how far each rule is from its prior, and what
# share of the claims of a score is right. Not edited by hand.

[measured]
";

/// Pools neighbours until no mean is below the one before it and each pool is large enough.
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

impl Judged {
    /// Makes a judged claim.
    pub fn new(rule: &str, score: Confidence, fits: Option<usize>) -> Self {
        Self {
            rule: rule.to_owned(),
            score: f64::from(score.get()),
            right: if fits.is_some() { 1.0 } else { 0.0 },
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

    #[test]
    fn a_rule_that_is_often_wrong_is_shifted_down_and_unseen_turns_count_more() {
        let claims = |rule: &str, n: usize, right| -> Vec<Judged> {
            (0..n).map(|_| Judged { rule: rule.to_owned(), score: 0.8, right }).collect()
        };
        let shift = |read: &[Judged], unseen: &[Judged]| -> f64 {
            let text = table(read, unseen);
            let line = text.lines().find(|line| line.starts_with("\"en.a.bad\"")).unwrap().to_owned();
            line.rsplit(' ').next().unwrap().parse().unwrap()
        };
        let (wrong, good) = (claims("en.a.bad", 8, 0.0), claims("en.b.good", 8, 1.0));
        let of_read = shift(&[wrong.clone(), good.clone()].concat(), &[]);
        let of_unseen = shift(&[], &[wrong, good].concat());
        assert!(of_unseen < of_read && of_read < 0.0 && of_unseen > -0.8, "{of_unseen} {of_read}");
        assert_eq!(predicate("en.a.bad"), "en.a");
    }
}
