//! Short summary, topics and importance of a text.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use mnemal_core::{Importance, Span, Timestamp, Zone};
use mnemal_text::{Analyzer, Language, condense, fold, is_stop_word};

use crate::authorship::OwnWords;
use crate::dates::{Anchor, DateRules, TimeBias};
use crate::names::quantity::quantities;

/// Sentences of the summary. Source: own choice, one to two sentences (GA-13).
const SENTENCES: usize = 2;
/// Most topics. Source: own choice, two to four topics (GA-13).
const TOPICS: usize = 4;
/// Words of the longest topic. Source: own choice, as of a tag.
const LONGEST_TOPIC: usize = 3;
/// Importance of a text without any cue. Source: own choice, the middle of the range (GB-30).
const NEUTRAL: f32 = 0.5;
/// Added importance of each cue. Source: own choice (GB-30).
const CUE_WEIGHT: f32 = 0.1;
/// Highest importance. Source: own choice (GB-30).
const MOST: f32 = 0.9;

/// Short summary, topics and importance of a text: computed by rule, and not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSummary {
    /// The one or two most informative sentences, in the order of the text.
    pub summary: Vec<Span>,
    /// Topic phrases, in lower case, at most four, the most important first.
    pub topics: Vec<String>,
    /// The importance cues, each once.
    pub cues: Vec<ImportanceCue>,
    /// Importance: 0.5, plus 0.1 for each cue, up to 0.9.
    pub importance: Importance,
}

/// A cue that a text is important: a date, a number with a unit, a decision, a commitment, or a request to remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportanceCue {
    /// A date or time.
    Date,
    /// A number with a unit, or an amount of money.
    Quantity,
    /// A decision.
    Decision,
    /// A commitment.
    Commitment,
    /// A request to remember.
    Remember,
}

impl ImportanceCue {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Quantity => "quantity",
            Self::Decision => "decision",
            Self::Commitment => "commitment",
            Self::Remember => "remember",
        }
    }
}

/// A sign with the words and phrases that are one.
type Phrases = (ImportanceCue, &'static [&'static str]);

/// Cue words and phrases, folded, by language. Source: own choice, the verbs of decisions and promises in minutes of meetings.
const WORDS: [(Language, [Phrases; 3]); 4] = [
    (
        Language::English,
        [
            (
                ImportanceCue::Decision,
                &[
                    "decided",
                    "decide",
                    "decides",
                    "chose",
                    "chosen",
                    "agreed",
                    "approved",
                    "settled on",
                    "opted for",
                    "go with",
                    "going with",
                    "went with",
                ],
            ),
            (
                ImportanceCue::Commitment,
                &[
                    "promise",
                    "promised",
                    "i will",
                    "we will",
                    "i'll",
                    "we'll",
                    "commit to",
                    "committed to",
                    "guarantee",
                    "have to",
                    "must",
                    "owe",
                ],
            ),
            (
                ImportanceCue::Remember,
                &["remember", "don't forget", "do not forget", "keep in mind", "note that"],
            ),
        ],
    ),
    (
        Language::German,
        [
            (
                ImportanceCue::Decision,
                &["entschieden", "beschlossen", "gewahlt", "vereinbart", "genehmigt", "einigten uns"],
            ),
            (
                ImportanceCue::Commitment,
                &["verspreche", "versprochen", "ich werde", "wir werden", "zugesagt", "muss", "mussen"],
            ),
            (ImportanceCue::Remember, &["merk dir", "merke dir", "vergiss nicht", "denk daran"]),
        ],
    ),
    (
        Language::French,
        [
            (ImportanceCue::Decision, &["decide", "choisi", "convenu", "approuve", "opte pour"]),
            (
                ImportanceCue::Commitment,
                &["promets", "promis", "m'engage", "je vais", "nous allons", "dois", "devons"],
            ),
            (
                ImportanceCue::Remember,
                &["souviens-toi", "souvenez-vous", "n'oublie pas", "n'oubliez pas", "retiens"],
            ),
        ],
    ),
    (
        Language::Spanish,
        [
            (
                ImportanceCue::Decision,
                &["decidi", "decidimos", "decidido", "elegi", "elegimos", "acordamos", "aprobado"],
            ),
            (
                ImportanceCue::Commitment,
                &["prometo", "prometido", "me comprometo", "voy a", "vamos a", "debo", "debemos"],
            ),
            (ImportanceCue::Remember, &["recuerda", "recuerde", "no olvides", "no olvide", "ten en cuenta"]),
        ],
    ),
];

/// Computes short summary, topics and importance of a text, said at a time in a zone.
///
/// Topics are runs of words between stop words and marks; a word weighs by its number of neighbors, and a repeated run weighs
/// more. Decisions, promises and "remember" are recognized in English, German, French and Spanish.
pub fn summarize_text(words: &OwnWords<'_>, at: Timestamp, zone: &Zone) -> TextSummary {
    let text = words.as_str();
    let language = Language::guess(text);
    let summary = condense(&Analyzer::new(language), text, SENTENCES).into_iter();
    let summary = summary.filter_map(|sentence| {
        let range = sentence.range();
        Some(Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? })
    });
    let cues = cues(text, language, (at, zone));
    let importance = NEUTRAL + cues.iter().map(|_| CUE_WEIGHT).sum::<f32>();
    TextSummary {
        summary: summary.collect(),
        topics: topics(text, language),
        cues,
        importance: Importance::new(importance.min(MOST)).unwrap_or(Importance::DEFAULT),
    }
}

fn cues(text: &str, language: Language, (at, zone): (Timestamp, &Zone)) -> Vec<ImportanceCue> {
    let mut cues = BTreeSet::new();
    let rules = DateRules::built_in(language.code()).or_else(|| DateRules::built_in("en"));
    let dated = rules.map(|rules| rules.read(text, &Anchor { at, zone }, TimeBias::Nearest));
    if dated.is_some_and(|dated| dated.iter().any(|one| one.when().is_some())) {
        cues.insert(ImportanceCue::Date);
    }
    if !quantities(text).is_empty() {
        cues.insert(ImportanceCue::Quantity);
    }
    let words: Vec<String> = words(text).map(fold).collect();
    let said = format!(" {} ", words.join(" "));
    let of_language = WORDS.iter().filter(|(of, _)| *of == language).flat_map(|(_, cues)| cues);
    for (sign, phrases) in of_language {
        if phrases.iter().any(|phrase| said.contains(&format!(" {phrase} "))) {
            cues.insert(*sign);
        }
    }
    cues.into_iter().collect()
}

/// Returns the words of a text, with the apostrophes and hyphens within them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_inner = |sign: char| sign.is_alphanumeric() || matches!(sign, '\'' | '’' | '-');
    text.split(move |sign: char| !is_inner(sign))
        .map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

fn topics(text: &str, language: Language) -> Vec<String> {
    let runs = runs(text, language);
    let (mut times, mut beside): (HashMap<&str, f32>, HashMap<&str, f32>) = Default::default();
    for run in &runs {
        for word in run {
            *times.entry(word).or_default() += 1.0;
            *beside.entry(word).or_default() += f32::from(u8::try_from(run.len()).unwrap_or(u8::MAX));
        }
    }
    let mut found: Vec<(String, f32)> = Vec::new();
    for run in &runs {
        let weight = |word: &String| {
            beside.get(word.as_str()).zip(times.get(word.as_str())).map_or(0.0, |(a, b)| a / b)
        };
        let (topic, weight) = (run.join(" "), run.iter().map(weight).sum::<f32>());
        match found.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, sum)) => *sum += weight,
            None => found.push((topic, weight)),
        }
    }
    // What weighs the same is in the order of the text.
    found.sort_by(|(_, one), (_, other)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    found.into_iter().take(TOPICS).map(|(topic, _)| topic).collect()
}

/// Returns the runs of words that say something, folded: between marks, stop words, numbers and what is a sign by itself.
fn runs(text: &str, language: Language) -> Vec<Vec<String>> {
    let mut runs = Vec::new();
    for part in text.split(['.', ',', ';', ':', '!', '?', '\n', '(', ')', '"', '。', '、', '，']) {
        let mut run: Vec<String> = Vec::new();
        for word in words(part) {
            let word = fold(word);
            let says_nothing = is_stop_word(language, &word)
                || word.chars().nth(1).is_none()
                || word.contains(char::is_numeric)
                || is_sign(&word, language);
            if says_nothing || run.len() == LONGEST_TOPIC {
                runs.push(std::mem::take(&mut run));
            }
            if !says_nothing {
                run.push(word);
            }
        }
        runs.push(run);
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn is_sign(word: &str, language: Language) -> bool {
    let of_language = WORDS.iter().filter(|(of, _)| *of == language).flat_map(|(_, cues)| cues);
    of_language.flat_map(|(_, phrases)| *phrases).any(|phrase| *phrase == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> TextSummary {
        summarize_text(
            &OwnWords::of_text(text),
            Timestamp::EPOCH.plus_micros(1_795_300_200_000_000),
            &Zone::utc(),
        )
    }

    // proves: GB-30 (0.5 and 0.1 for each sign, 0.9 at most)
    #[test]
    fn importance_is_a_half_and_a_tenth_for_each_sign() {
        use ImportanceCue::{Commitment, Date, Decision, Quantity, Remember};
        let rows: [(&str, &[ImportanceCue], f32); 12] = [
            ("The heron is grey.", &[], 0.5),
            ("The heron came on Friday.", &[Date], 0.6),
            ("The crate weighs 12 kg.", &[Quantity], 0.6),
            ("The three of them met 12 herons.", &[], 0.5),
            ("We decided to paint the boat.", &[Decision], 0.6),
            ("I'll water the plants.", &[Commitment], 0.6),
            ("Remember the blue tin.", &[Remember], 0.6),
            (
                "We agreed that I will pay 40 euros on 2026-11-30.",
                &[Date, Quantity, Decision, Commitment],
                0.9,
            ),
            (
                "Remember: we decided that I will pay 40 euros on 2026-11-30.",
                &[Date, Quantity, Decision, Commitment, Remember],
                0.9,
            ),
            ("Wir haben beschlossen, das Boot zu streichen.", &[Decision], 0.6),
            ("N'oublie pas la boîte bleue, je vais fermer la porte.", &[Commitment, Remember], 0.7),
            ("", &[], 0.5),
        ];
        for (text, cues, importance) in rows {
            let found = of(text);
            assert_eq!(found.cues, cues, "{text}");
            assert!((found.importance.get() - importance).abs() < 1e-6, "{text}: {:?}", found.importance);
        }
    }

    // proves: GA-13 (one or two sentences, two to four topics; entities are what the extractor names)
    #[test]
    fn a_text_is_told_in_two_of_its_sentences_and_four_topics() {
        let text = "The harbour office sent the new mooring contract today. It was raining. The mooring contract asks for a \
            deposit of 400 euros and a survey of the hull. Ben likes tea. The survey of the hull costs 90 euros.";
        let found = of(text);
        let told: Vec<&str> = found.summary.iter().filter_map(|span| span.of(text)).collect();
        assert_eq!(told.len(), 2);
        assert!(
            told.iter().all(|sentence| text.contains(sentence)) && told.concat().contains("contract"),
            "{told:?}"
        );
        assert!((2..=4).contains(&found.topics.len()), "{:?}", found.topics);
        assert!(found.topics.iter().any(|topic| topic.contains("mooring contract")), "{:?}", found.topics);
        assert!(
            found.topics.iter().all(|topic| topic.split(' ').count() <= 3 && !topic.contains("euros 90"))
        );
        assert_eq!(of("Tea, coffee.").topics, ["tea", "coffee"]);
        assert_eq!(of("One thing.").summary.len(), 1);
        assert_eq!((of("").summary.len(), of("").topics.len()), (0, 0));
    }

    #[test]
    fn any_text_is_read() {
        for text in ["\u{0}", "🦢🦢", "'’-", "王小明决定去上海。", &"a ".repeat(5_000), &"(".repeat(5_000)]
        {
            let found = of(text);
            assert!(found.topics.len() <= 4 && found.summary.len() <= 2);
        }
    }
}
