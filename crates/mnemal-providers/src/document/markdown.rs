//! Markdown: split at its headings, byte for byte; the front matter becomes fields.

use mnemal_core::{Metadata, Passage};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::Content;

/// Front-matter fields that are stored. Source: own choice of the keys that site generators share.
const FIELDS: [&str; 6] = ["title", "author", "date", "tags", "description", "lang"];

/// Reads Markdown.
pub(super) fn read(text: &str) -> Content {
    let (fields, body) = front_matter(text);
    let start = text.len() - body.len();
    let mut passages: Vec<Passage> = Vec::new();
    let mut path: Vec<(HeadingLevel, String)> = Vec::new();
    let mut from = start;
    for section in sections(body) {
        push(&mut passages, text, from..start + section.start, &path);
        from = start + section.start;
        while path.last().is_some_and(|(level, _)| *level >= section.level) {
            path.pop();
        }
        path.push((section.level, section.words));
    }
    push(&mut passages, text, from..text.len(), &path);
    Content { fields, written_at: None, passages }
}

fn push(
    passages: &mut Vec<Passage>,
    text: &str,
    bytes: std::ops::Range<usize>,
    path: &[(HeadingLevel, String)],
) {
    let text = text.get(bytes).unwrap_or_default();
    if !text.trim().is_empty() {
        let headings = path.iter().map(|(_, words)| words.clone()).collect();
        passages.push(Passage { text: text.to_owned(), headings, ..Passage::default() });
    }
}

/// A heading outside quotes and lists.
struct Section {
    start: usize,
    level: HeadingLevel,
    words: String,
}

fn sections(body: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let (mut depth, mut inside) = (0_usize, false);
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                inside = true;
                sections.push(Section { start: range.start, level, words: String::new() });
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => inside = false,
            Event::Start(_) if !inside => depth += 1,
            Event::End(_) if !inside => depth = depth.saturating_sub(1),
            Event::Text(words) | Event::Code(words) if inside => {
                if let Some(section) = sections.last_mut() {
                    section.words.push_str(&words);
                }
            }
            _ => {}
        }
    }
    sections
}

/// Splits off a front matter between two lines `---`, and reads its plain `key: value` lines.
fn front_matter(text: &str) -> (Metadata, &str) {
    let none = (Metadata::new(), text);
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return none };
    let mut at = 0;
    let mut fields = Metadata::new();
    let mut list: Option<&str> = None;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end();
        if line == "---" || line == "..." {
            return (fields, rest.get(at..).unwrap_or_default());
        }
        if let Some(value) = line.trim_start().strip_prefix("- ").filter(|_| line.starts_with([' ', '-'])) {
            if let Some(held) = list.and_then(|key| fields.get_mut(key)) {
                let joint = if held.is_empty() { "" } else { ", " };
                held.push_str(joint);
                held.push_str(unquoted(value));
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':').filter(|(key, _)| !key.starts_with([' ', '\t', '#']))
        else {
            continue;
        };
        list = FIELDS.into_iter().find(|known| key.trim().eq_ignore_ascii_case(known));
        if let Some(key) = list {
            fields.insert(key.to_owned(), unquoted(value).to_owned());
        }
    }
    // A line `---` at the start that nothing closes is a rule, not a front matter.
    none
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inside = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value).trim_matches(['[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_the_files_own_bytes_under_their_headings() {
        let text = "Intro.\n\n# Guide\n\nHello.\n\n## Linux `apt`\n\n> # quoted\n\n```\n# no heading\n```\n\nMac\n---\nBye.\n";
        let content = read(text);
        let whole: String = content.passages.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(whole, text, "no byte is lost");
        let paths: Vec<String> =
            content.passages.iter().map(|passage| passage.headings.join(" > ")).collect();
        assert_eq!(paths, ["", "Guide", "Guide > Linux apt", "Guide > Mac"]);
    }

    #[test]
    fn a_front_matter_becomes_fields_and_an_open_rule_stays_text() {
        let content = read(
            "---\ntitle: \"The plan\"\ntags: [a, b]\ndraft: true\nauthor:\n  - Ana\n  - Ben\n---\n# One\ntext\n",
        );
        let fields: Vec<(&str, &str)> =
            content.fields.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(fields, [("author", "Ana, Ben"), ("tags", "a, b"), ("title", "The plan")]);
        assert_eq!(content.passages[0].text, "# One\ntext\n");
        let open = "---\ntitle: x\nno end";
        assert_eq!(read(open).passages[0].text, open);
        assert!(read(open).fields.is_empty());
    }

    #[test]
    fn deep_nesting_ends() {
        let text = format!("{}x\n{}\n", "> ".repeat(20_000), "- ".repeat(20_000));
        assert_eq!(read(&text).passages.len(), 1);
    }
}
