//! The checks of `mnemal doctor` on the database of PostgreSQL that holds the spaces.

use mnemal::admin::{Acknowledgment, DatabaseReport};

use super::{Finding, OK, WARN, finding};
use crate::command::database::connect_once;
use crate::storage::DatabaseAddress;

/// Age of a transaction from which erased rows stay in the files for long, in seconds. Source: own choice; a backup of a large
/// database takes less.
const OLD_TRANSACTION: u64 = 3_600;

/// Checks the server.
pub(super) async fn findings(address: &DatabaseAddress) -> Vec<Finding> {
    let report = async { anyhow::Ok(connect_once(address).await?.report().await?) };
    match report.await {
        Ok(report) => checks(&report),
        Err(error) => vec![finding("database", WARN, format!("{error:#}"))],
    }
}

fn checks(report: &DatabaseReport) -> Vec<Finding> {
    let kept = match report.acknowledgment {
        Acknowledgment::Replica => "a failover to a synchronous standby",
        Acknowledgment::Disk => "a crash and a power cut; a failover may lose the newest",
        _ => "the end of this program only",
    };
    let server = format!("PostgreSQL {}; an acknowledged event survives {kept}", report.version);
    let settings = match report.unsafe_settings.as_slice() {
        [] => finding("durability", OK, server),
        off => finding("durability", WARN, format!("{server}; switch on {}", off.join(", "))),
    };
    let (open, most) = (report.connections, report.max_connections);
    let room = format!("{open} of {most} connections are open");
    let connections = if open * 10 < most * 9 {
        finding("connections", OK, room)
    } else {
        finding("connections", WARN, format!("{room}; lower `storage.pool`, or raise max_connections"))
    };
    let age = report.oldest_transaction_secs;
    let oldest = if age < OLD_TRANSACTION {
        finding("transactions", OK, format!("the oldest began {age} s ago"))
    } else {
        let what = format!("the oldest began {age} s ago; until it ends, erased rows stay in the files");
        finding("transactions", WARN, what)
    };
    vec![settings, connections, oldest]
}
