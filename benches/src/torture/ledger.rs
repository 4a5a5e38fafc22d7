//! Expected contents of a space: a plain list of requests and acknowledgements, against which every answer is checked.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::Report;
use super::names::word;
use super::verdict::Fault;
use super::wire::{Ack, Answer, Body, Reply, Request, Row, Turn, Version};
use crate::words::Dice;

/// The list.
#[derive(Debug, Default)]
pub struct Ledger {
    calls: Vec<PlannedWrite>,
    entries: Vec<Entry>,
}

/// A call that writes.
#[derive(Clone, Debug)]
struct PlannedWrite {
    work: Work,
    state: State,
    /// Acknowledgements that said that it was new.
    fresh: u32,
}

#[derive(Clone, Debug)]
enum Work {
    Append(Range<usize>),
    Note(usize),
    Forget(Vec<usize>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It may have been done, or not, or not yet.
    Open,
    /// Its acknowledgement was heard.
    Acked,
}

/// An event that is there, or may be.
#[derive(Clone, Debug)]
struct Entry {
    turn: Turn,
    word: String,
    note: Option<String>,
    lane: usize,
    id: Option<String>,
    seq: Option<u64>,
    acked: bool,
    gone: ErasureState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErasureState {
    No,
    /// A forget of it is on its way.
    Maybe,
    Yes,
}

impl Ledger {
    /// Plans a batch of turns of a lane and returns its call; a lane is a conversation.
    pub fn append(&mut self, lane: usize, turns: usize, dice: &mut Dice) -> usize {
        let first = self.entries.len();
        for _ in 0..turns {
            let long = if dice.below(8) == 0 { dice.below(60) } else { 0 };
            self.enter(lane, None, long);
        }
        self.plan(Work::Append(first..self.entries.len()))
    }

    /// Plans a note under a name.
    pub fn note(&mut self, lane: usize, name: String) -> usize {
        let entry = self.entries.len();
        self.enter(lane, Some(name), 0);
        self.plan(Work::Note(entry))
    }

    /// Plans to forget up to so many of the acknowledged events; `None` when there are none.
    pub fn forget(&mut self, most: usize, dice: &mut Dice) -> Option<usize> {
        let known: Vec<usize> = self.living().collect();
        let start = dice.below(known.len());
        let step = 1 + dice.below(7);
        let chosen: Vec<usize> = known.into_iter().skip(start).step_by(step).take(most).collect();
        for entry in &chosen {
            self.set_gone(*entry, ErasureState::Maybe);
        }
        (!chosen.is_empty()).then(|| self.plan(Work::Forget(chosen)))
    }

    /// Returns what to ask for a call.
    pub fn ask(&self, call: usize) -> Request {
        match self.calls.get(call).map(|call| &call.work) {
            Some(Work::Append(range)) => {
                Request::Append(self.entries(range.clone()).map(|entry| entry.turn.clone()).collect())
            }
            Some(Work::Note(entry)) => {
                let mut notes = self.entries(*entry..*entry + 1);
                let note =
                    notes.next().map(|note| (note.turn.clone(), note.note.clone().unwrap_or_default()));
                note.map_or(Request::Dump, |(turn, name)| Request::Note { turn, name })
            }
            Some(Work::Forget(entries)) => {
                let ids = entries.iter().filter_map(|entry| self.entries.get(*entry)?.id.clone());
                Request::Forget(ids.collect())
            }
            None => Request::Dump,
        }
    }

    /// Returns what to ask for a call, with another body under the same key; `None` for a forget.
    pub fn ask_other_body(&self, call: usize) -> Option<Request> {
        let mut ask = self.ask(call);
        match &mut ask {
            Request::Append(turns) => turns.last_mut()?.text.push_str(" Or not."),
            Request::Note { turn, .. } => turn.text.push_str(" Or not."),
            _ => return None,
        }
        // The key of a forgotten event keeps no hash of its body, so that nothing can be compared.
        let is_kept = |entry: &Entry| entry.gone == ErasureState::No && entry.acked;
        self.entries(self.entries_of(call)).all(is_kept).then_some(ask)
    }

    /// Returns the calls that were not acknowledged, in the order of their planning.
    pub fn open_calls(&self) -> Vec<usize> {
        let open = self.calls.iter().enumerate().filter(|(_, call)| call.state == State::Open);
        open.map(|(number, _)| number).collect()
    }

    /// Returns the lane of a call; forgets have none of their own.
    pub fn lane_of(&self, call: usize) -> Option<usize> {
        self.entries.get(self.entries_of(call).next()?).map(|entry| entry.lane)
    }

    /// Whether a call was acknowledged.
    pub fn is_acked(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| call.state == State::Acked)
    }

    /// Returns one of the acknowledged calls that are no forgets.
    pub fn some_acked(&self, dice: &mut Dice) -> Option<usize> {
        let start = dice.below(self.calls.len());
        let fits = |call: &usize| self.is_acked(*call) && !self.entries_of(*call).is_empty();
        (start..self.calls.len()).find(fits)
    }

    /// Returns the number of acknowledged events and of events that are forgotten.
    pub fn counts(&self) -> (u64, u64) {
        let acked = self.entries.iter().filter(|entry| entry.acked).count();
        let gone = self.entries.iter().filter(|entry| entry.gone == ErasureState::Yes).count();
        (acked as u64, gone as u64)
    }

    /// Returns the words of events that must be found by them, and of those that must not be found.
    pub fn words(&self) -> (Vec<String>, Vec<String>) {
        let word = |entry: &Entry| entry.word.clone();
        let living = self.living().filter_map(|entry| self.entries.get(entry)).map(word).collect();
        let gone = self.entries.iter().filter(|entry| entry.gone == ErasureState::Yes).map(word).collect();
        (living, gone)
    }

    /// Returns the texts of events that are forgotten.
    pub fn forgotten_texts(&self) -> Vec<String> {
        let gone = self.entries.iter().filter(|entry| entry.gone == ErasureState::Yes);
        gone.map(|entry| entry.turn.text.clone()).collect()
    }

    /// Returns the words of a call's events.
    pub fn words_of(&self, call: usize) -> Vec<String> {
        self.entries(self.entries_of(call)).map(|entry| entry.word.clone()).collect()
    }

    /// Returns the names of all notes.
    pub fn names(&self) -> Vec<String> {
        let names: HashSet<&String> = self.entries.iter().filter_map(|entry| entry.note.as_ref()).collect();
        names.into_iter().cloned().collect()
    }

    /// Takes the answer of a call that writes; whether it was an acknowledgement.
    pub fn answered(&mut self, call: usize, said: &Reply, report: &mut Report) -> bool {
        let acked = match said {
            Reply::Acks(acks) => self.acked(call, acks, report),
            Reply::Forgot { .. } => self.forgot(call, report),
            Reply::Cut => return false,
            Reply::Failed { kind, what } => self.refused(call, kind, what, report),
            other => {
                report.blame(Fault::WrongError, format_args!("call {call} was answered {other:?}"));
                false
            }
        };
        if let Some(call) = self.calls.get_mut(call).filter(|_| acked) {
            call.state = State::Acked;
        }
        acked
    }

    fn acked(&mut self, call: usize, acks: &[Ack], report: &mut Report) -> bool {
        let range = self.entries_of(call);
        if acks.len() != range.len() {
            report.blame(Fault::WrongError, format_args!("call {call}: {} acknowledgements", acks.len()));
            return false;
        }
        if acks.iter().any(|ack| ack.duplicate) && !acks.iter().all(|ack| ack.duplicate) {
            report.blame(Fault::SilentWrong, format_args!("call {call}: half of a batch was there"));
        }
        if let Some(planned) = self.calls.get_mut(call)
            && acks.iter().any(|ack| !ack.duplicate)
        {
            planned.fresh += 1;
            if planned.fresh > 1 {
                report.blame(Fault::Doubled, format_args!("call {call} was written again"));
            }
        }
        for (entry, ack) in self.entries.get_mut(range).into_iter().flatten().zip(acks) {
            if entry.id.as_ref().is_some_and(|id| *id != ack.id) {
                report
                    .blame(Fault::Doubled, format_args!("{}: {:?} and {}", entry.turn.key, entry.id, ack.id));
            }
            if entry.seq.is_some() && ack.seq.is_some() && entry.seq != ack.seq {
                report.blame(Fault::SilentWrong, format_args!("{} has moved", entry.turn.key));
            }
            report.count("acknowledged", u64::from(!ack.duplicate));
            report.count("answered as duplicates", u64::from(ack.duplicate));
            (entry.id, entry.acked, entry.seq) = (Some(ack.id.clone()), true, ack.seq.or(entry.seq));
        }
        true
    }

    fn forgot(&mut self, call: usize, report: &mut Report) -> bool {
        let Some(Work::Forget(entries)) = self.calls.get(call).map(|call| call.work.clone()) else {
            return false;
        };
        report.count("forgets", 1);
        for entry in entries {
            self.set_gone(entry, ErasureState::Yes);
        }
        true
    }

    fn refused(&mut self, call: usize, kind: &str, what: &str, report: &mut Report) -> bool {
        let is_forget = matches!(self.calls.get(call).map(|call| &call.work), Some(Work::Forget(_)));
        if is_forget && kind == "not_found" {
            return self.forgot(call, report);
        }
        let gone = |entry: &Entry| entry.gone != ErasureState::No;
        if kind == "invalid" && what.contains("forgotten") && self.entries(self.entries_of(call)).any(gone) {
            return false;
        }
        report.blame(Fault::WrongError, format_args!("call {call}: {kind}: {what}"));
        false
    }

    /// Compares the whole log with the list: nothing lost, nothing twice, in order, whole calls only.
    ///
    /// Without concurrent writers, `Quiet`, a pending call is decided: it is in, completely, or out.
    pub fn compare(&mut self, rows: &[Row], report: &mut Report) {
        if !rows.is_sorted_by(|one, other| one.seq < other.seq) {
            report.blame(Fault::SilentWrong, format_args!("positions are not in order"));
        }
        let by_id: HashMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
        let by_key = self.by_key(rows, report);
        for entry in &mut self.entries {
            if entry.id.is_none()
                && let Some(row) = by_key.get(entry.turn.key.as_str())
            {
                // Written, although the acknowledgment was lost.
                (entry.id, entry.seq) = (Some(row.id.clone()), Some(row.seq));
                report.count("written but not acknowledged", 1);
            }
            let Some(id) = &entry.id else { continue };
            match by_id.get(id.as_str()) {
                Some(row) => entry.look(row, report),
                None => report.blame(Fault::Lost, format_args!("{} ({id}) is not there", entry.turn.key)),
            }
        }
        self.whole_calls(&by_id, report);
        self.in_order(report);
    }

    fn by_key<'r>(&self, rows: &'r [Row], report: &mut Report) -> HashMap<&'r str, &'r Row> {
        let keys: HashSet<&str> = self.entries.iter().map(|entry| entry.turn.key.as_str()).collect();
        let mut by_key = HashMap::new();
        for row in rows {
            let Body::Kept(turn) = &row.body else { continue };
            if !keys.contains(turn.key.as_str()) {
                report.blame(Fault::SilentWrong, format_args!("nobody wrote {}", turn.key));
            }
            if by_key.insert(turn.key.as_str(), row).is_some() {
                report.blame(Fault::Doubled, format_args!("{} is there twice", turn.key));
            }
        }
        by_key
    }

    /// Each call is in or out, wholly; forgets too.
    fn whole_calls(&mut self, by_id: &HashMap<&str, &Row>, report: &mut Report) {
        for number in 0..self.calls.len() {
            let Some(PlannedWrite { work, state, .. }) = self.calls.get(number).cloned() else { continue };
            match work {
                Work::Append(range) => {
                    let there = self.entries(range.clone()).filter(|entry| entry.id.is_some()).count();
                    if there != 0 && there != range.len() {
                        report.blame(Fault::SilentWrong, format_args!("call {number} is there by half"));
                    }
                }
                Work::Forget(entries) if state == State::Open => {
                    let erased = |entry: &&usize| {
                        let id = self.entries.get(**entry).and_then(|entry| entry.id.as_deref());
                        id.and_then(|id| by_id.get(id)).is_some_and(|row| matches!(row.body, Body::Erased))
                    };
                    let gone = entries.iter().filter(erased).count();
                    if gone == entries.len() {
                        for entry in entries {
                            self.set_gone(entry, ErasureState::Yes);
                        }
                    } else if gone != 0 {
                        report.blame(Fault::SilentWrong, format_args!("forget {number} is done by half"));
                    }
                }
                Work::Note(_) | Work::Forget(_) => {}
            }
        }
    }

    /// What a lane wrote is in the order in which it was asked.
    fn in_order(&self, report: &mut Report) {
        let mut last: BTreeMap<usize, u64> = BTreeMap::new();
        for entry in &self.entries {
            let Some(seq) = entry.seq else { continue };
            let before = last.insert(entry.lane, seq).unwrap_or_default();
            if before >= seq {
                report.blame(Fault::SilentWrong, format_args!("{} stands before its time", entry.turn.key));
            }
        }
    }

    /// Compares the versions of notes with those that follow from the events; only after [`compare`](Self::compare).
    pub fn compare_notes(&self, names: &[String], found: &[Vec<Version>], report: &mut Report) {
        for (name, found) in names.iter().zip(found) {
            let of_name = self.entries.iter().filter(|entry| entry.note.as_ref() == Some(name));
            let of_name: Vec<&Entry> = of_name.filter(|entry| entry.id.is_some()).collect();
            if of_name.iter().any(|entry| entry.gone == ErasureState::Maybe) {
                continue;
            }
            let mut living: Vec<&Entry> =
                of_name.into_iter().filter(|entry| entry.gone == ErasureState::No).collect();
            living.sort_by_key(|entry| entry.seq);
            let numbered = (1..).zip(&living).map(|(number, entry)| Version {
                number,
                text: entry.turn.text.clone(),
                holds: number as usize == living.len(),
            });
            let mut expected: Vec<Version> = numbered.collect();
            expected.reverse();
            if expected != *found {
                let counts = (expected.len(), found.len());
                report.blame(
                    Fault::SilentWrong,
                    format_args!("note {name}: {counts:?} {expected:?} {found:?}"),
                );
            }
        }
    }

    /// Compares the search results of words with the expected ones, unless the event is forgotten meanwhile; a superseded note
    /// is found too, but not as an answer.
    pub fn compare_found(&self, words: &[String], answer: &Answer, report: &mut Report) {
        let (Reply::Found(found), gaps) = (&answer.said, &answer.gaps) else {
            return report.blame(Fault::WrongError, format_args!("a search was answered {:?}", answer.said));
        };
        let by_word: HashMap<&str, &Entry> =
            self.entries.iter().map(|entry| (entry.word.as_str(), entry)).collect();
        for (word, hits) in words.iter().zip(found) {
            let Some(entry) = by_word.get(word.as_str()) else { continue };
            let there = hits.iter().any(|hit| Some(&hit.id) == entry.id.as_ref());
            match entry.gone {
                ErasureState::No if entry.acked && !there => {
                    let fault = if gaps.is_empty() { Fault::SilentWrong } else { Fault::WrongError };
                    let what = format_args!("{} ({:?}) is not recalled; {gaps:?}", entry.turn.key, entry.id);
                    report.blame(fault, what);
                }
                ErasureState::No => report.count("recalls", 1),
                ErasureState::Maybe | ErasureState::Yes => {}
            }
        }
    }

    /// Compares what words of forgotten events found with nothing.
    pub fn compare_not_found(&self, words: &[String], answer: &Answer, report: &mut Report) {
        let Reply::Found(found) = &answer.said else {
            return report.blame(Fault::WrongError, format_args!("a search was answered {:?}", answer.said));
        };
        for (word, hits) in words.iter().zip(found) {
            if hits.iter().any(|hit| hit.text.contains(word.as_str())) {
                report.blame(Fault::SilentWrong, format_args!("{word} is recalled, though forgotten"));
            }
            report.count("recalls of what is forgotten", 1);
        }
    }

    /// Looks for words of forgotten events in a text that was served.
    pub fn compare_text(&self, text: &str, what: &str, report: &mut Report) {
        for entry in self.entries.iter().filter(|entry| entry.gone == ErasureState::Yes) {
            if text.contains(&entry.word) {
                report.blame(
                    Fault::SilentWrong,
                    format_args!("{} is in {what}, though forgotten", entry.turn.key),
                );
            }
        }
    }

    /// Looks for forgotten events among those that something rests on.
    pub fn compare_rests(&self, ids: &[String], report: &mut Report) {
        let gone = self.entries.iter().filter(|entry| entry.gone == ErasureState::Yes);
        let gone: HashSet<&String> = gone.filter_map(|entry| entry.id.as_ref()).collect();
        for id in ids.iter().filter(|id| gone.contains(id)) {
            report.blame(Fault::SilentWrong, format_args!("a receipt rests on {id}, though forgotten"));
        }
    }

    /// Looks for what is missing in an export.
    pub fn compare_export(&self, text: &str, report: &mut Report) {
        self.compare_text(text, "an export", report);
        for entry in self.entries.iter().filter(|entry| entry.acked && entry.gone == ErasureState::No) {
            if !text.contains(&entry.turn.text) {
                report.blame(Fault::Lost, format_args!("{} is not in an export", entry.turn.key));
            }
        }
    }

    fn enter(&mut self, lane: usize, note: Option<String>, long: usize) {
        let number = self.entries.len();
        let word = word(number);
        let turn = Turn {
            key: format!("call-{number}"),
            session: format!("lane-{lane}"),
            text: format!("The {word} lies on shelf {number}.{}", format!(" Beside {word}.").repeat(long)),
        };
        let (id, seq, acked, gone) = (None, None, false, ErasureState::No);
        self.entries.push(Entry { turn, word, note, lane, id, seq, acked, gone });
    }

    fn plan(&mut self, work: Work) -> usize {
        self.calls.push(PlannedWrite { work, state: State::Open, fresh: 0 });
        self.calls.len() - 1
    }

    fn living(&self) -> impl Iterator<Item = usize> {
        let living = |(_, entry): &(usize, &Entry)| entry.acked && entry.gone == ErasureState::No;
        self.entries.iter().enumerate().filter(living).map(|(number, _)| number)
    }

    fn entries(&self, range: Range<usize>) -> impl Iterator<Item = &Entry> {
        self.entries.get(range).into_iter().flatten()
    }

    /// The events that a call writes; none for a forget.
    fn entries_of(&self, call: usize) -> Range<usize> {
        match self.calls.get(call).map(|call| &call.work) {
            Some(Work::Append(range)) => range.clone(),
            Some(Work::Note(entry)) => *entry..*entry + 1,
            _ => 0..0,
        }
    }

    fn set_gone(&mut self, entry: usize, gone: ErasureState) {
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.gone = gone;
        }
    }
}

impl Entry {
    /// Compares an event with its row.
    fn look(&mut self, row: &Row, report: &mut Report) {
        let key = &self.turn.key;
        if self.seq.is_some_and(|seq| seq != row.seq) {
            report.blame(Fault::SilentWrong, format_args!("{key} has moved to {}", row.seq));
        }
        self.seq = Some(row.seq);
        match (&row.body, self.gone) {
            (Body::Kept(_), ErasureState::Yes) => {
                report.blame(Fault::SilentWrong, format_args!("{key} is there, though forgotten"));
            }
            (Body::Kept(turn), _) if turn.text != self.turn.text || turn.session != self.turn.session => {
                report.blame(Fault::SilentWrong, format_args!("{key} has other words"));
            }
            (Body::Kept(_), _) | (Body::Erased, ErasureState::Maybe | ErasureState::Yes) => {}
            (Body::Erased | Body::Forget, _) => {
                report.blame(Fault::Lost, format_args!("{key} is erased, though nobody asked for it"));
            }
        }
    }
}
