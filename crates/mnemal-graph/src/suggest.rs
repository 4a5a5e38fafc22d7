//! Merge suggestions: likely duplicates that resolution leaves to a person.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mnemal_core::{EntityId, EventId, MentionRow, Score, Timestamp};
use mnemal_text::term_hash;

use crate::forms;
use crate::index::NameMention;
use crate::names::Names;
use crate::pack::packs;
use crate::spelling::{is_family_first, squeeze};

/// Weights of name similarity, co-occurrence and time. Source: `entity_resolver.py` of hindsight.
const WEIGHTS: [f32; 3] = [0.5, 0.3, 0.2];
/// Days after which time adds nothing. Source: `entity_resolver.py` of hindsight.
const DAYS: f32 = 7.0;
/// Score above which a pair is suggested. Source: `entity_resolver.py` of hindsight.
const LEAST: f32 = 0.6;
/// Least share of common trigrams of two names without another similarity. Source: `entity_resolver.py` of hindsight, for
/// names of one batch.
const TRIGRAMS: f32 = 0.5;
/// Most names compared with one name by trigrams. Source: `entity_resolver.py` of hindsight.
const MOST_ALIKE: usize = 200;
/// Number of names with one trigram from which on it carries no information. Source: own measurement (ADR 33): 10,000 names
/// of few syllables in seconds.
const COMMON_RUN: usize = 100;
/// Similarity of a name part or a short form to the whole. Source: own choice; others can have it too.
const OF_PART: f32 = 0.8;
/// Microseconds in a day.
const DAY: f32 = 86_400_000_000.0;

/// The reason why two entities may be duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DuplicateReason {
    /// They have the same name, or equivalent ones: a nickname, an initial, an exonym.
    Name,
    /// The name of one is a part of the other's name, or short for one.
    Part,
    /// The names differ like case forms of one name.
    Case,
    /// The names differ by one letter.
    Slip,
    /// The words of the names are in a different order.
    Order,
    /// The spelling is similar: at least half of their trigrams are the same.
    Spelling,
    /// The names sound alike in two scripts.
    Script,
    /// The names look alike with letters of different scripts.
    Look,
}

impl DuplicateReason {
    /// Returns the wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Part => "part",
            Self::Case => "case",
            Self::Slip => "slip",
            Self::Order => "order",
            Self::Spelling => "spelling",
            Self::Script => "script",
            Self::Look => "look",
        }
    }

    /// Whether only a person may merge the two: names in different scripts are as often two people, or an impersonation.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Script | Self::Look)
    }
}

/// Two entities that may be duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suggestion {
    /// The entity with fewer mentions.
    pub one: EntityId,
    /// The entity to merge into.
    pub into: EntityId,
    /// The similarity of their names.
    pub why: DuplicateReason,
    /// How likely it is, 0 to 1 and above 0.6: 0.5 × name similarity + 0.3 × shared part of the smaller co-occurrence set +
    /// 0.2 × (1 − days between their last mentions / 7), not below 0.
    pub score: Score,
}

/// Returns the most likely pairs first, at most `most`; pairs with equal scores by the smaller ids.
pub(crate) fn suggestions(names: &Names, mentions: &[MentionRow], most: usize) -> Vec<Suggestion> {
    let seen = CooccurrenceTable::new(names, mentions);
    let mut found: Vec<Suggestion> = pairs(names)
        .into_iter()
        .filter(|((one, other), _)| names.can_be_one(*one, *other) && !seen.are_together(*one, *other))
        .filter_map(|((one, other), (why, likeness))| {
            let score = seen.score(one, other, likeness);
            let (one, into) = if seen.times(one) <= seen.times(other) { (one, other) } else { (other, one) };
            (score > LEAST).then_some(Suggestion { one, into, why, score: Score::new(score) })
        })
        .collect();
    found.sort_by(|one, other| {
        other.score.get().total_cmp(&one.score.get()).then((one.one, one.into).cmp(&(other.one, other.into)))
    });
    found.truncate(most);
    found
}

type Pairs = BTreeMap<(EntityId, EntityId), (DuplicateReason, f32)>;

/// Returns every pair of similar names, with the strongest reason.
fn pairs(names: &Names) -> Pairs {
    let mut pairs = Pairs::new();
    let (mut sounds, mut grams) = (SoundIndex::default(), NgramIndex::default());
    for whole in names.wholes() {
        for name in names.rows_of(whole.id).flat_map(|entity| &entity.names) {
            let mut add = |other: EntityId, why: DuplicateReason, likeness: f32| {
                let other = names.canon(other);
                let pair = (whole.id.min(other), whole.id.max(other));
                let known = pairs.entry(pair).or_insert((why, likeness));
                if likeness > known.1 {
                    *known = (why, likeness);
                }
            };
            let called = NameMention { text: &name.text, key: &name.key, kind: whole.kind };
            by_form(names, called, &mut add);
            sounds.meet(whole.id, called, &mut add);
            grams.meet(whole.id, &squeeze(called.key), &mut add);
        }
    }
    pairs.retain(|(one, other), _| one != other);
    pairs
}

/// Adds the candidates of name resolution, of every step.
fn by_form(names: &Names, called: NameMention<'_>, add: &mut impl FnMut(EntityId, DuplicateReason, f32)) {
    let (index, forms) = (names.by_name(), forms::spoken_forms(called.text, called.key, called.kind));
    for id in index.bearing(&forms.whole).into_keys().chain(index.with_variant(&forms).into_keys()) {
        add(id, DuplicateReason::Name, 1.0);
    }
    for id in index.with_part(&forms).into_keys() {
        add(id, DuplicateReason::Part, OF_PART);
    }
    for id in index.in_other_case(called.key, &forms).into_keys() {
        add(id, DuplicateReason::Case, 1.0);
    }
    for (id, _) in index.one_off(&forms.whole) {
        add(id, DuplicateReason::Slip, 1.0);
    }
}

/// Names by their words in any order, by sound and by look.
#[derive(Debug, Default)]
struct SoundIndex(HashMap<(DuplicateReason, String), BTreeSet<(EntityId, String)>>);

impl SoundIndex {
    /// Adds the earlier names that match, and inserts this one.
    fn meet(
        &mut self,
        id: EntityId,
        called: NameMention<'_>,
        add: &mut impl FnMut(EntityId, DuplicateReason, f32),
    ) {
        let mut words: Vec<&str> = called.key.split(' ').collect();
        words.sort_unstable();
        let latin = |letter: char, of: Option<&str>| of.map_or_else(|| letter.to_string(), str::to_owned);
        let look: String = called.key.chars().map(|letter| latin(letter, packs().look(letter))).collect();
        let sound: String = called.key.chars().map(|letter| latin(letter, packs().sound(letter))).collect();
        for (why, form) in [
            (DuplicateReason::Order, words.join(" ")),
            (DuplicateReason::Look, look),
            (DuplicateReason::Script, as_heard(&sound)),
        ] {
            let alike = self.0.entry((why, form)).or_default();
            for (other, key) in alike.iter().filter(|(_, key)| key != called.key) {
                let is_one_script = why == DuplicateReason::Script && key.is_ascii() == called.key.is_ascii();
                add(*other, if is_one_script { DuplicateReason::Spelling } else { why }, 1.0);
            }
            alike.insert((id, called.key.to_owned()));
        }
    }
}

/// Returns a Latin spelling with letters of one sound unified: "Christine" and `kristine`.
fn as_heard(latin: &str) -> String {
    let same = [
        ("oy", "ou"),
        ("ck", "k"),
        ("ph", "f"),
        ("x", "ks"),
        ("y", "i"),
        ("j", "i"),
        ("w", "v"),
        ("h", ""),
        ("c", "k"),
    ];
    let one = same.iter().fold(squeeze(latin), |text, (from, to)| text.replace(from, to));
    let mut letters: Vec<char> = one.chars().collect();
    letters.dedup();
    letters.into_iter().collect()
}

/// Names by runs of three letters, or two where a character is a syllable or a word.
#[derive(Debug, Default)]
struct NgramIndex {
    names: Vec<(EntityId, Vec<u64>)>,
    places: HashMap<u64, Vec<usize>>,
}

impl NgramIndex {
    /// Adds the earlier names that share at least half of the runs, and inserts this one.
    fn meet(&mut self, id: EntityId, name: &str, add: &mut impl FnMut(EntityId, DuplicateReason, f32)) {
        let own = runs(name);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let telling =
            own.iter().filter_map(|run| self.places.get(run)).filter(|names| names.len() <= COMMON_RUN);
        for place in telling.flatten() {
            *shared.entry(*place).or_default() += 1;
        }
        let mut alike: Vec<(usize, usize)> =
            shared.into_iter().map(|(place, count)| (count, place)).collect();
        alike.sort_unstable_by(|one, other| other.cmp(one));
        for (_, place) in alike.into_iter().take(MOST_ALIKE) {
            let Some((other, runs)) = self.names.get(place) else { continue };
            let likeness = mnemal_text::jaccard(&own, runs);
            if likeness >= TRIGRAMS {
                add(*other, DuplicateReason::Spelling, likeness);
            }
        }
        for run in &own {
            self.places.entry(*run).or_default().push(self.names.len());
        }
        self.names.push((id, own));
    }
}

/// Returns the hashes of a name's runs, sorted, each once.
fn runs(name: &str) -> Vec<u64> {
    let letters: Vec<char> = name.chars().collect();
    let length = if is_family_first(name) { 2 } else { 3 };
    let runs = letters.windows(length).map(|run| term_hash(&run.iter().collect::<String>()));
    let mut runs: Vec<u64> = runs.collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Co-occurrences with counts and last times, by canonical entity.
#[derive(Debug, Default)]
struct CooccurrenceTable {
    with: HashMap<EntityId, BTreeSet<EntityId>>,
    times: HashMap<EntityId, usize>,
    last: HashMap<EntityId, Timestamp>,
}

impl CooccurrenceTable {
    fn new(names: &Names, mentions: &[MentionRow]) -> Self {
        let mut seen = Self::default();
        let mut events: BTreeMap<EventId, BTreeSet<EntityId>> = BTreeMap::new();
        for row in mentions {
            let id = names.canon(row.entity);
            events.entry(row.source.event).or_default().insert(id);
            *seen.times.entry(id).or_default() += 1;
            let last = seen.last.entry(id).or_insert(row.occurred_at);
            *last = (*last).max(row.occurred_at);
        }
        for together in events.values() {
            for id in together {
                seen.with.entry(*id).or_default().extend(together.iter().filter(|other| *other != id));
            }
        }
        seen
    }

    fn times(&self, id: EntityId) -> usize {
        self.times.get(&id).copied().unwrap_or_default()
    }

    /// Whether both occur in one event, which shows that they are distinct.
    fn are_together(&self, one: EntityId, other: EntityId) -> bool {
        self.with.get(&one).is_some_and(|with| with.contains(&other))
    }

    fn score(&self, one: EntityId, other: EntityId, likeness: f32) -> f32 {
        let [of_name, of_company, of_time] = WEIGHTS;
        of_name * likeness + of_company * self.overlap(one, other) + of_time * self.nearness(one, other)
    }

    /// Share of the smaller co-occurrence set that the other has too.
    fn overlap(&self, one: EntityId, other: EntityId) -> f32 {
        let (Some(one), Some(other)) = (self.with.get(&one), self.with.get(&other)) else { return 0.0 };
        let count = |count: usize| u16::try_from(count).map_or(f32::from(u16::MAX), f32::from);
        let smaller = count(one.len().min(other.len()));
        if smaller > 0.0 { count(one.intersection(other).count()) / smaller } else { 0.0 }
    }

    /// 1 for entities last mentioned at the same time, 0 from seven days on.
    fn nearness(&self, one: EntityId, other: EntityId) -> f32 {
        let (Some(one), Some(other)) = (self.last.get(&one), self.last.get(&other)) else { return 0.0 };
        #[expect(clippy::cast_precision_loss, reason = "a share of days needs no microseconds")]
        let days = one.as_micros().abs_diff(other.as_micros()) as f32 / DAY;
        (1.0 - days / DAYS).max(0.0)
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_two_scripts_are_heard_as_one() {
        for (one, other) in
            [("κατερινα βλαχου", "katerina vlahou"), ("анна", "anna"), ("θεσσαλονικη", "thessaloniki")]
        {
            let latin = one.chars().filter_map(|letter| packs().sound(letter)).collect::<String>();
            assert_eq!(as_heard(&latin), as_heard(other));
        }
        assert_eq!(as_heard("christine"), as_heard("kristine"));
        assert_ne!(as_heard("anna"), as_heard("anton"));
    }
}
