//! Localized labels of a context: one table, by language, with English as the fallback.

use mnemal_core::InventoryScope;

/// A supported label language.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wording {
    /// English, which is complete.
    #[default]
    English,
    /// Chinese, simplified.
    Chinese,
}

/// A key of the label table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Heading of memories.
    Memory,
    /// Heading of insights.
    Insights,
    /// Heading of stated preferences.
    Stated,
    /// Heading of timeline steps.
    Course,
    /// Shown if nothing answers the question.
    NoMatch,
    /// Prefix of an inventory.
    Inventory(InventoryScope),
    /// Prefix of the number of omitted entries.
    More,
}

impl Message {
    /// Returns the label; `{tool}` is a placeholder for the name of the tool that reads an entry.
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
            Self::Inventory(InventoryScope::Own) => "scratch memory of this conversation, read with {tool}",
            Self::Inventory(InventoryScope::Patrol) => "found by patrols, read with {tool}",
            Self::Inventory(_) => "outlines of subagents, read with {tool}",
            Self::More => "more",
        }
    }

    /// Source: PB-37, the heading of PicoBot.
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
        let inventory = Message::Inventory(InventoryScope::Patrol);
        assert_eq!(inventory.words(Wording::Chinese), inventory.words(Wording::English));
    }
}
