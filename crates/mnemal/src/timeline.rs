//! What a conversation said since the last look, in its own words: a note that outlives the client's compaction.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use mnemal_core::{
    Category, Decision, Degraded, ErrorKind, Event, EventFilter, EventKind, Importance, LearningKind,
    Metadata, NewEvent, Origin, Remember, Result, Role, SessionId, Within,
};
use mnemal_events::Ack;
use mnemal_text::{Analyzer, Language, condense};

use crate::memory::Memory;

/// The category of such notes. Source: SURFACES 7.2.
const CATEGORY: &str = "timeline";
/// Most turns that one summary looks at, the newest ones. Source: own choice; more than a window holds between compactions.
const TURNS: NonZeroUsize = NonZeroUsize::new(400).expect("400 is not zero");
/// Decisions of the conversation among which its last summary is looked for. Source: own choice.
const DECISIONS: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");
/// Sentences of a summary. Source: own choice; what fits into one line of a context.
const SENTENCES: usize = 6;
/// Longest sentence that is kept whole, in bytes. Source: own choice; a longer one is a listing.
const LONGEST: usize = 400;
/// Most text that is condensed, in bytes, from its end. Source: own choice; condensing is quadratic in sentences.
const MOST_TEXT: usize = 64 * 1024;

impl Memory {
    /// Keeps what a conversation said since its last summary as a note of the category `timeline`: the sentences that say
    /// most of it, in its own words, with the time of the last turn before them. `None` when nothing new was said.
    ///
    /// Doing it again adds nothing. What repeats words that the conversation was shown is left out.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer.
    pub async fn keep_timeline(&self, session: &SessionId) -> Result<Option<Degraded<Ack>>> {
        let Some(note) = self.timeline(session).await? else { return Ok(None) };
        let stored = match self.engine.append(vec![note]).await {
            // The same end of the conversation was summed up from another start, by another process.
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
            stored => stored?,
        };
        let gaps = stored.gaps;
        Ok(stored.value.into_iter().next().map(|value| Degraded { value, gaps }))
    }

    async fn timeline(&self, session: &SessionId) -> Result<Option<NewEvent>> {
        let turns = self.unsummarised(session).await?;
        let Some((last, kept)) = turns.last().and_then(|last| Some((last, last.kept()?))) else {
            return Ok(None);
        };
        let sentences = self.gist(&turns);
        if sentences.is_empty() {
            return Ok(None);
        }
        let civil = kept.occurred_at.civil(&kept.zone);
        let mut content = format!("[{} {:02}:{:02}]", civil.day_text(), civil.hour, civil.minute);
        for sentence in sentences {
            // Writing into a string cannot fail.
            let _written = write!(content, " {sentence}");
        }
        let remember = Remember {
            key: None,
            kind: LearningKind::Note,
            category: Category::new(CATEGORY)?,
            tags: Vec::new(),
            importance: Importance::DEFAULT,
            expires_at: None,
        };
        Ok(Some(NewEvent {
            kind: EventKind::Decision(Decision::Remember(remember)),
            content,
            session: session.clone(),
            channel: kept.channel.clone(),
            parent: None,
            speaker: None,
            user: kept.user.clone(),
            agent: kept.agent.clone(),
            occurred_at: kept.occurred_at,
            zone: kept.zone.clone(),
            origin: Origin::Engine,
            idempotency_key: Some(format!("{CATEGORY}:{}", last.id)),
            metadata: Metadata::new(),
        }))
    }

    /// Returns the turns behind the last summary, oldest first.
    async fn unsummarised(&self, session: &SessionId) -> Result<Vec<Event>> {
        let events = self.engine.events()?;
        let of = |roles: &[Role]| EventFilter {
            session: Within::Only(session.clone()),
            roles: Within::Only(roles.to_vec()),
            ..EventFilter::live()
        };
        let decisions = events.latest(&of(&[Role::Decision]), DECISIONS).await?;
        let last = decisions.iter().find(|event| is_summary(event)).map(|event| event.seq);
        let mut turns = events.latest(&of(&[Role::User, Role::Assistant]), TURNS).await?;
        turns.retain(|turn| turn.echo.is_empty() && last.is_none_or(|last| turn.seq > last));
        turns.reverse();
        Ok(turns)
    }

    /// Returns the sentences that say most, in order.
    fn gist(&self, turns: &[Event]) -> Vec<String> {
        let text: Vec<&str> =
            turns.iter().filter_map(|turn| turn.kept()).map(|kept| kept.content.trim()).collect();
        let text = text.join("\n\n");
        let start = text.ceil_char_boundary(text.len().saturating_sub(MOST_TEXT));
        let text = text.get(start..).unwrap_or_default();
        let language = Language::from_code(&self.engine.settings().recall.language);
        let analyzer = Analyzer::new(language.unwrap_or(Language::English));
        let kept = condense(&analyzer, text, SENTENCES);
        let sentences = kept.iter().filter_map(|sentence| text.get(sentence.range()));
        sentences.map(one_line).filter(|sentence| !sentence.is_empty()).collect()
    }
}

fn is_summary(event: &Event) -> bool {
    event.kept().is_some_and(|kept| {
        let EventKind::Decision(Decision::Remember(note)) = &kept.kind else { return false };
        kept.origin == Origin::Engine && note.category.as_str() == CATEGORY
    })
}

fn one_line(sentence: &str) -> String {
    let mut line = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() > LONGEST {
        line.truncate(line.floor_char_boundary(LONGEST));
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use mnemal_core::LearningFilter;

    use super::*;
    use crate::Message;

    async fn said(memory: &Memory, text: &str) {
        drop(memory.log(Message::user(text)).await.unwrap());
    }

    #[tokio::test]
    async fn what_was_said_since_the_last_summary_becomes_one_note_and_no_second_one() {
        let session = SessionId::new("s").unwrap();
        let memory = Memory::in_memory().await.unwrap().for_session(session.clone());
        assert!(memory.keep_timeline(&session).await.unwrap().is_none());
        said(&memory, "The api listens on port 5544.").await;
        said(&memory, "Deploys happen on Tuesdays.").await;
        assert!(memory.keep_timeline(&session).await.unwrap().is_some());
        assert!(memory.keep_timeline(&session).await.unwrap().is_none());
        said(&memory, "The queue is called beaver.").await;
        assert!(memory.keep_timeline(&session).await.unwrap().is_some());
        let notes = memory.notes(&LearningFilter::all()).await.unwrap();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes.iter().all(|note| note.category.as_str() == CATEGORY && note.content.starts_with("[20"))
        );
        let second = notes.iter().find(|note| note.content.contains("beaver")).unwrap();
        assert!(!second.content.contains("5544"), "{}", second.content);
    }
}
