//! Input and output of extractors: mentions, claims, and the times they name. Plain data without rules.

use std::collections::HashMap;

use crate::{Civil, Event, EventId, Predicate, RuleId, Span, Support, Timestamp, Zone};

/// The input of an extractor: one event with its context.
#[derive(Clone, Copy, Debug)]
pub struct Utterance<'a> {
    /// The event to read.
    pub event: &'a Event,
    /// Up to eight events of the same session before it, oldest first.
    pub before: &'a [Event],
    /// The space's known names at the time the event was logged.
    pub known: &'a Gazetteer,
}

/// Known entities and topics, passed to a model as context for the events that it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractionContext {
    /// Names with their kinds; first those that the events mention.
    pub entities: Vec<(String, EntityKind)>,
    /// Known topics; first those that the events mention.
    pub topics: Vec<String>,
    /// Events in which these names occur: an answer that was given with them is deleted with these events.
    pub sources: Vec<EventId>,
}

/// An extractor's findings in one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// Names and identifiers, by position; they do not overlap.
    pub mentions: Vec<Mention>,
    /// The claims of the text, by position.
    pub facts: Vec<ExtractedFact>,
    /// Diagnostic lines: why candidates were dropped, and how extractors voted; never part of the memory.
    pub remarks: Vec<String>,
}

/// A name or an identifier in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// The name, cleaned: without possessive ending and trailing signs, 1 to 80 characters.
    pub name: String,
    /// Its kind.
    pub kind: EntityKind,
    /// Its position.
    pub span: Span,
    /// Whether the text marks a homonym: "another Anna".
    pub is_another: bool,
    /// The extractor's own word for the kind, where its scheme differs: "repository"; see [`EntityKind::nearest`].
    pub kind_word: Option<String>,
}

/// Kind words of other schemes. Source: word lists of earlier designs (BA-04, CF-16), and the labels of common entity
/// recognizers.
const WORDS: [(EntityKind, &str); 9] = [
    (EntityKind::Person, "per people human user contact friend"),
    (EntityKind::Animal, "pet"),
    (EntityKind::Organization, "org organisation company business firm team school university institution"),
    (EntityKind::Location, "loc gpe fac place city country region address"),
    (EntityKind::Tool, "software app application library framework program service technology"),
    (EntityKind::Document, "doc file page report paper article"),
    (EntityKind::Project, "repository repo initiative"),
    (EntityKind::Topic, "theme subject"),
    (EntityKind::Work, "work_of_art book film movie song game"),
];

/// The kind of an entity.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntityKind {
    /// A person.
    Person,
    /// An animal with a name.
    Animal,
    /// A company, school, club, authority or team.
    Organization,
    /// A place on a map.
    Location,
    /// Software, a tool, a technology, or the brand of a thing.
    Product,
    /// A tool to work with: a program, a library, a command. The rules say [`Product`](Self::Product).
    Tool,
    /// The title of a book, film, song, game or paper.
    Work,
    /// A file, page or report. The rules say [`Work`](Self::Work).
    Document,
    /// A named project. The rules say [`Concept`](Self::Concept).
    Project,
    /// A topic of conversation. The rules say [`Concept`](Self::Concept).
    Topic,
    /// An event or festival with a name.
    Event,
    /// A machine-readable identifier: address, link, handle, path, version, ticket, commit, host.
    Identifier,
    /// A number with its unit: money, percentage, size, distance.
    Quantity,
    /// Any other name, or one of unclear kind.
    Concept,
}

impl EntityKind {
    /// All kinds, in declaration order.
    pub const ALL: [Self; 14] = [
        Self::Person,
        Self::Animal,
        Self::Organization,
        Self::Location,
        Self::Product,
        Self::Tool,
        Self::Work,
        Self::Document,
        Self::Project,
        Self::Topic,
        Self::Event,
        Self::Identifier,
        Self::Quantity,
        Self::Concept,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Animal => "animal",
            Self::Organization => "organization",
            Self::Location => "location",
            Self::Product => "product",
            Self::Tool => "tool",
            Self::Work => "work",
            Self::Document => "document",
            Self::Project => "project",
            Self::Topic => "topic",
            Self::Event => "event",
            Self::Identifier => "identifier",
            Self::Quantity => "quantity",
            Self::Concept => "concept",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Maps a kind word of another scheme, in any case: `ORG`, `library`; [`Concept`](Self::Concept) for an unknown word. The
    /// word itself goes into [`Mention::kind_word`].
    pub fn nearest(word: &str) -> Self {
        let word = word.trim().to_lowercase();
        let listed = || WORDS.into_iter().find(|(_, words)| words.split(' ').any(|one| one == word));
        Self::from_name(&word).or_else(|| listed().map(|(kind, _)| kind)).unwrap_or(Self::Concept)
    }
}

/// A claim: a statement about a subject that an extractor read in a text, with its words and a confidence.
///
/// It becomes a fact only after entity resolution and conflict resolution; no extractor reads or writes facts.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedFact {
    /// The rule that found it; a stable id.
    pub rule: RuleId,
    /// The predicate.
    pub predicate: Predicate,
    /// The subject.
    pub subject: Subject,
    /// The object.
    pub object: Object,
    /// The act: asserted, ended, planned and so on.
    pub act: Act,
    /// The original source, when the speaker only reports it.
    pub attributed_to: Option<String>,
    /// Time of validity or occurrence, if the words state one.
    pub time: Option<When>,
    /// The probability that the claim is faithful to the words.
    pub confidence: Confidence,
    /// The clause that states it.
    pub span: Span,
    /// The sentence around it.
    pub sentence: Span,
}

/// Confidence of a model's claim. Source: ADR 29; it stays a candidate until an independent second source.
const OF_MODEL: Confidence = Confidence(0.6);

impl ExtractedFact {
    /// Makes the claim that a language model found in the words of `quote`; `value` is the object's text with its position.
    ///
    /// It asserts the claim without a time; the gates of the rules decide what the words mean.
    pub fn of_model(predicate: Predicate, subject: Subject, value: (&str, Span), quote: Span) -> Self {
        let (words, span) = value;
        Self {
            rule: RuleId::new(Support::model_rule()).expect("the name is made of letters"),
            predicate,
            subject,
            object: Object {
                text: words.to_owned(),
                key: words.to_lowercase(),
                kind: None,
                topic: None,
                span,
            },
            act: Act::Assert,
            attributed_to: None,
            time: None,
            confidence: OF_MODEL,
            span: quote,
            sentence: quote,
        }
    }
}

/// The subject of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The speaker; "we" too.
    Speaker,
    /// A person or animal related to the speaker: "my sister", "our dog".
    Relation {
        /// The role in the singular, in lower case: `sister`.
        role: String,
        /// The name, if the words give it.
        name: Option<String>,
    },
    /// A named person or thing.
    Named(String),
}

/// The object of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// The words, without article and possessive; never empty.
    pub text: String,
    /// Canonical key, equal for words of equal meaning: folded, without stop words, stemmed except for names.
    pub key: String,
    /// Its kind, if it is a name.
    pub kind: Option<EntityKind>,
    /// The topic in lower case, for predicates with one value per topic.
    pub topic: Option<String>,
    /// Position of the words.
    pub span: Span,
}

/// The act of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// It is true, or it happened.
    Assert,
    /// It is no longer true.
    End,
    /// It was true, stated in the past tense: ended, unless it is known to have begun later.
    Past,
    /// It was true at an earlier time, which implies nothing about now: "as a child", "already once".
    Earlier,
    /// It is intended.
    Plan,
    /// It is not true; used only where the absence itself is worth knowing, as in a diet.
    Negative,
}

impl Act {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::End => "end",
            Self::Past => "past",
            Self::Earlier => "earlier",
            Self::Plan => "plan",
            Self::Negative => "negative",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Assert, Self::End, Self::Past, Self::Earlier, Self::Plan, Self::Negative]
            .into_iter()
            .find(|act| act.as_str() == name)
    }

    /// Whether it concerns the past: an end, or past tense.
    pub fn is_of_past(self) -> bool {
        matches!(self, Self::End | Self::Past | Self::Earlier)
    }
}

/// The probability that a claim is faithful to the words, 0 to 1; neither importance nor strength.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f32);

impl Confidence {
    /// Lowest confidence of an active fact. Source: own choice; below it a fact needs a second session or the user.
    pub const ACTIVE: Self = Self(0.8);
    /// Lowest confidence of a candidate. Source: own choice; below it only the event remains.
    pub const CANDIDATE: Self = Self(0.5);

    /// Clamps a number to 0 to 1; NaN becomes 0.
    pub fn new(value: f32) -> Self {
        Self(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }

    /// Returns the number.
    pub fn get(self) -> f32 {
        self.0
    }
}

/// A named interval of world time, half-open; at least one end is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct When {
    /// Its start; `None` for "until May".
    pub start: Option<WorldTime>,
    /// Its exclusive end; `None` for "since 2020".
    pub end: Option<WorldTime>,
    /// The granularity of the words.
    pub grain: Granularity,
    /// Whether the words are vague: "a few days ago", "last summer".
    pub is_approximate: bool,
    /// The words.
    pub span: Span,
}

/// Seconds since the Unix epoch, UTC, negative before it; years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorldTime(i64);

impl WorldTime {
    /// The first moment of year 1.
    const FIRST: i64 = -62_135_596_800;
    /// The last second of year 9999.
    const LAST: i64 = 253_402_300_799;

    /// Clamps a moment to the years 1 to 9999.
    pub fn from_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(Self::FIRST, Self::LAST))
    }

    /// Returns the seconds.
    pub fn as_seconds(self) -> i64 {
        self.0
    }

    /// Returns the moment as a storable timestamp; `None` before 1970.
    pub fn timestamp(self) -> Option<Timestamp> {
        Timestamp::from_micros(self.0.checked_mul(1_000_000)?).ok()
    }

    /// Returns the civil date and time at an offset from UTC.
    pub fn civil(self, zone: &Zone) -> Civil {
        Civil::at_seconds(self.0 + i64::from(zone.offset_seconds))
    }

    /// Formats the moment at its granularity: `2022` for a year, `2010s` for a decade, `2022-03` for a month, a quarter or a
    /// season, else the day.
    ///
    /// A day or a longer unit begins at local midnight, so it is read as the day of the place with that midnight. Without a
    /// grain, and for less than a day, the day is that of UTC.
    pub fn text(self, grain: Option<Granularity>) -> String {
        let Some(grain) = grain.filter(|grain| *grain >= Granularity::Day) else {
            return Civil::at_seconds(self.0).day_text();
        };
        let civil = Civil::at_seconds(self.0 + MIDNIGHTS);
        match grain {
            Granularity::Month | Granularity::Quarter | Granularity::Season => {
                format!("{:04}-{:02}", civil.year, civil.month)
            }
            Granularity::Year | Granularity::Century => format!("{:04}", civil.year),
            Granularity::Decade => format!("{:04}s", civil.year),
            _ => civil.day_text(),
        }
    }

    /// Returns the first moment after the unit that begins here.
    #[must_use]
    pub fn after(self, grain: Granularity) -> Self {
        match grain {
            Granularity::Second => Self(self.0 + 1),
            Granularity::Minute => Self(self.0 + 60),
            Granularity::Hour => Self(self.0 + 3_600),
            Granularity::Day => Self(self.0 + DAY),
            Granularity::Week => Self(self.0 + 7 * DAY),
            Granularity::Month => self.months_on(1),
            Granularity::Quarter | Granularity::Season => self.months_on(3),
            Granularity::Year => self.months_on(12),
            Granularity::Decade => self.months_on(120),
            Granularity::Century => self.months_on(1_200),
        }
    }

    /// Adds months to the first day of a month.
    fn months_on(self, months: u16) -> Self {
        let month = |at: i64| Civil::at_seconds(at + MIDNIGHTS).month;
        let next = |at: i64| (28..31).map(|days| at + days * DAY).find(|next| month(*next) != month(at));
        Self((0..months).fold(self.0, |at, _| next(at).unwrap_or(at + 31 * DAY)))
    }
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Offset for local midnights: added to one, the midnights of all offsets from -10:59 to +13:00 fall on their own day. Source:
/// own choice; only a few islands lie beyond.
const MIDNIGHTS: i64 = 13 * 3_600;

/// The granularity of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Granularity {
    /// A moment, to the second.
    Second,
    /// A minute.
    Minute,
    /// An hour, or a part of a day.
    Hour,
    /// A day.
    Day,
    /// A week, from Monday, or a weekend.
    Week,
    /// A month.
    Month,
    /// Three months from January, April, July or October.
    Quarter,
    /// A season.
    Season,
    /// A year.
    Year,
    /// Ten years.
    Decade,
    /// A hundred years.
    Century,
}

impl Granularity {
    /// All of them, finest first.
    pub const ALL: [Self; 11] = [
        Self::Second,
        Self::Minute,
        Self::Hour,
        Self::Day,
        Self::Week,
        Self::Month,
        Self::Quarter,
        Self::Season,
        Self::Year,
        Self::Decade,
        Self::Century,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Season => "season",
            Self::Year => "year",
            Self::Decade => "decade",
            Self::Century => "century",
        }
    }

    /// Reads the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grain| grain.as_str() == name)
    }
}

/// Gazetteer: the names that a space knows, for finding them in a text.
#[derive(Clone, Debug, Default)]
pub struct Gazetteer {
    /// By the first word in lower case.
    names: HashMap<String, NamesByFirstWord>,
}

/// The names that begin with one word.
#[derive(Clone, Debug, Default)]
struct NamesByFirstWord {
    /// The name that consists of this word alone.
    alone: Option<KnownName>,
    /// The others by the second word, longest first: many names of a space share their first word.
    longer: HashMap<String, Vec<KnownName>>,
}

#[derive(Clone, Debug)]
struct KnownName {
    /// The words after the second.
    rest: Vec<String>,
    name: String,
    kind: EntityKind,
}

/// A known name found among words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognized<'a> {
    /// Number of words.
    pub words: usize,
    /// The name as stored.
    pub name: &'a str,
    /// Its kind.
    pub kind: EntityKind,
}

impl Gazetteer {
    /// Adds a name or an alias; words are separated by white space. A later kind of the same name wins.
    pub fn add(&mut self, name: &str, kind: EntityKind) {
        let mut words = name.split_whitespace().map(str::to_lowercase);
        let Some(first) = words.next() else { return };
        let begun = self.names.entry(first).or_default();
        let second = words.next();
        let known = KnownName { rest: words.collect(), name: name.to_owned(), kind };
        let Some(second) = second else {
            begun.alone = Some(known);
            return;
        };
        let alike = begun.longer.entry(second).or_default();
        if let Some(of) = alike.iter_mut().find(|of| of.rest == known.rest) {
            *of = known;
        } else {
            alike.push(known);
            alike.sort_by(|a, b| b.rest.len().cmp(&a.rest.len()).then_with(|| a.rest.cmp(&b.rest)));
        }
    }

    /// Whether no name is known.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the longest known name at the start of `words` (in lower case); whole words only.
    pub fn longest_at<W: AsRef<str>>(&self, words: &[W]) -> Option<Recognized<'_>> {
        let (first, following) = words.split_first()?;
        let begun = self.names.get(first.as_ref())?;
        let longer = following.split_first().and_then(|(second, following)| {
            begun.longer.get(second.as_ref())?.iter().find(|known| {
                let found = following.get(..known.rest.len());
                found.is_some_and(|found| found.iter().zip(&known.rest).all(|(word, of)| word.as_ref() == of))
            })
        });
        let (words, known) = longer
            .map(|known| (known.rest.len() + 2, known))
            .or_else(|| begun.alone.as_ref().map(|known| (1, known)))?;
        Some(Recognized { words, name: &known.name, kind: known.kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_known_name_is_found_and_no_part_of_a_word() {
        let mut known = Gazetteer::default();
        known.add("Ana", EntityKind::Person);
        known.add("Ana Silva", EntityKind::Person);
        known.add("ana silva bakery", EntityKind::Organization);
        let found = known.longest_at(&["ana", "silva", "called"]).unwrap();
        assert_eq!((found.words, found.name), (2, "Ana Silva"));
        assert!(known.longest_at(&["anabel"]).is_none());
        known.add("Ana", EntityKind::Animal);
        assert_eq!(known.longest_at(&["ana"]).unwrap().kind, EntityKind::Animal);
    }

    #[test]
    fn a_moment_is_said_as_far_as_it_is_known() {
        // Midnights of 1 March 2022 in Auckland, Berlin, London and Honolulu.
        for hours in [-13, -1, 0, 10] {
            let at = WorldTime::from_seconds(1_646_092_800 + hours * 3_600);
            for (grain, said) in [
                (Granularity::Day, "2022-03-01"),
                (Granularity::Week, "2022-03-01"),
                (Granularity::Month, "2022-03"),
                (Granularity::Season, "2022-03"),
                (Granularity::Year, "2022"),
                (Granularity::Decade, "2022s"),
            ] {
                assert_eq!(at.text(Some(grain)), said, "{hours}");
            }
        }
        let evening = WorldTime::from_seconds(1_646_092_800 + 20 * 3_600);
        assert_eq!(
            (evening.text(None).as_str(), evening.text(Some(Granularity::Hour)).as_str()),
            ("2022-03-01", "2022-03-01")
        );
        assert!(
            Granularity::ALL.into_iter().all(|grain| Granularity::from_name(grain.as_str()) == Some(grain))
        );
    }

    #[test]
    fn world_time_reaches_before_the_epoch_and_timestamps_do_not() {
        let before = WorldTime::from_seconds(-86_400);
        assert_eq!(before.timestamp(), None);
        assert_eq!(before.civil(&Zone::utc()).year, 1969);
        assert_eq!(WorldTime::from_seconds(i64::MIN).civil(&Zone::utc()).year, 1);
        assert_eq!(WorldTime::from_seconds(86_400).timestamp().unwrap().as_micros(), 86_400_000_000);
    }
}
