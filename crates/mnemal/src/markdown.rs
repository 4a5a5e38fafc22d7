//! Markdown export for people: notes by category, entities with their facts, days, and the summary.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use mnemal_core::{
    AsOf, Cursor, EntityFilter, EntityId, ErrorKind, EventFilter, Learning, LearningFilter, LearningKind,
    NodePath, Origin, Result, Speaker, Within,
};

use crate::areas::AdminHandle;
use crate::audit::{AuditAct, AuditRecord};
use crate::memory::Memory;

/// Events per page. Source: the page of the lossless export.
const PAGE: NonZeroUsize = NonZeroUsize::new(500).expect("500 is not zero");
/// Longest part of a file name, in bytes. Source: own choice; below the 255 that file systems allow, with an id.
const LONGEST_PART: usize = 60;
/// Depth of the exported summary tree. Source: own choice; the root, channels or months, sessions.
const SUMMARY_DEPTH: usize = 2;

/// Receives a piece of a file: its path in the folder with `/` between the parts, and text to append to it. The first piece of a
/// path creates the file.
pub type MarkdownSink<'s> = dyn FnMut(&str, &str) -> Result<()> + Send + 's;

/// Counts of a Markdown export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkdownExport {
    /// Valid notes and learnings.
    pub notes: u64,
    /// Entities.
    pub entities: u64,
    /// Days.
    pub days: u64,
    /// Events in these days.
    pub events: u64,
}

impl Memory {
    async fn notes_as_markdown(&self, put: &mut MarkdownSink<'_>, export: &mut MarkdownExport) -> Result<()> {
        let as_of = AsOf::present(self.engine.now());
        let held = match self.preferences().learnings(&LearningFilter::all(), as_of).await {
            Ok(held) => held,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut notes: Vec<Learning> = held.into_iter().map(|scored| scored.item).collect();
        notes.sort_by(|one, other| {
            (&one.category, one.created_at, one.id).cmp(&(&other.category, other.created_at, other.id))
        });
        let log = self.event_log()?;
        let mut preferences = String::new();
        for note in &notes {
            let text = log.outgoing(&note.content)?;
            let name = note.key.as_ref().map_or_else(String::new, |key| part(key.as_str()));
            let name = format!("{name}{}{}", if name.is_empty() { "" } else { "-" }, note.id);
            let folders: Vec<String> =
                note.category.as_str().split('/').map(part).filter(|part| !part.is_empty()).collect();
            let path = format!("memories/{}/{name}.md", folders.join("/")).replace("//", "/");
            put(&path, &format!("{}\n{text}\n", front_matter(note)))?;
            if note.kind == LearningKind::Preference {
                preferences.extend([format!("- {}\n", one_line(&text))]);
            }
            export.notes += 1;
        }
        if !preferences.is_empty() {
            put("preferences.md", &format!("# Preferences\n\n{preferences}"))?;
        }
        Ok(())
    }

    async fn entities_as_markdown(
        &self,
        put: &mut MarkdownSink<'_>,
        export: &mut MarkdownExport,
    ) -> Result<()> {
        let graph = match self.facts().graph().await {
            Ok(graph) => graph.value,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let as_of = AsOf::present(self.engine.now());
        let mut known = graph.all(&EntityFilter::all(), as_of).await?;
        known.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
        let files: BTreeMap<EntityId, String> =
            known.iter().map(|entity| (entity.id, file_of(&entity.name, entity.id))).collect();
        let log = self.event_log()?;
        for entity in &known {
            let profile = self.facts().entity_profile(&entity.id.to_string(), as_of).await?.value;
            let mut text =
                format!("# {}\n\n{}\n", log.outgoing(&one_line(&entity.name))?, entity.kind.as_str());
            for (title, facts) in [("Holds", &profile.facts), ("Is over", &profile.past)] {
                if facts.is_empty() {
                    continue;
                }
                text.extend([format!("\n## {title}\n\n")]);
                for told in facts {
                    let other = [told.fact.subject].into_iter().chain(told.fact.object.entity());
                    let links = other.filter(|id| *id != entity.id).filter_map(|id| files.get(&id));
                    let links = links.map(|file| format!(" [[{file}]]")).collect::<Vec<_>>().concat();
                    text.extend([format!(
                        "- {} ({}){links}\n",
                        log.outgoing(&one_line(&told.line()))?,
                        told.sureness()
                    )]);
                }
            }
            let Some(file) = files.get(&entity.id) else { continue };
            put(&format!("entities/{file}.md"), &text)?;
            export.entities += 1;
        }
        Ok(())
    }

    async fn summary_as_markdown(&self, put: &mut MarkdownSink<'_>) -> Result<()> {
        let summaries = match self.summaries().reader().await {
            Ok(summaries) => summaries.value,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
            Err(error) => return Err(error),
        };
        let tree = match summaries.tree(&NodePath::Root, SUMMARY_DEPTH).await {
            Ok(tree) => tree,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let log = self.event_log()?;
        let mut text = "# Summary\n".to_owned();
        for standing in &tree {
            let name = standing.node.path.to_string();
            text.extend([format!("\n## {}\n\n", one_line(&name))]);
            for line in &standing.node.lines {
                text.extend([format!("- {}\n", log.outgoing(&one_line(&line.text))?)]);
            }
        }
        put("summary.md", &text)
    }

    async fn days_as_markdown(&self, put: &mut MarkdownSink<'_>, export: &mut MarkdownExport) -> Result<()> {
        let (log, events) = (self.event_log()?, self.engine.events()?);
        let filter = EventFilter {
            quarantined: Within::Only(false),
            erased: Within::Only(false),
            ..EventFilter::all()
        };
        let head = events.head().await?;
        let mut begun: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
        let mut after = Cursor::START;
        while after < head {
            let page = events.scan(&filter, after, PAGE).await?;
            let Some(last) = page.last().map(|event| event.seq) else { break };
            after = Cursor(Some(last));
            for event in &page {
                let Some(kept) = event.body().filter(|kept| !kept.content.trim().is_empty()) else {
                    continue;
                };
                let day = kept.occurred_at.civil(&kept.zone).day_text();
                let path = format!("timeline/{day}.md");
                if begun.insert(day.clone()) {
                    put(&path, &format!("# {day}\n\n"))?;
                }
                let who = kept.speaker.as_ref().map_or(event.role.as_str(), Speaker::as_str);
                let text = log.outgoing(&kept.content)?.trim().replace('\n', "\n  ");
                put(
                    &path,
                    &format!("- **{}** ({}, {}): {text}\n", one_line(who), event.level.as_str(), event.id),
                )?;
                export.events += 1;
            }
        }
        export.days = begun.len() as u64;
        Ok(())
    }
}

impl AdminHandle<'_> {
    /// Exports the valid content as Markdown: `memories/CATEGORY/NAME.md` with front matter, `preferences.md`, `entities/NAME.md`
    /// with dated facts and wiki links, `summary.md`, and the events of each day in `timeline/YYYY-MM-DD.md`.
    ///
    /// Paths never contain raw text: parts of names are lowercase letters, digits and hyphens. Text passes the secret rules once
    /// more. Quarantined and forgotten records are left out. The export is for reading and cannot be imported; use a lossless
    /// format for that. Two exports of one state are identical. Memory use grows with the number of entities and days, not of
    /// events.
    ///
    /// # Errors
    /// `Unavailable` when the sink or the store fails.
    pub async fn export_markdown(self, put: &mut MarkdownSink<'_>) -> Result<MarkdownExport> {
        self.memory.must_be_whole("an export")?;
        let mut export = MarkdownExport::default();
        self.memory.notes_as_markdown(put, &mut export).await?;
        self.memory.entities_as_markdown(put, &mut export).await?;
        self.memory.summary_as_markdown(put).await?;
        self.memory.days_as_markdown(put, &mut export).await?;
        self.memory.engine.note_copy("export", "exp", export.events).await;
        let act = AuditRecord::new(AuditAct::Export, Origin::UserDirect).space(&self.memory.scope.space);
        self.memory.engine.audit(&act.count("events", export.events))?;
        Ok(export)
    }
}

fn front_matter(note: &Learning) -> String {
    let mut lines =
        vec!["---".to_owned(), format!("id: {}", note.id), format!("kind: {}", note.kind.as_str())];
    if let Some(key) = &note.key {
        lines.push(format!("key: {}", quoted(key.as_str())));
    }
    lines.push(format!("category: {}", quoted(note.category.as_str())));
    if !note.tags.is_empty() {
        let tags: Vec<String> = note.tags.iter().map(|tag| quoted(tag.as_str())).collect();
        lines.push(format!("tags: [{}]", tags.join(", ")));
    }
    lines.push(format!("level: {}", note.level.as_str()));
    lines.push(format!("trust: {}", note.trust.as_str()));
    lines.push(format!("created: {}", note.created_at));
    let sources: Vec<String> = note.sources.iter().map(|source| source.event.to_string()).collect();
    lines.push(format!("sources: [{}]", sources.join(", ")));
    lines.push("---\n".to_owned());
    lines.join("\n")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the name of an entity's file: words of its name, and its unique id.
fn file_of(name: &str, id: EntityId) -> String {
    let words = part(name);
    if words.is_empty() { id.to_string() } else { format!("{words}-{id}") }
}

/// Returns a text as a part of a path: lowercase letters, digits and hyphens only.
fn part(text: &str) -> String {
    let mut part = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if part.len() + letter.len_utf8() > LONGEST_PART {
            break;
        }
        if letter.is_alphanumeric() {
            part.push(letter);
        } else if !part.is_empty() && !part.ends_with('-') {
            part.push('-');
        }
    }
    part.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_leave_the_folder() {
        for (text, expect) in [
            ("../../etc/passwd", "etc-passwd"),
            ("C:\\x", "c-x"),
            ("Zoë & Bo", "zoë-bo"),
            ("..", ""),
            ("\0/\u{202E}", ""),
        ] {
            assert_eq!(part(text), expect, "{text:?}");
        }
        assert!(part(&"ö".repeat(500)).len() <= LONGEST_PART);
    }
}
