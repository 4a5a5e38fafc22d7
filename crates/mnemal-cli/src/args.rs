//! The arguments of the command line.

mod ask;
mod audit;
mod dream;
mod events;
mod forget;
mod graph;
mod help;
mod ingest;
mod memory;
mod model;
mod models;
mod pages;
mod rebuild;
mod report;
mod serve;
mod session;
mod setup;
mod summary;
mod trust;
mod working;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use mnemal::Spaces;

pub(crate) use self::ask::Ask;
pub(crate) use self::audit::{Audit, AuditVerb};
pub(crate) use self::dream::{Dream, DreamVerb};
pub(crate) use self::events::{Export, ExportFormat, Import, ImportFormat, Log, LogAdd, LogList};
pub(crate) use self::forget::{Forget, SourceHandling, VerifyReceipt};
pub(crate) use self::graph::{Entity, Fact, FactTime, Graph, GraphFormat, Topic, Undo};
pub(crate) use self::help::command;
pub(crate) use self::ingest::{Inbox, Ingest};
pub(crate) use self::memory::{MemoryCall, MemoryVerb, NoteFilter, VerbTarget};
pub(crate) use self::model::Model;
pub(crate) use self::models::Models;
pub(crate) use self::pages::{Completions, Man};
pub(crate) use self::rebuild::{Rebuild, Reindex};
pub(crate) use self::report::ReportCall;
pub(crate) use self::serve::{Database, Key, Serve, Ui, Worker};
pub(crate) use self::session::{Session, SessionCompress};
pub(crate) use self::setup::{Hook, Setup};
pub(crate) use self::summary::Summary;
pub(crate) use self::trust::{Diff, FeedbackCall, Why, WhyNot};
pub(crate) use self::working::{OwnNamespace, Working};

/// The memory engine for AI agents: fast, offline, and able to prove what it remembers.
#[derive(Debug, Parser)]
#[command(name = "mnemal", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Options of every command")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Global {
    /// The space; without it `MNEMAL_SPACE`, then the git repository of the working directory, then `default`.
    /// What reads takes several, `a,b`: the first is the one that is meant, the others are read beside it.
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) space: Option<String>,
    /// A database file, instead of a space by name; or a PostgreSQL database with spaces by name, `postgres://USER@HOST/NAME`.
    /// Without it `MNEMAL_DB`, then the setting `storage.url`.
    #[arg(long, global = true, value_name = "PATH|URL")]
    pub(crate) db: Option<PathBuf>,
    /// One user's part of the space: nothing of anybody else is read, and what is stored becomes his.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) only_user: Option<String>,
    /// A server that has the space, `http://HOST:PORT`, in place of a file; without it `MNEMAL_SERVER`.
    /// It is shown the key in `MNEMAL_API_KEY`, else on this machine the local one.
    #[arg(long, global = true, value_name = "URL", conflicts_with_all = ["db", "config"])]
    pub(crate) server: Option<String>,
    /// The configuration file, instead of the user's.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print one JSON object a line, for lists.
    #[arg(long, global = true, conflicts_with = "json")]
    pub(crate) jsonl: bool,
    /// Say less.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more; twice for everything.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Exit with 6 when an answer has gaps.
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// No colour.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Answer yes to every question.
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,
    /// The folder that names the space, in place of the working directory.
    #[arg(skip)]
    pub(crate) folder: Option<PathBuf>,
    /// Whether it is for no project: a server, which other projects ask as well.
    #[arg(skip)]
    pub(crate) for_all: bool,
    /// The open spaces of the server that runs the command for another process; `None` if this process opens the file.
    #[arg(skip)]
    pub(crate) open_spaces: Option<Spaces>,
    /// The content of stdin of such a remote command.
    #[arg(skip)]
    pub(crate) stdin: Option<String>,
    /// Whether such a command comes from the holder of a key, who must not see this machine's paths.
    #[arg(skip)]
    pub(crate) is_remote: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the data directory, the installation's key and the space, and print where they are.
    Init,
    /// Show what mnemal does, in 30 seconds, on a sample conversation.
    Demo,
    /// Store a note.
    #[command(visible_aliases = ["store", "add"])]
    Remember(Remember),
    /// Find what was said or noted.
    #[command(visible_alias = "search")]
    Recall(Recall),
    /// Answer a question with sentences that were said and facts, or say that it is not known.
    ///
    /// Each line has its day, who said it, and behind the words its number and its record; last stands the receipt, so that
    /// `why NUMBER --recall RECEIPT` says where a line comes from. No model is asked and nothing is guessed: where nothing that
    /// is known answers, it prints `not known` and exits with 0, as `recall` does where it finds nothing.
    Ask(Ask),
    /// Print a context within a token budget.
    Context(Context),
    /// Erase, in every layer; there is no undo.
    Forget(Forget),
    /// Check the signed receipt of a forget, or the stored receipt of a context.
    VerifyReceipt(VerifyReceipt),
    /// Say where a record or a line of a context comes from: record, event, words; with a receipt also its scores.
    Why(Why),
    /// Say why a context for a question does not have a record.
    WhyNot(WhyNot),
    /// Say what a line of an earlier context was found to be; `why` tells it.
    Feedback(FeedbackCall),
    /// Say what came to be believed between two moments, was dropped or changed, each with its evidence.
    Diff(Diff),
    /// Say what memory cost in a week, and what was used, learned, forgotten and contradicted, as Markdown.
    ///
    /// It counts what the space has stored; what nothing stores is named and has no number. A week is the last 7 days, or those
    /// that you name; what counts is when something was stored, not when it happened.
    Report(ReportCall),
    /// Record, list and show events.
    #[command(subcommand)]
    Log(Log),
    /// Say what an event or a text claims, names and asks for, read now and without a model; nothing is stored.
    Extract(Extract),
    /// Show whom and what the memory knows, and from where; merge, split, rename and forget.
    #[command(subcommand)]
    Entity(Entity),
    /// List, add and end what is known as facts, with since when and until when.
    #[command(subcommand)]
    Fact(Fact),
    /// Show what is talked about.
    #[command(subcommand)]
    Topic(Topic),
    /// Show what was said, in few of its own sentences: of everything, of a channel, a conversation, a day.
    Summary(Summary),
    /// List, show, compress and erase conversations.
    #[command(subcommand)]
    Session(Session),
    /// Write the graph of entities and facts for other programs.
    #[command(subcommand)]
    Graph(Graph),
    /// List, show and decide about notes and learnings: history, archive, restore, reject, confirm, categories.
    #[command(subcommand)]
    Memory(MemoryVerb),
    /// The same of what was learnt from the user's words and from results of tools.
    #[command(subcommand, visible_alias = "learnings")]
    Learning(MemoryCall),
    /// The same of how the user wants things.
    #[command(subcommand, visible_alias = "preferences")]
    Preference(MemoryCall),
    /// Look over the notes now: fold copies, put away what has ended, connect what belongs together; or show what was done.
    Dream(Dream),
    /// Take a decision about a fact, a name, a merge, a note or a learning back, or what the dream did.
    Undo(Undo),
    /// Keep scratch texts for a while: put, get, list, search, rm.
    #[command(subcommand)]
    Working(Working),
    /// Say what the language model of the settings has cost, and whether it answers.
    #[command(subcommand)]
    Model(Model),
    /// List, add and remove models that read beside the rules, without a network.
    #[command(subcommand)]
    Models(Models),
    /// Read conversations and memories of other programs from a file or a folder, each once.
    Import(Import),
    /// Read files: text, Markdown, JSON, CSV and, in a build for them, HTML, mail, DOCX, EPUB, PDF; each once.
    Ingest(Ingest),
    /// Show and read the folder that the settings name as an inbox.
    #[command(subcommand)]
    Inbox(Inbox),
    /// Write everything: without loss as JSON lines or one document, or as a folder of Markdown.
    Export(Export),
    /// List, make, show, change and remove spaces.
    #[command(subcommand)]
    Space(Space),
    /// Copy the space into a new file, also while others write, and read the copy back.
    Backup(Backup),
    /// Put a backup in the space's place; what was forgotten since stays forgotten.
    Restore(Restore),
    /// Save what is left of a damaged space into a new file.
    Recover(Recover),
    /// Make what recall searches anew; what it has serves until then.
    Reindex(Reindex),
    /// Make a layer anew from the log while its old rows answer, or compare it with what the log gives.
    Rebuild(Rebuild),
    /// Read everything and compare it with its checksums, or measure how good it is.
    Check(Check),
    /// Say what the space holds and how its parts are.
    Status,
    /// Carry out one command of the memory tool that models are trained with: JSON on stdin, the text for the model on stdout.
    MemoryTool,
    /// Serve the space to an agent's client: the Model Context Protocol on stdin and stdout.
    Mcp(Mcp),
    /// Serve all spaces to programs: HTTP, and the Model Context Protocol on the same port.
    Serve(Serve),
    /// Look after spaces without serving: read what was said, consolidate, remove what has expired. All of them, or those of `-s`.
    ///
    /// A server does this for the spaces that are asked for; a worker does it for every one, beside any number of servers: a space
    /// has one at a time.
    Worker(Worker),
    /// Open the web UI in the browser: of the server that runs, else of one that it starts.
    Ui(Ui),
    /// Prepare the PostgreSQL database that holds the spaces.
    #[command(subcommand)]
    Database(Database),
    /// Make, list and revoke the keys of programs.
    #[command(subcommand)]
    Key(Key),
    /// Say what a person should look at because of whom it comes from, or check the log of acts.
    Audit(Audit),
    /// Check files, settings and stored bytes; one fix a line.
    Doctor(Doctor),
    /// Say which settings are in effect, and where each comes from; of a secret only whether it is set.
    Settings,
    /// Say whether a server answers: the one that is named, else that of the settings.
    Health(Health),
    /// Answer an event of a client: one JSON document in, one out.
    Hook(Hook),
    /// Put mnemal into the settings of a host (an agent or an editor): shows the change, asks, and keeps a copy.
    Setup(Setup),
    /// Print the script by which a shell completes commands and options.
    Completions(Completions),
    /// Write the pages of the manual into a folder, one for each command.
    Man(Man),
}

/// `remember`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Remember {
    /// The text; `-` reads it from stdin.
    pub(crate) text: String,
    /// A stable name: storing again with it makes a new version, which keeps what you do not say (kind, category, tags,
    /// importance, end, whose it is).
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// `knowledge` (where you say none), `preference` or `anti_pattern`.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// A slash path.
    #[arg(long)]
    pub(crate) category: Option<String>,
    /// A word to attach; may be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// 0 to 1.
    #[arg(long)]
    pub(crate) importance: Option<f32>,
    /// How long it holds: 30m, 12h, 7d.
    #[arg(long)]
    pub(crate) ttl: Option<String>,
    /// Whose it is.
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// The conversation.
    #[arg(long)]
    pub(crate) session: Option<String>,
}

/// Which records.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct Filter {
    /// Only this conversation.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// Only this speaker.
    #[arg(long)]
    pub(crate) speaker: Option<String>,
    /// Only this person's.
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Only these roles: user, assistant, tool, document, decision.
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<String>,
    /// Not before: RFC 3339, a day, or Unix milliseconds.
    #[arg(long)]
    pub(crate) since: Option<String>,
    /// Before.
    #[arg(long)]
    pub(crate) until: Option<String>,
}

/// `recall`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Recall {
    /// The question.
    pub(crate) query: String,
    /// Most hits.
    #[arg(short = 'n', long)]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// auto, hybrid, lexical or vector.
    #[arg(long, default_value = "auto")]
    pub(crate) mode: String,
    /// Only hits of at least this score.
    #[arg(long)]
    pub(crate) min_score: Option<f32>,
    /// Of hits that say the same keep the best, and at most three of one conversation.
    #[arg(long)]
    pub(crate) varied: bool,
    /// Stop where the scores fall off.
    #[arg(long)]
    pub(crate) close: bool,
    /// Ask the endpoint of the settings for the question's vector first, for at most two seconds.
    #[arg(long)]
    pub(crate) ask_endpoint: bool,
    /// Show what each score is made of.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// `context`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Context {
    /// What the turn is about.
    pub(crate) query: Option<String>,
    /// Most tokens.
    #[arg(long)]
    pub(crate) budget: Option<u32>,
    /// The conversation that will be shown the context; its own turns are left out.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// The tool that is about to be used: what is known of how it fares comes first.
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only this person's records.
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// markdown, xml or json.
    #[arg(long, default_value = "markdown")]
    pub(crate) format: String,
    /// Leave out what the session was shown before, as it is where a session is named.
    #[arg(long)]
    pub(crate) skip_injected: bool,
    /// Show again what the session was shown before.
    #[arg(long, conflicts_with = "skip_injected")]
    pub(crate) again: bool,
    /// Ask the endpoint of the settings for the question's vector first, for at most two seconds.
    #[arg(long)]
    pub(crate) ask_endpoint: bool,
    /// Show the receipt: every line with its sources, everything that was left out with the reason.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// `extract`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Extract {
    /// `evt_…`
    #[arg(required_unless_present = "text")]
    pub(crate) event: Option<String>,
    /// A text that the user says now, in place of an event; `-` reads it from stdin. No space is opened.
    #[arg(long, conflicts_with = "event")]
    pub(crate) text: Option<String>,
    /// Ask the language model of the settings instead of the rules. Nothing is stored but its paid answer.
    #[arg(long, conflicts_with = "text")]
    pub(crate) model: bool,
    /// Say also what was dropped, and what the text says in short, is about, and how much its words make of it.
    #[arg(long)]
    pub(crate) explain: bool,
}

/// `space`.
#[derive(Debug, Subcommand)]
pub(crate) enum Space {
    /// List all spaces.
    List,
    /// Make a space. With `--always-on` one that is there becomes always-on.
    Create {
        /// Its name: a letter or digit, then up to 62 of a-z, 0-9, `.`, `_`, `-`.
        name: String,
        /// Read it beside every other one.
        #[arg(long)]
        always_on: bool,
    },
    /// Say what a space holds.
    Show {
        /// Its name.
        name: String,
    },
    /// Change a space.
    Set {
        /// Its name.
        name: String,
        /// Read it beside every other one.
        #[arg(long, required_unless_present_any = ["no_always_on", "consolidate_interval", "owner", "no_owner"])]
        always_on: bool,
        /// Read it only when it is named.
        #[arg(long, conflicts_with = "always_on")]
        no_always_on: bool,
        /// Least minutes between two cycles over its notes that nobody asked for.
        #[arg(long, value_name = "MIN")]
        consolidate_interval: Option<u32>,
        /// A name under which its owner speaks in the log, beside none at all and labels as "user"; more than once for several. His
        /// words are the user's, and the wishes of others are no orders.
        #[arg(long, value_name = "NAME")]
        owner: Vec<String>,
        /// Nobody is named as its owner.
        #[arg(long, conflicts_with = "owner")]
        no_owner: bool,
    },
    /// Agree that the project of this folder chooses the space that its `.mnemal/config.toml` asks for.
    Trust {
        /// Its name.
        name: String,
    },
    /// Remove a space for good, with all its files.
    Rm {
        /// Its name.
        name: String,
    },
}

/// `health`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Health {
    /// Ask again for so long until it is ready: 20s, 1m.
    #[arg(long, value_name = "DURATION")]
    pub(crate) wait: Option<String>,
}

/// `backup`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Backup {
    /// The new file; its manifest is `PATH.manifest.json`.
    pub(crate) path: PathBuf,
}

/// `restore`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Restore {
    /// The backup.
    pub(crate) path: PathBuf,
}

/// `recover`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Recover {
    /// Write the new file here and leave the damaged one where it is.
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
}

/// Sets of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpProfile {
    /// Reading, storing and forgetting.
    Core,
    /// Reading only.
    Readonly,
    /// The tools of other memories by their own names.
    Compat,
    /// Every tool.
    Full,
    /// The two tools by which ChatGPT reads: search and fetch.
    Chatgpt,
    /// The tools of the official memory server of the protocol.
    Classic,
}

/// `mcp`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Mcp {
    /// The tools that are offered.
    #[arg(long, value_enum, default_value = "core")]
    pub(crate) profile: McpProfile,
}

/// `check`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Check {
    /// Measure the content instead: copies, echoes, orphans, disputed facts, stale summaries, secrets, bytes a record.
    #[arg(long)]
    pub(crate) quality: bool,
}

/// `doctor`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// Search the bytes of the space for a text that must be gone.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prove_erased: Option<String>,
    /// Mend what can be mended without loss: damaged parts of the index and layers that are behind are made anew, copies of
    /// notes are folded (`undo` takes it back). File modes are repaired whenever a space is opened.
    #[arg(long)]
    pub(crate) fix: bool,
}
