//! Rights, classes and principals.

use mnemal_core::{SpaceId, UserId, Within};

/// A right of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    /// Reading its spaces.
    Read,
    /// Storing in its spaces; includes reading.
    Write,
    /// Forgetting in its spaces; includes reading.
    Erase,
    /// Metrics and the whole health report.
    Metrics,
    /// Everything, keys and spaces included.
    Admin,
}

impl Right {
    /// All rights.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Erase, Self::Metrics, Self::Admin];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Erase => "erase",
            Self::Metrics => "metrics",
            Self::Admin => "admin",
        }
    }

    /// Parses the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.as_str() == name)
    }
}

/// The rights of a key, deduplicated and ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights(Vec<Right>);

impl Rights {
    /// Creates it from rights in any order.
    pub fn new(rights: impl IntoIterator<Item = Right>) -> Self {
        let mut rights: Vec<Right> = rights.into_iter().collect();
        rights.sort_unstable();
        rights.dedup();
        Self(rights)
    }

    /// Returns all rights.
    pub fn all() -> Self {
        Self::new(Right::ALL)
    }

    /// Whether a right is included.
    pub fn include(&self, wanted: Right) -> bool {
        self.0.iter().any(|has| {
            *has == wanted
                || *has == Right::Admin
                || (wanted == Right::Read && matches!(has, Right::Write | Right::Erase))
        })
    }

    /// Returns the names on the wire.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|right| right.as_str()).collect()
    }
}

/// The class of a key's holder, which decides whether it can vouch for the user's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyClass {
    /// An application of the user that knows which words are the user's own.
    #[default]
    App,
    /// The runtime of a model: words that it passes on as the user's are hearsay.
    Agent,
}

impl KeyClass {
    /// All classes.
    pub const ALL: [Self; 2] = [Self::App, Self::Agent];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Agent => "agent",
        }
    }

    /// Parses the name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

/// The authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The id of the key, or `local` or `open`.
    pub id: String,
    /// The class of the caller, which decides whether it can vouch for the user's words.
    pub class: KeyClass,
    /// Its rights.
    pub rights: Rights,
    /// Its spaces.
    pub spaces: Within<Vec<SpaceId>>,
    /// The user that it is restricted to, if any: all other records do not exist for it.
    pub user: Option<UserId>,
}

impl Principal {
    /// Returns a principal with all rights in all spaces, with this id.
    pub fn owner(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            class: KeyClass::App,
            rights: Rights::all(),
            spaces: Within::All,
            user: None,
        }
    }

    /// Whether it may know that a space exists.
    pub fn knows(&self, space: &SpaceId) -> bool {
        self.spaces.only().is_none_or(|spaces| spaces.contains(space))
    }

    /// Whether it has a right in its spaces.
    pub fn may(&self, right: Right) -> bool {
        self.rights.include(right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_and_erasing_include_reading_and_nothing_else() {
        for (has, includes) in [
            (Right::Read, vec![Right::Read]),
            (Right::Write, vec![Right::Read, Right::Write]),
            (Right::Erase, vec![Right::Read, Right::Erase]),
            (Right::Metrics, vec![Right::Metrics]),
            (Right::Admin, Right::ALL.to_vec()),
        ] {
            let rights = Rights::new([has]);
            let found: Vec<Right> = Right::ALL.into_iter().filter(|right| rights.include(*right)).collect();
            assert_eq!(found, includes, "{has:?}");
            assert_eq!(Right::from_name(has.as_str()), Some(has));
        }
    }

    #[test]
    fn a_principal_knows_its_spaces_only() {
        let space = |name: &str| SpaceId::new(name).unwrap();
        let bound = Principal { spaces: Within::Only(vec![space("a")]), ..Principal::owner("k") };
        assert!(bound.knows(&space("a")) && !bound.knows(&space("b")));
        assert!(Principal::owner("k").knows(&space("b")));
    }
}
