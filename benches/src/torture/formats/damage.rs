//! Files with removed, moved, doubled or changed records, and the records that must still be read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::sample::{self, Layout, Sample, Texts};
use crate::words::Dice;

/// Of a hundred files, those that are whole, and those that end too early; the others have damaged records.
const WHOLE: usize = 5;
const CUT: usize = 20;
/// Most damages of one file.
const MOST: usize = 3;
/// Replacement for a line of text.
const ODD_LINES: [&str; 9] = ["---", "```", "| a | b", "> ", "\t\t", "- ", "[", "<!--", "\u{FEFF}"];

/// A file with the records that must still be read.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says something else of the file")]
pub(super) struct DamagedFile {
    pub(super) text: String,
    /// Texts that are in it.
    pub(super) present: Texts,
    /// Those of them whose records are as they should be: they must be stored.
    pub(super) sure: Texts,
    /// Texts of the program, each of which must be named.
    pub(super) named: usize,
    /// Texts that were withdrawn.
    pub(super) gone: Texts,
    /// Whether each record is as it should be, so that nothing may be called broken.
    pub(super) is_sound: bool,
    /// Whether the file is as it was made.
    pub(super) is_whole: bool,
    /// Whether it ends too early.
    pub(super) is_cut: bool,
    /// Whether a record is there twice.
    pub(super) has_twins: bool,
    /// Whether a record that is there twice is to be stored once.
    pub(super) has_names: bool,
    /// By text the number that a reader gives to its record.
    pub(super) places: BTreeMap<usize, u64>,
    /// The damage.
    pub(super) what: Vec<String>,
}

/// A value in a file.
struct Node {
    pointer: String,
    /// The nearest record around it.
    record: String,
    is_record: bool,
}

/// Damages a file.
pub(super) fn damage(sample: &Sample, dice: &mut Dice) -> DamagedFile {
    let mut sample = sample.clone();
    let (mut touched, mut what) = (Texts::new(), Vec::new());
    let (mut is_sound, mut has_twins) = (true, false);
    let is_ordered = sample.has_order && !sample::gone(&sample.text()).is_empty();
    let kind = dice.below(100);
    let is_cut = (WHOLE..WHOLE + CUT).contains(&kind);
    if kind >= WHOLE + CUT {
        for _ in 0..=dice.below(MOST) {
            match dice.below(4) {
                0 => remove(&mut sample, &mut what, dice),
                1 => swap(&mut sample, &mut what, dice),
                2 => has_twins |= double(&mut sample, &mut what, dice),
                _ => is_sound &= !retype(&mut sample, &mut touched, &mut what, dice),
            }
        }
    }
    let mut text = sample.text();
    let mut sure: Texts = sample::kept(&text).difference(&touched).copied().collect();
    if is_cut {
        let end = text.floor_char_boundary(dice.below(text.len()));
        what.push(format!("cut at {end}"));
        sure = whole_before(&sample, &text, end);
        text.truncate(end);
        is_sound = false;
    }
    let present = sample::kept(&text);
    let is_whole = what.is_empty();
    if is_ordered && !is_whole && !is_cut {
        sure.clear();
    }
    let (named, gone) = (sample::named(&text).len(), sample::gone(&text));
    let (places, has_names) = (places(&sample), sample.has_names);
    DamagedFile {
        text,
        present,
        sure,
        named,
        gone,
        is_sound,
        is_whole,
        is_cut,
        has_twins,
        has_names,
        places,
        what,
    }
}

/// Returns all values of a file, but for those of its head.
fn nodes(sample: &Sample) -> Vec<Node> {
    let mut found = Vec::new();
    walk(&sample.root, ("", ""), sample, &mut found);
    let heads: Vec<String> = (0..sample.head).map(|place| format!("/{place}")).collect();
    let is_head = |node: &Node| heads.contains(&node.record);
    found.retain(|node| !node.pointer.is_empty() && !is_head(node));
    found
}

fn walk(value: &Value, (pointer, record): (&str, &str), sample: &Sample, found: &mut Vec<Node>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(values) => values.iter().enumerate().map(|(n, one)| (n.to_string(), one)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, one)| (name.clone(), one)).collect(),
        _ => Vec::new(),
    };
    let is_list = is_list(value, pointer, sample);
    for (name, child) in children {
        let pointer = format!("{pointer}/{name}");
        let record = if is_list { pointer.as_str() } else { record };
        found.push(Node { pointer: pointer.clone(), record: record.to_owned(), is_record: is_list });
        walk(child, (&pointer, record), sample, found);
    }
}

fn is_list(value: &Value, pointer: &str, sample: &Sample) -> bool {
    if pointer.is_empty() {
        return value.is_array();
    }
    let name = pointer.rsplit('/').next().unwrap_or_default();
    (value.is_array() || value.is_object()) && sample.lists.contains(&name)
}

fn chosen(sample: &Sample, dice: &mut Dice, is_meant: impl Fn(&Node) -> bool) -> Option<Node> {
    let mut nodes: Vec<Node> = nodes(sample).into_iter().filter(is_meant).collect();
    (!nodes.is_empty()).then(|| nodes.swap_remove(dice.below(nodes.len())))
}

/// Whether the records beside a record have no names, so that their places tell them apart.
fn is_nameless(sample: &Sample, node: &Node) -> bool {
    let field = above(&node.pointer).0.rsplit('/').next().unwrap_or_default();
    sample.nameless.contains(&field)
}

fn above(pointer: &str) -> (&str, &str) {
    pointer.rsplit_once('/').unwrap_or(("", pointer))
}

fn remove(sample: &mut Sample, what: &mut Vec<String>, dice: &mut Dice) {
    let Some(node) = chosen(sample, dice, |node| node.is_record) else { return };
    let (list, name) = above(&node.pointer);
    sample.has_names &= !is_nameless(sample, &node);
    match sample.root.pointer_mut(list) {
        Some(Value::Array(list)) => drop(name.parse().map(|place: usize| list.remove(place))),
        Some(Value::Object(list)) => drop(list.remove(name)),
        _ => return,
    }
    what.push(format!("removed {}", node.pointer));
}

fn swap(sample: &mut Sample, what: &mut Vec<String>, dice: &mut Dice) {
    let Some(node) = chosen(sample, dice, |node| node.is_record) else { return };
    let (list, name) = above(&node.pointer);
    let head = if list.is_empty() { sample.head } else { 0 };
    let (Some(Value::Array(list)), Ok(place)) = (sample.root.pointer_mut(list), name.parse::<usize>()) else {
        return;
    };
    let other = head + dice.below(list.len() - head);
    list.swap(place, other);
    sample.has_names &= !is_nameless(sample, &node);
    what.push(format!("swapped {} with {other}", node.pointer));
}

fn double(sample: &mut Sample, what: &mut Vec<String>, dice: &mut Dice) -> bool {
    let Some(node) = chosen(sample, dice, |node| node.is_record) else { return false };
    let (list, name) = above(&node.pointer);
    let head = if list.is_empty() { sample.head } else { 0 };
    let (Some(Value::Array(list)), Ok(place)) = (sample.root.pointer_mut(list), name.parse::<usize>()) else {
        return false;
    };
    let Some(twin) = list.get(place).cloned() else { return false };
    let other = head + dice.below(list.len() + 1 - head);
    list.insert(other, twin);
    what.push(format!("doubled {} at {other}", node.pointer));
    sample.has_names &= !is_nameless(sample, &node);
    true
}

fn retype(sample: &mut Sample, touched: &mut Texts, what: &mut Vec<String>, dice: &mut Dice) -> bool {
    let is_text = sample.layout == Layout::Text;
    // An entry that replies to another one than before was withdrawn.
    let is_meant = |node: &Node| !node.pointer.ends_with("/parentUuid");
    let Some(node) = chosen(sample, dice, is_meant) else { return false };
    let lists: Vec<Node> = nodes(sample).into_iter().filter(|other| other.is_record).collect();
    let record = sample.root.pointer(&node.record).map(Value::to_string).unwrap_or_default();
    let within = |other: &&Node| {
        other.pointer != node.record && other.pointer.starts_with(&format!("{}/", node.record))
    };
    let inner: Texts = lists
        .iter()
        .filter(within)
        .filter_map(|other| sample.root.pointer(&other.pointer))
        .flat_map(|value| sample::kept(&value.to_string()))
        .collect();
    touched.extend(sample::kept(&record).difference(&inner));
    let Some(value) = sample.root.pointer_mut(&node.pointer) else { return false };
    touched.extend(sample::kept(&value.to_string()));
    let odd = if is_text { Value::from(dice.one_of(&ODD_LINES)) } else { other_type(value, dice) };
    what.push(format!("retyped {} as {}", node.pointer, short(&odd)));
    *value = odd;
    !is_text
}

/// Returns a value of another type.
fn other_type(value: &Value, dice: &mut Dice) -> Value {
    let others = [
        json!(17),
        json!(-1.5e300),
        json!("x"),
        json!(""),
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!([value.clone()]),
        json!({"value": value.clone()}),
        json!([[1], {"a": null}]),
    ];
    let is_same = |other: &Value| std::mem::discriminant(other) == std::mem::discriminant(value);
    let others: Vec<&Value> = others.iter().filter(|other| !is_same(other)).collect();
    others.get(dice.below(others.len())).map(|other| (*other).clone()).unwrap_or_default()
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

/// Returns the texts whose records end before a place of the text.
fn whole_before(sample: &Sample, text: &str, end: usize) -> Texts {
    let before = text.get(..end).unwrap_or_default();
    match sample.layout {
        Layout::Lines | Layout::Text => sample::kept(before.rsplit_once('\n').map_or("", |(lines, _)| lines)),
        Layout::Pretty => Texts::new(),
        Layout::Document => {
            let records = nodes(sample).into_iter().filter(|node| node.is_record);
            let written = records.filter_map(|node| sample.root.pointer(&node.pointer)).map(Value::to_string);
            written
                .filter(|record| before.contains(record))
                .flat_map(|record| sample::kept(&record))
                .collect()
        }
    }
}

/// Returns by text the number that a reader gives to its record: that of its line, or its place among the records of the
/// document.
fn places(sample: &Sample) -> BTreeMap<usize, u64> {
    let is_line = sample.layout == Layout::Lines;
    let is_record = |value: &&Value| is_line || value.is_object() || value.is_array();
    let records: Vec<&Value> = match &sample.root {
        Value::Object(fields) => fields
            .values()
            .flat_map(|field| match field {
                Value::Array(list) => list.iter().filter(is_record).collect(),
                Value::Object(_) => vec![field],
                _ => Vec::new(),
            })
            .collect(),
        Value::Array(list) => list.iter().filter(is_record).collect(),
        _ => Vec::new(),
    };
    let numbered = records.into_iter().zip(1..);
    numbered
        .flat_map(|(record, place)| {
            sample::kept(&record.to_string()).into_iter().map(move |text| (text, place))
        })
        .collect()
}
