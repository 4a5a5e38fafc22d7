//! Language packs, each parsed at the first text in its language.

use std::sync::OnceLock;

use mnemal_core::Result;

/// A code of a language with the text of its pack.
type Source = (&'static str, &'static str);

/// The packs of one kind, English first.
#[derive(Debug)]
pub(crate) struct LanguagePacks<T> {
    sources: &'static [Source],
    read: fn(&str, &str) -> Result<T>,
    packs: Vec<OnceLock<Option<T>>>,
}

impl<T> LanguagePacks<T> {
    /// Registers the packs; none is loaded yet.
    pub(crate) fn new(sources: &'static [Source], read: fn(&str, &str) -> Result<T>) -> Self {
        Self { sources, read, packs: sources.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Returns the pack of a language; `None` without one, or for an invalid one. A test reads every pack.
    pub(crate) fn of(&self, language: &str) -> Option<&T> {
        let place = self.sources.iter().position(|(code, _)| *code == language)?;
        let (code, text) = self.sources.get(place)?;
        self.packs.get(place)?.get_or_init(|| (self.read)(code, text).ok()).as_ref()
    }

    /// Returns the pack of English.
    pub(crate) fn english(&self) -> Option<&T> {
        self.of("en")
    }

    /// Returns all packs.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.sources.iter().filter_map(|(code, _)| self.of(code))
    }
}
