//! Compares `docs/coverage.toml` with what there is.

use std::collections::{BTreeMap, BTreeSet};

use clap::CommandFactory as _;
use serde::Deserialize;

use crate::args::Args;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    http: String,
    cli: Option<String>,
    no_cli: Option<String>,
    mcp: Option<String>,
    no_mcp: Option<String>,
}

/// Names of commands, those below others behind them: `space list`.
fn commands() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for command in Args::command().get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name();
        let below: Vec<String> = command
            .get_subcommands()
            .filter(|one| one.get_name() != "help")
            .map(|one| format!("{name} {}", one.get_name()))
            .collect();
        // A command that does something by itself stands beside those below it.
        if below.is_empty() || ["audit", "dream"].contains(&name) {
            names.insert(name.to_owned());
        }
        names.extend(below);
    }
    names
}

#[test]
fn every_operation_has_its_place_on_each_surface_or_says_why_not() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coverage.toml")).unwrap();
    let mut table: toml::Table = toml::from_str(&text).unwrap();
    let local: BTreeMap<String, String> = table.remove("commands").unwrap().try_into().unwrap();
    let listed: BTreeMap<String, Places> = toml::Value::Table(table).try_into().unwrap();
    let routes: BTreeMap<String, String> = mnemal_server::http::operations().into_iter().collect();
    let told: BTreeMap<String, String> =
        listed.iter().map(|(id, places)| (id.clone(), places.http.clone())).collect();
    assert_eq!(told, routes);
    for (id, places) in &listed {
        assert!(places.cli.is_some() != places.no_cli.is_some(), "{id}: a command, or why there is none");
        assert!(places.mcp.is_some() != places.no_mcp.is_some(), "{id}: a tool, or why there is none");
    }
    let tools: BTreeSet<&str> = mnemal_server::mcp::tools().collect();
    let named: BTreeSet<&str> = listed.values().filter_map(|places| places.mcp.as_deref()).collect();
    assert_eq!(named, tools);
    let commands = commands();
    let named: BTreeSet<String> = listed.values().filter_map(|places| places.cli.clone()).collect();
    let unknown: Vec<&String> = named
        .iter()
        .chain(local.keys())
        .filter(|name| {
            !commands.contains(*name) && !commands.iter().any(|one| one.starts_with(&format!("{name} ")))
        })
        .collect();
    assert!(unknown.is_empty(), "there is no such command: {unknown:?}");
    let is_listed = |name: &String| {
        let group = name.split(' ').next().unwrap().to_owned();
        named.contains(name) || local.contains_key(name) || local.contains_key(&group)
    };
    // The memory command has the commands of a source design under their own names, and two others its rows by kind.
    let is_alias = |name: &String| {
        ["memory ", "learning ", "preference ", "dream log"].iter().any(|group| name.starts_with(group))
    };
    let missing: Vec<&String> = commands.iter().filter(|name| !is_listed(name) && !is_alias(name)).collect();
    assert!(missing.is_empty(), "docs/coverage.toml does not know {missing:?}");
}
