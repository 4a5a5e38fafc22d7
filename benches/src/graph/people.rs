//! A seeded synthetic conversation about many people, with known extraction results.

use std::io::{Result, Write};

use mnemal::{Timestamp, Zone};
use serde_json::json;

use crate::words::{Dice, Words};

/// The seed of the conversation.
const SEED: u64 = 20_261_122;
/// Turns of a session. Source: own choice, as of the made chat.
const SESSION: usize = 30;
/// The first day: 2024-01-01T09:00:00Z in seconds since the epoch.
const FIRST_DAY: i64 = 1_704_099_600;
/// Seconds from one turn to the next. Source: own choice; 100,000 turns are two years.
const BETWEEN_TURNS: i64 = 600;
/// First names, and family names. Source: own choice, so many that some people have a full name of their own.
const NAMES: usize = 120;
/// Distinct places.
const PLACES: usize = 400;
/// How far the first person of the list is ahead of the rest: the share of the turns that are about a person falls with the
/// square of a chance. Source: own choice; a few are talked of every day, most are named now and then.
const SKEW: i32 = 2;
/// How many of them are friends. Source: own choice.
const FRIENDS: usize = 60;

/// Writes this many turns, each about a person or two, as a corpus.
///
/// # Errors
/// Those of the writer.
pub fn write_people(turns: usize, out: &mut impl Write) -> Result<()> {
    let mut dice = Dice::new(SEED);
    let words = Words::default();
    let mut some = |count: usize| (0..count).map(|_| capital(&words.rare(&mut dice))).collect::<Vec<_>>();
    let (first, last, places) = (some(NAMES), some(NAMES), some(PLACES));
    for number in 0..turns {
        let person = |rank: usize| format!("{} {}", pick(&first, rank % NAMES), pick(&last, rank / NAMES));
        let (rank, other) = (rank(&mut dice), rank(&mut dice));
        let (one, other) = (person(rank), person(other));
        let place = pick(&places, dice.below(PLACES));
        let thing = words.rare(&mut dice);
        let text = match dice.below(5) {
            0 => format!("{one} lives in {place}."),
            1 => format!("{one} likes {thing}."),
            2 if rank < FRIENDS => format!("My friend {one} moved to {place}. {other} likes {thing}."),
            2 => format!("{one} moved to {place}. {other} likes {thing}."),
            3 => format!("{one} likes {thing} and lives in {place}."),
            _ => format!("{one} likes {thing}. I like {thing} too."),
        };
        writeln!(out, "{}", line(number, &text))?;
    }
    Ok(())
}

/// Draws a person; the first of the list are talked of most.
fn rank(dice: &mut Dice) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
    let rank = (dice.unit().powi(SKEW) * (NAMES * NAMES) as f64) as usize;
    rank
}

fn line(number: usize, text: &str) -> String {
    let seconds = FIRST_DAY + i64::try_from(number).unwrap_or_default() * BETWEEN_TURNS;
    let civil = Timestamp::EPOCH.plus_micros(seconds * 1_000_000).civil(&Zone::utc());
    let time = format!("{}T{:02}:{:02}:{:02}", civil.day_text(), civil.hour, civil.minute, civil.second);
    let session = format!("s{}", number / SESSION);
    json!({"id": format!("t{number}"), "conv": "c", "session": session, "ts": time, "speaker": "Ada", "text": text})
        .to_string()
}

fn pick(of: &[String], place: usize) -> &str {
    of.get(place).map_or("", String::as_str)
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
