//! Selection of the visible messages: the path to the newest one, without branches that the user abandoned.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Returns the indexes of the visible messages, in a list whose messages may name their parent.
///
/// A message without a parent follows the one before it in the list; one with an unknown parent follows the newest one before
/// it.
pub(super) fn visible(messages: &[Value], leaf: Option<&str>) -> HashSet<usize> {
    let text = |message: &'_ Value, field: &str| -> Option<String> {
        message.get(field).and_then(Value::as_str).map(str::to_owned)
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        if let Some(name) = text(message, "uuid") {
            places.entry(name).or_insert(place);
        }
    }
    let parents: Vec<Option<usize>> = messages
        .iter()
        .enumerate()
        .map(|(place, message)| {
            let named = text(message, "parent_message_uuid");
            match named.as_ref().and_then(|named| places.get(named)) {
                Some(parent) => Some(*parent),
                // The first message answers one that is in no list.
                None if named.as_deref().is_some_and(is_root) => None,
                None if named.is_some() => before(messages, place),
                None => place.checked_sub(1),
            }
        })
        .collect();
    let answered: HashSet<usize> = parents.iter().copied().flatten().collect();
    let is_leaf = |place: &usize| !answered.contains(place);
    // A message without a time is as new as what it answers.
    let time = |place: usize| -> Option<String> {
        let at = |place: usize| messages.get(place).and_then(|message| text(message, "created_at"));
        at(place).or_else(|| parents.get(place).copied().flatten().and_then(at))
    };
    let newest = (0..messages.len()).filter(is_leaf).max_by_key(|place| (time(*place), *place));
    let mut shown = HashSet::new();
    if newest.is_none() {
        // Every message answers another one: nothing says where it ends.
        return (0..messages.len()).collect();
    }
    let mut next = leaf.and_then(|leaf| places.get(leaf).copied()).or(newest);
    while let Some(place) = next.filter(|place| shown.insert(*place)) {
        next = parents.get(place).copied().flatten();
    }
    shown
}

/// Returns the newest message older than another one; for one without a time the previous one in the list.
fn before(messages: &[Value], place: usize) -> Option<usize> {
    let at = |message: &Value| message.get("created_at").and_then(Value::as_str).map(str::to_owned);
    let Some(own) = messages.get(place).and_then(at) else { return place.checked_sub(1) };
    let older = messages.iter().enumerate().filter_map(|(place, message)| Some((at(message)?, place)));
    older.filter(|(at, _)| *at < own).max().map(|(_, place)| place)
}

/// Whether a name is the null id, the parent of the first message.
fn is_root(name: &str) -> bool {
    name.starts_with("00000000-0000-")
}
