//! `session`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// `session`.
#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// List conversations, newest first.
    List {
        /// How many of the newest.
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
    },
    /// Show the last turns of a conversation.
    Show {
        /// Its name.
        id: String,
        /// How many.
        #[arg(long, default_value_t = 20)]
        last: usize,
    },
    /// Make one entry of its timeline of the old turns of a conversation, and print what a prompt needs of it.
    Compress(SessionCompress),
    /// Erase everything that was said in a conversation; there is no undo.
    Rm {
        /// Its name.
        id: String,
        /// Only say what would go.
        #[arg(long)]
        dry_run: bool,
    },
}

/// `session compress`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SessionCompress {
    /// The conversation.
    pub(crate) id: String,
    /// How many of the last turns stay as they are.
    #[arg(long, value_name = "TURNS", default_value_t = 6)]
    pub(crate) keep_last: usize,
    /// Tokens of the model's window.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u32>,
    /// Only when it takes half the window, three turns wait, or nothing was said for ten minutes.
    #[arg(long)]
    pub(crate) if_due: bool,
    /// Its turns as JSON lines, `{"role": "user", "content": "…"}`, where memory is switched off and no log has them; `-` for
    /// stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
}
