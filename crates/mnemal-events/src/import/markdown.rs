//! Notes in Markdown: an agent's `MEMORY.md` and daily notes, and folders of Obsidian and basic-memory.

use mnemal_core::{EventKind, Metadata, Timestamp, Zone};
use serde_json::Value;

use super::parse_time::TimeParser;
use super::turn::{ParsedRecord, Turns};
use super::{Format, note};

/// Longest name of a category in brackets, in bytes. Source: own choice, two or three words.
const LONGEST_NAME: usize = 40;
/// Longest block, in bytes; a longer one is kept in parts. Source: half of what a line may have.
const LONGEST_BLOCK: usize = 512 * 1024;

/// Reads a file line by line and stores each paragraph and each list item; nested items stay with their parent.
#[derive(Debug)]
pub(super) struct Markdown {
    format: Format,
    /// Headings above the block, with their levels.
    headings: Vec<(usize, String)>,
    block: String,
    /// Whether the block is inside a code fence.
    fenced: bool,
    front: Front,
    /// Lines that may be front matter, until its end is seen.
    pending: Vec<String>,
    /// Whether an Obsidian comment is open, `%%` to `%%`.
    is_comment: bool,
    tags: Vec<String>,
    /// The day of the file, `YYYY-MM-DD`.
    day: Option<String>,
    /// The hour from the last heading that states one.
    hour: Option<String>,
}

/// Progress in the front matter.
#[derive(Debug, PartialEq, Eq)]
enum Front {
    Before,
    Within,
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
            pending: Vec::new(),
            is_comment: false,
            tags: Vec::new(),
            day: day(name).map(str::to_owned),
            hour: None,
        }
    }

    pub(super) fn read(&mut self, line: &str, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
        match self.front {
            Front::Before if line.trim_end() == "---" => self.begin(line),
            Front::Before => {
                self.front = Front::Behind;
                self.text(line, moments, turns)?;
            }
            Front::Within if matches!(line.trim_end(), "---" | "...") && self.pending.len() > 1 => {
                self.close();
            }
            Front::Within if self.pending.len() < MOST_FIELDS && is_field(line, &self.pending) => {
                self.pending.push(line.to_owned());
            }
            Front::Within => {
                self.pending.push(line.to_owned());
                self.replay(moments, turns)?;
            }
            Front::Behind => self.text(line, moments, turns)?,
        }
        Ok(())
    }

    fn begin(&mut self, line: &str) {
        self.front = Front::Within;
        self.pending.push(line.to_owned());
    }

    /// Reads apparent front matter as text after all.
    fn replay(&mut self, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
        self.front = Front::Behind;
        for line in std::mem::take(&mut self.pending) {
            self.text(&line, moments, turns)?;
        }
        Ok(())
    }

    /// Reads a line after the front matter.
    fn text(&mut self, line: &str, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
        let uncommented = self.uncommented(line, turns);
        let line = uncommented.as_deref().unwrap_or(line);
        if uncommented.is_some() && line.trim().is_empty() {
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
                self.block = item;
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

    /// Removes Obsidian comments from a line; `None` if there are none.
    fn uncommented(&mut self, line: &str, turns: &mut Turns) -> Option<String> {
        let has_mark = self.format == Format::Obsidian && !self.fenced && line.contains("%%");
        if !has_mark && !self.is_comment {
            return None;
        }
        let mut rest = String::new();
        for (place, part) in line.split("%%").enumerate() {
            // Behind a number it is a sign for percent.
            let is_mark = self.is_comment || !rest.ends_with(char::is_alphanumeric);
            match (place, is_mark) {
                (0, _) => {}
                (_, true) => self.is_comment = !self.is_comment,
                (_, false) => rest.push_str("%%"),
            }
            if !self.is_comment {
                rest.push_str(part);
            }
        }
        if rest.trim().is_empty() {
            turns.remark("a comment");
        }
        Some(rest)
    }

    /// Reads the fields of complete front matter.
    fn close(&mut self) {
        self.front = Front::Behind;
        let mut below_tags = false;
        for line in std::mem::take(&mut self.pending).iter().skip(1) {
            let text = line.trim();
            if let Some(tag) = text.strip_prefix("- ").filter(|_| below_tags) {
                self.tags.push(unquoted(tag).to_owned());
                continue;
            }
            if line.starts_with([' ', '\t']) {
                continue;
            }
            let (field, value) = text.split_once(':').unwrap_or((text, ""));
            let field = field.trim().to_lowercase();
            below_tags = matches!(field.as_str(), "tags" | "tag");
            if below_tags {
                let listed = value.trim().trim_start_matches('[').trim_end_matches(']');
                self.tags
                    .extend(listed.split(',').map(unquoted).filter(|tag| !tag.is_empty()).map(str::to_owned));
            } else if matches!(field.as_str(), "date" | "created" | "created_at") {
                let given = day(unquoted(value)).map(|_| unquoted(value).to_owned());
                self.day = self.day.take().or(given);
            }
        }
    }

    fn head(&mut self, level: usize, heading: &str) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, heading.to_owned()));
        self.hour = hour(heading).map(str::to_owned);
    }

    /// Stores the rest at the end of the file.
    pub(super) fn end(&mut self, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
        self.replay(moments, turns)?;
        self.flush(moments, turns)
    }

    /// Stores the block that ends here.
    fn flush(&mut self, moments: &TimeParser, turns: &mut Turns) -> Result<(), String> {
        self.fenced = false;
        let block = std::mem::take(&mut self.block);
        let block =
            if self.format == Format::Obsidian { without_block_id(block.trim()) } else { block.trim() };
        if block.is_empty() {
            return Ok(());
        }
        let (stamp, content) = stamped(block);
        // Brackets that hold no time after all stay in the text.
        let (at, content) = match self.at(stamp, moments) {
            Ok(Some(at)) => (Some(at), content),
            _ => (None, block),
        };
        let is_dated = self.format == Format::MemoryMd && at.is_some();
        let stem = turns.stem();
        let title = stem.strip_suffix(".md").unwrap_or(&stem).to_owned();
        // What is no note has no category, and keeps the word.
        let (own, content) = if is_dated { (None, content) } else { observation(content, self.format) };
        // The title of an agent's memory says no more than that it is one.
        let above = self.headings.iter().filter(|(level, _)| *level > 1 || self.format == Format::Obsidian);
        let path = above.map(|(_, heading)| heading.as_str());
        let path: Vec<&str> = own.map_or_else(|| path.collect(), |own| vec![own]);
        let named = (self.format == Format::Obsidian && own.is_none()).then_some(title.as_str());
        let tags = self.tags.iter().map(String::as_str).chain(hash_tags(content));
        let kind = if is_dated {
            EventKind::Observation
        } else {
            note::remember(
                note::category(named.into_iter().chain(path.iter().copied())),
                note::tags(tags),
                None,
            )
        };
        let mut metadata = Metadata::new();
        let links = links(content).join(", ");
        if !links.is_empty() {
            metadata.insert("links".to_owned(), links);
        }
        let mut source = vec![turns.file()];
        source.extend(path.iter().map(|part| (*part).to_owned()));
        turns.emit(&ParsedRecord {
            user: None,
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

    /// Returns the time of a note: its own, else the day of the file with the hour above it.
    fn at(&self, stamp: Option<&str>, moments: &TimeParser) -> Result<Option<(Timestamp, Zone)>, String> {
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

/// Returns the day at the start of a name or a text, `YYYY-MM-DD`.
fn day(text: &str) -> Option<&str> {
    let day = text.get(..10)?;
    let is_day = day.bytes().enumerate().all(|(place, byte)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_day.then_some(day)
}

/// Returns the hour at the start of a heading, `HH:MM`.
fn hour(text: &str) -> Option<&str> {
    let hour = text.get(..5)?;
    let is_hour = hour
        .bytes()
        .enumerate()
        .all(|(place, byte)| if place == 2 { byte == b':' } else { byte.is_ascii_digit() });
    is_hour.then_some(hour)
}

/// Splits off the time at the start of a text: `[2026-03-01 09:30] …`, `[09:30] …`.
fn stamped(text: &str) -> (Option<&str>, &str) {
    let stamp = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match stamp.filter(|(stamp, _)| day(stamp).is_some() || (hour(stamp).is_some() && stamp.len() <= 8)) {
        Some((stamp, rest)) if !rest.trim().is_empty() => (Some(stamp), rest.trim_start()),
        _ => (None, text),
    }
}

/// Splits off the category of an observation, as basic-memory writes them: `[category] text`. In an agent's memory it is one
/// word; all capitals are a mark such as `[WIP]`, which stays.
fn observation(text: &str, format: Format) -> (Option<&str>, &str) {
    let own = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_name = |word: &str| {
        word.len() <= LONGEST_NAME
            && word.chars().filter(|letter| letter.is_alphabetic()).count() > 1
            && !word.contains(['[', '|', '\n', '('])
    };
    let is_mark = |word: &str| {
        word.contains(char::is_whitespace) || word == word.to_uppercase() && word != word.to_lowercase()
    };
    match own.filter(|(word, _)| is_name(word) && (format == Format::Obsidian || !is_mark(word))) {
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

/// Meanings of task boxes. Source: Obsidian, and the themes with more states than done and not done.
const BOXES: [(&str, &str); 8] = [
    ("[ ] ", "To do"),
    ("[x] ", "Done"),
    ("[X] ", "Done"),
    ("[-] ", "Dropped"),
    ("[/] ", "Begun"),
    ("[>] ", "Put off"),
    ("[<] ", "Planned"),
    ("[?] ", "Open question"),
];

/// Returns the text of a list item without its bullet, with the meaning of its box in words before it.
fn item(text: &str) -> Option<String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = if digits > 0 { text.get(digits..) } else { Some(text) };
    let rest = match mark? {
        rest if digits > 0 => rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")),
        rest => ["- ", "* ", "+ "].iter().find_map(|mark| rest.strip_prefix(mark)),
    }?;
    let rest = rest.trim_start();
    let boxed = BOXES.iter().find_map(|(mark, state)| Some((state, rest.strip_prefix(mark)?)));
    Some(match boxed {
        Some((state, task)) => format!("{state}: {}", task.trim_start()),
        None => rest.to_owned(),
    })
}

/// Most lines of front matter. Source: own choice; what is longer is a text.
const MOST_FIELDS: usize = 2_000;

/// Whether a line may be front matter after others: a field, a part of one, a comment. The first line is not blank.
fn is_field(line: &str, before: &[String]) -> bool {
    let (text, place) = (line.trim_end(), before.len());
    if text.is_empty() {
        return place > 1;
    }
    let is_behind_blank = before.last().is_some_and(|line| line.trim().is_empty());
    if text == "-" || text.starts_with("- ") {
        // A list belongs to a field that has no value of its own.
        let above = before.iter().rev().find(|line| !line.starts_with([' ', '\t', '-', '#']));
        return place > 1 && !is_behind_blank && above.is_some_and(|field| field.trim_end().ends_with(':'));
    }
    if text.starts_with('#') {
        // A remark of one mark; a heading of a note follows a blank line, or has more.
        return if place > 1 { !text.starts_with("##") && !is_behind_blank } else { !text.starts_with("# ") };
    }
    if text.starts_with([' ', '\t', '}', ']']) {
        return place > 1;
    }
    let name = text.split_once(':').filter(|(_, value)| value.is_empty() || value.starts_with(' '));
    name.is_some_and(|(name, _)| {
        let name = unquoted(name);
        !name.is_empty() && name.split(' ').count() <= 3 && !name.contains(['[', '(', '.', ','])
    })
}

/// Removes a block id, ` ^abc1`, from the end of a text.
fn without_block_id(text: &str) -> &str {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    match text.rsplit_once('^') {
        Some((before, name)) if is_name(name) && (before.is_empty() || before.ends_with([' ', '\n'])) => {
            before.trim_end()
        }
        _ => text,
    }
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

/// Returns the link targets of a text: `[[Ada]]`, `[[Ada|her]]`, `[[Ada#Work]]`; code is ignored.
fn links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    // Every second part is between backticks.
    for part in text.split('`').step_by(2).flat_map(|prose| prose.split("[[").skip(1)) {
        let Some((link, _)) = part.split_once("]]") else { continue };
        // In a table the bar is escaped.
        let name = link.split(['|', '#']).next().unwrap_or_default().trim_end_matches('\\').trim();
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
            ("- [x] tea", Some("Done: tea")),
            ("* [ ] tea", Some("To do: tea")),
            ("1. [-] tea", Some("Dropped: tea")),
            ("- [/] tea", Some("Begun: tea")),
            ("- [>] tea", Some("Put off: tea")),
            ("- [decision] tea", Some("[decision] tea")),
            ("3 teas", None),
            ("-tea", None),
        ] {
            assert_eq!(item(line).as_deref(), expect, "{line}");
        }
        assert_eq!(heading("## Food ##"), Some((2, "Food")));
        assert_eq!(heading("#tag"), None);
        assert_eq!(stamped("[2026-03-01 09:30] rain"), (Some("2026-03-01 09:30"), "rain"));
        assert_eq!(stamped("[09:30] rain"), (Some("09:30"), "rain"));
        assert_eq!(stamped("[link] rain"), (None, "[link] rain"));
        for (text, of_vault, of_agent) in [
            ("[decision] We heat with wood", Some("decision"), Some("decision")),
            ("[Gewohnheit] Montags wird gelüftet", Some("Gewohnheit"), Some("Gewohnheit")),
            ("[决定] 用木头取暖", Some("决定"), Some("决定")),
            ("[to be confirmed] the roof is done in May", Some("to be confirmed"), None),
            ("[WIP] the roof", Some("WIP"), None),
            ("[the plan](plan.md) of the roof", None, None),
            ("[!] the roof", None, None),
        ] {
            assert_eq!(observation(text, Format::Obsidian).0, of_vault, "{text}");
            assert_eq!(observation(text, Format::MemoryMd).0, of_agent, "{text}");
        }
        assert_eq!(links("by [[Ada|her]] and [[Ada#Work]], [[Bo]]"), ["Ada", "Bo"]);
        assert_eq!(links("| [[Ada Berg\\|Ada]] | and `[[code]]`, [[Bo]]"), ["Ada Berg", "Bo"]);
        assert_eq!(without_block_id("Heat with wood. ^wood-1"), "Heat with wood.");
        assert_eq!(without_block_id("2^8 and x ^ y"), "2^8 and x ^ y");
        assert!(is_rule("---") && is_rule("* * *") && !is_rule("--x"));
    }
}
