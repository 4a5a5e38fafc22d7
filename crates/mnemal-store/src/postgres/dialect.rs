//! The few statements that PostgreSQL takes only in another form.

use std::borrow::Cow;

use crate::statement;

/// Nothing is cached for a connection, which serves many spaces: see [`OpenTransaction`](super::transaction::OpenTransaction).
const NO_VERSION: &str = "select 0";

/// [`statement::INSERT_SEEN`] with the functions for JSON and hexadecimal digits.
const INSERT_SEEN: &str = "insert into seen (session, record, content_hash, sources, at) \
     select ?, decode(substr(value, 1, 34), 'hex'), decode(substr(value, 35, 32), 'hex'), decode(substr(value, 67), 'hex'), ? \
     from json_array_elements_text(cast(? as json)) as items(value) where true \
     on conflict (session, record, content_hash) do update set sources = excluded.sources, at = excluded.at \
     where seen.sources <> excluded.sources or seen.at < excluded.at - 3600000000";

/// [`statement::WORKING_BEYOND`]: there, `max` of two numbers is an aggregate.
const WORKING_BEYOND: &str = "select key, expires_at from working where namespace = $1 and key <> $2 \
     order by expires_at, key limit greatest(0, (select count(*) from working where namespace = $1) - $3)";

/// Tells SQLite to scan the table.
const BY_WALK: &str = " not indexed";

/// Returns the form of a statement that PostgreSQL takes.
pub(super) fn translated(sql: &'static str) -> Cow<'static, str> {
    match sql {
        statement::DATA_VERSION => NO_VERSION.into(),
        statement::INSERT_SEEN => INSERT_SEEN.into(),
        statement::WORKING_BEYOND => WORKING_BEYOND.into(),
        _ if sql.contains(BY_WALK) => sql.replace(BY_WALK, "").into(),
        _ => sql.into(),
    }
}
