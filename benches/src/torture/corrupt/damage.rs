//! File damage: bit flips, truncation and other mutations.

use std::path::Path;

use anyhow::Result;
use mnemal_store::ByteRange;

use super::sample::Sample;
use crate::words::Dice;

/// Bytes a page. Source: the page size of every space.
const PAGE: usize = 4_096;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Flip,
    Flips,
    Short,
    ZeroPage,
    SwappedPages,
    Header,
    Log,
    ShortLog,
    OldLog,
    ForeignLog,
    ForeignShared,
    Key,
}

/// Every kind; disk faults are more frequent than human ones.
const KINDS: [Kind; 17] = [
    Kind::Flip,
    Kind::Flip,
    Kind::Flip,
    Kind::Flips,
    Kind::Flips,
    Kind::Flips,
    Kind::Short,
    Kind::ZeroPage,
    Kind::ZeroPage,
    Kind::SwappedPages,
    Kind::Header,
    Kind::Log,
    Kind::ShortLog,
    Kind::OldLog,
    Kind::ForeignLog,
    Kind::ForeignShared,
    Kind::Key,
];

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Flip => "damage: one bit",
            Self::Flips => "damage: several bits",
            Self::Short => "damage: cut off",
            Self::ZeroPage => "damage: page of zeros",
            Self::SwappedPages => "damage: two pages swapped",
            Self::Header => "damage: header",
            Self::Log => "damage: bits of the write-ahead log",
            Self::ShortLog => "damage: write-ahead log cut off",
            Self::OldLog => "damage: old write-ahead log",
            Self::ForeignLog => "damage: write-ahead log of another space",
            Self::ForeignShared => "damage: shared memory of another file",
            Self::Key => "damage: installation key",
        }
    }
}

/// The damage.
#[derive(Debug)]
pub(super) struct Damage {
    pub(super) kind: Kind,
    touched: Vec<ByteRange>,
}

impl Damage {
    /// Whether some of these bytes were changed.
    pub(super) fn touches(&self, bytes: ByteRange) -> bool {
        self.touched
            .iter()
            .any(|one| one.in_log == bytes.in_log && one.start < bytes.end && bytes.start < one.end)
    }

    /// Whether an earlier state of an event may come back.
    pub(super) fn goes_back(&self) -> bool {
        matches!(self.kind, Kind::Log | Kind::ShortLog | Kind::OldLog)
    }
}

/// Writes a damaged copy of the sample.
pub(super) fn make(sample: &Sample, place: &Path, dice: &mut Dice) -> Result<Damage> {
    let kind = KINDS.get(dice.below(KINDS.len())).copied().unwrap_or(Kind::Flip);
    let (mut file, mut log) = (sample.file.clone(), sample.log.clone());
    let mut touched = Vec::new();
    let whole_log = ByteRange { in_log: true, start: 0, end: u64::MAX };
    match kind {
        Kind::Flip => flip(&mut file, 1, (false, dice), &mut touched),
        Kind::Flips => flip(&mut file, 2 + dice.below(40), (false, dice), &mut touched),
        Kind::Log => flip(&mut log, 1 + dice.below(8), (true, dice), &mut touched),
        Kind::Short => touched.push(cut(&mut file, (false, dice))),
        Kind::ShortLog => touched.push(cut(&mut log, (true, dice))),
        Kind::ZeroPage => {
            let page = dice.below(file.len() / PAGE);
            fill(&mut file, page, &[0; PAGE]);
            touched.push(of_page(page));
        }
        Kind::SwappedPages => {
            let (one, other) = (dice.below(file.len() / PAGE), dice.below(file.len() / PAGE));
            let (first, second) = (page(&file, one), page(&file, other));
            fill(&mut file, one, &second);
            fill(&mut file, other, &first);
            touched.extend([of_page(one), of_page(other)]);
        }
        Kind::Header => {
            for byte in file.iter_mut().take(1 + dice.below(100)) {
                *byte = dice.bits().to_le_bytes()[0];
            }
            touched.push(ByteRange { in_log: false, start: 0, end: 100 });
        }
        Kind::OldLog => {
            log.clone_from(&sample.old_log);
            touched.push(whole_log);
        }
        Kind::ForeignLog => {
            log.clone_from(&sample.foreign_log);
            touched.push(whole_log);
        }
        Kind::ForeignShared | Kind::Key => {}
    }
    sample.write(place, &file, &log)?;
    match kind {
        Kind::ForeignShared => std::fs::write(place.join("space.db-shm"), &sample.shared)?,
        Kind::Key => {
            let length = if dice.below(2) == 0 { 32 } else { dice.below(64) };
            let bytes: Vec<u8> = (0..length).map(|_| dice.bits().to_le_bytes()[0]).collect();
            std::fs::write(place.join("installation.key"), bytes)?;
        }
        _ => {}
    }
    Ok(Damage { kind, touched })
}

fn flip(bytes: &mut [u8], times: usize, (in_log, dice): (bool, &mut Dice), touched: &mut Vec<ByteRange>) {
    for _ in 0..times {
        let at = dice.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << dice.below(8);
            touched.push(ByteRange { in_log, start: at as u64, end: at as u64 + 1 });
        }
    }
}

fn cut(bytes: &mut Vec<u8>, (in_log, dice): (bool, &mut Dice)) -> ByteRange {
    let length = dice.below(bytes.len());
    bytes.truncate(length);
    ByteRange { in_log, start: length as u64, end: u64::MAX }
}

fn page(file: &[u8], number: usize) -> Vec<u8> {
    file.get(number * PAGE..(number + 1) * PAGE).unwrap_or_default().to_vec()
}

fn fill(file: &mut [u8], number: usize, with: &[u8]) {
    for (to, from) in file.iter_mut().skip(number * PAGE).zip(with) {
        *to = *from;
    }
}

fn of_page(number: usize) -> ByteRange {
    ByteRange { in_log: false, start: (number * PAGE) as u64, end: ((number + 1) * PAGE) as u64 }
}
