//! The extractor that works by rule alone: mentions, times and claims of one event.

use std::collections::HashSet;
use std::ops::Range;

use mnemal_core::{
    Act, Decision, Event, EventId, EventKind, ExtractedFact, Extraction, Extractor, Gazetteer, Level,
    NewEvent, Object, Producer, RuleId, Span, Subject, Support, Utterance, When, WorldTime, named_id,
};
use mnemal_text::sentences;

use crate::authorship::OwnWords;
use crate::claims::Claims;
use crate::claims::answer::PrecedingQuestion;
use crate::claims::hints::{Hints, TimeSpan};
use crate::claims::subjects::SubjectWords;
use crate::clause::AnalyzedSentence;
use crate::dates::{Anchor, DateRules, TimeBias, TimeExpression};
use crate::language::{Pack, language};
use crate::names::mentions;
use crate::self_correction::{Repair, RepairedTurn};
use crate::slips::without_admissions;
use crate::word::Word;

/// Incremented with every change of packs or code that changes the output.
const VERSION: u32 = 19;
/// Words of the longest text that is read. Source: own choice.
const MOST_WORDS: usize = 2_000;
/// Bytes that certainly exceed the word limit. Source: own choice, 20 per word.
const MOST_BYTES: usize = 40_000;
/// Percentage of code and quotations at which a text is not read. Source: own choice.
const MOST_COPIED: usize = 40;
/// Returns `true` if a text is the word for a role in the language of the rule that found it, and nothing else: "Kinder".
pub fn is_role_word(rule: &RuleId, text: &str) -> bool {
    let code = rule.as_str().split('.').next().unwrap_or_default();
    let rules = Pack::of(code).and_then(Pack::rules);
    let is_role = |text: &str| rules.is_some_and(|rules| rules.subjects.is_role(text));
    is_role(&text.to_lowercase()) || is_role(&mnemal_text::fold(text))
}

/// Own words that determine their language regardless of the rest. Source: own choice, as for sentences.
const LEAST_TELLING: usize = 4;
/// Fewest words for the repetition check. Source: own choice; a short text repeats words anyway.
const LEAST_REPEATING: usize = 20;
/// Words per distinct word at which a text counts as repetition. Source: own choice.
const MOST_REPEATED: usize = 10;
/// Fewest bytes of a line that can count as code. Source: own choice; a short line has few signs.
const LEAST_LINE: usize = 12;
/// Bytes per code sign at which a line counts as prose. Source: own choice.
const BYTES_A_SIGN: usize = 6;

/// Places in an earlier turn that a value is tried at. Source: own choice; the likeliest come first.
const MOST_REPAIRS: usize = 8;

/// The rule-based extractor.
#[derive(Clone, Debug, Default)]
pub struct RuleExtractor {
    disabled: HashSet<String>,
    is_unweighed: bool,
}

impl RuleExtractor {
    /// Suffix of rule ids for claims in plain words, of an [`unweighed`](Self::unweighed) extractor.
    pub const IN_PLAIN_WORDS: &'static str = ".in_plain_words";

    /// Makes the extractor with every rule.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a rule of any language has this id, or it is `correction`, the rule of retractions.
    pub fn has_rule(id: &str) -> bool {
        let knows = |pack: &Pack| {
            pack.rules().is_some_and(|rules| rules.all.iter().any(|rule| rule.id.as_str() == id))
        };
        id == Support::correction_rule() || Pack::all().iter().any(knows)
    }

    /// Disables rules by their ids; an unknown id only changes the producer.
    #[must_use]
    pub fn without<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.disabled.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Disables the calibration, for measuring it: a confidence is the prior of its rule with the adjustments for the wording,
    /// and the rule id shows whether the claim is in plain words.
    #[must_use]
    pub fn unweighed(self) -> Self {
        Self { is_unweighed: true, ..self }
    }

    /// Reads a text that its speaker vouches for; the part of [`Extractor::extract`] that knows no event.
    fn facts(&self, said: &NewEvent, echo: &[Span], asked: Option<&str>, extraction: &mut Extraction) {
        let own = OwnWords::of_event(said);
        let text = own.as_str();
        let code = language_of(text, &said.content);
        let is_mixed = code != "en" || !text.is_ascii();
        let times = times(said, text, DateRules::built_in(code));
        let mut claims = Claims::new(&self.disabled).answering(asked.and_then(PrecedingQuestion::read));
        if is_note(said) {
            claims = claims.of_note();
        }
        if self.is_unweighed {
            claims = claims.unweighed();
        }
        let all = without_admissions(text, sentences(text));
        let has_fence = text.contains(FENCE);
        let mut is_framed = false;
        let mut words_ahead: Option<(&Pack, usize, Vec<Word<'_>>)> = None;
        for (number, sentence) in all.iter().copied().enumerate() {
            let range = sentence.range();
            let is_skipped = echo.iter().any(|span| overlaps(&range, *span))
                || has_fence && is_fenced(text, &range)
                || looks_like_code(sentence.of(text));
            if is_skipped {
                continue;
            }
            let pack = Pack::of_sentence(sentence.of(text), code, is_mixed);
            let Some((pack, rules)) = pack.and_then(|pack| Some((pack, pack.rules()?))) else { continue };
            // The words of a sentence were read when the one before it was, mostly in the same language.
            let words = match words_ahead.take() {
                Some((of, place, words)) if place == number && std::ptr::eq(of, pack) => words,
                _ => pack.gates().forms.words(sentence.of(text)),
            };
            let reading = AnalyzedSentence::of_words(sentence.of(text), words, pack.gates());
            let next = all.get(number + 1).map_or("", |next| next.of(text));
            let next = pack.gates().forms.words(next);
            let is_staged = is_framed || pack.gates().takes_back(&next);
            words_ahead = Some((pack, number + 1, next));
            is_framed |= pack.gates().frames(&reading.words);
            if is_staged {
                continue;
            }
            let hints = Hints {
                times: &times,
                mentions: &extraction.mentions,
                base: sentence.start,
                sentence: number,
            };
            claims.read(&reading, rules, &hints);
        }
        extraction.remarks.extend(claims.dropped.lines());
        extraction.facts = claims.facts;
    }

    /// Reads a note that was stored on purpose: its statements about named entities, and about the user if the note names the
    /// user or is the user's own. An agent's "I" has no known subject; documents and imports give no claims.
    fn note(&self, event: &Event, said: &NewEvent, extraction: &mut Extraction) {
        if let Some(reason) = not_fit(event, said, Level::Agent) {
            extraction.remarks.push(format!("skipped: {reason}"));
            return;
        }
        self.facts(said, &event.echo, None, extraction);
        let is_own = event.level == Level::User;
        extraction.facts.retain(|fact| is_own || matches!(fact.subject, Subject::Named(_)));
        for fact in &mut extraction.facts {
            if matches!(&fact.subject, Subject::Named(name) if name == SubjectWords::TOLD_USER) {
                fact.subject = Subject::Speaker;
            }
        }
    }

    /// Returns what a turn of a few words puts right in the speaker's turn before: "No wait, Bruges." The new value's claims, and
    /// those of the old one as corrections.
    fn repaired(&self, said: &NewEvent, utterance: &Utterance<'_>) -> Vec<ExtractedFact> {
        let found = self.repair(said, utterance.before.iter().rev(), utterance.known);
        found.map(|(_, _, facts)| facts).unwrap_or_default()
    }

    /// Returns the turn that a turn puts right, what it means now, and the claims that this changes.
    fn repair<'e>(
        &self,
        said: &NewEvent,
        newest_first: impl Iterator<Item = &'e Event>,
        known: &Gazetteer,
    ) -> Option<(EventId, RepairedTurn, Vec<ExtractedFact>)> {
        // Most turns are no repair, and then nothing before them is read.
        if said.content.len() > Repair::MOST_BYTES {
            return None;
        }
        let turn = OwnWords::of_event(said);
        let repair = Repair::read(turn.as_str())?;
        let (event, between) = turn_before(said, newest_first)?;
        let earlier = event.body().filter(|earlier| not_eligible(event, earlier).is_none())?;
        let read = |said: &NewEvent| {
            let mut meant = Extraction { mentions: mentions(&said.content, known), ..Extraction::default() };
            self.facts(said, &event.echo, None, &mut meant);
            meant.facts
        };
        let meanings = repair.meanings(OwnWords::of_event(earlier).as_str(), between);
        let was = if meanings.is_empty() { Vec::new() } else { read(earlier) };
        let meant = meanings.into_iter().take(MOST_REPAIRS).filter_map(|told| {
            let now = read(&NewEvent { content: told.text.clone(), ..earlier.clone() });
            let lacks = |all: &[ExtractedFact], fact: &ExtractedFact| {
                !all.iter().any(|one| states_the_same(one, fact))
            };
            let gone: Vec<&ExtractedFact> = was.iter().filter(|fact| lacks(&now, fact)).collect();
            let new: Vec<&ExtractedFact> = now.iter().filter(|fact| lacks(&was, fact)).collect();
            let is_meant = new.iter().any(|new| gone.iter().any(|gone| takes_the_place(new, gone)));
            let place = |at: usize| u32::try_from(at).ok();
            let span = Span { start: place(told.new.start)?, end: place(told.new.end)? };
            let asserted = gone.into_iter().filter(|fact| fact.act == Act::Assert);
            let mut found: Vec<ExtractedFact> = asserted.map(|fact| never_so(fact.clone(), span)).collect();
            found.extend(new.into_iter().cloned().map(|fact| said_at(fact, span)));
            is_meant.then_some((event.id, told, found))
        });
        // Of two statements it is not known which was wrong.
        let mut meant: Vec<_> = meant.collect();
        if meant.len() == 1 { meant.pop() } else { None }
    }

    /// Returns the claims of the speaker's turn before as corrections, when this one begins with "Just kidding!".
    fn taken_back(&self, said: &NewEvent, utterance: &Utterance<'_>) -> Vec<ExtractedFact> {
        let Some((event, span)) = taken_back_turn(said, utterance.before.iter().rev()) else {
            return Vec::new();
        };
        let Some(earlier) = event.body() else { return Vec::new() };
        let mentions = mentions(&earlier.content, utterance.known);
        let mut meant = Extraction { mentions, ..Extraction::default() };
        self.facts(earlier, &event.echo, None, &mut meant);
        let asserted = meant.facts.into_iter().filter(|fact| fact.act == Act::Assert);
        asserted.map(|fact| never_so(fact, span)).collect()
    }
}

/// Returns the speaker's turn before that a turn takes back, and the words that do: "Just kidding!", "I made that up." The events
/// of the session before it come newest first.
pub fn taken_back_turn<'e>(
    said: &NewEvent,
    mut newest_first: impl Iterator<Item = &'e Event>,
) -> Option<(&'e Event, Span)> {
    let event = newest_first.find(|event| is_own(said, event))?;
    let earlier = event.body()?;
    let first = sentences(&said.content).first().copied()?;
    let may_be_jest = |pack: &Pack| pack.gates().may_be_jest(first.of(&said.content));
    if !Pack::all().iter().any(may_be_jest) || not_eligible(event, earlier).is_some() {
        return None;
    }
    // Two words show no language; those of the retracted turn do.
    let is_jest = |text: &str| {
        Pack::of(language(text)).is_some_and(|pack| pack.gates().is_jest(first.of(&said.content)))
    };
    if !is_jest(&said.content) && !is_jest(&earlier.content) {
        return None;
    }
    let range = first.range();
    Some((event, Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? }))
}

/// Returns the message right before, if someone else said it in the same conversation.
fn preceding_message<'u>(said: &NewEvent, utterance: &Utterance<'u>) -> Option<&'u str> {
    let before = utterance.before.last().filter(|event| event.quarantined.is_none())?.body()?;
    let is_said = matches!(before.kind, EventKind::UserMessage | EventKind::AssistantMessage);
    let is_own = before.kind == said.kind && before.speaker == said.speaker;
    (is_said && !is_own && before.session == said.session).then_some(before.content.as_str())
}

/// Returns what a turn of a few words puts right in the speaker's turn before, and which turn that is: "No wait, Bruges." `before`
/// are the events of the session before it, oldest first.
///
/// `None` unless it changes what the earlier turn claims.
#[must_use]
pub fn repaired_turn(said: &NewEvent, before: &[&Event]) -> Option<(EventId, RepairedTurn)> {
    let found = RuleExtractor::new().repair(said, before.iter().rev().copied(), &Gazetteer::default());
    found.map(|(event, repaired, _)| (event, repaired))
}

/// Whether the speaker of a turn said another one, too.
fn is_own(said: &NewEvent, event: &Event) -> bool {
    let is_own = |body: &NewEvent| {
        matches!(body.kind, EventKind::UserMessage)
            && (&body.speaker, &body.user) == (&said.speaker, &said.user)
    };
    event.body().is_some_and(is_own)
}

/// Returns the speaker's own turn before, if at most one message of somebody else follows it, and that message.
fn turn_before<'e>(
    said: &NewEvent,
    mut newest_first: impl Iterator<Item = &'e Event>,
) -> Option<(&'e Event, Option<&'e str>)> {
    let last = newest_first.next()?;
    if is_own(said, last) {
        return Some((last, None));
    }
    let between = last.body()?.content.as_str();
    newest_first.next().filter(|event| is_own(said, event)).map(|event| (event, Some(between)))
}

/// Whether two claims say the same, whatever their words.
fn states_the_same(one: &ExtractedFact, other: &ExtractedFact) -> bool {
    let key = |of: &ExtractedFact| (of.object.key.clone(), of.object.topic.clone(), of.time);
    (&one.predicate, &one.subject, one.act) == (&other.predicate, &other.subject, other.act)
        && key(one) == key(other)
}

/// Whether a claim says another value of what the other says, or the same of a subject of another name.
fn takes_the_place(new: &ExtractedFact, gone: &ExtractedFact) -> bool {
    new.predicate == gone.predicate && (new.subject == gone.subject || new.object.key == gone.object.key)
}

/// Returns a claim as said at a place.
fn said_at(fact: ExtractedFact, span: Span) -> ExtractedFact {
    ExtractedFact { object: Object { span, ..fact.object }, span, sentence: span, ..fact }
}

/// Returns that a claim never was so, said at a place.
fn never_so(fact: ExtractedFact, span: Span) -> ExtractedFact {
    let rule = RuleId::new(Support::correction_rule()).unwrap_or_else(|_| fact.rule.clone());
    ExtractedFact { rule, act: Act::Negative, time: None, ..said_at(fact, span) }
}

impl Extractor for RuleExtractor {
    /// Every row has it, so rules that are left out are in it as their number and a hash of their ids.
    fn producer(&self) -> Producer {
        let mut disabled: Vec<&str> = self.disabled.iter().map(String::as_str).collect();
        disabled.sort_unstable();
        let name = if self.is_unweighed { "extract/rules unweighed" } else { "extract/rules" };
        let id = match disabled.len() {
            0 => name.to_owned(),
            count => format!("{name} without {count} {:032x}", named_id("rules", &disabled)),
        };
        Producer { id, version: VERSION }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let mut extraction = Extraction::default();
        let Some(said) = utterance.event.body() else {
            extraction.remarks.push("skipped: erased".to_owned());
            return extraction;
        };
        extraction.mentions = mentions(&said.content, utterance.known);
        if is_note(said) {
            self.note(utterance.event, said, &mut extraction);
        } else if let Some(reason) = not_eligible(utterance.event, said) {
            extraction.remarks.push(format!("skipped: {reason}"));
        } else {
            self.facts(said, &utterance.event.echo, preceding_message(said, utterance), &mut extraction);
            if !self.disabled.contains(Support::correction_rule()) {
                extraction.facts.extend(self.taken_back(said, utterance));
                extraction.facts.extend(self.repaired(said, utterance));
            }
        }
        extraction
    }
}

/// Whether an event keeps a note.
fn is_note(said: &NewEvent) -> bool {
    matches!(said.kind, EventKind::Decision(Decision::Remember(_)))
}

/// Returns the reason why an event gives no claims.
pub(crate) fn not_eligible(event: &Event, said: &NewEvent) -> Option<&'static str> {
    if !matches!(said.kind, EventKind::UserMessage) {
        return Some("not said by a person");
    }
    not_fit(event, said, Level::User)
}

/// Returns the reason why a text is not read for claims: its level is too low, or it is no prose.
fn not_fit(event: &Event, said: &NewEvent, least: Level) -> Option<&'static str> {
    let words = || said.content.split_whitespace().take(MOST_WORDS + 1);
    // A word has a byte and one beside it.
    let may_have_many = said.content.len() > 2 * MOST_WORDS;
    if event.level < least {
        Some("not of the user's level")
    } else if event.quarantined.is_some() {
        Some("quarantined")
    } else if said.content.len() > MOST_BYTES || may_have_many && words().count() > MOST_WORDS {
        Some("too long")
    } else if said.content.trim().is_empty() {
        Some("empty")
    } else if is_copied(&said.content) {
        Some("mostly code, log or quotation")
    } else if is_degenerate(&said.content) {
        Some("repeats itself")
    } else {
        None
    }
}

/// Returns the language of the speaker's own words; if there are few, as "Im Vertrag:" before a quotation, that of the whole
/// text.
fn language_of(own: &str, all: &str) -> &'static str {
    let is_short = own.split_whitespace().take(LEAST_TELLING).count() < LEAST_TELLING;
    language(if is_short { all } else { own })
}

/// Returns whether few of the words are new.
fn is_degenerate(text: &str) -> bool {
    let all = text.split_whitespace().count();
    let mut distinct: HashSet<&str> = HashSet::new();
    let mut is_new = |word| distinct.insert(word) && distinct.len() * MOST_REPEATED >= all;
    all >= LEAST_REPEATING && !text.split_whitespace().any(&mut is_new)
}

/// Lines of code, logs, tables and quoted mail make up too much of the text.
fn is_copied(text: &str) -> bool {
    let mut is_inside = false;
    let mut foreign_bytes = 0;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_inside ^= is_fence;
        if is_inside || is_fence || looks_copied(line) {
            foreign_bytes += line.len() + 1;
        }
    }
    foreign_bytes * 100 > text.len() * MOST_COPIED
}

/// A line of code, a log, a table, a difference or a quotation.
fn looks_copied(line: &str) -> bool {
    let line = line.trim();
    let signs = line.bytes().filter(|byte| is_sign_of_code(*byte)).count();
    line.starts_with('>')
        || line.starts_with("$ ")
        || line.starts_with("+++")
        || line.starts_with("@@")
        || line.starts_with('|') && line.ends_with('|')
        || line.ends_with([';', '{', '}'])
        || line.len() >= LEAST_LINE && signs * BYTES_A_SIGN > line.len()
        || line
            .get(..4)
            .is_some_and(|year| year.starts_with("20") && year.bytes().all(|b| b.is_ascii_digit()))
            && line.get(4..5) == Some("-")
}

fn is_sign_of_code(byte: u8) -> bool {
    matches!(
        byte,
        b'{' | b'}'
            | b'['
            | b']'
            | b'('
            | b')'
            | b';'
            | b'='
            | b'<'
            | b'>'
            | b'|'
            | b'\\'
            | b'/'
            | b'_'
            | b'$'
            | b'#'
            | b'*'
            | b'+'
    )
}

/// A sentence in a fence, or one that looks like code.
pub(crate) fn is_code(text: &str, range: &Range<usize>) -> bool {
    is_fenced(text, range) || looks_like_code(text.get(range.clone()).unwrap_or_default())
}

/// Fence markers of code.
const FENCE: &str = "```";

/// A sentence in a fence, or with one.
fn is_fenced(text: &str, range: &Range<usize>) -> bool {
    let fences = text.get(..range.start).map_or(0, |before| before.matches(FENCE).count());
    fences % 2 == 1 || text.get(range.clone()).is_some_and(|sentence| sentence.contains(FENCE))
}

fn looks_like_code(sentence: &str) -> bool {
    sentence.lines().all(looks_copied)
}

pub(crate) fn overlaps(range: &Range<usize>, span: Span) -> bool {
    range.start < span.end as usize && (span.start as usize) < range.end
}

/// The times that the speaker's own words name: in plans the next, else the latest; both are kept where they differ.
fn times(said: &NewEvent, own: &str, rules: Option<&DateRules>) -> Vec<TimeSpan> {
    let Some(rules) = rules else { return Vec::new() };
    let anchor = Anchor { at: said.occurred_at, zone: &said.zone };
    let now = WorldTime::from_seconds(said.occurred_at.as_micros() / 1_000_000);
    let [found, ahead] = rules.read_with(own, &anchor, [TimeBias::Past, TimeBias::Future]);
    let span = |dated: &TimeExpression| {
        let span = dated.span();
        span.start as usize..span.end as usize
    };
    let next = |of: &TimeExpression| {
        ahead.iter().find(|dated| dated.span() == of.span()).and_then(TimeExpression::when)
    };
    let past = |dated: &TimeExpression| {
        let (past, future) = (dated.when()?, next(dated));
        let may_be_ahead = past.start.is_none() || begins_from(own, &span(dated));
        Some(future.filter(|future| may_be_ahead && is_nearer(future, &past, now)).unwrap_or(past))
    };
    found
        .iter()
        .map(|dated| TimeSpan {
            span: span(dated),
            past: past(dated),
            future: next(dated),
            is_length: matches!(dated, TimeExpression::Length { .. }),
            is_ahead: next(dated).and_then(|when| when.start).is_some_and(|start| start > now),
        })
        .collect()
}

/// Words before a day from which on something holds, be it past or to come. Source: own choice; "since" is of the past alone.
const FROM: [&str; 9] =
    ["from", "as of", "effective", "ab", "ab dem", "à partir du", "à compter du", "dès le", "a partir de"];

/// Says whether such a word stands at the start of a time, or right before it.
fn begins_from(text: &str, time: &Range<usize>) -> bool {
    let lower = |part: Option<&str>| part.unwrap_or_default().trim().to_lowercase();
    let (before, words) = (lower(text.get(..time.start)), lower(text.get(time.clone())));
    let is_apart = |rest: Option<&str>, end: fn(&str) -> Option<char>| {
        rest.is_some_and(|rest| end(rest).is_none_or(|sign| !sign.is_alphabetic()))
    };
    FROM.iter().any(|from| {
        is_apart(before.strip_suffix(from), |rest| rest.chars().next_back())
            || is_apart(words.strip_prefix(from), |rest| rest.chars().next())
    })
}

/// Says whether the next time that words can mean is nearer to a moment than the last one: "until the end of March", said in
/// February.
fn is_nearer(future: &When, past: &When, now: WorldTime) -> bool {
    let away = |when: &When| Some(when.start.or(when.end)?.as_seconds().abs_diff(now.as_seconds()));
    away(future).zip(away(past)).is_some_and(|(future, past)| future < past)
}

#[cfg(test)]
mod tests;
