//! The bytes of a file: the live image, the durable image, and the writes between the two.

use std::mem;

use super::dice::Dice;

/// Bytes that a disk writes at once; a power cut tears between them, and sometimes within.
///
/// Source: the smallest sector of a disk.
pub(super) const SECTOR: usize = 512;

/// What a power cut leaves of the writes that were not flushed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SurvivingWrites {
    /// Nothing.
    Nothing,
    /// Those up to a random one, which is torn.
    Prefix,
    /// A random part of their sectors, some of them torn, whatever their order was.
    Part,
    /// One of the others, drawn for each file.
    #[default]
    Drawn,
}

/// A change that was not flushed yet.
#[derive(Clone, Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Resize(usize),
}

/// One file.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    live: Vec<u8>,
    durable: Vec<u8>,
    /// What makes `live` of `durable`, oldest first; without the writes that a failed flush swallowed.
    pending: Vec<Change>,
}

impl Image {
    /// Makes a file that is on the disk already.
    pub(super) fn flushed(bytes: Vec<u8>) -> Self {
        Self { live: bytes.clone(), durable: bytes, pending: Vec::new() }
    }

    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn durable(&self) -> &[u8] {
        &self.durable
    }

    /// Fills `into` from a position on; what lies behind the end is zero. Returns how many bytes there were.
    pub(super) fn read(&self, into: &mut [u8], at: usize) -> usize {
        let there = self.live.get(at..).unwrap_or_default();
        let count = there.len().min(into.len());
        let (now, behind) = into.split_at_mut(count);
        now.copy_from_slice(there.split_at(count).0);
        behind.fill(0);
        count
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        put(&mut self.live, at, bytes);
        self.pending.push(Change::Write { at, bytes: bytes.to_vec() });
    }

    /// Writes some sectors of what should have been written.
    pub(super) fn write_torn(&mut self, at: usize, bytes: &[u8], dice: &mut Dice) {
        for (at, piece) in sectors(at, bytes) {
            if dice.happens(5) {
                self.write(at, piece);
            }
        }
    }

    pub(super) fn resize(&mut self, len: usize) {
        self.live.resize(len, 0);
        self.pending.push(Change::Resize(len));
    }

    pub(super) fn flush(&mut self) {
        for change in mem::take(&mut self.pending) {
            apply(&mut self.durable, &change);
        }
    }

    /// Fails to flush: a random part reached the disk, and the rest never will, because the operating system takes a page
    /// for clean after it has reported the failure once.
    pub(super) fn fail_to_flush(&mut self, dice: &mut Dice) {
        let lost = mem::take(&mut self.pending);
        part(&mut self.durable, &lost, dice);
    }

    /// Forgets what was not flushed, but for what is kept.
    pub(super) fn cut(&mut self, keep: SurvivingWrites, dice: &mut Dice) {
        let pending = mem::take(&mut self.pending);
        let keep = match (keep, dice.below(3)) {
            (SurvivingWrites::Drawn, 0) => SurvivingWrites::Nothing,
            (SurvivingWrites::Drawn, 1) => SurvivingWrites::Prefix,
            (SurvivingWrites::Drawn, _) => SurvivingWrites::Part,
            (told, _) => told,
        };
        match keep {
            SurvivingWrites::Nothing => {}
            SurvivingWrites::Prefix => prefix(&mut self.durable, &pending, dice),
            SurvivingWrites::Part | SurvivingWrites::Drawn => part(&mut self.durable, &pending, dice),
        }
        self.live.clone_from(&self.durable);
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes: new } => put(bytes, *at, new),
        Change::Resize(len) => bytes.resize(*len, 0),
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    if bytes.len() < at {
        bytes.resize(at, 0);
    }
    // What is overwritten, and what is added behind the end.
    let (inside, behind) = new.split_at(new.len().min(bytes.len() - at));
    if let Some(place) = bytes.get_mut(at..at + inside.len()) {
        place.copy_from_slice(inside);
    }
    bytes.extend_from_slice(behind);
}

/// Applies the changes up to a random one, of which only the first bytes arrive.
fn prefix(bytes: &mut Vec<u8>, pending: &[Change], dice: &mut Dice) {
    let whole = dice.below(pending.len() + 1);
    for change in pending.iter().take(whole) {
        apply(bytes, change);
    }
    if let Some(Change::Write { at, bytes: new }) = pending.get(whole) {
        let arrived = dice.below(new.len() + 1);
        put(bytes, *at, new.get(..arrived).unwrap_or_default());
    }
}

/// Applies a random part of the sectors of the changes, some of them torn, and a random part of the changes of length.
fn part(bytes: &mut Vec<u8>, pending: &[Change], dice: &mut Dice) {
    let of_ten = 1 + dice.below(9);
    for change in pending {
        match change {
            Change::Resize(_) if dice.happens(of_ten) => apply(bytes, change),
            Change::Resize(_) => {}
            Change::Write { at, bytes: new } => {
                for (at, piece) in sectors(*at, new).filter(|_| dice.happens(of_ten)).collect::<Vec<_>>() {
                    let arrived = if dice.happens(1) { dice.below(piece.len()) } else { piece.len() };
                    put(bytes, at, piece.get(..arrived).unwrap_or_default());
                }
            }
        }
    }
}

/// Returns the pieces of a write that lie in one sector each.
fn sectors(at: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (mut at, mut rest) = (at, bytes);
    std::iter::from_fn(move || {
        let (piece, others) = rest.split_at_checked(SECTOR - at % SECTOR).unwrap_or((rest, &[]));
        let here = at;
        (at, rest) = (at + piece.len(), others);
        (!piece.is_empty()).then_some((here, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flushed() -> Image {
        let mut image = Image::default();
        image.write(0, &[1; 2_000]);
        image.flush();
        image
    }

    #[test]
    fn what_was_flushed_survives_every_cut_and_what_was_not_is_old_or_new() {
        for seed in 0..200 {
            for keep in [
                SurvivingWrites::Nothing,
                SurvivingWrites::Prefix,
                SurvivingWrites::Part,
                SurvivingWrites::Drawn,
            ] {
                let mut image = flushed();
                image.write(1_000, &[2; 1_500]);
                image.cut(keep, &mut Dice::new(seed));
                assert!(image.live()[..1_000].iter().all(|byte| *byte == 1));
                assert!(image.live()[1_000..2_000].iter().all(|byte| [1, 2].contains(byte)));
                assert!((2_000..=2_500).contains(&image.live().len()));
                assert_eq!(image.live(), image.durable());
            }
        }
    }

    #[test]
    fn nothing_prefix_and_part_differ_in_what_they_keep() {
        let kept = |keep, seed| {
            let mut image = flushed();
            image.write(0, &[2; SECTOR]);
            image.write(SECTOR, &[3; SECTOR]);
            image.cut(keep, &mut Dice::new(seed));
            (image.live().contains(&2), image.live().contains(&3))
        };
        assert!((0..100).all(|seed| kept(SurvivingWrites::Nothing, seed) == (false, false)));
        assert!((0..100).all(|seed| kept(SurvivingWrites::Prefix, seed) != (false, true)));
        assert!((0..100).any(|seed| kept(SurvivingWrites::Part, seed) == (false, true)));
        assert!((0..100).any(|seed| kept(SurvivingWrites::Prefix, seed) == (true, true)));
    }

    #[test]
    fn a_torn_write_ends_within_a_sector_at_times() {
        let torn = |seed| {
            let mut image = flushed();
            image.write(0, &[2; 2 * SECTOR]);
            image.cut(SurvivingWrites::Part, &mut Dice::new(seed));
            image.live().iter().position(|byte| *byte != 2).is_some_and(|end| end % SECTOR != 0)
        };
        assert!((0..200).any(torn) && !(0..200).all(torn));
    }

    #[test]
    fn a_failed_flush_is_not_made_good_by_the_next_one() {
        let lost = (0..100).any(|seed| {
            let mut image = flushed();
            image.write(0, &[2; SECTOR]);
            image.fail_to_flush(&mut Dice::new(seed));
            assert_eq!(image.live()[0], 2);
            image.flush();
            image.cut(SurvivingWrites::Nothing, &mut Dice::new(seed));
            image.live()[0] == 1
        });
        assert!(lost);
    }

    #[test]
    fn a_length_that_was_not_flushed_can_come_back() {
        let mut image = flushed();
        image.resize(10);
        image.cut(SurvivingWrites::Nothing, &mut Dice::new(1));
        assert_eq!(image.live().len(), 2_000);
        let mut bytes = [9; 4];
        assert_eq!(image.read(&mut bytes, 1_998), 2);
        assert_eq!(bytes, [1, 1, 0, 0]);
    }

    #[test]
    fn sectors_of_a_write_meet_end_to_end() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1_700).collect();
        let pieces: Vec<_> = sectors(300, &bytes).collect();
        assert!(pieces.iter().all(|(at, piece)| at / SECTOR == (at + piece.len() - 1) / SECTOR));
        assert_eq!(pieces.concat_bytes(), bytes);
    }

    trait Concat {
        fn concat_bytes(&self) -> Vec<u8>;
    }

    impl Concat for Vec<(usize, &[u8])> {
        fn concat_bytes(&self) -> Vec<u8> {
            self.iter().flat_map(|(_, piece)| piece.iter().copied()).collect()
        }
    }
}
