//! Selection of the visible branch in a message tree.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::json::Object;

/// Nodes with their names, from the root on.
pub(super) type Branch<'n> = Vec<(&'n str, &'n Value)>;

/// Returns the nodes from the root to the one that is shown last, and the number of messages on other branches.
///
/// If the tree does not name that node, it is the newest leaf. A node whose parent is missing follows the node that names it as
/// its child, else the newest one before it, so that a damaged tree stays one conversation.
pub(super) fn visible<'n>(nodes: &'n Object, current: Option<&str>) -> Result<(Branch<'n>, usize), String> {
    let tree = Tree::new(nodes);
    let current = current.and_then(|current| nodes.get_key_value(current)).map(|(name, _)| name.as_str());
    let Some(mut next) = current.or_else(|| tree.newest(|_| true)) else {
        return Ok((Vec::new(), 0));
    };
    let (mut branch, mut known) = (Vec::new(), HashSet::new());
    loop {
        if !known.insert(next) {
            return Err("the tree of messages goes round in a circle".to_owned());
        }
        let Some((name, node)) = nodes.get_key_value(next) else { break };
        branch.push((name.as_str(), node));
        match tree.before(name, node, &known) {
            Some(parent) => next = parent,
            None => break,
        }
    }
    branch.reverse();
    let others =
        nodes.iter().filter(|(name, node)| !known.contains(name.as_str()) && message(node).is_some());
    Ok((branch, others.count()))
}

struct Tree<'n> {
    nodes: &'n Object,
    /// The node that names a node as its child.
    named_by: HashMap<&'n str, &'n str>,
    /// Nodes that some node follows.
    parents: HashSet<&'n str>,
}

impl<'n> Tree<'n> {
    fn new(nodes: &'n Object) -> Self {
        let mut named_by = HashMap::new();
        let mut parents = HashSet::new();
        for (name, node) in nodes {
            let children = node.get("children").and_then(Value::as_array).into_iter().flatten();
            for child in children.filter_map(Value::as_str) {
                named_by.insert(child, name.as_str());
                // What a file cuts off may have lost its message.
                if nodes.get(child).is_some_and(|child| message(child).is_some()) {
                    parents.insert(name.as_str());
                }
            }
            parents.extend(node.get("parent").and_then(Value::as_str).filter(|_| message(node).is_some()));
        }
        Self { nodes, named_by, parents }
    }

    /// Returns the node before another one; `None` at the root.
    fn before(&self, name: &'n str, node: &'n Value, known: &HashSet<&str>) -> Option<&'n str> {
        let parent = node.get("parent").and_then(Value::as_str);
        let named = parent.filter(|parent| self.nodes.contains_key(*parent));
        let by_child = || {
            let known_child = self.named_by.get(name).or_else(|| self.named_by.get(parent?));
            known_child.copied()
        };
        if let Some(before) = named.or_else(by_child) {
            return Some(before);
        }
        // The root says nothing; a message without its parent follows what was said before it, and so does the last one of a tree
        // that is cut off.
        let is_cut = node.get("parent").is_none() && message(node).is_some() && !self.parents.contains(name);
        if parent.is_none() && !is_cut {
            return None;
        }
        let at = time(node).or(is_cut.then_some(f64::MAX))?;
        self.newest(|(other, node)| !known.contains(other) && time(node).is_some_and(|time| time <= at))
    }

    /// Returns the newest leaf with a message that is meant.
    fn newest(&self, is_meant: impl Fn((&str, &Value)) -> bool) -> Option<&'n str> {
        let leaves = self.nodes.iter().enumerate().filter(|(_, (name, node))| {
            !self.parents.contains(name.as_str()) && message(node).is_some() && is_meant((name, node))
        });
        let timed = leaves.map(|(place, (name, node))| (self.time(name, node), place, name.as_str()));
        let newest = timed.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        newest.map(|(_, _, name)| name)
    }

    /// Returns the time of a message; without one, that of its parent.
    fn time(&self, name: &str, node: &Value) -> f64 {
        let above = || {
            let parent = node.get("parent").and_then(Value::as_str);
            let above = parent.or_else(|| self.named_by.get(name).copied())?;
            time(self.nodes.get(above)?)
        };
        time(node).or_else(above).unwrap_or(f64::MIN)
    }
}

fn message(node: &Value) -> Option<&Object> {
    node.get("message").and_then(Value::as_object)
}

fn time(node: &Value) -> Option<f64> {
    message(node)?.get("create_time")?.as_f64()
}
