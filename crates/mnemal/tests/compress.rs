//! Conversation compression through the facade: the exact text of the prompt, the events in the log, and that no turn is lost.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::sync::Arc;
use std::time::Duration;

use mnemal::events::Selector;
use mnemal::settings::CompressSettings;
use mnemal::summaries::{CompressedSession, CompressionReason, Conversations, Method};
use mnemal::types::{Category, GapCause, InstallationKey};
use mnemal::{
    Engine, EventFilter, LearningFilter, Memory, Message, Role, Scope, SessionId, Settings, SpaceId, Within,
    Zone,
};
use mnemal_store::{MemoryStore, Stores};
use mnemal_testkit::{ManualClock, SeededIds};

const SHANGHAI: i32 = 28_800;

struct Chat {
    memory: Memory,
    clock: Arc<ManualClock>,
    session: SessionId,
}

impl Chat {
    fn new(stores: Stores) -> Self {
        let clock = Arc::new(ManualClock::default());
        let builder = Engine::builder()
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(8)))
            .with_key(InstallationKey::new([8; 32]))
            .with_stores(stores);
        let memory = builder.build().unwrap().memory(Scope::whole(SpaceId::new("space").unwrap()));
        Self { memory, clock, session: SessionId::new("feishu:7").unwrap() }
    }

    /// One turn, a minute after the last, in the time zone of the session.
    async fn say(&self, message: Message) -> mnemal::EventId {
        let zone = Zone { name: "Asia/Shanghai".to_owned(), offset_seconds: SHANGHAI };
        let now = self.memory.admin().engine().now();
        let message = message.session(self.session.clone()).occurred_at(now, zone);
        self.clock.advance(Duration::from_mins(1));
        self.memory.log(message).await.unwrap().id
    }

    async fn talk(&self) {
        for (asked, answered) in TALK {
            self.say(Message::user(asked)).await;
            self.say(Message::assistant(answered)).await;
        }
    }

    async fn compress(&self) -> CompressedSession {
        self.memory.events().compress(self.session.clone()).keep_last(2).await.unwrap().value
    }

    async fn timeline(&self) -> Vec<String> {
        let filter = LearningFilter {
            category: Within::Only(Category::new("timeline").unwrap()),
            ..LearningFilter::all()
        };
        let mut notes = self.memory.preferences().notes(&filter).await.unwrap();
        notes.sort_by_key(|note| note.created_at);
        notes.into_iter().map(|note| note.content).collect()
    }

    fn texts(done: &CompressedSession) -> Vec<&str> {
        done.turns.iter().map(|turn| turn.text.as_str()).collect()
    }
}

const TALK: [(&str, &str); 4] = [
    ("The api listens on port 5544 and the queue is called beaver.", "I have put port 5544 into the file."),
    ("Deploys happen on Tuesdays at noon.", "I will wait for Tuesday."),
    ("Priya Nair signs the releases.", "I will ask Priya Nair for the signature."),
    ("Which port was it?", "It listens on 5544."),
];

// proves: CF-12, PB-18, PB-21, PB-22, PB-23, PB-24, PB-25, PB-07
#[tokio::test]
async fn the_prompt_has_the_summary_first_and_then_the_last_turns_as_they_were() {
    let chat = Chat::new(MemoryStore::new().into());
    chat.talk().await;
    let done = chat.compress().await;
    let expected = "[Context Summary]\n\
        [2026-03-01 17:05] user: The api listens on port 5544 and the queue is called beaver. \
        agent: I have put port 5544 into the file. user: Deploys happen on Tuesdays at noon. \
        agent: I will wait for Tuesday. user: Priya Nair signs the releases. \
        agent: I will ask Priya Nair for the signature.\n\
        \n\
        user: Which port was it?\n\
        agent: It listens on 5544.";
    assert_eq!(done.prompt(), expected);
    let entry = done.entry.unwrap();
    assert_eq!((entry.turns, entry.method), (6, Method::Extractive));
    assert!(entry.key.as_str().starts_with("ctx_feishu:7_"), "{}", entry.key);
    let note = chat.memory.preferences().learning(entry.key.as_str()).await.unwrap();
    assert_eq!((note.id, note.importance.get(), note.category.as_str()), (entry.note, 0.3, "timeline"));
    let other = mnemal::NoteKey::new("other").unwrap();
    let _stored = chat.memory.remember("The wiki is in the cellar.").key(other).await.unwrap();
    let plain = chat.memory.preferences().learning("other").await.unwrap().importance;
    assert_eq!(plain, mnemal::types::Importance::DEFAULT, "what is no timeline");
    assert_eq!(note.content, done.summary.lines().nth(1).unwrap());
    let found = chat.memory.recall("who signs the releases?").await.unwrap();
    assert!(found.hits.iter().any(|hit| hit.event.id == entry.event), "recall finds the entry");
}

// proves: PB-19
#[tokio::test]
async fn compressing_again_adds_nothing_until_something_is_said_and_then_goes_on_behind_the_last() {
    let chat = Chat::new(MemoryStore::new().into());
    assert_eq!(chat.compress().await.prompt(), "");
    chat.talk().await;
    let first = chat.compress().await;
    let again = chat.compress().await;
    assert_eq!((again.entry.as_ref(), again.prompt()), (None, first.prompt()));
    chat.say(Message::user("The new queue is called otter.")).await;
    chat.say(Message::assistant("Noted.")).await;
    let second = chat.compress().await;
    assert_eq!(second.entry.as_ref().unwrap().turns, 2);
    let lines: Vec<&str> = second.summary.lines().collect();
    assert_eq!((lines.len(), lines[1]), (3, first.summary.lines().nth(1).unwrap()));
    assert!(
        lines[2].contains("Which port was it?") || lines[2].contains("It listens on 5544."),
        "{}",
        lines[2]
    );
    assert_eq!(Chat::texts(&second), ["The new queue is called otter.", "Noted."]);
}

// proves: PB-08, DF-104
#[tokio::test]
async fn what_is_said_while_a_model_thinks_is_in_no_summary_and_waits_as_it_was() {
    let chat = Chat::new(MemoryStore::new().into());
    chat.talk().await;
    let draft = chat.memory.events().compress(chat.session.clone()).keep_last(2).draft().await.unwrap();
    assert!(draft.text().starts_with("user: The api listens on port 5544"), "{}", draft.text());
    chat.say(Message::user("Wait, the port is 5545.")).await;
    let done = draft.with_text("Port, deploys and signatures\nwere agreed.").await.unwrap().value;
    assert_eq!(done.entry.unwrap().method, Method::Model);
    let next = chat.memory.events().compress(chat.session.clone()).await.unwrap().value;
    assert_eq!(next.entry, None);
    assert_eq!(Chat::texts(&next), ["Which port was it?", "It listens on 5544.", "Wait, the port is 5545."]);
    let line = "[2026-03-01 17:05] Port, deploys and signatures were agreed.";
    assert_eq!(next.summary, format!("[Context Summary]\n{line}"));
    assert_eq!(chat.timeline().await, [line]);
}

// proves: PB-26, PB-49
#[tokio::test]
async fn summary_note_and_pointer_are_one_event_that_takes_nothing_from_the_log() {
    let chat = Chat::new(MemoryStore::new().into());
    chat.talk().await;
    let before = chat.memory.admin().stats().await.unwrap().head.count();
    let entry = chat.compress().await.entry.unwrap();
    assert_eq!(chat.memory.admin().stats().await.unwrap().head.count(), before + 1);
    let turns = EventFilter { roles: Within::Only(vec![Role::User, Role::Assistant]), ..EventFilter::live() };
    assert_eq!(chat.memory.events().latest(&turns, std::num::NonZeroUsize::MAX).await.unwrap().len(), 8);
    let undo = chat.memory.facts().undoing(entry.event).await.unwrap();
    drop(chat.memory.facts().decide(undo).await.unwrap());
    assert!(chat.timeline().await.is_empty());
    let again = chat.memory.events().compress(chat.session.clone()).keep_last(8).await.unwrap().value;
    assert_eq!((again.summary.as_str(), again.turns.len()), ("", 8), "everything is back");
}

#[tokio::test]
async fn a_forgotten_turn_takes_its_summary_along_and_the_others_are_compressed_anew() {
    let chat = Chat::new(MemoryStore::new().into());
    let secret = chat.say(Message::user("The safe word of the till is marzipan.")).await;
    chat.talk().await;
    assert!(chat.compress().await.summary.contains("marzipan"));
    drop(chat.memory.forget(Selector::Events(vec![secret])).await.unwrap());
    assert!(chat.timeline().await.is_empty());
    let anew = chat.compress().await;
    assert!(anew.summary.contains("5544") && !anew.summary.contains("marzipan"), "{}", anew.summary);
}

// proves: PB-50, PB-51, PB-52
#[tokio::test]
async fn a_model_that_fails_changes_nothing_and_the_third_time_what_was_said_is_kept_as_it_was() {
    let chat = Chat::new(MemoryStore::new().into());
    chat.talk().await;
    let draft = || chat.memory.events().compress(chat.session.clone()).keep_last(2).draft();
    for round in 0..2 {
        let failed = draft().await.unwrap().failed().await.unwrap().value;
        assert_eq!((failed.entry, failed.summary.as_str(), failed.turns.len()), (None, "", 8), "{round}");
    }
    let third = draft().await.unwrap().with_text(" ").await.unwrap().value;
    assert_eq!(third.entry.as_ref().unwrap().method, Method::Raw);
    let kept = chat.timeline().await;
    let lines: Vec<&str> = kept[0].lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[1]),
        (7, "[RAW] [2026-03-01 17:05]", "user: The api listens on port 5544 and the queue is called beaver.")
    );
    assert!(
        third.summary.starts_with("[Context Summary]\n[2026-03-01 17:05] user: The api"),
        "{}",
        third.summary
    );
    let next = chat.compress().await;
    assert_eq!((next.entry.as_ref(), &next.summary), (None, &third.summary));
    assert_eq!(Chat::texts(&next), ["Which port was it?", "It listens on 5544."]);
}

#[tokio::test]
async fn a_summary_that_comes_at_last_starts_the_count_again() {
    let chat = Chat::new(MemoryStore::new().into());
    chat.talk().await;
    let draft = |keep| chat.memory.events().compress(chat.session.clone()).keep_last(keep).draft();
    drop(draft(6).await.unwrap().failed().await.unwrap());
    drop(draft(6).await.unwrap().failed().await.unwrap());
    drop(draft(6).await.unwrap().with_text("The port is 5544.").await.unwrap());
    for _ in 0..2 {
        assert_eq!(draft(2).await.unwrap().failed().await.unwrap().value.entry, None);
    }
}

// proves: PB-14, PB-15, PB-16
#[tokio::test]
async fn a_host_leaves_it_to_the_triggers_of_the_settings() {
    let chat = Chat::new(MemoryStore::new().into());
    let due = async |keep: usize, window: u32| {
        let call =
            chat.memory.events().compress(chat.session.clone()).keep_last(keep).window(window).if_due();
        call.draft().await.unwrap().due()
    };
    assert_eq!(due(0, 8_000).await, None);
    chat.talk().await;
    assert_eq!(due(4, 8_000).await, None, "two turns wait");
    assert_eq!(due(2, 8_000).await, Some(CompressionReason::Turns));
    assert_eq!(due(4, 100).await, Some(CompressionReason::Window));
    chat.clock.advance(Duration::from_mins(10));
    assert_eq!(due(4, 8_000).await, Some(CompressionReason::Idle));
}

// proves: PB-14, PB-15, PB-16 (without a host)
#[tokio::test]
async fn what_is_due_is_compressed_by_whoever_looks_and_each_turn_once() {
    let chat = Chat::new(MemoryStore::new().into());
    let engine = chat.memory.admin().engine();
    let (mut known, mut other) = (Conversations::default(), Conversations::default());
    assert_eq!(engine.compress_due(&mut known).await.unwrap(), 0);
    chat.talk().await;
    assert_eq!((engine.compress_due(&mut known).await.unwrap(), known.waiting()), (0, 1), "one turn waits");
    chat.talk().await;
    assert_eq!(engine.compress_due(&mut known).await.unwrap(), 1, "three turns wait");
    assert_eq!(engine.compress_due(&mut other).await.unwrap(), 0, "another process finds nothing left");
    assert_eq!(chat.timeline().await.len(), 1);
    chat.say(Message::user("The new queue is called otter.")).await;
    assert_eq!(engine.compress_due(&mut known).await.unwrap(), 0);
    chat.clock.advance(Duration::from_mins(10));
    assert_eq!(engine.compress_due(&mut known).await.unwrap(), 1, "nothing was said for a while");
    assert_eq!((engine.compress_due(&mut known).await.unwrap(), known.waiting()), (0, 0));
    assert_eq!(chat.timeline().await.len(), 2);
}

#[tokio::test]
async fn each_part_of_a_conversation_stays_its_users_and_what_others_wrote_is_left() {
    let chat = Chat::new(MemoryStore::new().into());
    let user = |name: &str| mnemal::UserId::new(name).unwrap();
    for number in 0..9 {
        for name in ["ida", "bo"] {
            let said = Message::user(format!("The parcel {number} of {name} stands in Oulu."));
            chat.say(said.user_id(user(name))).await;
        }
        let page = Message::user(format!("Page {number} says a lot.")).hearsay();
        let page = page.session(SessionId::new("pages").unwrap());
        assert!(!chat.memory.log(page).await.unwrap().duplicate);
    }
    let mut known = Conversations::default();
    assert_eq!(chat.memory.admin().engine().compress_due(&mut known).await.unwrap(), 2);
    for (name, other) in [("ida", "of bo"), ("bo", "of ida")] {
        let scope = Scope { user: Within::Only(user(name)), ..Scope::whole(SpaceId::new("space").unwrap()) };
        let own = chat
            .memory
            .admin()
            .engine()
            .memory(scope)
            .events()
            .compress(chat.session.clone())
            .await
            .unwrap()
            .value;
        assert!(own.summary.contains(name) && !own.summary.contains(other), "{}", own.summary);
    }
}

#[tokio::test]
async fn nothing_is_compressed_by_itself_where_the_settings_say_so() {
    let settings = Settings {
        compress: CompressSettings { automatic: false, ..CompressSettings::default() },
        ..Settings::default()
    };
    let stores: Stores = MemoryStore::new().into();
    let engine = Engine::builder().with_settings(settings).with_stores(stores).build().unwrap();
    let memory = engine.memory(Scope::whole(SpaceId::new("space").unwrap()));
    for number in 0..12 {
        assert!(!memory.log(Message::user(format!("Turn {number} of many."))).await.unwrap().duplicate);
    }
    assert_eq!(engine.compress_due(&mut Conversations::default()).await.unwrap(), 0);
}

// proves: AD-65
#[tokio::test]
async fn a_small_window_keeps_fewer_turns_and_always_the_last() {
    let chat = Chat::new(MemoryStore::new().into());
    chat.talk().await;
    let kept = async |window: u32| {
        let draft = chat.memory.events().compress(chat.session.clone()).window(window).draft().await.unwrap();
        8 - draft.text().lines().count()
    };
    assert_eq!((kept(8_000).await, kept(1_024 + 80).await, kept(0).await), (6, 3, 1));
}

// proves: PB-27, PB-55
#[tokio::test]
async fn without_a_store_it_compresses_what_it_is_handed_and_says_what_is_missing() {
    let chat = Chat::new(Stores::none());
    let history =
        TALK.iter().flat_map(|(asked, answered)| [Message::user(*asked), Message::assistant(*answered)]);
    let done =
        chat.memory.events().compress(chat.session.clone()).keep_last(2).history(history).await.unwrap();
    assert!(done.gaps.iter().any(|gap| gap.cause == GapCause::NotConfigured), "{:?}", done.gaps);
    assert_eq!(done.entry, None);
    assert!(
        done.prompt().starts_with("[Context Summary]\n[2026-03-01 09:00] user: The api"),
        "{}",
        done.prompt()
    );
    assert_eq!(Chat::texts(&done), ["Which port was it?", "It listens on 5544."]);
}
