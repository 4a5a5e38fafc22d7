//! Cases of `EventStore`.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{
    AgentId, Body, Cardinality, Category, ChannelId, ClaimSpans, Classification, Cursor, Decision, EntityId,
    Error, ErrorKind, Event, EventFilter, EventId, EventKind, FactChoice, FactDecision, FactId, Forget,
    Importance, Judgment, LearningKind, LogEntry, NodePath, NoteKey, NoteTarget, Operation, OperationKind,
    Origin, Predicate, Producer, PromptHash, ReceiptId, RecordRef, Remember, Result, Role, Selector, Seq,
    SessionId, Source, Span, Speaker, Tag, Timestamp, ToolName, UserId, Value, Within, WorldTime, Zone,
};

use super::Storage;
use crate::record::{Records, tombstone};

/// More than any case appends.
const PLENTY: NonZeroUsize = NonZeroUsize::new(10_000).expect("10,000 is not zero");

async fn everything(storage: &Storage) -> Result<Vec<Event>> {
    storage.events.scan(&EventFilter::all(), Cursor::START, PLENTY).await
}

fn assert_refused<T: std::fmt::Debug>(answer: Result<T>, kind: ErrorKind) {
    assert_eq!(answer.map_err(|error| error.kind()).err(), Some(kind));
}

/// A log starts before its first event.
pub async fn an_empty_log_has_no_head(storage: &Storage) -> Result<()> {
    assert_eq!(storage.events.head().await?, Cursor::START);
    assert_eq!(everything(storage).await?, []);
    assert_eq!(storage.events.append(&[]).await?, []);
    Ok(())
}

/// What went in comes out, in the order of the log and in pages.
pub async fn scan_returns_what_was_appended_in_order(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entries = (0..7).map(|n| records.turn("s", &format!("turn {n}"))).collect::<Result<Vec<_>>>()?;
    storage.events.append(entries.get(..3).unwrap_or_default()).await?;
    storage.events.append(entries.get(3..).unwrap_or_default()).await?;
    let ids: Vec<EventId> = everything(storage).await?.iter().map(|event| event.id).collect();
    assert_eq!(ids, entries.iter().map(|entry| entry.id).collect::<Vec<_>>());
    let two = NonZeroUsize::MIN.saturating_add(1);
    let page = storage.events.scan(&EventFilter::all(), Cursor(Some(Seq(2))), two).await?;
    assert_eq!(page.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [3, 4]);
    Ok(())
}

/// Positions have no holes, and belief time orders like them even when clocks do not.
pub async fn seq_is_dense_and_recorded_at_strictly_increases(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    for n in 0..5 {
        let mut entry = records.turn("s", &format!("turn {n}"))?;
        entry.recorded_at = Timestamp::EPOCH.plus_micros(1_000_000 - n);
        storage.events.append(&[entry]).await?;
    }
    let events = everything(storage).await?;
    assert_eq!(events.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(events.is_sorted_by(|one, two| one.recorded_at < two.recorded_at));
    assert_eq!(storage.events.head().await?, Cursor(Some(Seq(5))));
    Ok(())
}

/// A repeated call has exactly one effect.
pub async fn a_known_key_with_the_same_body_has_one_effect(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let first = storage.events.append(&[records.keyed("s", "once", "key")?]).await?;
    let again = storage.other.append(&[records.keyed("s", "once", "key")?]).await?;
    let (first, again) = (first.first().copied(), again.first().copied());
    assert_eq!(first.map(|one| (one.id, one.seq)), again.map(|one| (one.id, one.seq)));
    assert_eq!((first.map(|one| one.fresh), again.map(|one| one.fresh)), (Some(true), Some(false)));
    assert_eq!(everything(storage).await?.len(), 1);
    Ok(())
}

/// A key names one call, and a different call cannot have it.
pub async fn a_known_key_with_another_body_is_a_conflict(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    storage.events.append(&[records.keyed("s", "once", "key")?]).await?;
    assert_refused(storage.events.append(&[records.keyed("s", "twice", "key")?]).await, ErrorKind::Conflict);
    assert_eq!(everything(storage).await?.len(), 1);
    Ok(())
}

/// The same call twice in one batch is one event.
pub async fn a_duplicate_inside_a_batch_returns_the_first(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let batch =
        [records.keyed("s", "once", "key")?, records.turn("s", "other")?, records.keyed("s", "once", "key")?];
    let answers = storage.events.append(&batch).await?;
    assert_eq!(answers.iter().map(|one| one.seq.0).collect::<Vec<_>>(), [1, 2, 1]);
    assert_eq!(answers.iter().map(|one| one.fresh).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(everything(storage).await?.len(), 2);
    Ok(())
}

/// One bad entry keeps the whole batch out.
pub async fn a_batch_is_stored_whole_or_not_at_all(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let known = records.turn("s", "known")?;
    storage.events.append(std::slice::from_ref(&known)).await?;
    assert_refused(storage.events.append(&[records.turn("s", "new")?, known]).await, ErrorKind::Conflict);
    assert_eq!(everything(storage).await?.len(), 1);
    let next = storage.events.append(&[records.turn("s", "next")?]).await?;
    assert_eq!(next.first().map(|one| one.seq), Some(Seq(2)));
    Ok(())
}

/// The declared limit holds.
pub async fn a_batch_above_the_limit_is_invalid(storage: &Storage) -> Result<()> {
    let limit = storage.events.capabilities().largest_batch;
    assert!(limit >= 1_000, "a store takes at least 1,000 entries at once");
    let mut records = Records::new(1);
    let batch = (0..=limit).map(|_| records.turn("s", "x")).collect::<Result<Vec<_>>>()?;
    assert_refused(storage.events.append(&batch).await, ErrorKind::Invalid);
    assert_eq!(storage.events.head().await?, Cursor::START);
    Ok(())
}

/// Reading by id is positional, and a missing id is not an internal error.
pub async fn get_keeps_the_order_asked_and_names_what_is_missing(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entries = [records.turn("s", "a")?, records.turn("s", "b")?];
    storage.events.append(&entries).await?;
    let ids: Vec<EventId> = entries.iter().rev().map(|entry| entry.id).collect();
    let events = storage.events.get(&ids).await?;
    assert_eq!(events.iter().map(|event| event.id).collect::<Vec<_>>(), ids);
    assert_refused(storage.events.get(&[EventId(42)]).await, ErrorKind::NotFound);
    assert_eq!(storage.events.get(&[]).await?, []);
    Ok(())
}

/// Reading from places gives what reading by id gives, whether or not the places are right.
pub async fn get_at_gives_what_get_gives_wherever_an_event_stands(storage: &Storage) -> Result<()> {
    let events = varied_events(storage).await?;
    let ids: Vec<EventId> = events.iter().rev().map(|event| event.id).collect();
    let by_id = storage.events.get(&ids).await?;
    for moved in [0, 1, 1_000] {
        let places = events.iter().rev().map(|event| (event.id, Seq(event.seq.0 + moved)));
        assert_eq!(storage.events.get_at(&places.collect::<Vec<_>>()).await?, by_id, "moved by {moved}");
    }
    let [first, second, ..] = events.as_slice() else { return Err(Error::not_found("two events")) };
    let twice = [(second.id, second.seq), (first.id, first.seq), (second.id, second.seq)];
    let expected = [second.clone(), first.clone(), second.clone()];
    assert_eq!(storage.events.get_at(&twice).await?, expected);
    assert_refused(storage.events.get_at(&[(EventId(42), first.seq)]).await, ErrorKind::NotFound);
    assert_eq!(storage.events.get_at(&[]).await?, []);
    Ok(())
}

/// Nothing of an event is lost or changed.
// proves: NB-02, BA-01
pub async fn every_field_comes_back(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let parent = records.turn("s", "parent")?;
    let mut entry = records.turn("s", "naïve ☕ \u{202e}text\u{fffd}")?;
    entry.event.kind = EventKind::ToolResult { tool: ToolName::new("grep")?, ok: false };
    entry.event.origin = Origin::ToolExternal;
    entry.event.parent = Some(parent.id);
    entry.event.channel = ChannelId::new("cli")?;
    entry.event.user = Some(UserId::new("ana")?);
    entry.event.agent = Some(AgentId::new("helper")?);
    entry.event.zone = Zone { name: "Europe/Berlin".to_owned(), offset_seconds: 3_600 };
    entry.event.idempotency_key = Some("a-key".to_owned());
    entry.event.metadata.insert("caption".to_owned(), "a \"photo\"\n".to_owned());
    entry.echo = vec![Span { start: 0, end: 6 }];
    storage.events.append(&[parent, entry.clone()]).await?;
    let event = only(storage.events.get(&[entry.id]).await?)?;
    assert_eq!(event.body(), Some(&entry.event));
    assert_eq!(
        (event.role, event.trust, event.level),
        (Role::Tool, Origin::ToolExternal.trust(), Origin::ToolExternal.level())
    );
    assert_eq!(event.echo, entry.echo);
    assert_eq!(event.quarantined, None);
    Ok(())
}

/// Choices about memory survive as what they are.
pub async fn decisions_come_back(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let remember = Remember {
        key: Some(NoteKey::new("deploy_day")?),
        kind: LearningKind::Preference,
        category: Category::new("team/habits")?,
        tags: vec![Tag::new("ops")?],
        importance: Importance::new(0.75)?,
        expires_at: Some(Timestamp::EPOCH.plus_micros(5)),
    };
    let forget =
        Forget { selector: Selector::Session(SessionId::new("s")?), events: vec![EventId(1), EventId(2)] };
    for decision in [
        Decision::Remember(remember),
        Decision::Archive(NoteKey::new("deploy_day")?.into()),
        Decision::Restore(NoteTarget {
            key: None,
            sources: vec![Source { event: EventId(3), span: Span { start: 0, end: 4 } }],
        }),
        Decision::Reject(NoteKey::new("deploy_day")?.into()),
        Decision::Forget(forget),
        Decision::Forget(Forget { selector: Selector::Key(NoteKey::new("k")?), events: Vec::new() }),
        Decision::Forget(Forget { selector: Selector::User(UserId::new("u")?), events: Vec::new() }),
        Decision::Forget(Forget { selector: Selector::Events(vec![EventId(9)]), events: vec![EventId(9)] }),
        Decision::Fact(about(Value::Entity(EntityId(2)), FactChoice::Reject)?),
        Decision::Fact(about(words(), FactChoice::End { at: WorldTime::from_seconds(-86_400) })?),
        Decision::Fact(about(words(), FactChoice::Add { valid_at: None, invalid_at: None })?),
        Decision::Merge { one: EntityId(1), into: EntityId(2) },
        Decision::Split { one: EntityId(1), from: EntityId(2) },
        Decision::Undo { decision: EventId(7) },
        Decision::Cardinality {
            predicate: Predicate::new("sits_at")?,
            cardinality: Cardinality::NowPerTopic,
        },
        Decision::Release { event: EventId(7), copy: EventId(8) },
        Decision::Feedback {
            recall: ReceiptId(7),
            record: RecordRef::Fact(FactId(8)),
            verdict: Judgment::Irrelevant,
        },
    ] {
        let mut entry = records.turn("s", "text")?;
        entry.event.kind = EventKind::Decision(decision);
        storage.events.append(std::slice::from_ref(&entry)).await?;
        let event = only(storage.events.get(&[entry.id]).await?)?;
        assert_eq!(event.body().map(|kept| &kept.kind), Some(&entry.event.kind));
        assert_eq!(event.role, Role::Decision);
    }
    Ok(())
}

/// What the engine did about memory survives as what it is.
pub async fn operations_come_back(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let classification = Classification {
        category: Category::new("team/habits")?,
        tags: vec![Tag::new("ops")?],
        importance: Importance::new(0.75)?,
    };
    let two = || vec![EventId(3), EventId(4)];
    for operation_kind in [
        OperationKind::Merge { notes: two(), classification: classification.clone() },
        OperationKind::Retire { notes: two(), into: Some(EventId(5)) },
        OperationKind::Retire { notes: two(), into: None },
        OperationKind::Refine { note: EventId(3), classification: classification.clone() },
        OperationKind::Infer {
            from: two(),
            kind: LearningKind::Insight,
            classification: classification.clone(),
        },
        OperationKind::Digest { from: two(), entities: vec!["Ada Berg".to_owned()], classification },
        OperationKind::Compress { turns: two() },
        OperationKind::Claim { turn: EventId(3), claims: claim_spans()? },
        OperationKind::Summarize {
            node: NodePath::Day("2026-11-21".to_owned()),
            of: two().into_iter().map(|event| Source { event, span: Span { start: 0, end: 4 } }).collect(),
            rests: vec![vec![0, 1], vec![1]],
        },
        OperationKind::Prefer { turn: EventId(3), quote: Span { start: 2, end: 9 } },
        OperationKind::Assess { turns: two(), score: 7 },
        OperationKind::Cardinality { predicate: Predicate::new("sits_at")?, cardinality: Cardinality::Now },
        OperationKind::Suggest { one: EntityId(5), into: EntityId(6) },
    ] {
        let operation = Operation {
            kind: operation_kind,
            producer: Producer { id: "dream/fold".to_owned(), version: 3 },
            prompt: Some(PromptHash([9; 32])),
            shown: vec![EventId(3), EventId(4), EventId(5)],
            because: "they say \"the same\"".to_owned(),
        };
        let mut entry = records.turn("s", "text")?;
        entry.event.kind = EventKind::Operation(operation);
        storage.events.append(std::slice::from_ref(&entry)).await?;
        let event = only(storage.events.get(&[entry.id]).await?)?;
        assert_eq!(event.body().map(|kept| &kept.kind), Some(&entry.event.kind));
        assert_eq!(event.role, Role::Decision);
    }
    Ok(())
}

fn claim_spans() -> Result<Vec<ClaimSpans>> {
    let span = |start, end| Span { start, end };
    let claim = |predicate, subject| {
        Ok(ClaimSpans {
            predicate: Predicate::new(predicate)?,
            quote: span(0, 9),
            value: span(4, 9),
            subject,
        })
    };
    Ok(vec![claim("lives_in", None)?, claim("works_at", Some(span(1, 3)))?])
}

fn about(object: Value, choice: FactChoice) -> Result<FactDecision> {
    let (predicate, topic) = (Predicate::new("knows")?, Some("friend".to_owned()));
    let sources = vec![Source { event: EventId(7), span: Span { start: 2, end: 9 } }];
    Ok(FactDecision { subject: EntityId(1), predicate, topic, object, choice, sources })
}

fn words() -> Value {
    Value::Literal { text: "Teas".to_owned(), key: "tea".to_owned() }
}

/// Two writers at once never leave a gap behind a reader's cursor.
pub async fn a_scan_has_no_holes_while_two_handles_append(storage: &Storage) -> Result<()> {
    let (mut one, mut two) = (Records::new(1), Records::new(2));
    let mut seen: Vec<u64> = Vec::new();
    for _ in 0..20 {
        let batch = [one.turn("a", "x")?, one.turn("a", "y")?];
        let single = [two.turn("b", "z")?];
        let (first, second) = tokio::join!(storage.events.append(&batch), storage.other.append(&single));
        first?;
        second?;
        let after = Cursor(seen.last().copied().map(Seq));
        let fresh = storage.other.scan(&EventFilter::all(), after, PLENTY).await?;
        seen.extend(fresh.iter().map(|event| event.seq.0));
    }
    assert_eq!(seen, (1..=60).collect::<Vec<u64>>());
    Ok(())
}

/// Every filter means what `EventFilter::accepts` says.
// proves: PB-33
pub async fn filters_agree_with_the_reference(storage: &Storage) -> Result<()> {
    let events = varied_events(storage).await?;
    let at = |place: usize| events.get(place).and_then(Event::body).map(|kept| kept.occurred_at);
    let base = EventFilter::all();
    let filters = [
        base.clone(),
        EventFilter::live(),
        EventFilter { session: Within::Only(SessionId::new("a")?), ..base.clone() },
        EventFilter { session: Within::Only(SessionId::new("a%")?), ..base.clone() },
        EventFilter { channel: Within::Only(ChannelId::new("cli")?), ..base.clone() },
        EventFilter { speaker: Within::Only(Speaker::new("Bob")?), ..base.clone() },
        EventFilter { user: Within::Only(UserId::new("ana")?), ..base.clone() },
        EventFilter { agent: Within::Only(AgentId::new("x")?), ..base.clone() },
        EventFilter { roles: Within::Only(vec![Role::Tool, Role::User]), ..base.clone() },
        EventFilter { roles: Within::Only(Vec::new()), ..base.clone() },
        EventFilter { since: at(2), ..base.clone() },
        EventFilter { until: at(4), ..base.clone() },
        EventFilter { since: at(2), until: at(5), ..EventFilter::live() },
        EventFilter { before: Some(Seq(0)), ..base.clone() },
        EventFilter { before: Some(Seq(1)), ..base.clone() },
        EventFilter { before: Some(Seq(4)), ..base.clone() },
        EventFilter { before: Some(Seq(9)), ..base.clone() },
        EventFilter { before: Some(Seq(u64::MAX)), ..base.clone() },
        EventFilter { before: Some(Seq(6)), session: Within::Only(SessionId::new("a")?), ..base.clone() },
        EventFilter { before: Some(Seq(6)), roles: Within::Only(vec![Role::Decision]), ..base.clone() },
        EventFilter { quarantined: Within::Only(true), ..base.clone() },
        EventFilter { erased: Within::Only(true), ..base.clone() },
        EventFilter { erased: Within::Only(true), session: Within::Only(SessionId::new("a")?), ..base },
    ];
    let all = everything(storage).await?;
    for filter in filters {
        let expected: Vec<&Event> = all.iter().filter(|event| filter.accepts(event)).collect();
        let scanned = storage.events.scan(&filter, Cursor::START, PLENTY).await?;
        assert_eq!(scanned.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        let latest = storage.events.latest(&filter, PLENTY).await?;
        assert_eq!(latest.iter().rev().collect::<Vec<_>>(), expected, "{filter:?}");
    }
    Ok(())
}

/// The newest come first, and a limit cuts the oldest.
pub async fn latest_is_newest_first(storage: &Storage) -> Result<()> {
    varied_events(storage).await?;
    let two = NonZeroUsize::MIN.saturating_add(1);
    let latest = storage.events.latest(&EventFilter::all(), two).await?;
    assert_eq!(latest.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [8, 7]);
    let before = EventFilter { before: Some(Seq(7)), ..EventFilter::all() };
    let next = storage.events.latest(&before, two).await?;
    assert_eq!(next.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [6, 5]);
    Ok(())
}

/// A conversation at a glance leaves out what is erased.
pub async fn sessions_count_living_events(storage: &Storage) -> Result<()> {
    varied_events(storage).await?;
    let sessions = storage.events.sessions(PLENTY).await?;
    let counted: Vec<(&str, u64)> = sessions.iter().map(|one| (one.session.as_str(), one.events)).collect();
    assert_eq!(counted, [("b", 4), ("a", 3)]);
    assert_eq!(storage.events.count_sessions(PLENTY).await?, 2);
    assert_eq!(storage.events.count_sessions(NonZeroUsize::MIN).await?, 1);
    assert!(sessions.iter().all(|one| one.first_at <= one.last_at));
    let of_b = EventFilter { session: Within::Only(SessionId::new("b")?), ..EventFilter::all() };
    let gone: Vec<_> = storage
        .events
        .scan(&of_b, Cursor::START, PLENTY)
        .await?
        .iter()
        .map(|one| tombstone(one.id, Timestamp::EPOCH))
        .collect();
    storage.events.erase(&gone).await?;
    assert_eq!(storage.events.count_sessions(PLENTY).await?, 1, "of a conversation nothing is left");
    Ok(())
}

/// What is held back is counted without its words, in a part of the log.
pub async fn quarantined_events_are_counted(storage: &Storage) -> Result<()> {
    varied_events(storage).await?;
    let events = everything(storage).await?;
    let quarantined: Vec<Seq> =
        events.iter().filter(|event| event.quarantined.is_some()).map(|event| event.seq).collect();
    assert!(!quarantined.is_empty() && quarantined.len() < events.len(), "{quarantined:?}");
    let head = storage.events.head().await?;
    assert_eq!(storage.events.count_quarantined(Cursor::START, head).await?, quarantined.len() as u64);
    for place in 0..=events.len() as u64 {
        let cut = Cursor(Some(Seq(place)));
        let before = quarantined.iter().filter(|seq| seq.0 <= place).count() as u64;
        assert_eq!(storage.events.count_quarantined(Cursor::START, cut).await?, before, "up to {place}");
        assert_eq!(
            storage.events.count_quarantined(cut, head).await?,
            quarantined.len() as u64 - before,
            "after {place}"
        );
    }
    Ok(())
}

/// A thread cannot hang in the air; a parent in the same batch is known.
pub async fn an_unknown_parent_is_invalid(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let mut orphan = records.turn("s", "orphan")?;
    orphan.event.parent = Some(EventId(7));
    assert_refused(storage.events.append(&[orphan]).await, ErrorKind::Invalid);
    let parent = records.turn("s", "parent")?;
    let mut child = records.turn("s", "child")?;
    child.event.parent = Some(parent.id);
    storage.events.append(&[parent, child]).await?;
    Ok(())
}

/// Erasing keeps id, seq, role and time, and nothing of what was said.
pub async fn an_erased_body_stays_erased(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entries = [records.keyed("s", "secret plan", "key")?, records.turn("s", "harmless")?];
    storage.events.append(&entries).await?;
    let [target, _] = &entries;
    let at = Timestamp::EPOCH.plus_micros(9);
    assert_eq!(storage.events.erase(&[tombstone(target.id, at)]).await?, 1);
    for events in [&storage.events, &storage.other] {
        let event = only(events.get(&[target.id]).await?)?;
        assert_eq!(event.body, Body::Erased { at });
        assert_eq!((event.seq, event.role, event.recorded_at), (Seq(1), Role::User, target.recorded_at));
        assert_eq!(event.echo, []);
    }
    assert_eq!(storage.events.tombstones().await?, [tombstone(target.id, at)]);
    let again = storage.events.append(&[records.keyed("s", "secret plan", "key")?]).await;
    assert!(
        again.is_ok_and(|answers| answers.iter().all(|one| !one.fresh && one.id == target.id)),
        "the key stays known"
    );
    Ok(())
}

/// An unknown event fails the whole erase.
pub async fn erasing_something_unknown_changes_nothing(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entry = records.turn("s", "stays")?;
    storage.events.append(std::slice::from_ref(&entry)).await?;
    let at = Timestamp::EPOCH;
    assert_refused(
        storage.events.erase(&[tombstone(entry.id, at), tombstone(EventId(5), at)]).await,
        ErrorKind::NotFound,
    );
    assert!(only(storage.events.get(&[entry.id]).await?)?.body().is_some());
    assert_eq!(storage.events.tombstones().await?, []);
    Ok(())
}

/// A repeated erase is no new erase.
pub async fn erasing_twice_is_no_change(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let entry = records.turn("s", "gone")?;
    storage.events.append(std::slice::from_ref(&entry)).await?;
    let first = tombstone(entry.id, Timestamp::EPOCH.plus_micros(1));
    let second = tombstone(entry.id, Timestamp::EPOCH.plus_micros(2));
    assert_eq!(storage.events.erase(std::slice::from_ref(&first)).await?, 1);
    assert_eq!(storage.events.erase(&[second]).await?, 0);
    assert_eq!(storage.events.tombstones().await?, [first]);
    Ok(())
}

/// Tombstones of another installation are kept beside our own.
pub async fn adopted_tombstones_are_listed(storage: &Storage) -> Result<()> {
    let (one, two) = (tombstone(EventId(1), Timestamp::EPOCH), tombstone(EventId(2), Timestamp::EPOCH));
    let before = storage.index.mark().await?.forgets;
    storage.events.adopt(&[two.clone(), one.clone()]).await?;
    let after = storage.index.mark().await?.forgets;
    assert!(after > before, "a new tombstone raises the forget generation");
    storage.events.adopt(std::slice::from_ref(&one)).await?;
    assert_eq!(storage.index.mark().await?.forgets, after);
    assert_eq!(storage.other.tombstones().await?, [one, two]);
    Ok(())
}

/// A caller who walks away leaves no open transaction.
pub async fn a_dropped_append_leaves_the_store_usable(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    for _ in 0..10 {
        let batch = [records.turn("s", "maybe")?];
        let mut append = Box::pin(storage.events.append(&batch));
        std::future::poll_fn(|context| {
            let _started = append.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
    }
    let last = records.turn("s", "certain")?;
    storage.events.append(std::slice::from_ref(&last)).await?;
    storage.other.append(&[records.turn("s", "other handle")?]).await?;
    let events = everything(storage).await?;
    let seqs: BTreeSet<u64> = events.iter().map(|event| event.seq.0).collect();
    assert_eq!(seqs.len(), events.len());
    assert!(events.iter().any(|event| event.id == last.id));
    Ok(())
}

/// Eight events of all sorts, the third of them erased.
async fn varied_events(storage: &Storage) -> Result<Vec<Event>> {
    let mut records = Records::new(1);
    let mut entries: Vec<LogEntry> = Vec::new();
    for n in 0..8 {
        let mut entry = records.turn(if n % 2 == 0 { "a" } else { "b" }, &format!("turn {n}"))?;
        match n {
            1 => entry.event.kind = EventKind::AssistantMessage,
            2 => entry.event.kind = EventKind::ToolCall { tool: ToolName::new("t")? },
            3 => entry.event.speaker = Some(Speaker::new("Bob")?),
            4 => entry.event.user = Some(UserId::new("ana")?),
            5 => entry.event.channel = ChannelId::new("cli")?,
            6 => entry = Records::new(9).quarantined("a", "held back")?,
            _ => entry.event.agent = Some(AgentId::new("x")?),
        }
        entries.push(entry);
    }
    storage.events.append(&entries).await?;
    let erased = entries.get(2).map(|entry| tombstone(entry.id, Timestamp::EPOCH.plus_micros(77)));
    storage.events.erase(erased.as_slice()).await?;
    everything(storage).await
}

fn only(events: Vec<Event>) -> Result<Event> {
    assert_eq!(events.len(), 1);
    events.into_iter().next().ok_or_else(|| Error::not_found("no event"))
}
