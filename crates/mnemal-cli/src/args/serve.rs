//! `serve`, `worker`, `ui`, `key`.

use std::net::SocketAddr;

use clap::{Args as ClapArgs, Subcommand};
use mnemal_server::DEFAULT_PORT;

/// Returns the description of the address, with the port that has one home.
fn listen() -> String {
    format!("Address and port; without it `server.listen`, 127.0.0.1:{DEFAULT_PORT}")
}

/// `serve`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    /// Address and port; without it `server.listen`.
    #[arg(long, visible_alias = "addr", value_name = "ADDRESS", help = listen())]
    pub(crate) listen: Option<SocketAddr>,
    /// Let everybody on this machine in, without a key.
    #[arg(long)]
    pub(crate) no_auth: bool,
}

/// `worker`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Worker {
    /// Look after each space until it has nothing to do, and end: for a timer of the system.
    #[arg(long)]
    pub(crate) once: bool,
    /// Seconds between two rounds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400), conflicts_with = "once")]
    pub(crate) every: u64,
}

/// `ui`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Ui {
    /// Only print the link, which logs one browser in, once and within a minute.
    #[arg(long)]
    pub(crate) print: bool,
}

/// `database`.
#[derive(Debug, Subcommand)]
pub(crate) enum Database {
    /// Make the tables of the database, or bring them to the version of this program; spaces and their content stay.
    /// Run it once before the first server starts, and before the first server of a new version.
    Migrate {
        /// Print the statements and run none.
        #[arg(long)]
        plan: bool,
    },
}

/// `key`.
#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Make a key; it is shown this once.
    #[command(visible_alias = "add")]
    Create {
        /// For people.
        #[arg(long)]
        name: String,
        /// read, write, erase, metrics or admin; may be repeated.
        #[arg(long, required = true, value_delimiter = ',', value_name = "RIGHT")]
        rights: Vec<String>,
        /// `app` knows which words are the user's, `agent` does not.
        #[arg(long = "for", default_value = "app", value_name = "CLASS")]
        class: String,
        /// The one user whose memory it opens: it reads and writes nothing of anybody else.
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// When it ends: 90d, 12h.
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
    },
    /// List keys, oldest first.
    List,
    /// End a key for good.
    Revoke {
        /// `key_…`
        id: String,
    },
    /// Print the key that this machine's own programs share; it is made if there is none.
    Local,
}
