//! What kind of work a learning is about.

use mnemal_core::Learning;
use mnemal_text::fold;

use crate::read::{LEARNED, is_own};

/// A kind of work that a learning is about. Source: BA-11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Objective {
    /// Finding things out.
    Research,
    /// Programs, and what is done with them.
    Code,
    /// Mail.
    Email,
    /// What is said to people otherwise, the user among them.
    Communication,
    /// Numbers and tables.
    Data,
    /// Texts that last.
    Document,
    /// When things happen.
    Schedule,
    /// None of these, or the user's own life.
    General,
}

/// Words by the kind of work that they name, in small letters and in the singular. Source: own choice; the first line is of what
/// feedback names, the others of tools and of the words in which people speak of them.
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
    /// Returns what a learning is about: what its feedback names, else the name of its tool, else the first of its words that
    /// names any.
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

    /// Returns the name on the wire.
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

/// Returns the words of a text, or of the name of a tool, in small letters.
fn pieces(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(fold).collect()
}
