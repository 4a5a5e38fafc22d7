//! Lexical recall in many languages: thirty everyday turns, queried with other forms of their words.
//!
//! The files of `tests/languages` were written by this project. A question names the turn that answers it and phrases it in
//! another case, number or tense; other turns share words with it. `floor` is the share of questions whose turn must be
//! among the first three hits, `floor_as_english` the same for a space without a language setting; both are the measured
//! value less two questions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZeroUsize;

use mnemal_core::{EventId, NewEvent, Slot, Speaker, Timestamp};
use mnemal_recall::RecallRequest;
use mnemal_text::Language;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::space::{START, Space, said, space_in};

/// Turns of one session.
const CONVERSATION: usize = 10;
/// Time between turns: a minute, in microseconds.
const MINUTE: i64 = 60_000_000;
/// The answering turn must be among this many hits.
const SHOWN: NonZeroUsize = NonZeroUsize::new(3).unwrap();

const FILES: [&str; 15] = [
    include_str!("../languages/ar.toml"),
    include_str!("../languages/de.toml"),
    include_str!("../languages/el.toml"),
    include_str!("../languages/en.toml"),
    include_str!("../languages/es.toml"),
    include_str!("../languages/fi.toml"),
    include_str!("../languages/fr.toml"),
    include_str!("../languages/he.toml"),
    include_str!("../languages/hi.toml"),
    include_str!("../languages/ja.toml"),
    include_str!("../languages/ko.toml"),
    include_str!("../languages/ru.toml"),
    include_str!("../languages/th.toml"),
    include_str!("../languages/tr.toml"),
    include_str!("../languages/zh.toml"),
];

/// Turns and questions of one language.
struct Golden {
    name: String,
    script: String,
    language: Language,
    floor: f64,
    floor_as_english: Option<f64>,
    turns: Vec<String>,
    /// The answering turn, and the question.
    asks: Vec<(EventId, String)>,
}

impl Golden {
    fn read(file: &str) -> Self {
        let table = DeTable::parse(file).unwrap().into_inner();
        let values: BTreeMap<&str, &DeValue<'_>> =
            table.iter().map(|(key, value)| (key.get_ref().as_ref(), value.get_ref())).collect();
        let list = |key: &str| values[key].as_array().unwrap().iter().map(Spanned::get_ref);
        let ask = |ask: &DeValue<'_>| {
            let (turn, question) = (ask.get(0).unwrap().get_ref(), ask.get(1).unwrap().get_ref());
            (EventId(turn.as_integer().unwrap().as_str().parse().unwrap()), text(question))
        };
        Self {
            name: text(values["name"]),
            script: text(values["script"]),
            language: Language::from_code(&text(values["language"])).unwrap(),
            floor: share(values["floor"]),
            floor_as_english: values.get("floor_as_english").map(|value| share(value)),
            turns: list("turns").map(text).collect(),
            asks: list("asks").map(ask).collect(),
        }
    }

    /// The turns as sessions of two people, numbered from 1, analyzed in a language.
    fn space(&self, language: Language) -> Space {
        let event = |(place, turn): (usize, &String)| NewEvent {
            speaker: Some(Speaker::new(["Kim", "Noa"][place % 2]).unwrap()),
            occurred_at: Timestamp::from_micros(START + i64::try_from(place).unwrap() * MINUTE).unwrap(),
            ..said(&format!("s{}", place / CONVERSATION), turn)
        };
        let events: Vec<NewEvent> = self.turns.iter().enumerate().map(event).collect();
        space_in(language, &events, Slot::Empty)
    }

    /// Asks every question, adds a line to the table and every miss below it; returns the share found.
    fn measure(&self, language: Language, table: &mut String) -> f64 {
        let space = self.space(language);
        let is_missed = |(turn, ask): &&(EventId, String)| !first(&space, ask).contains(turn);
        let missed: Vec<&(EventId, String)> = self.asks.iter().filter(is_missed).collect();
        let (found, asked) = (self.asks.len() - missed.len(), self.asks.len());
        writeln!(table, "{} ({}) as {}: {found} of {asked}", self.name, self.script, language.code())
            .unwrap();
        for (turn, ask) in missed {
            writeln!(table, "    missed {}: {ask}", turn.0).unwrap();
        }
        found as f64 / asked as f64
    }
}

fn text(value: &DeValue<'_>) -> String {
    value.as_str().unwrap().to_owned()
}

fn share(value: &DeValue<'_>) -> f64 {
    value.as_float().unwrap().as_str().parse().unwrap()
}

/// The first turns found for a question.
fn first(space: &Space, ask: &str) -> Vec<EventId> {
    let request = RecallRequest { limit: SHOWN, ..RecallRequest::new(ask) };
    space.ask(&request).hits.iter().map(|hit| hit.event.id).collect()
}

fn golden() -> Vec<Golden> {
    FILES.into_iter().map(Golden::read).collect()
}

// proves: NX-05.2
#[test]
fn the_golden_turns_cover_eight_languages_of_five_scripts_and_more() {
    let all = golden();
    let names: BTreeSet<&str> = all.iter().map(|golden| golden.name.as_str()).collect();
    let scripts: BTreeSet<&str> = all.iter().map(|golden| golden.script.as_str()).collect();
    assert_eq!((names.len(), scripts.len()), (15, 10), "{scripts:?}");
    for golden in &all {
        assert!(golden.turns.len() == 30 && golden.asks.len() >= 15, "{}", golden.name);
    }
}

// proves: NX-05.2, DF-60
#[test]
fn every_language_finds_its_turns_by_other_forms_of_their_words() {
    let (mut table, mut below) = (String::new(), Vec::new());
    for golden in golden() {
        if golden.measure(golden.language, &mut table) < golden.floor {
            below.push(golden.name.clone());
        }
        let Some(floor) = golden.floor_as_english else { continue };
        if golden.measure(Language::English, &mut table) < floor {
            below.push(format!("{} as English", golden.name));
        }
    }
    assert!(below.is_empty(), "below their floor: {below:?}\n{table}");
}

// proves: NX-05.2
#[test]
fn a_word_inside_a_run_without_spaces_is_found_in_either_spelling() {
    for (name, word, turn) in [
        ("Chinese", "梯子", 5),
        ("Chinese", "鲸鱼", 30),
        ("Japanese", "合鍵", 7),
        ("Japanese", "りんご", 3),
        ("Japanese", "リンゴ", 3),
        ("Japanese", "とまと", 27),
        ("Japanese", "ﾊﾞｲｵﾘﾝ", 25),
        ("Korean", "유리병", 17),
        ("Thai", "บันได", 5),
        ("Thai", "พิพิธภัณฑ์", 29),
    ] {
        let golden = golden().into_iter().find(|golden| golden.name == name).unwrap();
        assert_eq!(first(&golden.space(golden.language), word).first(), Some(&EventId(turn)), "{word}");
    }
}
