//! Importers for logs of other programs and for our own export, line by line in bounded memory.

use std::ops::Range;

use mnemal_core::{AgentId, ChannelId, EventId, NewEvent, Role, SessionId, Timestamp, UserId, Within, Zone};

use crate::log::RestoreBatch;

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
mod native;
mod neutral;
mod note;
mod openai;
pub(crate) mod parse_time;
mod position;
mod reader;
mod stores;
mod takeout;
mod turn;

pub use detect::{DETECT_BYTES, detect};
pub use position::Position;
pub use reader::Importer;

/// Flag on an event whose source gave no time.
pub(crate) const TIME_INFERRED: &str = "time_inferred";
/// A file format.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Detect the format from the first lines and the name.
    Auto,
    /// Our own export: exact records with their ids.
    Mnemal,
    /// One event per line: `{id, conv, session, ts, speaker, text, caption?}`.
    Neutral,
    /// Messages `{role, content, …}`, one per line, or `{"messages": […]}`, one conversation per line.
    OpenAi,
    /// A transcript of Claude Code.
    ClaudeCode,
    /// `conversations.json` of a ChatGPT account export: the visible branch of each conversation.
    ChatGpt,
    /// `conversations.json`, `projects.json` or `memories.json` of a Claude account export.
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
    /// `My Activity.json` or `MyActivity.html` of the Gemini app, from Google Takeout.
    GeminiTakeout,
    /// An export of claude-mem.
    ClaudeMem,
    /// An agent file of Letta, `.af`.
    Letta,
    /// A Zep or Graphiti graph as JSON: episodes, entities, facts.
    Zep,
    /// A record file in COGX, the exchange format of Cognee.
    Cogx,
    /// A document of a Hindsight transfer archive, or a list of its memories.
    Hindsight,
}

impl Format {
    /// All formats but `Auto`.
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

/// Whether the owner of the file confirms the words of its human speakers as the owner's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnHistory {
    /// They become the user's own words (`user_confirmed`), and so do the memory files of the owner's agent.
    Yes,
    /// They are external evidence like everything else in the file (`import`).
    No,
    /// Not stated: human words are external evidence, and the memory files of one's own agent (`MEMORY.md`, daily notes,
    /// RockBot memories) count as that agent's.
    Unsaid,
    /// The host writes the file during the conversation: user turns are the user's (`user_direct`), agent turns are the
    /// agent's, and tool results are external.
    Captured,
}

/// Whether an unreadable line ends the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePolicy {
    /// It is skipped and reported.
    Yes,
    /// It ends the import with an error; nothing after it is read.
    No,
}

/// Options of an import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The file's name: used for format detection, and to distinguish messages without ids from those of other files.
    pub source: String,
    /// Whether the owner confirms the human speakers' words.
    pub origin: OwnHistory,
    /// Whether unreadable lines are skipped.
    pub lenient: LinePolicy,
    /// Only events of this `conv` of the neutral layout.
    pub conv: Within<String>,
    /// Only events with these roles; the others still link their neighbors.
    pub roles: Within<Vec<Role>>,
    /// One conversation for all events, instead of those of the file.
    pub session: Option<SessionId>,
    /// The channel, instead of the format's name.
    pub channel: Option<ChannelId>,
    /// The user of the events.
    pub user: Option<UserId>,
    /// The agent of the events.
    pub agent: Option<AgentId>,
    /// The zone of times without one.
    pub zone: Zone,
    /// The time of the import, for conversations without any time.
    pub now: Timestamp,
    /// Lines up to here were imported earlier: they are read for threads and times only. 0 for none.
    pub after_line: u64,
}

impl ImportOptions {
    /// Returns options for external evidence, strict reading, and UTC.
    pub fn new(source: impl Into<String>, now: Timestamp) -> Self {
        Self {
            source: source.into(),
            origin: OwnHistory::No,
            lenient: LinePolicy::No,
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

/// The reason why a line, or a part of one, gave no event.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipCause {
    /// It could not be parsed.
    Broken(String),
    /// It is longer than this many bytes.
    TooLong(usize),
    /// It was parsed, and is not memory: host instructions, command echoes, reasoning, pictures.
    NotMemory(&'static str),
}

impl std::fmt::Display for SkipCause {
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
pub struct SkippedLine {
    /// Its number, from 1; of a JSON document the number of the record.
    pub line: u64,
    /// The reason.
    pub why: SkipCause,
}

impl SkippedLine {
    /// Whether it could not be parsed, as opposed to being no memory.
    pub fn is_broken(&self) -> bool {
        !matches!(self.why, SkipCause::NotMemory(_))
    }
}

/// A batch of lines of a file, or of records of a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportBatch {
    /// Events of a foreign format, in file order; their keys must not be changed, because their ids are derived from them. Pass
    /// the batch to [`EventLog::import`](crate::EventLog::import).
    pub events: Vec<NewEvent>,
    /// Records of our own export, instead of `events`.
    pub exact: Option<RestoreBatch>,
    /// Events of earlier batches, or of an earlier import of the file, that the user withdrew since by continuing from an
    /// earlier message.
    pub withdrawn: Vec<EventId>,
    /// Their line range, from 1, end exclusive; the next batch starts there.
    pub lines: Range<u64>,
    /// Lines among them that gave no event.
    pub skipped: Vec<SkippedLine>,
    /// Bytes of the file that are done; an incomplete last line is excluded.
    pub bytes_read: u64,
}
