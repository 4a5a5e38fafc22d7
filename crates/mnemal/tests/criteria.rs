//! The six success criteria of nanobot v2, each as a scenario on a space without configuration: no model, no endpoint, no key.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::time::Duration;

use mnemal::context::Section;
use mnemal::settings::EmbeddingProvider;
use mnemal::types::{ChannelId, Degraded, GapCause, InstallationKey, Layer, OwnerId};
use mnemal::{AsOf, Context, Engine, Memory, Message, Scope, SessionId, Settings, SpaceId};
use mnemal_testkit::{ManualClock, SeededIds};

const WEEK: Duration = Duration::from_hours(7 * 24);

struct Life {
    memory: Memory,
    clock: Arc<ManualClock>,
}

impl Life {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let builder = Engine::builder()
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(6)))
            .with_key(InstallationKey::new([6; 32]));
        let engine = builder.in_memory().unwrap();
        Self { memory: engine.memory(Scope::whole(SpaceId::new("home").unwrap())), clock }
    }

    async fn say(&self, (channel, session): (&str, &str), turns: &[Message]) {
        for turn in turns {
            let turn = turn.clone().channel(ChannelId::new(channel).unwrap());
            let turn = turn.session(SessionId::new(session).unwrap());
            let _ack = self.memory.log(turn).await.unwrap();
            self.clock.advance(Duration::from_mins(1));
        }
    }

    /// Runs the upkeep of a long-running process.
    async fn rest(&self) {
        drop(self.memory.admin().engine().maintain(&OwnerId::new("rest").unwrap()).await.unwrap());
    }

    async fn asked(&self, (channel, session): (&str, &str), question: &str) -> Degraded<Context> {
        let call = self.memory.context(question).channel(ChannelId::new(channel).unwrap());
        call.session(SessionId::new(session).unwrap()).await.unwrap()
    }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn agent(text: &str) -> Message {
    Message::assistant(text)
}

async fn told_of_john() -> Life {
    let life = Life::new();
    life.say(
        ("telegram", "telegram:1"),
        &[
            user("My brother John works at Northwind as a nurse."),
            agent("Good to know."),
            user("John lives in Bergen. John is married to Maria."),
            user("John's birthday is on 3 May."),
        ],
    )
    .await;
    life
}

// proves: NB-90
#[tokio::test]
async fn asked_about_john_it_tells_what_is_known_of_him_with_his_relations() {
    let life = told_of_john().await;
    let present = AsOf::present(life.memory.admin().engine().now());
    let john = life.memory.facts().entity_profile("John", present).await.unwrap().value;
    assert_eq!(john.entity.kind.as_str(), "person");
    assert!(john.roles.iter().any(|(_, role)| role.as_str() == "brother"), "{:?}", john.roles);
    let lines: Vec<String> = john.facts.iter().map(mnemal::graph::FactView::line).collect();
    for known in ["Northwind", "Bergen"] {
        assert!(lines.iter().any(|line| line.contains(known)), "{known}: {lines:?}");
    }
    let relations = john.facts.iter().filter(|told| told.fact.object.entity().is_some());
    assert!(relations.count() >= 2, "{lines:?}");
    let context = life.asked(("cli", "cli:1"), "What do you know about John?").await;
    for known in ["Northwind", "Bergen", "Maria"] {
        assert!(context.text.contains(known), "{known}: {}", context.text);
    }
    assert!(context.sections.iter().any(|part| part.section == Section::Entity && part.tokens.0 > 0));
}

// proves: NB-91
#[tokio::test]
async fn a_preference_that_is_said_once_shapes_every_later_context() {
    let life = Life::new();
    life.say(
        ("cli", "cli:1"),
        &[
            user("How do I start the server?"),
            agent("There are many ways to start the server, and here are all of them in nine paragraphs."),
            user("Actually, I prefer shorter responses"),
        ],
    )
    .await;
    let context = life.asked(("telegram", "telegram:1"), "Which port does it use?").await;
    assert!(context.text.contains("Actually, I prefer shorter responses"), "{}", context.text);
}

// proves: NB-92
#[tokio::test]
async fn a_greeting_after_a_week_is_met_with_topics_open_work_and_preferences() {
    let life = Life::new();
    life.say(
        ("cli", "cli:1"),
        &[
            user("From now on, always answer in French."),
            agent("D'accord."),
            user("We are moving the billing service from Jenkins to Buildkite this month."),
            agent("I have written the pipeline for the unit tests; the release pipeline is still to do."),
            user("I still have to ask Priya for the signing key before we can release."),
        ],
    )
    .await;
    let task = Message::observation("rotate the signing key").metadata("kind", "task_created");
    life.say(("cli", "cli:1"), &[task.metadata("task_id", "T7")]).await;
    life.rest().await;
    life.clock.advance(WEEK);
    let task = "\"task T7: rotate the signing key\"";
    for greeting in ["hi", ""] {
        let context = life.asked(("cli", "cli:2"), greeting).await;
        assert!(context.text.contains("always answer in French"), "{}", context.text);
        for known in ["Jenkins to Buildkite", "the release pipeline is still to do", "Priya", task] {
            assert!(context.text.contains(known), "{greeting:?} {known}: {}", context.text);
        }
    }
}

// proves: NB-93
#[tokio::test]
async fn what_is_told_on_one_channel_is_known_on_another() {
    let life = told_of_john().await;
    let context = life.asked(("cli", "cli:1"), "When is my brother's birthday?").await;
    assert!(context.text.contains("John's birthday: 3 May"), "{}", context.text);
}

// The fifth criterion.
#[tokio::test]
async fn all_of_it_needs_no_provider() {
    let settings = Settings::default();
    assert!(!matches!(settings.embedding.provider, EmbeddingProvider::OpenaiCompatible));
    let life = told_of_john().await;
    let context = life.asked(("cli", "cli:1"), "What do you know about John?").await;
    let missing = context.gaps.iter().filter(|gap| gap.cause != GapCause::NotConfigured);
    assert_eq!(missing.count(), 0, "{:?}", context.gaps);
    let has_vectors = !context.gaps.iter().any(|gap| gap.layer == Layer::Vector);
    assert_eq!(has_vectors, cfg!(feature = "embedder"), "{:?}", context.gaps);
}

// proves: NB-94, NB-89 (the library)
#[cfg(target_os = "linux")]
#[test]
fn all_of_it_works_where_no_network_is_to_be_had() {
    mnemal_testkit::deny_network().unwrap();
    let refused = std::net::UdpSocket::bind("127.0.0.1:0").unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    asked_about_john_it_tells_what_is_known_of_him_with_his_relations();
    a_preference_that_is_said_once_shapes_every_later_context();
    a_greeting_after_a_week_is_met_with_topics_open_work_and_preferences();
    what_is_told_on_one_channel_is_known_on_another();
}

// The sixth criterion.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn it_takes_less_than_half_a_gigabyte() {
    /// Maximum resident memory of the whole process. Source: the memory target of nanobot v2, 500 MB.
    const MOST_KIB: u64 = 500 * 1024;
    let life = told_of_john().await;
    for number in 0..60 {
        let turns: Vec<Message> = (0..20)
            .map(|turn| user(&format!("Parcel {number}-{turn} for Anna Berg left Oslo for Porto by rail.")))
            .collect();
        life.say(("mail", &format!("mail:{number}")), &turns).await;
    }
    life.rest().await;
    let _context = life.asked(("cli", "cli:1"), "Which parcel left for Porto?").await;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < MOST_KIB, "{peak} KiB");
}
