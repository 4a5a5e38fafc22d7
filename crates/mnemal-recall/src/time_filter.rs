//! Time filter: the times that a question names, and the distance of an event to them.

use mnemal_core::{Timestamp, When, Zone};
use mnemal_extract::{Anchor, DateRules, TimeBias, by_script};
use mnemal_text::Language;

/// Seconds outside a short span after which an event counts `1 / e` of one inside: a week.
///
/// Source: own choice; people mention a day within days of it.
const FADE: f32 = 7.0 * 86_400.0;

/// A span of time in seconds since the epoch; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: i64,
    end: i64,
}

impl Span {
    fn of(when: When) -> Option<Self> {
        let (start, end) = (when.start?.as_seconds(), when.end?.as_seconds());
        (start < end).then_some(Self { start, end })
    }

    /// Returns the proximity of a moment: 1 inside; outside it falls by `1 / e` per half of the span's length, or per week
    /// if that is longer.
    pub(crate) fn nearness(self, at: Timestamp) -> f32 {
        let at = at.as_micros().div_euclid(1_000_000);
        let outside = self.start.saturating_sub(at).max(at.saturating_sub(self.end - 1)).max(0);
        let half = (self.end - self.start) as f32 / 2.0;
        (-(outside as f32) / half.max(FADE)).exp()
    }
}

/// Returns the bounded spans that a text names, relative to `now` in a zone; none in a language without date support.
///
/// A text in Chinese, Japanese or Korean is parsed as such whatever the language of the space, which is one with a stemmer.
pub(crate) fn spans(text: &str, language: Language, (now, zone): (Timestamp, &Zone)) -> Vec<Span> {
    let rules = DateRules::built_in(by_script(text).unwrap_or(language.code()));
    let found = rules.map(|rules| rules.read(text, &Anchor { at: now, zone }, TimeBias::Past));
    found.into_iter().flatten().filter_map(|dated| Span::of(dated.when()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::NOON;

    const DAY: i64 = 86_400_000_000;

    fn near(text: &str, days: i64) -> Vec<f32> {
        let noon = Timestamp::from_micros(NOON).unwrap();
        let at = Timestamp::from_micros(NOON + days * DAY).unwrap();
        spans(text, Language::English, (noon, &Zone::utc()))
            .into_iter()
            .map(|span| span.nearness(at))
            .collect()
    }

    #[test]
    fn a_day_is_near_itself_and_fades_within_weeks() {
        assert_eq!(near("What did we do on 8 May 2023?", 0), [1.0]);
        assert_eq!(near("What did we do on 8 May 2023?", 60).first().map(|near| *near < 0.01), Some(true));
        let week = near("What did we do on 8 May 2023?", -7);
        assert!(week.first().is_some_and(|near| (0.3..0.45).contains(near)), "{week:?}");
    }

    #[test]
    fn what_is_said_of_time_is_seen_from_now() {
        assert_eq!(near("What happened yesterday?", -1), [1.0]);
        assert!(near("What happened yesterday?", -30).iter().all(|near| *near < 0.1));
        assert_eq!(near("Who came in March?", -50), [1.0], "the last March before May");
        assert!(near("Who came?", 0).is_empty());
    }
}
