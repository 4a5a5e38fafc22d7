//! The tree of transcript entries, and the branches that the user abandoned.

use std::collections::HashMap;

use mnemal_core::{EventId, Timestamp};

/// Entries searched per prompt. Source: own choice; a turn with many tool calls has some hundreds.
const MOST_LOOKED_AT: usize = 10_000;

/// The parent of an entry, as stated.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parent<'e> {
    /// Not stated, as in files of other programs.
    Unsaid,
    /// None: it begins a conversation.
    None(&'e str),
    /// Its name.
    Named(&'e str),
}

/// The index of an entry in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(usize);

/// A person's words, with their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prompt {
    at: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Entry {
    parent: Option<usize>,
    children: Vec<usize>,
    /// The last event of the entry; without events, that of its parent.
    last: Option<EventId>,
    /// The events of the entry.
    events: Vec<EventId>,
    /// The time of a person's words, if any.
    prompt: Option<Prompt>,
    is_left: bool,
}

/// The entries read so far, so that later ones find their parents.
#[derive(Debug, Default)]
pub(super) struct Tree {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    /// Entries that begin the conversation of a session.
    roots: HashMap<String, Vec<usize>>,
}

impl Tree {
    /// Returns the parent event of an entry.
    pub(super) fn answered(&self, parent: Parent<'_>) -> Option<EventId> {
        self.entry(self.place_of(parent)?)?.last
    }

    /// Whether an entry names a parent that was not read.
    pub(super) fn lacks(&self, parent: Parent<'_>) -> bool {
        matches!(parent, Parent::Named(_)) && self.place_of(parent).is_none()
    }

    /// Adds an entry with its events; `None` for one that was read before.
    pub(super) fn add(
        &mut self,
        name: Option<&str>,
        parent: Parent<'_>,
        (last, events): (Option<EventId>, Vec<EventId>),
    ) -> Option<Node> {
        let known = name.and_then(|name| self.by_name.get(name).copied());
        if let Some(entry) = known.and_then(|place| self.entries.get_mut(place)) {
            entry.last = last;
            return None;
        }
        let (place, above) = (self.entries.len(), self.place_of(parent));
        let is_left = above.and_then(|above| self.entry(above)).is_some_and(|entry| entry.is_left);
        self.entries.push(Entry { parent: above, last, events, is_left, ..Entry::default() });
        match (above, parent) {
            (Some(above), _) => {
                if let Some(above) = self.entries.get_mut(above) {
                    above.children.push(place);
                }
            }
            (None, Parent::None(session)) => self.roots.entry(session.to_owned()).or_default().push(place),
            (None, _) => {}
        }
        if let Some(name) = name {
            self.by_name.insert(name.to_owned(), place);
        }
        Some(Node(place))
    }

    /// Starts a new conversation, as a compaction does: later entries abandon nothing before it.
    pub(super) fn cut(&mut self, session: &str) {
        self.roots.remove(session);
    }

    /// Returns the events of an entry on an abandoned branch.
    pub(super) fn late(&self, Node(place): Node) -> Vec<EventId> {
        let entry = self.entry(place).filter(|entry| entry.is_left);
        entry.map(|entry| entry.events.clone()).unwrap_or_default()
    }

    /// Marks an entry as a person's words, and returns the events of the branches that it abandons: those of earlier prompts
    /// below the same parent, with all replies.
    ///
    /// Parallel tool results are no branches, and neither are prompts with the same time.
    pub(super) fn emit(
        &mut self,
        Node(place): Node,
        parent: Parent<'_>,
        at: Option<Timestamp>,
    ) -> Vec<EventId> {
        let above = self.entry(place).and_then(|entry| entry.parent);
        if let Some(entry) = self.entries.get_mut(place) {
            // Whoever goes on in a branch that was left is there again.
            (entry.prompt, entry.is_left) = (Some(Prompt { at }), false);
        }
        let beside: &[usize] = match (above.and_then(|above| self.entry(above)), parent) {
            (Some(above), _) => &above.children,
            (None, Parent::None(session)) => self.roots.get(session).map_or(&[], Vec::as_slice),
            (None, _) => &[],
        };
        let is_root = above.is_none();
        let mut open: Vec<usize> = beside.iter().copied().filter(|other| *other != place).collect();
        let (mut left, mut looked_at) = (Vec::new(), 0);
        while let Some(next) = open.pop().filter(|_| looked_at < MOST_LOOKED_AT) {
            looked_at += 1;
            let Some(entry) = self.entry(next).filter(|entry| !entry.is_left) else { continue };
            match entry.prompt {
                Some(said) if said.at != at && !(is_root && entry.children.is_empty()) => left.push(next),
                Some(_) => {}
                None => open.extend(&entry.children),
            }
        }
        left.into_iter().flat_map(|place| self.leave(place)).collect()
    }

    /// Abandons a branch, and returns its events.
    fn leave(&mut self, place: usize) -> Vec<EventId> {
        let above = self.entry(place).and_then(|entry| entry.parent);
        if let Some(above) = above.and_then(|above| self.entries.get_mut(above)) {
            above.children.retain(|child| *child != place);
        }
        let (mut open, mut events) = (vec![place], Vec::new());
        while let Some(place) = open.pop() {
            let Some(entry) = self.entries.get_mut(place) else { continue };
            if !entry.is_left {
                entry.is_left = true;
                events.extend(&entry.events);
            }
            open.extend(&entry.children);
        }
        events
    }

    fn entry(&self, place: usize) -> Option<&Entry> {
        self.entries.get(place)
    }

    fn place_of(&self, parent: Parent<'_>) -> Option<usize> {
        match parent {
            Parent::Named(name) => self.by_name.get(name).copied(),
            Parent::Unsaid | Parent::None(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Talk(Tree, u128);

    impl Talk {
        #[expect(
            clippy::fn_params_excessive_bools,
            reason = "a table of lines, each with whether it is a prompt"
        )]
        fn add(&mut self, name: &str, parent: Option<&str>, is_prompt: bool) -> Vec<u128> {
            self.1 += 1;
            let (id, parent) = (EventId(self.1), parent.map_or(Parent::None("s"), Parent::Named));
            let Some(node) = self.0.add(Some(name), parent, (Some(id), vec![id])) else { return Vec::new() };
            let at = Timestamp::from_micros(i64::try_from(self.1).unwrap()).ok();
            let mut left = self.0.late(node);
            if is_prompt {
                left = self.0.emit(node, parent, at);
            }
            left.sort_unstable();
            left.into_iter().map(|id| id.0).collect()
        }
    }

    fn talk() -> Talk {
        Talk(Tree::default(), 0)
    }

    #[test]
    fn a_prompt_beside_an_earlier_one_leaves_it_with_all_that_answers_it() {
        let mut talk = talk();
        for (name, parent, is_prompt) in [
            ("u1", None, true),
            ("a1", Some("u1"), false),
            ("u2", Some("a1"), true),
            ("a2", Some("u2"), false),
        ] {
            assert!(talk.add(name, parent, is_prompt).is_empty(), "{name}");
        }
        assert_eq!(talk.add("u3", Some("a1"), true), [3, 4]);
        assert_eq!(talk.add("r2", Some("a2"), false), [6], "what comes late belongs to the branch");
        assert!(talk.add("u4", Some("a2"), true).is_empty(), "who goes on there is there again");
        assert_eq!(talk.add("u5", Some("u1"), true), [5], "and who goes back further leaves what is between");
    }

    #[test]
    fn the_first_prompt_can_be_said_anew_but_not_behind_a_compaction() {
        let mut talk = talk();
        talk.add("u1", None, true);
        talk.add("a1", Some("u1"), false);
        assert_eq!(talk.add("u2", None, true), [1, 2]);
        talk.add("a2", Some("u2"), false);
        talk.0.cut("s");
        assert!(talk.add("u3", None, true).is_empty());
        assert!(talk.add("u4", None, true).is_empty(), "entries that nothing answers are no tree");
    }

    #[test]
    fn results_side_by_side_and_prompts_one_below_the_other_are_no_branch() {
        let mut talk = talk();
        for (name, parent, is_prompt) in [
            ("u1", None, true),
            ("c1", Some("u1"), false),
            ("c2", Some("c1"), false),
            ("r1", Some("c1"), false),
            ("r2", Some("c2"), false),
            ("a1", Some("r2"), false),
            ("u2", Some("a1"), true),
            ("u3", Some("u2"), true),
        ] {
            assert!(talk.add(name, parent, is_prompt).is_empty(), "{name}");
        }
        assert!(talk.add("u3", Some("u2"), true).is_empty(), "an entry that is there twice is one");
    }
}
