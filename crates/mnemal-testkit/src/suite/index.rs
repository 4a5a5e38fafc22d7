//! Cases of `IndexStore`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{Cursor, ErrorKind, EventId, IndexBlock, ModelId, Result, Seq, Timestamp, Vector};

use super::Storage;
use crate::fake::TermIndexer;
use crate::record::{Records, tombstone};

const PLENTY: NonZeroUsize = NonZeroUsize::new(100_000).expect("100,000 is not zero");

/// One row, out of whatever block it is in.
#[derive(Debug, PartialEq)]
struct Row {
    event: EventId,
    session: Option<String>,
    speaker: Option<String>,
    length: u32,
    terms: BTreeMap<u64, u16>,
    vectors: Vec<(ModelId, f32, Vec<i8>)>,
}

async fn load(storage: &Storage, after: Cursor, limit: NonZeroUsize) -> Result<BTreeMap<Seq, Row>> {
    let mut rows = BTreeMap::new();
    let mut after = after;
    loop {
        let blocks = storage.index.load(after, limit).await?;
        let Some(last) = blocks.iter().filter_map(|block| block.seqs.last()).max() else { return Ok(rows) };
        after = Cursor(Some(*last));
        for block in &blocks {
            check_shape(block);
            rows.extend(split(block));
        }
    }
}

fn check_shape(block: &IndexBlock) {
    let rows = block.len();
    assert!(rows > 0, "an empty block is not stored");
    for column in
        [block.seqs.len(), block.occurred_at.len(), block.roles.len(), block.levels.len(), block.marks.len()]
    {
        assert_eq!(column, rows);
    }
    for labels in [&block.sessions, &block.channels, &block.speakers, &block.users, &block.agents] {
        assert_eq!(labels.rows.len(), rows);
    }
    assert!(block.seqs.is_sorted_by(|one, two| one < two));
    assert!(block.terms.is_sorted_by(|one, two| one < two));
    assert_eq!(block.starts.len(), block.terms.len() + 1);
    for column in &block.vectors {
        assert_eq!((column.scales.len(), column.codes.len()), (rows, rows * column.dimensions));
    }
}

fn split(block: &IndexBlock) -> BTreeMap<Seq, Row> {
    let mut rows = BTreeMap::new();
    for (place, (seq, event)) in block.seqs.iter().zip(&block.events).enumerate() {
        let terms = block.terms.iter().filter_map(|term| {
            let posting = block.postings(*term).iter().find(|posting| usize::from(posting.row()) == place)?;
            Some((term.0, posting.count()))
        });
        let vectors = block.vectors.iter().filter_map(|column| {
            let scale = *column.scales.get(place)?;
            let codes = column.codes.chunks(column.dimensions).nth(place)?.to_vec();
            (scale > 0.0).then(|| (column.model.clone(), scale, codes))
        });
        let row = Row {
            event: *event,
            session: block.sessions.get(place).map(str::to_owned),
            speaker: block.speakers.get(place).map(str::to_owned),
            length: block.lengths.get(place).copied().unwrap_or_default(),
            terms: terms.collect(),
            vectors: vectors.collect(),
        };
        rows.insert(*seq, row);
    }
    rows
}

async fn fill(storage: &Storage, events: usize) -> Result<Vec<EventId>> {
    let mut records = Records::new(1);
    let mut ids = Vec::new();
    for n in 0..events {
        let entry = records.turn(&format!("s{}", n % 3), &format!("alpha word{} word{}", n % 7, n % 11))?;
        ids.push(entry.id);
        storage.events.append(&[entry]).await?;
    }
    Ok(ids)
}

/// What an append acknowledged can be found at once, through another handle too.
// proves: PB-04, DF-70 (at once, through another handle)
pub async fn what_was_appended_is_in_the_next_load(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entry = records.turn("cli", "red apple red")?;
    storage.other.append(std::slice::from_ref(&entry)).await?;
    let rows = load(storage, Cursor::START, PLENTY).await?;
    let expected = Row {
        event: entry.id,
        session: Some("cli".to_owned()),
        speaker: Some("Ada".to_owned()),
        length: 3,
        terms: BTreeMap::from([(TermIndexer::term("red").0, 2), (TermIndexer::term("apple").0, 1)]),
        vectors: Vec::new(),
    };
    assert_eq!(rows, BTreeMap::from([(Seq(1), expected)]));
    Ok(())
}

/// A reader who knows the first rows gets only the others.
pub async fn loading_after_a_position_gives_the_rest(storage: &Storage) -> Result<()> {
    fill(storage, 10).await?;
    storage.upkeep.seal().await?;
    let rest = load(storage, Cursor(Some(Seq(7))), PLENTY).await?;
    assert_eq!(rest.keys().map(|seq| seq.0).collect::<Vec<_>>(), [8, 9, 10]);
    assert!(storage.index.load(Cursor(Some(Seq(10))), PLENTY).await?.is_empty());
    Ok(())
}

/// The limit changes the size of an answer and not the rows.
pub async fn many_small_loads_equal_one_large_load(storage: &Storage) -> Result<()> {
    fill(storage, 23).await?;
    let large = load(storage, Cursor::START, PLENTY).await?;
    assert_eq!(large.len(), 23);
    assert_eq!(load(storage, Cursor::START, NonZeroUsize::MIN).await?, large);
    Ok(())
}

/// Merging blocks changes no row.
pub async fn sealed_equals_unsealed_row_by_row(storage: &Storage) -> Result<()> {
    fill(storage, 40).await?;
    let before = load(storage, Cursor::START, PLENTY).await?;
    storage.upkeep.seal().await?;
    assert_eq!(load(storage, Cursor::START, PLENTY).await?, before);
    fill_more(storage, 5).await?;
    assert_eq!(load(storage, Cursor::START, PLENTY).await?.len(), 45);
    Ok(())
}

async fn fill_more(storage: &Storage, events: usize) -> Result<()> {
    let mut records = Records::new(2);
    for _ in 0..events {
        storage.events.append(&[records.turn("s", "later")?]).await?;
    }
    Ok(())
}

/// A reader can tell that something changed.
pub async fn the_mark_moves_with_every_append_and_erase(storage: &Storage) -> Result<()> {
    let empty = storage.index.mark().await?;
    let ids = fill(storage, 2).await?;
    let filled = storage.index.mark().await?;
    assert_eq!((empty.head, filled.head), (Cursor::START, Cursor(Some(Seq(2)))));
    let target = ids.first().map(|id| tombstone(*id, Timestamp::EPOCH));
    storage.events.erase(target.as_slice()).await?;
    let erased = storage.index.mark().await?;
    assert!(erased.forgets > filled.forgets);
    assert_eq!(erased.head, filled.head);
    Ok(())
}

/// What must not be found is not in the index, sealed or not.
// proves: PB-04, DF-53
pub async fn no_block_holds_an_erased_or_quarantined_event(storage: &Storage) -> Result<()> {
    let ids = fill(storage, 6).await?;
    storage.events.append(&[Records::new(2).quarantined("s", "held back")?]).await?;
    let [first, _, third, ..] = ids.as_slice() else { return Ok(()) };
    storage.events.erase(&[tombstone(*first, Timestamp::EPOCH)]).await?;
    storage.upkeep.seal().await?;
    storage.events.erase(&[tombstone(*third, Timestamp::EPOCH)]).await?;
    let rows = load(storage, Cursor::START, PLENTY).await?;
    assert_eq!(rows.keys().map(|seq| seq.0).collect::<Vec<_>>(), [2, 4, 5, 6]);
    Ok(())
}

/// A vector is only ever compared with vectors of its own model.
// proves: NB-03, RB-18
pub async fn vectors_of_two_models_stay_apart(storage: &Storage) -> Result<()> {
    let (one, two) = (ModelId::new("one")?, ModelId::new("two")?);
    let mut records = Records::new(1);
    let mut both = records.embedded("a", &one, &[1.0, 0.0])?;
    if let Some(index) = &mut both.index {
        index.vectors.push((two.clone(), Vector::from_unit(&[0.0, 0.0, 1.0])?));
    }
    storage
        .events
        .append(&[both, records.embedded("b", &two, &[0.0, 1.0, 0.0])?, records.turn("s", "c")?])
        .await?;
    let rows = load(storage, Cursor::START, PLENTY).await?;
    let models = |seq| {
        rows.get(&Seq(seq)).map(|row| row.vectors.iter().map(|vector| vector.0.as_str()).collect::<Vec<_>>())
    };
    assert_eq!(
        [models(1), models(2), models(3)],
        [Some(vec!["one", "two"]), Some(vec!["two"]), Some(vec![])]
    );
    Ok(())
}

/// Vectors that come later are there for every reader.
// proves: NB-03
pub async fn late_vectors_are_loaded_and_raise_their_generation(storage: &Storage) -> Result<()> {
    let ids = fill(storage, 3).await?;
    storage.upkeep.seal().await?;
    let model = ModelId::new("late")?;
    let before = storage.index.mark().await?;
    let vector = Vector::from_unit(&[0.6, 0.8])?;
    let mut rows: Vec<(EventId, Vector)> = ids.iter().take(2).map(|id| (*id, vector.clone())).collect();
    rows.push((EventId(99), vector.clone()));
    assert_eq!(storage.index.put_vectors(&model, &rows).await?, 2);
    assert!(storage.index.mark().await?.vectors > before.vectors);
    let loaded = load(storage, Cursor::START, PLENTY).await?;
    let expected = vec![(model, vector.scale(), vector.codes().to_vec())];
    assert_eq!(loaded.get(&Seq(2)).map(|row| &row.vectors), Some(&expected));
    assert_eq!(loaded.get(&Seq(3)).map(|row| row.vectors.len()), Some(0));
    Ok(())
}

/// Vectors of one model have one dimension.
// proves: AD-03 (a wrong dimension is refused at write)
pub async fn vectors_of_a_wrong_dimension_are_invalid(storage: &Storage) -> Result<()> {
    let ids = fill(storage, 2).await?;
    let [one, two] = ids.as_slice() else { return Ok(()) };
    let model = ModelId::new("m")?;
    let (flat, deep) = (Vector::from_unit(&[1.0, 0.0])?, Vector::from_unit(&[1.0, 0.0, 0.0])?);
    let mixed = storage.index.put_vectors(&model, &[(*one, flat.clone()), (*two, deep.clone())]).await;
    assert_eq!(mixed.map_err(|error| error.kind()).err(), Some(ErrorKind::Invalid));
    storage.index.put_vectors(&model, &[(*one, flat)]).await?;
    for id in [*two, EventId(99)] {
        let other = storage.index.put_vectors(&model, &[(id, deep.clone())]).await;
        assert_eq!(other.map_err(|error| error.kind()).err(), Some(ErrorKind::Invalid), "also of no event");
    }
    Ok(())
}
