//! Use of a context: which of its lines stand in the answer that followed.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use mnemal_core::{Event, EventFilter, EventId, Receipt, Result, Role, Within};
use mnemal_text::{Analyzer, Language, is_stop_word};

use crate::areas::AdminHandle;

/// Messages of the conversation that are read before and after the context. Source: own choice; the question and the answer
/// stand beside it.
const BESIDE: NonZeroUsize = NonZeroUsize::new(20).expect("20 is not zero");
/// Microseconds in which a message counts as the one that the context was made for. Source: own choice, ten minutes.
const WITHIN: i64 = 600_000_000;

/// What the answer after a context has of its lines: an estimate by words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineUse {
    /// The assistant's message that followed.
    pub answer: EventId,
    /// The numbers of the lines, from 1, of whose content words the answer has at least half: those that the question had too
    /// do not count.
    pub lines: Vec<usize>,
}

impl AdminHandle<'_> {
    /// Returns which lines of a context stand in the next message of the assistant in its session; `None` if none followed
    /// within ten minutes.
    ///
    /// # Errors
    /// `Unavailable` when the log does not answer.
    pub async fn line_use(self, receipt: &Receipt) -> Result<Option<LineUse>> {
        let of_session = |roles: Vec<Role>| EventFilter {
            session: Within::Only(receipt.session.clone()),
            roles: Within::Only(roles),
            ..EventFilter::live()
        };
        let after = EventFilter {
            since: Some(receipt.at),
            until: Some(receipt.at.plus_micros(WITHIN)),
            ..of_session(vec![Role::Assistant])
        };
        let answers = self.memory.events().scan(&after, mnemal_core::Cursor::START, BESIDE).await?;
        let Some((answer, said)) = answers.iter().find_map(|event| Some((event.id, event.body()?))) else {
            return Ok(None);
        };
        let before = EventFilter {
            since: Some(receipt.at.plus_micros(-WITHIN)),
            until: Some(said.occurred_at),
            ..of_session(vec![Role::User])
        };
        let asked = self.memory.events().latest(&before, BESIDE).await?;
        let language = self.memory.engine.language();
        let mut asked_for = BTreeSet::new();
        for kept in asked.iter().filter_map(Event::body) {
            asked_for.extend(stems(&kept.content, language));
        }
        let answered = stems(&said.content, language);
        let sources: Vec<EventId> =
            receipt.lines.iter().flat_map(|line| &line.sources).map(|source| source.event).collect();
        let events = self.memory.engine.existing_events(&sources).await?;
        let is_used = |line: &mnemal_core::ReceiptLine| {
            let mut own = BTreeSet::new();
            for source in &line.sources {
                let of = events.iter().find(|event| event.id == source.event).and_then(Event::body);
                let part = of.and_then(|kept| source.span.of(&kept.content)).unwrap_or_default();
                own.extend(stems(part, language));
            }
            own.retain(|stem| !asked_for.contains(stem));
            let n_answered = own.iter().filter(|stem| answered.contains(*stem)).count();
            n_answered > 0 && 2 * n_answered >= own.len()
        };
        let lines = receipt.lines.iter().zip(1..).filter(|(line, _)| is_used(line)).map(|(_, at)| at);
        Ok(Some(LineUse { answer, lines: lines.collect() }))
    }
}

/// Returns the stems of a text's content words.
fn stems(text: &str, language: Language) -> BTreeSet<String> {
    let said = Language::guess(text);
    let is_content = |word: &str| !is_stop_word(language, word) && !is_stop_word(said, word);
    let terms = Analyzer::new(language).terms(text).into_iter();
    terms
        .filter(|term| text.get(term.start..term.end).is_some_and(is_content))
        .map(|term| term.text)
        .collect()
}
