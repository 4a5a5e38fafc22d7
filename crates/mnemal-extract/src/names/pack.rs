//! Context words for names by language, read from `packs/<language>/names.toml`.

use std::collections::HashMap;
use std::sync::OnceLock;

use mnemal_core::{EntityKind, Error, Result};

use crate::hash::WordHashBuilder;
use crate::names::lexicon::key;
use crate::names::token::{Gap, Token};
use crate::names::word_flags::WordFlags;
use crate::section::{PackFile, Section};

/// The words of one language.
#[derive(Debug, Default)]
pub(crate) struct Words {
    known: HashMap<String, WordFlags, WordHashBuilder>,
    /// By their last word.
    before: HashMap<String, Vec<Cue>, WordHashBuilder>,
    /// By their first word.
    after: HashMap<String, Vec<Cue>, WordHashBuilder>,
}

/// A phrase beside a name that speaks for a kind.
#[derive(Clone, Debug)]
struct Cue {
    /// The words further away from the name, the nearest first.
    steps: Vec<Vec<String>>,
    kind: EntityKind,
    weight: i32,
}

/// The word that stands for a possessive ending in a phrase.
const POSSESSIVE: &str = "'s";

impl Words {
    /// Returns the English words, made at first use.
    pub(crate) fn english() -> &'static Self {
        static WORDS: OnceLock<Words> = OnceLock::new();
        WORDS.get_or_init(|| Self::read(include_str!("../../packs/en/names.toml")).unwrap_or_default())
    }

    /// Reads a pack.
    ///
    /// # Errors
    /// `Invalid` with the key that is wrong.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let file = PackFile::parse(text)?;
        let root = file.root();
        let mut words = Self::default();
        let lists = [
            ("reject", WordFlags::REJECT),
            ("nationality", WordFlags::NATIONALITY),
            ("person_first", WordFlags::PERSON_FIRST),
            ("titles", WordFlags::TITLE),
            ("kin", WordFlags::KIN),
            ("animals", WordFlags::ANIMAL),
            ("particles", WordFlags::PARTICLE),
            ("of_heads", WordFlags::OF_HEAD),
        ];
        for (name, known) in lists {
            words.mark(&root.lines(name)?, known);
        }
        let heads = [
            ("organization", WordFlags::ORGANIZATION_HEAD),
            ("location", WordFlags::LOCATION_HEAD),
            ("event", WordFlags::EVENT_HEAD),
            ("location_first", WordFlags::LOCATION_FIRST),
            ("organization_first", WordFlags::ORGANIZATION_FIRST),
        ];
        if let Some(section) = root.section("heads")? {
            for (name, known) in heads {
                words.mark(&section.lines(name)?, known);
            }
        }
        for cue in root.sections("cue")? {
            words.cue(cue)?;
        }
        Ok(words)
    }

    fn mark(&mut self, list: &[&str], known: WordFlags) {
        for word in list {
            let of_word = self.known.entry(key(word)).or_default();
            *of_word = of_word.with(known);
        }
    }

    fn cue(&mut self, section: Section<'_>) -> Result<()> {
        let kind = section.text("kind")?.and_then(EntityKind::from_name);
        let kind =
            kind.ok_or_else(|| Error::invalid("a pack: `kind` of a cue must name a kind of entity"))?;
        let weight = section.number("weight")?.unwrap_or(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "weights of a pack are small; halves are kept as ones"
        )]
        let weight = (weight.clamp(0.0, 10.0) * 2.0) as i32;
        for line in section.lines("before")? {
            add(&mut self.before, &line.split(' ').rev().map(choices).collect::<Vec<_>>(), kind, weight);
        }
        for line in section.lines("after")? {
            add(&mut self.after, &line.split(' ').map(choices).collect::<Vec<_>>(), kind, weight);
        }
        Ok(())
    }

    /// Returns the language's data of a word.
    pub(crate) fn of(&self, word: &str) -> WordFlags {
        let known = self.known.get(word).copied();
        // "heifers" are what a heifer is.
        let single =
            || word.strip_suffix('s').and_then(|single| self.known.get(single)).copied().unwrap_or_default();
        known.unwrap_or_else(|| {
            if single().has(WordFlags::ANIMAL) { WordFlags::ANIMAL } else { WordFlags::NOTHING }
        })
    }

    /// Calls `found` for each phrase that ends right before `tokens[at]`.
    pub(crate) fn before(&self, tokens: &[Token<'_>], at: usize, mut found: impl FnMut(EntityKind, i32)) {
        let Some(last) = at.checked_sub(1).and_then(|last| tokens.get(last)) else { return };
        let Some(cues) = self.before.get(last.lower.as_ref()) else { return };
        for cue in cues {
            let mut place = at - 1;
            let fits = cue.steps.iter().all(|step| {
                let is_joined =
                    tokens.get(place).is_some_and(|token| matches!(token.gap, Gap::Space | Gap::Hyphen));
                let Some(before) = place.checked_sub(1).filter(|_| is_joined) else { return false };
                place = before;
                tokens.get(place).is_some_and(|token| step.iter().any(|word| word == token.lower.as_ref()))
            });
            if fits {
                found(cue.kind, cue.weight);
            }
        }
    }

    /// Calls `found` for each phrase that begins right after the name that ends before `tokens[at]`.
    pub(crate) fn after(&self, tokens: &[Token<'_>], at: usize, mut found: impl FnMut(EntityKind, i32)) {
        let is_possessive =
            at.checked_sub(1).and_then(|last| tokens.get(last)).is_some_and(|last| last.is_possessive);
        let (first, mut next) = match tokens.get(at) {
            _ if is_possessive => (POSSESSIVE, at),
            Some(token) if token.gap == Gap::Space => (token.lower.as_ref(), at + 1),
            _ => return,
        };
        let Some(cues) = self.after.get(first) else { return };
        let start = next;
        for cue in cues {
            next = start;
            let fits = cue.steps.iter().all(|step| {
                let token = tokens.get(next);
                next += 1;
                token.is_some_and(|token| {
                    token.gap == Gap::Space && step.iter().any(|word| word == token.lower.as_ref())
                })
            });
            if fits {
                found(cue.kind, cue.weight);
            }
        }
    }
}

fn choices(step: &str) -> Vec<String> {
    step.split('|').map(str::to_owned).collect()
}

fn add(
    cues: &mut HashMap<String, Vec<Cue>, WordHashBuilder>,
    steps: &[Vec<String>],
    kind: EntityKind,
    weight: i32,
) {
    let Some((first, rest)) = steps.split_first() else { return };
    for word in first {
        cues.entry(word.clone()).or_default().push(Cue { steps: rest.to_vec(), kind, weight });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_english_pack_is_read_and_a_wrong_one_is_refused() {
        let words = Words::read(include_str!("../../packs/en/names.toml")).unwrap();
        assert!(words.of("monday").has(WordFlags::REJECT) && words.of("sister").has(WordFlags::KIN));
        assert!(Words::read("[[cue]]\nkind = 'nobody'\n").is_err());
        assert!(Words::read("kin = 3\n").is_err());
    }
}
