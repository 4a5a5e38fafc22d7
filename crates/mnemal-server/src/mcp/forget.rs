//! `memory_forget`: erasure in two steps; under the names of other memory servers an agent deletes its own notes in one step.

use mnemal::Memory;
use mnemal::events::{Erasure, ErasureGrade, ErasureStatus, ForgetCall};
use mnemal_core::{
    ErrorKind, EventId, LearningFilter, LearningId, Level, NoteKey, RecordRef, Role, Selector,
};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Outcome, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::nearest::nearest;
use crate::mcp::tool::{AnswerStyle, Tool};
use crate::mcp::{fact_lines, token};

/// Maximum number of records of one call. Source: own choice, as many as a person reviews before confirming.
const MOST: usize = 20;
/// Ceiling of the answer, in tokens, which is a line or two. Source: own default, as for every answer.
const CEILING: u32 = 2_000;
/// Advice for an invalid token.
const NO_TOKEN: &str = "confirm_token does not belong to this call, or has expired, or what it would erase has changed. \
    Call memory_forget again without it.";

/// How a person can confirm, other than by the token.
#[derive(Debug)]
pub(super) enum Person {
    /// The client cannot ask a person.
    Away,
    /// The client can ask a person.
    Near,
    /// The person has answered.
    Answered {
        /// Whether to erase.
        agrees: bool,
        /// The state that was sent to the client with the question.
        state: String,
    },
}

/// Previews, asks, or erases.
pub(super) async fn call(
    memory: &Memory,
    given: Map<String, Value>,
    (person, manner): (Person, AnswerStyle),
) -> Result<Outcome, CorrectableError> {
    let arguments = Arguments::new(Tool::Forget, given);
    let target = Target::read(memory, &arguments).await?;
    let only_look = arguments.flag("dry_run")? == Some(true);
    let token = arguments.text("confirm_token")?;
    let mut tail = Remarks::new(arguments.notes);
    let preview = match memory.forget(target.selector.clone()).dry_run().await {
        Ok(preview) => preview,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(target.missing(memory).await),
        Err(error) => return Err(error.into()),
    };
    let is_sure = manner != AnswerStyle::Own && !only_look && token.is_none();
    if is_sure && target.is_one && is_of_agent(memory, &preview).await? {
        let call = memory.forget(target.selector.clone()).by_agent();
        return erase(memory, call, target, (tail, manner)).await;
    }
    let digest = target.digest(&preview);
    let engine = memory.admin().engine();
    let holds = |token: &str| token::is_good(engine, Tool::Forget.name(), &digest, token);
    match (person, token) {
        (Person::Answered { agrees, state }, _) => {
            if !holds(&state) {
                return Err(CorrectableError::new(NO_TOKEN));
            }
            if agrees {
                let call = memory.forget(target.selector.clone());
                return erase(memory, call, target, (tail, AnswerStyle::Own)).await;
            }
            let text = tail.behind("Nothing was erased: the user said no.", engine, CEILING);
            Ok(Outcome::Said(ToolAnswer { text, structured: counts(&preview) }))
        }
        (_, Some(token)) if !only_look => {
            if holds(&token) {
                let call = memory.forget(target.selector.clone()).by_agent();
                return erase(memory, call, target, (tail, AnswerStyle::Own)).await;
            }
            Err(CorrectableError::new(NO_TOKEN))
        }
        (Person::Near, None) if !only_look => {
            let (state, _) = token::issue(engine, Tool::Forget.name(), &digest);
            let message = format!("Erase {} for good? It is {}.", target.shown, amount(&preview));
            Ok(Outcome::Ask { message, state })
        }
        _ => {
            target.warn(&mut tail);
            let (token, ends) = token::issue(engine, Tool::Forget.name(), &digest);
            let head = format!(
                "This would erase {} for good: {}. Nothing is erased yet. If the user wants that, call memory_forget \
                 again with the same arguments and confirm_token \"{token}\" within 10 minutes.",
                target.shown,
                amount(&preview),
            );
            let mut structured = counts(&preview);
            if let Some(fields) = structured.as_object_mut() {
                fields.insert("confirm_token".to_owned(), token.into());
                fields.insert("expires_at".to_owned(), ends.to_string().into());
            }
            Ok(Outcome::Said(ToolAnswer { text: tail.behind(&head, engine, CEILING), structured }))
        }
    }
}

async fn erase(
    memory: &Memory,
    call: ForgetCall,
    target: Target,
    (mut tail, manner): (Remarks, AnswerStyle),
) -> Result<Outcome, CorrectableError> {
    let erasure = call.await?;
    target.warn(&mut tail);
    if erasure.status == ErasureStatus::ErasedPendingCheckpoint {
        tail.say("Nothing shows it any more; its last bytes go when other programs let go of the file.");
    }
    if erasure.grade == ErasureGrade::Gone {
        tail.say("No server returns it any more; files, log and backups of the database are its operator's.");
    } else if !erasure.verified() {
        tail.say("Not all places could be checked; the user can run `mnemal doctor --prove-erased`.");
    }
    let head = match manner {
        AnswerStyle::Own => format!("Erased {}: {}.", target.shown, amount(&erasure)),
        _ => format!("Memory deleted: {}", target.name),
    };
    let mut structured = counts(&erasure);
    if let (Some(fields), Some(event)) = (structured.as_object_mut(), erasure.event) {
        fields.insert("event_id".to_owned(), event.to_string().into());
        fields.insert("verified".to_owned(), erasure.verified().into());
        fields.insert("residual".to_owned(), erasure.residual.into());
    }
    Ok(Outcome::Said(ToolAnswer { text: tail.behind(&head, memory.admin().engine(), CEILING), structured }))
}

/// Whether all affected events are notes of an agent, and so contain no words of the user.
async fn is_of_agent(memory: &Memory, preview: &Erasure) -> Result<bool, CorrectableError> {
    if preview.ids.len() > MOST {
        return Ok(false);
    }
    for id in &preview.ids {
        let event = memory.events().get(*id).await?;
        if event.level != Level::Agent || event.role != Role::Decision {
            return Ok(false);
        }
    }
    Ok(true)
}

fn counts(erasure: &Erasure) -> Value {
    json!({
        "status": erasure.status.as_str(),
        "events": erasure.events,
        "learnings_invalidated": erasure.learnings,
    })
}

fn amount(erasure: &Erasure) -> String {
    let of = |count: u64, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    format!("{} with {}", of(erasure.events, "event"), of(erasure.learnings, "note"))
}

/// The target of a call.
#[derive(Debug)]
struct Target {
    selector: Selector,
    /// Whether it is a single key or id, and not a list or the name of an entity.
    is_one: bool,
    /// The key or the id as given.
    name: String,
    /// Its form in answers.
    shown: String,
    /// The key whose older versions would become valid again.
    uncovers: Option<NoteKey>,
}

impl Target {
    async fn read(memory: &Memory, arguments: &Arguments) -> Result<Self, CorrectableError> {
        let given = ["id", "key", "ids", "entity"].into_iter().filter(|name| arguments.has(name)).count();
        if given != 1 {
            return Err(CorrectableError::new(
                "Give exactly one of id, key, ids and entity. Use memory_recall to find what should be forgotten.",
            ));
        }
        if let Some(who) = arguments.text("entity")? {
            return Self::of_entity(memory, who.trim()).await;
        }
        let mut names = arguments.list("ids")?;
        let single = match arguments.text("key")? {
            None => arguments.text("id")?,
            key => key,
        };
        names.extend(single.map(|name| name.trim().to_owned()));
        match names.as_slice() {
            [] => Err(CorrectableError::new("id, key or ids is empty.")),
            [one] if one.parse::<RecordRef>().is_err() => Self::of_key(one),
            many if many.len() > MOST => Err(CorrectableError::new(format!(
                "At most {MOST} ids in one call; {} were given.",
                many.len()
            ))),
            many => {
                let is_one = !arguments.has("ids");
                Ok(Self { is_one, ..Self::of_records(memory, many).await? })
            }
        }
    }

    fn of_key(name: &str) -> Result<Self, CorrectableError> {
        let key = NoteKey::new(name).map_err(|error| CorrectableError::about("key", &error))?;
        let (name, shown) = (key.to_string(), format!("every version of '{key}'"));
        Ok(Self { selector: Selector::Key(key), is_one: true, name, shown, uncovers: None })
    }

    async fn of_entity(memory: &Memory, who: &str) -> Result<Self, CorrectableError> {
        let entity = fact_lines::whom(memory, who).await?;
        let selector = Selector::Events(memory.facts().naming(entity.id).await?);
        let (name, shown) = (entity.id.to_string(), format!("every event that names {}", entity.id));
        Ok(Self { selector, is_one: false, name, shown, uncovers: None })
    }

    async fn of_records(memory: &Memory, names: &[String]) -> Result<Self, CorrectableError> {
        let mut events: Vec<EventId> = Vec::new();
        let mut notes: Vec<LearningId> = Vec::new();
        for name in names {
            match name.parse() {
                Ok(RecordRef::Event(id)) => events.push(id),
                Ok(RecordRef::Learning(id)) => notes.push(id),
                _ => {
                    return Err(CorrectableError::new("ids must be ids of memory_recall: evt_… or mem_…."));
                }
            }
        }
        let mut uncovers = None;
        if !notes.is_empty() {
            let all = memory.preferences().notes(&LearningFilter::all()).await?;
            for id in notes {
                let Some(note) = all.iter().find(|note| note.id == id) else {
                    return Err(CorrectableError::new(format!(
                        "No memory with id '{id}'. Use memory_recall to find the one that you mean."
                    )));
                };
                events.extend(note.sources.iter().map(|source| source.event));
                if note.version > 1 {
                    uncovers.clone_from(&note.key);
                }
            }
        }
        let shown = match names {
            [one] => one.clone(),
            many => format!("{} memories", many.len()),
        };
        Ok(Self { selector: Selector::Events(events), is_one: false, name: shown.clone(), shown, uncovers })
    }

    /// Returns the content that a token confirms: the request, and everything that it would erase.
    fn digest(&self, preview: &Erasure) -> String {
        let ids: Vec<String> = preview.ids.iter().map(ToString::to_string).collect();
        format!("{} {}", self.shown, ids.join(","))
    }

    fn warn(&self, tail: &mut Remarks) {
        if let Some(key) = &self.uncovers {
            tail.say(format!("An older version of '{key}' holds then; forget by key to erase all of them."));
        }
    }

    /// Returns the error for a missing target, with similar names.
    async fn missing(&self, memory: &Memory) -> CorrectableError {
        let Selector::Key(key) = &self.selector else {
            return CorrectableError::new(format!(
                "No memory with id '{}', or it is erased already. Use memory_recall to search.",
                self.shown
            ));
        };
        let notes = memory.preferences().notes(&LearningFilter::all()).await.unwrap_or_default();
        let keys = notes.iter().filter_map(|note| note.key.as_ref()).map(NoteKey::as_str);
        let near: Vec<String> =
            nearest(key.as_str(), keys).into_iter().map(|key| format!("'{key}'")).collect();
        let near = if near.is_empty() { String::new() } else { format!(" Nearest: {}.", near.join(", ")) };
        CorrectableError::new(format!("No memory with key '{key}'.{near} Use memory_recall to search."))
    }
}
