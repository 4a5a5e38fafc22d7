//! The closed set of predicates, read from `packs/predicates.toml`.

use std::collections::HashMap;
use std::sync::OnceLock;

use mnemal_core::{Error, Result};

use crate::hash::WordHashBuilder;
use crate::section::{PackFile, Section};

pub use mnemal_core::Cardinality;

/// The kind of fact that a predicate states.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactType {
    /// A relation between two named entities.
    Relation,
    /// A property.
    Attribute,
    /// A taste.
    Preference,
    /// A state or an event.
    State,
}

/// The subject area of a relation.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelationType {
    /// Work and school.
    Professional,
    /// People.
    Social,
    /// Tools and things of technology.
    Technical,
    /// Money.
    Financial,
    /// Anything else.
    Other,
}

/// How a fact's weight decays with time.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecayClass {
    /// Not at all.
    Never,
    /// Over years.
    Slow,
    /// Over months.
    Normal,
    /// Over weeks.
    Fast,
}

/// The properties of a predicate, independent of language.
#[expect(clippy::struct_excessive_bools, reason = "a row of a table")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateInfo {
    /// Its name.
    pub name: String,
    /// Its cardinality.
    pub cardinality: Cardinality,
    /// The kind of fact that it states.
    pub fact: FactType,
    /// Its subject area.
    pub relation: RelationType,
    /// The predicate that excludes it.
    pub opposite: Option<String>,
    /// Whether it requires the user's consent: health, partnership.
    pub is_sensitive: bool,
    /// Whether it identifies a person.
    pub is_personal: bool,
    /// Whether it protects the user and never decays.
    pub is_safety: bool,
    /// Whether its end can be stated.
    pub ends: bool,
    /// How it decays.
    pub fading: DecayClass,
    /// The allowed object kinds, by name: `location`, `date`, `literal` …
    pub objects: Vec<String>,
    /// Predicates that it implies: acquiring something implies owning it.
    pub implies: Vec<String>,
}

/// Returns the properties of a predicate; `None` for an unknown one.
pub fn of(name: &str) -> Option<&'static PredicateInfo> {
    table().1.get(name).and_then(|place| table().0.get(*place))
}

/// Returns every predicate, in the order of the table.
pub fn all() -> &'static [PredicateInfo] {
    &table().0
}

type Table = (Vec<PredicateInfo>, HashMap<String, usize, WordHashBuilder>);

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let all = read(include_str!("../packs/predicates.toml")).expect("the table is read by a test");
        let places = all.iter().enumerate().map(|(place, info)| (info.name.clone(), place)).collect();
        (all, places)
    })
}

fn read(text: &str) -> Result<Vec<PredicateInfo>> {
    let file = PackFile::parse(text)?;
    file.root().sections("predicate")?.into_iter().map(one).collect()
}

fn one(section: Section<'_>) -> Result<PredicateInfo> {
    let name = section.text("name")?.ok_or_else(|| Error::invalid("a predicate has no `name`"))?;
    let wrong = |key: &str| Error::invalid(format!("predicate `{name}` has an unknown `{key}`"));
    let cardinality = section.text("cardinality")?.and_then(Cardinality::from_name);
    let cardinality = cardinality.ok_or_else(|| wrong("cardinality"))?;
    let fact = match section.text("fact")? {
        Some("relation") => FactType::Relation,
        Some("attribute") => FactType::Attribute,
        Some("preference") => FactType::Preference,
        Some("state") => FactType::State,
        _ => return Err(wrong("fact")),
    };
    let relation = match section.text("relation")? {
        Some("professional") => RelationType::Professional,
        Some("social") => RelationType::Social,
        Some("technical") => RelationType::Technical,
        Some("financial") => RelationType::Financial,
        Some("other") => RelationType::Other,
        _ => return Err(wrong("relation")),
    };
    let fading = match section.text("fading")? {
        Some("never") => DecayClass::Never,
        Some("slow") => DecayClass::Slow,
        Some("normal") | None => DecayClass::Normal,
        Some("fast") => DecayClass::Fast,
        _ => return Err(wrong("fading")),
    };
    let owned = |lines: Vec<&str>| lines.into_iter().map(str::to_owned).collect::<Vec<_>>();
    Ok(PredicateInfo {
        name: name.to_owned(),
        cardinality,
        fact,
        relation,
        opposite: section.text("opposite")?.map(str::to_owned),
        is_sensitive: section.flag("sensitive")?,
        is_personal: section.flag("personal")?,
        is_safety: section.flag("safety")?,
        ends: section.flag("ends")?,
        fading,
        objects: owned(section.lines("objects")?),
        implies: owned(section.lines("implies")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: NX-09.1, NB-29
    #[test]
    fn the_set_is_closed_and_consistent() {
        assert_eq!(all().len(), 40);
        for info in all() {
            assert_eq!(of(&info.name), Some(info));
            assert!(!info.objects.is_empty(), "{}", info.name);
            for other in info.implies.iter().chain(&info.opposite) {
                assert!(of(other).is_some(), "{}: {other}", info.name);
            }
            if let Some(opposite) = &info.opposite {
                assert_eq!(of(opposite).and_then(|info| info.opposite.as_ref()), Some(&info.name));
            }
            assert!(
                info.cardinality != Cardinality::Event || !info.ends,
                "{}: a happening does not end",
                info.name
            );
        }
        assert!(of("allergic_to").is_some_and(|info| info.is_safety && info.is_sensitive));
        assert_eq!(of("nothing"), None);
    }

    // proves: NB-07
    #[test]
    fn a_predicate_says_of_which_type_its_facts_are_and_knows_four() {
        let fact = |name| of(name).map(|info| info.fact);
        assert_eq!(fact("works_at"), Some(FactType::Relation));
        assert_eq!(fact("birthday"), Some(FactType::Attribute));
        assert_eq!(fact("likes"), Some(FactType::Preference));
        assert_eq!(fact("visited"), Some(FactType::State));
        let table = "[[predicate]]\nname = 'owes'\ncardinality = 'many'\nfact = '%'\nrelation = 'other'\n";
        assert!(read(&table.replace('%', "opinion")).is_err());
    }

    // proves: BA-05
    #[test]
    fn relations_are_of_five_clusters() {
        let cluster = |name| of(name).map(|info| info.relation);
        assert_eq!(cluster("works_at"), Some(RelationType::Professional));
        assert_eq!(cluster("partner"), Some(RelationType::Social));
        assert_eq!(cluster("uses"), Some(RelationType::Technical));
        assert_eq!(cluster("likes"), Some(RelationType::Other));
        let table = "[[predicate]]\nname = 'owes'\ncardinality = 'many'\nfact = 'relation'\nrelation = '%'\n";
        let read_as = |relation: &str| read(&table.replace('%', relation)).map(|all| all[0].relation);
        assert_eq!(read_as("financial").unwrap(), RelationType::Financial);
        assert!(read_as("romantic").is_err());
    }
}
