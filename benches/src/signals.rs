//! Contribution of the recall signals: weights learned from two data sets, and rankings without one signal.

pub mod ablate;
pub mod fit;
pub mod sample;

use crate::neutral::DataSet;
use crate::score::is_answerable;

/// Leaves out the questions that only seem to have an answer: they say nothing of a ranking.
pub fn answerable(mut data: DataSet) -> DataSet {
    data.questions.retain(is_answerable);
    data
}
