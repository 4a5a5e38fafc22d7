//! Importers for logs of other programs and for our own export, line by line in bounded memory.

use std::ops::Range;

use mnemal_core::{AgentId, ChannelId, EventId, NewEvent, Role, SessionId, Timestamp, UserId, Within, Zone};

use crate::log::Exact;

mod chatgpt;
mod claude;
mod claude_code;
mod codex;
mod detect;
mod element;
mod gemini;
mod json;
mod line;
mod markdown;
mod memories;
pub(crate) mod moment;
mod neutral;
mod note;
mod openai;
mod own;
mod position;
mod reader;
mod stores;
mod takeout;
mod turn;

pub use detect::{DETECT_BYTES, detect};
pub use position::Position;
pub use reader::Importer;

/// Set on an event whose source gave no time.
pub(crate) const TIME_INFERRED: &str = "time_inferred";
/// What a file holds.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Look at the first lines and at the name.
    Auto,
    /// Our own export: exact records with their ids.
    Mnemal,
    /// One event per line: `{id, conv, session, ts, speaker, text, caption?}`.
    Neutral,
    /// Messages `{role, content, …}`, one per line, or `{"messages": […]}`, one conversation per line.
    OpenAi,
    /// A transcript of Claude Code.
    ClaudeCode,
    /// `conversations.json` of an account export of ChatGPT: the branch that is shown of each conversation.
    ChatGpt,
    /// `conversations.json`, `projects.json` or `memories.json` of an account export of Claude.
    Claude,
    /// `memory.jsonl` of the official memory server of the Model Context Protocol.
    McpMemory,
    /// Memories of Mem0: a list, `{"results": […]}`, or one per line.
    Mem0,
    /// An agent's `MEMORY.md`, its daily notes `YYYY-MM-DD.md`, or sessions as messages, one per line.
    MemoryMd,
    /// A note of Obsidian or basic-memory.
    Obsidian,
    /// A memory of RockBot, one per file.
    RockBot,
    /// A chat history of LangChain: a list of messages `{type, data}`.
    LangChain,
    /// A session file of Codex CLI, `rollout-*.jsonl`.
    Codex,
    /// A session file of Gemini CLI, `session-*.json` or `session-*.jsonl`.
    GeminiCli,
    /// `My Activity.json` or `MyActivity.html` of the app of Gemini, from Google Takeout.
    GeminiTakeout,
    /// An export of claude-mem.
    ClaudeMem,
    /// An agent file of Letta, `.af`.
    Letta,
    /// A graph of Zep or Graphiti as JSON: episodes, entities, facts.
    Zep,
    /// A file of records of COGX, the exchange format of Cognee.
    Cogx,
    /// A document of a transfer archive of Hindsight, or a list of its memories.
    Hindsight,
}

impl Format {
    /// All formats that a file can have.
    pub const ALL: [Self; 20] = [
        Self::Mnemal,
        Self::Neutral,
        Self::OpenAi,
        Self::ClaudeCode,
        Self::ChatGpt,
        Self::Claude,
        Self::McpMemory,
        Self::Mem0,
        Self::MemoryMd,
        Self::Obsidian,
        Self::RockBot,
        Self::LangChain,
        Self::Codex,
        Self::GeminiCli,
        Self::GeminiTakeout,
        Self::ClaudeMem,
        Self::Letta,
        Self::Zep,
        Self::Cogx,
        Self::Hindsight,
    ];

    /// Returns the name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Mnemal => "jsonl",
            Self::Neutral => "neutral",
            Self::OpenAi => "openai",
            Self::ClaudeCode => "claude-code",
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::McpMemory => "mcp-memory",
            Self::Mem0 => "mem0",
            Self::MemoryMd => "memory-md",
            Self::Obsidian => "obsidian",
            Self::RockBot => "rockbot",
            Self::LangChain => "langchain",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::GeminiTakeout => "gemini-takeout",
            Self::ClaudeMem => "claude-mem",
            Self::Letta => "letta",
            Self::Zep => "zep",
            Self::Cogx => "cogx",
            Self::Hindsight => "hindsight",
        }
    }

    /// Reads the name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        std::iter::once(Self::Auto).chain(Self::ALL).find(|format| format.as_str() == name)
    }
}

/// Whether the owner of the file vouches for the words of its human speakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnHistory {
    /// They become the user's own words (`user_confirmed`), and so does what the files of his agent remember.
    Yes,
    /// They are external evidence like everything else in the file (`import`).
    No,
    /// Nobody has said: words of people are external evidence, and what the files of one's own agent remember (`MEMORY.md`, daily
    /// notes, memories of RockBot) is that agent's.
    Unsaid,
    /// The file is written by the host while its user talks: the user's words are its own (`user_direct`), the agent's are
    /// the agent's, and what tools answer comes from outside.
    Captured,
}

/// Whether a broken line ends the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lenient {
    /// It is skipped and reported.
    Yes,
    /// It ends the import with an error; nothing behind it is read.
    No,
}

/// How a file is read.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The file's name: helps to tell the format, and tells messages without an id of their own from those of another file.
    pub source: String,
    /// Whether the owner vouches for the human speakers.
    pub origin: OwnHistory,
    /// Whether broken lines are skipped.
    pub lenient: Lenient,
    /// Only events of this `conv` of the neutral layout.
    pub conv: Within<String>,
    /// Only events of these roles; the others still link what they stand between.
    pub roles: Within<Vec<Role>>,
    /// One conversation for all events, in place of those of the file.
    pub session: Option<SessionId>,
    /// Where the conversations took place, in place of the format's name.
    pub channel: Option<ChannelId>,
    /// Whose events they are.
    pub user: Option<UserId>,
    /// Which agent's events they are.
    pub agent: Option<AgentId>,
    /// The zone of times that have none of their own.
    pub zone: Zone,
    /// The time of the import, for events of conversations without any time.
    pub now: Timestamp,
    /// Lines up to here gave their events earlier: they are read for threads and times only. 0 for none.
    pub after_line: u64,
}

impl ImportOptions {
    /// Returns options for external evidence, read strictly, in UTC.
    pub fn new(source: impl Into<String>, now: Timestamp) -> Self {
        Self {
            source: source.into(),
            origin: OwnHistory::No,
            lenient: Lenient::No,
            conv: Within::All,
            roles: Within::All,
            session: None,
            channel: None,
            user: None,
            agent: None,
            zone: Zone::utc(),
            now,
            after_line: 0,
        }
    }
}

/// Why a line, or a part of one, gave no event.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It could not be understood.
    Broken(String),
    /// It is longer than this many bytes.
    TooLong(usize),
    /// It was understood, and is not memory: instructions of the host, echoes of commands, thoughts, pictures.
    NotMemory(&'static str),
}

impl std::fmt::Display for Why {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Broken(why) => out.write_str(why),
            Self::TooLong(most) => write!(out, "longer than {most} bytes"),
            Self::NotMemory(what) => write!(out, "not memory: {what}"),
        }
    }
}

/// A line, or a part of one, that gave no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its number, from 1; of a JSON document the number of the record.
    pub line: u64,
    /// Why.
    pub why: Why,
}

impl Skipped {
    /// Whether it could not be understood, and is not only no memory.
    pub fn is_broken(&self) -> bool {
        !matches!(self.why, Why::NotMemory(_))
    }
}

/// Some lines of a file, or records of a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportBatch {
    /// Events of a foreign format, in the order of the file; their keys must not be changed, because their ids follow
    /// from them. Give the batch to [`EventLog::take`](crate::EventLog::take).
    pub events: Vec<NewEvent>,
    /// Records of our own export, in place of `events`.
    pub exact: Option<Exact>,
    /// Events of earlier batches, or of an earlier reading of the file, that their person took back since: he went on from before
    /// them.
    pub withdrawn: Vec<EventId>,
    /// The lines they stand in, from 1, without the last; the next batch goes on there.
    pub lines: Range<u64>,
    /// Lines among them that gave no event.
    pub skipped: Vec<Skipped>,
    /// Bytes of the file that are done; an unfinished last line is not.
    pub bytes_read: u64,
}
