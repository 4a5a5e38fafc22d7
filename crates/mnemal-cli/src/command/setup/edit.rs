//! Single edits of a JSON file, and their exact inverse.
//!
//! A new member or item comes last. Into an existing empty container it is inserted without whitespace; a container created here
//! has one line per child. So the inverse can distinguish the two, and restores the file byte for byte.

use serde_json::Value;

use super::jsonc::{Child, JsoncKind, JsoncNode};

/// Inserts a value at a path of keys; an empty last key appends to the array there, and missing containers are created.
///
/// `None` when the text cannot be parsed, or the path leads through another value.
pub(super) fn insert(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let root = JsoncNode::read(text)?;
    let (mut node, mut depth) = (&root, 0);
    while let Some((key, _)) = path.get(depth..)?.split_first().filter(|(key, _)| !key.is_empty()) {
        let Some(member) = node.member(key) else { break };
        (node, depth) = (&member.value, depth + 1);
    }
    let (key, rest) = path.get(depth..)?.split_first()?;
    let value = nested(rest, value);
    let fits = match node.kind {
        JsoncKind::Object(_) => !key.is_empty(),
        JsoncKind::Array(_) => key.is_empty(),
        JsoncKind::Scalar(_) => false,
    };
    let style = Style::of(text, &root);
    let child = style.child(key, &value, depth + 1);
    fits.then(|| put(text, node, &child, &style, depth + 1))
}

fn put(text: &str, node: &JsoncNode, child: &str, style: &Style, depth: usize) -> String {
    let Some(last) = node.children().last() else {
        return splice(text, &[(node.start + 1..node.start + 1, child.to_owned())]);
    };
    let child = format!("{}{}{child}", style.line_break, style.indent(depth));
    if let Some(comma) = last.comma {
        let at = behind_remark(text, comma + 1);
        return splice(text, &[(at..at, format!("{child},"))]);
    }
    let end = last.value.end;
    let at = behind_remark(text, end);
    splice(text, &[(end..end, ",".to_owned()), (at..at, child)])
}

/// Removes the child at a path of keys, where an empty key means the last item that `is_ours`, together with the containers on
/// the path that are empty then and were created by [`insert`]; remarks stay, and so do the containers that hold them.
///
/// `None` when there is no such child; the outermost container always stays.
pub(super) fn remove(text: &str, path: &[&str], is_ours: &dyn Fn(&Value) -> bool) -> Option<String> {
    let root = JsoncNode::read(text)?;
    let mut way: Vec<(&JsoncNode, usize)> = Vec::new();
    let mut node = &root;
    for key in path {
        let place = match &node.kind {
            JsoncKind::Object(members) => {
                members.iter().rposition(|member| member.key == *key && !key.is_empty())?
            }
            JsoncKind::Array(items) => {
                items.iter().rposition(|item| key.is_empty() && is_ours(&item.value.plain()))?
            }
            JsoncKind::Scalar(_) => return None,
        };
        way.push((node, place));
        node = &node.children().get(place)?.value;
    }
    if !is_ours(&node.plain()) {
        return None;
    }
    while way.len() > 1 && way.last().is_some_and(|(node, _)| is_made(text, node)) {
        way.pop();
    }
    let (node, place) = way.pop()?;
    Some(take(text, node.children(), place))
}

/// Removes a child with its comma, but none of the remarks around them.
fn take(text: &str, children: &[Child], place: usize) -> String {
    let Some(child) = children.get(place) else { return text.to_owned() };
    let before = place.checked_sub(1).and_then(|before| children.get(before));
    // The first of several goes up to the next one.
    let next = children.get(place + 1).map(|next| next.start);
    let next = next.filter(|next| before.is_none() && is_blank(text, child.end(), *next));
    let until = next.unwrap_or(child.end());
    let lone_comma = before.and_then(|before| before.comma).filter(|_| child.comma.is_none());
    let mut ranges: Vec<_> = lone_comma.map(|comma| comma..comma + 1).into_iter().collect();
    let parted = child.comma.filter(|comma| !is_blank(text, child.value.end, *comma));
    // What follows on the line must not get behind a remark that ends a line.
    let is_apart = before.is_none_or(|before| !is_blank(text, before.end(), child.start));
    let is_last = ends_line(text, if parted.is_some() { child.value.end } else { until });
    let stays = next.is_some() || (is_apart && !is_last);
    let start = if stays { child.start } else { child.start - blank_before(text, child.start) };
    match parted {
        Some(comma) => ranges.extend([start..child.value.end, comma..until]),
        None => ranges.push(start..until),
    }
    splice(text, &ranges.into_iter().map(|range| (range, String::new())).collect::<Vec<_>>())
}

/// Whether a container was created by [`insert`], and holds nothing but one child.
fn is_made(text: &str, node: &JsoncNode) -> bool {
    let [child] = node.children() else { return false };
    let is_bare = is_blank(text, node.start + 1, child.start)
        && is_blank(text, child.value.end, child.comma.unwrap_or(child.value.end))
        && is_blank(text, child.end(), node.end - 1);
    is_bare && !is_tight(text, node)
}

/// Whether the first child directly follows its bracket.
fn is_tight(text: &str, node: &JsoncNode) -> bool {
    let first = node.children().first();
    first.is_some_and(|first| first.start == node.start + 1)
        || !text.get(node.start..node.end).unwrap_or_default().contains('\n')
}

/// Returns a file that contains only a value at a path.
pub(super) fn new_file(path: &[&str], value: &Value) -> String {
    let style = Style { line_break: "\n", unit: "  ".to_owned() };
    format!("{}\n", style.value(&nested(path, value), 0))
}

/// Whether a file is empty now, without a remark, and was created by [`new_file`].
pub(super) fn is_bare(text: &str, before: &str) -> bool {
    let text = text.trim_start_matches('\u{FEFF}');
    let is_empty = text.split_whitespace().collect::<String>() == "{}";
    is_empty && JsoncNode::read(before).is_some_and(|root| !is_tight(before, &root))
}

fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, key| {
        if key.is_empty() {
            Value::Array(vec![inner])
        } else {
            Value::Object([((*key).to_owned(), inner)].into_iter().collect())
        }
    })
}

/// Returns the position after a line comment, or the position itself.
fn behind_remark(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split(['\r', '\n']).next().unwrap_or_default();
    let remark = line.trim();
    // A remark that ends before the line does may have a bracket after it.
    let closed = remark.strip_prefix("/*").and_then(|inner| inner.split_once("*/"));
    let is_remark = remark.starts_with("//") || closed.is_some_and(|(_, rest)| rest.is_empty());
    if is_remark { at + line.trim_end().len() } else { at }
}

/// Whether there is nothing, and no remark, between two positions.
fn is_blank(text: &str, from: usize, to: usize) -> bool {
    text.get(from..to).is_some_and(|between| between.trim().is_empty())
}

/// Whether nothing follows on the line.
fn ends_line(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    rest.lines().next().is_none_or(|line| line.trim().is_empty())
}

fn blank_before(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.len() - before.trim_end_matches([' ', '\t', '\r', '\n']).len()
}

/// Replaces ranges, which must be ascending and disjoint.
fn splice(text: &str, edits: &[(std::ops::Range<usize>, String)]) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(new);
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The formatting of a file.
struct Style {
    line_break: &'static str,
    unit: String,
}

impl Style {
    fn of(text: &str, root: &JsoncNode) -> Self {
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.children().first().map_or(0, |first| first.start);
        let blank = text.get(first - blank_before(text, first)..first).unwrap_or_default();
        let unit = blank.rsplit_once('\n').map(|(_, unit)| unit).filter(|unit| !unit.is_empty());
        Self { line_break, unit: unit.unwrap_or("  ").to_owned() }
    }

    fn indent(&self, depth: usize) -> String {
        self.unit.repeat(depth)
    }

    fn child(&self, key: &str, value: &Value, depth: usize) -> String {
        let value = self.value(value, depth);
        if key.is_empty() { value } else { format!("{}: {value}", Value::from(key)) }
    }

    /// Formats a value; one without nested containers goes on one line.
    fn value(&self, value: &Value, depth: usize) -> String {
        let (brackets, children): (_, Vec<String>) = match value {
            Value::Object(members) if members.values().any(is_container) => {
                let members = members.iter().map(|(key, value)| self.child(key, value, depth + 1));
                (("{", "}"), members.collect())
            }
            Value::Array(items) if items.iter().any(is_container) => {
                (("[", "]"), items.iter().map(|item| self.value(item, depth + 1)).collect())
            }
            Value::Object(members) => {
                let members =
                    members.iter().map(|(key, value)| format!("{}: {value}", Value::from(key.as_str())));
                return format!("{{ {} }}", members.collect::<Vec<_>>().join(", "));
            }
            other => return other.to_string(),
        };
        let line = format!("{}{}", self.line_break, self.indent(depth + 1));
        let body = children.iter().map(|child| format!("{line}{child}")).collect::<Vec<_>>().join(",");
        format!("{}{body}{}{}{}", brackets.0, self.line_break, self.indent(depth), brackets.1)
    }
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATH: [&str; 3] = ["hooks", "Stop", ""];

    fn ours() -> Value {
        json!({"hooks": [{"type": "command", "command": "ours"}]})
    }

    #[test]
    fn a_new_member_stands_last_and_comments_stay_where_they_are() {
        let text = "{\n  // mine\n  \"a\": 1 // one\n}\n";
        let changed = insert(text, &["b"], &json!({"c": 2})).unwrap();
        assert_eq!(changed, "{\n  // mine\n  \"a\": 1, // one\n  \"b\": { \"c\": 2 }\n}\n");
    }

    #[test]
    fn what_a_change_added_goes_byte_for_byte_whatever_the_file_looks_like() {
        for text in [
            "{}",
            "{ }",
            "{\n}\n",
            "{\"a\": 1}",
            "{\"a\": 1,}",
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "\u{FEFF}{\n  \"a\": 1 // one\n}\n",
            "{\n  \"a\": 1, // one\n}\n",
            "{\n  \"a\": 1 /* one */  \n}",
            "{\"hooks\": {\"Other\": [] /* one */ } /* two */\n}",
            "{\"hooks\": {\"Other\": [], /* one */ }, /* two */\n \"z\": 1}",
            "{\"hooks\": {}}",
            "{\"hooks\": {\n}, \"z\": 1}",
            "{\n  \"hooks\": { \"Stop\": [] }\n}",
            "{\n  \"hooks\": { \"Stop\": [\n  ] }\n}",
            "{\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [] }\n        ]\n    },\n    \"z\": [ ]\n}\n",
            "// settings\n{\"hooks\": {\"Stop\": [{}, ], \"Other\": []}}",
        ] {
            let changed = insert(text, &PATH, &ours()).unwrap();
            let value = JsoncNode::read(&changed).unwrap().plain();
            assert_eq!(value["hooks"]["Stop"].as_array().unwrap().last(), Some(&ours()), "{changed}");
            let undone = remove(&changed, &PATH, &|item| *item == ours()).unwrap();
            assert_eq!(undone, text, "through {changed}");
            assert!(!is_bare(&undone, &changed), "{text}");
        }
    }

    #[test]
    fn a_file_that_was_made_is_bare_again() {
        let text = new_file(&PATH, &ours());
        let undone = remove(&text, &PATH, &|item| *item == ours()).unwrap();
        assert!(is_bare(&undone, &text), "{undone}");
    }

    #[test]
    fn remarks_and_the_containers_that_hold_them_stay() {
        for (text, stays) in [
            (
                "{\n  \"s\": {\n    \"ours\": 1,\n    // next\n    \"b\": 2\n  }\n}",
                "{\n  \"s\": {\n    // next\n    \"b\": 2\n  }\n}",
            ),
            (
                "{\n  \"s\": {\n    \"ours\": 1, // mine\n    \"b\": 2\n  }\n}",
                "{\n  \"s\": {\n     // mine\n    \"b\": 2\n  }\n}",
            ),
            (
                "{\n  \"s\": {\n    // \"off\": 0,\n    \"ours\": 1\n  },\n  \"z\": 0\n}",
                "{\n  \"s\": {\n    // \"off\": 0,\n  },\n  \"z\": 0\n}",
            ),
            (
                "{\n  \"s\": {\n    \"ours\": 1\n    // \"off\": 0\n  }\n}",
                "{\n  \"s\": {\n    // \"off\": 0\n  }\n}",
            ),
            ("{\n  \"s\": {\n    \"ours\": 1 /* mine */,\n  }\n}", "{\n  \"s\": {\n     /* mine */\n  }\n}"),
            ("{\"s\": {\"ours\": 1 /* mine */, \"b\": 2}}", "{\"s\": { /* mine */\"b\": 2}}"),
            (
                "{\"s\": {\"a\": 0, // one\n  \"ours\": 1, \"b\": 2}}",
                "{\"s\": {\"a\": 0, // one\n   \"b\": 2}}",
            ),
            ("{\"s\": {\"a\": 0, // one\n  \"ours\": 1}}", "{\"s\": {\"a\": 0 // one\n  }}"),
        ] {
            let less = remove(text, &["s", "ours"], &|found| *found == json!(1)).unwrap();
            assert_eq!(less, stays, "from {text}");
            assert!(JsoncNode::read(&less).is_some(), "{less}");
        }
    }

    #[test]
    fn a_file_that_keeps_a_remark_is_not_bare() {
        let made = new_file(&PATH, &ours());
        for text in
            [made.replacen('{', "{ // mine", 1), format!("// mine\n{made}"), format!("{made}/* mine */")]
        {
            let less = remove(&text, &PATH, &|item| *item == ours()).unwrap();
            assert!(less.contains("mine") && !is_bare(&less, &text), "{less}");
        }
    }

    #[test]
    fn what_stands_in_the_way_is_left_alone() {
        for text in ["{\"hooks\": 1}", "[]", "{\"hooks\": {\"Stop\": {}}}", "{\"hooks\": [}"] {
            assert_eq!(insert(text, &PATH, &ours()), None, "{text}");
        }
        assert_eq!(remove("{\"hooks\": {\"Stop\": [{}]}}", &PATH, &|item| *item == ours()), None);
    }
}
