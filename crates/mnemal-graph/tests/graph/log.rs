//! Test fixture: a log with a graph, and an extractor for claims written out in the tests.

use std::num::NonZeroUsize;
use std::sync::Arc;

use mnemal_core::{
    Act, AsOf, Confidence, Decision, Difference, EntityFilter, EntityKind, EventId, EventKind,
    EventStore as _, ExtractedFact, Extraction, Extractor, Fact, FactFilter, FactStatus, Forget, Granularity,
    GraphDelta, GraphStore as _, LogEntry, Mention, MentionFilter, Object, Origin, Predicate, Producer,
    Projection, Projector as _, RuleId, Selector, Slot, Span, Speaker, Subject, Support, Timestamp, UserId,
    Utterance, Value, When, WorldTime, Zone,
};
use mnemal_graph::{Graph, GraphProjector};
use mnemal_store::MemoryStore;
use mnemal_testkit::{Records, tombstone};

pub(crate) const PLENTY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// Runs a future of an in-memory store, which never waits.
pub(crate) fn now<T>(work: impl Future<Output = T>) -> T {
    futures_util::FutureExt::now_or_never(work).expect("a store in memory does not wait")
}

/// Returns the first moment of a day, `2020-05-01`.
pub(crate) fn day(text: &str) -> Timestamp {
    Timestamp::from_micros(seconds(text) * 1_000_000).unwrap()
}

fn seconds(text: &str) -> i64 {
    let mut low = 0_i64;
    let mut high = 4_102_444_800; // 2100
    while low < high {
        let middle = low + (high - low) / 2;
        if WorldTime::from_seconds(middle).civil(&Zone::utc()).day_text().as_str() < text {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Extracts claims that are written out, one per line:
/// `me lives_in Oslo:location`, `sister(Anna) likes tea`, `Tom works_at Acme:organization @2020-01-01..2021-01-01 end`,
/// `me lives_in Rome:location @2022-03` (in March 2022), `me knows Ben:person #colleague ~0.9`; `never` withdraws a value.
/// A line with one word is a mention (`Apollo|repository` with a word for its kind), and so is one with two words of which
/// the first is `another`.
#[derive(Debug)]
pub(crate) struct Script;

impl Extractor for Script {
    fn producer(&self) -> Producer {
        Producer { id: "script".into(), version: 1 }
    }

    fn extract(&self, utterance: &Utterance<'_>) -> Extraction {
        let Some(kept) = utterance.event.body() else { return Extraction::default() };
        let mut found = Extraction::default();
        let mut start = 0;
        for line in kept.content.split_inclusive('\n') {
            let end = start + u32::try_from(line.trim_end().len()).unwrap();
            read(line.trim_end(), Span { start, end }, &mut found);
            start += u32::try_from(line.len()).unwrap();
        }
        found
    }
}

fn kind_of(word: &str) -> (String, Option<EntityKind>) {
    match word.split_once(':') {
        Some((name, kind)) => (name.replace('_', " "), EntityKind::from_name(kind)),
        None => (word.replace('_', " "), None),
    }
}

fn read(line: &str, span: Span, found: &mut Extraction) {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [name] = words.as_slice() {
        let (bare, word) = name.split_once('|').map_or((*name, None), |(bare, word)| (bare, Some(word)));
        let (name, kind) = kind_of(bare);
        let kind = kind.or_else(|| word.map(EntityKind::nearest)).unwrap_or(EntityKind::Person);
        let kind_word = word.map(str::to_owned);
        found.mentions.push(Mention { name, kind, span, is_another: false, kind_word });
        return;
    }
    if let ["another", name] = words.as_slice() {
        let (name, kind) = kind_of(name);
        let kind = kind.unwrap_or(EntityKind::Person);
        found.mentions.push(Mention { name, kind, span, is_another: true, kind_word: None });
        return;
    }
    let [subject, predicate, object, rest @ ..] = words.as_slice() else { return };
    let subject = match (*subject, subject.split_once('(')) {
        ("me", _) => Subject::Speaker,
        (_, Some((role, name))) => Subject::Relation {
            role: role.into(),
            name: Some(name.trim_end_matches(')').into()).filter(|name: &String| !name.is_empty()),
        },
        (name, None) => Subject::Named(name.replace('_', " ")),
    };
    let (text, kind) = kind_of(object);
    let key = mnemal_text::fold(&text);
    let mut fact = ExtractedFact {
        rule: RuleId::new("script.line").unwrap(),
        predicate: Predicate::new(*predicate).unwrap(),
        subject,
        object: Object { text, key, kind, topic: None, span },
        act: Act::Assert,
        attributed_to: None,
        time: None,
        confidence: Confidence::new(0.9),
        span,
        sentence: span,
    };
    for word in rest {
        match word.split_at(1) {
            ("#", topic) => fact.object.topic = Some(topic.into()),
            ("~", confidence) => fact.confidence = Confidence::new(confidence.parse().unwrap()),
            ("@", times) => fact.time = Some(when(times, span)),
            _ if *word == "never" => {
                (fact.act, fact.rule) = (Act::Negative, RuleId::new(Support::correction_rule()).unwrap());
            }
            _ => fact.act = Act::from_name(word).unwrap(),
        }
    }
    found.facts.push(fact);
}

fn when(text: &str, span: Span) -> When {
    let at = |text: &str| (!text.is_empty()).then(|| WorldTime::from_seconds(seconds(text)));
    let (grain, days) = match text.split("..").find(|part| !part.is_empty()).unwrap_or_default().len() {
        4 => (Granularity::Year, 365),
        7 => (Granularity::Month, 31),
        _ => (Granularity::Day, 1),
    };
    let (start, end) = match text.split_once("..") {
        Some((start, end)) => (at(start), at(end)),
        None => (at(text), at(text).map(|at| WorldTime::from_seconds(at.as_seconds() + days * 86_400))),
    };
    When { start, end, grain, is_approximate: false, span }
}

fn projector(store: &Arc<MemoryStore>, extractor: &Arc<dyn Extractor>) -> GraphProjector {
    let projector = GraphProjector::new(store.clone(), store.clone(), Arc::clone(extractor));
    projector.with_marks(Slot::Filled(store.clone()))
}

/// A log, its graph, and their clock.
pub(crate) struct Life {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) projector: GraphProjector,
    extractor: Arc<dyn Extractor>,
    records: Records,
    n: u64,
}

impl Life {
    pub(crate) fn new() -> Self {
        Self::read_by(Arc::new(Script))
    }

    pub(crate) fn read_by(extractor: Arc<dyn Extractor>) -> Self {
        let store = Arc::new(MemoryStore::new());
        let projector = projector(&store, &extractor);
        Self { store, projector, extractor, records: Records::new(1), n: 0 }
    }

    /// Makes a user turn in a session on a day; the turns of a day are seconds apart.
    pub(crate) fn entry(&mut self, on: &str, session: &str, text: &str) -> LogEntry {
        let mut entry = self.records.turn(session, text).unwrap();
        entry.event.occurred_at = day(on).plus_micros(36_000_000_000);
        entry.event.speaker = None;
        entry.event.zone = Zone::utc();
        entry
    }

    pub(crate) fn append(&mut self, entry: LogEntry) -> EventId {
        self.n += 1;
        let id = entry.id;
        now(self.store.append(&[entry])).unwrap();
        id
    }

    /// Appends a turn and folds it.
    pub(crate) fn say(&mut self, on: &str, text: &str) -> EventId {
        self.say_in(on, "s", text)
    }

    pub(crate) fn say_in(&mut self, on: &str, session: &str, text: &str) -> EventId {
        let entry = self.entry(on, session, text);
        let id = self.append(entry);
        self.fold();
        id
    }

    pub(crate) fn say_as(&mut self, origin: Origin, on: &str, text: &str) -> EventId {
        let mut entry = self.entry(on, "s", text);
        entry.event.origin = origin;
        let id = self.append(entry);
        self.fold();
        id
    }

    pub(crate) fn say_by(&mut self, speaker: &str, on: &str, text: &str) -> EventId {
        let mut entry = self.entry(on, "s", text);
        entry.event.speaker = Some(Speaker::new(speaker).unwrap());
        entry.event.user = Some(UserId::new("u").unwrap());
        let id = self.append(entry);
        self.fold();
        id
    }

    pub(crate) fn decide(&mut self, on: &str, decision: Decision) -> EventId {
        let mut entry = self.entry(on, "decisions", "");
        entry.event.kind = EventKind::Decision(decision);
        let id = self.append(entry);
        self.fold();
        id
    }

    pub(crate) fn forget(&mut self, on: &str, events: &[EventId]) {
        self.erase(on, events);
        self.fold();
    }

    /// Forgets and erases events, without folding.
    pub(crate) fn erase(&mut self, on: &str, events: &[EventId]) {
        let forget = Forget { selector: Selector::Events(events.to_vec()), events: events.to_vec() };
        let mut entry = self.entry(on, "decisions", "");
        entry.event.kind = EventKind::Decision(Decision::Forget(forget));
        self.append(entry);
        let stones: Vec<_> = events.iter().map(|event| tombstone(*event, day(on))).collect();
        now(self.store.erase(&stones)).unwrap();
    }

    /// Steps to the head, and rebuilds rows that do not match the log.
    pub(crate) fn fold(&self) {
        self.step(PLENTY);
        self.renew(PLENTY);
    }

    /// Steps to the head.
    pub(crate) fn step(&self, limit: NonZeroUsize) {
        for _ in 0..10_000 {
            if now(self.projector.step(limit)).unwrap().behind == 0 {
                return;
            }
        }
        panic!("the projector does not arrive");
    }

    /// Rebuilds until it is complete.
    pub(crate) fn renew(&self, limit: NonZeroUsize) {
        for _ in 0..10_000 {
            if now(self.projector.renew(limit)).unwrap().behind == 0 {
                return;
            }
        }
        panic!("the renewal does not arrive");
    }

    /// Returns the difference between the rows and a rebuild.
    pub(crate) fn difference(&self) -> Difference {
        for _ in 0..1_000 {
            if let Some(found) = now(self.projector.compare(PLENTY)).unwrap().difference {
                return found;
            }
        }
        panic!("the comparison does not arrive");
    }

    /// Switches to another extractor, as a new version of the program does.
    pub(crate) fn read_with(&mut self, extractor: Arc<dyn Extractor>) {
        self.extractor = extractor;
        self.restart();
    }

    /// Returns the dead letters, each with its cause.
    pub(crate) fn dead(&self) -> Vec<(EventId, String)> {
        let letters = Projection::<GraphDelta>::dead_letters(self.store.as_ref(), PLENTY);
        now(letters).unwrap().into_iter().map(|letter| (letter.event, letter.why)).collect()
    }

    /// Creates a projector without state, as after a restart.
    pub(crate) fn restart(&mut self) {
        self.projector = projector(&self.store, &self.extractor);
    }

    pub(crate) fn graph(&self) -> Graph {
        Graph::new(self.store.clone())
    }

    /// Every row.
    pub(crate) fn dump(&self) -> GraphDelta {
        GraphDelta {
            entities: own(now(self.store.entities(&EntityFilter::all())).unwrap()),
            facts: now(self.store.history(&FactFilter::all())).unwrap(),
            mentions: now(self.store.mentions(&MentionFilter::all())).unwrap(),
            ..GraphDelta::default()
        }
    }

    /// Rebuilds from the log and returns every row.
    pub(crate) fn rebuilt(&mut self) -> GraphDelta {
        now(self.projector.reset()).unwrap();
        self.fold();
        self.dump()
    }

    pub(crate) fn facts(&self, as_of: AsOf) -> Vec<Fact> {
        own(now(self.store.facts(&FactFilter::all(), as_of)).unwrap())
    }

    /// Returns the current beliefs valid on a day, one per line: `user lives_in Oslo`, with a mark for a status other than
    /// active.
    pub(crate) fn on(&self, world: &str) -> Vec<String> {
        self.lines(&self.facts(AsOf::present(day(world))))
    }

    /// Returns the current beliefs, whatever the day, with their intervals.
    pub(crate) fn believed(&self) -> Vec<String> {
        let facts = now(self.store.believed(&FactFilter::all())).unwrap();
        let dated = |fact: &Fact| {
            let text =
                |at: Option<WorldTime>| at.map_or_else(String::new, |at| at.civil(&Zone::utc()).day_text());
            format!("{} [{}..{}]", self.line(fact), text(fact.valid_at), text(fact.invalid_at))
        };
        let mut lines: Vec<String> = facts.iter().map(dated).collect();
        lines.sort();
        lines
    }

    fn lines(&self, facts: &[Fact]) -> Vec<String> {
        let mut lines: Vec<String> = facts.iter().map(|fact| self.line(fact)).collect();
        lines.sort();
        lines
    }

    fn line(&self, fact: &Fact) -> String {
        let name = |id| {
            let found = now(self.graph().entities([id], AsOf::present(Timestamp::MAX))).unwrap();
            found.first().map_or_else(|| "?".to_owned(), |entity| entity.name.clone())
        };
        let object = match &fact.object {
            Value::Entity(id) => name(*id),
            Value::Literal { text, .. } => text.clone(),
        };
        let act = match fact.act {
            Act::Plan => "plans ",
            Act::Negative => "not ",
            _ => "",
        };
        let status = match fact.status {
            FactStatus::Active => String::new(),
            other => format!(" ({})", other.as_str()),
        };
        let topic = fact.topic.as_deref().map(|topic| format!(" #{topic}")).unwrap_or_default();
        format!("{} {act}{} {object}{topic}{status}", name(fact.subject), fact.predicate)
    }
}

fn own<T: Clone>(rows: Vec<Arc<T>>) -> Vec<T> {
    rows.into_iter().map(Arc::unwrap_or_clone).collect()
}
