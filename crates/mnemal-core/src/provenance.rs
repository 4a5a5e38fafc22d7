//! Provenance: origin, trust and level of words, and the producer of a derived record.

use crate::{Error, EventId, Result};

/// The origin of words. Set by the code path that received them, never derived from their text.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Said by the user to the host, or typed into our own surfaces.
    UserDirect,
    /// The user approved exactly these bytes.
    UserConfirmed,
    /// A tool trusted by the operator.
    ToolInternal,
    /// Any other tool, web page or mail.
    ToolExternal,
    /// An ingested file.
    Document,
    /// A record of another system, unverified.
    Import,
    /// The agent.
    Assistant,
    /// An inference of the engine.
    Engine,
    /// Memory that was injected before, and anything unstamped.
    Echo,
}

/// The trust of a record, which decides what may supersede what; ordered, so that `min` over sources is the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trust {
    /// Repeats memory's own output.
    Echo,
    /// Inferred.
    Inferred,
    /// Said by the agent.
    Assistant,
    /// From a document, an import, or an outside tool.
    Document,
    /// Reported by a trusted tool.
    Tool,
    /// Said or approved by the user.
    User,
}

/// The level of a record, which decides what it may become and where it is rendered; the minimum over all source events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// External evidence: rendered separately and labeled.
    External,
    /// From the agent and its own tools.
    Agent,
    /// From the user.
    User,
}

impl Origin {
    /// All origins, in declaration order.
    pub const ALL: [Self; 9] = [
        Self::UserDirect,
        Self::UserConfirmed,
        Self::ToolInternal,
        Self::ToolExternal,
        Self::Document,
        Self::Import,
        Self::Assistant,
        Self::Engine,
        Self::Echo,
    ];

    /// Returns the trust of words with this origin.
    pub fn trust(self) -> Trust {
        match self {
            Self::UserDirect | Self::UserConfirmed => Trust::User,
            Self::ToolInternal => Trust::Tool,
            Self::ToolExternal | Self::Document | Self::Import => Trust::Document,
            Self::Assistant => Trust::Assistant,
            Self::Engine => Trust::Inferred,
            Self::Echo => Trust::Echo,
        }
    }

    /// Returns the level of words with this origin.
    pub fn level(self) -> Level {
        match self {
            Self::UserDirect | Self::UserConfirmed => Level::User,
            Self::ToolInternal | Self::Assistant | Self::Engine => Level::Agent,
            Self::ToolExternal | Self::Document | Self::Import | Self::Echo => Level::External,
        }
    }

    /// Returns the name on the wire, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserDirect => "user_direct",
            Self::UserConfirmed => "user_confirmed",
            Self::ToolInternal => "tool_internal",
            Self::ToolExternal => "tool_external",
            Self::Document => "document",
            Self::Import => "import",
            Self::Assistant => "assistant",
            Self::Engine => "engine",
            Self::Echo => "echo",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == name)
    }
}

impl Trust {
    /// Returns the name on the wire, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Inferred => "inferred",
            Self::Assistant => "assistant",
            Self::Document => "document",
            Self::Tool => "tool",
            Self::User => "user",
        }
    }
}

impl Level {
    /// Returns the name on the wire and the label on a context line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::External => "external",
            Self::Agent => "agent",
            Self::User => "user",
        }
    }
}

/// Half-open byte range in the stored text of an event, on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte; never before `start`.
    pub end: u32,
}

impl Span {
    /// Returns the span of a whole text.
    ///
    /// # Errors
    /// `Invalid` for a text of 4 GiB or more.
    pub fn whole(text: &str) -> Result<Self> {
        let end =
            u32::try_from(text.len()).map_err(|_| Error::invalid("a text must be shorter than 4 GiB"))?;
        Ok(Self { start: 0, end })
    }

    /// Returns the named part of `text`; `None` when it is out of bounds or not on character boundaries.
    pub fn of(self, text: &str) -> Option<&str> {
        text.get(self.start as usize..self.end as usize)
    }

    /// Returns the named part of `text`, unless it splits a word. Scripts without spaces have no such words, so only a word
    /// that ends in an ASCII letter or digit can be split.
    pub fn words_of(self, text: &str) -> Option<&str> {
        let words = self.of(text)?;
        let is_cut = |near: Option<char>, own: Option<char>| {
            near.is_some_and(char::is_alphanumeric) && own.is_some_and(|own| own.is_ascii_alphanumeric())
        };
        let (before, behind) = (text.get(..self.start as usize)?, text.get(self.end as usize..)?);
        let begins = is_cut(before.chars().next_back(), words.chars().next());
        let ends = is_cut(behind.chars().next(), words.chars().next_back());
        (!begins && !ends).then_some(words)
    }

    /// Returns the first occurrence of words within this part of a text, whole words, ignoring ASCII case and surrounding white
    /// space; `None` for empty words.
    pub fn find(self, text: &str, words: &str) -> Option<Self> {
        let wanted = words.trim().to_ascii_lowercase();
        if wanted.is_empty() {
            return None;
        }
        let here = self.of(text)?.to_ascii_lowercase();
        let place = |at: usize| u32::try_from(at).ok()?.checked_add(self.start);
        let mut spans = here.match_indices(&wanted).filter_map(|(start, found)| {
            Some(Self { start: place(start)?, end: place(start + found.len())? })
        });
        spans.find(|span| span.words_of(text).is_some())
    }
}

/// The position of a statement in the log: an event, and the bytes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// The event.
    pub event: EventId,
    /// Its bytes.
    pub span: Span,
}

impl Source {
    /// Whether two sources overlap.
    pub fn overlaps(self, other: Self) -> bool {
        self.event == other.event && self.span.start < other.span.end && other.span.start < self.span.end
    }
}

/// The code that made a derived record, and the version of its output. Changed output needs a new version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Producer {
    /// The code, `learnings/notes`.
    pub id: String,
    /// Incremented with every change of its output.
    pub version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: NX-08.1
    #[test]
    fn every_origin_has_the_trust_and_level_of_the_table() {
        let rows = [
            ("user_direct", Trust::User, Level::User),
            ("user_confirmed", Trust::User, Level::User),
            ("tool_internal", Trust::Tool, Level::Agent),
            ("tool_external", Trust::Document, Level::External),
            ("document", Trust::Document, Level::External),
            ("import", Trust::Document, Level::External),
            ("assistant", Trust::Assistant, Level::Agent),
            ("engine", Trust::Inferred, Level::Agent),
            ("echo", Trust::Echo, Level::External),
        ];
        assert_eq!(rows.len(), Origin::ALL.len());
        for (name, trust, level) in rows {
            let origin = Origin::from_name(name).unwrap();
            assert_eq!((origin.trust(), origin.level()), (trust, level), "{name}");
        }
    }

    #[test]
    fn a_span_outside_or_inside_a_character_names_nothing() {
        assert_eq!(Span { start: 0, end: 2 }.of("é!"), Some("é"));
        assert_eq!(Span { start: 1, end: 2 }.of("é!"), None);
        assert_eq!(Span { start: 0, end: 9 }.of("é!"), None);
    }
}
