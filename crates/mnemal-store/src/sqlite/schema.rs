//! The tables, and the migration steps of older files.

use crate::removal::{SHOWN, clear_erased_graph};

/// Marks a file as ours: the bytes `mnml`.
pub(super) const APPLICATION_ID: i64 = 0x6d6e_6d6c;
/// The current schema version; incremented with every migration.
pub(super) const SCHEMA_VERSION: i64 = 11;

/// Step `n` migrates version `n` to `n + 1`; each ends by setting `user_version` and runs in one transaction. A released step
/// is never changed; a fixture of every version is kept in `tests/fixtures`.
pub(super) const MIGRATIONS: [&str; 11] =
    [LOG, LEASES, TALLIES, GRAPH, WORKING, EDITIONS, RANKS, SUMMARIES, LEDGER, COMPLETIONS, SHOWN];

/// The log and its companion tables.
const LOG: &str = "
create table space (
  one integer primary key check (one = 1),
  head bigint not null check (head >= 0),
  recorded_at bigint not null,
  prior_at bigint not null,
  forgets bigint not null,
  vectors bigint not null
);
insert into space (one, head, recorded_at, prior_at, forgets, vectors) values (1, 0, -1, -1, 0, 0);

create table event (
  seq integer primary key check (seq > 0),
  id blob not null unique check (length(id) = 16),
  recorded_at bigint not null,
  kind bigint not null check (kind between 0 and 7),
  role bigint not null check (role between 0 and 4),
  origin bigint not null check (origin between 0 and 8),
  trust bigint not null check (trust between 0 and 5),
  level bigint not null check (level between 0 and 2),
  session text,
  channel text,
  parent blob,
  speaker text,
  user_name text,
  agent_name text,
  occurred_at bigint,
  zone text,
  zone_offset bigint,
  idempotency_key text unique,
  tool text,
  content text,
  metadata text,
  decision text,
  quarantined text,
  echo blob,
  checksum bigint,
  body_hash blob,
  indexed bigint not null check (indexed in (0, 1)),
  erased_at bigint,
  check ((erased_at is null) = (content is not null)),
  check (erased_at is null or (session is null and metadata is null and decision is null and body_hash is null))
);
create index event_session on event (session, seq) where session is not null;

create table tombstone (
  event blob primary key,
  body blob not null,
  sentences blob not null,
  at bigint not null
) without rowid;

create table block (
  first_seq integer primary key,
  last_seq bigint not null,
  n_rows bigint not null check (n_rows between 1 and 1024),
  bytes blob not null,
  check (first_seq <= last_seq)
);
create table vector_model (
  model text primary key,
  dimensions bigint not null check (dimensions > 0)
) without rowid;

create table progress (
  layer text primary key,
  seq bigint not null check (seq >= 0)
) without rowid;
create table dead_letter (
  layer text not null,
  event blob not null,
  why text not null,
  primary key (layer, event)
) without rowid;

create table learning (
  id blob primary key check (length(id) = 16),
  note_key text,
  created_at bigint not null,
  expired_at bigint,
  trust bigint not null check (trust between 0 and 5),
  level bigint not null check (level between 0 and 2),
  body text not null
);
create index learning_note_key on learning (note_key) where note_key is not null;
create table learning_source (
  learning blob not null references learning (id) deferrable initially deferred,
  event blob not null,
  primary key (learning, event)
) without rowid;
create index learning_source_event on learning_source (event);

create table receipt (
  id blob primary key check (length(id) = 16),
  session text not null,
  at bigint not null,
  body text not null
);
create index receipt_at on receipt (at);
create table receipt_source (
  event blob not null,
  receipt blob not null references receipt (id),
  primary key (event, receipt)
) without rowid;
create index receipt_source_receipt on receipt_source (receipt);
create table seen (
  session text not null,
  record blob not null,
  content_hash blob not null,
  sources blob not null,
  at bigint not null,
  primary key (session, record)
) without rowid;
create index seen_at on seen (at);
create table seen_source (
  event blob not null,
  session text not null,
  record blob not null,
  primary key (event, session, record)
) without rowid;
create index seen_source_session on seen_source (session, record);

pragma user_version = 1;
";

/// Leases, and unfinished forget decisions. For an older file their state is unknown: all count as unfinished, and the next
/// open checks them.
const LEASES: &str = "
create table lease (
  name text primary key,
  owner text not null,
  turn bigint not null check (turn > 0),
  until bigint not null,
  released bigint not null check (released in (0, 1)),
  left_by text
) without rowid;

create table forgetting (
  decision blob primary key check (length(decision) = 16)
) without rowid;
insert into forgetting (decision)
  select id from event where kind = 7 and decision like '{\"do\":\"forget\"%';

pragma user_version = 2;
";

/// The expected index contents of each conversation and of the decisions: the number of events, and the sum of their positions.
/// A list from an index is compared with it, because a damaged index would only give a shorter list. The index does not include
/// the position explicitly, since it holds it anyway: two copies could differ.
const TALLIES: &str = "
create table tally (
  name text primary key,
  events bigint not null check (events >= 0),
  seqs bigint not null check (seqs >= 0)
) without rowid;
insert into tally (name, events, seqs)
  select 'session/' || session, count(*), sum(seq) from event where session is not null group by session;
insert into tally (name, events, seqs)
  select 'decisions', count(*), sum(seq) from event where role = 4 having count(*) > 0;
create index event_decision on event (role) where role = 4;
drop index event_session;
create index event_session on event (session) where session is not null;

pragma user_version = 3;
";

/// Recounts the log, when the tallies of a file are missing; as [`TALLIES`] does.
pub(super) const REFILL_TALLIES: [&str; 2] = [
    "insert into tally (name, events, seqs) \
     select 'session/' || session, count(*), sum(seq) from event where session is not null group by session",
    "insert into tally (name, events, seqs) \
     select 'decisions', count(*), sum(seq) from event where role = 4 having count(*) > 0",
];
/// Marks every forget decision as unfinished, as [`LEASES`] does.
pub(super) const REFILL_FORGETTING: &str = "insert into forgetting (decision) \
     select id from event where kind = 7 and decision like '{\"do\":\"forget\"%'";

/// Entities, facts and mentions, and the source events of the first two. A believed fact has no `expired_at`.
const GRAPH: &str = "
create table entity (
  id blob primary key check (length(id) = 16),
  joined blob,
  body text not null
);
create index entity_joined on entity (joined) where joined is not null;
create table entity_name (
  name_key text not null,
  entity blob not null,
  primary key (name_key, entity)
) without rowid;
create index entity_name_entity on entity_name (entity);

create table fact (
  id blob primary key check (length(id) = 16),
  subject blob not null check (length(subject) = 16),
  predicate text not null,
  object blob,
  created_at bigint not null,
  expired_at bigint,
  body text not null
);
create index fact_slot on fact (subject, predicate);
create index fact_believed on fact (subject, predicate) where expired_at is null;
create index fact_object on fact (object) where object is not null;

create table graph_source (
  record blob not null,
  event blob not null,
  primary key (record, event)
) without rowid;
create index graph_source_event on graph_source (event);

create table mention (
  event blob not null,
  entity blob not null,
  span_start bigint not null,
  span_end bigint not null,
  session text not null,
  occurred_at bigint not null,
  primary key (event, entity)
) without rowid;
create index mention_entity on mention (entity);
create index mention_session on mention (session);

pragma user_version = 4;
";

/// Entries of working memory; a namespace is a prefix of its keys.
const WORKING: &str = "
create table working (
  key text primary key,
  namespace text not null,
  expires_at bigint not null,
  body text not null
);
create index working_namespace on working (namespace, expires_at);
create index working_expires on working (expires_at);

pragma user_version = 5;
";

/// The edition of a layer's rows. From this version on a fact or an entity with an erased source is deleted with the erase;
/// those of an older file are dropped, and its graph is rebuilt, because its producer is unknown.
const EDITIONS: &str = concat!(
    "
create table edition (
  layer text primary key,
  producer text,
  version bigint,
  difference text,
  check ((producer is null) = (version is null))
) without rowid;
",
    clear_erased_graph!(),
    "
pragma user_version = 6;
"
);

/// The rank of a fact among those of its subject and of its object, so that the strongest of many are found. For an older file
/// it is the number of sources, and is corrected when the fact is written next.
const RANKS: &str = "
alter table fact add column rank bigint not null default 0;
update fact set rank = min(7, 1 + (select count(*) from graph_source s where s.record = fact.id));
drop index fact_believed;
create index fact_believed on fact (subject, expired_at, rank desc, id);
drop index fact_object;
create index fact_object on fact (object, expired_at, rank desc, id) where object is not null;

pragma user_version = 7;
";

/// The summary tree: nodes, their parents, and their source events. A node without a body lost it in an erase and is rebuilt.
const SUMMARIES: &str = "
create table summary (
  path text primary key,
  body text
);
create index summary_hollow on summary (path) where body is null;
create table summary_parent (
  parent text not null,
  path text not null,
  last_at bigint not null,
  primary key (parent, path)
) without rowid;
create index summary_parent_path on summary_parent (path);
create index summary_parent_last on summary_parent (parent, last_at);
create table summary_source (
  path text not null,
  event blob not null,
  primary key (path, event)
) without rowid;
create index summary_source_event on summary_source (event);

pragma user_version = 8;
";

/// The ledger of background work, which holds no content. From this version on the log may hold operations, which older code
/// cannot read: they are stored like decisions, kind 7 and role 4.
const LEDGER: &str = "
create table ledger (
  book text not null,
  name text not null,
  at bigint not null,
  body text not null,
  primary key (book, name)
) without rowid;
create index ledger_at on ledger (book, at);

pragma user_version = 9;
";

/// Cached answers of language models, with their source events.
const COMPLETIONS: &str = "
create table completion (
  prompt blob primary key check (length(prompt) = 32),
  body text not null
);
create table completion_source (
  event blob not null,
  prompt blob not null,
  primary key (event, prompt)
) without rowid;
create index completion_source_prompt on completion_source (prompt);

pragma user_version = 10;
";
