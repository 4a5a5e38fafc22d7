//! Claude's memory tool: its file commands, over the notes of a space.
//!
//! The tree is virtual: a note is the file `/memories/{category}/{key}.md`, one of category `general` is at the root, and a
//! directory exists as long as there is a file below it. No path reaches the file system.

mod edit;
mod tree;

use mnemal::Memory;
use mnemal_core::{
    Category, ChannelId, Decision, Error, ErrorKind, Learning, LearningFilter, LearningKind, Level, NoteKey,
    Result, Within,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::tree::{ROOT, Tree};
use crate::limits::LONGEST_MEMORY;
use crate::mcp::store;

/// Maximum number of files that one call archives or moves. Source: own choice; more is more often an error than intended.
const MOST_AT_ONCE: usize = 50;

/// One command of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "MemoryToolCommand")]
pub struct MemoryToolCommand {
    /// `view`, `create`, `str_replace`, `insert`, `delete` or `rename`.
    pub command: String,
    /// The file or directory, from `/memories` on; of every command but `rename`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Of `view`: the first and the last line, from 1; a last line of -1 means the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_range: Option<Vec<i64>>,
    /// Of `create`: the whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_text: Option<String>,
    /// Of `str_replace`: what stands there once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_str: Option<String>,
    /// Of `str_replace`: what is to stand there; nothing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_str: Option<String>,
    /// Of `insert`: behind which line; 0 means the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert_line: Option<u64>,
    /// Of `insert`: the lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insert_text: Option<String>,
    /// Of `rename`: what is moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// Of `rename`: where it goes; nothing may stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_path: Option<String>,
}

/// What the model is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MemoryToolOutput")]
pub struct MemoryToolOutput {
    /// The text for the model.
    pub output: String,
    /// Whether it says what was wrong; nothing was changed then.
    pub is_error: bool,
}

/// An error of the model, or of the engine.
#[derive(Debug)]
enum ToolFailure {
    /// An error of the model, with its description.
    Told(String),
    /// An error of the engine.
    Failed(Error),
}

impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn failure<T>(why: impl Into<String>) -> ToolResult<T> {
    Err(ToolFailure::Told(why.into()))
}

type ToolResult<T> = std::result::Result<T, ToolFailure>;

/// Runs one command over the notes of a space; the agent is the author of its writes, and archived files can be restored.
///
/// Errors of the model are answers for the model. Two concurrent changes of one file are not merged: the later one becomes the
/// valid version, and the other stays in the note's history.
///
/// # Errors
/// `Unsupported` without the layer of notes, and other errors of the store except `Invalid`, `NotFound` and `Conflict`, which
/// become answers for the model.
pub async fn run(
    memory: &Memory,
    channel: &ChannelId,
    command: &MemoryToolCommand,
) -> Result<MemoryToolOutput> {
    let executor = Executor { memory, channel };
    match executor.run(command).await {
        Ok(output) => Ok(MemoryToolOutput { output, is_error: false }),
        Err(ToolFailure::Told(output)) => Ok(MemoryToolOutput { output, is_error: true }),
        Err(ToolFailure::Failed(error)) => match error.kind() {
            ErrorKind::Invalid | ErrorKind::NotFound | ErrorKind::Conflict => {
                Ok(MemoryToolOutput { output: error.what().to_owned(), is_error: true })
            }
            _ => Err(error),
        },
    }
}

/// Returns a required argument of a command.
fn needed<'a>(command: &str, name: &str, value: Option<&'a String>) -> ToolResult<&'a str> {
    match value {
        Some(value) => Ok(value),
        None => failure(format!("{command} needs the argument {name}.")),
    }
}

struct Executor<'a> {
    memory: &'a Memory,
    channel: &'a ChannelId,
}

impl Executor<'_> {
    async fn run(&self, call: &MemoryToolCommand) -> ToolResult<String> {
        let name = call.command.as_str();
        let text = |argument, value| needed(name, argument, value);
        match name {
            "view" => self.view(text("path", call.path.as_ref())?, call.view_range.as_deref()).await,
            "create" => {
                let path = text("path", call.path.as_ref())?;
                self.create(path, text("file_text", call.file_text.as_ref())?).await
            }
            "str_replace" => {
                let (path, old) =
                    (text("path", call.path.as_ref())?, text("old_str", call.old_str.as_ref())?);
                let new = call.new_str.as_deref().unwrap_or_default();
                self.change(path, |content| edit::replaced(content, old, new, path)).await
            }
            "insert" => {
                let path = text("path", call.path.as_ref())?;
                let lines = text("insert_text", call.insert_text.as_ref())?;
                let Some(line) = call.insert_line else {
                    return failure("insert needs the argument insert_line.");
                };
                self.change(path, |content| edit::inserted(content, line, lines)).await
            }
            "delete" => self.delete(text("path", call.path.as_ref())?).await,
            "rename" => {
                let old = text("old_path", call.old_path.as_ref())?;
                self.rename(old, text("new_path", call.new_path.as_ref())?).await
            }
            _ => failure(format!(
                "There is no command {name:?}; the commands are view, create, str_replace, insert, delete and rename."
            )),
        }
    }

    async fn tree(&self) -> ToolResult<Tree> {
        let filter = LearningFilter { kind: Within::Only(LearningKind::Note), ..LearningFilter::all() };
        Ok(Tree::new(self.memory.preferences().notes(&filter).await?))
    }

    async fn view(&self, path: &str, range: Option<&[i64]>) -> ToolResult<String> {
        let place = tree::parse_path(path)?;
        let tree = self.tree().await?;
        if let Some((_, row)) = tree.file(&place) {
            return edit::numbered(path, &row.content, range);
        }
        match tree.listing(&place) {
            Some(_) if range.is_some() => {
                failure(format!("{path} is a directory, and view_range is of files."))
            }
            Some(listing) => Ok(listing),
            None => failure(no_such(path)),
        }
    }

    async fn create(&self, path: &str, text: &str) -> ToolResult<String> {
        let place = tree::parse_path(path)?;
        let tree = self.tree().await?;
        if let Some((_, row)) = tree.file(&place) {
            self.write(row, mnemal::learnings::key_of(row)?, row.category.clone(), text).await?;
        } else {
            let (category, name) = place.parts()?;
            if !tree.below(&place).is_empty() {
                return failure(format!("{path} is a directory."));
            }
            let key = tree.key(&category, name, None)?;
            let call = self.memory.remember(checked(text)?).key(key.clone()).category(category);
            self.stored(key, call).await?;
        }
        Ok(format!("File created successfully at: {path}"))
    }

    async fn change(
        &self,
        path: &str,
        edit: impl FnOnce(&str) -> ToolResult<(String, String)>,
    ) -> ToolResult<String> {
        let place = tree::parse_path(path)?;
        let tree = self.tree().await?;
        let Some((_, row)) = tree.file(&place) else {
            return failure(if tree.below(&place).is_empty() && !place.is_root() {
                no_such(path)
            } else {
                format!("{path} is a directory.")
            });
        };
        let (text, told) = edit(&row.content)?;
        self.write(row, mnemal::learnings::key_of(row)?, row.category.clone(), &text).await?;
        Ok(told)
    }

    async fn delete(&self, path: &str) -> ToolResult<String> {
        let place = tree::parse_path(path)?;
        if place.is_root() {
            return failure(format!("{ROOT} itself cannot be deleted."));
        }
        let tree = self.tree().await?;
        let rows = match tree.file(&place) {
            Some((_, row)) => vec![row],
            None => tree.below(&place).into_iter().map(|(_, row)| row).collect(),
        };
        let keys = own(path, &rows, "delete")?;
        for key in keys {
            let _ack = self.memory.facts().decide_by_agent(Decision::Archive(key.into())).await?;
        }
        Ok(format!("Successfully deleted {path}"))
    }

    async fn rename(&self, old: &str, new: &str) -> ToolResult<String> {
        let (from, to) = (tree::parse_path(old)?, tree::parse_path(new)?);
        if from.is_root() {
            return failure(format!("{ROOT} itself cannot be renamed."));
        }
        let tree = self.tree().await?;
        if to.is_root() || tree.file(&to).is_some() || !tree.below(&to).is_empty() {
            return failure(format!("The destination {new} already exists."));
        }
        let moved: Vec<(tree::VirtualPath, &Learning)> = match tree.file(&from) {
            Some((_, row)) => vec![(to, row)],
            None if to.is_below(&from) => return failure(format!("{new} is inside {old}.")),
            None => tree.below(&from).into_iter().map(|(path, row)| (to.moved(&from, path), row)).collect(),
        };
        let rows: Vec<&Learning> = moved.iter().map(|(_, row)| *row).collect();
        let keys = own(old, &rows, "rename")?;
        for ((place, row), old_key) in moved.into_iter().zip(keys) {
            let (category, name) = place.parts()?;
            let key = tree.key(&category, name, Some(row))?;
            self.write(row, key.clone(), category, &row.content).await?;
            if key != old_key {
                let _ack = self.memory.facts().decide_by_agent(Decision::Archive(old_key.into())).await?;
            }
        }
        Ok(format!("Successfully renamed {old} to {new}"))
    }

    /// Stores a new text of a note and keeps its other fields.
    async fn write(&self, row: &Learning, key: NoteKey, category: Category, text: &str) -> ToolResult<()> {
        if row.level == Level::User {
            return failure(format!(
                "{key} is what the user said or confirmed, and stays as it is; create another file."
            ));
        }
        let call = self.memory.remember(checked(text)?).key(key.clone()).category(category);
        let call = row.tags.iter().fold(call.importance(row.importance), |call, tag| call.tag(tag.clone()));
        self.stored(key, row.expires_at.into_iter().fold(call, mnemal::events::RememberCall::expires_at))
            .await
    }

    async fn stored(&self, key: NoteKey, call: mnemal::events::RememberCall) -> ToolResult<()> {
        let stored = call.message(|message| message.channel(self.channel.clone())).await?;
        match store::current_state(self.memory, Some(&key), &stored).await.1 {
            "quarantined" => failure(
                "This reads like an instruction; it was held back and will not be recalled until a person confirms it.",
            ),
            "superseded" => {
                failure(format!("The user's own words hold under {key}; this was kept in its history only."))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the keys of files that an agent may archive, or the reason why it may not.
fn own(path: &str, rows: &[&Learning], verb: &str) -> ToolResult<Vec<NoteKey>> {
    if rows.is_empty() {
        return failure(no_such(path));
    }
    if rows.len() > MOST_AT_ONCE {
        return failure(format!(
            "{path} holds {} files, and one call may {verb} {MOST_AT_ONCE}; name a directory below it.",
            rows.len()
        ));
    }
    if let Some(row) = rows.iter().find(|row| row.level == Level::User) {
        return failure(format!(
            "{} is what the user said or confirmed; only a person may {verb} it.",
            row.id
        ));
    }
    rows.iter().map(|row| Ok(mnemal::learnings::key_of(row)?)).collect()
}

fn no_such(path: &str) -> String {
    format!("The path {path} does not exist. Please provide a valid path.")
}

fn checked(text: &str) -> ToolResult<String> {
    if text.trim().is_empty() {
        return failure("A file of memories needs words.");
    }
    if text.len() > LONGEST_MEMORY {
        return failure(format!("A file has at most {LONGEST_MEMORY} bytes; split it into several."));
    }
    Ok(text.to_owned())
}
