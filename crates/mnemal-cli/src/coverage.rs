//! Coverage test: compares `docs/coverage.toml` with the existing commands, routes and tools.

use std::collections::{BTreeMap, BTreeSet};

use clap::{CommandFactory as _, Parser as _};
use mnemal_server::auth::Right;
use serde::Deserialize;

use crate::args::Args;
use crate::remote_command::remote_policy;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SurfaceNames {
    http: String,
    cli: Option<String>,
    no_cli: Option<String>,
    mcp: Option<String>,
    no_mcp: Option<String>,
}

/// Names of commands; subcommands follow their parent: `space list`.
fn commands() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for command in Args::command().get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name();
        let below: Vec<String> = command
            .get_subcommands()
            .filter(|one| one.get_name() != "help")
            .map(|one| format!("{name} {}", one.get_name()))
            .collect();
        // A command with its own action is listed in addition to its subcommands.
        if below.is_empty() || ["audit", "dream"].contains(&name) {
            names.insert(name.to_owned());
        }
        names.extend(below);
    }
    names
}

fn read_coverage() -> (BTreeMap<String, SurfaceNames>, BTreeMap<String, String>) {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/coverage.toml")).unwrap();
    let mut table: toml::Table = toml::from_str(&text).unwrap();
    let local: BTreeMap<String, String> = table.remove("commands").unwrap().try_into().unwrap();
    (toml::Value::Table(table).try_into().unwrap(), local)
}

/// Commands that a server runs for the holder of a key, each as a sample command line.
const CARRIED: &[&str] = &[
    "ask text",
    "context",
    "diff 2026-01-01",
    "dream",
    "entity forget Ada",
    "entity list",
    "entity merge Ada Ulf",
    "entity path Ada Ulf",
    "entity rename Ada Ulla",
    "entity show Ada",
    "entity split Ada Ulf",
    "fact add Ada likes tea",
    "fact invalidate fct_1",
    "fact list",
    "undo evt_1",
    "feedback rcl_00000000000000000000000000 line useful",
    "forget evt_1",
    "learning list",
    "log add text",
    "log list",
    "log release evt_1",
    "log show evt_1",
    "memory archive key",
    "memory categories",
    "memory confirm key",
    "memory history key",
    "memory list",
    "memory pin key",
    "memory reject key",
    "memory restore key",
    "memory show key",
    "memory unpin key",
    "preference list",
    "recall text",
    "remember text",
    "report",
    "session compress s",
    "session list",
    "session rm s",
    "session show s",
    "status",
    "summary",
    "topic list",
    "verify-receipt rcl_00000000000000000000000000",
    "why evt_1",
    "why-not evt_1 --query text",
    "working get key",
    "working list",
    "working put key text",
    "working rm key",
    "working search text",
];

/// Commands with a route that a server does not run, each as a sample command line: they read or write local files or streams, or
/// concern an installation.
const HERE: &[&str] = &[
    "export",
    "extract evt_1",
    "forget evt_1 --receipt file",
    "graph export",
    "health",
    "import file",
    "ingest file",
    "key create --name a --rights read",
    "key list",
    "key revoke id",
    "memory-tool",
    "settings",
    "space create a",
    "space list",
    "space rm a",
    "space set a --always-on",
    "space show a",
    "ui",
    "verify-receipt file",
];

/// Returns the right that a command line needs; `None` for one that is not run remotely.
fn right_of(line: &str) -> Option<Right> {
    let args = Args::try_parse_from(std::iter::once("mnemal").chain(line.split(' ')));
    remote_policy(&args.unwrap_or_else(|wrong| panic!("{line}: {wrong}")).command)
        .and_then(|policy| policy.right)
}

#[test]
fn a_command_that_a_server_does_needs_the_right_of_its_route() {
    let rights: BTreeMap<&str, Right> = mnemal_server::http::rights().into_iter().collect();
    let is_of = |line: &str, name: &str| line == name || line.starts_with(&format!("{name} "));
    for (operation, places) in &read_coverage().0 {
        let Some(name) = &places.cli else { continue };
        let lines: Vec<&&str> = CARRIED.iter().filter(|line| is_of(line, name)).collect();
        for line in &lines {
            assert_eq!(right_of(line), rights.get(operation.as_str()).copied(), "{line}: {operation}");
        }
        let is_told = !lines.is_empty() || HERE.iter().any(|line| is_of(line, name));
        assert!(is_told, "{name} is for a server, or it is not");
    }
    for line in HERE.iter().chain(&[
        "serve",
        "worker",
        "init",
        "doctor",
        "mcp",
        "hook claude-code stop",
        "backup file",
    ]) {
        assert_eq!(right_of(line), None, "{line}");
    }
    // A command without a route needs at least the right of a similar one.
    for (line, right) in [
        ("memory forget Ada", Right::Erase),
        ("entity suggestions", Right::Read),
        ("topic show tea", Right::Read),
        ("dream log", Right::Read),
        ("dream sample", Right::Read),
        ("dream judge 0 right words", Right::Write),
        ("memory search text", Right::Read),
        // It makes the server call an endpoint.
        ("recall text --ask-endpoint", Right::Write),
        ("ask text --ask-endpoint", Right::Write),
        ("context --ask-endpoint", Right::Write),
    ] {
        assert_eq!(right_of(line), Some(right), "{line}");
    }
}

#[test]
fn every_operation_has_its_place_on_each_surface_or_says_why_not() {
    let (listed, local) = read_coverage();
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
    // The memory command has the commands of a source design under their own names, and two others list its rows by kind.
    let is_alias = |name: &String| {
        ["memory ", "learning ", "preference ", "dream "].iter().any(|group| name.starts_with(group))
    };
    let missing: Vec<&String> = commands.iter().filter(|name| !is_listed(name) && !is_alias(name)).collect();
    assert!(missing.is_empty(), "docs/coverage.toml does not know {missing:?}");
}
