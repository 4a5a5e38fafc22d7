//! Signal values of one candidate, in table order.

use mnemal_core::{Marks, Role};

use crate::fuse::Candidate;
use crate::lexical::LexicalScores;
use crate::memory::{MemoryIndex, NONE};
use crate::question::Query;
use crate::recall::is_person;
use crate::signal::SIGNALS;
use crate::terms::{DENIAL, FIRST_PERSON, WISH};

/// Length at which a machine's turn has lost all of `brevity`, in terms. Source: learned with it; BEAM's answers have 570
/// words.
const LONG: f32 = 600.0;
/// Terms that every turn has, from its date and its speaker. Source: counted.
const EMPTY: f32 = 8.0;
/// Further terms at which the signal `speaker` reaches its full value. Source: own choice; half of the turns of `LoCoMo`
/// have more than 30.
const ENOUGH: f32 = 60.0;

/// Age of a turn at which half of `recent` is left, in seconds: a week.
///
/// Source: measured on `RealMem`; between three days and a month R@10 changes by .01.
const WEEK: f32 = 7.0 * 86_400.0;

/// The context in which candidates are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure<'a> {
    index: &'a MemoryIndex,
    query: &'a Query,
    words: Option<&'a LexicalScores>,
    /// The used terms that are names in the question, one bit each.
    names: u16,
}

/// A turn with its index data.
#[derive(Clone, Copy, Debug)]
struct IndexedTurn {
    row: u32,
    role: Role,
    marks: Marks,
    /// In terms.
    length: f32,
}

impl<'a> Measure<'a> {
    /// Looks up the data common to all candidates.
    pub(crate) fn new(index: &'a MemoryIndex, query: &'a Query, words: Option<&'a LexicalScores>) -> Self {
        let is_of_name = |term| query.names.iter().any(|name| name.contains(&term));
        Self { index, query, words, names: words.map_or(0, |words| words.bits(is_of_name)) }
    }

    /// Measures one row, which has this cosine.
    pub(crate) fn candidate(&self, row: u32, cosine: Option<f32>) -> Candidate {
        let columns = &self.index.columns;
        let turn = self.turn(row);
        let [words, session, covered, names, reply] = self.by_words(&turn);
        // A requested number is in the turn itself: what the messages around it contain is irrelevant (ADR 19).
        let coverage = if self.query.asks_number() { 0.0 } else { covered };
        let [speaker, own] = self.by_speaker(&turn);
        let raw: [f32; SIGNALS] = [
            words,
            session,
            coverage,
            names,
            reply,
            cosine.unwrap_or_default().max(0.0),
            speaker,
            own,
            if self.query.is_message { 0.0 } else { brevity(&turn) },
            one_if(self.query.asks_assistant && turn.role == Role::Assistant),
            one_if(self.query.asks_summary && !is_person(turn.role)),
            one_if(is_person(turn.role) && self.query.wants(turn.marks)),
            one_if(is_person(turn.role) && self.query.asks_help && turn.marks.has(WISH)) * covered,
            one_if(is_person(turn.role) && self.query.asks_whether && turn.marks.has(DENIAL)),
            self.date(row),
            one_if(columns.previous.get(row as usize) == Some(&NONE)),
            0.0,
            one_if(is_person(turn.role) && self.query.asks_whether && !turn.marks.has(DENIAL)),
            0.0,
            0.0,
            if self.query.is_message { fullness(&turn) } else { 0.0 },
            if self.query.is_message { self.recent(row) } else { 0.0 },
        ];
        Candidate { row, session: columns.sessions.get(row as usize).copied().unwrap_or(NONE), raw }
    }

    fn turn(&self, row: u32) -> IndexedTurn {
        let length = self.index.columns.lengths.get(row as usize).copied().unwrap_or_default() as f32;
        let held = self.index.place(row);
        let role = held.and_then(|(block, place)| block.roles.get(place)).copied().unwrap_or(Role::User);
        let marks = held.and_then(|(block, place)| block.marks.get(place)).copied().unwrap_or_default();
        IndexedTurn { row, role, marks, length }
    }

    fn by_words(&self, turn: &IndexedTurn) -> [f32; 5] {
        let (Some(words), columns) = (self.words, &self.index.columns) else { return [0.0; 5] };
        let near = words.neighbors(turn.row, columns);
        [
            near.smooth(),
            words.session(turn.row, columns),
            words.share(near.held_around(), u16::MAX),
            words.share(near.term_bits(), self.names),
            self.answered(turn).map_or(0.0, |question| words.raw(question)),
        ]
    }

    /// A person's question that a person's turn directly follows.
    fn answered(&self, turn: &IndexedTurn) -> Option<u32> {
        let before = self.index.columns.previous.get(turn.row as usize).copied();
        let before = before.filter(|before| *before != NONE && turn.role == Role::User)?;
        let asked = self.turn(before);
        (asked.marks.has(Marks::QUESTION) && asked.role == Role::User).then_some(before)
    }

    fn by_speaker(&self, turn: &IndexedTurn) -> [f32; 2] {
        if !self.index.is_spoken_by(turn.row, &self.query.terms.words) {
            return [0.0; 2];
        }
        let said = (turn.length - EMPTY).max(0.0).ln_1p() / ENOUGH.ln_1p();
        [said.min(1.0), one_if(turn.marks.has(FIRST_PERSON))]
    }

    /// How close a row is in time to the query, 0 to 1.
    fn recent(&self, row: u32) -> f32 {
        let Some((now, at)) = self.query.now.zip(self.index.occurred_at(row)) else { return 0.0 };
        let age = (now.as_micros().saturating_sub(at.as_micros()) / 1_000_000).max(0) as f32;
        1.0 / (1.0 + age / WEEK)
    }

    fn date(&self, row: u32) -> f32 {
        if self.query.times.is_empty() {
            return 0.0;
        }
        let Some(at) = self.index.occurred_at(row) else { return 0.0 };
        self.query.times.iter().fold(0.0, |nearest, span| span.nearness(at).max(nearest))
    }
}

fn brevity(turn: &IndexedTurn) -> f32 {
    if is_person(turn.role) { 1.0 } else { 1.0 - fullness(turn) }
}

/// The amount of content of a turn, 0 to 1.
fn fullness(turn: &IndexedTurn) -> f32 {
    (turn.length.ln_1p() / LONG.ln_1p()).min(1.0)
}

fn one_if(condition: impl Into<u8>) -> f32 {
    f32::from(condition.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{NOON, block, turn};
    use crate::lexical::{LexicalIndex as _, score};
    use crate::rows::RowSet;
    use crate::signal::TABLE;
    use mnemal_core::{NewEvent, Timestamp, Zone};
    use mnemal_text::{Analyzer, Language};

    /// The raw value of a signal for each of these turns; the newest turn defines "now".
    fn measured(question: &str, turns: &[NewEvent], signal: &str) -> Vec<f32> {
        let analyzer = Analyzer::new(Language::English);
        let mut index = MemoryIndex::default();
        index.push(block(turns, 1), analyzer);
        let now = turns.last().map(|turn| turn.occurred_at).unwrap();
        let query = Query::read(question, analyzer).seen_from((now, &Zone::utc()), question, analyzer);
        let filter = RowSet::all(index.rows());
        let words = score(&index, &index.columns, &query.terms, &|term| index.is_name(term), (&filter, 100));
        let measure = Measure::new(&index, &query, Some(&words));
        let place = TABLE.iter().position(|one| one.name == signal).unwrap();
        (0..index.rows()).map(|row| measure.candidate(row, None).raw[place]).collect()
    }

    fn turns_of(lines: &[(&str, &str)]) -> Vec<NewEvent> {
        lines.iter().map(|(speaker, text)| turn("s", speaker, text)).collect()
    }

    #[test]
    fn a_wish_counts_as_far_as_it_is_about_what_help_is_asked_for() {
        let turns = turns_of(&[
            ("user", "Always cite in APA when I ask about references."),
            ("assistant", "I will always cite references in APA."),
            ("user", "Fine."),
            ("user", "The weather is grey and it rains on the roof."),
            ("user", "So it goes."),
            ("user", "I prefer tea."),
        ]);
        let values = measured("How should I cite my references?", &turns, "wish");
        assert!((values[0] - 1.0).abs() < 1e-6, "{values:?}");
        assert!(values[1] == 0.0 && values[2] == 0.0, "a machine wishes nothing: {values:?}");
        assert!(values[5] == 0.0, "a wish about something else: {values:?}");
        let values = measured("When did I cite my references?", &turns, "wish");
        assert!(values.iter().all(|value| *value == 0.0), "no help is asked for: {values:?}");
    }

    #[test]
    fn what_stands_around_a_turn_says_nothing_of_a_number() {
        let turns = turns_of(&[
            ("user", "My yearly budget is planned with care."),
            ("assistant", "Books and subscriptions are in it."),
            ("user", "I put 200 dollars aside for books."),
        ]);
        let covered = |question: &str| measured(question, &turns, "coverage");
        let planned = covered("Who planned my books and subscriptions?");
        assert!(planned.iter().all(|value| *value > 0.0), "{planned:?}");
        assert_eq!(covered("What is my budget for books and subscriptions?"), [0.0; 3]);
        assert_eq!(covered("How much do I put aside for books and subscriptions?"), [0.0; 3]);
        let wish = [turns_of(&[("user", "Always cite my budget for books.")]), turns].concat();
        let values = measured("How should I cite my budget for books?", &wish, "wish");
        assert!((values[0] - 1.0).abs() < 1e-6, "a wish is about something all the same: {values:?}");
    }

    #[test]
    fn a_denial_counts_where_the_question_asks_whether() {
        let turns = turns_of(&[
            ("user", "I never met Kyle."),
            ("user", "I met Kyle in Rome."),
            ("assistant", "You have not met Kyle."),
        ]);
        assert_eq!(measured("Have I ever met Kyle?", &turns, "denial"), [1.0, 0.0, 0.0]);
        assert_eq!(measured("Where did I meet Kyle?", &turns, "denial"), [0.0; 3]);
    }

    #[test]
    fn a_turn_that_comes_after_a_question_has_the_words_of_the_question() {
        let turns = turns_of(&[
            ("Ada", "What did you plant in the garden?"),
            ("Ben", "Tomatoes and basil."),
            ("Ada", "The garden is lovely."),
            ("Ben", "It is."),
            ("user", "Which garden?"),
            ("assistant", "Yours."),
        ]);
        let values = measured("What was planted in the garden?", &turns, "reply");
        assert!(values[1] > 0.0, "{values:?}");
        assert!(values[0] == 0.0 && values[3] == 0.0, "only after a question: {values:?}");
        assert!(values[5] == 0.0, "a machine always answers: {values:?}");
    }

    #[test]
    fn an_event_of_the_time_that_is_asked_for_is_near_it() {
        let mut turns =
            turns_of(&[("Ada", "We had a party."), ("Ada", "We had a party."), ("Ada", "Hello.")]);
        let day = |days: i64| Timestamp::from_micros(NOON + days * 86_400_000_000).unwrap();
        (turns[1].occurred_at, turns[2].occurred_at) = (day(90), day(100));
        let values = measured("What did we do on 8 May 2023?", &turns, "date");
        assert!(values[0] > 0.99 && values[1] < 0.01, "{values:?}");
        let values = measured("What did we do ten days ago?", &turns, "date");
        assert!(values[1] > 0.99 && values[0] < 0.01, "as seen from the newest turn: {values:?}");
        assert_eq!(measured("What did we do?", &turns, "date"), [0.0; 3]);
    }

    #[test]
    fn for_a_message_what_says_much_and_was_said_of_late_counts() {
        let mut turns = turns_of(&[
            ("user", "Yes."),
            ("assistant", "Here is the plan for the garden: beds in March, seeds in April, and so on."),
            ("user", "Now?"),
        ]);
        let day = |days: i64| Timestamp::from_micros(NOON + days * 86_400_000_000).unwrap();
        (turns[1].occurred_at, turns[2].occurred_at) = (day(7), day(14));
        let message = "Hi. The beds are done. What is next in the garden?";
        let (full, recent) = (measured(message, &turns, "fullness"), measured(message, &turns, "recent"));
        assert!(full[1] > full[0] && full[0] >= 0.0 && full[1] <= 1.0, "{full:?}");
        assert!((recent[1] - 0.5).abs() < 1e-6 && recent[0] < recent[1], "{recent:?}");
        assert!((recent[2] - 1.0).abs() < 1e-6, "{recent:?}");
        assert_eq!(measured(message, &turns, "brevity"), [0.0; 3]);
        for signal in ["fullness", "recent"] {
            assert_eq!(measured("What is next in the garden?", &turns, signal), [0.0; 3]);
        }
    }

    #[test]
    fn names_are_those_that_the_turn_itself_holds_and_not_its_speaker() {
        let turns = turns_of(&[("Ada", "Lisbon was warm."), ("Ben", "Was it?"), ("Ada", "I paint the sea.")]);
        assert_eq!(measured("What did Ada paint in Lisbon?", &turns, "names"), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_named_speaker_counts_by_how_much_he_says() {
        let long =
            "I painted the sea at Lisbon with my sister last summer, and it took us three whole weeks.";
        let turns = turns_of(&[("Ada", "Yes."), ("Ada", long), ("Ben", long)]);
        let values = measured("What did Ada paint?", &turns, "speaker");
        assert!(values[0] < values[1] && values[1] <= 1.0 && values[2] == 0.0, "{values:?}");
    }

    #[test]
    fn summaries_are_a_machines_and_forms_a_persons() {
        let turns =
            turns_of(&[("user", "It starts at 9 on 3 June."), ("assistant", "It starts at 9 on 3 June.")]);
        assert_eq!(measured("Please summarize my plans", &turns, "summary"), [0.0, 1.0]);
        assert_eq!(measured("What are my plans?", &turns, "summary"), [0.0, 0.0]);
        assert_eq!(measured("When does it start?", &turns, "form"), [1.0, 0.0]);
    }

    #[test]
    fn the_first_message_of_a_conversation_opens_it() {
        let mut turns = turns_of(&[("Ada", "Hello."), ("Ben", "Hello.")]);
        turns.push(turn("t", "Ada", "Hello."));
        assert_eq!(measured("Who said hello?", &turns, "session_start"), [1.0, 0.0, 1.0]);
    }
}
