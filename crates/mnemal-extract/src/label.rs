//! Role of a speaker label that is not a name: user, assistant, tool, system.

use std::collections::HashMap;
use std::sync::LazyLock;

use mnemal_core::Result;
use mnemal_text::fold;

use crate::section::PackFile;

/// The labels by language, and those of products.
const PACKS: [&str; 9] = [
    include_str!("../packs/speakers.toml"),
    include_str!("../packs/en/speakers.toml"),
    include_str!("../packs/de/speakers.toml"),
    include_str!("../packs/fr/speakers.toml"),
    include_str!("../packs/es/speakers.toml"),
    include_str!("../packs/pt/speakers.toml"),
    include_str!("../packs/zh/speakers.toml"),
    include_str!("../packs/ja/speakers.toml"),
    include_str!("../packs/ko/speakers.toml"),
];
/// Most words of a label that is no name. Source: own choice; "my virtual assistant" has three.
const MOST_WORDS: usize = 4;

/// The role stated by a speaker label that is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpeakerLabel {
    /// The user.
    User,
    /// A model that answers.
    Assistant,
    /// A tool that answers.
    Tool,
    /// The host: instructions, notices.
    System,
}

impl SpeakerLabel {
    /// Whether it is a machine's label: text under it is no person's own words.
    #[must_use]
    pub fn is_machine(self) -> bool {
        self != Self::User
    }
}

/// Returns the role of a speaker label; `None` for a name.
///
/// Case, accents, punctuation and version numbers are ignored: `GPT-4o`, `Assistant:`, `bot_17` and `Système` are machines.
#[must_use]
pub fn speaker_label(label: &str) -> Option<SpeakerLabel> {
    static LABELS: LazyLock<Labels> = LazyLock::new(Labels::read);
    LABELS.of(label)
}

/// The keys of a pack; a word under two of them has the first role.
const KEYS: [(&str, Option<SpeakerLabel>); 5] = [
    ("system", Some(SpeakerLabel::System)),
    ("tool", Some(SpeakerLabel::Tool)),
    ("assistant", Some(SpeakerLabel::Assistant)),
    ("user", Some(SpeakerLabel::User)),
    ("beside", None),
];

/// Returns the folded name of a speaker; `None` for no name and for a label of the user.
#[must_use]
pub fn speaker_voice(label: Option<&str>) -> Option<String> {
    label.filter(|label| speaker_label(label) != Some(SpeakerLabel::User)).map(fold)
}

/// What labels say, by their words; `None` for words that are beside another one.
#[derive(Default)]
struct Labels(HashMap<String, Option<SpeakerLabel>>);

impl Labels {
    fn read() -> Self {
        let mut labels = Self::default();
        for pack in PACKS {
            // A pack that cannot be read is found by a test.
            let _read = labels.add(pack);
        }
        labels
    }

    /// Adds a pack.
    fn add(&mut self, pack: &str) -> Result<()> {
        let file = PackFile::parse(pack)?;
        for (key, label) in KEYS {
            for word in file.root().lines(key)? {
                let known = self.0.entry(word.to_owned()).or_insert(label);
                *known = known.or(label);
            }
        }
        Ok(())
    }

    fn of(&self, label: &str) -> Option<SpeakerLabel> {
        let folded = fold(label);
        let words: Vec<&str> =
            folded.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()).collect();
        if words.is_empty() || words.len() > MOST_WORDS {
            return None;
        }
        if let Some(said) = self.0.get(&words.join(" ")).copied().flatten() {
            return Some(said);
        }
        let mut said = None;
        for word in words {
            // A part of a version, as in "GPT-4o".
            let is_version = word.chars().count() == 1
                && word.is_ascii()
                && folded.contains(|letter: char| letter.is_ascii_digit());
            match self.0.get(word) {
                Some(Some(SpeakerLabel::User)) => return None,
                Some(label) => said = said.or(*label),
                None if is_version => {}
                None => return None,
            }
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_machines_are_known_in_any_case_and_language() {
        use SpeakerLabel::{Assistant, System, Tool, User};
        for (label, said) in [
            ("system", System),
            ("Système", System),
            ("系统", System),
            ("Assistant", Assistant),
            ("ASSISTANT:", Assistant),
            ("Asistente", Assistant),
            ("KI-Assistent", Assistant),
            ("my virtual assistant", Assistant),
            ("ai", Assistant),
            ("Bot_17", Assistant),
            ("Modèle", Assistant),
            ("アシスタント", Assistant),
            ("ChatGPT", Assistant),
            ("GPT-4o", Assistant),
            ("gpt-4-turbo", Assistant),
            ("Claude 3.5 Sonnet", Assistant),
            ("Assistant (GPT-4)", Assistant),
            ("function", Tool),
            ("Herramienta", Tool),
            ("tool_result", Tool),
            ("도구", Tool),
            ("User", User),
            ("Benutzerin", User),
            ("Moi", User),
            ("用户", User),
        ] {
            assert_eq!(speaker_label(label), Some(said), "{label}");
        }
    }

    #[test]
    fn names_are_no_labels() {
        for name in [
            "Edda",
            "Ai Weiwei",
            "Claude Monet",
            "Max Bot",
            "Agent Smith",
            "Anna",
            "P",
            "R2",
            "张伟",
            "佐藤",
            "",
            "Mia Modell",
            "Siri Hustvedt",
            "1",
            "Customer",
            "Dr. Assistant-Meier",
        ] {
            assert_eq!(speaker_label(name), None, "{name}");
        }
    }

    #[test]
    fn every_pack_is_read_and_written_as_labels_are_compared() {
        for pack in PACKS {
            let mut labels = Labels::default();
            labels.add(pack).unwrap();
            assert!(labels.0.values().any(|label| *label == Some(SpeakerLabel::Assistant)));
            for (word, label) in labels.0.iter().filter(|(_, label)| label.is_some()) {
                assert_eq!(speaker_label(word).is_some(), label.is_some(), "{word}");
            }
        }
    }
}
