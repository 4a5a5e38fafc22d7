//! Proposal checks, run before a proposal becomes an event.

use std::collections::{BTreeMap, BTreeSet};

use mnemal_core::{
    BEST_SCORE, Cardinality, Category, Classification, EntityId, Event, EventId, EventKind, FEWEST_STEPS,
    LONGEST_DIGEST, LONGEST_LINE, Learning, LearningKind, Level, MOST_LINES, MOST_NAMED, MOST_PARTS,
    MOST_STEPS, NewEvent, OperationKind, Predicate, Proposal, Span, Speaker, Tag, TaskStep,
};
use mnemal_text::{content_words, fold, jaccard, shingles, unsupported};

use crate::history::{History, operation_identity, pair};
use crate::note::{extent, is_dear, is_of_one, is_open};
use crate::wording::WordCounts;

/// Fewest characters of a merged text. Source: RockBot #506, a shorter text can replace nothing.
const SHORTEST: usize = 20;
/// Share of common words from which two notes are near. Source: RockBot `dream-service.md`, Jaccard of at least 0.60.
pub(crate) const NEAR: f32 = 0.60;
/// Most characters of a merge, as a multiple of its sources. Source: own default; a merge adds no content.
const LONGEST: usize = 2;

/// Most content words of a note that a model may call noise. Source: own choice; "a nice chat" says less than "the key
/// hangs behind the boiler".
const CHATTER: usize = 3;
/// Most characters shown of a task step. Source: BA-24, 500 characters of an event.
const LONGEST_STEP: usize = 500;

/// The reason for refusing a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It names a note that the pass was not shown, or that does not exist or is no longer live.
    Unknown,
    /// It names too few notes, or one twice.
    Malformed,
    /// It names a note with a user-given key.
    Named,
    /// The notes differ in kind, owner or level.
    Mixed,
    /// Its text is empty or too short to replace others.
    Empty,
    /// Its text omits this many names, numbers or dates of its sources.
    Lost(usize),
    /// Its text contains this many numbers or names that no source has.
    Invented(usize),
    /// It would archive a protected note without a replacement.
    Dear,
    /// The note to keep does not say the same.
    Unlike,
    /// Its conclusion is not an insight.
    Raised,
    /// It changes nothing.
    Nothing,
    /// A person undid the same change.
    TakenBack,
    /// Another proposal of this cycle touches the same notes.
    Crossed,
    /// The write screen quarantines its text.
    HeldBack,
}

impl Refusal {
    /// Returns the name in the ledger.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown_note",
            Self::Malformed => "malformed",
            Self::Named => "named_note",
            Self::Mixed => "mixed",
            Self::Empty => "empty_text",
            Self::Lost(_) => "specifics_lost",
            Self::Invented(_) => "specifics_invented",
            Self::Dear => "protected",
            Self::Unlike => "not_the_same",
            Self::Raised => "raised",
            Self::Nothing => "nothing_to_do",
            Self::TakenBack => "taken_back",
            Self::Crossed => "crossed",
            Self::HeldBack => "held_back",
        }
    }
}

/// The live notes, by the event that created them.
pub(crate) type Notes<'r> = BTreeMap<EventId, &'r Learning>;

/// Checks one proposal against the current notes.
pub(crate) fn check(proposal: &Proposal, notes: &Notes<'_>, words: &WordCounts) -> Result<(), Refusal> {
    let operation = &proposal.operation;
    let names = operation.kind.names();
    let shown: BTreeSet<&EventId> = operation.shown.iter().collect();
    let rows: Option<Vec<&Learning>> =
        names.iter().map(|name| notes.get(name).copied().filter(|_| shown.contains(name))).collect();
    let rows = rows.ok_or(Refusal::Unknown)?;
    let once: BTreeSet<&EventId> = names.iter().collect();
    if once.len() != names.len() || names.is_empty() {
        return Err(Refusal::Malformed);
    }
    if rows.iter().any(|row| !is_open(row)) {
        return Err(Refusal::Named);
    }
    match &operation.kind {
        OperationKind::Merge { .. } => {
            merge(&proposal.text, &rows, words)?;
            let said: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
            by_model(proposal, &said)
        }
        OperationKind::Retire { into: Some(_), .. } => retire_into(&rows, words),
        OperationKind::Retire { into: None, .. } if rows.iter().any(|row| is_dear(row)) => Err(Refusal::Dear),
        // Noise, as called by a model, has no name, number or date, and hardly any content.
        OperationKind::Retire { into: None, .. }
            if operation.prompt.is_some()
                && rows.iter().any(|row| {
                    !words.specifics(&row.content).is_empty() || content_words(&row.content) > CHATTER
                }) =>
        {
            Err(Refusal::Dear)
        }
        OperationKind::Retire { into: None, .. } => Ok(()),
        OperationKind::Refine { classification, .. }
            if operation.prompt.is_some() && has_rules(&classification.category) =>
        {
            Err(Refusal::Raised)
        }
        OperationKind::Refine { classification, .. }
            if operation.prompt.is_some() && !is_filed_by_words(classification, &rows, notes) =>
        {
            Err(Refusal::Invented(1))
        }
        OperationKind::Refine { classification, .. } => match rows.as_slice() {
            [row]
                if row.category == classification.category
                    && row.tags == classification.tags
                    && row.importance == classification.importance =>
            {
                Err(Refusal::Nothing)
            }
            [row] if is_dear(row) && classification.importance.get() < row.importance.get() => {
                Err(Refusal::Dear)
            }
            _ => Ok(()),
        },
        OperationKind::Infer { kind, .. } => {
            // A rule computes the number and dates of the notes; a model only copies numbers.
            let counted = if operation.prompt.is_none() { extent(&rows) } else { String::new() };
            infer((&proposal.text, *kind), &rows, &counted, (notes, words))?;
            let said: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
            by_model(proposal, &said)
        }
        _ => Err(Refusal::Malformed),
    }
}

/// Checks that a model's text says nothing beyond its sources.
fn by_model(proposal: &Proposal, sources: &[&str]) -> Result<(), Refusal> {
    let made_up = proposal.operation.prompt.map_or(0, |_| unsupported(&proposal.text, sources).len());
    if made_up == 0 { Ok(()) } else { Err(Refusal::Invented(made_up)) }
}

/// Whether a model's category and tags are words of the notes, or used by other notes; a category may also be a general
/// one.
fn is_filed_by_words(classification: &Classification, rows: &[&Learning], notes: &Notes<'_>) -> bool {
    let said: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
    let is_said = |words: &str| unsupported(words, &said).is_empty();
    let is_known = |part: &str| {
        let mut parts = notes.values().flat_map(|row| row.category.as_str().split('/'));
        GENERAL.contains(&part) || parts.any(|known| known == part)
    };
    let is_tag = |tag: &Tag| is_said(tag.as_str()) || notes.values().any(|row| row.tags.contains(tag));
    classification.category.as_str().split('/').all(|part| is_known(part) || is_said(part))
        && classification.tags.iter().all(is_tag)
}

/// General categories without a name in them. Source: own choice, common categories for notes.
const GENERAL: [&str; 36] = [
    "animals",
    "books",
    "car",
    "cars",
    "code",
    "contacts",
    "devices",
    "events",
    "family",
    "finance",
    "food",
    "friends",
    "garden",
    "general",
    "health",
    "hobbies",
    "home",
    "house",
    "infrastructure",
    "knowledge",
    "language",
    "meetings",
    "money",
    "music",
    "people",
    "places",
    "plans",
    "projects",
    "school",
    "shopping",
    "sport",
    "tasks",
    "technology",
    "tools",
    "travel",
    "work",
];

/// Longest word before a time of day, in characters: "at", "um", "à", "las". Source: own choice.
const SHORT_WORD: usize = 3;

/// Whether notes of a category are managed by rules of their own, so that a model does not decide about them.
pub(crate) fn has_rules(category: &Category) -> bool {
    let first = category.as_str().split('/').next().unwrap_or_default();
    ["timeline", "insights", "documents", "anti-patterns", "user-preferences", "identity"].contains(&first)
}

/// Checks a proposed cardinality: one at a time or a set, and different from the last ruling.
pub(crate) fn check_cardinality(
    predicate: &Predicate,
    operation_kind: &OperationKind,
    history: &History,
) -> Result<(), Refusal> {
    let is_of_it = |operation_kind: &&OperationKind| matches!(operation_kind, OperationKind::Cardinality { predicate: of, .. } if of == predicate);
    let last = history.operations.iter().rev().map(|(_, known)| known).find(is_of_it);
    match operation_kind {
        _ if last == Some(operation_kind) => Err(Refusal::Nothing),
        OperationKind::Cardinality { cardinality: Cardinality::Now | Cardinality::Many, .. } => Ok(()),
        _ => Err(Refusal::Malformed),
    }
}

/// Checks a merge suggestion: two different entities with sources, without a person's decision and without an open
/// proposal.
pub(crate) fn check_pair(
    (one, into): (EntityId, EntityId),
    proposal: &Proposal,
    history: &History,
) -> Result<(), Refusal> {
    let of = operation_identity(&proposal.operation.kind);
    if one == into {
        Err(Refusal::Malformed)
    } else if proposal.operation.shown.is_empty() {
        Err(Refusal::Unknown)
    } else if history.decided.contains(&pair(one, into))
        || history.operations.iter().any(|(_, known)| operation_identity(known) == of)
    {
        Err(Refusal::Nothing)
    } else {
        Ok(())
    }
}

/// Checks quoted words: exact words of the user.
pub(crate) fn check_quote(
    proposal: &Proposal,
    (turn, quote): (EventId, Span),
    said: &[Event],
) -> Result<(), Refusal> {
    let event = said.iter().find(|event| event.id == turn && proposal.operation.shown.contains(&turn));
    let event = event.ok_or(Refusal::Unknown)?;
    let kept = event.body().ok_or(Refusal::Unknown)?;
    if event.level != Level::User || !matches!(kept.kind, EventKind::UserMessage) {
        return Err(Refusal::Raised);
    }
    let is_quote = quote.of(&kept.content).is_some_and(|words| words == proposal.text);
    if !is_quote || proposal.text.chars().count() > LONGEST_LINE {
        return Err(Refusal::Malformed);
    }
    says_enough(&proposal.text)
}

/// Checks a summary text against its source events: each line cites some of them, is short, and has no name, number or date
/// that they do not have.
pub(crate) fn summary(proposal: &Proposal, said: &[Event]) -> Result<(), Refusal> {
    let OperationKind::Summarize { of, rests, .. } = &proposal.operation.kind else {
        return Err(Refusal::Malformed);
    };
    let shown: BTreeSet<&EventId> = proposal.operation.shown.iter().collect();
    let sentences: Option<Vec<String>> = of
        .iter()
        .map(|source| {
            let event = said.iter().find(|event| event.id == source.event && shown.contains(&event.id))?;
            let kept = event.body()?;
            Some(sentence(kept, source.span.of(&kept.content)?))
        })
        .collect();
    let sentences = sentences.ok_or(Refusal::Unknown)?;
    let lines: Vec<&str> = proposal.text.lines().collect();
    if lines.len() != rests.len() || !(1..=MOST_LINES).contains(&lines.len()) {
        return Err(Refusal::Malformed);
    }
    let mut made_up = 0;
    for (line, places) in lines.iter().zip(rests) {
        let cited: Option<Vec<&str>> =
            places.iter().map(|place| sentences.get(*place as usize).map(String::as_str)).collect();
        let cited = cited.filter(|cited| !cited.is_empty()).ok_or(Refusal::Malformed)?;
        if line.trim().is_empty() || line.chars().count() > LONGEST_LINE {
            return Err(Refusal::Malformed);
        }
        made_up += unsupported(line, &cited).len();
    }
    if made_up == 0 { Ok(()) } else { Err(Refusal::Invented(made_up)) }
}

/// Returns a sentence in the form shown to a model: `2026-11-21 Ada: …`.
pub(crate) fn sentence(said: &NewEvent, words: &str) -> String {
    let day = said.occurred_at.civil(&said.zone).day_text();
    let speaker = said.speaker.as_ref().map_or("user", Speaker::as_str);
    let speaker = if matches!(said.kind, EventKind::AssistantMessage) { "assistant" } else { speaker };
    format!("{day} {speaker}: {}", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Checks a task evaluation: its events are unchanged, belong to one task and include its end; it is one line without a
/// name, number or date that none of them has; and this end was not evaluated before.
pub(crate) fn check_evaluation(
    proposal: &Proposal,
    said: &[Event],
    history: &History,
) -> Result<(), Refusal> {
    let OperationKind::Assess { turns, score } = &proposal.operation.kind else {
        return Err(Refusal::Malformed);
    };
    let is_known = |(_, operation_kind): &(EventId, OperationKind)| matches!(operation_kind, OperationKind::Assess { turns: known, .. } if known.last() == turns.last());
    if history.operations.iter().any(is_known) {
        return Err(Refusal::Nothing);
    }
    let kept = shown_events(proposal, turns, said)?;
    let once: BTreeSet<&EventId> = turns.iter().collect();
    let Some(end) = kept.last().filter(|end| is_end(end)) else { return Err(Refusal::Malformed) };
    if once.len() != turns.len()
        || !(FEWEST_STEPS..=MOST_STEPS).contains(&turns.len())
        || kept.iter().any(|step| step.task() != end.task())
        || !(1..=BEST_SCORE).contains(score)
        || proposal.text.contains('\n')
        || proposal.text.chars().count() > LONGEST_LINE
    {
        return Err(Refusal::Malformed);
    }
    says_enough(&proposal.text)?;
    let steps: Vec<String> = kept.into_iter().map(step).collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    match unsupported(&proposal.text, &steps).len() {
        0 => Ok(()),
        made_up => Err(Refusal::Invented(made_up)),
    }
}

/// Checks a digest: its parts are ingested texts in their current form; it is short, and has no name, number or date that
/// they do not have; and the same parts have no digest yet.
pub(crate) fn digest(proposal: &Proposal, said: &[Event], history: &History) -> Result<(), Refusal> {
    let OperationKind::Digest { from, entities, .. } = &proposal.operation.kind else {
        return Err(Refusal::Malformed);
    };
    let is_same = |(_, operation_kind): &(EventId, OperationKind)| matches!(operation_kind, OperationKind::Digest { from: known, .. } if known == from);
    if history.operations.iter().any(is_same) {
        return Err(Refusal::Nothing);
    }
    let parts = shown_events(proposal, from, said)?;
    let once: BTreeSet<&EventId> = from.iter().collect();
    let length = proposal.text.chars().count();
    if once.len() != from.len()
        || !(1..=MOST_PARTS).contains(&from.len())
        || entities.len() > MOST_NAMED
        || parts.iter().any(|part| part.kind != EventKind::Document)
        || !(1..=LONGEST_DIGEST).contains(&length)
        || proposal.text.contains('\n')
    {
        return Err(Refusal::Malformed);
    }
    let texts: Vec<&str> = parts.iter().map(|part| part.content.as_str()).collect();
    let whole = fold(&texts.join("\n"));
    let named = entities.iter().filter(|name| !whole.contains(&fold(name))).count();
    let made_up =
        if proposal.operation.prompt.is_some() { unsupported(&proposal.text, &texts).len() } else { 0 };
    if named + made_up == 0 { Ok(()) } else { Err(Refusal::Invented(named + made_up)) }
}

/// Returns the events that a proposal rests on; all must have been shown to it and exist.
fn shown_events<'e>(
    proposal: &Proposal,
    names: &[EventId],
    said: &'e [Event],
) -> Result<Vec<&'e NewEvent>, Refusal> {
    let shown: BTreeSet<&EventId> = proposal.operation.shown.iter().collect();
    let of = |name: &EventId| said.iter().find(|event| event.id == *name && shown.contains(name))?.body();
    names.iter().map(of).collect::<Option<_>>().ok_or(Refusal::Unknown)
}

/// Whether an event marks the end of its task.
pub(crate) fn is_end(said: &NewEvent) -> bool {
    matches!(said.task_step(), Some(TaskStep::Completed | TaskStep::Failed))
}

/// Returns a task step in the form shown to a model: `2026-11-21 result of deploy: …`.
pub(crate) fn step(said: &NewEvent) -> String {
    let day = said.occurred_at.civil(&said.zone).day_text();
    let who = match &said.kind {
        EventKind::UserMessage => said.speaker.as_ref().map_or("user", Speaker::as_str).to_owned(),
        EventKind::AssistantMessage => "agent".to_owned(),
        EventKind::ToolCall { tool } => format!("call of {tool}"),
        EventKind::ToolResult { tool, ok: true } => format!("result of {tool}"),
        EventKind::ToolResult { tool, ok: false } => format!("failure of {tool}"),
        _ => match said.task_step() {
            Some(TaskStep::Created) => "begun".to_owned(),
            Some(TaskStep::Completed) => "completed".to_owned(),
            Some(TaskStep::Failed) => "failed".to_owned(),
            None => "observed".to_owned(),
        },
    };
    let words = said.content.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String = words.chars().take(LONGEST_STEP).collect();
    format!("{day} {who}: {words}")
}

fn merge(text: &str, rows: &[&Learning], words: &WordCounts) -> Result<(), Refusal> {
    let [first, _, ..] = rows else { return Err(Refusal::Malformed) };
    if rows.iter().any(|row| !is_of_one(first, row)) {
        return Err(Refusal::Mixed);
    }
    says_enough(text)?;
    let sources: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
    let length: usize = sources.iter().map(|source| source.chars().count()).sum();
    if text.chars().count() > LONGEST * length {
        return Err(Refusal::Malformed);
    }
    match words.missing_specifics(text, rows).len() {
        0 => invents(text, &sources, words),
        lost => Err(Refusal::Lost(lost)),
    }
}

/// Checks whether the last of the notes can replace the others.
fn retire_into(rows: &[&Learning], words: &WordCounts) -> Result<(), Refusal> {
    let Some((stays, away)) = rows.split_last().filter(|(_, away)| !away.is_empty()) else {
        return Err(Refusal::Malformed);
    };
    for row in away {
        if !is_of_one(stays, row) || row.trust > stays.trust {
            return Err(Refusal::Mixed);
        }
        if !stands_for(stays, row, words) {
            return Err(Refusal::Unlike);
        }
    }
    Ok(())
}

/// Whether one text can replace another unchanged: they are near, and it contains all of the other and limits none of it.
pub(crate) fn stands_for(stays: &Learning, away: &Learning, words: &WordCounts) -> bool {
    let (text, other) = (&stays.content, &away.content);
    let is_near = || jaccard(&shingles(text, 1), &shingles(other, 1)) >= NEAR;
    text.split_whitespace().eq(other.split_whitespace())
        || (is_near() && says_all(text, other) && words.missing_specifics(text, &[away]).is_empty())
}

/// Whether a text has every word of another in the same order, with nothing but a time of day in between: any other word
/// could limit the statement, in any language, and a name within a longer name is another name.
pub(crate) fn says_all(text: &str, other: &str) -> bool {
    let (text, other) = (whole_words(text), whole_words(other));
    let mut wanted = other.iter().peekable();
    let mut added: Vec<&str> = Vec::new();
    for word in &text {
        if wanted.next_if(|next| *next == word).is_some() {
            if !is_time_of_day(&added) {
                return false;
            }
            added.clear();
        } else {
            added.push(word);
        }
    }
    wanted.peek().is_none() && is_time_of_day(&added)
}

/// Returns the words of a text, split at spaces, without surrounding punctuation.
fn whole_words(text: &str) -> Vec<String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(fold).collect()
}

/// Whether words are empty, or a clock time with at most one short word before it: "at 09:30", "um 9:30".
fn is_time_of_day(words: &[&str]) -> bool {
    let is_clock = |word: &str| {
        let digits =
            |part: &str| !part.is_empty() && part.len() <= 2 && part.bytes().all(|one| one.is_ascii_digit());
        word.split_once([':', 'h']).is_some_and(|(hours, minutes)| digits(hours) && digits(minutes))
    };
    match words {
        [] => true,
        [clock] => is_clock(clock),
        [before, clock] => before.chars().count() <= SHORT_WORD && is_clock(clock),
        _ => false,
    }
}

fn infer(
    (text, kind): (&str, LearningKind),
    rows: &[&Learning],
    counted: &str,
    (notes, words): (&Notes<'_>, &WordCounts),
) -> Result<(), Refusal> {
    let [first, _, ..] = rows else { return Err(Refusal::Malformed) };
    if kind != LearningKind::Insight {
        return Err(Refusal::Raised);
    }
    if rows.iter().any(|row| row.user != first.user || row.agent != first.agent || row.level != first.level) {
        return Err(Refusal::Mixed);
    }
    says_enough(text)?;
    if notes.values().any(|row| row.kind == kind && row.content == text) {
        return Err(Refusal::Nothing);
    }
    let said = rows.iter().map(|row| row.content.as_str());
    let sources: Vec<&str> = said.chain([counted]).collect();
    invents(text, &sources, words)
}

fn says_enough(text: &str) -> Result<(), Refusal> {
    let letters = text.chars().filter(|letter| letter.is_alphanumeric()).count();
    if letters == 0 || text.trim().chars().count() < SHORTEST { Err(Refusal::Empty) } else { Ok(()) }
}

/// Refuses numbers that no source has: they are copied, never computed.
fn invents(text: &str, sources: &[&str], words: &WordCounts) -> Result<(), Refusal> {
    match words.made_up(text, sources).len() {
        0 => Ok(()),
        invented => Err(Refusal::Invented(invented)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_limit_or_a_longer_name_does_not_say_the_one_without_it() {
        for (longer, shorter) in [
            ("We build with lib-native-core", "We build with lib-native"),
            ("Call Anna-Lena about the lease", "Call Anna about the lease"),
            ("Call Anna Berg about the lease", "Call Anna about the lease"),
            ("Backups are kept 30 days except for finance", "Backups are kept 30 days"),
            ("Backups are kept 30 to 60 days", "Backups are kept 30 days"),
            ("Only staff may enter the lab", "Staff may enter the lab"),
            ("Staff may enter the lab with a guide", "Staff may enter the lab"),
            ("Die Heizung läuft außer sonntags", "Die Heizung läuft"),
            ("Le musée est ouvert sauf le lundi", "Le musée est ouvert"),
            ("La piscina abre salvo los lunes", "La piscina abre"),
            ("A loja abre exceto ao domingo", "A loja abre"),
            ("除了周一办公室每天开放", "办公室每天开放"),
            ("Pay by Monday or Tuesday", "Pay by Monday"),
            ("Deploys do not happen on Friday", "Deploys do happen on Friday"),
            ("The red team beat the blue team", "The blue team beat the red team"),
        ] {
            assert!(!says_all(longer, shorter) && !says_all(shorter, longer), "{longer}");
        }
        for (one, other) in [
            ("The spare key hangs behind the boiler.", "the spare key hangs behind the boiler"),
            ("Deploys happen on Tuesday morning at 09:30.", "Deploys happen on Tuesday morning."),
            ("Wir liefern dienstags um 9:30", "Wir liefern dienstags"),
        ] {
            assert!(says_all(one, other), "{one}");
        }
    }
}
