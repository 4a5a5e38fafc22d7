//! Line cache: rendered lines of earlier contexts with their features.

use std::hash::BuildHasher as _;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use foldhash::quality::RandomState;
use mnemal_core::{Fragment, SpaceId, Speaker, TokenCount, TokenCounter, TokenParts};

use crate::candidate::{TextFeatures, cost, cut, is_stated};
use crate::clean::clean;
use crate::line::line;
use crate::{ContextSettings, content_hash};

/// Most cached lines before the older half is dropped. Source: own default, about two megabytes; a context is offered some
/// hundred, and a thousand preferences rotate.
const MOST: usize = 4_096;
/// Longest cached text, in bytes. Source: own default; longer ones are rare, and truncated anyway.
const LONGEST: usize = 4_096;
/// Longest line of a stated preference selected for a question, in tokens of its text.
///
/// Source: ADR 23; nine of ten such sentences are shorter, and the longest are stories that mention one.
const STATED_TOKENS: TokenCount = TokenCount(48);

/// Caches rendered lines, so that fragments offered repeatedly are cleaned, counted and analyzed once.
///
/// The key covers all inputs of a line, its text included, so a cached line equals a newly rendered one. The cache is per
/// process and bounded; [`clear`](Self::clear) empties it after a forget.
#[derive(Debug, Default)]
pub struct LineCache {
    /// Randomly keyed, so that nobody can craft two texts with one key; an accidental collision is practically impossible.
    keys: RandomState,
    lines: Mutex<CachedLines>,
}

/// Recently used lines, and the older generation.
#[derive(Debug, Default)]
struct CachedLines {
    young: HashMap<u64, Arc<RenderedLine>>,
    old: HashMap<u64, Arc<RenderedLine>>,
}

/// A rendered line, independent of the session, with its features.
#[derive(Debug)]
pub(crate) struct RenderedLine {
    /// Hash of the original text.
    pub(crate) hash: [u8; 16],
    /// Cleaned and truncated.
    pub(crate) text: String,
    /// Without a line break.
    pub(crate) rendered: Arc<str>,
    /// Tokens of the line with its line break.
    pub(crate) tokens: TokenCount,
    /// The same before rounding, if lines can be counted separately.
    pub(crate) parts: Option<TokenParts>,
    /// Features for near-duplicate detection.
    pub(crate) features: TextFeatures,
    /// Whether it has no visible text.
    pub(crate) is_blank: bool,
    /// Longest run of hexadecimal digits in the line or in the untruncated text.
    longest_hex: usize,
    /// The untruncated text, if it was truncated.
    whole: Option<String>,
}

impl LineCache {
    /// Drops all lines.
    pub fn clear(&self) {
        *self.lock() = CachedLines::default();
    }

    fn lock(&self) -> MutexGuard<'_, CachedLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the line of a fragment; `settings_hash` is that of the settings.
    pub(crate) fn line(
        &self,
        fragment: &Fragment,
        (settings, settings_hash): (&ContextSettings, [u8; 16]),
        counter: &dyn TokenCounter,
    ) -> Arc<RenderedLine> {
        if fragment.text.len() > LONGEST {
            return Arc::new(RenderedLine::new(fragment, settings, counter));
        }
        let key = self.key(fragment, settings_hash, counter);
        if let Some(line) = self.lock().find(key) {
            return line;
        }
        let line = Arc::new(RenderedLine::new(fragment, settings, counter));
        self.lock().keep(key, Arc::clone(&line));
        line
    }

    fn key(&self, fragment: &Fragment, settings: [u8; 16], counter: &dyn TokenCounter) -> u64 {
        let Fragment { section, record, text, label, because, .. } = fragment;
        let speaker = label.speaker.as_ref().map(Speaker::as_str);
        let space = label.space.as_ref().map(SpaceId::as_str);
        let names: [Option<&str>; 5] =
            [Some(text.as_str()), speaker, space, Some(counter.name()), Some(label.zone.name.as_str())];
        let when = (label.at, label.zone.offset_seconds);
        let rest = (settings, section, record, because, label.level, when, label.remark);
        self.keys.hash_one((names, rest))
    }
}

impl CachedLines {
    fn find(&mut self, key: u64) -> Option<Arc<RenderedLine>> {
        if let Some(line) = self.young.get(&key) {
            return Some(Arc::clone(line));
        }
        let line = self.old.remove(&key)?;
        self.keep(key, Arc::clone(&line));
        Some(line)
    }

    fn keep(&mut self, key: u64, line: Arc<RenderedLine>) {
        if self.young.len() >= MOST {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, line);
    }
}

impl RenderedLine {
    /// Cleans, truncates and renders.
    fn new(fragment: &Fragment, settings: &ContextSettings, counter: &dyn TokenCounter) -> Self {
        let whole = clean(&fragment.text);
        let most = if is_stated(fragment) { STATED_TOKENS } else { TokenCount(u32::MAX) };
        let text = cut(whole.clone(), settings.item_tokens.min(most), counter);
        let line = line(settings.format, fragment, &text);
        let whole = (whole != text).then_some(whole);
        let longest_hex = longest_hex(&line).max(longest_hex(whole.as_deref().unwrap_or(&text)));
        let (tokens, parts) = cost(settings.format, &line, counter);
        let (hash, features) = (content_hash(&fragment.text), TextFeatures::of(&text));
        let is_blank = text.trim().is_empty();
        Self { hash, is_blank, text, rendered: line.into(), tokens, parts, features, longest_hex, whole }
    }

    /// Whether the line, or the untruncated text, contains the nonce of a session's markers.
    pub(crate) fn contains_nonce(&self, nonce: &str) -> bool {
        let is_too_long =
            self.longest_hex < nonce.len() && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
        let holds = |text: &str| text.to_ascii_lowercase().contains(nonce);
        !is_too_long && (holds(&self.rendered) || holds(self.whole.as_deref().unwrap_or(&self.text)))
    }
}

/// Returns the length of the longest run of hexadecimal digits.
fn longest_hex(text: &str) -> usize {
    text.as_bytes().split(|byte| !byte.is_ascii_hexdigit()).map(<[u8]>::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mnemal_core::{
        EventId, Importance, InclusionReason, Label, Level, RecordRef, Score, Section, Timestamp, Trust, Zone,
    };

    use super::*;

    #[derive(Debug)]
    struct Bytes;

    impl TokenCounter for Bytes {
        fn name(&self) -> &'static str {
            "bytes"
        }

        fn count(&self, text: &str) -> TokenCount {
            TokenCount(u32::try_from(text.len()).unwrap())
        }

        fn prefix(&self, text: &str, budget: TokenCount) -> std::ops::Range<usize> {
            0..text.floor_char_boundary(budget.0 as usize)
        }
    }

    fn fragment(number: u128, text: &str) -> Fragment {
        Fragment {
            section: Section::Recall,
            record: RecordRef::Event(EventId(number)),
            producer: None,
            sources: Vec::new(),
            text: text.to_owned(),
            label: Label {
                level: Level::User,
                at: Timestamp::EPOCH,
                zone: Zone::utc(),
                speaker: None,
                space: None,
                remark: None,
            },
            trust: Trust::User,
            importance: Importance::DEFAULT,
            score: Score::default(),
            parts: Vec::new(),
            because: InclusionReason::Query,
            withheld: None,
        }
    }

    fn write(cache: &LineCache, fragment: &Fragment, settings: &ContextSettings) -> Arc<RenderedLine> {
        cache.line(fragment, (settings, settings.hash()), &Bytes)
    }

    #[test]
    fn a_line_is_kept_until_anything_that_it_shows_changes() {
        let (cache, settings) = (LineCache::default(), ContextSettings::default());
        let one = fragment(1, "the deploy is on Tuesday");
        let first = write(&cache, &one, &settings);
        assert!(Arc::ptr_eq(&first, &write(&cache, &one, &settings)));
        let later = Label { at: Timestamp::EPOCH.plus_micros(86_400_000_000), ..one.label.clone() };
        let xml = ContextSettings { format: crate::Format::Xml, ..settings.clone() };
        let others = [
            (fragment(1, "the deploy is on Friday"), &settings),
            (Fragment { label: later, ..one.clone() }, &settings),
            (one.clone(), &xml),
        ];
        for (other, settings) in others {
            let line = write(&cache, &other, settings);
            let anew = RenderedLine::new(&other, settings, &Bytes);
            assert_eq!((&line.rendered, line.tokens, line.hash), (&anew.rendered, anew.tokens, anew.hash));
            assert_ne!(line.rendered, first.rendered);
        }
        cache.clear();
        assert!(!Arc::ptr_eq(&first, &write(&cache, &one, &settings)));
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_used_stays() {
        let (cache, settings) = (LineCache::default(), ContextSettings::default());
        let often = fragment(1, "often");
        let first = write(&cache, &often, &settings);
        for number in 0..5 * MOST {
            let _other = write(&cache, &fragment(2, &format!("text {number}")), &settings);
            if number % 100 == 0 {
                assert!(Arc::ptr_eq(&first, &write(&cache, &often, &settings)), "{number}");
            }
        }
        let lines = cache.lock();
        assert!(lines.young.len() <= MOST && lines.old.len() <= MOST);
    }

    #[test]
    fn the_nonce_is_found_in_the_line_and_in_what_was_cut_off() {
        let settings = ContextSettings { item_tokens: TokenCount(40), ..ContextSettings::default() };
        let nonce = "00ff00ff00ff";
        let holds =
            |text: &str| RenderedLine::new(&fragment(1, text), &settings, &Bytes).contains_nonce(nonce);
        assert!(holds("00FF00ff00ff"));
        assert!(holds(&format!("{} 00ff00\u{200b}ff00ff", "a long text ".repeat(9))));
        assert!(!holds("00ff00ff00f, and 00ff00ff00f"));
    }
}
