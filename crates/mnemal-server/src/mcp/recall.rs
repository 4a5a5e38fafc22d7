//! `memory_recall`: search over turns and notes.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use mnemal::context::{QuotedBlock, QuotedLine};
use mnemal::recall::{MatchReason, RecallMode};
use mnemal::{Decision, EventKind, Hit, LearningKind, Memory};
use mnemal_core::{
    Category, Event, EventFilter, Level, Operation, OperationKind, Role, Tag, Timestamp, Within,
};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::tool::{AnswerStyle, Tool};
use crate::mcp::{parse_time, store};

/// Maximum number of hits of a search. Source: own default; at the highest ceiling a hit has 80 tokens left.
const MOST: u32 = 100;
/// Candidates per wanted hit, when notes are filtered by fields of the note only. Source: own default; if fewer than one in
/// twenty matches, a more specific query is better.
const LOOK_AT: u32 = 20;
/// Maximum number of candidates. Source: own default, what a search of 100,000 events ranks in time.
const MOST_LOOKED_AT: u32 = 500;
/// Remark on hits without evidence.
const ONLY_NEAREST: &str = "These are only the nearest; they may have nothing to do with the query.";
/// Number of shown hits when none has evidence. Source: own default.
const NEAREST: usize = 3;

/// Answer without any match. Source: the message of `PicoBot`.
const NOTHING_MATCHES: &str = "No matching memories found.";

/// Runs the search.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    (manner, zone): (AnswerStyle, &TimeZone),
) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Recall, given).within(zone);
    let query = arguments.required("query", "say what to look for, in a few words.")?;
    let limit = arguments.count("limit", MOST)?.unwrap_or_else(|| default_limit(memory, MOST));
    let ceiling = arguments.ceiling("max_tokens")?;
    let detail = if arguments.flag("explain")? == Some(true) { Detail::Explained } else { Detail::Plain };
    let wanted = RecordSorts::read(&arguments)?;
    let filter = filter(&arguments, &wanted, memory.admin().engine().now())?;
    let mut tail = Remarks::new(arguments.notes);
    let engine = memory.admin().engine();

    let asked = looked_at(&wanted, limit);
    let here = parse_time::event_zone(None, engine.now(), zone);
    let search = || memory.recall(&query).filter(filter.clone()).limit(asked as usize).zone(here.clone());
    let taken = |mut hits: Vec<Hit>| {
        hits.retain(|hit| wanted.includes(hit));
        hits.truncate(limit as usize);
        hits
    };
    let found = search().await?;
    let mut hits = taken(found.value.hits);
    match (without_nearest(&mut hits), manner) {
        (Some(doubt), AnswerStyle::Own) => tail.say(doubt),
        // Without evidence for any hit, a part of a word may match: lexical search finds it.
        (Some(_), _) => {
            hits = taken(search().mode(RecallMode::Lexical).await?.value.hits);
            if without_nearest(&mut hits).is_some() {
                hits.clear();
            }
        }
        (None, _) => {}
    }
    let quote = memory.events().quote(&query, hits).budget(tail.room(engine, ceiling));
    let quoted = match manner {
        AnswerStyle::Own => quote,
        AnswerStyle::Filed => quote.filed(),
        AnswerStyle::Knowledge => quote.filed().unfiled("knowledge"),
    };
    let quoted = quoted.await?;

    let (structured, dropped) = structured(&quoted, detail, |text| engine.count_tokens(text).0 <= ceiling);
    let more = quoted.left_out.max(dropped);
    if more > 0 {
        tail.say(format!("{more} more; narrow the query or raise max_tokens."));
    }
    let gaps: Vec<_> = found.gaps.into_iter().chain(quoted.gaps).collect();
    tail.gaps(&gaps);
    let head = match (quoted.value.lines.is_empty(), more) {
        (false, _) if manner == AnswerStyle::Knowledge => {
            let count = quoted.value.lines.len();
            &format!(
                "Found {count} {}:\n{}",
                if count == 1 { "memory" } else { "memories" },
                quoted.value.text
            )
        }
        (false, _) => quoted.value.text.as_str(),
        (true, 0) if manner == AnswerStyle::Own => "Nothing found. Try other words or fewer filters.",
        (true, 0) => NOTHING_MATCHES,
        (true, _) => "Nothing fits.",
    };
    Ok(ToolAnswer { text: tail.behind(head, engine, ceiling), structured })
}

/// Drops hits without evidence (no word of the query, no part of one, and no vector similarity) if others have evidence; if none
/// has, keeps the nearest few and returns the remark on them.
fn without_nearest(hits: &mut Vec<Hit>) -> Option<&'static str> {
    let speaks = |hit: &Hit| hit.evidence > 0.0 || hit.found_by == MatchReason::Substring;
    if hits.iter().any(speaks) {
        hits.retain(speaks);
        return None;
    }
    hits.truncate(NEAREST);
    (!hits.is_empty()).then_some(ONLY_NEAREST)
}

/// Level of detail for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Basic fields.
    Plain,
    /// With the parts of the score.
    Explained,
}

/// Returns the number of hits of a search that names none: `recall.limit` of the settings, at most `most`.
pub(crate) fn default_limit(memory: &Memory, most: u32) -> u32 {
    let limit = memory.admin().engine().settings().recall.limit;
    u32::try_from(limit).unwrap_or(most).min(most)
}

/// Returns the number of candidates needed for `limit` hits of the wanted sorts.
pub(crate) fn looked_at(wanted: &RecordSorts, limit: u32) -> u32 {
    if wanted.is_narrow() { (limit * LOOK_AT).min(MOST_LOOKED_AT) } else { limit }
}

/// The wanted sorts of records.
#[derive(Debug, Default)]
pub(crate) struct RecordSorts {
    /// Turns of conversations and documents.
    events: bool,
    /// Notes of these kinds, or of any for `None`.
    notes: Vec<Option<LearningKind>>,
    /// Notes in one of these categories.
    within: Vec<Category>,
    /// Notes with all of these words.
    tags: Vec<Tag>,
}

impl RecordSorts {
    fn read(arguments: &Arguments) -> Result<Self, CorrectableError> {
        Self::new(arguments.list("kinds")?, arguments.text("category")?.as_deref(), arguments.list("tags")?)
    }

    /// Parses the sorts by name.
    pub(crate) fn new(
        mut kinds: Vec<String>,
        category: Option<&str>,
        tags: Vec<String>,
    ) -> Result<Self, CorrectableError> {
        let mut wanted = Self::default();
        match category.map(str::trim) {
            // Names of kinds that another memory server uses as categories.
            Some(name @ ("knowledge" | "timeline")) => kinds.push(name.to_owned()),
            Some(name) => {
                wanted
                    .within
                    .push(Category::new(name).map_err(|error| CorrectableError::about("category", &error))?);
            }
            None => {}
        }
        for kind in kinds {
            wanted.add(&kind)?;
        }
        for tag in tags {
            wanted.tags.push(Tag::new(tag).map_err(|error| CorrectableError::about("tags", &error))?);
        }
        Ok(wanted)
    }

    fn add(&mut self, kind: &str) -> Result<(), CorrectableError> {
        match kind {
            "event" => self.events = true,
            "memory" => self.notes.push(None),
            "timeline" => self.within.push(store::category_of("timeline")?),
            "anti_pattern" => self.within.push(store::category_of("anti-patterns")?),
            other => match LearningKind::from_name(other) {
                Some(kind) => self.notes.push(Some(kind)),
                None => {
                    return Err(CorrectableError::new(
                        "kinds must be among event, memory, knowledge, preference, timeline and anti_pattern.",
                    ));
                }
            },
        }
        Ok(())
    }

    /// Whether only notes can match.
    fn only_notes(&self) -> bool {
        !self.events && (self.is_narrow() || !self.notes.is_empty())
    }

    fn only_events(&self) -> bool {
        self.events && self.notes.is_empty() && !self.is_narrow()
    }

    /// Whether a criterion needs the note itself.
    fn is_narrow(&self) -> bool {
        !self.within.is_empty() || !self.tags.is_empty() || self.notes.iter().any(Option::is_some)
    }

    /// Returns the filter of the criteria that need no note.
    pub(crate) fn filter(&self) -> EventFilter {
        let roles = if self.only_notes() {
            Within::Only(vec![Role::Decision])
        } else if self.only_events() {
            Within::Only(Role::ALL.into_iter().filter(|role| *role != Role::Decision).collect())
        } else {
            Within::All
        };
        EventFilter { roles, ..EventFilter::live() }
    }

    /// Whether a hit is of a wanted sort.
    pub(crate) fn includes(&self, hit: &Hit) -> bool {
        self.takes_event(&hit.event)
    }

    /// Whether an event is of a wanted sort.
    pub(crate) fn takes_event(&self, event: &Event) -> bool {
        let Some(note) = NoteFiling::of(event) else {
            return self.events || !self.only_notes();
        };
        let any_kind = self.notes.is_empty() && (!self.events || self.is_narrow());
        let of_kind =
            any_kind || self.notes.iter().any(|wanted| wanted.is_none_or(|wanted| note.is_of(wanted)));
        let within =
            self.within.is_empty() || self.within.iter().any(|parent| note.category.is_within(parent));
        of_kind && within && self.tags.iter().all(|tag| note.tags.contains(tag))
    }
}

/// Category of timeline entries.
const TIMELINE: &str = "timeline";

/// The filing of an event's note, whoever its author is.
struct NoteFiling<'e> {
    kind: LearningKind,
    category: Cow<'e, Category>,
    tags: &'e [Tag],
}

impl<'e> NoteFiling<'e> {
    fn of(event: &'e Event) -> Option<Self> {
        match &event.body()?.kind {
            EventKind::Decision(Decision::Remember(note)) => Some(Self {
                kind: standing_kind(event, note.kind),
                category: Cow::Borrowed(&note.category),
                tags: &note.tags,
            }),
            EventKind::Operation(Operation { kind: OperationKind::Compress { .. }, .. }) => Some(Self {
                kind: LearningKind::Note,
                category: Cow::Owned(Category::new(TIMELINE).ok()?),
                tags: &[],
            }),
            EventKind::Operation(operation) => {
                let kind = match &operation.kind {
                    OperationKind::Infer { kind, .. } => *kind,
                    _ => LearningKind::Note,
                };
                let classification = operation.kind.classification()?;
                Some(Self {
                    kind,
                    category: Cow::Borrowed(&classification.category),
                    tags: &classification.tags,
                })
            }
            _ => None,
        }
    }

    /// Whether the note is of a kind. A timeline entry is not `knowledge`.
    fn is_of(&self, kind: LearningKind) -> bool {
        let is_timeline = || self.category.as_str().split('/').next() == Some(TIMELINE);
        self.kind == kind && (kind != LearningKind::Note || !is_timeline())
    }
}

/// Returns the kind of a note: only the user's own words make a preference.
fn standing_kind(event: &Event, said: LearningKind) -> LearningKind {
    if event.level == Level::User { said } else { LearningKind::Note }
}

fn filter(
    arguments: &Arguments,
    wanted: &RecordSorts,
    now: Timestamp,
) -> Result<EventFilter, CorrectableError> {
    let (since, until) = (arguments.time("since", now)?, arguments.time("until", now)?);
    if since.zip(until).is_some_and(|(since, until)| since >= until) {
        return Err(CorrectableError::new("since must be before until."));
    }
    Ok(EventFilter { since, until, ..wanted.filter() })
}

/// Returns the shown hits for programs, and the number of hits dropped to fit.
fn structured(quoted: &QuotedBlock, detail: Detail, fits: impl Fn(&str) -> bool) -> (Value, u32) {
    let mut hits: Vec<Value> = quoted.lines.iter().map(|line| form(line, detail)).collect();
    let mut dropped = 0;
    loop {
        let answer = json!({
            "recall_id": quoted.id.to_string(),
            "hits": hits,
            "truncated": quoted.left_out > 0 || dropped > 0,
        });
        if hits.is_empty() || fits(&answer.to_string()) {
            return (answer, dropped);
        }
        hits.pop();
        dropped += 1;
    }
}

fn form(line: &QuotedLine, detail: Detail) -> Value {
    let event = &line.hit.event;
    let kept = event.body();
    let mut form = json!({
        "id": line.record.to_string(),
        "text": line.text,
        "date": kept.map(|kept| kept.occurred_at.civil(&kept.zone).day_text()).unwrap_or_default(),
        "origin": kept.map_or("engine", |kept| kept.origin.as_str()),
        "score": rounded(line.hit.score.get()),
    });
    let Some(fields) = form.as_object_mut() else { return form };
    if let Some(key) = line.note.as_ref().and_then(|note| note.key.as_ref()) {
        fields.insert("key".to_owned(), key.as_str().into());
    }
    if detail == Detail::Explained {
        let parts = line.hit.parts.iter().filter(|part| part.value != 0.0);
        let parts: Map<String, Value> =
            parts.map(|part| (part.name.to_owned(), rounded(part.value).into())).collect();
        fields.insert("explain".to_owned(), parts.into());
    }
    form
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1_000.0).round() / 1_000.0
}
