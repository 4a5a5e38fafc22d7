//! Words of a context of its own: one table, by language; English stands where a language has no word.

use mnemal_core::Shelf;

/// A language that the table has words of.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wording {
    /// English, which has all of them.
    #[default]
    English,
    /// Chinese, simplified.
    Chinese,
}

/// A key of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Stands over what is remembered.
    Memory,
    /// Stands over what was learnt from it.
    Insights,
    /// Stands over what the user said of how he wants things.
    Stated,
    /// Stands over the steps of how something went over time.
    Course,
    /// Stands where nothing answers what is asked.
    NoMatch,
    /// Stands before an inventory.
    Inventory(Shelf),
    /// Stands before the number of entries that did not fit.
    More,
}

impl Message {
    /// Returns the words; `{tool}` stands for the name of the tool that reads an entry.
    pub(crate) fn words(self, language: Wording) -> &'static str {
        let own = match language {
            Wording::Chinese => self.chinese(),
            Wording::English => None,
        };
        own.unwrap_or_else(|| self.english())
    }

    fn english(self) -> &'static str {
        match self {
            Self::Memory => "## Memory Context",
            Self::Insights => "## Insights",
            Self::Stated => "what the user wants, in the user's own words:\n",
            Self::NoMatch => "nothing was found for this question\n",
            Self::Course => "what was said about it, one sentence each, oldest first:\n",
            Self::Inventory(Shelf::Own) => "scratch memory of this conversation, read with {tool}",
            Self::Inventory(Shelf::Patrol) => "found by patrols, read with {tool}",
            Self::Inventory(_) => "outlines of subagents, read with {tool}",
            Self::More => "more",
        }
    }

    /// Source: PB-37 for the heading.
    fn chinese(self) -> Option<&'static str> {
        match self {
            Self::Memory => Some("## 记忆上下文"),
            Self::Insights => Some("## 洞察"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_without_the_word_speaks_english() {
        assert_eq!(Message::Memory.words(Wording::Chinese), "## 记忆上下文");
        let shelf = Message::Inventory(Shelf::Patrol);
        assert_eq!(shelf.words(Wording::Chinese), shelf.words(Wording::English));
    }
}
