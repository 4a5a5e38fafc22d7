//! Preference extraction from one message: one row each, without a status yet.

mod cache;
mod endings;
mod parts;
mod pattern;
mod topic_key;
mod validity;

use mnemal_core::{
    Basis, Category, Confidence, Consent, Event, EventKind, Importance, Learning, LearningId, LearningKind,
    LearningStatus, Level, NewEvent, Producer, Result, Role, RuleId, Signal, Source, Span, Stance, Tag,
    derived_id,
};
use mnemal_extract::{
    Aspect, Feedback, FeedbackAct, Irritation, Note, OwnWords, Polarity, Turn, endings, feedback,
    preference_notes,
};
use mnemal_text::sentences;

pub(crate) use self::cache::FeedbackCache;
use self::pattern::pattern;
pub(crate) use self::pattern::{orders, stored_pattern};
use self::topic_key::MessageTopic;
pub(crate) use self::topic_key::{LEARNED, TASTE, is_own};
pub use self::validity::THIS_CONVERSATION;
pub(crate) use self::validity::is_of_conversation;

/// Producer of learnings from messages, for rows and ids.
const PRODUCER: &str = "learnings/told";
/// Incremented with every change of the extraction from the same messages.
const VERSION: u32 = 14;
/// Log positions before a message that are searched for the message it answers.
///
/// Source: own default; a turn with many tool calls is shorter, and a forget affects no more messages than these.
pub(crate) const BEFORE: usize = 64;
/// Longest part of a message that is read, in bytes. Source: own default; longer text is pasted.
const LONGEST: usize = 16 * 1024;
/// Longest text of a learning, in bytes. Source: own default; a longer sentence is no rule.
const LONGEST_TEXT: usize = 500;
/// Weight of an explicit statement, enough by itself. Source: RB-62, an explicit preference is enough.
const TOLD: f32 = 3.0;

/// Returns the producer of learnings from messages.
pub(crate) fn producer() -> Producer {
    Producer { id: PRODUCER.to_owned(), version: VERSION }
}

/// Whether an event is read: the user's own words.
pub(crate) fn is_read(event: &Event) -> bool {
    let is_message = event.body().is_some_and(|kept| matches!(kept.kind, EventKind::UserMessage));
    is_message && event.level == Level::User && event.quarantined.is_none()
}

/// Extracts from a message; `before` are the preceding events of the log, oldest first, of any session. Cached feedback of
/// these is not extracted again.
///
/// # Errors
/// `Invalid`, which the generated names never cause.
/// `Invalid` never for names that are made here.
pub(crate) fn read(event: &Event, before: &[&Event], cache: &mut FeedbackCache) -> Result<Vec<Learning>> {
    let Some(kept) = event.body().filter(|_| is_read(event)) else { return Ok(Vec::new()) };
    let words = OwnWords::of_event(kept);
    let words = words.shortened(LONGEST);
    let mut found = Vec::new();
    let scene: Vec<&Event> = before.iter().copied().filter(|other| is_of(other, kept)).collect();
    let mut endings = endings(&words);
    endings.retain(endings::reaches_learnings);
    let said = join_alternatives(about_work(event, &words, &scene, cache), &words);
    let is_over = |said: &&Feedback| !said.is_slot_change() && endings::leaves_no_wish(&endings, said.span);
    for said in said.iter().filter(|said| !is_over(said)) {
        let Some(row) = of_feedback(event, (kept, &words), said)? else { continue };
        // One sentence that is both a directive and a correction counts once, as an explicit directive.
        match found.iter_mut().find(|other| says_the_same(other, &row)) {
            Some(other) if other.basis < row.basis => *other = row,
            Some(_) => {}
            None => found.push(row),
        }
    }
    found = parts::by_part(event, (kept, &words), found, &endings)?;
    for note in &preference_notes(&words) {
        let says_it = |row: &Learning| row.sources.iter().any(|source| meets(source.span, note.span));
        if found.iter().any(|row| says_it(row) && row.basis == Basis::Stated) {
            continue;
        }
        if endings::leaves_no_note(&endings, note.span, note.kind) {
            continue;
        }
        // An explicit self-statement needs no second occasion, whatever else the sentence hints at.
        found.retain(|row| !says_it(row));
        found.extend(of_note(event, kept, note)?);
    }
    let found: Result<Vec<Option<Learning>>> =
        found.into_iter().map(|row| validity::set_validity(row, kept, &words)).collect();
    let mut found: Vec<Learning> = found?.into_iter().flatten().collect();
    let taken_back = [endings::of_repair(kept, &scene)?, endings::of_jest(kept, &scene)?];
    for ending in endings.iter().chain(taken_back.iter().flatten()) {
        found.extend(endings::of_ending(event, kept, ending, &scene)?);
    }
    for (place, row) in (0..).zip(&mut found) {
        row.id = LearningId(derived_id("learning", &row.producer, &[event.id], place));
    }
    Ok(found)
}

/// Returns the feedback of a message; a prohibition and the next sentence with its alternative are joined: "Don't deploy on
/// Fridays. Deploy on Mondays instead."
fn join_alternatives(said: Vec<Feedback>, words: &OwnWords<'_>) -> Vec<Feedback> {
    if said.len() < 2 {
        return said;
    }
    let all = sentences(words.as_str());
    let place = |span: Span| all.iter().position(|one| one.range().contains(&(span.start as usize)));
    let mut joined: Vec<Feedback> = Vec::new();
    let mut taken_in = None;
    for next in said {
        // A sentence that became part of another one yields nothing by itself.
        if taken_in.is_some() && taken_in == place(next.span) {
            continue;
        }
        let is_order = |one: &Feedback| one.act.is_correction() || one.act == FeedbackAct::Directive;
        let goes_on = |before: &Feedback| {
            is_order(before)
                && before.avoid.is_some()
                && before.alternative.is_none()
                && next.avoid.is_none()
                && next.alternative.is_some()
                && place(before.span).zip(place(next.span)).is_some_and(|(at, behind)| at + 1 == behind)
        };
        match joined.last_mut().filter(|before| goes_on(before)) {
            Some(before) => {
                taken_in = place(next.span);
                before.alternative.clone_from(&next.alternative);
                before.reason = before.reason.take().or(next.reason);
                before.is_explicit |= next.is_explicit;
                before.span.end = next.span.end;
            }
            None => joined.push(next),
        }
    }
    joined
}

/// Whether two rows are the same anti-pattern of one sentence.
fn says_the_same(one: &Learning, other: &Learning) -> bool {
    let is_pattern = |row: &Learning| row.kind == LearningKind::AntiPattern;
    is_pattern(one) && is_pattern(other) && one.key == other.key && one.sources == other.sources
}

/// Returns the feedback of a message in the context of its session.
fn about_work(
    event: &Event,
    words: &OwnWords<'_>,
    scene: &[&Event],
    cache: &mut FeedbackCache,
) -> Vec<Feedback> {
    let assistant = answered_message(scene);
    let said = cache.of(event, assistant, |text| feedback(turn(words, text)));
    if said.is_empty() {
        return said;
    }
    let mut earlier = Vec::new();
    for (place, event) in scene.iter().enumerate().filter(|(_, event)| is_read(event)) {
        let Some(kept) = event.body() else { continue };
        let assistant = scene.get(..place).and_then(answered_message);
        earlier.extend(
            cache.of(event, assistant, |text| {
                feedback(turn(&OwnWords::of_event(kept).shortened(LONGEST), text))
            }),
        );
    }
    if said.iter().any(|one| one.is_repeat_of(&earlier)) {
        return feedback(Turn { earlier: &earlier, ..turn(words, assistant.and_then(text)) });
    }
    said
}

fn turn<'a>(user: &'a OwnWords<'a>, assistant: Option<&'a str>) -> Turn<'a> {
    Turn { user, assistant, earlier: &[] }
}

/// Returns the assistant's last message, unless the user spoke since.
fn answered_message<'a>(scene: &[&'a Event]) -> Option<&'a Event> {
    let turn = scene.iter().rev().find(|event| matches!(event.role, Role::User | Role::Assistant))?;
    (turn.role == Role::Assistant && turn.body().is_some()).then_some(*turn)
}

/// Returns the text of a message, up to the read limit.
fn text(event: &Event) -> Option<&str> {
    event.body().map(|kept| truncate(&kept.content))
}

fn is_of(event: &Event, kept: &NewEvent) -> bool {
    event.quarantined.is_none() && event.body().is_some_and(|other| other.session == kept.session)
}

fn of_feedback(
    event: &Event,
    (kept, words): (&NewEvent, &OwnWords<'_>),
    said: &Feedback,
) -> Result<Option<Learning>> {
    let pattern = pattern(said);
    let Some((about, sentence)) = MessageTopic::of_feedback(words, said, pattern.as_ref()) else {
        return Ok(None);
    };
    let is_open = pattern.as_ref().is_some_and(|pattern| pattern.instead.is_none());
    let is_told = said.is_explicit && !is_open;
    let names_work = said.target != topic_key::WHOLE_ANSWER || pattern.is_some();
    let weight = match said.irritation {
        _ if is_told => TOLD,
        // It is evidence of no wish, only of another value.
        _ if said.is_slot_change() => 0.0,
        // Anger without a target is no rule.
        Irritation::Very if !names_work => Irritation::Mild.weight(),
        level => level.weight(),
    };
    let Some(mut row) = row(event, kept, sentence, &about)? else { return Ok(None) };
    let is_pattern = pattern.is_some();
    if let Some(source) = row.sources.first_mut().filter(|source| source.span.end < said.span.end) {
        // Its second sentence states the alternative.
        source.span.end = said.span.end;
    }
    if let Some(pattern) = pattern {
        row.kind = LearningKind::AntiPattern;
        row.category = Category::new(format!("anti-patterns/{}", topic_key::segment(&said.target)))?;
        row.tags.push(Tag::new("anti-pattern")?);
        row.content = pattern.to_string();
        row.pattern = Some(pattern);
    }
    if !is_told {
        row.basis = Basis::Inferred;
        row.tags.push(Tag::new("inferred")?);
        if !is_pattern {
            row.category = Category::new("user-preferences/inferred")?;
        }
    }
    if said.requires_user_permission {
        row.consent = Consent::Required;
    }
    if let Some(signal) = &mut row.signal {
        (signal.rule, signal.weight) = (said.rule.clone(), weight);
    }
    Ok(Some(row))
}

fn of_note(event: &Event, kept: &NewEvent, note: &Note) -> Result<Option<Learning>> {
    let Some(mut row) = row(event, kept, note.span, &MessageTopic::of_note(kept, note))? else {
        return Ok(None);
    };
    row.category = Category::new(format!("user-preferences/{}", note.kind.as_str()))?;
    row.tags.push(Tag::new(note.kind.as_str())?);
    row.topics.clone_from(&note.topics);
    if note.requires_user_permission && !mnemal_extract::only_states(&row.content) {
        row.consent = Consent::Required;
    }
    if let Some(signal) = &mut row.signal {
        signal.rule = note.rule.clone();
    }
    Ok(Some(row))
}

/// Returns an explicit preference of a sentence; `None` if the sentence is an echo of memory, or states none.
fn row(event: &Event, kept: &NewEvent, span: Span, about: &MessageTopic) -> Result<Option<Learning>> {
    let text = span.of(&kept.content).unwrap_or_default().trim();
    if text.is_empty() || text.len() > LONGEST_TEXT || event.echo.iter().any(|echo| meets(*echo, span)) {
        return Ok(None);
    }
    Ok(Some(Learning {
        id: LearningId(0),
        kind: LearningKind::Preference,
        key: Some(about.key(kept)?),
        version: 1,
        category: Category::new(format!("user-preferences/{}", topic_key::segment(&about.side)))?,
        tags: Vec::new(),
        importance: Importance::DEFAULT,
        content: text.to_owned(),
        pattern: None,
        basis: Basis::Stated,
        confidence: Confidence::new(1.0),
        consent: Consent::NotRequired,
        topics: about.words.clone(),
        tool: None,
        session: kept.session.clone(),
        speaker: kept.speaker.clone(),
        user: kept.user.clone(),
        agent: kept.agent.clone(),
        sources: vec![Source { event: event.id, span }],
        trust: event.trust,
        level: event.level,
        status: LearningStatus::Candidate,
        superseded_by: None,
        verdict: None,
        signal: Some(Signal {
            rule: RuleId::new(PRODUCER)?,
            stance: about.stance,
            weight: TOLD,
            supports: 1,
        }),
        tally: None,
        occurred_at: kept.occurred_at,
        expires_at: None,
        created_at: event.recorded_at,
        expired_at: Some(event.recorded_at),
        away: Vec::new(),
        producer: producer(),
    }))
}

fn meets(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

fn truncate(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
}

fn span_of(range: &std::ops::Range<usize>) -> Option<Span> {
    Some(Span { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? })
}

/// Returns the sentence in which a span begins.
fn sentence(text: &str, span: Span) -> Option<Span> {
    let at = span.start as usize;
    let found =
        sentences(text).into_iter().map(|sentence| sentence.range()).find(|range| range.contains(&at))?;
    span_of(&found)
}

/// Whether feedback states a lasting rule, and not only that one answer is right or wrong: it names work or an aspect of
/// it.
fn is_lasting(said: &Feedback) -> bool {
    let names_side = said.aspect != Aspect::Other;
    let names_work = said.target != topic_key::WHOLE_ANSWER;
    // "That's wrong, they come every Tuesday" names a time, but no schedule for work.
    let is_of_matter = said.aspect == Aspect::Timing && !names_work;
    match said.act {
        FeedbackAct::Directive | FeedbackAct::Preference => said.is_explicit || names_side || names_work,
        // Praise of a single-valued aspect supports the known preference; other praise has no target.
        FeedbackAct::Praise => topic_key::SINGLE.contains(&said.aspect),
        FeedbackAct::Reject | FeedbackAct::Repair => {
            (names_side && !is_of_matter) || (said.alternative.is_some() && names_work)
        }
        _ => false,
    }
}

fn stance(polarity: Polarity) -> Stance {
    match polarity {
        Polarity::Do => Stance::Do,
        Polarity::DoNot => Stance::Leave,
    }
}
