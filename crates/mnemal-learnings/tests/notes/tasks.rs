//! Tasks and the agent's state: notes of two categories, and the host's observations.

use mnemal_core::{
    AsOf, Category, ContextRequest, ContextSource as _, Decision, EventId, EventKind, Fragment, Level,
    Operation, OperationKind, Origin, Producer, PromptHash, Section, Timestamp, Trust, Within,
};
use mnemal_learnings::NotesSource;

use crate::log::{Space, at, now, remember};
use crate::offering::request;

impl Space {
    /// Appends a task observation of the host.
    pub(crate) fn observe(&mut self, (id, kind): (&str, &str), text: &str, origin: Origin) -> EventId {
        self.append_with(EventKind::Observation, text, origin, |entry| {
            entry.event.metadata.extend(
                [("task_id", id), ("kind", kind)].map(|(name, value)| (name.to_owned(), value.to_owned())),
            );
        })
    }

    fn file(&mut self, key: &str, category: &str, text: &str, origin: Origin) -> EventId {
        let mut note = remember(key);
        note.category = Category::new(category).unwrap();
        self.append(EventKind::Decision(Decision::Remember(note)), text, origin)
    }
}

fn asked(space: &Space, change: impl FnOnce(&mut ContextRequest)) -> Vec<Fragment> {
    let mut request = request(Within::All, Timestamp::MAX);
    request.query = Some("What now?".to_owned());
    change(&mut request);
    let mut offered = now(NotesSource::new(space.store.clone()).fragments(&request)).unwrap().value;
    offered.retain(|one| one.section == Section::State);
    offered
}

fn lines(space: &Space) -> Vec<String> {
    asked(space, |_| {}).into_iter().map(|one| one.text).collect()
}

// proves: BA-09
#[test]
fn an_observed_task_is_offered_until_it_is_over() {
    let mut space = Space::new();
    let observed = Origin::ToolExternal;
    let report = space.observe(("T1", "task_created"), "send the report", observed);
    space.observe(("T2", "task_created"), "book the room", observed);
    space.observe(("T3", "task_created"), "ask Priya for the key", observed);
    space.observe(("T1", "tool_error"), "the mail server did not answer", observed);
    space.append(EventKind::Observation, "a file changed", observed);
    space.catch_up(2);
    assert_eq!(
        lines(&space),
        ["task T3: ask Priya for the key", "task T2: book the room", "task T1: send the report"]
    );
    assert_eq!(asked(&space, |_| {})[2].sources[0].event, report);
    space.observe(("T2", "task_failed"), "the hotel is full", observed);
    space.observe(("T1", "task_completed"), "sent", observed);
    space.catch_up(2);
    assert_eq!(lines(&space), ["task T3: ask Priya for the key"]);
    assert_eq!(space.history("tasks/T1"), [("send the report".to_owned(), 1, "archived")]);
    space.observe(("T1", "task_created"), "send the report again", observed);
    space.catch_up(2);
    assert_eq!(lines(&space)[0], "task T1: send the report again");
    let before = asked(&space, |request| request.as_of = AsOf::at(at(3)));
    assert_eq!(before.len(), 3, "as of the past those stand there that were open then");
}

#[test]
fn what_ends_a_task_has_no_less_standing_than_what_began_it() {
    let mut space = Space::new();
    space.file("tasks/T1", "tasks", "pay the invoice", Origin::UserDirect);
    space.observe(("T1", "task_completed"), "paid", Origin::ToolExternal);
    space.catch_up(10);
    assert_eq!(lines(&space), ["task T1: pay the invoice"]);
    space.archive("tasks/T1", Origin::UserDirect);
    space.catch_up(10);
    assert!(lines(&space).is_empty());
}

#[test]
fn a_task_without_a_name_or_a_text_is_none() {
    let mut space = Space::new();
    space.observe((" ", "task_created"), "nothing", Origin::ToolExternal);
    space.observe(("T1", "task_created"), " ", Origin::ToolExternal);
    space.catch_up(10);
    assert!(lines(&space).is_empty() && space.rows().is_empty());
}

#[test]
fn a_forgotten_end_opens_a_task_again_and_a_forgotten_beginning_takes_it_away() {
    let mut space = Space::new();
    let begun = space.observe(("T1", "task_created"), "send the report", Origin::ToolExternal);
    let over = space.observe(("T1", "task_completed"), "sent", Origin::ToolExternal);
    space.catch_up(10);
    space.forget(&[over]);
    space.catch_up(10);
    assert_eq!(lines(&space), ["task T1: send the report"]);
    space.forget(&[begun]);
    space.catch_up(10);
    assert!(space.rows().is_empty());
}

// proves: BA-36 (open tasks)
#[test]
fn the_ten_newest_open_tasks_are_offered_below_the_state() {
    let mut space = Space::new();
    space.file("agent-state/mood", "agent-state", "curious", Origin::Assistant);
    for number in 0..12 {
        space.observe(
            (&format!("T{number}"), "task_created"),
            &format!("step {number}"),
            Origin::ToolExternal,
        );
    }
    space.catch_up(100);
    let told = lines(&space);
    assert_eq!((told.len(), told[0].as_str()), (11, "mood: curious"));
    assert_eq!((told[1].as_str(), told[10].as_str()), ("task T11: step 11", "task T2: step 2"));
}

// proves: BA-08
#[test]
fn the_state_of_the_agent_has_versions_and_stands_with_its_names() {
    let mut space = Space::new();
    space.file("agent-state/mood", "agent-state", "calm", Origin::Assistant);
    space.file("focus", "agent-state", "the release", Origin::UserDirect);
    space.file("", "agent-state/topics", "billing, Buildkite", Origin::Assistant);
    space.file("", "agent-state", "waits for an answer", Origin::Assistant);
    space.file("agent-state/rumour", "agent-state", "of a web page", Origin::ToolExternal);
    let mood = space.file("agent-state/mood", "agent-state", "curious", Origin::Assistant);
    space.catch_up(100);
    let now = ["mood: curious", "waits for an answer", "topics: billing, Buildkite", "focus: the release"];
    assert_eq!(lines(&space), now);
    assert_eq!(asked(&space, |_| {})[0].sources[0].event, mood);
    assert_eq!(asked(&space, |request| request.query = None).len(), 4);
    assert_eq!(asked(&space, |request| request.as_of = AsOf::at(at(1)))[0].text, "mood: calm");
    let versions = [("curious".to_owned(), 2, "active"), ("calm".to_owned(), 1, "superseded")];
    assert_eq!(space.history("agent-state/mood"), versions);
    assert!(asked(&space, |request| request.lines = Some(6)).is_empty(), "a host of few lines has no room");
}

// proves: BA-32 (the result is inferred, about the agent's own work, and stands apart)
#[test]
fn what_was_learnt_of_the_agents_own_work_is_offered_where_a_conversation_begins() {
    let mut space = Space::new();
    let observed = Origin::ToolExternal;
    for (number, score) in [(1, 4), (2, 9), (3, 7), (4, 8)] {
        let id = format!("T{number}");
        let turns = vec![
            space.observe((&id, "task_created"), "send the report", observed),
            space.observe((&id, "tool_error"), "the mail server did not answer", observed),
            space.observe((&id, "task_completed"), "sent", observed),
        ];
        let operation = Operation {
            kind: OperationKind::Assess { turns: turns.clone(), score },
            producer: Producer { id: "model/appraise by small".to_owned(), version: 1 },
            prompt: Some(PromptHash([9; 32])),
            shown: turns,
            because: "a task is over".to_owned(),
        };
        let origin = if number == 2 { Origin::Engine } else { Origin::Echo };
        space.append(EventKind::Operation(operation), &format!("Look at server {number} first."), origin);
    }
    space.catch_up(100);
    let learnt = |change: fn(&mut ContextRequest)| {
        let mut request = request(Within::All, Timestamp::MAX);
        request.query = None;
        change(&mut request);
        let mut offered = now(NotesSource::new(space.store.clone()).fragments(&request)).unwrap().value;
        offered.retain(|one| one.section == Section::State && one.text.starts_with("own"));
        offered
    };
    let told = learnt(|_| {});
    let lines: Vec<&str> = told.iter().map(|one| one.text.as_str()).collect();
    let line = |score: u8, number: u8| {
        format!("own judgement of a task, {score} of 10: Look at server {number} first.")
    };
    assert_eq!(lines, [line(9, 2), line(8, 4), line(7, 3)], "the three that went best");
    let standing: Vec<(Trust, Level)> = told.iter().map(|one| (one.trust, one.label.level)).collect();
    assert_eq!(standing[..2], [(Trust::Inferred, Level::Agent), (Trust::Inferred, Level::External)]);
    assert!(learnt(|request| request.query = Some("What now?".to_owned())).is_empty());
    assert!(learnt(|request| request.lines = Some(6)).is_empty());
}
