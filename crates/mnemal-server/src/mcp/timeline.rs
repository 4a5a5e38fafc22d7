//! `memory_timeline`: events around an event or a moment.

use std::num::NonZeroUsize;

use jiff::tz::TimeZone;
use mnemal::Memory;
use mnemal_core::{Cursor, Event, EventFilter, EventId, Role, SessionId, Timestamp, Within};
use serde_json::{Map, Value};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::bounded_list::{ListRow, render_rows};
use crate::mcp::note;
use crate::mcp::tool::Tool;

/// Default number of events on each side. Source: own default, which fits the default ceiling.
const AROUND: u32 = 5;
/// Maximum number of events on each side. Source: own default; at the highest ceiling an event has 80 tokens left.
const MOST: u32 = 50;
/// Number of turns for continuing a session. Source: RockBot, the last 20 turns.
const TURNS: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");
/// Events of one moment that are scanned for those before an event. Source: own default; no microsecond has more.
const OF_A_MOMENT: usize = 16;

/// Lists events in order: of the same session around an event, of all sessions around a moment.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    zone: &TimeZone,
) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Timeline, given).within(zone);
    let ceiling = arguments.ceiling("max_tokens")?;
    let before = side(&mut arguments, "before")?;
    let after = side(&mut arguments, "after")?;
    let id = arguments.text("id")?;
    let time = arguments.time("time", memory.admin().engine().now())?;
    let events = match (id, time) {
        (Some(id), None) => around_event(memory, id.trim(), before, after).await?,
        (None, Some(at)) => around_moment(memory, at, before, after).await?,
        _ => return Err(CorrectableError::new("Give either id (evt_… or mem_…) or time.")),
    };
    let mut tail = Remarks::new(arguments.notes);
    let rows: Vec<ListRow> = events.iter().map(note::of_event).collect();
    let answer = render_rows(memory, "events", &rows, ceiling, &tail);
    if answer.shown < rows.len() {
        tail.say(format!("{} more; ask for fewer events or raise max_tokens.", rows.len() - answer.shown));
    }
    let head = if rows.is_empty() { "Nothing was said around then." } else { answer.text.as_str() };
    Ok(ToolAnswer {
        text: tail.behind(head, memory.admin().engine(), ceiling),
        structured: answer.structured,
    })
}

/// Returns the last turns of a session; of the newest session by default.
pub(super) async fn of_session(
    memory: &Memory,
    session: Option<String>,
    ceiling: u32,
) -> Result<ToolAnswer, CorrectableError> {
    let session = if let Some(name) = session {
        SessionId::new(name).map_err(|error| CorrectableError::about("session", &error))?
    } else {
        let newest = memory.events().sessions(NonZeroUsize::MIN).await?;
        newest
            .into_iter()
            .next()
            .ok_or_else(|| CorrectableError::new("There is no earlier conversation."))?
            .session
    };
    let filter = EventFilter {
        session: Within::Only(session),
        roles: Within::Only(vec![Role::User, Role::Assistant]),
        ..EventFilter::live()
    };
    let last = memory.events().latest(&filter, TURNS).await?;
    let mut rows: Vec<ListRow> = last.iter().map(note::of_event).collect();
    let tail = Remarks::default();
    // The newest turns must fit.
    let answer = render_rows(memory, "events", &rows, ceiling, &tail);
    rows.truncate(answer.shown);
    rows.reverse();
    let answer = render_rows(memory, "events", &rows, ceiling, &tail);
    let head = if rows.is_empty() { "Nothing was said in it." } else { answer.text.as_str() };
    Ok(ToolAnswer {
        text: tail.behind(head, memory.admin().engine(), ceiling),
        structured: answer.structured,
    })
}

/// Returns the number of events on a side; zero is allowed.
fn side(arguments: &mut Arguments, name: &str) -> Result<usize, CorrectableError> {
    if arguments.number(name)? == Some(0.0) {
        return Ok(0);
    }
    Ok(arguments.count(name, MOST)?.unwrap_or(AROUND) as usize)
}

async fn around_event(
    memory: &Memory,
    id: &str,
    before: usize,
    after: usize,
) -> Result<Vec<Event>, CorrectableError> {
    let id = if let Ok(id) = id.parse::<EventId>() {
        id
    } else {
        let note = note::named(memory, id).await?;
        let source = note.sources.first().map(|source| source.event);
        source.ok_or_else(|| CorrectableError::new("It rests on no event."))?
    };
    let event = memory.events().get(id).await?;
    let Some(kept) = event.body() else { return Err(CorrectableError::new("It is erased.")) };
    let filter = EventFilter { session: Within::Only(kept.session.clone()), ..EventFilter::live() };
    let earlier = EventFilter { until: Some(kept.occurred_at.plus_micros(1)), ..filter.clone() };
    let mut events = Vec::new();
    if let Some(limit) = NonZeroUsize::new(before) {
        events = memory.events().latest(&earlier, limit.saturating_add(OF_A_MOMENT)).await?;
        events.retain(|one| one.seq < event.seq);
        events.truncate(before);
        events.reverse();
    }
    let behind = Cursor(Some(event.seq));
    events.push(event);
    if let Some(limit) = NonZeroUsize::new(after) {
        events.extend(memory.events().scan(&filter, behind, limit).await?);
    }
    Ok(events)
}

async fn around_moment(
    memory: &Memory,
    at: Timestamp,
    before: usize,
    after: usize,
) -> Result<Vec<Event>, CorrectableError> {
    let mut events = Vec::new();
    if let Some(limit) = NonZeroUsize::new(before) {
        let earlier = EventFilter { until: Some(at), ..EventFilter::live() };
        events = memory.events().latest(&earlier, limit).await?;
        events.reverse();
    }
    if let Some(limit) = NonZeroUsize::new(after) {
        let later = EventFilter { since: Some(at), ..EventFilter::live() };
        events.extend(memory.events().scan(&later, Cursor::START, limit).await?);
    }
    Ok(events)
}
