//! Cases of `CompletionCache`.

use mnemal_core::{
    Completion, ErrorKind, EventId, ModelId, PromptHash, Result, Timestamp, TokenCount, Usage,
};

use super::Storage;
use crate::record::{Records, tombstone};

fn answer(text: &str) -> Result<Completion> {
    let usage = Usage { sent: TokenCount(7), received: TokenCount(9) };
    Ok(Completion { text: text.to_owned(), model: ModelId::new("small")?, usage })
}

fn prompt(number: u8) -> PromptHash {
    PromptHash([number; 32])
}

async fn cached_text(storage: &Storage, number: u8) -> Option<String> {
    storage.completions.get(prompt(number)).await.ok().map(|kept| kept.text)
}

/// Every field comes back; a later answer takes the place of an earlier one.
pub async fn an_answer_comes_back_for_its_question_only(storage: &Storage) -> Result<()> {
    let text = "{\"a\": \"\u{0} 値 \u{1f600}\"}\n";
    storage.completions.put(prompt(1), &answer(text)?, &[]).await?;
    assert_eq!(storage.completions.get(prompt(1)).await?, answer(text)?);
    let unknown = storage.completions.get(prompt(2)).await;
    assert_eq!(unknown.map_err(|error| error.kind()).err(), Some(ErrorKind::NotFound));
    storage.completions.put(prompt(1), &answer("better")?, &[EventId(3)]).await?;
    assert_eq!(cached_text(storage, 1).await.as_deref(), Some("better"));
    Ok(())
}

/// What was made from an event goes when it is erased by source; the rest stays.
pub async fn answers_go_with_the_events_that_they_rest_on(storage: &Storage) -> Result<()> {
    storage.completions.put(prompt(1), &answer("of five and six")?, &[EventId(5), EventId(6)]).await?;
    storage.completions.put(prompt(2), &answer("of seven")?, &[EventId(7), EventId(7)]).await?;
    storage.completions.put(prompt(3), &answer("once of five")?, &[EventId(5)]).await?;
    storage.completions.put(prompt(3), &answer("now of eight")?, &[EventId(8)]).await?;
    assert_eq!(storage.completions.erase(&[EventId(5), EventId(9)]).await?, 1);
    assert_eq!(cached_text(storage, 1).await, None);
    assert_eq!(cached_text(storage, 2).await.as_deref(), Some("of seven"));
    assert_eq!(cached_text(storage, 3).await.as_deref(), Some("now of eight"));
    assert_eq!(storage.completions.erase(&[EventId(5), EventId(6)]).await?, 0);
    Ok(())
}

/// From the erase on, before anybody told the cache of it.
pub async fn an_answer_of_a_forgotten_event_is_neither_given_nor_kept(storage: &Storage) -> Result<()> {
    let mut records = Records::new(1);
    let spoken = [records.turn("s", "My safe word is marzipan.")?, records.turn("s", "Nice weather.")?];
    let [secret, weather] = spoken.each_ref().map(|entry| entry.id);
    storage.events.append(&spoken).await?;
    storage.completions.put(prompt(1), &answer("the safe word")?, &[secret, weather]).await?;
    storage.completions.put(prompt(2), &answer("the weather")?, &[weather]).await?;
    storage.events.erase(&[tombstone(secret, Timestamp::EPOCH)]).await?;
    assert_eq!(cached_text(storage, 1).await, None);
    storage.completions.put(prompt(3), &answer("the safe word, too late")?, &[secret, weather]).await?;
    assert_eq!(cached_text(storage, 3).await, None);
    assert_eq!(cached_text(storage, 2).await.as_deref(), Some("the weather"));
    assert_eq!(storage.completions.erase(&[secret]).await?, 1, "the late one was not kept");
    Ok(())
}
