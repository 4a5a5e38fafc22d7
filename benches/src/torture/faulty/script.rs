//! Random script of operations on a space, drawn from a seed.

use mnemal_testkit::vfs::Dice;

/// Callers that log at the same time, so that their events meet in one group. Source: own default.
pub(crate) const CALLERS: usize = 3;
/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Callers log at the same time; each has so many events.
    Log([usize; CALLERS]),
    /// A note is kept.
    Remember,
    /// Something is recalled, and a context assembled.
    Recall,
    /// An event that was acknowledged is forgotten.
    Forget,
    /// Index rows are merged into a block.
    Seal,
    /// The write-ahead log is emptied.
    Checkpoint,
    /// The space is closed and opened again.
    Reopen,
}

/// Draws a script; a call has `largest` events at most.
pub(crate) fn draw(steps: usize, largest: usize, dice: &mut Dice) -> Vec<Step> {
    (0..steps).map(|_| step(largest, dice)).collect()
}

fn step(largest: usize, dice: &mut Dice) -> Step {
    // Half of the calls are single events.
    let call = |dice: &mut Dice| if dice.happens(5) { 1 } else { 1 + dice.below(largest) };
    match dice.below(20) {
        0..=9 => Step::Log([call(dice), call(dice), call(dice)]),
        10..=12 => Step::Remember,
        13..=14 => Step::Recall,
        15 => Step::Forget,
        16 => Step::Seal,
        17..=18 => Step::Checkpoint,
        _ => Step::Reopen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_follows_from_its_seed_and_has_every_kind_of_step() {
        let drawn = |seed| draw(200, 9, &mut Dice::new(seed));
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        let kinds: Vec<_> = drawn(1).iter().map(std::mem::discriminant).collect();
        let steps = [Step::Remember, Step::Recall, Step::Forget, Step::Seal, Step::Checkpoint, Step::Reopen];
        assert!(steps.iter().all(|step| kinds.contains(&std::mem::discriminant(step))));
    }
}
