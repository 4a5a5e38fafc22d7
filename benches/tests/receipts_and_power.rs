//! Power cuts and receipts, which are not flushed by themselves: lost receipts, and intact other data.

#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use mnemal_core::{
    ErrorKind, EventId, EventStore, ReceiptId, ReceiptStore, SessionId, Timestamp, Upkeep as _,
};
use mnemal_store::{Durability, Options, SqliteStore};
use mnemal_testkit::vfs::{Dice, FaultyDisk, SurvivingWrites, VFS};
use mnemal_testkit::{Records, receipt};

async fn open(disk: &FaultyDisk) -> Result<SqliteStore, mnemal_core::Error> {
    let options = Options { durability: Durability::Disk, readers: 2, vfs: Some(VFS) };
    SqliteStore::open_with(disk.path("space.db"), options).await
}

/// What was acknowledged: events, receipts, and how many receipts there were with the last event.
#[derive(Debug, Default)]
struct Acknowledged {
    events: Vec<EventId>,
    receipts: Vec<ReceiptId>,
    flushed: usize,
}

fn session(receipt: ReceiptId) -> SessionId {
    SessionId::new(format!("s{}", receipt.0)).unwrap()
}

/// Writes events and receipts by turns as chance wants, until the power goes.
async fn write(
    disk: &FaultyDisk,
    dice: &mut Dice,
    told: &mut Acknowledged,
) -> Result<(), mnemal_core::Error> {
    let store = open(disk).await?;
    let mut records = Records::new(1);
    for number in 1..200_u128 {
        if told.events.is_empty() || dice.happens(4) {
            let entry = records.turn("live", "what was said, and a little more of it").unwrap();
            store.append(std::slice::from_ref(&entry)).await?;
            told.events.push(entry.id);
            told.flushed = told.receipts.len();
        } else {
            let shown = *told.events.last().unwrap();
            let put = receipt(number, session(ReceiptId(number)).as_str(), shown, Timestamp::EPOCH).unwrap();
            store.put(&put).await?;
            told.receipts.push(put.id);
            assert_eq!(ReceiptStore::get(&store, put.id).await?, put, "it is read at once");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_power_cut_takes_the_newest_receipts_as_a_whole_and_no_event() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..60 {
        let (disk, mut dice) = (FaultyDisk::new(seed), Dice::new(seed));
        disk.cut_at(250 + dice.throw() % 1_500);
        let mut told = Acknowledged::default();
        let _cut = write(&disk, &mut dice, &mut told).await;
        disk.power_cut();
        disk.reboot(SurvivingWrites::Drawn);
        let store = open(&disk).await.unwrap();
        let events = EventStore::get(&store, &told.events).await.unwrap();
        assert_eq!(events.len(), told.events.len(), "seed {seed}");
        let mut gone = None;
        for (place, id) in told.receipts.iter().enumerate() {
            let shown = store.seen(&session(*id)).await.unwrap().items.len();
            match ReceiptStore::get(&store, *id).await {
                Ok(found) => {
                    assert_eq!((found.lines.len(), shown, gone), (1, 1, None), "seed {seed}: {place}");
                    kept += 1;
                }
                Err(error) => {
                    assert_eq!((error.kind(), shown), (ErrorKind::NotFound, 0), "seed {seed}: {error}");
                    gone = gone.or(Some(place));
                    lost += 1;
                }
            }
        }
        assert!(gone.is_none_or(|first| first >= told.flushed), "seed {seed}: {told:?}");
        assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new(), "seed {seed}");
        store.close().await.unwrap();
    }
    assert!(
        lost > 0 && kept > lost,
        "{lost} were lost and {kept} kept, so the cut cuts nothing, or too much"
    );
}

#[tokio::test]
async fn a_receipt_is_on_the_disk_with_the_next_event_and_when_the_space_is_closed() {
    for closes in [false, true] {
        let disk = FaultyDisk::new(5);
        let store = open(&disk).await.unwrap();
        let mut records = Records::new(1);
        let mut say = async || {
            let entry = records.turn("live", "said").unwrap();
            store.append(std::slice::from_ref(&entry)).await.unwrap();
            entry.id
        };
        let shown = say().await;
        store.put(&receipt(1, "s1", shown, Timestamp::EPOCH).unwrap()).await.unwrap();
        if closes {
            store.close().await.unwrap();
        } else {
            let _next = say().await;
            store.put(&receipt(2, "s2", shown, Timestamp::EPOCH).unwrap()).await.unwrap();
        }
        disk.power_cut();
        disk.reboot(SurvivingWrites::Nothing);
        let store = open(&disk).await.unwrap();
        assert_eq!(ReceiptStore::get(&store, ReceiptId(1)).await.unwrap().id, ReceiptId(1));
        let later = ReceiptStore::get(&store, ReceiptId(2)).await;
        assert_eq!(later.unwrap_err().kind(), ErrorKind::NotFound, "it was not flushed by itself");
        store.close().await.unwrap();
    }
}
