//! Normalization of vectors to length 1.

/// Scales a vector to length 1; `None` for a zero vector.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !(length.is_finite() && length > f32::MIN_POSITIVE) {
        return None;
    }
    for value in &mut vector {
        *value /= length;
    }
    Some(vector)
}
