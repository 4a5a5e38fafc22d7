//! JSON with comments, parsed to a tree of spans: enough to edit one place of a file and keep every other byte.

use serde_json::Value;

/// Maximum nesting. Source: own choice; settings of clients have a handful of levels.
const DEEPEST: usize = 64;

/// A value and its position.
#[derive(Debug)]
pub(super) struct JsoncNode {
    /// Offset of the first byte.
    pub(super) start: usize,
    /// Offset after the last byte.
    pub(super) end: usize,
    pub(super) kind: JsoncKind,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum JsoncKind {
    Object(Vec<Child>),
    Array(Vec<Child>),
    Scalar(Value),
}

/// A member of an object or an item of an array.
#[derive(Debug)]
pub(super) struct Child {
    /// The key; empty for an item.
    pub(super) key: String,
    /// Offset of the first byte of the key, or of the item.
    pub(super) start: usize,
    pub(super) value: JsoncNode,
    /// Offset of the comma after it.
    pub(super) comma: Option<usize>,
}

impl Child {
    /// Returns the offset after it and its comma.
    pub(super) fn end(&self) -> usize {
        self.comma.map_or(self.value.end, |comma| comma + 1)
    }
}

impl JsoncNode {
    /// Parses a text; `None` if it is not JSON, with optional comments and trailing commas.
    pub(super) fn read(text: &str) -> Option<Self> {
        let start = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
        let mut reader = JsoncReader { text, at: start };
        let node = reader.value(0)?;
        reader.blank()?;
        (reader.at == text.len()).then_some(node)
    }

    /// Returns the children of an object or an array; none for another value.
    pub(super) fn children(&self) -> &[Child] {
        match &self.kind {
            JsoncKind::Object(children) | JsoncKind::Array(children) => children,
            JsoncKind::Scalar(_) => &[],
        }
    }

    /// Returns the member of a key; the last one wins, as in most parsers.
    pub(super) fn member(&self, key: &str) -> Option<&Child> {
        match &self.kind {
            JsoncKind::Object(members) => members.iter().rev().find(|member| member.key == key),
            _ => None,
        }
    }

    /// Returns the value without comments and positions.
    pub(super) fn plain(&self) -> Value {
        match &self.kind {
            JsoncKind::Scalar(value) => value.clone(),
            JsoncKind::Array(items) => items.iter().map(|item| item.value.plain()).collect(),
            JsoncKind::Object(members) => Value::Object(
                members.iter().map(|member| (member.key.clone(), member.value.plain())).collect(),
            ),
        }
    }
}

struct JsoncReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsoncReader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Skips whitespace and comments; `None` for an unterminated comment.
    fn blank(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let skipped = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/")? + 4
            } else {
                rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len()
            };
            if skipped == 0 {
                return Some(());
            }
            self.at += skipped;
        }
    }

    fn value(&mut self, depth: usize) -> Option<JsoncNode> {
        self.blank()?;
        let start = self.at;
        let kind = match self.peek()? {
            _ if depth > DEEPEST => return None,
            b'{' => JsoncKind::Object(self.children(b'}', depth)?),
            b'[' => JsoncKind::Array(self.children(b']', depth)?),
            b'"' => JsoncKind::Scalar(Value::String(self.string()?)),
            _ => JsoncKind::Scalar(self.literal()?),
        };
        Some(JsoncNode { start, end: self.at, kind })
    }

    fn children(&mut self, close: u8, depth: usize) -> Option<Vec<Child>> {
        self.at += 1;
        let mut children: Vec<Child> = Vec::new();
        loop {
            self.blank()?;
            if self.eat(close) {
                return Some(children);
            }
            if children.last().is_some_and(|last| last.comma.is_none()) {
                return None;
            }
            let start = self.at;
            let mut key = String::new();
            if close == b'}' {
                key = self.string()?;
                self.blank()?;
                if !self.eat(b':') {
                    return None;
                }
            }
            let value = self.value(depth + 1)?;
            self.blank()?;
            let comma = self.at;
            children.push(Child { key, start, value, comma: self.eat(b',').then_some(comma) });
        }
    }

    fn string(&mut self) -> Option<String> {
        let bytes = self.rest().as_bytes();
        if bytes.first() != Some(&b'"') {
            return None;
        }
        let mut escaped = false;
        let end = bytes.iter().skip(1).position(|byte| {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        })? + 2;
        let text = self.rest().get(..end)?;
        let string = serde_json::from_str(text).ok()?;
        self.at += end;
        Some(string)
    }

    fn literal(&mut self) -> Option<Value> {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !"+-.".contains(letter));
        let text = rest.get(..end.unwrap_or(rest.len()))?;
        let value = serde_json::from_str(text).ok()?;
        self.at += text.len();
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_commas_at_ends_are_read_and_their_places_are_known() {
        let text =
            "\u{FEFF}// top\n{ /* a */ \"a\": [1, 2.5e3, \"x\\\"}\",], // tail\n \"b\": {\"c\": null,}, }\n";
        let node = JsoncNode::read(text).unwrap();
        assert_eq!(node.plain(), serde_json::json!({"a": [1, 2500.0, "x\"}"], "b": {"c": null}}));
        let a = node.member("a").unwrap();
        assert_eq!(text.get(a.start..a.value.end), Some("\"a\": [1, 2.5e3, \"x\\\"}\",]"));
        assert_eq!(text.get(a.start..a.end()), Some("\"a\": [1, 2.5e3, \"x\\\"}\",],"));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for broken in
            ["", "{", "{\"a\" 1}", "{a: 1}", "[1 2]", "{} {}", "/* {}", "\"", "tru", "{\"a\": 'b'}", "[,]"]
        {
            assert!(JsoncNode::read(broken).is_none(), "{broken}");
        }
        assert!(JsoncNode::read(&"[".repeat(500)).is_none());
    }
}
