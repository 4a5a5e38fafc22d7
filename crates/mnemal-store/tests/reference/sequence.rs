//! A store is compared with the in-memory reference, for any sequence of calls.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    AgentId, ChannelId, Cursor, EventFilter, EventId, EventKind, EventStore, IndexBlock, IndexStore,
    LogEntry, ModelId, Origin, Role, RuleId, Seq, SessionId, Speaker, Timestamp, ToolName, Upkeep, UserId,
    Vector, Within,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{Records, tombstone};
use proptest::prelude::*;

const ALL: NonZeroUsize = NonZeroUsize::MAX;

/// What is asked of both.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Append(Vec<Turn>),
    Erase(Vec<u8>),
    PutVectors(Vec<(u8, bool)>),
    Seal,
    Reopen,
    Compare(Filter),
}

/// An entry by its choices.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    who: u8,
    key: Option<u8>,
    body: u8,
    parent: Option<u8>,
    quarantined: bool,
    id: Option<u8>,
}

/// A filter by its choices.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    names: [Option<u8>; 5],
    roles: Option<u8>,
    since: Option<u8>,
    until: Option<u8>,
    quarantined: Option<bool>,
    erased: Option<bool>,
    after: u8,
    before: Option<u8>,
    limit: u8,
}

fn turn() -> impl Strategy<Value = Turn> {
    let rare = |odds| proptest::option::weighted(odds, 0..20_u8);
    (any::<u8>(), rare(0.3), 0..3_u8, rare(0.2), proptest::bool::weighted(0.2), rare(0.05)).prop_map(
        |(who, key, body, parent, quarantined, id)| Turn { who, key, body, parent, quarantined, id },
    )
}

fn filter() -> impl Strategy<Value = Filter> {
    let some = || proptest::option::weighted(0.2, 0..4_u8);
    let flag = || proptest::option::of(any::<bool>());
    (
        [some(), some(), some(), some(), some()],
        proptest::option::weighted(0.3, 0..32_u8),
        (some(), some()),
        (flag(), flag()),
        (0..30_u8, proptest::option::weighted(0.2, 0..30_u8), 1..20_u8),
    )
        .prop_map(|(names, roles, (since, until), (quarantined, erased), (after, before, limit))| {
            Filter { names, roles, since, until, quarantined, erased, after, before, limit }
        })
}

/// Any call.
pub(crate) fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        5 => proptest::collection::vec(turn(), 0..8).prop_map(Ask::Append),
        2 => proptest::collection::vec(0..40_u8, 0..4).prop_map(Ask::Erase),
        1 => proptest::collection::vec((0..40_u8, any::<bool>()), 0..4).prop_map(Ask::PutVectors),
        1 => Just(Ask::Seal),
        1 => Just(Ask::Reopen),
        3 => filter().prop_map(Ask::Compare),
    ]
}

fn entry(records: &mut Records, turn: &Turn, ids: &[EventId]) -> LogEntry {
    let who = turn.who;
    let mut entry =
        records.turn(&format!("s{}", who % 3), &format!("body {} word{}", turn.body, who)).unwrap();
    let at = |list: &[EventId], place: u8| list.get(usize::from(place)).copied();
    let event = &mut entry.event;
    event.channel = ChannelId::new(format!("c{}", who % 2)).unwrap();
    event.speaker = (!who.is_multiple_of(4)).then(|| Speaker::new(format!("p{}", who % 4)).unwrap());
    event.user = (!who.is_multiple_of(3)).then(|| UserId::new(format!("u{}", who % 3)).unwrap());
    event.agent = (who % 5 > 3).then(|| AgentId::new("a0").unwrap());
    event.occurred_at = Timestamp::EPOCH.plus_micros(i64::from(who % 4));
    event.origin = Origin::ALL[usize::from(who % 9)];
    event.kind = match who % 6 {
        0 => EventKind::UserMessage,
        1 => EventKind::AssistantMessage,
        2 => EventKind::ToolCall { tool: ToolName::new("t").unwrap() },
        3 => EventKind::ToolResult { tool: ToolName::new("t").unwrap(), ok: who > 100 },
        4 => EventKind::Observation,
        _ => EventKind::Document,
    };
    event.idempotency_key = turn.key.map(|key| format!("k{key}"));
    event.parent = turn.parent.map(|place| at(ids, place).unwrap_or(EventId(9)));
    entry.body_hash = [turn.body; 32];
    entry.quarantined = turn.quarantined.then(|| RuleId::new("rule").unwrap());
    if let Some(known) = turn.id.and_then(|place| at(ids, place)) {
        entry.id = known;
    }
    entry
}

fn within<T>(value: Option<T>) -> Within<T> {
    value.map_or(Within::All, Within::Only)
}

fn filter_of(filter: &Filter) -> EventFilter {
    let name = |place: usize, prefix: &str| filter.names[place].map(|n| format!("{prefix}{n}"));
    let at = |n: u8| Timestamp::EPOCH.plus_micros(i64::from(n));
    let roles = |mask: u8| {
        let chosen = Role::ALL.into_iter().enumerate().filter(move |(place, _)| mask >> place & 1 == 1);
        chosen.map(|(_, role)| role).collect::<Vec<_>>()
    };
    EventFilter {
        session: within(name(0, "s").map(|name| SessionId::new(name).unwrap())),
        channel: within(name(1, "c").map(|name| ChannelId::new(name).unwrap())),
        speaker: within(name(2, "p").map(|name| Speaker::new(name).unwrap())),
        user: within(name(3, "u").map(|name| UserId::new(name).unwrap())),
        agent: within(name(4, "a").map(|name| AgentId::new(name).unwrap())),
        roles: within(filter.roles.map(roles)),
        since: filter.since.map(at),
        until: filter.until.map(at),
        before: filter.before.map(|n| Seq(u64::from(n))),
        quarantined: within(filter.quarantined),
        erased: within(filter.erased),
    }
}

/// One row of the index by its event: position, session, terms with counts, vectors.
type IndexRow = (Seq, Option<String>, Vec<(u64, u16)>, Vec<(String, Vec<i8>)>);

fn rows(blocks: &[IndexBlock]) -> BTreeMap<EventId, IndexRow> {
    let mut rows = BTreeMap::new();
    for block in blocks {
        for (place, id) in block.events.iter().enumerate() {
            let terms = block.terms.iter().filter_map(|term| {
                let found = block.postings(*term).iter().find(|posting| usize::from(posting.row()) == place);
                found.map(|posting| (term.0, posting.count()))
            });
            let vectors = block.vectors.iter().filter(|column| column.scales[place] > 0.0).map(|column| {
                let codes = column.codes.chunks(column.dimensions).nth(place).unwrap();
                (column.model.to_string(), codes.to_vec())
            });
            let session = block.sessions.get(place).map(str::to_owned);
            rows.insert(*id, (block.seqs[place], session, terms.collect(), vectors.collect()));
        }
    }
    rows
}

/// A store that can be opened again.
pub(crate) trait Reopen: EventStore + IndexStore + Upkeep + Sized {
    /// Closes it; what it acknowledged stays.
    async fn close(self);
}

/// Asks a store and the reference the same; `open` opens the same space each time.
pub(crate) async fn run<S: Reopen>(asks: Vec<Ask>, open: impl AsyncFn() -> S) {
    let memory = MemoryStore::new();
    let mut file = open().await;
    let mut records = Records::new(1);
    let mut ids: Vec<EventId> = Vec::new();
    let model = ModelId::new("m").unwrap();
    for ask in asks {
        match ask {
            Ask::Append(turns) => {
                let batch: Vec<_> = turns.iter().map(|turn| entry(&mut records, turn, &ids)).collect();
                let (one, two) = (memory.append(&batch).await, file.append(&batch).await);
                assert_eq!(
                    one.as_ref().map_err(mnemal_core::Error::kind),
                    two.as_ref().map_err(mnemal_core::Error::kind)
                );
                ids.extend(
                    one.into_iter().flatten().filter(|appended| appended.fresh).map(|appended| appended.id),
                );
            }
            Ask::Erase(places) => {
                let stones: Vec<_> = places
                    .iter()
                    .map(|place| ids.get(usize::from(*place)).copied().unwrap_or(EventId(9)))
                    .map(|id| tombstone(id, Timestamp::MAX))
                    .collect();
                let (one, two) = (memory.erase(&stones).await, file.erase(&stones).await);
                assert_eq!(one.map_err(|error| error.kind()), two.map_err(|error| error.kind()));
            }
            Ask::PutVectors(places) => {
                let vector = |long: &bool| if *long { vec![0.0, 0.6, 0.8] } else { vec![0.6, -0.8] };
                let rows: Vec<_> = places
                    .iter()
                    .map(|(place, long)| {
                        let id = ids.get(usize::from(*place)).copied().unwrap_or(EventId(9));
                        (id, Vector::from_unit(&vector(long)).unwrap())
                    })
                    .collect();
                let (one, two) =
                    (memory.put_vectors(&model, &rows).await, file.put_vectors(&model, &rows).await);
                assert_eq!(one.map_err(|error| error.kind()), two.map_err(|error| error.kind()));
            }
            Ask::Seal => drop(file.seal().await.unwrap()),
            Ask::Reopen => {
                file.close().await;
                file = open().await;
            }
            Ask::Compare(choice) => {
                let filter = filter_of(&choice);
                let after = Cursor((choice.after > 0).then_some(Seq(u64::from(choice.after))));
                let limit = NonZeroUsize::new(usize::from(choice.limit)).unwrap();
                let everything = memory.scan(&EventFilter::all(), after, ALL).await.unwrap();
                let passing: Vec<_> =
                    everything.into_iter().filter(|event| filter.accepts(event)).take(limit.get()).collect();
                assert_eq!(file.scan(&filter, after, limit).await.unwrap(), passing);
                assert_eq!(
                    file.latest(&filter, limit).await.unwrap(),
                    memory.latest(&filter, limit).await.unwrap()
                );
                assert_eq!(file.sessions(limit).await.unwrap(), memory.sessions(limit).await.unwrap());
                let loaded = file.load(after, ALL).await.unwrap();
                assert_eq!(rows(&loaded), rows(&memory.load(after, ALL).await.unwrap()));
            }
        }
        assert_eq!(file.mark().await.unwrap(), memory.mark().await.unwrap());
    }
    let all = EventFilter::all();
    assert_eq!(
        file.scan(&all, Cursor::START, ALL).await.unwrap(),
        memory.scan(&all, Cursor::START, ALL).await.unwrap()
    );
    assert_eq!(file.tombstones().await.unwrap(), memory.tombstones().await.unwrap());
    assert_eq!(file.check().await.unwrap(), memory.check().await.unwrap());
    file.close().await;
}
