//! Random and grammar-made questions to one log: none may panic, every score is finite and the sum of its parts, every evidence
//! follows from its grounds, and the same log taken in by other steps gives the same answer.
//!
//! A run is one question, which follows from the seed and the number of the run.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, ensure};
use mnemal::{Engine, ImportFormat, Memory, RecallResult, Within};
use mnemal_recall::EvidenceRule;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::fuzz::seed::text;
use super::{Order, Report};
use crate::chat::{Chat, Turn};
use crate::cpu::Watch;
use crate::spaces::{memory, own_history};
use crate::words::Dice;

/// Turns of the conversation that is asked. Source: own choice; each arm proposes its hundred, and a million questions take
/// minutes.
const TURNS: usize = 160;
/// Spoiled texts among them.
const SPOILED: usize = 40;
/// When they were said.
const SPOILED_AT: &str = "2024-05-07T10:00:00";
/// Turns of the first of two imports of the second log.
const FIRST_PART: usize = 57;
/// Every so many runs the second log is asked, too.
const TWICE: u64 = 16;
/// Runs between two looks at the clock.
const SLICE: u64 = 64;
/// Tolerance between a score and the sum of its parts. Source: the documented tolerance of an explanation.
const ROUNDING: f64 = 1e-6;

const OPENINGS: [&str; 20] = [
    "What did",
    "When will",
    "Who is",
    "Where was",
    "Why has",
    "How many",
    "How long did",
    "Which",
    "What is the",
    "what's",
    "Whose",
    "Did",
    "Tell me about",
    "Can you remember what you said about",
    "Have I ever",
    "How often does",
    "",
    "Wann hat",
    "Où est",
    "¿Qué dijo",
];
const NAMES: [&str; 10] = [
    "Ada",
    "Ben",
    "Ada's",
    "Zebulon",
    "Ada and Ben",
    "I",
    "we",
    "Dr. O'Brien-Ash",
    "王小明",
    "my sister Anna",
];
const ENDS: [&str; 12] = [
    "?",
    "",
    "?!",
    " last week?",
    " on 7 May 2024?",
    " and not before 2019?",
    " — never?",
    " (or both)?",
    "\u{0}?",
    " \"",
    "\n?",
    " 👍🏽",
];

/// Runs the program; `runs` of the order counts questions.
///
/// # Errors
/// When the log cannot be made or this machine has no clock; findings are in the report.
pub fn run(order: &Order) -> Result<Report> {
    let mut report = Report::of("asking", order);
    let asked = LogPair::new(order.seed)?;
    let mut wall = std::time::Duration::ZERO;
    while report.runs < order.runs && wall < order.time {
        let watch = Watch::start()?;
        for _ in 0..SLICE.min(order.runs - report.runs) {
            let number = order.first + report.runs;
            asked.one(number, &question(&asked.words, order.seed, number), &mut report);
            report.runs += 1;
        }
        wall += watch.stop()?.wall;
    }
    report.seconds = wall.as_secs_f64();
    Ok(report)
}

/// Makes a question: of four, one is a spoiled text and the others follow a grammar.
fn question(words: &[String], seed: u64, number: u64) -> String {
    let mut dice = Dice::new(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    if dice.below(4) == 0 {
        return text(&mut dice);
    }
    let mut question = dice.one_of(&OPENINGS).to_owned();
    for _ in 0..dice.below(3) {
        let _ = write!(question, " {}", dice.one_of(&NAMES));
    }
    let is_quoted = dice.below(8) == 0;
    question.push_str(if is_quoted { " \"" } else { " " });
    for _ in 0..dice.below(24) {
        let word = words.get(dice.below(words.len())).map_or("", String::as_str);
        let _ = write!(question, "{word} ");
    }
    question.push_str(if is_quoted { "\"" } else { "" });
    question.push_str(dice.one_of(&ENDS));
    question
}

/// The same log twice, taken in by one import and by two.
struct LogPair {
    runtime: Runtime,
    whole: Memory,
    parts: Memory,
    words: Vec<String>,
}

impl LogPair {
    fn new(seed: u64) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let turns: Vec<Turn> = Chat::new(seed).take(TURNS).collect();
        let words = turns.iter().flat_map(|turn| turn.text.split_whitespace().map(str::to_owned)).collect();
        let mut lines: Vec<String> = turns.iter().map(Turn::line).collect();
        let mut dice = Dice::new(seed);
        for number in 0..SPOILED {
            let text = text(&mut dice);
            // With a time of its own: without one it would be when it was taken in, which is not the same for both logs.
            let line = json!({"id": format!("x{number}"), "conv": "c", "session": "x", "ts": SPOILED_AT, "speaker": "Ben", "text": text});
            lines.insert(dice.below(lines.len()), line.to_string());
        }
        let (first, second) = lines.split_at(FIRST_PART.min(lines.len()));
        let whole = runtime.block_on(filled(&[&lines]))?;
        let parts = runtime.block_on(filled(&[first, second]))?;
        Ok(Self { runtime, whole, parts, words })
    }

    #[expect(clippy::print_stderr, reason = "who mends a failure needs the number of the run")]
    fn one(&self, number: u64, question: &str, report: &mut Report) {
        let ask = |memory: &Memory| {
            let call = || self.runtime.block_on(memory.recall(question).into_future());
            catch_unwind(AssertUnwindSafe(call))
        };
        let Ok(answer) = ask(&self.whole) else {
            eprintln!("run {number} panicked: {question:?}");
            report.panics += 1;
            return;
        };
        let Ok(answer) = answer else {
            eprintln!("run {number} failed: {question:?}");
            report.wrong_errors += 1;
            return;
        };
        report.count("hits", answer.hits.len() as u64);
        let mut is_right = is_sound(&answer);
        if number.is_multiple_of(TWICE) {
            report.count("asked of both logs", 1);
            is_right &=
                ask(&self.parts).is_ok_and(|other| other.is_ok_and(|other| shown(&other) == shown(&answer)));
        }
        if !is_right {
            eprintln!("run {number} is wrong: {question:?}");
            report.silent_wrong += 1;
        }
    }
}

async fn filled(parts: &[&[String]]) -> Result<Memory> {
    let memory = memory(Engine::builder())?;
    for lines in parts {
        let corpus = lines.join("\n");
        let report = memory
            .events()
            .import(corpus.as_bytes(), ImportFormat::Neutral, own_history(Within::All), &mut |_| {})
            .await?;
        ensure!(report.taken.stored > 0, "nothing was imported");
    }
    Ok(memory)
}

/// What of an answer does not depend on the log's ids.
fn shown(answer: &RecallResult) -> Vec<(u64, u32, u32)> {
    let one = |hit: &mnemal::Hit| (hit.event.seq.0, hit.score.get().to_bits(), hit.evidence.to_bits());
    answer.hits.iter().map(one).collect()
}

/// Whether scores are finite, descend and are the sums of their parts, and evidence is what its grounds say.
fn is_sound(answer: &RecallResult) -> bool {
    let is_share = |value: f32| value.is_finite() && (0.0..=1.0).contains(&value);
    let is_right = |hit: &mnemal::Hit| {
        let sum: f64 = hit.parts.iter().map(|part| f64::from(part.value)).sum();
        let score = f64::from(hit.score.get());
        score.is_finite()
            && (0.0..=1.0 + ROUNDING).contains(&score)
            && (sum - score).abs() <= ROUNDING
            && is_share(hit.evidence)
            && hit.evidence.to_bits() == hit.features.evidence(&EvidenceRule::LEARNT).to_bits()
    };
    let largest = answer.hits.iter().fold(0.0_f32, |largest, hit| hit.evidence.max(largest));
    answer.hits.iter().all(is_right)
        && answer.hits.is_sorted_by(|one, next| one.score >= next.score)
        && largest.to_bits() == answer.evidence.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_follows_from_its_number_and_few_are_alike() {
        let words = ["telescope".to_owned(), "garden".to_owned()];
        let all = |seed| (0..200).map(|number| question(&words, seed, number)).collect::<Vec<_>>();
        assert_eq!(all(7), all(7));
        let distinct: std::collections::HashSet<String> = all(7).into_iter().collect();
        assert!(distinct.len() > 150, "{}", distinct.len());
    }
}
