//! Word classes as a set of flags.

/// The classes of a word, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordFlags(u32);

impl WordFlags {
    pub(crate) const NOTHING: Self = Self(0);
    pub(crate) const FIRST: Self = Self(1);
    pub(crate) const SURNAME: Self = Self(1 << 1);
    pub(crate) const PLACE: Self = Self(1 << 2);
    pub(crate) const ORGANIZATION: Self = Self(1 << 3);
    pub(crate) const PRODUCT: Self = Self(1 << 4);
    pub(crate) const WORK: Self = Self(1 << 5);
    pub(crate) const EVENT: Self = Self(1 << 6);
    /// A word of everyday language.
    pub(crate) const ORDINARY: Self = Self(1 << 7);
    /// Never a name.
    pub(crate) const REJECT: Self = Self(1 << 8);
    /// A language or a nationality.
    pub(crate) const NATIONALITY: Self = Self(1 << 9);
    /// Person before place.
    pub(crate) const PERSON_FIRST: Self = Self(1 << 10);
    /// A name only if it is written in capitals: "IT", "WHO".
    pub(crate) const SHOUTED: Self = Self(1 << 11);
    pub(crate) const TITLE: Self = Self(1 << 12);
    pub(crate) const KIN: Self = Self(1 << 13);
    pub(crate) const ANIMAL: Self = Self(1 << 14);
    pub(crate) const PARTICLE: Self = Self(1 << 15);
    pub(crate) const OF_HEAD: Self = Self(1 << 16);
    pub(crate) const ORGANIZATION_HEAD: Self = Self(1 << 17);
    pub(crate) const LOCATION_HEAD: Self = Self(1 << 18);
    pub(crate) const EVENT_HEAD: Self = Self(1 << 19);
    pub(crate) const LOCATION_FIRST: Self = Self(1 << 20);
    pub(crate) const ORGANIZATION_FIRST: Self = Self(1 << 21);
    /// Whether multi-word names begin with it; stored separately from its classes.
    pub(crate) const BEGINS: Self = Self(1 << 22);
    /// Any of the lists of names.
    pub(crate) const NAMED: Self = Self(0b111_1101);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
