//! Every statement that reads or adds rows, once for all databases. Removing statements are in [`removal`](crate::removal).

use crate::bulk::{BulkStatement, many};

/// The columns of an event as they are read; the first 24 are what its checksum covers.
macro_rules! event_columns {
    () => {
        "seq, id, recorded_at, kind, role, origin, trust, level, session, channel, parent, speaker, user_name, \
         agent_name, occurred_at, zone, zone_offset, idempotency_key, tool, content, metadata, decision, quarantined, echo"
    };
}

/// The mark: counters of the space, the position of the last event, which must be the head, the event at a position ($1), and the
/// event at the head.
macro_rules! mark {
    ($known:literal) => {
        concat!(
            "select head, forgets, vectors, (select coalesce(max(seq), 0) from event), (select id from event where seq = ",
            $known,
            "), (select id from event where seq = space.head)"
        )
    };
}
pub(crate) const MARK: &str = concat!(mark!("$1"), " from space");
/// The mark with the event at a position ($3), then cursor and number of writes of the learnings ($1), then those of the graph
/// ($2), as in [`LAYER_VERSION`].
pub(crate) const STATE: &str = concat!(
    mark!("$3"),
    ", coalesce((select seq from progress where layer = $1), 0), \
     coalesce((select seq from progress where layer = $1 || '/writes'), 0), \
     coalesce((select seq from progress where layer = $2), 0), \
     coalesce((select seq from progress where layer = $2 || '/writes'), 0) from space"
);
pub(crate) const ADVANCE: &str = "update space set prior_at = recorded_at, \
     recorded_at = case when recorded_at + $1 > $2 then recorded_at + $1 else $2 end, head = head + $1 \
     returning head, prior_at";
pub(crate) const MORE_FORGETS: &str = "update space set forgets = forgets + 1";
pub(crate) const MORE_VECTORS: &str = "update space set vectors = vectors + 1";

pub(crate) static INSERT_EVENTS: BulkStatement = many!(
    concat!("insert into event (", event_columns!(), ", checksum, body_hash, indexed) values "),
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    ""
);
pub(crate) static EVENTS_BY_ID: BulkStatement =
    many!(concat!("select ", event_columns!(), ", checksum, erased_at from event where id in ("), "?", ")");
/// The same by a scan of the whole log, which needs no index.
pub(crate) static EVENTS_BY_WALK: BulkStatement = many!(
    concat!("select ", event_columns!(), ", checksum, erased_at from event not indexed where id in ("),
    "?",
    ")"
);
pub(crate) static EVENTS_AT: BulkStatement =
    many!(concat!("select ", event_columns!(), ", checksum, erased_at from event where seq in ("), "?", ")");
pub(crate) static PLACES_BY_ID: BulkStatement =
    many!("select id, seq, erased_at, indexed from event where id in (", "?", ")");
pub(crate) static EVENTS_BY_KEY: BulkStatement =
    many!("select idempotency_key, id, seq, body_hash from event where idempotency_key in (", "?", ")");

/// The log after a position, backward from one, and the same for one conversation or for the decisions. Further filters apply
/// to the rows that were read, after their checksums: a damaged column must not hide its row.
pub(crate) const SCAN: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where seq > $1 order by seq limit $2 + 0"
);
pub(crate) const LATEST: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where seq < $1 order by seq desc limit $2 + 0"
);
pub(crate) const SCAN_SESSION: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where session = $3 and seq > $1 order by seq limit $2 + 0"
);
pub(crate) const LATEST_SESSION: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where session = $3 and seq < $1 order by seq desc limit $2 + 0"
);
pub(crate) const SCAN_DECISIONS: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where role = 4 and seq > $1 order by seq limit $2 + 0"
);
pub(crate) const LATEST_DECISIONS: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where role = 4 and seq < $1 order by seq desc limit $2 + 0"
);
/// Conversations, each with a count of those whose index disagrees with the tally.
pub(crate) const SESSIONS: &str = "with listed as (select session, count(*) as events, min(seq) as first_seq, \
     max(seq) as last_seq, sum(seq) as seqs from event where session is not null group by session) \
     select session, events, first_seq, last_seq, \
     (select count(*) from listed l left join tally t on t.name = 'session/' || l.session \
      where t.events is null or t.events <> l.events or t.seqs <> l.seqs) \
     + abs((select count(*) from tally where name <> 'decisions') - (select count(*) from listed)) \
     from listed order by last_seq desc limit $1 + 0";
/// The number of quarantined events in a part of the log.
pub(crate) const COUNT_QUARANTINED: &str =
    "select count(*) from event where quarantined is not null and seq > $1 and seq <= $2";
/// The number of conversations, up to a limit, by the tally that each append and each erasure keeps.
pub(crate) const COUNT_SESSIONS: &str =
    "select count(*) from (select name from tally where name <> 'decisions' limit $1 + 0) as listed";
/// The contents of an index before position `$1` in scan direction and after it, and the expected contents. The scan takes the
/// same path as the list, because a damaged index may answer differently on another; a limit keeps the order.
macro_rules! tally {
    ($of:literal, $name:literal, $ahead:literal, $order:literal, $behind:literal) => {
        concat!(
            "select w.events + b.events, w.seqs + b.seqs, coalesce((select events from tally where name = ",
            $name,
            "), 0), coalesce((select seqs from tally where name = ",
            $name,
            "), 0) from (select count(*) as events, coalesce(sum(seq), 0) as seqs from (select seq from event where ",
            $of,
            " and seq ",
            $ahead,
            " $1 order by seq ",
            $order,
            " limit 9223372036854775807) ahead) w, \
             (select count(*) as events, coalesce(sum(seq), 0) as seqs from (select seq from event where ",
            $of,
            " and seq ",
            $behind,
            " $1 order by seq limit 9223372036854775807) behind) b"
        )
    };
}
pub(crate) const SCAN_TALLY_OF_SESSION: &str = tally!("session = $2", "'session/' || $2", ">", "asc", "<=");
pub(crate) const LATEST_TALLY_OF_SESSION: &str =
    tally!("session = $2", "'session/' || $2", "<", "desc", ">=");
pub(crate) const SCAN_TALLY_OF_DECISIONS: &str = tally!("role = 4", "'decisions'", ">", "asc", "<=");
pub(crate) const LATEST_TALLY_OF_DECISIONS: &str = tally!("role = 4", "'decisions'", "<", "desc", ">=");
pub(crate) static ADD_TO_TALLIES: BulkStatement = many!(
    "insert into tally (name, events, seqs) values ",
    "(?,?,?)",
    " on conflict (name) do update set events = tally.events + excluded.events, seqs = tally.seqs + excluded.seqs"
);
pub(crate) const INDEXED: &str =
    "select seq, id from event where indexed = 1 and seq > $1 order by seq limit $2 + 0";

/// Whether an event that must be indexed is after the last block.
pub(crate) const INDEX_LACKS: &str = "select exists (select 1 from event where indexed = 1 \
     and seq > coalesce((select max(last_seq) from block), 0))";
/// Counts of a layer's sources and of its rows: they differ where rows were lost.
pub(crate) const GRAPH_COUNTS: &str = "select (select count(*) from entity) + (select count(*) from fact), \
     (select count(distinct record) from graph_source)";
pub(crate) const ORPHANS: &str = "select (select count(*) from entity_name n where not exists \
     (select 1 from entity e where e.id = n.entity)), (select count(*) from mention m where not exists \
     (select 1 from entity e where e.id = m.entity))";
pub(crate) const SUMMARY_ORPHANS: &str = "select count(*) from (select distinct path from summary_source) s \
     where not exists (select 1 from summary n where n.path = s.path)";
/// The newest rows of a layer.
pub(crate) const NEWEST_FACTS: &str = "select id, body from fact order by id desc limit $1 + 0";
pub(crate) const NEWEST_ENTITIES: &str = "select id, body from entity order by id desc limit $1 + 0";
pub(crate) const NEWEST_SUMMARIES: &str =
    "select path, body from summary where body is not null order by path desc limit $1 + 0";
pub(crate) const NEWEST_ENTRIES: &str = "select body from working order by key desc limit $1 + 0";
pub(crate) const NEWEST_BLOCKS: &str = "select bytes from block order by first_seq desc limit $1 + 0";

pub(crate) const TOMBSTONES: &str = "select event, body, sentences, at from tombstone order by event";
pub(crate) static INSERT_TOMBSTONES: BulkStatement = many!(
    "insert into tombstone (event, body, sentences, at) values ",
    "(?,?,?,?)",
    " on conflict (event) do update set body = excluded.body, sentences = excluded.sentences, at = excluded.at"
);
pub(crate) static ADOPT_TOMBSTONES: BulkStatement = many!(
    "insert into tombstone (event, body, sentences, at) values ",
    "(?,?,?,?)",
    " on conflict (event) do nothing"
);

pub(crate) const BLOCKS: &str = "select b.bytes from block b \
     join (select first_seq, sum(n_rows) over (order by first_seq) - n_rows as before \
           from block where last_seq > $1) t on t.first_seq = b.first_seq \
     where t.before < $2 order by b.first_seq";
pub(crate) const BLOCKS_FROM: &str =
    "select first_seq, bytes from block where first_seq > $1 order by first_seq limit $2 + 0";
pub(crate) const BLOCK_SIZES: &str = "select first_seq, n_rows from block order by first_seq";
pub(crate) const BLOCK_WEIGHTS: &str =
    "select first_seq, n_rows, length(bytes) from block order by first_seq";
pub(crate) const BLOCK_RANGE: &str =
    "select first_seq, bytes from block where first_seq >= $1 and first_seq <= $2 order by first_seq";
pub(crate) const BLOCK_OF: &str =
    "select first_seq, last_seq, bytes from block where first_seq <= $1 order by first_seq desc limit 1";
pub(crate) const SMALL_ROWS: &str = "select coalesce(sum(n_rows), 0) from block where n_rows < $1";
pub(crate) const INSERT_BLOCK: &str =
    "insert into block (first_seq, last_seq, n_rows, bytes) values (?, ?, ?, ?)";
pub(crate) const MODELS: &str = "select model, dimensions from vector_model";
pub(crate) const INSERT_MODEL: &str =
    "insert into vector_model (model, dimensions) values ($1, $2) on conflict (model) do nothing";

pub(crate) const CURSOR: &str = "select seq from progress where layer = $1";
/// Moves the cursor of a layer ($1) to a position ($2) if it is at another ($3), or writes its first row if that is the start.
pub(crate) const MOVE_CURSOR: &str = "insert into progress (layer, seq) \
     select $1, $2 where $3 = 0 or exists (select 1 from progress where layer = $1) \
     on conflict (layer) do update set seq = excluded.seq where progress.seq = $3";
/// Counts a write to the rows of a layer. The counter is a companion row, and is never lowered: rows that are made anew behind
/// the same cursor have another number.
pub(crate) const COUNT_WRITE: &str = "insert into progress (layer, seq) values (? || '/writes', 1) \
     on conflict (layer) do update set seq = progress.seq + 1";
/// The version of the rows of a layer ($1), which detects changes: its cursor, the erasures, and the writes.
pub(crate) const LAYER_VERSION: &str = "select coalesce((select seq from progress where layer = $1), 0), forgets, \
     coalesce((select seq from progress where layer = $1 || '/writes'), 0) from space";
pub(crate) static INSERT_DEAD: BulkStatement = many!(
    "insert into dead_letter (layer, event, why) values ",
    "(?,?,?)",
    " on conflict (layer, event) do update set why = excluded.why"
);
pub(crate) const DEAD: &str = "select d.event, d.why from dead_letter d left join event e on e.id = d.event \
     where d.layer = $1 order by coalesce(e.seq, 0), d.event limit $2 + 0";

/// The edition of a layer ($1), with the contents of its companion row ($2).
pub(crate) const EDITION: &str = "select producer, version, difference, \
     (select difference from edition where layer = $2) from edition where layer = $1";
pub(crate) const PUT_EDITION: &str = "insert into edition (layer, producer, version, difference) values ($1, $2, $3, $4) \
     on conflict (layer) do update set producer = excluded.producer, version = excluded.version, \
     difference = excluded.difference";

pub(crate) static INSERT_LEARNINGS: BulkStatement = many!(
    "insert into learning (id, note_key, created_at, expired_at, trust, level, body) values ",
    "(?,?,?,?,?,?,?)",
    " on conflict (id) do update set note_key = excluded.note_key, created_at = excluded.created_at, \
     expired_at = excluded.expired_at, trust = excluded.trust, level = excluded.level, body = excluded.body"
);
pub(crate) static INSERT_LEARNING_SOURCES: BulkStatement = many!(
    "insert into learning_source (learning, event) values ",
    "(?,?)",
    " on conflict (learning, event) do nothing"
);
pub(crate) static LEARNINGS_OF: BulkStatement =
    many!("select distinct learning from learning_source where event in (", "?", ")");
/// First a row of counts, of learnings and of those that sources name; then the learnings. A row's data is in its body, which
/// has a checksum, so no other column is read.
pub(crate) const LEARNINGS: &str = "select null, null, (select count(*) from learning), \
     (select count(distinct learning) from learning_source) union all select id, body, null, null from learning order by 1 nulls first";
/// The same counts alone, and the next learnings after an id: for selective reads.
pub(crate) const LEARNING_COUNTS: &str =
    "select (select count(*) from learning), (select count(distinct learning) from learning_source)";
pub(crate) const LEARNINGS_AFTER: &str =
    "select id, body from learning where id > $1 order by id limit $2 + 0";
/// The same without learnings that rest on an erased event.
pub(crate) const LIVING_LEARNINGS: &str = "select null, null, (select count(*) from learning), \
     (select count(distinct learning) from learning_source) union all \
     select id, body, null, null from learning l where not exists (select 1 from learning_source s \
     join tombstone t on t.event = s.event where s.learning = l.id) order by 1 nulls first";
/// The same of those known at a moment; $1 is that moment.
pub(crate) const KNOWN_LEARNINGS: &str = "select null, null, (select count(*) from learning), \
     (select count(distinct learning) from learning_source) union all \
     select id, body, null, null from learning l where created_at <= $1 and (expired_at is null or expired_at > $1) \
     and not exists (select 1 from learning_source s \
     join tombstone t on t.event = s.event where s.learning = l.id) order by 1 nulls first";

pub(crate) static INSERT_ENTITIES: BulkStatement = many!(
    "insert into entity (id, joined, body) values ",
    "(?,?,?)",
    " on conflict (id) do update set joined = excluded.joined, body = excluded.body"
);
pub(crate) static INSERT_ENTITY_NAMES: BulkStatement = many!(
    "insert into entity_name (name_key, entity) values ",
    "(?,?)",
    " on conflict (name_key, entity) do nothing"
);
pub(crate) static INSERT_FACTS: BulkStatement = many!(
    "insert into fact (id, subject, predicate, object, created_at, expired_at, rank, body) values ",
    "(?,?,?,?,?,?,?,?)",
    " on conflict (id) do update set subject = excluded.subject, predicate = excluded.predicate, \
     object = excluded.object, created_at = excluded.created_at, expired_at = excluded.expired_at, \
     rank = excluded.rank, body = excluded.body"
);
pub(crate) static INSERT_GRAPH_SOURCES: BulkStatement = many!(
    "insert into graph_source (record, event) values ",
    "(?,?)",
    " on conflict (record, event) do nothing"
);
pub(crate) static INSERT_MENTIONS: BulkStatement = many!(
    "insert into mention (event, entity, span_start, span_end, session, occurred_at) values ",
    "(?,?,?,?,?,?)",
    " on conflict (event, entity) do update set span_start = excluded.span_start, span_end = excluded.span_end, \
     session = excluded.session, occurred_at = excluded.occurred_at"
);
pub(crate) static GRAPH_OF: BulkStatement =
    many!("select distinct record from graph_source where event in (", "?", ")");

pub(crate) static INSERT_SUMMARIES: BulkStatement = many!(
    "insert into summary (path, body) values ",
    "(?,?)",
    " on conflict (path) do update set body = excluded.body"
);
pub(crate) static INSERT_SUMMARY_PARENTS: BulkStatement = many!(
    "insert into summary_parent (parent, path, last_at) values ",
    "(?,?,?)",
    " on conflict (parent, path) do update set last_at = excluded.last_at"
);
pub(crate) static INSERT_SUMMARY_SOURCES: BulkStatement = many!(
    "insert into summary_source (path, event) values ",
    "(?,?)",
    " on conflict (path, event) do nothing"
);
pub(crate) static SUMMARIES_OF: BulkStatement =
    many!("select distinct path from summary_source where event in (", "?", ")");
pub(crate) static SUMMARIES_AT: BulkStatement =
    many!("select path, body from summary where body is not null and path in (", "?", ")");
pub(crate) const SUMMARIES: &str = "select path, body from summary where body is not null order by path";
pub(crate) const ERASED_SUMMARIES: &str =
    "select path from summary where body is null order by path limit $1 + 0";
pub(crate) const SUMMARY_PARENTS: &str = "select parent from summary_parent where path = $1 order by parent";
pub(crate) const SUMMARY_CHILDREN: &str = "select s.path, s.body from summary_parent p \
     join summary s on s.path = p.path where p.parent = $1 and s.body is not null \
     order by p.last_at desc, p.path limit $2 + 0";

/// Which of these events are erased. Each has a tombstone since the same commit; tombstones are few, and no event row with its
/// content must be read.
pub(crate) static ERASED_OF: BulkStatement = many!("select event from tombstone where event in (", "?", ")");

pub(crate) const ENTITIES: &str = "select id, body from entity";
pub(crate) static ENTITIES_NAMED: BulkStatement = many!(
    "select e.id, e.body from entity_name n join entity e on e.id = n.entity where n.name_key in (",
    "?",
    ")"
);
pub(crate) static IDS_NAMED: BulkStatement =
    many!("select entity from entity_name where name_key in (", "?", ")");
pub(crate) const ENTITIES_JOINED: &str = "select id, body from entity where joined = $1";
pub(crate) static ENTITIES_BY_ID: BulkStatement =
    many!("select id, body from entity where id in (", "?", ")");

/// Facts, all versions or the believed ones, by the given keys.
macro_rules! facts {
    ($where:literal) => {
        concat!("select id, body from fact", $where)
    };
}
pub(crate) const FACTS: &str = facts!("");
pub(crate) static FACTS_OF_SLOTS: BulkStatement =
    many!(facts!(" where predicate in ("), "?", ") and subject = ?");
pub(crate) static FACTS_OF_SUBJECTS: BulkStatement = many!(facts!(" where subject in ("), "?", ")");
pub(crate) static FACTS_OF_OBJECTS: BulkStatement = many!(facts!(" where object in ("), "?", ")");
pub(crate) static FACTS_OF_SOURCES: BulkStatement =
    many!(facts!(" where id in (select record from graph_source where event in ("), "?", "))");
pub(crate) const BELIEVED: &str = facts!(" where expired_at is null");
/// The unary sign keeps the database from scanning all believed facts of a subject, which may be thousands.
pub(crate) static BELIEVED_OF_SLOTS: BulkStatement =
    many!(facts!(" where +expired_at is null and predicate in ("), "?", ") and subject = ?");
pub(crate) static BELIEVED_OF_SUBJECTS: BulkStatement =
    many!(facts!(" where expired_at is null and subject in ("), "?", ")");
pub(crate) static BELIEVED_OF_OBJECTS: BulkStatement =
    many!(facts!(" where expired_at is null and object in ("), "?", ")");
pub(crate) static BELIEVED_OF_SOURCES: BulkStatement = many!(
    facts!(" where expired_at is null and id in (select record from graph_source where event in ("),
    "?",
    "))"
);
/// The strongest believed facts of these; their number comes last. Once a row of an entity does not qualify, no later one does,
/// so that the database goes on with the next entity.
pub(crate) static STRONGEST_OF_SUBJECTS: BulkStatement =
    many!(facts!(" where expired_at is null and subject in ("), "?", ") order by rank desc, id limit ? + 0");
pub(crate) static STRONGEST_OF_OBJECTS: BulkStatement =
    many!(facts!(" where expired_at is null and object in ("), "?", ") order by rank desc, id limit ? + 0");

pub(crate) const MENTIONS: &str =
    "select event, entity, span_start, span_end, session, occurred_at from mention order by event, entity";
pub(crate) const MENTIONS_IN_SESSION: &str =
    "select event, entity, span_start, span_end, session, occurred_at from mention where session = $1";
pub(crate) static MENTIONS_OF_EVENTS: BulkStatement = many!(
    "select event, entity, span_start, span_end, session, occurred_at from mention where event in (",
    "?",
    ")"
);
pub(crate) static MENTIONS_OF_ENTITIES: BulkStatement = many!(
    "select event, entity, span_start, span_end, session, occurred_at from mention where entity in (",
    "?",
    ")"
);

pub(crate) const INSERT_RECEIPT: &str = "insert into receipt (id, session, at, body) values (?, ?, ?, ?)";
pub(crate) const RECEIPT: &str = "select body from receipt where id = $1";
/// The newest receipts.
pub(crate) const LATEST_RECEIPTS: &str = "select body from receipt order by at desc, id desc limit $1 + 0";
/// The newest receipts of a period.
pub(crate) const RECEIPTS_BETWEEN: &str =
    "select body from receipt where at >= $1 and at < $2 order by at desc, id desc limit $3 + 0";
/// The next receipts after an id.
pub(crate) const RECEIPTS_AFTER: &str = "select id, body from receipt where id > $1 order by id limit $2 + 0";
/// Changes whenever another connection has committed, and only then.
pub(crate) const DATA_VERSION: &str = "pragma data_version";
/// Shown records of a session. A repetition within the hour (in microseconds) changes nothing: a conversation is shown most of
/// its lines with each turn, and each change writes a page of the table and of the index by time.
///
/// Session, time, and the rows as one JSON list of texts: record (17 bytes), hash (16) and sources in hexadecimal digits. So a
/// receipt is one round trip with one text, whatever the number of its lines.
pub(crate) const INSERT_SEEN: &str = "insert into seen (session, record, content_hash, sources, at) \
     select ?, unhex(substr(value, 1, 34)), unhex(substr(value, 35, 32)), unhex(substr(value, 67)), ? from json_each(?) where true \
     on conflict (session, record, content_hash) do update set sources = excluded.sources, at = excluded.at \
     where seen.sources <> excluded.sources or seen.at < excluded.at - 3600000000";
/// The shown records of a session, each with whether its first source event (the first 16 bytes of its sources) is erased.
pub(crate) const SEEN: &str = "select record, content_hash, sources, exists (select 1 from tombstone t \
     where t.event = substr(seen.sources, 1, 16)) from seen where session = $1 order by 1, 2";
/// Takes a lease that is free, released, expired at `$4`, or ends later than any can (`$5`).
pub(crate) const TAKE_LEASE: &str = "insert into lease (name, owner, turn, until, released, left_by) \
     values ($1, $2, 1, $3, 0, null) on conflict (name) do update set \
     left_by = case when lease.released = 1 then null else lease.owner end, \
     owner = excluded.owner, turn = lease.turn + 1, until = excluded.until, released = 0 \
     where lease.released = 1 or lease.until <= $4 or lease.until > $5 returning turn, left_by";
pub(crate) const RENEW_LEASE: &str = "update lease set until = $4 where name = $1 and owner = $2 and turn = $3 \
     and released = 0 and until > $5 and until <= $6";
pub(crate) const RELEASE_LEASE: &str =
    "update lease set released = 1 where name = $1 and owner = $2 and turn = $3 and released = 0";
#[cfg(any(feature = "sqlite", test))]
pub(crate) const LEASE_HELD: &str =
    "select name, owner from lease where released = 0 order by until desc limit 1";
pub(crate) const LEASE: &str = "select owner, turn, until from lease where name = $1 and released = 0";

/// Lines of the ledger; the newest with its key counts.
pub(crate) static PUT_LEDGER: BulkStatement = many!(
    "insert into ledger (book, name, at, body) values ",
    "(?,?,?,?)",
    " on conflict (book, name) do update set at = excluded.at, body = excluded.body"
);
pub(crate) const LEDGER: &str =
    "select name, at, body from ledger where book = $1 order by at desc, name limit $2 + 0";

/// Working memory. The keys below a path are between the path with `/` and the path with the character after `/`.
pub(crate) const PUT_WORKING: &str = "insert into working (key, namespace, expires_at, body) values ($1, $2, $3, $4) \
     on conflict (key) do update set expires_at = excluded.expires_at, body = excluded.body";
pub(crate) const WORKING: &str = "select body from working where key = $1";
pub(crate) const WORKING_ALL: &str = "select key, body from working";
/// A key, and the bounds of those below it.
pub(crate) static WORKING_BELOW: BulkStatement = many!(
    "with below (itself, first, past) as (values ",
    "(?,?,?)",
    ") select key, body from below cross join working where key = itself or (key >= first and key < past)"
);
/// The entries of a namespace beyond its room, except the one with this key: first what expires first.
pub(crate) const WORKING_BEYOND: &str = "select key, expires_at from working where namespace = $1 and key <> $2 \
     order by expires_at, key limit max(0, (select count(*) from working where namespace = $1) - $3)";

/// Cached answers of language models, with their source events.
pub(crate) const PUT_COMPLETION: &str = "insert into completion (prompt, body) values ($1, $2) on conflict (prompt) do update set body = excluded.body";
pub(crate) static INSERT_COMPLETION_SOURCES: BulkStatement =
    many!("insert into completion_source (event, prompt) values ", "(?,?)", "");
pub(crate) const COMPLETION: &str = "select body from completion c where prompt = $1 and not exists \
     (select 1 from completion_source s join tombstone t on t.event = s.event \
     where s.prompt = c.prompt)";
pub(crate) static COMPLETIONS_OF: BulkStatement =
    many!("select distinct prompt from completion_source where event in (", "?", ")");

/// Marks a forget decision as unfinished; finishing it removes the mark.
pub(crate) const START_FORGETTING: &str =
    "insert into forgetting (decision) values (?) on conflict (decision) do nothing";
pub(crate) const FORGETTING: &str = "select f.decision from forgetting f left join event e on e.id = f.decision \
     order by coalesce(e.seq, 0), f.decision";

/// Every statement here, for the test that prepares them.
#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a list")]
pub(crate) fn all() -> Vec<&'static str> {
    let many = [
        &INSERT_EVENTS,
        &EVENTS_BY_ID,
        &EVENTS_BY_WALK,
        &EVENTS_AT,
        &PLACES_BY_ID,
        &EVENTS_BY_KEY,
        &INSERT_TOMBSTONES,
        &ADOPT_TOMBSTONES,
        &INSERT_DEAD,
        &INSERT_LEARNINGS,
        &INSERT_LEARNING_SOURCES,
        &LEARNINGS_OF,
        &INSERT_ENTITIES,
        &INSERT_ENTITY_NAMES,
        &INSERT_FACTS,
        &INSERT_GRAPH_SOURCES,
        &INSERT_MENTIONS,
        &GRAPH_OF,
        &INSERT_SUMMARIES,
        &INSERT_SUMMARY_PARENTS,
        &INSERT_SUMMARY_SOURCES,
        &SUMMARIES_OF,
        &SUMMARIES_AT,
        &ERASED_OF,
        &ENTITIES_BY_ID,
        &ENTITIES_NAMED,
        &IDS_NAMED,
        &FACTS_OF_SLOTS,
        &BELIEVED_OF_SLOTS,
        &FACTS_OF_SUBJECTS,
        &FACTS_OF_OBJECTS,
        &FACTS_OF_SOURCES,
        &BELIEVED_OF_SUBJECTS,
        &BELIEVED_OF_OBJECTS,
        &BELIEVED_OF_SOURCES,
        &STRONGEST_OF_SUBJECTS,
        &STRONGEST_OF_OBJECTS,
        &MENTIONS_OF_EVENTS,
        &MENTIONS_OF_ENTITIES,
        &ADD_TO_TALLIES,
        &PUT_LEDGER,
        &INSERT_COMPLETION_SOURCES,
        &WORKING_BELOW,
        &COMPLETIONS_OF,
    ];
    let single = [
        MARK,
        STATE,
        ADVANCE,
        MORE_FORGETS,
        MORE_VECTORS,
        SCAN,
        LATEST,
        SCAN_SESSION,
        LATEST_SESSION,
        SCAN_DECISIONS,
        LATEST_DECISIONS,
        SCAN_TALLY_OF_SESSION,
        LATEST_TALLY_OF_SESSION,
        SCAN_TALLY_OF_DECISIONS,
        LATEST_TALLY_OF_DECISIONS,
        SESSIONS,
        COUNT_QUARANTINED,
        COUNT_SESSIONS,
        INDEXED,
        INDEX_LACKS,
        GRAPH_COUNTS,
        ORPHANS,
        SUMMARY_ORPHANS,
        NEWEST_FACTS,
        NEWEST_ENTITIES,
        NEWEST_SUMMARIES,
        NEWEST_ENTRIES,
        NEWEST_BLOCKS,
        TOMBSTONES,
        BLOCKS,
        BLOCKS_FROM,
        BLOCK_SIZES,
        BLOCK_WEIGHTS,
        BLOCK_RANGE,
        BLOCK_OF,
        SMALL_ROWS,
        INSERT_BLOCK,
        MODELS,
        INSERT_MODEL,
        CURSOR,
        MOVE_CURSOR,
        DEAD,
        EDITION,
        PUT_EDITION,
        COUNT_WRITE,
        LAYER_VERSION,
        LEARNINGS,
        LEARNING_COUNTS,
        LEARNINGS_AFTER,
        LIVING_LEARNINGS,
        KNOWN_LEARNINGS,
        ENTITIES,
        ENTITIES_JOINED,
        FACTS,
        BELIEVED,
        SUMMARIES,
        ERASED_SUMMARIES,
        SUMMARY_PARENTS,
        SUMMARY_CHILDREN,
        MENTIONS,
        MENTIONS_IN_SESSION,
        INSERT_RECEIPT,
        INSERT_SEEN,
        DATA_VERSION,
        RECEIPT,
        RECEIPTS_AFTER,
        SEEN,
        TAKE_LEASE,
        RENEW_LEASE,
        RELEASE_LEASE,
        LEASE,
        LEASE_HELD,
        LEDGER,
        PUT_WORKING,
        WORKING,
        WORKING_ALL,
        WORKING_BEYOND,
        PUT_COMPLETION,
        COMPLETION,
        START_FORGETTING,
        FORGETTING,
    ];
    many.into_iter().flat_map(BulkStatement::texts).chain(single).collect()
}
