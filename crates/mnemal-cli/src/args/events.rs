//! `log`, `import` and `export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::Filter;

/// `log`.
#[derive(Debug, Subcommand)]
pub(crate) enum Log {
    /// Record one event, or with `-` messages as JSON lines from stdin.
    Add(LogAdd),
    /// List events, newest last.
    List(LogList),
    /// Show one event.
    Show {
        /// `evt_…`
        id: String,
    },
    /// Let what a rule holds back be used, at its own level; `undo` holds it back again.
    Release {
        /// `evt_…`
        id: String,
    },
}

/// `log add`.
#[derive(Debug, ClapArgs)]
pub(crate) struct LogAdd {
    /// The text; `-` reads OpenAI-style messages as JSON lines from stdin.
    pub(crate) text: String,
    /// user, assistant, or observation for what a program noticed.
    #[arg(long, default_value = "user")]
    pub(crate) role: String,
    /// A free field, NAME=VALUE; may be repeated. An observation of `kind=task_created`, `task_completed` or `task_failed` with a
    /// `task_id` opens or ends a task.
    #[arg(long = "field", value_name = "NAME=VALUE", value_parser = field)]
    pub(crate) fields: Vec<(String, String)>,
    /// The conversation.
    #[arg(long)]
    pub(crate) session: Option<String>,
    /// Who speaks.
    #[arg(long)]
    pub(crate) speaker: Option<String>,
    /// When: RFC 3339, a day, or Unix milliseconds.
    #[arg(long)]
    pub(crate) at: Option<String>,
    /// Names the call, so that a repetition has one effect.
    #[arg(long)]
    pub(crate) idempotency_key: Option<String>,
}

/// Parses a metadata field, NAME=VALUE.
fn field(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = pair.ok_or_else(|| "a field is NAME=VALUE".to_owned())?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// `log list`.
#[derive(Debug, ClapArgs)]
pub(crate) struct LogList {
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// How many of the newest.
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// List conversations instead of events.
    #[arg(long)]
    pub(crate) sessions: bool,
    /// Also what a rule holds back.
    #[arg(long)]
    pub(crate) quarantined: bool,
}

/// Formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// Found out from the first lines.
    Auto,
    /// Our own export.
    Jsonl,
    /// The layout for histories of your own, one event a line; see below.
    Neutral,
    /// OpenAI-style messages.
    Openai,
    /// A Claude Code transcript.
    ClaudeCode,
    /// `conversations.json` of an account export of ChatGPT.
    Chatgpt,
    /// `conversations.json`, `projects.json` or `memories.json` of an account export of Claude.
    Claude,
    /// `memory.jsonl` of the official memory server of the Model Context Protocol.
    McpMemory,
    /// Memories of Mem0.
    Mem0,
    /// An agent's MEMORY.md, its daily notes and its sessions: a file, or the folder.
    MemoryMd,
    /// Notes of Obsidian or basic-memory: a file, or the folder.
    Obsidian,
    /// Memories of RockBot: a file, or the folder.
    Rockbot,
    /// A chat history of LangChain.
    Langchain,
    /// A session file of Codex CLI, `rollout-*.jsonl`.
    Codex,
    /// A session file of Gemini CLI, `session-*.json` or `.jsonl`.
    GeminiCli,
    /// `My Activity.json` of Gemini, from Google Takeout.
    GeminiTakeout,
    /// An export of claude-mem.
    ClaudeMem,
    /// An agent file of Letta, `.af`.
    Letta,
    /// A graph of Zep or Graphiti as JSON.
    Zep,
    /// A file, or the folder, of a COGX archive of Cognee.
    Cogx,
    /// A transfer archive of Hindsight, or a list of its memories.
    Hindsight,
}

/// The text after the options in `import --help`.
const NEUTRAL: &str = "\
The neutral layout is one JSON object a line:
  {\"id\": \"1\", \"conv\": \"trip\", \"session\": \"trip-1\", \"ts\": \"2026-01-05T10:00:00Z\",
   \"speaker\": \"Ana\", \"text\": \"I keep bees.\", \"caption\": \"a hive\"}
  id       tells the event from others of its conv; needed
  conv     what belongs together, as --conv names it; the session where that is missing
  session  the conversation; conv where it is missing
  ts       ISO 8601 with or without a zone, or seconds or milliseconds since 1970; where it is
           missing it is inferred from the conversation
  speaker  user or a name for a person; assistant, ai, bot, model for the agent; tool or function
           for what a tool answered; system for instructions, which are left out
  text     what was said; needed
  caption  what a picture beside it shows

What cannot be understood is named and costs nothing of the rest; the exit code is 2 then, and 0
with --lenient. Files of a zip, a .tar.gz, and those in a folder are read without
unpacking them.";

/// `import`.
#[derive(Debug, ClapArgs)]
#[command(after_help = NEUTRAL)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Import {
    /// The file, a zip, or a folder of files and zips; `-` for stdin.
    pub(crate) path: PathBuf,
    /// Its format.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) format: ImportFormat,
    /// It is your own history: the human speakers' turns count as your words, and what MEMORY.md and RockBot's files remember is
    /// confirmed by you. Without it those files count as your own agent's.
    #[arg(long)]
    pub(crate) own_history: bool,
    /// It is nothing of yours: what its files remember is evidence of others as well.
    #[arg(long, conflicts_with = "own_history")]
    pub(crate) of_others: bool,
    /// End with 0 though something could not be understood; it is named all the same.
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Only say what would be read, and how good it is: copies, noise, echoes, secrets.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on after an interruption; every import does, as nothing is stored twice.
    #[arg(long)]
    pub(crate) resume: bool,
    /// The file with your age key, for an encrypted export.
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    /// Only this conversation of a file in the neutral layout.
    #[arg(long)]
    pub(crate) conv: Option<String>,
}

/// Forms of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One record a line, without loss.
    Jsonl,
    /// The same as one JSON document.
    Json,
    /// A folder of Markdown, to be read by people.
    Markdown,
}

/// `export`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Export {
    /// The file, or for Markdown the folder; `-` or nothing for stdout.
    pub(crate) path: Option<PathBuf>,
    /// Its form; without it JSON lines, and one JSON document for `memory export`.
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Encrypt it for the holder of this age key (age1…); more than once for several. `import --identity` and `age -d` read it.
    #[arg(long, value_name = "RECIPIENT")]
    pub(crate) encrypt_to: Vec<String>,
}
