//! The database of PostgreSQL that holds the spaces: connection and migration.

use anyhow::Result;
use mnemal::Error;
use mnemal::admin::{PostgresDatabase, PostgresOptions};
use serde::Serialize;

use crate::args::{Database, Global};
use crate::config;
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::storage::{DatabaseAddress, Storage};

/// Connects with as many connections as the settings allow, for spaces.
///
/// # Errors
/// As [`PostgresDatabase::connect_with`].
pub(super) async fn connect(address: &DatabaseAddress, global: &Global) -> Result<PostgresDatabase> {
    connect_with(address, config::database(global)?.pool).await
}

/// Connects with one connection, for keys and checks.
///
/// # Errors
/// As [`connect`].
pub(super) async fn connect_once(address: &DatabaseAddress) -> Result<PostgresDatabase> {
    connect_with(address, 1).await
}

async fn connect_with(address: &DatabaseAddress, connections: usize) -> Result<PostgresDatabase> {
    Ok(PostgresDatabase::connect_with(address.expose(), PostgresOptions { connections }).await?)
}

#[derive(Serialize)]
struct MigrateForm {
    database: String,
    /// Whether the tables are those of this version now.
    migrated: bool,
    /// The steps, with `--plan`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<String>,
}

/// Runs a subcommand.
pub(super) async fn run(global: &Global, call: &Database, output: &Output) -> Result<u8> {
    let Database::Migrate { plan } = call;
    let Storage::Database(address) = SpacePaths::find_several(global)?.storage else {
        let what = "no database is named: set MNEMAL_DB, `storage.url` or --db to postgres://USER@HOST/NAME";
        return Err(Error::invalid(what).into());
    };
    let steps = PostgresDatabase::plan(address.expose()).await?;
    if *plan {
        let form = MigrateForm { database: address.to_string(), migrated: steps.is_empty(), steps };
        output.answer(&form, || {
            if form.migrated {
                format!("{address} has the tables of this version")
            } else {
                form.steps.concat()
            }
        })?;
        return Ok(0);
    }
    PostgresDatabase::migrate(address.expose()).await?;
    let form = MigrateForm { database: address.to_string(), migrated: true, steps: Vec::new() };
    let since = if steps.is_empty() { "had" } else { "now has" };
    output.answer(&form, || format!("{address} {since} the tables of this version"))?;
    Ok(0)
}
