//! Sets of word ids.

/// A set of numbers of words, which are small and dense: a bit for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ids(Vec<u64>);

impl Ids {
    /// Puts a number in.
    pub(crate) fn insert(&mut self, id: u32) {
        let place = id as usize / 64;
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        if let Some(bits) = self.0.get_mut(place) {
            *bits |= 1 << (id % 64);
        }
    }

    /// Puts the numbers of another set in.
    pub(crate) fn unite(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(bits, others)| *bits |= others);
    }

    /// Returns whether a number is in.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.0.get(id as usize / 64).is_some_and(|bits| bits >> (id % 64) & 1 == 1)
    }

    /// Returns whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    /// Returns the numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let of = |(place, bits): (usize, &u64)| {
            let (start, mut bits) = (u32::try_from(place * 64).unwrap_or(u32::MAX), *bits);
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(start + bit)
            })
        };
        self.0.iter().enumerate().flat_map(of)
    }
}

impl Extend<u32> for Ids {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, ids: I) {
        for id in ids {
            self.insert(id);
        }
    }
}

impl FromIterator<u32> for Ids {
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> Self {
        let mut set = Self::default();
        set.extend(ids);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let ids: Ids = [3, 64, 3, 200].into_iter().collect();
        assert_eq!(ids.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert!(ids.contains(64) && !ids.contains(65) && !ids.contains(10_000));
        assert!(Ids::default().is_empty() && !ids.is_empty());
        let mut all: Ids = [7, 64].into_iter().collect();
        all.unite(&ids);
        assert_eq!(all.iter().collect::<Vec<_>>(), [3, 7, 64, 200]);
    }
}
