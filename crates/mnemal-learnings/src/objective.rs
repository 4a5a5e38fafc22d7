//! Objective type of a learning: the kind of work it is about.

use mnemal_core::Learning;
use mnemal_text::fold;

use crate::read::{LEARNED, is_own};

/// A kind of work. Source: BA-11, the objective types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Objective {
    /// Research.
    Research,
    /// Programming and its tools.
    Code,
    /// Mail.
    Email,
    /// Other communication, with the user too.
    Communication,
    /// Numbers and tables.
    Data,
    /// Documents.
    Document,
    /// Dates and schedules.
    Schedule,
    /// None of these, or the user's own life.
    General,
}

/// Words by kind of work, lowercase and singular. Source: own choice; the first line of each has the targets of feedback,
/// the others the words of tools and of everyday language.
const WORDS: [(Objective, &[&str]); 7] = [
    (
        Objective::Research,
        &[
            "source", "link", "search", "browse", "browser", "web", "wiki", "fetch", "crawl", "research",
            "lookup", "citation",
        ],
    ),
    (
        Objective::Code,
        &[
            "code",
            "commit",
            "test",
            "script",
            "function",
            "branch",
            "diff",
            "variable",
            "deploy",
            "push",
            "merge",
            "build",
            "import",
            "log",
            "git",
            "shell",
            "bash",
            "terminal",
            "compile",
            "compiler",
            "lint",
            "linter",
            "npm",
            "pnpm",
            "cargo",
            "pip",
            "docker",
            "repo",
            "repository",
            "refactor",
            "debug",
            "unwrap",
            "lockfile",
            "grep",
            "ripgrep",
            "api",
            "migration",
            "dependency",
            "release",
            "rollback",
        ],
    ),
    (Objective::Email, &["email", "mail", "inbox", "newsletter", "smtp", "gmail", "outlook"]),
    (
        Objective::Communication,
        &[
            "reply",
            "response",
            "message",
            "tone",
            "greeting",
            "sign-off",
            "apology",
            "emoji",
            "letter",
            "wording",
            "jargon",
            "disclaimer",
            "question",
            "post",
            "send",
            "chat",
            "slack",
            "sms",
            "call",
            "notify",
            "notification",
        ],
    ),
    (
        Objective::Data,
        &[
            "table",
            "query",
            "chart",
            "calculation",
            "number",
            "unit",
            "price",
            "estimate",
            "sql",
            "csv",
            "database",
            "spreadsheet",
            "column",
            "data",
            "dataset",
        ],
    ),
    (
        Objective::Document,
        &[
            "summary",
            "report",
            "translation",
            "draft",
            "explanation",
            "paragraph",
            "heading",
            "title",
            "introduction",
            "conclusion",
            "document",
            "slide",
            "essay",
            "caption",
            "review",
            "sentence",
            "formatting",
            "list",
            "bullet point",
            "note",
            "invoice",
            "file",
            "doc",
            "pdf",
            "markdown",
            "page",
        ],
    ),
    (
        Objective::Schedule,
        &[
            "plan",
            "schedule",
            "itinerary",
            "date",
            "time",
            "booking",
            "reminder",
            "event",
            "calendar",
            "meeting",
            "appointment",
            "alarm",
        ],
    ),
];

impl Objective {
    /// Returns the kind of work of a learning: by the target of its feedback, else by its tool's name, else by the first of
    /// its words that has a kind.
    pub fn of(learning: &Learning) -> Self {
        let key = learning.key.as_ref();
        if key.is_some_and(is_own) {
            return Self::General;
        }
        let named = key.and_then(|key| key.as_str().strip_prefix(LEARNED)?.split('/').next());
        if let Some(objective) = named.and_then(named_by) {
            return objective;
        }
        let of_tool = learning.tool.iter().flat_map(|tool| pieces(tool.as_str()));
        let of_text = pieces(&learning.content);
        of_tool.chain(of_text).find_map(|word| named_by(&word)).unwrap_or(Self::General)
    }

    /// Returns the wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Code => "code",
            Self::Email => "email",
            Self::Communication => "communication",
            Self::Data => "data",
            Self::Document => "document",
            Self::Schedule => "schedule",
            Self::General => "general",
        }
    }
}

fn named_by(word: &str) -> Option<Objective> {
    let is_named = |words: &[&str]| {
        words.iter().any(|known| *known == word || word.strip_suffix('s').is_some_and(|one| one == *known))
    };
    WORDS.iter().find(|(_, words)| is_named(words)).map(|(objective, _)| *objective)
}

/// Returns the words of a text, or of a tool name, in lowercase.
fn pieces(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(fold).collect()
}
