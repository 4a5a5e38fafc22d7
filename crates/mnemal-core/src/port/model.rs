//! Ports of models outside the process. Each asks for a permit.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{BackgroundPermit, ModelId, Result};

/// Turns text into vectors, outside the process. Reading cannot call it: it has no permit.
///
/// Guarantees: one vector a text, in order, finite and of length 1 ± 1e-3, all of one model with the same number of values;
/// no text and no key in an error.
/// Not guaranteed: an answer in any time; the caller has a deadline. A dropped future ends the request and leaves nothing
/// behind but what was paid.
#[async_trait]
pub trait BackgroundEmbedder: Debug + Send + Sync + 'static {
    /// Returns the model; vectors of two models never mix.
    fn model(&self) -> &ModelId;

    /// Returns one vector a text; all of them or an error. One call is one request, apart from repetitions.
    ///
    /// # Errors
    /// `Unavailable` when the model cannot answer now, or the permit is spent; `Invalid` when it refuses the texts, the key
    /// or the name of the model; `Unsupported` when what it answers is no vectors for these texts.
    async fn embed(&self, permit: &mut BackgroundPermit, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
