//! Comparison of a space's remains with what was acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use mnemal::events::Cursor;
use mnemal::ports::{EventStore as _, Projector, SystemClock};
use mnemal::{Decision, Event, EventFilter, EventId, EventKind, LearningFilter, Result};
use mnemal_core::Upkeep as _;
use mnemal_learnings::LearningProjector;
use mnemal_testkit::vfs::Dice;

use super::super::Report;
use super::super::verdict::Fault;
use super::Space;
use super::acknowledged::{Book, BookEntry, ForgetState};

/// Events read at once.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
/// Events that are searched by their words. Source: own default; the check compares the whole index with the log.
const RECALLED: usize = 2;
/// Time limit of a fold.
const PATIENCE: Duration = Duration::from_secs(20);

/// What may be missing of the acknowledged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing.
    Nothing,
    /// The newest events, without a hole before them.
    Suffix,
}

/// The log as it is found.
struct FoundLog {
    by_id: BTreeMap<EventId, Event>,
    by_text: BTreeMap<String, Vec<Event>>,
    /// Events that a decision of the log forgets.
    forgotten: BTreeSet<EventId>,
    head: Cursor,
}

/// Reads the whole space, and blames the report for everything that is not as it was promised.
///
/// # Errors
/// When the space cannot be read at all.
pub(crate) async fn judge(
    space: &Space,
    book: &mut Book,
    loss: Loss,
    dice: &mut Dice,
    report: &mut Report,
) -> Result<()> {
    let found = read(space).await?;
    for said in &book.said {
        acknowledged(&found, said, loss, report);
    }
    whole_calls(&found, book, report);
    strangers(&found, book, report);
    let integrity = space.store.check().await?;
    for finding in integrity.findings {
        report.blame(Fault::Corrupt, format_args!("{finding}"));
    }
    projections(space, report).await?;
    settle(&found, book);
    recalled(space, &found, book, dice, report).await
}

async fn read(space: &Space) -> Result<FoundLog> {
    let head = space.store.head().await?;
    let (mut by_id, mut by_text) = (BTreeMap::new(), BTreeMap::<String, Vec<Event>>::new());
    let mut forgotten = BTreeSet::new();
    let mut after = Cursor::START;
    loop {
        let page = space.store.scan(&EventFilter::all(), after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(FoundLog { by_id, by_text, forgotten, head }) };
        after = Cursor(Some(last.seq));
        for event in page {
            if let Some(kept) = event.body() {
                by_text.entry(kept.content.clone()).or_default().push(event.clone());
                if let EventKind::Decision(Decision::Forget(forget)) = &kept.kind {
                    forgotten.extend(forget.events.iter().copied());
                }
            }
            by_id.insert(event.id, event);
        }
    }
}

/// An acknowledged event is there once, where and as it was acknowledged, unless it was forgotten.
fn acknowledged(found: &FoundLog, said: &BookEntry, loss: Loss, report: &mut Report) {
    let copies = found.by_text.get(&said.text).map_or(0, Vec::len);
    if copies > 1 {
        report.blame(Fault::Doubled, format_args!("{} is there {copies} times", said.key));
    }
    let Some((id, seq)) = said.acked else { return };
    let Some(event) = found.by_id.get(&id) else {
        if loss == Loss::Suffix && seq.0 > found.head.count() {
            report.count("acknowledged for the process, lost as a suffix", 1);
        } else {
            report.blame(Fault::Lost, format_args!("{} at {} of {}", said.key, seq.0, found.head.count()));
        }
        return;
    };
    let undone = matches!(said.forgotten, ForgetState::By(by) if !found.by_id.contains_key(&by));
    if undone && loss == Loss::Nothing {
        report.blame(Fault::Lost, format_args!("the decision to forget {}", said.key));
    }
    match event.body() {
        _ if event.seq != seq => {
            report.blame(Fault::SilentWrong, format_args!("{} moved to {}", said.key, event.seq.0));
        }
        Some(_) if found.forgotten.contains(&id) => {
            report.blame(Fault::SilentWrong, format_args!("{} is not forgotten", said.key));
        }
        Some(kept) if kept.content != said.text => {
            report.blame(Fault::SilentWrong, format_args!("{} reads otherwise", said.key));
        }
        None if said.forgotten == ForgetState::No => {
            report.blame(Fault::Lost, format_args!("the words of {}", said.key));
        }
        _ => {}
    }
}

/// The events of a call are there all or none, in their order, one behind the other.
fn whole_calls(found: &FoundLog, book: &Book, report: &mut Report) {
    for places in book.by_call() {
        let said: Vec<&BookEntry> = places.iter().filter_map(|place| book.said.get(*place)).collect();
        if said.iter().any(|said| said.forgotten != ForgetState::No) {
            continue;
        }
        let seqs: Vec<u64> = said
            .iter()
            .filter_map(|said| found.by_text.get(&said.text)?.first().map(|event| event.seq.0))
            .collect();
        let in_order = seqs.windows(2).all(|pair| matches!(pair, [one, next] if *next == one + 1));
        if !(seqs.is_empty() || seqs.len() == said.len()) || !in_order {
            let key = said.first().map_or("", |said| said.key.as_str());
            report.blame(Fault::SilentWrong, format_args!("the call of {key} is there in part: {seqs:?}"));
        }
    }
}

/// Notes which calls must be made again because the log has lost their suffix.
fn settle(found: &FoundLog, book: &mut Book) {
    for said in &mut book.said {
        let Some((id, _)) = said.acked else { continue };
        let event = found.by_id.get(&id);
        let undone = matches!(said.forgotten, ForgetState::By(by) if !found.by_id.contains_key(&by));
        if event.is_none() {
            (said.acked, said.forgotten) = (None, ForgetState::No);
        } else if undone && event.is_some_and(|event| event.body().is_some()) {
            said.forgotten = ForgetState::No;
        }
    }
}

/// Nothing is there that was not written.
fn strangers(found: &FoundLog, book: &Book, report: &mut Report) {
    let known: BTreeSet<&str> = book.said.iter().map(|said| said.text.as_str()).collect();
    for event in found.by_text.values().flatten() {
        let Some(kept) = event.body() else { continue };
        let forget = matches!(kept.kind, EventKind::Decision(_)) && kept.content.is_empty();
        if !forget && !known.contains(kept.content.as_str()) {
            report.blame(Fault::SilentWrong, format_args!("event {} was never said", event.id));
        }
    }
}

/// The notes are what the log makes of them.
async fn projections(space: &Space, report: &mut Report) -> Result<()> {
    let (events, notes) = space.ports();
    let projector: Arc<dyn Projector> = Arc::new(LearningProjector::new(events, Arc::clone(&notes)));
    let clock = SystemClock::default();
    let head = space.store.head().await?;
    let projectors = [projector];
    let before = mnemal_events::catch_up(&projectors, head, PATIENCE, &clock).await;
    let as_found = notes.all(&LearningFilter::all()).await?;
    notes.reset().await?;
    let after = mnemal_events::catch_up(&projectors, head, PATIENCE, &clock).await;
    let rebuilt = notes.all(&LearningFilter::all()).await?;
    if as_found != rebuilt || !before.is_empty() || !after.is_empty() {
        let (found, made) = (as_found.len(), rebuilt.len());
        report.blame(Fault::Corrupt, format_args!("{found} notes, and {made} when they are made again"));
    }
    Ok(())
}

/// Some acknowledged events are found by their words.
async fn recalled(
    space: &Space,
    found: &FoundLog,
    book: &Book,
    dice: &mut Dice,
    report: &mut Report,
) -> Result<()> {
    for _ in 0..RECALLED {
        let Some((place, id)) = book.living(dice) else { return Ok(()) };
        // A note that a newer one has replaced is rightly no answer.
        let asked = |said: &&BookEntry| said.note.is_none() && found.by_id.contains_key(&id);
        let Some(said) = book.said.get(place).filter(asked) else { continue };
        let answer = space.memory.recall(said.word.clone()).await?;
        if !answer.gaps.is_empty() {
            report.count("answers with a gap", 1);
        } else if !answer.value.hits.iter().any(|hit| hit.event.id == id) {
            report.blame(Fault::SilentWrong, format_args!("{} is not recalled", said.key));
        }
    }
    Ok(())
}
