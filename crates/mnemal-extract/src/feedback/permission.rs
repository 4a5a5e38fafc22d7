//! Topics on which nothing may be done without the user's leave.

use std::sync::OnceLock;

use mnemal_core::Result;

use super::lexicon::Lexicon;
use super::pattern::Patterns;
use crate::section::PackFile;

#[derive(Debug)]
struct Topics {
    lexicon: Lexicon,
    patterns: Patterns<()>,
}

/// Says whether a text touches security, credentials, money, health, law, or sending or deleting on the user's behalf.
///
/// It is decided by words alone and errs towards `true`; nothing that a model says can clear it.
#[must_use]
pub fn requires_user_permission(text: &str) -> bool {
    static TOPICS: OnceLock<Option<Topics>> = OnceLock::new();
    let topics = TOPICS.get_or_init(|| read(include_str!("../../packs/en/feedback.toml")).ok());
    topics.as_ref().is_none_or(|topics| {
        let tokens = topics.lexicon.tokens(text, 0..text.len());
        !topics.patterns.find(&tokens, &topics.lexicon).is_empty()
    })
}

fn read(text: &str) -> Result<Topics> {
    let file = PackFile::parse(text)?;
    let mut lexicon = Lexicon::read(file.root())?;
    let mut patterns = Patterns::default();
    for section in file.root().sections("permission")? {
        patterns.add((), &section.lines("cue")?, &mut lexicon)?;
    }
    Ok(Topics { lexicon, patterns })
}
