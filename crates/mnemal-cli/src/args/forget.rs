//! `forget` and `verify-receipt`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// `forget`. Without ids, a key, a text or a person, the options of conversation, speaker, user, role and time say together
/// what is meant.
#[derive(Debug, ClapArgs)]
pub(crate) struct Forget {
    /// Events (`evt_…`) or notes (`mem_…`).
    #[arg(required_unless_present_any = ["key", "session", "query", "person", "speaker", "user", "roles", "since", "until", "origin", "file", "outdated", "fact"])]
    pub(crate) ids: Vec<String>,
    /// Every version of the note of this key.
    #[arg(long, conflicts_with_all = ["ids", "session"])]
    pub(crate) key: Option<String>,
    /// What is found for this text: a proposal, so look at it first.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["ids", "key"])]
    pub(crate) query: Option<String>,
    /// Most events for `--query`.
    #[arg(short = 'n', long, default_value_t = 20, requires = "query")]
    pub(crate) limit: usize,
    /// What this person said, what is theirs, and what names them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ids", "key", "query"])]
    pub(crate) person: Option<String>,
    /// A fact (`fct_…`): `--sources` says what becomes of the words that it was read in.
    #[arg(long, value_name = "ID", requires = "sources", conflicts_with_all = ["ids", "key", "query", "person"])]
    pub(crate) fact: Option<String>,
    /// Of a fact: erase the events that it rests on, or keep them and only call the fact wrong, for good.
    #[arg(long, value_enum, requires = "fact")]
    pub(crate) sources: Option<SourceHandling>,
    /// What retention would take next, whether it is enabled or not: at most 1,000 events.
    #[arg(long, conflicts_with_all = ["ids", "key", "query", "person"])]
    pub(crate) outdated: bool,
    #[command(flatten)]
    pub(crate) filter: super::Filter,
    /// Only what came in this way: `user_direct`, `user_confirmed`, assistant, tool, web, document, import and others.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ids", "key", "query", "person"])]
    pub(crate) origin: Option<String>,
    /// Only what stands in the file of this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ids", "key", "query", "person"])]
    pub(crate) file: Option<String>,
    /// Only say what would go, with a token by which exactly that can be confirmed.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Erase what a dry run named, without a question: its token, which holds for ten minutes and for exactly that.
    #[arg(long, value_name = "TOKEN", conflicts_with = "dry_run")]
    pub(crate) confirm: Option<String>,
    /// Write the signed receipt into this new file.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) receipt: Option<PathBuf>,
}

/// What becomes of the words that a fact was read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceHandling {
    /// They stay, and the fact is wrong whoever says it again.
    Keep,
    /// They are erased, with all that was made of them.
    Erase,
}

/// `verify-receipt`.
#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyReceipt {
    /// The file that `forget --receipt` wrote, `-` for stdin; or `rcl_…`, the id of a context.
    pub(crate) receipt: String,
    /// For a context: a file with its text, of which every block is compared.
    #[arg(long, value_name = "FILE")]
    pub(crate) text: Option<PathBuf>,
    /// For a receipt of a forget: the public key that must have signed it, in place of that of this installation.
    #[arg(long, value_name = "HEX", conflicts_with = "text")]
    pub(crate) public_key: Option<String>,
}
