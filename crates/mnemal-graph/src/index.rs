//! Name index: finds candidate entities by the forms of a name, without a scan over all names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mnemal_core::{EntityId, EntityKind};

use crate::cases::{self, CaseConfidence};
use crate::edit_distance;
use crate::forms::{self, Forms};
use crate::pack::packs;

/// Entities by the forms of their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    whole: BTreeMap<String, BTreeSet<EntityId>>,
    /// The same, by the reversed name.
    backwards: BTreeMap<String, BTreeSet<EntityId>>,
    parts: HashMap<String, BTreeSet<EntityId>>,
    short: HashMap<String, BTreeSet<EntityId>>,
    variants: HashMap<String, BTreeSet<EntityId>>,
    /// Multi-word names by the first letters of each word, with the key.
    stems: HashMap<String, BTreeSet<(String, EntityId)>>,
}

/// A name in a text: its spelling, its key, and its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameMention<'n> {
    pub(crate) text: &'n str,
    pub(crate) key: &'n str,
    pub(crate) kind: EntityKind,
}

/// How a name in a text matches a known one, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MatchQuality {
    /// It differs by one letter, or is in an uncertain case form; only co-occurrence can confirm it.
    Doubtful,
    /// It is short for a part of the name, and was not stated as a name yet.
    Short,
    /// It is a part of the name, which others may share.
    Part,
    /// It is the same name.
    Whole,
}

/// Candidate entities, with how the name matches each.
pub(crate) type NameCandidates = BTreeMap<EntityId, MatchQuality>;

impl Index {
    /// Adds a name of an entity to the index.
    pub(crate) fn insert(&mut self, id: EntityId, name: NameMention<'_>) {
        let forms = forms::known_forms(name.text, name.key, name.kind);
        self.backwards.entry(forms.whole.chars().rev().collect()).or_default().insert(id);
        self.whole.entry(forms.whole).or_default().insert(id);
        for part in forms.parts {
            self.parts.entry(part).or_default().insert(id);
        }
        for name in forms.short {
            self.short.entry(name).or_default().insert(id);
        }
        for variant in forms.variants {
            self.variants.entry(variant).or_default().insert(id);
        }
        if let Some(stems) = forms.stems {
            self.stems.entry(stems).or_default().insert((name.key.to_owned(), id));
        }
    }

    /// Returns the entities with this whole name, separators removed.
    pub(crate) fn bearing(&self, whole: &str) -> NameCandidates {
        self.whole.get(whole).into_iter().flatten().map(|id| (*id, MatchQuality::Whole)).collect()
    }

    /// Returns the entities of whose name this is a part, or short for a part.
    pub(crate) fn with_part(&self, forms: &Forms) -> NameCandidates {
        let short = forms.short.iter().filter_map(|name| self.short.get(name)).flatten();
        let parts = forms.parts.iter().filter_map(|part| self.parts.get(part)).flatten();
        short.map(|id| (*id, MatchQuality::Short)).chain(parts.map(|id| (*id, MatchQuality::Part))).collect()
    }

    /// Returns the entities with another name of the same meaning.
    pub(crate) fn with_variant(&self, forms: &Forms) -> NameCandidates {
        let find = |form: &String| self.variants.get(form).or_else(|| self.whole.get(form));
        let loose = forms.loose.iter().filter_map(find).flatten().map(|id| (*id, MatchQuality::Part));
        let whole = forms.variants.iter().filter_map(find).flatten().map(|id| (*id, MatchQuality::Whole));
        loose.chain(whole).collect()
    }

    /// Returns the entities whose name, or a part of it, has this case form.
    ///
    /// A case form is not a name of its own; where it is also another given name, only co-occurrence can confirm it.
    pub(crate) fn in_other_case(&self, key: &str, forms: &Forms) -> NameCandidates {
        let mut found = NameCandidates::new();
        let mut add = |id: EntityId, sure: CaseConfidence, other: &str| {
            let how = match (sure, edit_distance::are_names(key, other)) {
                (CaseConfidence::Rather, false) => MatchQuality::Part,
                // "Anna" and "Anne" are two names wherever a language does not decline names.
                (CaseConfidence::Hardly, true) => return,
                (CaseConfidence::Rather, true) if key.is_ascii() => return,
                _ => MatchQuality::Doubtful,
            };
            let known = found.entry(id).or_insert(how);
            *known = how.max(*known);
        };
        if let Some(stems) = &forms.stems {
            for (known, id) in self.stems.get(stems).into_iter().flatten() {
                if let Some(sure) = cases::agree(key, known) {
                    add(*id, sure, known);
                }
            }
        } else if !key.contains(' ') {
            for (form, sure) in cases::forms(key) {
                let short = packs().full_names(&form).iter().filter_map(|name| self.short.get(name));
                let thing = forms::thing(&form);
                let thing = thing.and_then(|thing| self.variants.get(&thing));
                let ids =
                    self.whole.get(&form).into_iter().chain(self.parts.get(&form)).chain(short).chain(thing);
                ids.flatten().for_each(|id| add(*id, sure, &form));
            }
        }
        found
    }

    /// Returns the entities whose whole name differs by one letter, with that name, separators removed.
    ///
    /// A single slip leaves one half of a name intact, so only names with the same beginning or end are compared.
    pub(crate) fn one_off(&self, whole: &str) -> Vec<(EntityId, String)> {
        if !edit_distance::is_telling(whole) {
            return Vec::new();
        }
        let backwards: String = whole.chars().rev().collect();
        let mut found = Vec::new();
        for (map, name) in [(&self.whole, whole), (&self.backwards, backwards.as_str())] {
            let half = half(name);
            let alike = map.range(half.to_owned()..).take_while(|(known, _)| known.starts_with(half));
            let off = alike.filter(|(known, _)| edit_distance::is_one_off(known, name));
            let ids = off.flat_map(|(known, ids)| ids.iter().map(move |id| (*id, known)));
            found.extend(ids.map(|(id, known)| {
                let is_forward = std::ptr::eq(map, &raw const self.whole);
                (id, if is_forward { known.clone() } else { known.chars().rev().collect() })
            }));
        }
        found
    }
}

/// Returns the first half of a name, minus a letter where a swap could cross the middle.
fn half(name: &str) -> &str {
    let count = (name.chars().count() - 1) / 2;
    name.char_indices().nth(count).and_then(|(at, _)| name.get(..at)).unwrap_or(name)
}
