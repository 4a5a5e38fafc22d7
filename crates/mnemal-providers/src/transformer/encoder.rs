//! A sentence transformer in an ONNX file: pieces in, one vector out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mnemal_core::{Error, ErrorKind, Result};
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};

use super::recipe::Pooling;
use crate::unit::unit;

/// Names of a BERT model's inputs; the first one is required.
const INPUTS: [&str; 3] = ["input_ids", "attention_mask", "token_type_ids"];
/// Largest number of values of a vector. Source: the widest sentence transformers in use have 1,024; four times that.
const MOST_DIMENSIONS: usize = 4_096;

/// A loaded model.
pub(crate) struct Encoder {
    model: Model,
    /// The inputs of the model, with the meaning of each position.
    inputs: Vec<(NodeId, InputRole)>,
    output: NodeId,
    pooling: Pooling,
    /// One thread: the memory must not use all processors of its host.
    pool: Arc<ThreadPool>,
}

#[derive(Clone, Copy)]
enum InputRole {
    Pieces,
    Ones,
    Zeros,
}

impl Encoder {
    /// Loads a model, with its weights laid out for speed: that takes twice the memory of a quantized file, and half the
    /// time of a short text.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are not a whole ONNX file, `Unsupported` when it is no model of the shape of BERT.
    pub(crate) fn load(bytes: Vec<u8>, pooling: Pooling) -> Result<Self> {
        let load = || {
            let mut options = ModelOptions::with_all_ops();
            options.prepack_weights(true);
            options.load(bytes)
        };
        let model = match catch_unwind(AssertUnwindSafe(load)) {
            Ok(Ok(model)) => model,
            Ok(Err(cause)) => return Err(damaged("it cannot be read").because(cause)),
            Err(_panic) => return Err(damaged("reading it fails")),
        };
        let (inputs, output) = ports(&model)?;
        let pool = Arc::new(ThreadPool::with_num_threads(1));
        Ok(Self { model, inputs, output, pooling, pool })
    }

    /// Determines the dimension, with the shortest possible text.
    ///
    /// # Errors
    /// `Unsupported` when the model returns anything but one vector per piece.
    pub(crate) fn dimensions(&self, empty: &[i32]) -> Result<usize> {
        match catch_unwind(AssertUnwindSafe(|| self.pooled(empty))) {
            Ok(Ok(vector)) => Ok(vector.len()),
            Ok(Err(cause)) => {
                Err(Error::new(ErrorKind::Unsupported, "the model does not answer as BERT does")
                    .because(cause))
            }
            Err(_panic) => Err(damaged("running it fails")),
        }
    }

    /// Returns the vector of a text, of length 1; `None` for a zero vector.
    ///
    /// One text at a time: models with dynamic quantization measure the whole batch, so that a vector would depend on its
    /// neighbors, and a batch is not faster on one thread because it is padded to its longest text.
    ///
    /// # Errors
    /// `Internal` when the model fails to run.
    pub(crate) fn encode(&self, pieces: &[i32]) -> Result<Option<Vec<f32>>> {
        self.pooled(pieces).map(unit)
    }

    fn pooled(&self, pieces: &[i32]) -> Result<Vec<f32>> {
        let hidden = self.run(pieces)?;
        let hidden: NdTensorView<f32, 3> =
            hidden.as_view().try_into().map_err(|_| strange("its output is no table of vectors a text"))?;
        let [texts, positions, dimensions] = hidden.shape();
        if (texts, positions) != (1, pieces.len()) || !(1..=MOST_DIMENSIONS).contains(&dimensions) {
            return Err(strange("its output does not have one vector a piece"));
        }
        let used = match self.pooling {
            Pooling::Mean => positions,
            Pooling::First => 1,
        };
        let mut sum = vec![0.0_f32; dimensions];
        for position in 0..used {
            for (total, value) in sum.iter_mut().zip(hidden.slice((0, position)).iter()) {
                *total += value;
            }
        }
        Ok(sum)
    }

    fn run(&self, pieces: &[i32]) -> Result<Value> {
        let tensor = |holds| -> ValueOrView<'_> {
            let values = match holds {
                InputRole::Pieces => pieces.to_vec(),
                InputRole::Ones => vec![1; pieces.len()],
                InputRole::Zeros => vec![0; pieces.len()],
            };
            NdTensor::from_data([1, pieces.len()], values).into()
        };
        let inputs = self.inputs.iter().map(|(node, holds)| (*node, tensor(*holds))).collect();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        let outputs = self.model.run(inputs, &[self.output], Some(options));
        let outputs = outputs.map_err(|cause| Error::internal("the model does not run").because(cause))?;
        outputs.into_iter().next().ok_or_else(|| strange("it has no output"))
    }
}

/// Finds the inputs by their names, and the first output.
fn ports(model: &Model) -> Result<(Vec<(NodeId, InputRole)>, NodeId)> {
    let mut inputs = Vec::new();
    for node in model.input_ids() {
        let name = model.node_info(*node).and_then(|info| info.name()).unwrap_or_default();
        let holds = match INPUTS.iter().position(|known| *known == name) {
            Some(0) => InputRole::Pieces,
            Some(1) => InputRole::Ones,
            Some(_) => InputRole::Zeros,
            None => return Err(unsupported("it has an input that BERT has not")),
        };
        inputs.push((*node, holds));
    }
    if !inputs.iter().any(|(_, holds)| matches!(holds, InputRole::Pieces)) {
        return Err(unsupported("it has no input for pieces"));
    }
    let output = model.output_ids().first().ok_or_else(|| unsupported("it has no output"))?;
    Ok((inputs, *output))
}

fn damaged(why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the model file is damaged: {why}"))
}

fn unsupported(why: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("the file is a model of another kind: {why}"))
}

fn strange(why: &str) -> Error {
    Error::internal(format!("the model answers something else than expected: {why}"))
}
