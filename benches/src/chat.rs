//! Synthetic conversations of two people over many sessions, seeded, as a file in the neutral layout.

use std::io::{Result, Write};

use mnemal::{Timestamp, Zone};
use serde_json::json;

use crate::words::{Dice, Words};

/// Turns of a session, on average. Source: `LoCoMo` has 22, a coding session some 40.
const SESSION_TURNS: usize = 30;
/// Bytes of a turn, least and most; the mean is their middle. Source: `LoCoMo`, 140 bytes.
const TURN_BYTES: (usize, usize) = (40, 260);
/// Words that a session keeps coming back to.
const SUBJECTS: usize = 12;
/// Share of the words that are a subject of the session.
const SUBJECT_SHARE: f64 = 0.12;
/// The first day: 2024-01-01T09:00:00Z in seconds since the epoch.
const FIRST_DAY: i64 = 1_704_099_600;
/// Seconds from one session to the next.
const BETWEEN_SESSIONS: i64 = 6 * 3_600;
/// Seconds from one turn to the next.
const BETWEEN_TURNS: i64 = 45;

const SPEAKERS: [&str; 2] = ["Ada", "Ben"];
const QUESTIONS: [&str; 6] = [
    "What did Ada say about {}?",
    "When did Ben talk about {}?",
    "Who mentioned {} first?",
    "Where did they go with {}?",
    "Why does Ben like {}?",
    "How many times did Ada try {}?",
];

/// One turn that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its number, from 0.
    pub number: usize,
    /// The session, from 0.
    pub session: usize,
    /// Who speaks.
    pub speaker: &'static str,
    /// When.
    pub at: Timestamp,
    /// The words.
    pub text: String,
}

/// Generates turns without end; equal seeds give equal turns.
#[derive(Clone, Debug)]
pub struct Chat {
    dice: Dice,
    words: Words,
    subjects: Vec<String>,
    session: usize,
    left: usize,
    place: i64,
    number: usize,
}

impl Chat {
    /// Starts a conversation.
    pub fn new(seed: u64) -> Self {
        let (dice, words) = (Dice::new(seed), Words::default());
        Self { dice, words, subjects: Vec::new(), session: 0, left: 0, place: 0, number: 0 }
    }

    fn next_session(&mut self) {
        self.session += usize::from(self.number > 0);
        self.left = SESSION_TURNS / 2 + self.dice.below(SESSION_TURNS);
        self.place = 0;
        self.subjects = (0..SUBJECTS).map(|_| self.words.rare(&mut self.dice)).collect();
    }

    fn text(&mut self) -> String {
        let wanted = TURN_BYTES.0 + self.dice.below(TURN_BYTES.1 - TURN_BYTES.0);
        let mut text = String::with_capacity(wanted + 16);
        let mut left_in_sentence = 0;
        while text.len() < wanted {
            let word = self.word();
            if left_in_sentence == 0 {
                text.push_str(if text.is_empty() { "" } else { ". " });
                text.push_str(&capitalised(&word));
                left_in_sentence = 5 + self.dice.below(10);
            } else {
                text.push(' ');
                text.push_str(&word);
                left_in_sentence -= 1;
            }
        }
        text.push_str(self.dice.one_of(&[".", ".", "!", "?"]));
        text
    }

    fn word(&mut self) -> String {
        let about = if self.dice.unit() < SUBJECT_SHARE {
            self.subjects.get(self.dice.below(SUBJECTS))
        } else {
            None
        };
        match about {
            Some(subject) => subject.clone(),
            None => self.words.draw(&mut self.dice),
        }
    }
}

impl Iterator for Chat {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        if self.left == 0 {
            self.next_session();
        }
        let day = i64::try_from(self.session).unwrap_or_default() * BETWEEN_SESSIONS;
        let seconds = FIRST_DAY + day + self.place * BETWEEN_TURNS;
        let turn = Turn {
            number: self.number,
            session: self.session,
            speaker: SPEAKERS.get(self.number % 2).copied().unwrap_or_default(),
            at: Timestamp::EPOCH.plus_micros(seconds * 1_000_000),
            text: self.text(),
        };
        self.number += 1;
        self.left -= 1;
        self.place += 1;
        Some(turn)
    }
}

impl Turn {
    /// Returns the turn as one line of a corpus, without the break.
    pub fn line(&self) -> String {
        let Self { number, session, speaker, at, text } = self;
        let civil = at.civil(&Zone::utc());
        let time = format!("{}T{:02}:{:02}:{:02}", civil.day_text(), civil.hour, civil.minute, civil.second);
        let (id, session) = (format!("t{number}"), format!("s{session}"));
        json!({"id": id, "conv": "c", "session": session, "ts": time, "speaker": speaker, "text": text})
            .to_string()
    }
}

/// Writes this many turns as a corpus.
///
/// # Errors
/// Those of the writer.
pub fn write_corpus(seed: u64, turns: usize, out: &mut impl Write) -> Result<()> {
    Chat::new(seed).take(turns).try_for_each(|turn| writeln!(out, "{}", turn.line()))
}

/// Makes questions about this many turns of a corpus with this seed: each takes up two to four words of one turn.
pub fn questions(seed: u64, turns: usize, count: usize) -> Vec<String> {
    let mut dice = Dice::new(!seed);
    let step = (turns / count.max(1)).max(1);
    let asked = Chat::new(seed).take(turns).step_by(step).take(count);
    let ask = |turn: Turn| {
        let mut words: Vec<&str> =
            turn.text.split([' ', '.', '!', '?']).filter(|word| word.len() > 4).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.truncate(2 + dice.below(3));
        dice.one_of(&QUESTIONS).replace("{}", &words.join(" ").to_lowercase())
    };
    asked.map(ask).collect()
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_conversation_again() {
        let turns = |seed| Chat::new(seed).take(100).collect::<Vec<_>>();
        assert_eq!(turns(7), turns(7));
        assert_ne!(turns(7), turns(8));
        assert_eq!(questions(7, 100, 10), questions(7, 100, 10));
        assert_eq!(questions(7, 100, 10).len(), 10);
    }

    #[test]
    fn turns_are_as_long_as_those_of_people_and_sessions_end() {
        let turns: Vec<Turn> = Chat::new(1).take(3_000).collect();
        let bytes = turns.iter().map(|turn| turn.text.len()).sum::<usize>() / turns.len();
        assert!((140..165).contains(&bytes), "{bytes}");
        let sessions = turns.last().unwrap().session + 1;
        assert!((80..130).contains(&sessions), "{sessions}");
        assert!(turns.is_sorted_by_key(|turn| turn.at));
    }
}
