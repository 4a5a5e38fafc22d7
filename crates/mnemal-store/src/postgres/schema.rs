//! The tables, and the migration of a database.
//!
//! Every table of a space begins its key with the space, and no key leaves it. Texts are compared by bytes.

use mnemal_core::{Error, ErrorKind, Result};

use super::connection::Connection;

/// The current schema version; incremented with every migration.
pub(super) const SCHEMA_VERSION: i64 = 1;

/// Tables whose rows belong to a space.
pub(super) const TABLES: [&str; 29] = [
    "block",
    "completion",
    "completion_source",
    "dead_letter",
    "edition",
    "entity",
    "entity_name",
    "event",
    "fact",
    "forgetting",
    "graph_source",
    "learning",
    "learning_source",
    "lease",
    "ledger",
    "mention",
    "progress",
    "receipt",
    "receipt_source",
    "seen",
    "seen_source",
    "space",
    "summary",
    "summary_parent",
    "summary_source",
    "tally",
    "tombstone",
    "vector_model",
    "working",
];

/// What every database has: the version, and the names of spaces.
const REGISTRY: &str = "
create table if not exists mnemal_schema (
  one smallint primary key check (one = 1),
  version bigint not null,
  installation bytea
);
insert into mnemal_schema (one, version) values (1, 0) on conflict (one) do nothing;
";
const LOCK: &str = "lock table mnemal_schema in access exclusive mode; select version from mnemal_schema";
const VERSION: &str = "select version from mnemal_schema";

/// Step `n` migrates version `n` to `n + 1`. A released step is never changed.
const MIGRATIONS: [&str; 1] = [FIRST];

/// The tables of the log, of the layers and of background work, as a file has them.
const FIRST: &str = "
create table directory (
  name text collate \"C\" primary key,
  space_id bigint not null unique,
  marker text collate \"C\"
);

create table document (
  name text collate \"C\" primary key,
  version bigint not null,
  body text collate \"C\" not null
);

create table space (
  space_id bigint primary key,
  head bigint not null check (head >= 0),
  recorded_at bigint not null,
  prior_at bigint not null,
  forgets bigint not null,
  vectors bigint not null
) with (fillfactor = 20);

create table event (
  space_id bigint not null,
  seq bigint not null check (seq > 0),
  id bytea not null check (length(id) = 16),
  recorded_at bigint not null,
  kind smallint not null check (kind between 0 and 7),
  role smallint not null check (role between 0 and 4),
  origin smallint not null check (origin between 0 and 8),
  trust smallint not null check (trust between 0 and 5),
  level smallint not null check (level between 0 and 2),
  session text collate \"C\",
  channel text collate \"C\",
  parent bytea,
  speaker text collate \"C\",
  user_name text collate \"C\",
  agent_name text collate \"C\",
  occurred_at bigint,
  zone text collate \"C\",
  zone_offset bigint,
  idempotency_key text collate \"C\",
  tool text collate \"C\",
  content text collate \"C\",
  metadata text collate \"C\",
  decision text collate \"C\",
  quarantined text collate \"C\",
  echo bytea,
  checksum bigint,
  body_hash bytea,
  indexed smallint not null check (indexed in (0, 1)),
  erased_at bigint,
  primary key (space_id, seq),
  unique (space_id, id),
  unique (space_id, idempotency_key),
  check ((erased_at is null) = (content is not null)),
  check (erased_at is null or (session is null and metadata is null and decision is null and body_hash is null))
);
create index event_session on event (space_id, session, seq) where session is not null;
create index event_decision on event (space_id, seq) where role = 4;

create table tombstone (
  space_id bigint not null,
  event bytea not null,
  body bytea not null,
  sentences bytea not null,
  at bigint not null,
  primary key (space_id, event)
);
create table block (
  space_id bigint not null,
  first_seq bigint not null,
  last_seq bigint not null,
  n_rows bigint not null check (n_rows between 1 and 1024),
  bytes bytea not null,
  primary key (space_id, first_seq),
  check (first_seq <= last_seq)
);
alter table block alter column bytes set storage external;
create table vector_model (
  space_id bigint not null,
  model text collate \"C\" not null,
  dimensions bigint not null check (dimensions > 0),
  primary key (space_id, model)
);
create table tally (
  space_id bigint not null,
  name text collate \"C\" not null,
  events bigint not null check (events >= 0),
  seqs bigint not null check (seqs >= 0),
  primary key (space_id, name)
) with (fillfactor = 50);

create table progress (
  space_id bigint not null,
  layer text collate \"C\" not null,
  seq bigint not null check (seq >= 0),
  primary key (space_id, layer)
) with (fillfactor = 50);
create table dead_letter (
  space_id bigint not null,
  layer text collate \"C\" not null,
  event bytea not null,
  why text collate \"C\" not null,
  primary key (space_id, layer, event)
);
create table edition (
  space_id bigint not null,
  layer text collate \"C\" not null,
  producer text collate \"C\",
  version bigint,
  difference text collate \"C\",
  primary key (space_id, layer),
  check ((producer is null) = (version is null))
);

create table learning (
  space_id bigint not null,
  id bytea not null check (length(id) = 16),
  note_key text collate \"C\",
  created_at bigint not null,
  expired_at bigint,
  trust smallint not null check (trust between 0 and 5),
  level smallint not null check (level between 0 and 2),
  body text collate \"C\" not null,
  primary key (space_id, id)
);
create table learning_source (
  space_id bigint not null,
  learning bytea not null,
  event bytea not null,
  primary key (space_id, learning, event)
);
create index learning_source_event on learning_source (space_id, event);

create table entity (
  space_id bigint not null,
  id bytea not null check (length(id) = 16),
  joined bytea,
  body bytea not null,
  primary key (space_id, id)
);
create index entity_joined on entity (space_id, joined) where joined is not null;
create table entity_name (
  space_id bigint not null,
  name_key text collate \"C\" not null,
  entity bytea not null,
  primary key (space_id, name_key, entity)
);
create index entity_name_entity on entity_name (space_id, entity);
create table fact (
  space_id bigint not null,
  id bytea not null check (length(id) = 16),
  subject bytea not null check (length(subject) = 16),
  predicate text collate \"C\" not null,
  object bytea,
  created_at bigint not null,
  expired_at bigint,
  rank bigint not null,
  body bytea not null,
  primary key (space_id, id)
);
create index fact_slot on fact (space_id, subject, predicate);
create index fact_believed on fact (space_id, subject, rank desc, id) where expired_at is null;
create index fact_object on fact (space_id, object, rank desc, id) where object is not null;
create table graph_source (
  space_id bigint not null,
  record bytea not null,
  event bytea not null,
  primary key (space_id, record, event)
);
create index graph_source_event on graph_source (space_id, event);
create table mention (
  space_id bigint not null,
  event bytea not null,
  entity bytea not null,
  span_start bigint not null,
  span_end bigint not null,
  session text collate \"C\" not null,
  occurred_at bigint not null,
  primary key (space_id, event, entity)
);
create index mention_entity on mention (space_id, entity);
create index mention_session on mention (space_id, session);

create table summary (
  space_id bigint not null,
  path text collate \"C\" not null,
  body text collate \"C\",
  primary key (space_id, path)
);
create index summary_hollow on summary (space_id, path) where body is null;
create table summary_parent (
  space_id bigint not null,
  parent text collate \"C\" not null,
  path text collate \"C\" not null,
  last_at bigint not null,
  primary key (space_id, parent, path)
);
create index summary_parent_path on summary_parent (space_id, path);
create index summary_parent_last on summary_parent (space_id, parent, last_at);
create table summary_source (
  space_id bigint not null,
  path text collate \"C\" not null,
  event bytea not null,
  primary key (space_id, path, event)
);
create index summary_source_event on summary_source (space_id, event);

create table receipt (
  space_id bigint not null,
  id bytea not null check (length(id) = 16),
  session text collate \"C\" not null,
  at bigint not null,
  body bytea not null,
  primary key (space_id, id)
);
create index receipt_at on receipt (space_id, at, id);
create table receipt_source (
  space_id bigint not null,
  event bytea not null,
  receipt bytea not null,
  primary key (space_id, event, receipt)
);
create index receipt_source_receipt on receipt_source (space_id, receipt);
create table seen (
  space_id bigint not null,
  session text collate \"C\" not null,
  record bytea not null,
  content_hash bytea not null,
  sources bytea not null,
  at bigint not null,
  primary key (space_id, session, record, content_hash)
);
create index seen_at on seen (space_id, at);
create table seen_source (
  space_id bigint not null,
  event bytea not null,
  session text collate \"C\" not null,
  record bytea not null,
  primary key (space_id, event, session, record)
);
create index seen_source_session on seen_source (space_id, session, record);

create table working (
  space_id bigint not null,
  key text collate \"C\" not null,
  namespace text collate \"C\" not null,
  expires_at bigint not null,
  body text collate \"C\" not null,
  primary key (space_id, key)
);
create index working_namespace on working (space_id, namespace, expires_at);
create index working_expires on working (space_id, expires_at);

create table lease (
  space_id bigint not null,
  name text collate \"C\" not null,
  owner text collate \"C\" not null,
  turn bigint not null check (turn > 0),
  until bigint not null,
  released bigint not null check (released in (0, 1)),
  left_by text collate \"C\",
  primary key (space_id, name)
) with (fillfactor = 50);
create table forgetting (
  space_id bigint not null,
  decision bytea not null check (length(decision) = 16),
  primary key (space_id, decision)
);
create table ledger (
  space_id bigint not null,
  book text collate \"C\" not null,
  name text collate \"C\" not null,
  at bigint not null,
  body text collate \"C\" not null,
  primary key (space_id, book, name)
);
create index ledger_at on ledger (space_id, book, at);

create table completion (
  space_id bigint not null,
  prompt bytea not null check (length(prompt) = 32),
  body text collate \"C\" not null,
  primary key (space_id, prompt)
);
create table completion_source (
  space_id bigint not null,
  event bytea not null,
  prompt bytea not null,
  primary key (space_id, event, prompt)
);
create index completion_source_prompt on completion_source (space_id, prompt);
";

/// Policies: a session sees and writes the rows of the space that it is set to, and none without one. The owner of the tables is
/// no exception; a superuser is.
fn policies() -> String {
    let policy = |table: &&str| {
        format!(
            "alter table {table} enable row level security; alter table {table} force row level security; \
             create policy rows_of_space on {table} using (space_id = cast(current_setting('mnemal.space') as bigint));"
        )
    };
    TABLES.iter().map(policy).collect()
}

/// Creates or migrates the tables, in one transaction; processes that do so at once wait for each other.
///
/// # Errors
/// `Unsupported` for a newer version; `Invalid` when the user may not create tables.
pub(super) async fn migrate(connection: &mut Connection) -> Result<()> {
    // Two processes that create it at once: one of them fails, and finds it there.
    if connection.plain(REGISTRY).await.is_err() {
        connection.plain(REGISTRY).await?;
    }
    connection.plain("begin").await?;
    let migrated = steps(connection).await;
    connection.plain(if migrated.is_ok() { "commit" } else { "rollback" }).await?;
    migrated
}

/// Returns the statements that a migration would run, each step as one text; none for a database of this version.
///
/// # Errors
/// `Unsupported` for a newer version.
pub(super) async fn plan(connection: &Connection) -> Result<Vec<String>> {
    let found = version(connection).await?;
    if found > SCHEMA_VERSION {
        admit(found)?;
    }
    let done = usize::try_from(found).unwrap_or_default();
    let mut plan: Vec<String> = MIGRATIONS.iter().skip(done).map(|step| (*step).to_owned()).collect();
    if done == 0 {
        plan.insert(0, REGISTRY.to_owned());
        plan.push(policies());
    }
    Ok(plan)
}

async fn steps(connection: &mut Connection) -> Result<()> {
    let found = number(&connection.texts(LOCK).await?)?;
    let admitted = admit(found);
    if found > SCHEMA_VERSION {
        return admitted;
    }
    if found == SCHEMA_VERSION {
        return Ok(());
    }
    let done = usize::try_from(found).unwrap_or_default();
    for step in MIGRATIONS.iter().skip(done) {
        connection.plain(step).await?;
    }
    if done == 0 {
        connection.plain(&policies()).await?;
    }
    connection.plain(&format!("update mnemal_schema set version = {SCHEMA_VERSION}; analyze")).await
}

/// Checks the version of a database.
///
/// # Errors
/// `Unsupported` for another one, or none.
pub(super) async fn check(connection: &Connection) -> Result<()> {
    admit(version(connection).await?)
}

/// Returns the version of a database; 0 for one without tables.
async fn version(connection: &Connection) -> Result<i64> {
    match connection.texts(VERSION).await {
        Ok(texts) => number(&texts),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(0),
        Err(error) => Err(error),
    }
}

fn admit(found: i64) -> Result<()> {
    let what = match found {
        SCHEMA_VERSION => return Ok(()),
        0 => "the database has no tables of mnemal: make them with `mnemal database migrate`".to_owned(),
        _ if found > SCHEMA_VERSION => {
            format!(
                "the database has schema version {found}, this program knows {SCHEMA_VERSION}: use a newer one"
            )
        }
        _ => format!(
            "the database has schema version {found}, this program needs {SCHEMA_VERSION}: run `mnemal database migrate`"
        ),
    };
    Err(Error::new(ErrorKind::Unsupported, what))
}

fn number(texts: &[String]) -> Result<i64> {
    let version = texts.first().and_then(|text| text.parse().ok());
    version.ok_or_else(|| Error::new(ErrorKind::Corrupt, "the schema version of the database is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: AD-64
    #[test]
    fn every_table_has_the_space_as_the_first_column_of_its_key_and_of_every_index() {
        let all = MIGRATIONS.concat();
        for table in TABLES {
            let start = format!("create table {table} (\n  space_id bigint ");
            assert!(all.contains(&start), "{table}");
        }
        assert_eq!(all.matches("create table ").count(), TABLES.len() + 2, "the directory and documents");
        for index in all.split("create index ").skip(1) {
            let (name, columns) = index.split_once('(').unwrap();
            assert!(columns.starts_with("space_id, "), "{name}");
        }
        let keys = all.matches("primary key (space_id").count() + all.matches("unique (space_id").count();
        assert_eq!(keys, TABLES.len() - 1 + 2, "the space itself has no other column in its key");
    }

    #[test]
    fn every_text_of_the_schema_is_compared_by_bytes() {
        for line in MIGRATIONS.concat().lines().filter(|line| line.contains(" text")) {
            assert!(line.contains(" text collate \"C\""), "{line}");
        }
    }

    #[test]
    fn another_version_is_refused_with_what_to_do() {
        assert!(admit(SCHEMA_VERSION).is_ok());
        for (found, what) in [(0, "no tables"), (SCHEMA_VERSION + 1, "newer")] {
            let error = admit(found).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.what().contains(what), "{error}");
        }
    }
}
