//! Decoding of the model's output into claims, in words.

use std::cmp::Ordering;
use std::ops::Range;

use mnemal_core::{Act, EntityKind, Result, Subject};

use crate::model::{Details, EncodedTurn, Header, Model, SpanOutput};
use crate::words::Word;

/// Probability below which a span is ignored. The same number as in training.
const LEAST: f32 = 0.02;
/// Most spans considered per turn. The same number as in training.
const MOST: usize = 32;
/// Factor on the probability of a claim whose words also belong to a likelier claim with another predicate. Source: own choice.
const CLASH: f32 = 0.6;
/// Words of the longest name of a subject. The same number as in training.
const LONGEST_SUBJECT: usize = 4;
/// Lowest probability of a name. Source: own choice, as surely as a claim that the model confirms.
const LEAST_NAME: f32 = 0.7;

/// The model's result for one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReaderOutput {
    /// Claims, the likeliest first.
    pub claims: Vec<PredictedClaim>,
    /// Names, by position; they do not overlap.
    pub names: Vec<PredictedName>,
    /// For each word of the turn, in bytes: the probability that it is not the speaker's own.
    pub foreign: Vec<(Range<usize>, f32)>,
    /// Kinds of feedback with their probabilities.
    pub feedback: Vec<(String, f32)>,
    /// Irritation levels of the turn, with probabilities that sum to 1.
    pub levels: Vec<(String, f32)>,
    /// Durations of a preference, with probabilities that sum to 1.
    pub holds: Vec<(String, f32)>,
    /// Effects of the turn on the statement before it, with probabilities that sum to 1.
    pub relations: Vec<(String, f32)>,
}

/// A claim found by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedClaim {
    /// The predicate.
    pub predicate: String,
    /// The subject.
    pub subject: Subject,
    /// The act.
    pub act: Act,
    /// Byte range of the object in the turn.
    pub object: Range<usize>,
    /// The model's probability that all of it is right.
    pub confidence: f32,
    /// The probability that it is worth keeping.
    pub worth: f32,
}

/// A name found by the model.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedName {
    /// Byte range in the turn.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: EntityKind,
    /// Its probability.
    pub confidence: f32,
}

/// A span with the predicate of a claim or the kind of a name, and its probability.
struct SpanScore {
    sort: usize,
    first: usize,
    last: usize,
    p: f32,
}

impl ReaderOutput {
    /// Reads a turn, with the previous message.
    pub(crate) fn of(model: &Model, text: &str, before: &str) -> Result<Self> {
        let Some((shown, answer)) = model.read(text, before)? else { return Ok(Self::default()) };
        let header = &model.header;
        let (mut claims, mut names) = (Vec::new(), Vec::new());
        for scored in spot(header, &shown, &answer) {
            if scored.sort < header.predicates.len() {
                claims.push(scored);
            } else {
                names.push(SpanScore { sort: scored.sort - header.predicates.len(), ..scored });
            }
        }
        claims.truncate(MOST);
        names.truncate(MOST);
        let asked: Vec<_> = claims.iter().map(|claim| (claim.first, claim.last, claim.sort)).collect();
        let claims = if asked.is_empty() {
            Vec::new()
        } else {
            let details = model.details(&shown, &answer, &asked)?;
            put_together(&TurnInput { header, text, before, shown: &shown }, &claims, &details)
        };
        let authors = header.authors.len();
        let foreign = shown.turn.iter().zip(answer.author.chunks_exact(authors));
        Ok(Self {
            claims,
            names: pick_names(header, &shown.turn, &names),
            foreign: foreign
                .map(|(word, author)| {
                    (word.span.clone(), 1.0 - softmax(author).first().copied().unwrap_or(1.0))
                })
                .collect(),
            feedback: header
                .feedback
                .iter()
                .cloned()
                .zip(answer.feedback.iter().map(|x| sigmoid(*x)))
                .collect(),
            levels: header.levels.iter().cloned().zip(softmax(&answer.level)).collect(),
            holds: header.holds.iter().cloned().zip(softmax(&answer.hold)).collect(),
            relations: header.relations.iter().cloned().zip(softmax(&answer.relation)).collect(),
        })
    }
}

/// Returns the likely spans, the likeliest first.
fn spot(header: &Header, shown: &EncodedTurn, answer: &SpanOutput) -> Vec<SpanScore> {
    let (wide, predicates) = (header.wide, header.predicates.len());
    let sorts = predicates + header.kinds.len();
    let mut found = Vec::new();
    for (at, (scores, all)) in answer.spans.chunks_exact(2).zip(answer.sorts.chunks_exact(sorts)).enumerate()
    {
        let (first, last) = (at / wide, at / wide + at % wide);
        let &[claim, name] = scores else { continue };
        let (claim, name) = (sigmoid(claim), sigmoid(name));
        if last >= shown.turn.len() || claim.max(name) <= LEAST {
            continue;
        }
        let (of_claims, of_names) = all.split_at(predicates);
        let likely = softmax(of_claims)
            .into_iter()
            .map(|p| p * claim)
            .chain(softmax(of_names).into_iter().map(|p| p * name));
        found.extend(likely.enumerate().filter(|(_, p)| *p > LEAST).map(|(sort, p)| SpanScore {
            sort,
            first,
            last,
            p,
        }));
    }
    found.sort_by(|a, b| b.p.total_cmp(&a.p).then(a.first.cmp(&b.first)).then(a.last.cmp(&b.last)));
    found
}

/// A turn with the previous message, as model input.
struct TurnInput<'t> {
    header: &'t Header,
    text: &'t str,
    before: &'t str,
    shown: &'t EncodedTurn,
}

/// Combines spans into claims: overlapping spans of one predicate are one claim, and their probabilities add up.
fn put_together(turn: &TurnInput<'_>, scored: &[SpanScore], details: &Details) -> Vec<PredictedClaim> {
    struct Group<'s> {
        at: usize,
        one: &'s SpanScore,
        act: usize,
        p: f32,
    }
    let TurnInput { header, shown, .. } = turn;
    let acts: Vec<Vec<f32>> = details.act.chunks_exact(header.acts.len()).map(softmax).collect();
    let subjects: Vec<Vec<f32>> = details.subject.chunks_exact(3).map(softmax).collect();
    let overlap = |a: &SpanScore, b: &SpanScore| a.first <= b.last && b.first <= a.last;
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (at, one) in scored.iter().enumerate() {
        let act = acts.get(at).map_or(0, |acts| largest(acts));
        let is_same = |group: &&mut Group<'_>| {
            group.one.sort == one.sort && group.act == act && overlap(group.one, one)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.p = (group.p + one.p).min(1.0),
            None => groups.push(Group { at, one, act, p: one.p }),
        }
    }
    let words = shown.places.len();
    let claim = |group: &Group<'_>| {
        let one = group.one;
        let is_taken = |other: &Group<'_>| {
            let its = other.one;
            its.sort != one.sort && overlap(its, one) && other.p > group.p && group.p < 0.5
        };
        let sure = if groups.iter().any(is_taken) { CLASH } else { 1.0 };
        let of = subjects.get(group.at)?;
        let kind = largest(of);
        let (subject, pointed) = if kind == 0 {
            (Subject::Speaker, 1.0)
        } else {
            let row = group.at * words..(group.at + 1) * words;
            let (window, p) = point(details.one.get(row.clone())?, details.two.get(row)?)?;
            let name = window_text(turn, window)?;
            let subject = if kind == 1 {
                Subject::Relation { role: singular(&name.to_lowercase()), name: None }
            } else {
                Subject::Named(name)
            };
            (subject, p.sqrt())
        };
        let act = Act::from_name(header.acts.get(group.act)?)?;
        Some(PredictedClaim {
            predicate: header.predicates.get(one.sort)?.clone(),
            subject,
            act,
            object: shown.turn.get(one.first)?.span.start..shown.turn.get(one.last)?.span.end,
            confidence: group.p * acts.get(group.at)?.get(group.act)? * of.get(kind)? * pointed * sure,
            worth: sigmoid(*details.worth.get(group.at)?),
        })
    };
    let mut claims: Vec<PredictedClaim> = groups.iter().filter_map(claim).collect();
    claims.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    claims
}

/// Returns the likeliest window of at most four words, with its probability.
fn point(one: &[f32], two: &[f32]) -> Option<((usize, usize), f32)> {
    let (one, two) = (softmax(one), softmax(two));
    let windows = one.iter().enumerate().flat_map(|(first, p)| {
        let ends = two.iter().enumerate().skip(first).take(LONGEST_SUBJECT);
        ends.map(move |(last, q)| ((first, last), p * q))
    });
    windows.max_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal))
}

/// Returns the words of a window in the previous message or in the turn.
fn window_text(turn: &TurnInput<'_>, (first, last): (usize, usize)) -> Option<String> {
    let skip = turn.shown.before.len();
    let (text, words, first, last) = if last < skip {
        (turn.before, &turn.shown.before, first, last)
    } else {
        (turn.text, &turn.shown.turn, first.checked_sub(skip)?, last - skip)
    };
    Some(text.get(words.get(first)?.span.start..words.get(last)?.span.end)?.to_owned())
}

/// Returns a role in the singular. Source: the irregular forms are those of the words for people.
fn singular(role: &str) -> String {
    match role {
        "children" => "child".to_owned(),
        "wives" => "wife".to_owned(),
        "people" => "person".to_owned(),
        "men" => "man".to_owned(),
        "women" => "woman".to_owned(),
        _ => role.strip_suffix("ies").map_or_else(|| role.to_owned(), |stem| format!("{stem}y")),
    }
}

/// Returns names that do not overlap, by position.
fn pick_names(header: &Header, words: &[Word], scored: &[SpanScore]) -> Vec<PredictedName> {
    let mut taken: Vec<&SpanScore> = Vec::new();
    for one in scored.iter().filter(|one| one.p >= LEAST_NAME) {
        if !taken.iter().any(|other| one.first <= other.last && other.first <= one.last) {
            taken.push(one);
        }
    }
    taken.sort_by_key(|one| one.first);
    let name = |one: &SpanScore| {
        Some(PredictedName {
            span: words.get(one.first)?.span.start..words.get(one.last)?.span.end,
            kind: EntityKind::from_name(header.kinds.get(one.sort)?)?,
            confidence: one.p,
        })
    };
    taken.into_iter().filter_map(name).collect()
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn softmax(values: &[f32]) -> Vec<f32> {
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = values.iter().map(|x| (x - most).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn largest(values: &[f32]) -> usize {
    let most = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    most.map_or(0, |(at, _)| at)
}
