//! The ports, each implemented once over [`Sql`](crate::sql::Sql).

pub(crate) mod check;
pub(crate) mod graph;
pub(crate) mod index;
pub(crate) mod learning;
pub(crate) mod lease;
pub(crate) mod ledger;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod newest_events;
pub(crate) mod projection;
pub(crate) mod quick_check;
pub(crate) mod receipt;
pub(crate) mod summary;
pub(crate) mod upkeep;
pub(crate) mod working;
