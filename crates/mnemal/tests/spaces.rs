//! Multiple spaces: found by name, opened and closed on demand, read together, and never mixed up.

#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "the parts that tests share are tests too")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mnemal::admin::{AlwaysOn, GLOBAL};
use mnemal::events::Selector;
use mnemal::ports::Clock as _;
use mnemal::recall::RecallMode;
use mnemal::types::{GapCause, InstallationKey, Layer};
use mnemal::{
    Engine, ErrorKind, EventFilter, LearningFilter, LearningKind, Memory, Message, NoteKey, SessionId,
    Settings, SpaceId, Spaces, Within,
};
use mnemal_testkit::{ManualClock, SeededIds};

fn name(text: &str) -> SpaceId {
    SpaceId::new(text).unwrap()
}

fn session(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

struct Home {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    spaces: Spaces,
}

impl Home {
    fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::default());
        let mut settings = Settings::default();
        settings.storage.durability = mnemal::settings::DurabilityMode::Normal;
        // No test here is about deadlines: on a busy machine each part gets as much time as it needs.
        settings.recall.part_deadline_ms = 60_000;
        change(&mut settings);
        let builder = Engine::builder().with_clock(Arc::<ManualClock>::clone(&clock)).with_settings(settings);
        let builder = builder.with_ids(Arc::new(SeededIds::new(3))).with_key(InstallationKey::new([3; 32]));
        let spaces = Spaces::new(folder.path(), builder).unwrap();
        Self { folder, clock, spaces }
    }

    fn new() -> Self {
        Self::with(|_| {})
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    async fn space(&self, text: &str) -> Memory {
        self.spaces.open_or_create(&name(text)).await.unwrap()
    }

    /// A space with one turn.
    async fn telling(&self, space: &str, text: &str) -> Memory {
        let memory = self.space(space).await;
        let _ack = memory.log(Message::user(text).session(session("old"))).await.unwrap();
        memory
    }

    /// The memory of a space with all its secondary spaces.
    async fn reading(&self, space: &str) -> Memory {
        let memory = self.space(space).await;
        self.spaces.beside(&memory, &[]).await.unwrap()
    }
}

async fn preference(memory: &Memory, key: &str, text: &str) {
    let note = memory.remember(text).key(NoteKey::new(key).unwrap()).kind(LearningKind::Preference).by_user();
    assert!(note.await.unwrap().created);
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| mnemal::context::line_number(line).is_some()).collect()
}

#[tokio::test]
async fn a_space_is_made_listed_shown_marked_and_removed() {
    let home = Home::new();
    let spaces = &home.spaces;
    assert_eq!(spaces.list().await.unwrap(), []);
    assert_eq!(spaces.open(&name("web")).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(spaces.show(&name("web")).await.unwrap_err().kind(), ErrorKind::NotFound);
    let memory = spaces.create(&name("web"), AlwaysOn::Yes).await.unwrap();
    let again = spaces.create(&name("web"), AlwaysOn::No).await;
    assert_eq!(again.unwrap_err().kind(), ErrorKind::Conflict);
    let _ack = memory.log(Message::user("hello")).await.unwrap();
    drop(memory);
    home.space("api").await;
    let listed: Vec<(String, AlwaysOn)> = spaces
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|entry| (entry.space.to_string(), entry.always_on))
        .collect();
    assert_eq!(listed, [("api".to_owned(), AlwaysOn::No), ("web".to_owned(), AlwaysOn::Yes)]);
    let shown = spaces.show(&name("web")).await.unwrap();
    assert_eq!((shown.stats.head.count(), shown.stats.sessions), (1, 1));
    assert!(shown.last_at.is_some() && shown.entry.bytes > 0 && shown.file.ends_with("spaces/web.db"));
    spaces.set_always_on(&name("web"), AlwaysOn::No).await.unwrap();
    spaces.set_always_on(&name("web"), AlwaysOn::No).await.unwrap();
    assert_eq!(spaces.show(&name("web")).await.unwrap().entry.always_on, AlwaysOn::No);
    assert_eq!(
        spaces.set_always_on(&name("gone"), AlwaysOn::Yes).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    spaces.set_always_on(&name("web"), AlwaysOn::Yes).await.unwrap();
    spaces.remove(&name("web")).await.unwrap();
    assert_eq!(spaces.remove(&name("web")).await.unwrap_err().kind(), ErrorKind::NotFound);
    drop(spaces.open(&name("api")).await.unwrap());
    spaces.close().await.unwrap();
    let mut left: Vec<String> = std::fs::read_dir(home.path().join("spaces"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["api.db"]);
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_a_space_and_its_key() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let spaces = Spaces::new(folder.path().join("data"), Engine::builder()).unwrap();
    drop(spaces.create(&name("web"), AlwaysOn::No).await.unwrap());
    let mode = |path: &str| folder.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data/spaces"), mode("data/spaces/web.db")), (0o700, 0o600));
    assert_eq!(mode("data/installation.key"), 0o600);
}

// proves: DF-73 (spaces in files)
#[tokio::test]
async fn the_longest_unused_space_is_closed_and_one_that_is_held_never_is() {
    let home = Home::with(|settings| settings.spaces.max_open = 3);
    let held = home.telling("held", "the held space knows cobalt").await;
    for round in 0..10 {
        for space in ["a", "b", "c", "d"] {
            home.clock.advance(Duration::from_millis(5));
            let _ack = home.space(space).await.log(Message::user(format!("{space} {round}"))).await.unwrap();
            assert!(home.spaces.n_open() <= 3);
        }
    }
    assert_eq!(held.recall("cobalt").await.unwrap().hits.len(), 1);
    for space in ["a", "b", "c", "d"] {
        let memory = home.space(space).await;
        let events = memory.events().latest(&EventFilter::all(), std::num::NonZeroUsize::MAX).await.unwrap();
        assert_eq!(events.len(), 10);
        assert!(events.iter().all(|event| event.body().unwrap().content.starts_with(space)));
    }
    let (_two, _three) = (home.space("a").await, home.space("b").await);
    let full = home.spaces.open_or_create(&name("c")).await.unwrap_err();
    assert_eq!(full.kind(), ErrorKind::Unavailable, "{full}");
    drop(held);
    home.space("c").await;
}

#[tokio::test]
async fn what_nobody_asked_for_in_a_minute_is_closed_when_something_is_opened() {
    let home = Home::new();
    let held = home.space("held").await;
    for space in ["a", "b", "c"] {
        home.space(space).await;
    }
    home.clock.advance(Duration::from_secs(59));
    home.space("a").await;
    assert_eq!(home.spaces.n_open(), 4);
    home.clock.advance(Duration::from_secs(1));
    home.space("a").await;
    assert_eq!(home.spaces.n_open(), 2);
    assert_eq!(held.admin().stats().await.unwrap().head.count(), 0);
}

#[tokio::test]
async fn callers_that_open_one_space_at_once_share_it() {
    let home = Home::with(|settings| settings.spaces.max_open = 4);
    let space = name("one");
    let open = || home.spaces.open_or_create(&space);
    let (a, b, c) = tokio::join!(open(), open(), open());
    for memory in [a, b, c] {
        assert!(!memory.unwrap().log(Message::user("here")).await.unwrap().duplicate);
    }
    assert_eq!(home.spaces.n_open(), 1);
    assert_eq!(home.space("one").await.admin().stats().await.unwrap().head.count(), 3);
}

#[tokio::test]
async fn a_space_that_is_in_use_is_not_removed() {
    let home = Home::new();
    let held = home.telling("web", "keep me").await;
    assert_eq!(home.spaces.remove(&name("web")).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(held.recall("keep me").await.unwrap().hits.len(), 1);
    drop(held);
    // Opens it as another process would, with separate connections.
    let other = Memory::open(home.path().join("spaces/web.db")).await.unwrap();
    let _ack = other.log(Message::user("and me")).await.unwrap();
    assert_eq!(home.spaces.remove(&name("web")).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(home.space("web").await.admin().stats().await.unwrap().head.count(), 2);
    other.admin().engine().close().await.unwrap();
    home.spaces.remove(&name("web")).await.unwrap();
    assert_eq!(home.spaces.list().await.unwrap(), []);
}

#[tokio::test]
async fn a_damaged_space_can_be_removed_and_a_foreign_file_cannot() {
    let home = Home::new();
    drop(home.telling("torn", "words").await);
    home.spaces.close().await.unwrap();
    let file = |space: &str| home.path().join("spaces").join(format!("{space}.db"));
    let mut bytes = std::fs::read(file("torn")).unwrap();
    for byte in bytes.iter_mut().skip(100).take(8_000) {
        *byte = 0xa5;
    }
    std::fs::write(file("torn"), bytes).unwrap();
    std::fs::write(file("notes"), "my shopping list, which is no database at all").unwrap();
    home.spaces.remove(&name("torn")).await.unwrap();
    assert_eq!(home.spaces.remove(&name("notes")).await.unwrap_err().kind(), ErrorKind::Invalid);
    assert!(file("notes").exists() && !file("torn").exists());
}

// proves: GB-20 (merged by score and labelled)
#[tokio::test]
async fn a_read_also_asks_the_global_space_and_labels_what_it_says() {
    let home = Home::new();
    let web = home.telling("web", "The staging server is called heron").await;
    let global = home.telling(GLOBAL, "My staging password manager is called kestrel").await;
    preference(&global, "answers", "prefers short answers").await;
    let both = home.reading("web").await;
    assert_eq!(both.admin().secondary().map(ToString::to_string).collect::<Vec<_>>(), ["global"]);
    let found = both.recall("what is staging called").await.unwrap();
    let labels: Vec<Option<&str>> =
        found.hits.iter().map(|hit| hit.space.as_ref().map(SpaceId::as_str)).collect();
    assert!(labels.contains(&None) && labels.contains(&Some("global")), "{labels:?}");
    assert!(found.hits.is_sorted_by(|a, b| a.score.get() >= b.score.get()));
    for hit in &found.hits {
        let sum: f32 = hit.parts.iter().map(|part| part.value).sum();
        assert!((sum - hit.score.get()).abs() < 1e-5 && hit.score.get() <= 1.0);
    }
    let context = both.context("what is staging called").await.unwrap();
    let of_global = |line: &&str| line.contains(" (global) \"");
    let (theirs, own): (Vec<&str>, Vec<&str>) = lines(&context.text).into_iter().partition(of_global);
    assert!(theirs.iter().any(|line| line.contains("prefers short answers")), "{}", context.text);
    assert!(theirs.iter().any(|line| line.contains("kestrel")), "{}", context.text);
    assert!(own.iter().any(|line| line.contains("heron")), "{}", context.text);
    let alone = web.recall("kestrel").await.unwrap();
    assert!(alone.hits.iter().all(|hit| !hit.event.body().unwrap().content.contains("kestrel")));
}

// proves: GB-18
#[tokio::test]
async fn each_hit_of_several_spaces_says_where_it_is_from_when_it_was_and_what_its_score_is_made_of() {
    let home = Home::new();
    let _web = home.telling("web", "The staging server is called heron").await;
    let _global = home.telling(GLOBAL, "My staging password manager is called kestrel").await;
    let found = home.reading("web").await.recall("what is staging called").await.unwrap();
    assert_eq!(found.hits.len(), 2);
    for hit in &found.hits {
        let kept = hit.event.body().unwrap();
        let from = home.space(hit.space.as_ref().map_or("web", SpaceId::as_str)).await;
        assert_eq!(from.events().get(hit.event.id).await.unwrap(), hit.event, "its id leads to its source");
        assert_eq!(
            (kept.origin, hit.event.trust),
            (mnemal_core::Origin::UserDirect, mnemal_core::Trust::User)
        );
        assert_eq!(kept.occurred_at, hit.event.recorded_at, "said now");
        assert!(hit.score.get() > 0.0 && hit.parts.iter().any(|part| part.value > 0.0));
    }
}

#[tokio::test]
async fn the_preferences_of_global_stand_in_every_context_and_its_recent_turns_in_none() {
    let home = Home::new();
    let global = home.space(GLOBAL).await;
    preference(&global, "tone", "likes plain words").await;
    let _ack = global.log(Message::user("I am at the dentist right now")).await.unwrap();
    for project in ["one", "two"] {
        let memory = home.telling(project, "We paint the fence today").await;
        let memory = home.spaces.beside(&memory, &[]).await.unwrap();
        let context = memory.context("").await.unwrap();
        assert!(context.text.contains(" (global) \"likes plain words\""), "{}", context.text);
        assert!(context.text.contains("paint the fence") && !context.text.contains("dentist"));
    }
    // A preference in both spaces appears once, under the primary space's name.
    let one = home.reading("one").await;
    preference(&one, "tone", "likes plain words").await;
    let context = one.context("").await.unwrap();
    assert!(context.text.contains(" \"likes plain words\"") && !context.text.contains("global"));
}

// proves: GB-32
#[tokio::test]
async fn a_space_that_is_always_on_looks_for_insights_by_itself() {
    for (always_on, expect) in [(AlwaysOn::Yes, 1), (AlwaysOn::No, 0)] {
        let home = Home::with(|settings| settings.spaces.max_open = 1);
        drop(home.spaces.create(&name("handbook"), always_on).await.unwrap());
        // Another space evicts it, so that it is reopened.
        drop(home.space("other").await);
        let memory = home.space("handbook").await;
        for text in
            ["Ada Berg repairs the till in Genoa.", "The supplier in Genoa sends letters to Ada Berg."]
        {
            assert!(memory.remember(text).await.unwrap().created);
        }
        home.clock.advance(Duration::from_hours(1));
        let _tended =
            memory.admin().engine().maintain(&mnemal::types::OwnerId::new("test").unwrap()).await.unwrap();
        let rows = memory.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
        let insights = rows.iter().filter(|row| row.kind == LearningKind::Insight).count();
        assert_eq!(insights, expect, "{always_on:?}");
    }
}

// proves: GB-15 (the share of the budget)
#[tokio::test]
async fn other_spaces_take_a_quarter_of_a_context_at_most() {
    let home = Home::new();
    home.spaces.create(&name("handbook"), AlwaysOn::Yes).await.unwrap();
    for space in [GLOBAL, "handbook"] {
        let memory = home.space(space).await;
        for number in 0..60 {
            let text = format!(
                "{space} rule {number}: the deploy of service {number} needs a review by team {number}"
            );
            let _ack = memory.log(Message::user(text)).await.unwrap();
        }
    }
    home.telling("web", "the deploy of the web service happens on Tuesdays").await;
    let memory = home.reading("web").await;
    assert_eq!(memory.admin().secondary().count(), 2);
    for budget in [300, 1_000, 4_000] {
        let context = memory.context("who reviews the deploy of a service?").budget(budget).await.unwrap();
        let theirs: u32 = lines(&context.text)
            .iter()
            .filter(|line| line.contains(" (global) ") || line.contains(" (handbook) "))
            .map(|line| mnemal_text::estimate_tokens(&format!("{line}\n")))
            .sum();
        assert!(theirs > 0 && theirs * 4 <= budget, "{theirs} of {budget}: {}", context.text);
        assert!(context.text.contains("on Tuesdays") || budget == 300, "{}", context.text);
    }
}

// proves: GB-15 (every always-on space, and no other)
#[tokio::test]
async fn a_space_that_was_not_granted_is_never_read() {
    let home = Home::new();
    for space in ["web", "other", "secret", "handbook"] {
        home.telling(space, &format!("the canary of {space} is marzipan{space}")).await;
    }
    let canaries = async |memory: &Memory| {
        let mut found: Vec<String> = Vec::new();
        for mode in [RecallMode::Auto, RecallMode::Lexical, RecallMode::Vector] {
            for question in ["canary marzipansecret", "marzipanother", "what is the canary of handbook?"] {
                let answer = memory.recall(question).mode(mode).limit(50).await.unwrap();
                found.extend(answer.hits.iter().map(|hit| hit.event.body().unwrap().content.clone()));
                found.push(memory.context(question).await.unwrap().text.clone());
            }
        }
        let all = found.join("\n");
        let of = |space: &&str| all.contains(&format!("marzipan{space}"));
        ["web", "other", "secret", "handbook"].into_iter().filter(of).collect::<Vec<_>>()
    };
    assert_eq!(canaries(&home.reading("web").await).await, ["web"]);
    home.spaces.set_always_on(&name("handbook"), AlwaysOn::Yes).await.unwrap();
    assert_eq!(canaries(&home.reading("web").await).await, ["web", "handbook"]);
    let web = home.space("web").await;
    let named = home.spaces.beside(&web, &[name("other"), name("web")]).await.unwrap();
    assert_eq!(canaries(&named).await, ["web", "other", "handbook"]);
    // A restricted handle finds no trace of other spaces.
    let known = home.spaces.only(&Within::Only(vec![name("web"), name("nowhere")]));
    assert_eq!(canaries(&known.beside(&web, &[]).await.unwrap()).await, ["web"]);
    assert_eq!(
        known.list().await.unwrap().iter().map(|entry| entry.space.as_str()).collect::<Vec<_>>(),
        ["web"]
    );
    assert_eq!(known.always_on().await.unwrap(), []);
    for refused in [
        known.open(&name("other")).await.unwrap_err(),
        known.open_or_create(&name("other")).await.unwrap_err(),
        known.create(&name("other"), AlwaysOn::No).await.unwrap_err(),
        known.create(&name("fresh"), AlwaysOn::No).await.unwrap_err(),
        known.use_always_on(&name("handbook")).await.unwrap_err(),
        known.show(&name("handbook")).await.unwrap_err(),
        known.remove(&name("other")).await.unwrap_err(),
        known.set_always_on(&name("other"), AlwaysOn::Yes).await.unwrap_err(),
        known.set_consolidate_interval(&name("other"), 5).await.unwrap_err(),
        known.beside(&web, &[name("other")]).await.unwrap_err(),
        known.only(&Within::Only(vec![name("other")])).open(&name("other")).await.unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused}");
    }
    let unknown = home.spaces.beside(&web, &[name("nowhere")]).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    assert!(!home.path().join("spaces/nowhere.db").exists());
    assert!(!home.path().join("spaces/global.db").exists(), "a read made the global space");
    let narrow = named.for_user(mnemal::UserId::new("ada").unwrap());
    assert_eq!(canaries(&narrow).await, Vec::<&str>::new());
    let others = [home.space("secret").await.for_session(session("another"))];
    assert_eq!(canaries(&web.admin().with_secondary(others)).await, ["web"]);
}

#[tokio::test]
async fn global_is_not_read_where_the_settings_say_no() {
    let home = Home::with(|settings| settings.read_global = false);
    home.telling(GLOBAL, "marzipan everywhere").await;
    assert_eq!(home.reading("web").await.admin().secondary().count(), 0);
    home.spaces.set_always_on(&name(GLOBAL), AlwaysOn::Yes).await.unwrap();
    assert_eq!(home.reading("web").await.admin().secondary().count(), 1);
    assert_eq!(home.reading(GLOBAL).await.admin().secondary().count(), 0);
}

#[tokio::test]
async fn what_is_written_goes_to_one_space_whatever_is_read_beside_it() {
    let home = Home::new();
    home.telling(GLOBAL, "the global turn stays").await;
    let memory = home.reading("web").await;
    let _ack = memory.log(Message::user("a turn of web")).await.unwrap();
    preference(&memory, "tone", "short").await;
    let _context = memory.context("turn").await.unwrap();
    let hit = memory.recall("the global turn stays").await.unwrap().hits[0].clone();
    assert_eq!(hit.space, Some(name(GLOBAL)));
    assert_eq!(memory.events().get(hit.event.id).await.unwrap_err().kind(), ErrorKind::NotFound);
    let gone = memory.forget(Selector::Events(vec![hit.event.id])).await;
    assert!(gone.is_err() || gone.unwrap().events == 0);
    let global = home.space(GLOBAL).await;
    assert_eq!(global.admin().stats().await.unwrap().head.count(), 1);
    assert_eq!(global.preferences().notes(&LearningFilter::all()).await.unwrap().len(), 0);
    assert_eq!(global.recall("the global turn stays").await.unwrap().hits.len(), 1);
    assert_eq!(home.space("web").await.preferences().notes(&LearningFilter::all()).await.unwrap().len(), 1);
}

// proves: GB-20 (a space that fails is a gap)
#[tokio::test]
async fn a_secondary_space_that_fails_is_a_gap() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("spaces")).unwrap();
    std::fs::write(home.path().join("spaces/global.db"), vec![0xa5_u8; 9_000]).unwrap();
    home.telling("web", "the bridge is green").await;
    let memory = home.reading("web").await;
    let found = memory.recall("is the bridge green?").await.unwrap();
    assert_eq!(found.hits.len(), 1);
    let failed = |gap: &mnemal::Gap| gap.layer == Layer::Events && matches!(gap.cause, GapCause::Failed(_));
    assert!(found.gaps.iter().any(failed), "{:?}", found.gaps);
    let context = memory.context("is the bridge green?").await.unwrap();
    assert!(context.text.contains("green") && context.gaps.iter().any(failed), "{:?}", context.gaps);
    // A space that is closed while in use fails at the query.
    let handbook = home.telling("handbook", "bridges are painted in May").await;
    let web = home.space("web").await.admin().with_secondary([handbook.clone()]);
    handbook.admin().engine().close().await.unwrap();
    let found = web.recall("is the bridge green?").await.unwrap();
    assert!(found.hits.len() == 1 && !found.gaps.is_empty(), "{:?}", found.gaps);
    let context = web.context("is the bridge green?").await.unwrap();
    assert!(context.text.contains("green") && !context.gaps.is_empty());
}

#[tokio::test]
async fn what_a_session_was_shown_of_another_space_is_skipped_and_known_as_an_echo() {
    const WORDS: &str = "The harbour master of Kiruna prefers green ink for every single form he signs";
    let home = Home::new();
    home.telling(GLOBAL, WORDS).await;
    let memory = home.reading("web").await;
    let ask = || memory.context("which ink does the harbour master prefer?").session(session("now"));
    let first = ask().skip_injected().await.unwrap();
    assert!(first.text.contains("green ink"), "{}", first.text);
    let second = ask().skip_injected().await.unwrap();
    assert!(!second.text.contains("green ink"), "{}", second.text);
    let receipt = memory.admin().receipt(first.receipt.id).await.unwrap();
    assert_eq!(receipt.lines.len(), first.receipt.lines.len());
    let said = Message::assistant(format!("As you said: {WORDS}.")).session(session("now"));
    let acked = memory.log(said).await.unwrap();
    assert_eq!(acked.gaps, []);
    let event = memory.events().get(acked.id).await.unwrap();
    let echo = event.echo[0].of(&event.body().unwrap().content).unwrap();
    assert!(echo.starts_with("The harbour master"), "{echo}");
    // A process that reads only this space cannot see the texts, and is not affected by their ids.
    let alone = home.space("web").await;
    let acked = alone.log(Message::assistant("Something else").session(session("now"))).await.unwrap();
    assert_eq!(acked.gaps, []);
}

#[tokio::test]
async fn a_space_that_has_little_to_say_does_not_outrank_one_that_answers() {
    let home = Home::new();
    let global = home.space(GLOBAL).await;
    for text in ["The weather was fine in May", "Rita called about the rent", "The garden needs water"] {
        let _ack = global.log(Message::user(text)).await.unwrap();
    }
    let web = home.space("web").await;
    for text in [
        "The nightly build of web runs at three in the morning",
        "The nightly build was red on Monday because of the rent calculator",
        "We moved the nightly build to another runner",
    ] {
        let _ack = web.log(Message::user(text)).await.unwrap();
    }
    let memory = home.reading("web").await;
    let found = memory.recall("when does the nightly build run?").await.unwrap();
    assert!(found.hits[0].space.is_none() && found.hits.iter().take(2).all(|hit| hit.space.is_none()));
    let other = memory.recall("who called about the rent?").await.unwrap();
    assert_eq!(other.hits[0].space, Some(name(GLOBAL)), "{:?}", other.hits[0].event.body().unwrap().content);
}

#[tokio::test]
async fn fifty_spaces_asked_at_once_through_four_places_stay_apart() {
    let home = Home::with(|settings| settings.spaces.max_open = 8);
    let spaces: Vec<SpaceId> = (0..50).map(|number| name(&format!("s{number}"))).collect();
    for space in &spaces {
        let memory = home.spaces.open_or_create(space).await.unwrap();
        let _ack = memory.log(Message::user(format!("the canary is marzipan{space}end"))).await.unwrap();
    }
    for round in 0..8_usize {
        let asked = (0..6).map(|place| {
            let space = &spaces[(round * 31 + place * 17) % spaces.len()];
            let spaces = &home.spaces;
            async move {
                let memory = spaces.open(space).await.unwrap();
                let found = memory.recall("what is the canary?").limit(100).await.unwrap();
                assert_eq!(found.hits.len(), 1);
                let text = &found.hits[0].event.body().unwrap().content;
                assert!(text.contains(&format!("marzipan{space}end")), "{space}: {text}");
            }
        });
        futures_util::future::join_all(asked).await;
        assert!(home.spaces.n_open() <= 8);
    }
}

// proves: GB-02, GB-03, GB-13
#[tokio::test]
async fn an_always_on_space_is_made_once_and_becomes_active_again_as_it_was() {
    let home = Home::new();
    let shop = name("shop");
    let memory = home.spaces.use_always_on(&shop).await.unwrap();
    let _ack = memory.log(Message::user("The till is in Genoa.")).await.unwrap();
    let entry = async || home.spaces.list().await.unwrap();
    let (made, first) = (home.clock.now(), entry().await);
    assert_eq!(first.len(), 1);
    assert_eq!((first[0].always_on, first[0].always_on_since), (AlwaysOn::Yes, Some(made)));
    assert_eq!(first[0].consolidate_interval_mins, 30);
    home.clock.advance(Duration::from_hours(1));
    home.spaces.set_consolidate_interval(&shop, 45).await.unwrap();
    home.spaces.set_always_on(&shop, AlwaysOn::No).await.unwrap();
    let off = entry().await;
    assert_eq!((off[0].always_on, off[0].consolidate_interval_mins), (AlwaysOn::No, 45));
    assert_eq!(home.spaces.always_on().await.unwrap(), []);
    drop(memory);
    for _ in 0..2 {
        let memory = home.spaces.use_always_on(&shop).await.unwrap();
        assert_eq!(memory.admin().stats().await.unwrap().head.count(), 1, "what it holds stays");
        let now = entry().await;
        assert_eq!((now.len(), now[0].always_on, now[0].always_on_since), (1, AlwaysOn::Yes, Some(made)));
        assert_eq!(now[0].consolidate_interval_mins, 45);
    }
    assert_eq!(home.spaces.set_consolidate_interval(&shop, 0).await.unwrap_err().kind(), ErrorKind::Invalid);
    let none = home.spaces.set_consolidate_interval(&name("none"), 5).await.unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NotFound);
}

// proves: GB-32 (of a space's own interval)
#[tokio::test]
async fn cycles_keep_to_the_interval_of_their_space() {
    let home = Home::new();
    for (space, mins, cycles) in [("often", Some(5), 12), ("as-ever", None, 2)] {
        drop(home.spaces.use_always_on(&name(space)).await.unwrap());
        home.spaces.close().await.unwrap();
        if let Some(mins) = mins {
            home.spaces.set_consolidate_interval(&name(space), mins).await.unwrap();
        }
        let memory = home.spaces.open(&name(space)).await.unwrap();
        for _ in 0..60 {
            home.clock.advance(Duration::from_mins(1));
            let owner = mnemal::types::OwnerId::new("test").unwrap();
            assert_eq!(memory.admin().engine().maintain(&owner).await.unwrap().gaps, []);
        }
        let book = memory.admin().engine().dream_ledger(mnemal::events::LedgerKind::Cycle).await.unwrap();
        assert_eq!(book.len(), cycles, "{space}");
    }
}

// proves: GB-44 (every active always-on space has its worker, and no other one)
#[tokio::test]
async fn every_always_on_space_is_attended_until_the_host_says_enough() {
    let home = Home::new();
    for (space, always_on) in [("one", AlwaysOn::Yes), ("two", AlwaysOn::Yes), ("rest", AlwaysOn::No)] {
        let memory = home.spaces.create(&name(space), always_on).await.unwrap();
        for _ in 0..2 {
            home.clock.advance(Duration::from_secs(1));
            assert_eq!(memory.remember("The lift is loud.").await.unwrap().gaps, []);
        }
    }
    let pace = mnemal::dream::Pace {
        first: Duration::ZERO,
        every: Duration::from_millis(1),
        ..mnemal::dream::Pace::default()
    };
    let owner = mnemal::types::OwnerId::new("test").unwrap();
    let folded = async |space: &str| {
        let rows = home.space(space).await.preferences().all_learnings(&LearningFilter::all()).await.unwrap();
        rows.iter().filter(|row| row.superseded_by.is_some()).count()
    };
    let both = async {
        while folded("one").await + folded("two").await < 2 {
            home.clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let attended = home.spaces.run_background(&owner, &pace, both).await.unwrap();
    assert_eq!((attended.dreamt, attended.cut), (2, false), "{attended:?}");
    assert_eq!(folded("rest").await, 0);
}

#[tokio::test]
async fn the_space_of_an_open_engine_is_the_only_one_and_stays_open() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("any name.sqlite");
    let engine = Engine::builder().open(&file).await.unwrap();
    let spaces = Spaces::of_engine(engine, name("agent")).unwrap();
    let memory = spaces.open(&name("agent")).await.unwrap();
    let _ack = memory.log(Message::user("the heron nests behind the mill")).await.unwrap();
    drop(memory);
    let report = spaces.show(&name("agent")).await.unwrap();
    assert_eq!((report.file.as_path(), report.stats.head.count()), (file.as_path(), 1));
    assert!(report.entry.bytes > 0 && report.entry.always_on == AlwaysOn::No);
    assert_eq!(spaces.list().await.unwrap().len(), 1);
    assert!(spaces.always_on().await.unwrap().is_empty());
    assert_eq!(spaces.open_or_create(&name("other")).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(spaces.create(&name("agent"), AlwaysOn::No).await.unwrap_err().kind(), ErrorKind::Conflict);
    let marked = spaces.set_always_on(&name("agent"), AlwaysOn::Yes).await.unwrap_err();
    let removed = spaces.remove(&name("agent")).await.unwrap_err();
    assert_eq!((marked.kind(), removed.kind()), (ErrorKind::Unsupported, ErrorKind::Unsupported));
    let mut files: Vec<_> =
        std::fs::read_dir(home.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert!(files.contains(&"any name.sqlite-wal".into()), "{files:?}");
    spaces.close().await.unwrap();
    assert!(!home.path().join("any name.sqlite-wal").exists());
    assert_eq!(spaces.n_open(), 0, "what it held in memory is let go");
    assert_eq!(
        spaces.open(&name("agent")).await.unwrap_err().kind(),
        ErrorKind::Unavailable,
        "it was closed"
    );
    spaces.close().await.unwrap();
    assert!(!home.path().join("agent.db").exists() && !Path::new("agent.db").exists());
}

#[tokio::test]
async fn an_engine_in_memory_has_a_space_without_a_file() {
    let spaces = Spaces::of_engine(Engine::builder().in_memory().unwrap(), name("agent")).unwrap();
    let memory = spaces.open_or_create(&name("agent")).await.unwrap();
    let _ack = memory.log(Message::user("the heron nests behind the mill")).await.unwrap();
    let report = spaces.show(&name("agent")).await.unwrap();
    assert_eq!((report.entry.bytes, report.file.as_path()), (0, Path::new("")));
    assert_eq!(memory.recall("heron").await.unwrap().value.hits.len(), 1);
    spaces.close().await.unwrap();
}
