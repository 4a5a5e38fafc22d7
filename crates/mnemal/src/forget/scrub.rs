//! Scrubbing after a forget: working memory, inbox files, and the byte search that verifies the erasure.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    Cursor, Event, EventFilter, KeyPrefix, Remnant, Result, Selector, Slot, Timestamp, Upkeep, WorkingEntry,
    WorkingStore,
};
use mnemal_events::{DOCUMENT, ErasedTexts, document_id};
use mnemal_working::SubtreeStore;

use super::{Erasure, ErasureGrade};
use crate::engine::{Engine, MANY};
use crate::memory::Memory;

/// Namespace limit while an entry is overwritten before its removal. Source: own choice, more than any limit of entries.
const ROOM: NonZeroUsize = NonZeroUsize::new(1_000_000).expect("there is room");

/// Maximum number of single words in the byte search, in addition to whole texts. Source: own choice, the vocabulary of some
/// thousand turns.
const MOST_WORDS: usize = 20_000;

impl Memory {
    /// Removes the working memory of a session or a user that is forgotten entirely; returns the number of entries.
    pub(super) async fn forget_working_of(&self, selector: &Selector) -> Result<u64> {
        match self.working_subtree(selector) {
            Some((working, of)) => working.remove(&of).await,
            None => Ok(0),
        }
    }

    /// Counts the entries that [`forget_working_of`](Self::forget_working_of) would remove.
    pub(super) async fn working_of(&self, selector: &Selector) -> Result<u64> {
        match self.working_subtree(selector) {
            Some((working, of)) => Ok(working.list(&[of]).await?.len() as u64),
            None => Ok(0),
        }
    }

    /// The working memory of a session or a user, with where it stands in it; `None` for other selectors.
    fn working_subtree(&self, selector: &Selector) -> Option<(Arc<dyn WorkingStore>, KeyPrefix)> {
        let Slot::Filled(working) = &self.engine.stores().working else { return None };
        match (selector, self.only_user()) {
            (Selector::User(user), own) if own.is_none_or(|own| own == user) => {
                Some((Arc::clone(working), KeyPrefix::of_user(user)))
            }
            (Selector::Session(session), None) => Some((Arc::clone(working), KeyPrefix::of_session(session))),
            (Selector::Session(session), Some(user)) => {
                let own = SubtreeStore::new(Arc::clone(working), KeyPrefix::of_user(user));
                Some((Arc::new(own), KeyPrefix::of_session(session)))
            }
            _ => None,
        }
    }
}

impl Engine {
    /// Removes the working memory entries that repeat erased content; returns their number.
    pub(super) async fn forget_working(&self, erasing: &ErasedTexts) -> Result<u64> {
        let Ok(working) = self.stores().working.part() else { return Ok(0) };
        let mut removed = 0;
        for (key, entry) in working.list(&[KeyPrefix::all()]).await? {
            if !erasing.is_in(&entry.value) && !erasing.is_in(key.as_str()) {
                continue;
            }
            // Removing its path would remove the entries below it, so the entry is emptied and marked as expired.
            let gone = WorkingEntry {
                value: String::new(),
                expires_at: Timestamp::EPOCH,
                category: None,
                tags: Vec::new(),
                ..entry
            };
            working.put(&key, &gone, ROOM).await?;
            removed += 1;
        }
        if removed > 0 {
            working.sweep(Timestamp::EPOCH).await?;
        }
        Ok(removed)
    }

    /// Removes the processed inbox files of documents with erased parts; returns their number.
    pub(super) async fn forget_files(&self, erased: &[Event]) -> Result<u64> {
        let Ok(inbox) = self.parts().inbox.part() else { return Ok(0) };
        let of = |event: &Event| event.body().and_then(|kept| kept.metadata.get(DOCUMENT).cloned());
        let documents: BTreeSet<String> = erased.iter().filter_map(of).collect();
        if documents.is_empty() {
            return Ok(0);
        }
        let key = &self.parts().key;
        inbox.erase(&|hash| documents.contains(&document_id(key, hash))).await
    }

    /// Empties the write-ahead log, searches the bytes for the erased content, rewrites the file where remnants are found, and
    /// records the result.
    ///
    /// The search covers bodies, captions and longer sentences, and their longer words: a database that moves rows leaves
    /// fragments of them, and a name or a value is no sentence. A word that is still found after the rewrite is part of a live
    /// row, such as the name of a kind; it is no remnant.
    pub(super) async fn scrub(&self, erasing: &ErasedTexts, done: &mut Erasure) -> Result<()> {
        // Without upkeep nothing was searched, so nothing is claimed.
        let Ok(upkeep) = self.stores().upkeep.part() else { return Ok(()) };
        let mut scrub = upkeep.scrub(&[]).await?;
        let n_texts = erasing.texts().len();
        let sought: Vec<String> =
            erasing.texts().iter().chain(erasing.words().take(MOST_WORDS)).cloned().collect();
        let mut remnants = upkeep.search_bytes(&sought).await?;
        let alive = self.said_elsewhere(&sought, n_texts, &remnants).await?;
        let mut stale = stale(&remnants, &alive);
        if !stale.is_empty() {
            let left: Vec<String> = stale.iter().filter_map(|text| sought.get(*text).cloned()).collect();
            scrub = upkeep.scrub(&left).await?;
            remnants = upkeep.search_bytes(&sought).await?;
            stale = self::stale(&remnants, &alive);
        }
        stale.retain(|text| *text < n_texts);
        let damaged = index_of(upkeep).await?;
        // An entity that is forgotten entirely must not be named anywhere; a name found in live events is reported, and the
        // erasure is not verified.
        let is_name = |text: &usize| sought.get(*text).is_some_and(|text| erasing.is_name(text));
        let is_named = alive.range(..n_texts).any(is_name);
        done.truncated = scrub.truncated;
        done.grade = match stale.is_empty() && damaged.is_empty() && !is_named {
            false => ErasureGrade::Found,
            true if scrub.reaches_files => ErasureGrade::Verified,
            true => ErasureGrade::Gone,
        };
        done.residual = scrub.residual;
        let told =
            |remnant: &&Remnant| remnant.text < n_texts && (remnant.is_copy || stale.contains(&remnant.text));
        let places: BTreeSet<String> =
            remnants.iter().filter(told).map(|remnant| remnant.place.clone()).chain(damaged).collect();
        done.residual.extend(places);
        let said = alive.iter().filter(|text| **text < n_texts).count();
        if said > 0 {
            let what = "was said in events too that were not selected, and stands there";
            done.residual.push(format!("of the erased texts {said} {what}"));
        }
        Ok(())
    }

    /// Returns which of the found texts occur in live events, ignoring case; those from `n_texts` on are words. They are no
    /// remnants: to erase them, select those events.
    async fn said_elsewhere(
        &self,
        sought: &[String],
        n_texts: usize,
        remnants: &[Remnant],
    ) -> Result<BTreeSet<usize>> {
        let found: BTreeSet<usize> = remnants.iter().map(|remnant| remnant.text).collect();
        let mut alive = BTreeSet::new();
        // Most words occur as whole words, which one lookup per word finds; few are a part of another word.
        let mut open: HashMap<&str, usize> = HashMap::new();
        for text in found.range(n_texts..) {
            open.extend(sought.get(*text).map(|word| (word.as_str(), *text)));
        }
        self.each_said(|said| {
            for word in mnemal_events::words(said) {
                alive.extend(open.remove(word.as_str()));
            }
            !open.is_empty()
        })
        .await?;
        let rest = found.range(..n_texts).copied().chain(open.into_values());
        let mut rest: Vec<(usize, String)> =
            rest.filter_map(|text| Some((text, sought.get(text)?.to_lowercase()))).collect();
        self.each_said(|said| {
            let (bare, said) = (mnemal_events::folded(said), said.to_lowercase());
            rest.retain(|(text, words)| {
                let holds = |said: &String| said.contains(words.as_str());
                let is_said = holds(&said) || bare.as_ref().is_some_and(holds);
                if is_said {
                    alive.insert(*text);
                }
                !is_said
            });
            !rest.is_empty()
        })
        .await?;
        Ok(alive)
    }

    /// Passes the texts of live events to a callback until it returns false.
    async fn each_said(&self, mut goes_on: impl FnMut(&str) -> bool + Send) -> Result<()> {
        let mut after = Cursor::START;
        if !goes_on("") {
            return Ok(());
        }
        loop {
            let page = self.events()?.scan(&EventFilter::all(), after, MANY).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Cursor(Some(last.seq));
            for kept in page.iter().filter_map(Event::body) {
                if !std::iter::once(&kept.content).chain(kept.metadata.values()).all(|said| goes_on(said)) {
                    return Ok(());
                }
            }
        }
    }
}

/// Returns the texts that are left in the bytes although no live event contains them.
fn stale(remnants: &[Remnant], alive: &BTreeSet<usize>) -> BTreeSet<usize> {
    let is_stale = |remnant: &&Remnant| !remnant.is_copy && !alive.contains(&remnant.text);
    remnants.iter().filter(is_stale).map(|remnant| remnant.text).collect()
}

/// Returns where the decoded index differs from that of the live events: packed words do not show in a byte search.
async fn index_of(upkeep: &dyn Upkeep) -> Result<Vec<String>> {
    let damaged = upkeep.damaged_index().await?;
    Ok(damaged
        .iter()
        .map(|(first, last)| format!("index rows of positions {} to {}", first.0, last.0))
        .collect())
}
