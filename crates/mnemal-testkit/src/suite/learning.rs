//! Cases of `LearningStore` and of the projection that it is.

use std::num::NonZeroUsize;

use mnemal_core::{
    Advance, AntiPattern, AsOf, Basis, Confidence, Consent, Cursor, DeadLetter, ErrorKind, EventId, Learning,
    LearningDelta, LearningFilter, LearningId, LearningKind, LearningStatus, NoteKey, Result, RuleId, Seq,
    Signal, Speaker, Stance, Tally, Timestamp, ToolName, Verdict, Within,
};

use super::Storage;
use crate::record::{Records, learning, tombstone};

const PLENTY: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

fn at(micros: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(micros)
}

fn advance(expect: u64, next: u64) -> Advance {
    let cursor = |seq| Cursor((seq > 0).then_some(Seq(seq)));
    Advance { expect: cursor(expect), next: cursor(next), ..Advance::default() }
}

fn put(rows: &[Learning]) -> LearningDelta {
    LearningDelta { put: rows.to_vec(), remove: Vec::new() }
}

async fn event(storage: &Storage) -> Result<EventId> {
    let entry = Records::new(1).turn("s", "note text")?;
    storage.events.append(std::slice::from_ref(&entry)).await?;
    Ok(entry.id)
}

async fn all(storage: &Storage) -> Result<Vec<Learning>> {
    storage.learnings.all(&LearningFilter::all()).await
}

/// A row with everything that a learning can have.
fn learnt(source: EventId) -> Result<Learning> {
    Ok(Learning {
        kind: LearningKind::AntiPattern,
        pattern: Some(AntiPattern {
            avoid: "use mail".to_owned(),
            reason: Some("nobody reads it".to_owned()),
            instead: Some("chat".to_owned()),
        }),
        basis: Basis::Inferred,
        confidence: Confidence::new(0.6),
        consent: Consent::Required,
        topics: vec!["email".to_owned()],
        tool: Some(ToolName::new("mail")?),
        speaker: Some(Speaker::new("Ann")?),
        status: LearningStatus::Rejected,
        superseded_by: Some(LearningId(7)),
        verdict: Some(Verdict::Rejected(at(9))),
        signal: Some(Signal {
            rule: RuleId::new("en.reject")?,
            stance: Stance::Leave,
            weight: 1.5,
            supports: 2,
        }),
        tally: Some(Tally { uses: 3, errors: 2 }),
        occurred_at: at(4),
        expired_at: Some(at(9)),
        away: vec![(at(6), at(7)), (at(7), at(8))],
        ..learning(2, "k2", source, at(5))?
    })
}

/// Rows are never seen without their cursor.
// proves: NB-35
pub async fn rows_and_cursor_move_together(storage: &Storage) -> Result<()> {
    let source = event(storage).await?;
    let rows = [learning(1, "k", source, at(5))?, learnt(source)?];
    assert_eq!(storage.learnings.cursor().await?, Cursor::START);
    storage.learnings.apply(&put(&rows), &advance(0, 1)).await?;
    assert_eq!(storage.learnings.cursor().await?, Cursor(Some(Seq(1))));
    assert_eq!(all(storage).await?, rows);
    Ok(())
}

/// A process that slept wakes up to a conflict and has written nothing.
// proves: NB-35
pub async fn an_old_cursor_is_a_conflict_and_writes_nothing(storage: &Storage) -> Result<()> {
    let source = event(storage).await?;
    storage.learnings.apply(&LearningDelta::default(), &advance(0, 1)).await?;
    let late = storage.learnings.apply(&put(&[learning(1, "k", source, at(5))?]), &advance(0, 2)).await;
    assert_eq!(late.map_err(|error| error.kind()).err(), Some(ErrorKind::Conflict));
    assert_eq!(all(storage).await?, []);
    assert_eq!(storage.learnings.cursor().await?, Cursor(Some(Seq(1))));
    Ok(())
}

/// The same row twice is one row; a removed one is gone.
pub async fn applying_the_same_rows_again_changes_nothing(storage: &Storage) -> Result<()> {
    let row = learning(1, "k", event(storage).await?, at(5))?;
    storage.learnings.apply(&put(std::slice::from_ref(&row)), &advance(0, 1)).await?;
    storage.learnings.apply(&put(std::slice::from_ref(&row)), &advance(1, 2)).await?;
    assert_eq!(all(storage).await?, std::slice::from_ref(&row));
    let removal = LearningDelta { put: Vec::new(), remove: vec![row.id] };
    storage.learnings.apply(&removal, &advance(2, 3)).await?;
    assert_eq!(all(storage).await?, []);
    Ok(())
}

/// What could not be digested is known.
pub async fn dead_letters_come_with_the_cursor(storage: &Storage) -> Result<()> {
    let letter = DeadLetter { event: event(storage).await?, why: "too odd".to_owned() };
    let step = Advance { dead: vec![letter.clone()], ..advance(0, 1) };
    storage.learnings.apply(&LearningDelta::default(), &step).await?;
    assert_eq!(storage.learnings.dead_letters(PLENTY).await?, [letter]);
    Ok(())
}

/// After a reset the log can be folded again.
pub async fn reset_drops_rows_and_cursor(storage: &Storage) -> Result<()> {
    let row = learning(1, "k", event(storage).await?, at(5))?;
    storage.learnings.apply(&put(std::slice::from_ref(&row)), &advance(0, 1)).await?;
    storage.learnings.reset().await?;
    assert_eq!(storage.learnings.cursor().await?, Cursor::START);
    assert_eq!(all(storage).await?, []);
    storage.learnings.apply(&put(std::slice::from_ref(&row)), &advance(0, 1)).await?;
    assert_eq!(all(storage).await?, [row]);
    Ok(())
}

/// Intervals are half-open on both axes.
pub async fn as_of_hides_what_was_not_known_or_no_longer_holds(storage: &Storage) -> Result<()> {
    let source = event(storage).await?;
    let old = Learning {
        status: LearningStatus::Superseded,
        expired_at: Some(at(20)),
        ..learning(1, "k", source, at(10))?
    };
    let new = Learning { version: 2, expires_at: Some(at(50)), ..learning(2, "k", source, at(20))? };
    storage.learnings.apply(&put(&[old, new]), &advance(0, 1)).await?;
    for (world, belief, expected) in [
        (9, 9, None),
        (10, 10, Some(1)),
        (19, 19, Some(1)),
        (20, 20, Some(2)),
        (49, 90, Some(2)),
        (50, 90, None),
        (90, 15, Some(1)),
    ] {
        let as_of = AsOf { world: at(world), belief: at(belief) };
        let active = storage.learnings.active(&LearningFilter::all(), as_of).await?;
        assert_eq!(active.first().map(|row| row.version), expected, "world {world}, belief {belief}");
        assert!(active.len() <= 1);
    }
    let other = LearningFilter { key: Within::Only(NoteKey::new("other")?), ..LearningFilter::all() };
    assert!(storage.learnings.active(&other, AsOf::at(at(20))).await?.is_empty());
    Ok(())
}

/// The chain of versions reads backwards in time.
pub async fn history_is_newest_first(storage: &Storage) -> Result<()> {
    let source = event(storage).await?;
    let old = Learning {
        status: LearningStatus::Superseded,
        expired_at: Some(at(20)),
        ..learning(7, "k", source, at(10))?
    };
    let new = Learning { version: 2, ..learning(2, "k", source, at(20))? };
    storage.learnings.apply(&put(&[old, new]), &advance(0, 1)).await?;
    let history = storage.learnings.history(&NoteKey::new("k")?).await?;
    assert_eq!(history.iter().map(|row| row.version).collect::<Vec<_>>(), [2, 1]);
    let unknown = storage.learnings.history(&NoteKey::new("unknown")?).await;
    assert_eq!(unknown.map_err(|error| error.kind()).err(), Some(ErrorKind::NotFound));
    Ok(())
}

/// From the commit of an erase on nothing serves what rested on it alone, folded or not.
// proves: NX-03.3 (notes)
pub async fn a_row_of_a_forgotten_source_is_not_served(storage: &Storage) -> Result<()> {
    let source = event(storage).await?;
    storage.learnings.apply(&put(&[learning(1, "k", source, at(5))?]), &advance(0, 1)).await?;
    storage.events.erase(&[tombstone(source, at(9))]).await?;
    assert!(storage.learnings.active(&LearningFilter::all(), AsOf::at(at(9))).await?.is_empty());
    assert_eq!(all(storage).await?, []);
    let history = storage.learnings.history(&NoteKey::new("k")?).await;
    assert_eq!(history.map_err(|error| error.kind()).err(), Some(ErrorKind::NotFound));
    Ok(())
}
