//! Cases of `GraphStore` and of the projection that it is.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    Advance, AsOf, Cardinality, Cursor, DeadLetter, Difference, Edition, EntityFilter, EntityId, EntityKind,
    ErrorKind, EventId, Fact, FactFilter, FactId, FactStatus, GraphDelta, IdentityClaim, IdentityKind,
    MentionFilter, MentionRow, NamingDecision, Predicate, Producer, Result, Ruling, Seq, SessionId, Source,
    Span, Timestamp, Value, Within, WorldTime,
};

use super::Storage;
use crate::record::{Records, entity, fact, tombstone};

const PLENTY: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

fn at(micros: i64) -> Timestamp {
    Timestamp::EPOCH.plus_micros(micros)
}

fn advance(expect: u64, next: u64) -> Advance {
    let cursor = |seq| Cursor((seq > 0).then_some(Seq(seq)));
    Advance { expect: cursor(expect), next: cursor(next), ..Advance::default() }
}

async fn events(storage: &Storage, n: usize) -> Result<Vec<EventId>> {
    let mut records = Records::new(1);
    let entries = (0..n).map(|_| records.turn("s", "Ada lives in Oslo")).collect::<Result<Vec<_>>>()?;
    storage.events.append(&entries).await?;
    Ok(entries.iter().map(|entry| entry.id).collect())
}

fn mention(event: EventId, entity: u128, session: &str) -> Result<MentionRow> {
    let source = Source { event, span: Span { start: 0, end: 3 } };
    let session = SessionId::new(session)?;
    Ok(MentionRow { source, entity: EntityId(entity), session, occurred_at: at(7) })
}

/// Ada and Oslo, that she lives there, and where both are named.
fn small(event: EventId) -> Result<GraphDelta> {
    let mut home = fact(9, 1, "lives_in", event, at(5))?;
    home.object = Value::Entity(EntityId(2));
    let mut oslo = entity(2, "Oslo", EntityKind::Location, event, at(5));
    oslo.chosen.clone_from(&oslo.names);
    for chosen in &mut oslo.chosen {
        chosen.expired_at = Some(at(7));
    }
    oslo.kind_word = Some("municipality".to_owned());
    "a town".clone_into(&mut oslo.made_as);
    oslo.decisions =
        [None, Some(at(8))].map(|expired_at| NamingDecision { decision: event, expired_at }).to_vec();
    oslo.identity_claims = [IdentityKind::Read, IdentityKind::Merged, IdentityKind::Split]
        .into_iter()
        .zip(1..)
        .map(|(kind, ordinal)| IdentityClaim { other: EntityId(1), kind, source: event, ordinal })
        .collect();
    Ok(GraphDelta {
        entities: vec![entity(1, "Ada", EntityKind::Person, event, at(5)), oslo],
        facts: vec![home],
        mentions: vec![mention(event, 1, "s")?, mention(event, 2, "s")?],
        ..GraphDelta::default()
    })
}

fn own<T: Clone>(rows: Vec<Arc<T>>) -> Vec<T> {
    rows.into_iter().map(Arc::unwrap_or_clone).collect()
}

async fn all(storage: &Storage) -> Result<GraphDelta> {
    Ok(GraphDelta {
        entities: own(storage.graph.entities(&EntityFilter::all()).await?),
        facts: storage.graph.history(&FactFilter::all()).await?,
        mentions: storage.graph.mentions(&MentionFilter::all()).await?,
        ..GraphDelta::default()
    })
}

/// Rows come back whole, and never without their cursor.
// proves: NB-35 (graph)
pub async fn rows_and_cursor_move_together(storage: &Storage) -> Result<()> {
    let rows = small(first(storage).await?)?;
    assert_eq!(storage.graph.cursor().await?, Cursor::START);
    storage.graph.apply(&rows, &advance(0, 1)).await?;
    assert_eq!(storage.graph.cursor().await?, Cursor(Some(Seq(1))));
    assert_eq!(all(storage).await?, rows);
    assert_eq!(storage.learnings.cursor().await?, Cursor::START, "the notes have a cursor of their own");
    Ok(())
}

async fn first(storage: &Storage) -> Result<EventId> {
    events(storage, 1)
        .await?
        .first()
        .copied()
        .ok_or_else(|| mnemal_core::Error::internal("nothing was appended"))
}

/// A process that slept wakes up to a conflict and has written nothing.
// proves: NB-35 (graph)
pub async fn an_old_cursor_is_a_conflict_and_writes_nothing(storage: &Storage) -> Result<()> {
    let rows = small(first(storage).await?)?;
    storage.graph.apply(&GraphDelta::default(), &advance(0, 1)).await?;
    let late = storage.graph.apply(&rows, &advance(0, 2)).await;
    assert_eq!(late.map_err(|error| error.kind()).err(), Some(ErrorKind::Conflict));
    assert!(all(storage).await?.is_empty());
    assert_eq!(storage.graph.cursor().await?, Cursor(Some(Seq(1))));
    Ok(())
}

/// The same rows twice are the same rows; removed ones are gone.
pub async fn applying_the_same_rows_again_changes_nothing(storage: &Storage) -> Result<()> {
    let rows = small(first(storage).await?)?;
    storage.graph.apply(&rows, &advance(0, 1)).await?;
    storage.graph.apply(&rows, &advance(1, 2)).await?;
    assert_eq!(all(storage).await?, rows);
    let removal = GraphDelta {
        remove_entities: rows.entities.iter().map(|entity| entity.id).collect(),
        remove_facts: rows.facts.iter().map(|fact| fact.id).collect(),
        remove_mentions: rows.mentions.iter().map(|row| (row.source.event, row.entity)).collect(),
        ..GraphDelta::default()
    };
    storage.graph.apply(&removal, &advance(2, 3)).await?;
    assert!(all(storage).await?.is_empty());
    Ok(())
}

/// After a reset the log can be folded again.
pub async fn reset_drops_rows_and_cursor(storage: &Storage) -> Result<()> {
    let rows = small(first(storage).await?)?;
    storage.graph.apply(&rows, &advance(0, 1)).await?;
    storage.graph.reset().await?;
    assert_eq!(storage.graph.cursor().await?, Cursor::START);
    assert!(all(storage).await?.is_empty());
    storage.graph.apply(&rows, &advance(0, 1)).await?;
    assert_eq!(all(storage).await?, rows);
    Ok(())
}

/// What the rows as a whole are, and what was said of predicates, comes back as it was written last, and a reset takes it.
pub async fn an_edition_comes_back_with_what_was_said_of_predicates(storage: &Storage) -> Result<()> {
    let ruling = |by, is_decided, cardinality| Ruling { by: EventId(by), is_decided, cardinality };
    let (own, home) = (Predicate::new("sits_at")?, Predicate::new("lives_in")?);
    let rulings = vec![ruling(7, false, Cardinality::Now), ruling(8, true, Cardinality::NowPerTopic)];
    let told = Edition {
        producer: Some(Producer { id: "graph script 1".to_owned(), version: 5 }),
        difference: Some(Difference { rows: 3, ..Difference::default() }),
        predicates: BTreeMap::from([(own, Vec::new()), (home, rulings)]),
    };
    let bare = Edition { predicates: BTreeMap::new(), ..told.clone() };
    for (n, edition) in (0..).zip([told.clone(), bare, told]) {
        let delta = GraphDelta { edition: Some(edition.clone()), ..GraphDelta::default() };
        storage.graph.apply(&delta, &advance(n, n + 1)).await?;
        assert_eq!(storage.graph.edition().await?, edition);
    }
    storage.graph.reset().await?;
    assert_eq!(storage.graph.edition().await?, Edition::default());
    Ok(())
}

/// Whatever way a filter takes, it finds what its reference accepts.
pub async fn filters_agree_with_the_reference(storage: &Storage) -> Result<()> {
    let sources = events(storage, 3).await?;
    let [one, two, three] = sources.as_slice() else { return Ok(()) };
    let mut rows = small(*one)?;
    rows.facts.push(fact(10, 1, "likes", *two, at(6))?);
    rows.facts.push(Fact { expired_at: Some(at(8)), ..fact(11, 2, "likes", *three, at(7))? });
    rows.mentions.push(mention(*two, 1, "other")?);
    rows.mentions.sort_by_key(|row| (row.source.event, row.entity));
    storage.graph.apply(&rows, &advance(0, 3)).await?;
    for ids in [Within::All, Within::Only(vec![EntityId(1)]), Within::Only(vec![EntityId(7)])] {
        let named = |keys: &[&str]| Within::Only(keys.iter().map(|key| (*key).to_owned()).collect());
        for keys in [Within::All, named(&["ada"]), named(&["nobody", "ada", "ada"]), named(&[])] {
            let filter = EntityFilter { ids: ids.clone(), keys, ..EntityFilter::all() };
            let expected: Vec<_> = rows.entities.iter().filter(|row| filter.accepts(row)).cloned().collect();
            assert_eq!(own(storage.graph.entities(&filter).await?), expected, "{filter:?}");
        }
        for sources in [Within::All, Within::Only(vec![*one, *three])] {
            let likes = [Predicate::new("likes")?];
            let both = [Predicate::new("owns")?, Predicate::new("likes")?];
            for predicates in [Within::All, Within::Only(likes.to_vec()), Within::Only(both.to_vec())] {
                let filter = FactFilter {
                    subjects: ids.clone(),
                    sources: sources.clone(),
                    predicates,
                    ..FactFilter::all()
                };
                let expected: Vec<_> = rows.facts.iter().filter(|row| filter.accepts(row)).cloned().collect();
                assert_eq!(storage.graph.history(&filter).await?, expected, "{filter:?}");
                let believed =
                    expected.into_iter().filter(|row| row.expired_at.is_none()).collect::<Vec<_>>();
                assert_eq!(storage.graph.believed(&filter).await?, believed, "{filter:?}");
            }
        }
        for session in [Within::All, Within::Only(SessionId::new("other")?)] {
            let filter = MentionFilter { entities: ids.clone(), session, ..MentionFilter::all() };
            let expected: Vec<_> = rows.mentions.iter().filter(|row| filter.accepts(row)).cloned().collect();
            assert_eq!(storage.graph.mentions(&filter).await?, expected, "{filter:?}");
        }
    }
    let leading = FactFilter { objects: Within::Only(vec![EntityId(2)]), ..FactFilter::all() };
    let found = storage.graph.history(&leading).await?;
    assert_eq!(found.iter().map(|fact| fact.id).collect::<Vec<_>>(), [FactId(9)]);
    Ok(())
}

/// Intervals are half-open on both axes, rejected values are history, and supports are those that were known.
pub async fn as_of_hides_what_was_not_known_or_no_longer_holds(storage: &Storage) -> Result<()> {
    let event = first(storage).await?;
    let second = 1_000_000;
    let mut home = fact(1, 1, "lives_in", event, at(10))?;
    (home.valid_at, home.invalid_at) = (Some(WorldTime::from_seconds(2)), Some(WorldTime::from_seconds(5)));
    home.expired_at = Some(at(20));
    let wrong = Fact { status: FactStatus::Rejected, ..fact(2, 1, "lives_in", event, at(10))? };
    let rows = GraphDelta { facts: vec![home, wrong], ..GraphDelta::default() };
    storage.graph.apply(&rows, &advance(0, 1)).await?;
    for (world, belief, expected) in [
        (2 * second, 10, 1),
        (2 * second - 1, 10, 0),
        (5 * second - 1, 19, 1),
        (5 * second, 19, 0),
        (3 * second, 9, 0),
        (3 * second, 20, 0),
    ] {
        let as_of = AsOf { world: at(world), belief: at(belief) };
        let found = storage.graph.facts(&FactFilter::all(), as_of).await?;
        assert_eq!(found.len(), expected, "world {world}, belief {belief}");
    }
    assert_eq!(storage.graph.facts(&FactFilter::all(), AsOf::present(at(3 * second))).await?, []);
    Ok(())
}

/// Of many facts those are looked at that most events say, then by id; what is over or rejected comes last, and whether the rest
/// hold is asked afterwards.
pub async fn the_strongest_facts_around_somebody_come_first(storage: &Storage) -> Result<()> {
    let sources = events(storage, 2).await?;
    let [one, two] = sources.as_slice() else { return Ok(()) };
    let mut said_twice = fact(8, 1, "likes", *one, at(5))?;
    said_twice.supports.extend(fact(8, 1, "likes", *two, at(5))?.supports);
    let mut home = fact(5, 3, "knows", *one, at(5))?;
    home.object = Value::Entity(EntityId(1));
    let mut over = said_twice.clone();
    (over.id, over.invalid_at) = (FactId(1), Some(WorldTime::from_seconds(9)));
    let wrong = Fact { status: FactStatus::Rejected, ..fact(2, 1, "likes", *one, at(5))? };
    let before = Fact { expired_at: Some(at(6)), ..fact(3, 1, "likes", *one, at(4))? };
    let other = fact(4, 7, "likes", *one, at(5))?;
    let plain = fact(6, 1, "likes", *one, at(5))?;
    let facts = vec![said_twice, home, over, wrong, before, other, plain];
    storage.graph.apply(&GraphDelta { facts, ..GraphDelta::default() }, &advance(0, 1)).await?;
    let ids = |facts: Vec<Fact>| {
        let mut ids: Vec<u128> = facts.iter().map(|fact| fact.id.0).collect();
        ids.sort_unstable();
        ids
    };
    let ada = [EntityId(1)];
    for (most, now, expected) in [
        (1, 20, vec![8]),
        (2, 20, vec![5, 8]),
        (3, 20, vec![5, 6, 8]),
        (9, 20, vec![5, 6, 8]),
        (3, 8, vec![5, 6, 8]),
        (4, 8, vec![1, 5, 6, 8]),
    ] {
        let as_of = AsOf::present(at(now * 1_000_000));
        let most = NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN);
        let found = storage.graph.strongest(&ada, most, as_of).await?;
        assert_eq!(ids(found), expected, "{most} at {now}");
    }
    let long_ago = AsOf { world: at(8_000_000), belief: at(4) };
    let found = storage.graph.strongest(&ada, NonZeroUsize::MIN, long_ago).await?;
    assert_eq!(ids(found), [3], "what was believed before is found as of then");
    assert_eq!(storage.graph.strongest(&[], PLENTY, AsOf::present(at(9))).await?, []);
    Ok(())
}

/// From the commit of an erase on nothing serves what rests on it alone, folded or not; what rests on it among others waits
/// for its projector.
// proves: NX-03.3 (graph)
pub async fn an_erase_takes_what_rests_on_nothing_else(storage: &Storage) -> Result<()> {
    let sources = events(storage, 2).await?;
    let [one, two] = sources.as_slice() else { return Ok(()) };
    let mut rows = small(*one)?;
    let both = fact(10, 1, "likes", *two, at(6))?;
    let mut more = both.clone();
    more.supports.extend(fact(10, 1, "likes", *one, at(6))?.supports);
    rows.facts.push(more);
    rows.entities.push(entity(3, "Rex", EntityKind::Animal, *two, at(6)));
    storage.graph.apply(&rows, &advance(0, 2)).await?;
    storage.events.erase(&[tombstone(*one, at(9))]).await?;
    let left = all(storage).await?;
    assert_eq!(left.entities.iter().map(|entity| entity.id).collect::<Vec<_>>(), [EntityId(3)]);
    assert_eq!((left.facts, left.mentions), (Vec::new(), Vec::new()));
    let derived = GraphDelta { facts: vec![both.clone()], ..GraphDelta::default() };
    storage.graph.apply(&derived, &advance(2, 3)).await?;
    assert_eq!(all(storage).await?.facts, [both]);
    storage.graph.apply(&small(*one)?, &advance(3, 4)).await?;
    assert_eq!(all(storage).await?.facts.len(), 1, "what comes too late does not bring it back");
    assert_eq!(all(storage).await?.mentions, []);
    Ok(())
}

/// What could not be digested is known, and is not among the dead letters of another layer.
pub async fn dead_letters_come_with_the_cursor(storage: &Storage) -> Result<()> {
    let letter = DeadLetter { event: first(storage).await?, why: "too odd".to_owned() };
    let step = Advance { dead: vec![letter.clone()], ..advance(0, 1) };
    storage.graph.apply(&GraphDelta::default(), &step).await?;
    assert_eq!(storage.graph.dead_letters(PLENTY).await?, [letter]);
    assert_eq!(storage.learnings.dead_letters(PLENTY).await?, []);
    Ok(())
}
