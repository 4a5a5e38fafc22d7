//! Every statement that removes rows or their content; there is no other place for one.

use crate::bulk::{BulkStatement, many};

/// Removes graph records of an older file that rest on erased events; a part of a migration.
#[cfg(feature = "sqlite")]
macro_rules! clear_erased_graph {
    () => {
        "delete from fact where id in (select record from graph_source where event in
  (select id from event where erased_at is not null));
delete from entity where id in (select record from graph_source where event in
  (select id from event where erased_at is not null));
delete from entity_name where not exists (select 1 from entity e where e.id = entity_name.entity);
delete from graph_source where not exists (select 1 from entity e where e.id = graph_source.record)
  and not exists (select 1 from fact f where f.id = graph_source.record);\n"
    };
}
#[cfg(feature = "sqlite")]
pub(crate) use clear_erased_graph;

/// A schema step that rewrites the table: shown records are keyed by record and content hash, because one record can be in two
/// lines with different texts.
#[cfg(feature = "sqlite")]
pub(crate) const SHOWN: &str = "
create table shown (
  session text not null,
  record blob not null,
  content_hash blob not null,
  sources blob not null,
  at bigint not null,
  primary key (session, record, content_hash)
) without rowid;
insert into shown (session, record, content_hash, sources, at)
  select session, record, content_hash, sources, at from seen;
drop table seen;
alter table shown rename to seen;
create index seen_at on seen (at);

pragma user_version = 11;
";

/// Erases the bodies of events; id, position, kind, role, trust, level and `recorded_at` stay, and the idempotency key without
/// the hash of its body. The time comes before the ids.
pub(crate) static ERASE_EVENTS: BulkStatement = many!(
    "update event set session = null, channel = null, parent = null, speaker = null, \
     user_name = null, agent_name = null, occurred_at = null, zone = null, zone_offset = null, tool = null, \
     content = null, metadata = null, decision = null, echo = null, checksum = null, body_hash = null, indexed = 0, \
     erased_at = ? where erased_at is null and id in (",
    "?",
    ")"
);
/// Subtracts events from the tallies of their conversations, before they are erased.
pub(crate) static LEAVE_TALLIES: BulkStatement = many!(
    "update tally set events = tally.events - gone.events, seqs = tally.seqs - gone.seqs from \
     (select 'session/' || session as name, count(*) as events, sum(seq) as seqs from event \
      where session is not null and id in (",
    "?",
    ") group by session) as gone where tally.name = gone.name"
);
/// Removes the tallies of empty conversations.
pub(crate) const DELETE_EMPTY_TALLIES: &str = "delete from tally where events = 0";
/// Sets the checksum of an erased event's remaining columns.
pub(crate) const SEAL_ERASED: &str = "update event set checksum = ? where id = ? and erased_at is not null";
/// Replaces a block, without its erased rows or with more vectors.
pub(crate) const REWRITE_BLOCK: &str =
    "update block set last_seq = $2, n_rows = $3, bytes = $4 where first_seq = $1";
/// Removes a block whose rows are all erased.
pub(crate) const DELETE_BLOCK: &str = "delete from block where first_seq = $1";
/// Removes blocks that were merged into one.
pub(crate) const DELETE_BLOCKS: &str = "delete from block where first_seq >= $1 and first_seq <= $2";

/// Removes learnings that lost their last remaining source.
pub(crate) static DELETE_LEARNINGS: BulkStatement = many!("delete from learning where id in (", "?", ")");
/// Removes the sources of learnings, before they are rewritten or with them.
pub(crate) static DELETE_LEARNING_SOURCES: BulkStatement =
    many!("delete from learning_source where learning in (", "?", ")");
/// Removes those of some learnings whose sources are all erased.
pub(crate) static DELETE_ERASED_LEARNINGS: BulkStatement = many!(
    "delete from learning where id in (",
    "?",
    ") and exists (select 1 from learning_source s where s.learning = learning.id) \
     and not exists (select 1 from learning_source s left join event e on e.id = s.event \
                     where s.learning = learning.id and e.erased_at is null)"
);
/// Removes the sources of removed learnings.
pub(crate) static DELETE_LOOSE_SOURCES: BulkStatement = many!(
    "delete from learning_source where learning in (",
    "?",
    ") and not exists (select 1 from learning l where l.id = learning_source.learning)"
);
/// Empties the projection of learnings.
pub(crate) const RESET_LEARNINGS: [&str; 2] = ["delete from learning_source", "delete from learning"];
/// Removes entities: those without a remaining source, and those that rest on an erased event.
pub(crate) static DELETE_ENTITIES: BulkStatement = many!("delete from entity where id in (", "?", ")");
/// Removes the names of entities, before they are rewritten or with them.
pub(crate) static DELETE_ENTITY_NAMES: BulkStatement =
    many!("delete from entity_name where entity in (", "?", ")");
/// Removes facts: those without a remaining source, and those that rest on an erased event.
pub(crate) static DELETE_FACTS: BulkStatement = many!("delete from fact where id in (", "?", ")");
/// Removes the sources of graph records.
pub(crate) static DELETE_GRAPH_SOURCES: BulkStatement =
    many!("delete from graph_source where record in (", "?", ")");
/// Removes mentions, by event and entity.
pub(crate) static DELETE_MENTIONS: BulkStatement =
    many!("delete from mention where (event, entity) in (values ", "(?,?)", ")");
/// Removes the mentions in events that are erased.
pub(crate) static DELETE_MENTIONS_IN: BulkStatement = many!("delete from mention where event in (", "?", ")");
/// Empties the projection of the graph.
pub(crate) const RESET_GRAPH: [&str; 5] = [
    "delete from graph_source",
    "delete from entity_name",
    "delete from entity",
    "delete from fact",
    "delete from mention",
];
/// Removes summary nodes without remaining content.
pub(crate) static DELETE_SUMMARIES: BulkStatement = many!("delete from summary where path in (", "?", ")");
/// Removes the parent links of nodes, before they are rewritten or with them.
pub(crate) static DELETE_SUMMARY_PARENTS: BulkStatement =
    many!("delete from summary_parent where path in (", "?", ")");
/// Removes the sources of nodes, before they are rewritten or with them.
pub(crate) static DELETE_SUMMARY_SOURCES: BulkStatement =
    many!("delete from summary_source where path in (", "?", ")");
/// Removes the text of nodes that rest on an erased event.
pub(crate) static ERASED_SUMMARIES: BulkStatement =
    many!("update summary set body = null where path in (", "?", ")");
/// The same for nodes that are written while the event is erased.
pub(crate) static ERASED_WITH_A_SOURCE: BulkStatement = many!(
    "update summary set body = null where path in (",
    "?",
    ") and exists (select 1 from summary_source s join tombstone t on t.event = s.event \
     where s.path = summary.path)"
);
/// Empties the summary tree.
pub(crate) const RESET_SUMMARIES: [&str; 3] =
    ["delete from summary_source", "delete from summary_parent", "delete from summary"];
/// Removes every receipt, when a part of them is gone.
#[cfg(any(feature = "sqlite", test))]
pub(crate) const RESET_RECEIPTS: [&str; 2] = ["delete from receipt_source", "delete from receipt"];
/// Removes the shown records of every session, when a part of them is gone.
#[cfg(any(feature = "sqlite", test))]
pub(crate) const RESET_SEEN: [&str; 2] = ["delete from seen_source", "delete from seen"];
/// Removes every cached model answer, when a part of them is gone.
#[cfg(any(feature = "sqlite", test))]
pub(crate) const RESET_COMPLETIONS: [&str; 2] = ["delete from completion_source", "delete from completion"];
/// Removes a layer's dead letters.
pub(crate) const DELETE_DEAD: &str = "delete from dead_letter where layer = $1";
/// Removes the dead letters of events that were processed after all.
pub(crate) const DELETE_REVIVED: &str = "delete from dead_letter where layer = $1 and event = $2";
/// Removes the edition of a layer.
pub(crate) const DELETE_EDITION: &str = "delete from edition where layer = $1";
/// Removes a layer's cursor.
pub(crate) const DELETE_CURSOR: &str = "delete from progress where layer = $1";

/// Replaces a receipt by one without the lines that rest on erased events.
pub(crate) const CLEANSE_RECEIPT: &str = "update receipt set body = $2 where id = $1";
/// Removes the links from an event to receipts.
pub(crate) const DELETE_RECEIPT_SOURCES: &str = "delete from receipt_source where event = $1";
/// Removes the sources of old receipts.
pub(crate) const SWEEP_RECEIPT_SOURCES: &str = "delete from receipt_source where receipt in (select id from receipt where at < $1 order by at, id limit $2 + 0)";
/// Removes the oldest of the old receipts.
pub(crate) const SWEEP_RECEIPTS: &str =
    "delete from receipt where id in (select id from receipt where at < $1 order by at, id limit $2 + 0)";
/// Removes the sources of some records that were last shown long ago, except those shown again since.
pub(crate) const SWEEP_SEEN_SOURCES: &str = "delete from seen_source where (session, record) in \
     (select session, record from seen where at < $1 order by at, session, record, content_hash limit $2 + 0) \
     and not exists (select 1 from seen s where s.session = seen_source.session and s.record = seen_source.record \
     and s.at >= $1)";
/// Removes the same records.
pub(crate) const SWEEP_SEEN: &str = "delete from seen where (session, record, content_hash) in \
     (select session, record, content_hash from seen where at < $1 \
     order by at, session, record, content_hash limit $2 + 0)";
/// Removes one shown record of a session.
pub(crate) const DELETE_SEEN: &str =
    "delete from seen where session = $1 and record = $2 and content_hash = $3";
/// Removes the shown records of a session.
pub(crate) const CLEAR_SEEN: &str = "delete from seen where session = $1";
/// Removes the sources of these records.
pub(crate) const CLEAR_SEEN_SOURCES: &str = "delete from seen_source where session = $1";
/// Removes the shown records that rest on an event.
pub(crate) const DELETE_SEEN_SOURCES: &str = "delete from seen_source where event = $1";

/// Removes an entry of working memory.
pub(crate) const DELETE_WORKING: &str = "delete from working where key = $1";
/// Removes the entries below a path, and the path's own entry.
pub(crate) const DELETE_WORKING_BELOW: &str =
    "delete from working where key = $1 or (key >= $2 and key < $3)";
/// Empties working memory.
pub(crate) const DELETE_WORKING_ALL: &str = "delete from working";
/// Removes the entries that have expired.
pub(crate) const SWEEP_WORKING: &str = "delete from working where key in (select key from working where expires_at <= $1 order by expires_at limit $2 + 0)";

/// Removes old lines of a book of the ledger.
pub(crate) const SWEEP_LEDGER: &str = "delete from ledger where book = $1 and name in \
     (select name from ledger where book = $1 and at < $2 order by at, name limit $3 + 0)";
/// Removes an answer of a language model.
pub(crate) const DELETE_COMPLETION: &str = "delete from completion where prompt = $1";
/// Removes the sources of an answer, before it is rewritten or with it.
pub(crate) const DELETE_COMPLETION_SOURCES: &str = "delete from completion_source where prompt = $1";

/// Marks a forget decision as finished.
pub(crate) const FINISH_FORGETTING: &str = "delete from forgetting where decision = $1";

/// Removes a space of a database: its rows in these tables, and its name, which consists of letters, digits, dots, lines and
/// underscores.
#[cfg(feature = "postgres")]
pub(crate) fn removal_of_space(tables: &[&str], space: i64, name: &mnemal_core::SpaceId) -> String {
    let rows = tables.iter().map(|table| format!("delete from {table} where space_id = {space}; "));
    format!("{}delete from directory where name = '{}'", rows.collect::<String>(), name.as_str())
}

/// Every statement here, for the test that prepares them.
#[cfg(test)]
pub(crate) fn all() -> Vec<&'static str> {
    let [sources, learnings] = RESET_LEARNINGS;
    let mut all = vec![
        DELETE_EMPTY_TALLIES,
        SEAL_ERASED,
        REWRITE_BLOCK,
        DELETE_BLOCK,
        DELETE_BLOCKS,
        sources,
        learnings,
        DELETE_DEAD,
        DELETE_REVIVED,
        DELETE_EDITION,
        DELETE_CURSOR,
        CLEANSE_RECEIPT,
        DELETE_RECEIPT_SOURCES,
        SWEEP_RECEIPT_SOURCES,
        SWEEP_RECEIPTS,
        SWEEP_SEEN,
        SWEEP_SEEN_SOURCES,
        DELETE_SEEN,
        CLEAR_SEEN,
        CLEAR_SEEN_SOURCES,
        DELETE_SEEN_SOURCES,
        DELETE_WORKING,
        DELETE_WORKING_BELOW,
        DELETE_WORKING_ALL,
        SWEEP_WORKING,
        SWEEP_LEDGER,
        DELETE_COMPLETION,
        DELETE_COMPLETION_SOURCES,
        FINISH_FORGETTING,
    ];
    all.extend(RESET_GRAPH);
    all.extend(RESET_SUMMARIES);
    all.extend(RESET_RECEIPTS);
    all.extend(RESET_SEEN);
    all.extend(RESET_COMPLETIONS);
    let many = [
        &ERASE_EVENTS,
        &LEAVE_TALLIES,
        &DELETE_LEARNINGS,
        &DELETE_LEARNING_SOURCES,
        &DELETE_ERASED_LEARNINGS,
        &DELETE_LOOSE_SOURCES,
        &DELETE_ENTITIES,
        &DELETE_ENTITY_NAMES,
        &DELETE_FACTS,
        &DELETE_GRAPH_SOURCES,
        &DELETE_MENTIONS,
        &DELETE_MENTIONS_IN,
        &DELETE_SUMMARIES,
        &DELETE_SUMMARY_PARENTS,
        &DELETE_SUMMARY_SOURCES,
        &ERASED_SUMMARIES,
        &ERASED_WITH_A_SOURCE,
    ];
    all.extend(many.into_iter().flat_map(BulkStatement::texts));
    all
}
