//! The VFS under SQLite itself.

use std::sync::Arc;

use libsqlite3_sys as sys;

use super::connection::Connection;
use super::{DiskFault, FaultyDisk, Operation, SurvivingWrites};

const FILE: &str = "space.db";

fn insert(connection: &Connection, from: u64, count: u64) -> Result<(), i32> {
    let values: Vec<String> =
        (from..from + count).map(|n| format!("({n}, zeroblob({}))", 100 + n % 3_000)).collect();
    connection.run(&format!("begin immediate; insert into t values {}; commit", values.join(",")))
}

fn whole(connection: &Connection) -> String {
    connection.ask("pragma integrity_check").unwrap()
}

#[test]
fn a_committed_row_survives_every_power_cut_and_the_file_is_whole() {
    for seed in 0..60 {
        let disk = FaultyDisk::new(seed);
        let connection = Connection::with_log(&disk, FILE).unwrap();
        disk.cut_at(disk.operations() + 1 + seed * 7);
        let mut acknowledged = 0;
        for round in 0_u64.. {
            if round % 9 == 8 && connection.run("pragma wal_checkpoint(truncate)").is_err() {
                break;
            }
            match insert(&connection, acknowledged, 1 + round % 4) {
                Ok(()) => acknowledged += 1 + round % 4,
                Err(code) => {
                    assert!([sys::SQLITE_IOERR, sys::SQLITE_CANTOPEN].contains(&(code & 0xff)), "{code}");
                    break;
                }
            }
        }
        assert!(!disk.is_on() && connection.count().is_err());
        drop(connection);
        disk.reboot(SurvivingWrites::Drawn);
        let again = Connection::with_log(&disk, FILE).unwrap();
        assert_eq!(whole(&again), "ok", "seed {seed}");
        assert!(again.count().unwrap() >= acknowledged, "seed {seed}: {acknowledged}");
    }
}

#[test]
fn without_flushes_rows_are_lost_or_the_file_is_damaged() {
    let survives = |seed| {
        let disk = FaultyDisk::new(seed);
        let connection = Connection::with_log(&disk, FILE).unwrap();
        connection.run("pragma synchronous = off").unwrap();
        for row in 0..50 {
            insert(&connection, row, 1).unwrap();
        }
        disk.power_cut();
        drop(connection);
        disk.reboot(SurvivingWrites::Drawn);
        Connection::open(&disk, FILE).is_ok_and(|again| again.count() == Ok(50))
    };
    let survivors = (0..30).filter(|seed| survives(*seed)).count();
    assert!(survivors < 10, "{survivors} of 30 lost nothing, so the cut cuts nothing");
}

#[test]
fn two_connections_share_a_log_and_writers_exclude_each_other() {
    let disk = FaultyDisk::new(1);
    let writer = Connection::with_log(&disk, FILE).unwrap();
    let other = Connection::open(&disk, FILE).unwrap();
    insert(&writer, 0, 3).unwrap();
    assert_eq!(other.count(), Ok(3));
    other.run("begin").unwrap();
    assert_eq!(other.count(), Ok(3));
    insert(&writer, 3, 2).unwrap();
    assert_eq!(other.count(), Ok(3), "a reader keeps its state");
    other.run("commit").unwrap();
    assert_eq!(other.count(), Ok(5));
    writer.run("begin immediate").unwrap();
    assert_eq!(other.run("begin immediate"), Err(sys::SQLITE_BUSY));
    writer.run("rollback").unwrap();
    insert(&other, 5, 1).unwrap();
    assert_eq!(writer.count(), Ok(6));
}

#[test]
fn threads_write_through_connections_of_their_own() {
    let disk = FaultyDisk::new(2);
    let connections: Vec<_> = (0..4).map(|_| Connection::with_log(&disk, FILE).unwrap()).collect();
    std::thread::scope(|scope| {
        for (thread, connection) in (0_u64..).zip(connections) {
            scope.spawn(move || (0..50).for_each(|n| insert(&connection, thread * 1_000 + n, 1).unwrap()));
        }
    });
    let again = Connection::with_log(&disk, FILE).unwrap();
    assert_eq!((again.count(), whole(&again).as_str()), (Ok(200), "ok"));
}

#[test]
fn a_fault_strikes_once_and_the_next_try_succeeds() {
    let faults = [
        (DiskFault::IoError, sys::SQLITE_IOERR),
        (DiskFault::DiskFull, sys::SQLITE_FULL),
        (DiskFault::SyncFails, sys::SQLITE_IOERR),
        (DiskFault::ShortWrite, sys::SQLITE_IOERR),
        (DiskFault::TornWrite, sys::SQLITE_IOERR),
    ];
    for (fault, expected) in faults {
        let disk = FaultyDisk::new(3);
        let connection = Connection::with_log(&disk, FILE).unwrap();
        disk.fail_at(disk.operations() + 1, fault);
        assert_eq!(insert(&connection, 0, 4).map_err(|code| code & 0xff), Err(expected), "{fault:?}");
        assert_eq!(disk.struck(), 1);
        // The transaction may be open or gone, as SQLite decides by the kind of the failure.
        let _ = connection.run("rollback");
        insert(&connection, 0, 4).unwrap();
        assert_eq!((connection.count(), disk.struck()), (Ok(4), 1));
        assert_eq!(whole(&connection), "ok", "{fault:?}");
    }
}

#[test]
fn a_fault_waits_for_an_operation_that_it_suits() {
    let disk = FaultyDisk::new(4);
    let connection = Connection::with_log(&disk, FILE).unwrap();
    disk.fail_at(1, DiskFault::ShortRead);
    insert(&connection, 0, 4).unwrap();
    assert_eq!(disk.struck(), 0, "the pages are in memory");
    assert!(Connection::open(&disk, FILE).is_err(), "opening reads");
    let other = Connection::open(&disk, FILE).unwrap();
    assert_eq!(other.count(), Ok(4));
    disk.fail_at(1, DiskFault::IoError);
    disk.forgive();
    assert_eq!((other.count(), disk.struck()), (Ok(4), 1));
}

#[test]
fn a_flush_that_lags_is_made_good_by_the_next_one() {
    let lost = |flushed_again: bool| {
        let disk = FaultyDisk::new(10);
        let connection = Connection::with_log(&disk, FILE).unwrap();
        disk.fail_at(disk.operations() + 1, DiskFault::SyncLags);
        insert(&connection, 0, 1).unwrap();
        if flushed_again {
            insert(&connection, 1, 1).unwrap();
        }
        disk.reboot(SurvivingWrites::Nothing);
        assert_eq!(disk.struck(), 1);
        Connection::with_log(&disk, FILE).unwrap().count().unwrap() == 0
    };
    assert!(lost(false) && !lost(true));
}

#[test]
fn a_flipped_bit_is_found_by_an_integrity_check() {
    let found = (0..20).any(|seed| {
        let disk = FaultyDisk::new(seed);
        insert(&Connection::with_log(&disk, FILE).unwrap(), 0, 50).unwrap();
        let connection = Connection::open(&disk, FILE).unwrap();
        disk.fail_at(disk.operations() + 8, DiskFault::BitFlip);
        let checked = connection.ask("pragma integrity_check");
        disk.struck() == 1 && checked != Ok("ok".to_owned())
    });
    assert!(found);
}

#[test]
fn a_full_disk_refuses_growth_until_there_is_space_again() {
    let disk = FaultyDisk::new(5);
    let connection = Connection::with_log(&disk, FILE).unwrap();
    disk.fill_after(20_000);
    let mut rows = 0;
    while insert(&connection, rows, 1).is_ok() {
        rows += 1;
    }
    assert!(rows > 0 && connection.count() == Ok(rows));
    assert_eq!(insert(&connection, rows, 1), Err(sys::SQLITE_FULL));
    disk.free_space();
    disk.full_from(disk.operations() + 1);
    assert_eq!(insert(&connection, rows, 1), Err(sys::SQLITE_FULL));
    disk.free_space();
    insert(&connection, rows, 1).unwrap();
    assert_eq!(whole(&connection), "ok");
}

#[test]
fn files_of_one_disk_are_not_those_of_another() {
    let (one, two) = (FaultyDisk::new(6), FaultyDisk::new(6));
    insert(&Connection::with_log(&one, FILE).unwrap(), 0, 4).unwrap();
    assert_eq!(Connection::with_log(&two, FILE).unwrap().count(), Ok(0));
    two.power_cut();
    assert_eq!(Connection::with_log(&one, FILE).unwrap().count(), Ok(4));
    assert_eq!(one.operations(), one.trace().len() as u64);
    assert!(one.trace().contains(&Operation::Sync) && one.trace().contains(&Operation::MapLock));
}

#[test]
fn files_can_be_read_and_put_as_bytes() {
    let disk = FaultyDisk::new(7);
    insert(&Connection::with_log(&disk, FILE).unwrap(), 0, 4).unwrap();
    let bytes = disk.read(FILE).unwrap();
    assert_eq!(disk.read_durable(FILE).as_ref(), Some(&bytes), "a closed file is flushed");
    assert_eq!(disk.read("space.db-wal"), None);
    disk.put("copy.db", bytes);
    disk.reboot(SurvivingWrites::Nothing);
    assert_eq!(Connection::open(&disk, "copy.db").unwrap().count(), Ok(4));
}

#[test]
fn a_dropped_disk_is_freed_with_its_last_connection() {
    let disk = FaultyDisk::new(8);
    let shared = disk.shared();
    let connection = Connection::with_log(&disk, FILE).unwrap();
    insert(&connection, 0, 4).unwrap();
    let path = disk.path(FILE);
    drop(disk);
    assert_eq!(connection.count(), Ok(4), "an open file stays");
    assert!(super::open_file::OpenFile::open(path.to_str(), 6).is_err(), "and is opened no more");
    drop(connection);
    assert_eq!(Arc::strong_count(&shared), 1);
    assert!(shared.state().inodes.values().all(|inode| inode.users == 0 && inode.shared.is_none()));
}

#[test]
fn a_connection_from_before_a_reboot_is_dead_and_harmless() {
    let disk = FaultyDisk::new(9);
    let old = Connection::with_log(&disk, FILE).unwrap();
    insert(&old, 0, 4).unwrap();
    disk.reboot(SurvivingWrites::Drawn);
    let new = Connection::with_log(&disk, FILE).unwrap();
    assert!(old.count().is_err() && insert(&old, 9, 1).is_err());
    new.run("begin immediate").unwrap();
    drop(old);
    assert_eq!(Connection::open(&disk, FILE).unwrap().run("begin immediate"), Err(sys::SQLITE_BUSY));
    new.run("commit").unwrap();
    assert_eq!((new.count(), whole(&new).as_str()), (Ok(4), "ok"));
}
