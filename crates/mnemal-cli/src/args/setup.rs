//! `setup`, `hook`.

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::host::{HOSTS, Host};

/// `hook`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Hook {
    /// The client.
    #[arg(help = clients())]
    pub(crate) client: String,
    /// The event, as the client spells it or in kebab case: `SessionStart`, `user-prompt-submit`.
    pub(crate) event: String,
}

/// Returns the help of a client's name. Any name is taken, because an unknown client gets its answer, too.
fn clients() -> String {
    let names = HOSTS.iter().filter(|host| host.hooks.is_some()).map(|host| format!("`{}`", host.name));
    format!("The client: {}", names.collect::<Vec<_>>().join(", "))
}

/// Returns the parser of a host's name.
fn hosts() -> impl TypedValueParser<Value = &'static Host> {
    let names = HOSTS.iter().map(|host| PossibleValue::new(host.name).help(host.title));
    PossibleValuesParser::new(names).try_map(|name| Host::named(&name).ok_or("there is no such host"))
}

/// `setup`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Setup {
    /// The host.
    #[arg(value_name = "HOST", value_parser = hosts())]
    pub(crate) host: &'static Host,
    /// Only the hooks, without the MCP server.
    #[arg(long)]
    pub(crate) hooks: bool,
    /// Only show the change.
    #[arg(long, conflicts_with = "undo")]
    pub(crate) print: bool,
    /// Take out what was put in.
    #[arg(long)]
    pub(crate) undo: bool,
    /// For everyone in the project of the working directory.
    #[arg(long)]
    pub(crate) project: bool,
    /// For the user, in every project; this is the default.
    #[arg(long, conflicts_with = "project")]
    pub(crate) global: bool,
}
