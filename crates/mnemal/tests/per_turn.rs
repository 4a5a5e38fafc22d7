//! Golden test of a turn's prompt: recalled memories, the session's working memory, entries of patrols and subagents, and the
//! last turns verbatim.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use mnemal::types::{InstallationKey, Layer};
use mnemal::working::PutOptions;
use mnemal::{
    Context, Engine, EventFilter, Memory, Message, NoteKey, Role, Scope, SessionId, SpaceId, Within,
};
use mnemal_store::MemoryStore;
use mnemal_testkit::{ManualClock, SeededIds};

/// Number of repeated turns. Source: RockBot, which replays the last 20 turns.
const LAST: usize = 20;

struct Host {
    memory: Memory,
    clock: Arc<ManualClock>,
}

impl Host {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::default());
        let builder = Engine::builder()
            .with_clock(Arc::<ManualClock>::clone(&clock))
            .with_ids(Arc::new(SeededIds::new(70)))
            .with_key(InstallationKey::new([70; 32]))
            .with_stores(MemoryStore::new())
            .without(Layer::Vector);
        let host = Self {
            memory: builder.build().unwrap().memory(Scope::whole(SpaceId::new("home").unwrap())),
            clock,
        };
        for (key, text) in [
            ("disk_rule", "When the disk is full, clean the build cache first."),
            ("tea", "The office tea is Darjeeling."),
        ] {
            let key = NoteKey::new(key).unwrap();
            drop(host.memory.remember(text).key(key).by_user().await.unwrap());
        }
        host.say(
            "older",
            Message::user("The deploy of the billing service failed because the disk was full."),
        )
        .await;
        host.say("older", Message::assistant("I have cleaned the build cache and deployed it again.")).await;
        for (session, key, value) in [
            ("chat", "plan", "never shown"),
            ("patrol/disk", "usage", "never shown"),
            ("subagent/review", "notes-index", "never shown"),
            ("subagent/review", "draft", "never shown"),
        ] {
            let own = host.memory.for_session(SessionId::new(session).unwrap());
            drop(own.working().unwrap().put(key, value.to_owned(), PutOptions::default()).await.unwrap());
        }
        host
    }

    async fn say(&self, session: &str, message: Message) {
        let message = message.session(SessionId::new(session).unwrap());
        drop(self.memory.log(message).await.unwrap());
        self.clock.advance(Duration::from_secs(30));
    }

    async fn context(&self, session: &str, question: &str) -> Context {
        let call = self.memory.context(question).session(SessionId::new(session).unwrap());
        call.budget(2_000).skip_injected().await.unwrap().value
    }

    /// One turn of a host: the memory context, then the last turns of the session, including the question.
    async fn turn(&self, session: &str, question: &str) -> String {
        self.say(session, Message::user(question)).await;
        let context = self.context(session, question).await;
        let said = EventFilter {
            session: Within::Only(SessionId::new(session).unwrap()),
            roles: Within::Only(vec![Role::User, Role::Assistant]),
            ..EventFilter::live()
        };
        let mut last = self.memory.events().latest(&said, NonZeroUsize::new(LAST).unwrap()).await.unwrap();
        last.reverse();
        let line =
            |event: &mnemal::Event| format!("{}: {}\n", event.role.as_str(), event.body().unwrap().content);
        let said: Vec<String> = last.iter().map(line).collect();
        context.text + &said.concat()
    }
}

/// Compares a prompt with its golden file; `UPDATE_GOLDEN` rewrites it.
fn golden(name: &str, prompt: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/per_turn/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, prompt).unwrap();
    }
    assert_eq!(prompt, std::fs::read_to_string(&file).unwrap(), "{name}");
}

// proves: RB-70, RB-71, RB-01
#[tokio::test]
async fn every_turn_of_a_user_a_patrol_and_a_subagent_has_this_very_prompt() {
    let host = Host::new().await;
    golden("first", &host.turn("chat", "Why did the billing deploy fail, and what about the disk?").await);
    host.say("chat", Message::assistant("The disk was full.")).await;
    // Records are not repeated; working memory is shown in its current state.
    golden("second", &host.turn("chat", "And what did we do about the disk after the billing deploy?").await);
    golden("patrol", &host.turn("patrol/disk", "How full is the disk of the billing service?").await);
    golden("subagent", &host.turn("subagent/review", "Review the deploy of the billing service.").await);
}
