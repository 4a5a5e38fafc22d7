//! Cases of `SummaryStore` and of the projection that it is.

use std::num::NonZeroUsize;

use mnemal_core::{
    Advance, Cursor, DeadLetter, ErasedNode, Error, ErrorKind, EventId, NodePath, Result, Seq, SessionId,
    SummaryDelta, SummaryNode, Timestamp,
};

use super::Storage;
use crate::record::{Records, summary, tombstone};

const PLENTY: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");
const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("2 is not zero");

fn at(micros: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(micros)
}

fn advance(expect: u64, next: u64) -> Advance {
    let cursor = |seq| Cursor((seq > 0).then_some(Seq(seq)));
    Advance { expect: cursor(expect), next: cursor(next), ..Advance::default() }
}

fn put(nodes: &[SummaryNode]) -> SummaryDelta {
    SummaryDelta { put: nodes.to_vec(), remove: Vec::new() }
}

fn session(name: &str) -> Result<NodePath> {
    Ok(NodePath::Session(SessionId::new(name)?))
}

async fn events<const N: usize>(storage: &Storage) -> Result<[EventId; N]> {
    let mut records = Records::new(1);
    let entries = (0..N).map(|_| records.turn("s", "Ada lives in Oslo")).collect::<Result<Vec<_>>>()?;
    storage.events.append(&entries).await?;
    let ids: Vec<EventId> = entries.iter().map(|entry| entry.id).collect();
    ids.try_into().map_err(|_| Error::internal("another number of events was appended"))
}

/// Nodes come back whole, and never without their cursor.
// proves: NB-35 (summaries)
pub async fn rows_and_cursor_move_together(storage: &Storage) -> Result<()> {
    let [event] = events(storage).await?;
    let node = summary(session("s")?, NodePath::Root, event, at(5))?;
    assert_eq!(storage.summaries.cursor().await?, Cursor::START);
    storage.summaries.apply(&put(std::slice::from_ref(&node)), &advance(0, 1)).await?;
    assert_eq!(storage.summaries.cursor().await?, Cursor(Some(Seq(1))));
    assert_eq!(storage.summaries.all().await?, std::slice::from_ref(&node));
    let asked = [session("unknown")?, node.path.clone()];
    assert_eq!(storage.summaries.nodes(&asked).await?, [node]);
    assert_eq!(storage.learnings.cursor().await?, Cursor::START, "the notes have a cursor of their own");
    Ok(())
}

/// A process that slept wakes up to a conflict and has written nothing.
pub async fn an_old_cursor_is_a_conflict_and_writes_nothing(storage: &Storage) -> Result<()> {
    let [event] = events(storage).await?;
    storage.summaries.apply(&SummaryDelta::default(), &advance(0, 1)).await?;
    let node = summary(session("s")?, NodePath::Root, event, at(5))?;
    let late = storage.summaries.apply(&put(&[node]), &advance(0, 2)).await;
    assert_eq!(late.map_err(|error| error.kind()).err(), Some(ErrorKind::Conflict));
    assert_eq!(storage.summaries.all().await?, []);
    assert_eq!(storage.summaries.cursor().await?, Cursor(Some(Seq(1))));
    Ok(())
}

/// The same node twice is one node; one under another parent leaves the first; a removed one is gone.
pub async fn applying_the_same_rows_again_changes_nothing(storage: &Storage) -> Result<()> {
    let [event] = events(storage).await?;
    let node = summary(session("s")?, NodePath::Root, event, at(5))?;
    storage.summaries.apply(&put(std::slice::from_ref(&node)), &advance(0, 1)).await?;
    storage.summaries.apply(&put(std::slice::from_ref(&node)), &advance(1, 2)).await?;
    assert_eq!(storage.summaries.all().await?, std::slice::from_ref(&node));
    let other = NodePath::Day("2026-11-21".to_owned());
    let moved = SummaryNode { parents: vec![other.clone()], ..node };
    storage.summaries.apply(&put(std::slice::from_ref(&moved)), &advance(2, 3)).await?;
    assert_eq!(storage.summaries.children(&NodePath::Root, PLENTY).await?, []);
    assert_eq!(storage.summaries.children(&other, PLENTY).await?, std::slice::from_ref(&moved));
    let removal = SummaryDelta { put: Vec::new(), remove: vec![moved.path] };
    storage.summaries.apply(&removal, &advance(3, 4)).await?;
    assert_eq!(storage.summaries.all().await?, []);
    assert_eq!(storage.summaries.children(&other, PLENTY).await?, []);
    Ok(())
}

/// After a reset the log can be folded again.
pub async fn reset_drops_rows_and_cursor(storage: &Storage) -> Result<()> {
    let [event] = events(storage).await?;
    let node = summary(session("s")?, NodePath::Root, event, at(5))?;
    storage.summaries.apply(&put(std::slice::from_ref(&node)), &advance(0, 1)).await?;
    storage.summaries.reset().await?;
    assert_eq!(storage.summaries.cursor().await?, Cursor::START);
    assert_eq!(storage.summaries.all().await?, []);
    storage.summaries.apply(&put(std::slice::from_ref(&node)), &advance(0, 1)).await?;
    assert_eq!(storage.summaries.all().await?, [node]);
    Ok(())
}

/// What could not be digested is known.
pub async fn dead_letters_come_with_the_cursor(storage: &Storage) -> Result<()> {
    let [event] = events(storage).await?;
    let letter = DeadLetter { event, why: "too odd".to_owned() };
    let step = Advance { dead: vec![letter.clone()], ..advance(0, 1) };
    storage.summaries.apply(&SummaryDelta::default(), &step).await?;
    assert_eq!(storage.summaries.dead_letters(PLENTY).await?, [letter]);
    Ok(())
}

/// By the time of the last event, then by name, and no more than were asked for.
pub async fn children_are_the_newest_first(storage: &Storage) -> Result<()> {
    let [event] = events(storage).await?;
    let node = |name: &str, last: i64| summary(session(name)?, NodePath::Root, event, at(last));
    let nodes = [node("a", 5)?, node("c", 7)?, node("b", 7)?];
    storage.summaries.apply(&put(&nodes), &advance(0, 1)).await?;
    let [old, second, first] = nodes;
    let found = storage.summaries.children(&NodePath::Root, PLENTY).await?;
    assert_eq!(found, [first.clone(), second.clone(), old]);
    assert_eq!(storage.summaries.children(&NodePath::Root, TWO).await?, [first, second]);
    Ok(())
}

/// From the commit of an erase on nothing serves what rested on it, folded or not; and it does not come back with a late fold.
// proves: NX-03.3 (summaries)
pub async fn a_node_of_a_forgotten_source_is_hollow_until_it_is_made_anew(storage: &Storage) -> Result<()> {
    let [one, two] = events(storage).await?;
    let gone = summary(session("gone")?, NodePath::Root, one, at(5))?;
    let stays = summary(session("stays")?, NodePath::Root, two, at(5))?;
    storage.summaries.apply(&put(&[gone.clone(), stays.clone()]), &advance(0, 1)).await?;
    storage.events.erase(&[tombstone(one, at(9))]).await?;
    let erased = ErasedNode { path: gone.path.clone(), parents: vec![NodePath::Root] };
    assert_eq!(storage.summaries.all().await?, std::slice::from_ref(&stays));
    assert_eq!(storage.summaries.nodes(std::slice::from_ref(&gone.path)).await?, []);
    assert_eq!(storage.summaries.children(&NodePath::Root, PLENTY).await?, std::slice::from_ref(&stays));
    assert_eq!(storage.summaries.erased_nodes(PLENTY).await?, std::slice::from_ref(&erased));
    storage.summaries.apply(&put(std::slice::from_ref(&gone)), &advance(1, 2)).await?;
    assert_eq!(storage.summaries.erased_nodes(PLENTY).await?, [erased]);
    let anew = SummaryNode { sources: vec![two], ..gone };
    storage.summaries.apply(&put(std::slice::from_ref(&anew)), &advance(2, 3)).await?;
    assert_eq!(storage.summaries.all().await?, [anew, stays]);
    assert_eq!(storage.summaries.erased_nodes(PLENTY).await?, []);
    Ok(())
}
