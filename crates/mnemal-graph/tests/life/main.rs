//! Scripted life of six months: extracted by the rules, folded, and compared with a careful reader's knowledge.

#![expect(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "the parts that tests share may panic as the tests do"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use mnemal_core::{
    AsOf, Entity, EntityFilter, EntityId, EventKind, EventStore as _, Fact, FactFilter, FactStatus,
    GraphStore as _, Origin, Projector as _, Speaker, Timestamp, Value, Zone,
};
use mnemal_extract::{RuleExtractor, predicate};
use mnemal_graph::GraphProjector;
use mnemal_store::MemoryStore;
use mnemal_testkit::Records;
use serde_json::Value as Json;
use toml::Value as Toml;

fn now<T>(work: impl Future<Output = T>) -> T {
    futures_util::FutureExt::now_or_never(work).expect("a store in memory does not wait")
}

/// Reads `2026-01-05T08:12:00+01:00`: the moment, and the offset.
fn moment(text: &str) -> (Timestamp, Zone) {
    let number = |range: std::ops::Range<usize>| text[range].parse::<i64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let seconds = number(11..13) * 3_600 + number(14..16) * 60 + number(17..19);
    let sign = if &text[19..20] == "-" { -1 } else { 1 };
    let offset = sign * (number(20..22) * 3_600 + number(23..25) * 60);
    let micros = (days(year, month, day) * 86_400 + seconds - offset) * 1_000_000;
    let zone = Zone { name: "Europe/Berlin".into(), offset_seconds: i32::try_from(offset).unwrap() };
    (Timestamp::from_micros(micros).unwrap(), zone)
}

/// Days since 1970, by Howard Hinnant's `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

struct Life {
    store: Arc<MemoryStore>,
    expected: Toml,
    entities: BTreeMap<EntityId, Arc<Entity>>,
}

impl Life {
    fn read(folder: &Path) -> Self {
        let store = Arc::new(MemoryStore::new());
        let mut records = Records::new(1);
        for line in std::fs::read_to_string(folder.join("turns.jsonl")).unwrap().lines() {
            let turn: Json = serde_json::from_str(line).unwrap();
            let text = |name: &str| turn.get(name).and_then(Json::as_str);
            let mut entry = records.turn(text("session").unwrap(), text("text").unwrap()).unwrap();
            let (at, zone) = moment(text("at").unwrap());
            entry.recorded_at = text("recorded_at").map_or(at, |at| moment(at).0);
            (entry.event.occurred_at, entry.event.zone) = (at, zone);
            entry.event.speaker =
                text("speaker").filter(|name| *name != "user").map(|name| Speaker::new(name).unwrap());
            if text("role") == Some("assistant") {
                (entry.event.kind, entry.event.origin) = (EventKind::AssistantMessage, Origin::Assistant);
            }
            now(store.append(&[entry])).unwrap();
        }
        let projector = GraphProjector::new(store.clone(), store.clone(), Arc::new(RuleExtractor::new()));
        while now(projector.step(NonZeroUsize::new(100).unwrap())).unwrap().behind > 0 {}
        let expected = toml::from_str(&std::fs::read_to_string(folder.join("expect.toml")).unwrap()).unwrap();
        let entities = now(store.entities(&EntityFilter::all())).unwrap();
        Self { store, expected, entities: entities.into_iter().map(|entity| (entity.id, entity)).collect() }
    }

    fn rows(&self, name: &str) -> Vec<&Toml> {
        self.expected.get(name).and_then(Toml::as_array).map(|rows| rows.iter().collect()).unwrap_or_default()
    }

    /// Returns the label of an entity: that of the expected entity with most of its names, else its name.
    fn label(&self, id: EntityId) -> String {
        let Some(entity) = self.entities.get(&id) else { return "?".into() };
        if entity.names.is_empty() && entity.roles.is_empty() && entity.name == "user" {
            return "user".into();
        }
        let names: BTreeSet<String> = entity.names.iter().map(|name| mnemal_text::fold(&name.text)).collect();
        let roles: BTreeSet<&str> = entity.roles.iter().map(|(_, role)| role.as_str()).collect();
        let is_same_kind = |row: &&Toml| string(row, "kind").is_some_and(|kind| kind == entity.kind.as_str());
        let score = |row: &&Toml| {
            let known =
                strings(row, "names").iter().filter(|name| names.contains(&mnemal_text::fold(name))).count();
            let fits = |of: &&String| roles.iter().any(|role| english(of).ends_with(*role));
            (known, strings(row, "roles").iter().filter(fits).count(), is_same_kind(row))
        };
        let best =
            self.rows("entity").into_iter().filter(|row| score(row).0 + score(row).1 > 0).max_by_key(score);
        best.map_or_else(|| entity.name.clone(), |row| string(row, "subject").unwrap())
    }

    fn object(&self, value: &Value) -> String {
        match value {
            Value::Entity(id) => self.label(*id),
            Value::Literal { text, .. } => text.clone(),
        }
    }

    /// Returns the active values of each slot: subject, predicate, topic where it counts.
    fn slots(&self, as_of: AsOf) -> BTreeMap<(String, String, String), BTreeSet<String>> {
        let mut slots: BTreeMap<(String, String, String), BTreeSet<String>> = BTreeMap::new();
        let facts: Vec<Arc<Fact>> = now(self.store.facts(&FactFilter::all(), as_of)).unwrap();
        for fact in facts.iter().filter(|fact| fact.status != FactStatus::Disputed) {
            let info = predicate::of(fact.predicate.as_str()).unwrap();
            if info.cardinality == predicate::Cardinality::Event || fact.act == mnemal_core::Act::Plan {
                continue;
            }
            let keyed = info.cardinality == predicate::Cardinality::NowPerTopic;
            let topic = fact.topic.clone().filter(|_| keyed).unwrap_or_default();
            let slot = (self.label(fact.subject), fact.predicate.to_string(), topic);
            slots.entry(slot).or_default().insert(self.object(&fact.object));
        }
        slots
    }
}

/// Returns a role in the form of the rules.
fn english(role: &str) -> String {
    let role = role.to_lowercase();
    let words =
        [("schwager", "brother-in-law"), ("schwester", "sister"), ("mutter", "mother"), ("vater", "father")];
    words.iter().fold(role, |role, (german, english)| role.replace(german, english))
}

fn string(row: &Toml, key: &str) -> Option<String> {
    row.get(key).and_then(Toml::as_str).map(str::to_owned)
}

fn strings(row: &Toml, key: &str) -> Vec<String> {
    let list = row.get(key).and_then(Toml::as_array);
    list.into_iter().flatten().filter_map(Toml::as_str).map(str::to_owned).collect()
}

fn wanted(row: &Toml) -> BTreeSet<String> {
    let key = if row.get("read").is_some() { "read" } else { "objects" };
    strings(row, key).into_iter().map(|text| mnemal_text::fold(&text)).collect()
}

fn slot(row: &Toml) -> (String, String, String) {
    let topic = string(row, "topic").unwrap_or_default();
    let keyed = predicate::of(&string(row, "predicate").unwrap())
        .is_some_and(|info| info.cardinality == predicate::Cardinality::NowPerTopic);
    (
        string(row, "subject").unwrap(),
        string(row, "predicate").unwrap(),
        if keyed { topic } else { String::new() },
    )
}

fn folded(values: Option<&BTreeSet<String>>) -> BTreeSet<String> {
    values.into_iter().flatten().map(|text| mnemal_text::fold(text)).collect()
}

/// The result of a life: passed checks of a kind, their total, and one line per difference.
#[derive(Default)]
struct Tally {
    /// Slots with a known value at the end.
    current: (usize, usize),
    /// Slots with a value at the end although none is known.
    invented: usize,
    /// Slots as of a day.
    at: (usize, usize),
    wrong: Vec<String>,
}

fn compare(life: &Life) -> Tally {
    let end = Timestamp::from_micros(1_800_000_000_000_000).unwrap();
    let slots = life.slots(AsOf::present(end));
    let mut tally = Tally::default();
    // Roles are topics that are not compared, so the rows of one slot belong together.
    let mut listed: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for row in life.rows("current") {
        listed.entry(slot(row)).or_default().extend(wanted(row));
    }
    for (slot, wanted) in &listed {
        let found = folded(slots.get(slot));
        tally.current.1 += 1;
        if found == *wanted {
            tally.current.0 += 1;
        } else {
            tally.wrong.push(format!("{slot:?}: {found:?} instead of {wanted:?}"));
        }
    }
    for (slot, found) in slots.iter().filter(|(slot, _)| !listed.contains_key(slot)) {
        tally.invented += 1;
        tally.wrong.push(format!("{slot:?}: {found:?}, of which nothing is known"));
    }
    // Here an undated value is valid since before it was said.
    for row in life.rows("at").into_iter().filter(|row| row.get("assumes").is_none()) {
        let noon = moment(&format!("{}T12:00:00+01:00", string(row, "world").unwrap())).0;
        let belief =
            string(row, "belief").map_or(Timestamp::MAX, |day| moment(&format!("{day}T23:59:59+01:00")).0);
        let slots = life.slots(AsOf { world: noon, belief });
        let slot = slot(row);
        let (found, wanted) = (folded(slots.get(&slot)), wanted(row));
        tally.at.1 += 1;
        if found == wanted {
            tally.at.0 += 1;
        } else {
            let (world, belief) = (string(row, "world").unwrap(), string(row, "belief").unwrap_or_default());
            tally.wrong.push(format!("{slot:?} at {world} {belief}: {found:?} instead of {wanted:?}"));
        }
    }
    tally
}

fn lived(name: &str) -> Tally {
    compare(&Life::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/life").join(name)))
}

#[test]
fn a_life_of_six_months() {
    let Tally { current, invented, at, wrong } = lived("first");
    assert_eq!(wrong, Vec::<String>::new(), "{current:?} {at:?}");
    assert_eq!((current.0, invented, at.0), (current.1, 0, at.1));
}

/// The life that was written independently of the code. Its result when the code was finished: 16 of 62 slots at the end,
/// 27 slots with a value although none is known, 8 of 36 slots as of a day. The bounds leave some margin; the differences
/// are not printed, so that the code is not fitted to them.
#[test]
fn a_life_that_was_held_back() {
    let Tally { current, invented, at, wrong: _ } = lived("second");
    println!("current {current:?}, invented {invented}, as of a day {at:?}");
    assert!(current.0 >= 14 && at.0 >= 6, "{current:?} {at:?}");
    assert!(invented <= 30, "{invented}");
}
