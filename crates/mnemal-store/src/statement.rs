//! Every statement that reads or adds rows, once for all databases. Those that remove are in [`removal`](crate::removal).

use crate::many::{Many, many};

/// The columns of an event as they are read; the first 24 are what its checksum covers.
macro_rules! event_columns {
    () => {
        "seq, id, recorded_at, kind, role, origin, trust, level, session, channel, parent, speaker, user_name, \
         agent_name, occurred_at, zone, zone_offset, idempotency_key, tool, content, metadata, decision, quarantined, echo"
    };
}

/// What an [`EventFilter`](mnemal_core::EventFilter) asks; a null argument asks nothing. `$1` and `$2` are the caller's.
macro_rules! passes {
    () => {
        " and ($3 is null or session = $3) and ($4 is null or channel = $4) and ($5 is null or speaker = $5) \
         and ($6 is null or user_name = $6) and ($7 is null or agent_name = $7) and ($8 is null or (1 << role) & $8 <> 0) \
         and ($9 is null or occurred_at >= $9) and ($10 is null or occurred_at < $10) \
         and ($11 is null or case when quarantined is null then 0 else 1 end = $11) \
         and ($12 is null or case when erased_at is null then 0 else 1 end = $12) "
    };
}

pub(crate) const MARK: &str = "select head, forgets, vectors from space";
pub(crate) const ADVANCE: &str = "update space set prior_at = recorded_at, \
     recorded_at = case when recorded_at + $1 > $2 then recorded_at + $1 else $2 end, head = head + $1 \
     returning head, prior_at";
pub(crate) const MORE_FORGETS: &str = "update space set forgets = forgets + 1";
pub(crate) const MORE_VECTORS: &str = "update space set vectors = vectors + 1";

pub(crate) static INSERT_EVENTS: Many = many!(
    concat!("insert into event (", event_columns!(), ", checksum, body_hash, indexed) values "),
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    ""
);
pub(crate) static EVENTS_BY_ID: Many =
    many!(concat!("select ", event_columns!(), ", checksum, erased_at from event where id in ("), "?", ")");
pub(crate) static PLACES_BY_ID: Many =
    many!("select id, seq, erased_at, indexed from event where id in (", "?", ")");
pub(crate) static EVENTS_BY_KEY: Many =
    many!("select idempotency_key, id, seq, body_hash from event where idempotency_key in (", "?", ")");

pub(crate) const SCAN: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where seq > $1",
    passes!(),
    "order by seq limit $2"
);
pub(crate) const SCAN_SESSION: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where session = $3 and seq > $1",
    passes!(),
    "order by seq limit $2"
);
pub(crate) const LATEST: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where seq > $1",
    passes!(),
    "order by seq desc limit $2"
);
pub(crate) const LATEST_SESSION: &str = concat!(
    "select ",
    event_columns!(),
    ", checksum, erased_at from event where session = $3 and seq > $1",
    passes!(),
    "order by seq desc limit $2"
);
pub(crate) const SESSIONS: &str = "select first.session, last.channel, s.events, first.occurred_at, last.occurred_at \
     from (select session, count(*) as events, min(seq) as first_seq, max(seq) as last_seq from event \
           where session is not null group by session) s \
     join event first on first.seq = s.first_seq join event last on last.seq = s.last_seq \
     order by s.last_seq desc limit $1";
pub(crate) const INDEXED: &str =
    "select seq, id from event where indexed = 1 and seq > $1 order by seq limit $2";

pub(crate) const TOMBSTONES: &str = "select event, body, sentences, at from tombstone order by event";
pub(crate) static INSERT_TOMBSTONES: Many = many!(
    "insert into tombstone (event, body, sentences, at) values ",
    "(?,?,?,?)",
    " on conflict (event) do update set body = excluded.body, sentences = excluded.sentences, at = excluded.at"
);
pub(crate) static ADOPT_TOMBSTONES: Many = many!(
    "insert into tombstone (event, body, sentences, at) values ",
    "(?,?,?,?)",
    " on conflict (event) do nothing"
);

pub(crate) const BLOCKS: &str = "select b.bytes from block b \
     join (select first_seq, sum(n_rows) over (order by first_seq) - n_rows as before \
           from block where last_seq > $1) t on t.first_seq = b.first_seq \
     where t.before < $2 order by b.first_seq";
pub(crate) const BLOCKS_FROM: &str =
    "select first_seq, bytes from block where first_seq > $1 order by first_seq limit $2";
pub(crate) const BLOCK_SIZES: &str = "select first_seq, n_rows from block order by first_seq";
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
pub(crate) const START_CURSOR: &str =
    "insert into progress (layer, seq) values ($1, 0) on conflict (layer) do nothing";
pub(crate) const MOVE_CURSOR: &str = "update progress set seq = $2 where layer = $1 and seq = $3";
pub(crate) static INSERT_DEAD: Many = many!(
    "insert into dead_letter (layer, event, why) values ",
    "(?,?,?)",
    " on conflict (layer, event) do update set why = excluded.why"
);
pub(crate) const DEAD: &str = "select d.event, d.why from dead_letter d left join event e on e.id = d.event \
     where d.layer = $1 order by coalesce(e.seq, 0), d.event limit $2";

pub(crate) static INSERT_LEARNINGS: Many = many!(
    "insert into learning (id, note_key, created_at, expired_at, trust, level, body) values ",
    "(?,?,?,?,?,?,?)",
    " on conflict (id) do update set note_key = excluded.note_key, created_at = excluded.created_at, \
     expired_at = excluded.expired_at, trust = excluded.trust, level = excluded.level, body = excluded.body"
);
pub(crate) static INSERT_LEARNING_SOURCES: Many = many!(
    "insert into learning_source (learning, event) values ",
    "(?,?)",
    " on conflict (learning, event) do nothing"
);
pub(crate) static LEARNINGS_OF: Many =
    many!("select distinct learning from learning_source where event in (", "?", ")");
pub(crate) const LEARNINGS: &str = "select body from learning order by id";
/// Learnings that are known at `$1` and rest on no erased event.
pub(crate) const LEARNINGS_AT: &str = "select body from learning l where created_at <= $1 \
     and (expired_at is null or expired_at > $1) and not exists (select 1 from learning_source s \
     join event e on e.id = s.event where s.learning = l.id and e.erased_at is not null) order by id";
/// Versions of a key that rest on no erased event.
pub(crate) const LEARNING_VERSIONS: &str = "select body from learning l where note_key = $1 \
     and not exists (select 1 from learning_source s \
     join event e on e.id = s.event where s.learning = l.id and e.erased_at is not null)";

pub(crate) const INSERT_RECEIPT: &str =
    "insert into receipt (id, session, at, body) values ($1, $2, $3, $4) on conflict (id) do nothing";
pub(crate) static INSERT_RECEIPT_SOURCES: Many = many!(
    "insert into receipt_source (event, receipt) values ",
    "(?,?)",
    " on conflict (event, receipt) do nothing"
);
pub(crate) const RECEIPT: &str = "select body from receipt where id = $1";
pub(crate) const RECEIPT_ERASED: &str = "select r.event from receipt_source r join event e on e.id = r.event \
     where r.receipt = $1 and e.erased_at is not null";
pub(crate) static RECEIPTS_OF: Many =
    many!("select distinct receipt from receipt_source where event in (", "?", ")");
pub(crate) static INSERT_SEEN: Many = many!(
    "insert into seen (session, record, content_hash, sources, at) values ",
    "(?,?,?,?,?)",
    " on conflict (session, record) do update set content_hash = excluded.content_hash, sources = excluded.sources, \
     at = excluded.at"
);
pub(crate) static INSERT_SEEN_SOURCES: Many = many!(
    "insert into seen_source (event, session, record) values ",
    "(?,?,?)",
    " on conflict (event, session, record) do nothing"
);
/// What a session was shown; then, with 1 in the first column, the erased events among what that rests on.
pub(crate) const SEEN: &str = "select 0, record, content_hash, sources from seen where session = $1 \
     union all select 1, event, null, null from seen_source where session = $1 \
     and exists (select 1 from event e where e.id = seen_source.event and e.erased_at is not null) order by 1, 2";
pub(crate) static SEEN_OF: Many = many!(
    "select distinct s.session, s.record, s.sources from seen s \
     join seen_source o on o.session = s.session and o.record = s.record where o.event in (",
    "?",
    ")"
);

/// Every statement here, for the test that prepares them.
#[cfg(test)]
pub(crate) fn all() -> Vec<&'static str> {
    let many = [
        &INSERT_EVENTS,
        &EVENTS_BY_ID,
        &PLACES_BY_ID,
        &EVENTS_BY_KEY,
        &INSERT_TOMBSTONES,
        &ADOPT_TOMBSTONES,
        &INSERT_DEAD,
        &INSERT_LEARNINGS,
        &INSERT_LEARNING_SOURCES,
        &LEARNINGS_OF,
        &INSERT_RECEIPT_SOURCES,
        &RECEIPTS_OF,
        &INSERT_SEEN,
        &INSERT_SEEN_SOURCES,
        &SEEN_OF,
    ];
    let single = [
        MARK,
        ADVANCE,
        MORE_FORGETS,
        MORE_VECTORS,
        SCAN,
        SCAN_SESSION,
        LATEST,
        LATEST_SESSION,
        SESSIONS,
        INDEXED,
        TOMBSTONES,
        BLOCKS,
        BLOCKS_FROM,
        BLOCK_SIZES,
        BLOCK_RANGE,
        BLOCK_OF,
        SMALL_ROWS,
        INSERT_BLOCK,
        MODELS,
        INSERT_MODEL,
        CURSOR,
        START_CURSOR,
        MOVE_CURSOR,
        DEAD,
        LEARNINGS,
        LEARNINGS_AT,
        LEARNING_VERSIONS,
        INSERT_RECEIPT,
        RECEIPT,
        RECEIPT_ERASED,
        SEEN,
    ];
    many.into_iter().flat_map(Many::texts).chain(single).collect()
}
