//! Notes in Markdown: an agent's `MEMORY.md` and daily notes, and folders of Obsidian and basic-memory.

use mnemal_core::{EventKind, Metadata, Timestamp, Zone};
use serde_json::Value;

use super::Format;
use super::moment::Moments;
use super::note;
use super::turn::{Said, Turns};

/// Longest block, in bytes; a longer one is kept in parts. Source: half of what a line may have.
const LONGEST_BLOCK: usize = 512 * 1024;

/// Reads a file line by line and keeps each paragraph and each item of a list; items below an item stay with it.
#[derive(Debug)]
pub(super) struct Markdown {
    format: Format,
    /// Headings above the block, with their levels.
    headings: Vec<(usize, String)>,
    block: String,
    /// Whether the block stands between fences.
    fenced: bool,
    front: Front,
    tags: Vec<String>,
    /// The day of the file, `YYYY-MM-DD`.
    day: Option<String>,
    /// The hour of the last heading that is one.
    hour: Option<String>,
}

/// How far the front matter was read.
#[derive(Debug, PartialEq, Eq)]
enum Front {
    Before,
    Within,
    /// Within, below the field `tags`.
    Tags,
    Behind,
}

impl Markdown {
    pub(super) fn new(format: Format, source: &str) -> Self {
        let name = source.rsplit(['/', '\\']).next().unwrap_or_default();
        Self {
            format,
            headings: Vec::new(),
            block: String::new(),
            fenced: false,
            front: Front::Before,
            tags: Vec::new(),
            day: day(name).map(str::to_owned),
            hour: None,
        }
    }

    pub(super) fn read(&mut self, line: &str, moments: &Moments, turns: &mut Turns) -> Result<(), String> {
        if self.front != Front::Behind && self.front_matter(line) {
            return Ok(());
        }
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if text.starts_with("```") || text.starts_with("~~~") {
            self.fenced = !self.fenced;
        } else if !self.fenced {
            if text.is_empty() || is_rule(text) {
                return self.flush(moments, turns);
            }
            if let Some((level, heading)) = heading(line) {
                self.flush(moments, turns)?;
                self.head(level, heading);
                return Ok(());
            }
            if text.starts_with("<!--") && text.ends_with("-->") {
                turns.remark("a comment");
                return self.flush(moments, turns);
            }
            if let Some(item) = item(text).filter(|_| indent < 2) {
                self.flush(moments, turns)?;
                item.clone_into(&mut self.block);
                return Ok(());
            }
        }
        if self.block.len() + line.len() > LONGEST_BLOCK {
            self.flush(moments, turns)?;
        }
        if !self.block.is_empty() {
            self.block.push('\n');
        }
        self.block.push_str(line.trim_end());
        Ok(())
    }

    /// Reads a line of `---`, fields, `---` at the start of a file; says whether it was one.
    fn front_matter(&mut self, line: &str) -> bool {
        let text = line.trim();
        if self.front == Front::Before {
            self.front = if text == "---" { Front::Within } else { Front::Behind };
            return self.front == Front::Within;
        }
        if text == "---" || text == "..." {
            self.front = Front::Behind;
            return true;
        }
        if let Some(tag) = text.strip_prefix("- ").filter(|_| self.front == Front::Tags) {
            self.tags.push(unquoted(tag).to_owned());
            return true;
        }
        self.front = Front::Within;
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        match field.trim().to_lowercase().as_str() {
            "tags" | "tag" => {
                self.front = Front::Tags;
                let listed = value.trim().trim_start_matches('[').trim_end_matches(']');
                self.tags
                    .extend(listed.split(',').map(unquoted).filter(|tag| !tag.is_empty()).map(str::to_owned));
            }
            "date" | "created" | "created_at" => {
                self.day =
                    self.day.take().or_else(|| day(unquoted(value)).map(|_| unquoted(value).to_owned()));
            }
            _ => {}
        }
        true
    }

    fn head(&mut self, level: usize, heading: &str) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, heading.to_owned()));
        self.hour = hour(heading).map(str::to_owned);
    }

    /// Keeps the block that ends here.
    pub(super) fn flush(&mut self, moments: &Moments, turns: &mut Turns) -> Result<(), String> {
        self.fenced = false;
        let block = std::mem::take(&mut self.block);
        if block.trim().is_empty() {
            return Ok(());
        }
        let (stamp, content) = stamped(block.trim());
        // Brackets that hold no time after all stay in the text.
        let (at, content) = match self.at(stamp, moments) {
            Ok(Some(at)) => (Some(at), content),
            _ => (None, block.trim()),
        };
        let is_dated = self.format == Format::MemoryMd && at.is_some();
        let stem = turns.stem();
        let title = stem.strip_suffix(".md").unwrap_or(&stem).to_owned();
        let (own, content) = observation(content, self.format);
        // The title of an agent's memory says no more than that it is one.
        let above = self.headings.iter().filter(|(level, _)| *level > 1 || self.format == Format::Obsidian);
        let path = above.map(|(_, heading)| heading.as_str());
        let path: Vec<&str> = own.map_or_else(|| path.collect(), |own| vec![own]);
        let named = (self.format == Format::Obsidian && own.is_none()).then_some(title.as_str());
        let tags = self.tags.iter().map(String::as_str).chain(hash_tags(content));
        let kind = if is_dated {
            EventKind::Observation
        } else {
            note::kept(note::category(named.into_iter().chain(path.iter().copied())), note::tags(tags), None)
        };
        let mut metadata = Metadata::new();
        let links = links(content).join(", ");
        if !links.is_empty() {
            metadata.insert("links".to_owned(), links);
        }
        let mut source = vec![turns.file()];
        source.extend(path.iter().map(|part| (*part).to_owned()));
        turns.say(&Said {
            // A person writes the notes of a vault; those of an agent's memory are the agent's.
            human: self.format == Format::Obsidian,
            kind,
            content: content.to_owned(),
            session: title,
            conv: None,
            speaker: None,
            at,
            source,
            parent: None,
            metadata,
        })?;
        Ok(())
    }

    /// Returns when something was noted: its own time, else the day of the file with the hour above it.
    fn at(&self, stamp: Option<&str>, moments: &Moments) -> Result<Option<(Timestamp, Zone)>, String> {
        let moment = match (stamp, &self.day, &self.hour) {
            (Some(stamp), ..) if day(stamp).is_some() => stamp.to_owned(),
            (Some(hour), Some(day), _) => format!("{day}T{hour}"),
            (None, Some(day), Some(hour)) if day.len() == 10 => format!("{day}T{hour}"),
            (None, Some(day), _) => day.clone(),
            _ => return Ok(None),
        };
        moments.read(Some(&Value::String(moment)))
    }
}

/// Returns the day that a name or a text starts with, `YYYY-MM-DD`.
fn day(text: &str) -> Option<&str> {
    let day = text.get(..10)?;
    let is_day = day.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_day.then_some(day)
}

/// Returns the hour that a heading starts with, `HH:MM`.
fn hour(text: &str) -> Option<&str> {
    let hour = text.get(..5)?;
    let is_hour = hour
        .bytes()
        .enumerate()
        .all(|(place, byte)| if place == 2 { byte == b':' } else { byte.is_ascii_digit() });
    is_hour.then_some(hour)
}

/// Cuts the time that a text starts with: `[2026-03-01 09:30] …`, `[09:30] …`.
fn stamped(text: &str) -> (Option<&str>, &str) {
    let stamp = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match stamp.filter(|(stamp, _)| day(stamp).is_some() || (hour(stamp).is_some() && stamp.len() <= 8)) {
        Some((stamp, rest)) if !rest.trim().is_empty() => (Some(stamp), rest.trim_start()),
        _ => (None, text),
    }
}

/// Cuts the category of an observation of basic-memory: `[category] text`.
fn observation(text: &str, format: Format) -> (Option<&str>, &str) {
    let own = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_word = |word: &str| !word.is_empty() && word.len() <= 40 && !word.contains(['[', '|', '\n', '(']);
    match own.filter(|(word, _)| format == Format::Obsidian && is_word(word)) {
        Some((word, rest)) if !word.trim().is_empty() => (Some(word), rest),
        _ => (None, text),
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let text = line.get(level..)?;
    ((1..=6).contains(&level) && text.starts_with(' '))
        .then(|| (level, text.trim().trim_end_matches('#').trim()))
}

fn is_rule(text: &str) -> bool {
    text.len() >= 3
        && ["-", "*", "_"].iter().any(|mark| {
            text.split(' ').all(|part| part.trim_matches(mark.chars().next().unwrap_or('-')).is_empty())
        })
}

/// Returns the text of an item of a list, without its mark and its box.
fn item(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = if digits > 0 { text.get(digits..) } else { Some(text) };
    let rest = match mark? {
        rest if digits > 0 => rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")),
        rest => ["- ", "* ", "+ "].iter().find_map(|mark| rest.strip_prefix(mark)),
    }?;
    let rest = rest.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|done| rest.strip_prefix(done)).unwrap_or(rest))
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

fn hash_tags(text: &str) -> impl Iterator<Item = &str> {
    let is_tag = |word: &&str| {
        word.strip_prefix('#').is_some_and(|tag| tag.chars().next().is_some_and(char::is_alphabetic))
    };
    text.split_whitespace().filter(is_tag).map(|word| word.trim_end_matches(['.', ',', ';', ')']))
}

/// Returns what the links of a text name: `[[Ada]]`, `[[Ada|her]]`, `[[Ada#Work]]`.
fn links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for part in text.split("[[").skip(1) {
        let Some((link, _)) = part.split_once("]]") else { continue };
        let name = link.split(['|', '#']).next().unwrap_or_default().trim();
        if !name.is_empty() && !links.contains(&name) {
            links.push(name);
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_lists_headings_and_times_are_told_from_text() {
        for (line, expect) in [
            ("- tea", Some("tea")),
            ("3. tea", Some("tea")),
            ("- [x] tea", Some("tea")),
            ("3 teas", None),
            ("-tea", None),
        ] {
            assert_eq!(item(line), expect, "{line}");
        }
        assert_eq!(heading("## Food ##"), Some((2, "Food")));
        assert_eq!(heading("#tag"), None);
        assert_eq!(stamped("[2026-03-01 09:30] rain"), (Some("2026-03-01 09:30"), "rain"));
        assert_eq!(stamped("[09:30] rain"), (Some("09:30"), "rain"));
        assert_eq!(stamped("[link] rain"), (None, "[link] rain"));
        assert_eq!(links("by [[Ada|her]] and [[Ada#Work]], [[Bo]]"), ["Ada", "Bo"]);
        assert!(is_rule("---") && is_rule("* * *") && !is_rule("--x"));
    }
}
