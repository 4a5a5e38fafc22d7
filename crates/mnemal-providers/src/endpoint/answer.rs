//! Response reader: the body is accepted whole or not at all.

use mnemal_core::{Error, ErrorKind, Result};
use serde::Deserialize;

/// Most values of a vector. Source: the limit of the store, four times the largest embedding in common use.
const MOST_VALUES: usize = 16_384;
/// Bytes that a value may take as text. Source: own choice; 17 digits, sign, exponent, comma and a line break.
const BYTES_A_VALUE: usize = 28;
/// Bytes around the vectors. Source: own choice.
const AROUND: usize = 64 * 1_024;

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Vec<EmbeddingRow>,
}

#[derive(Deserialize)]
struct EmbeddingRow {
    /// Missing where an endpoint answers in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Largest response for this many texts.
pub(super) fn largest(texts: usize) -> usize {
    texts.saturating_mul(MOST_VALUES * BYTES_A_VALUE).saturating_add(AROUND)
}

/// Reads one vector per text, in the order of the texts, of length 1.
///
/// # Errors
/// `Unsupported` when it is no JSON of this form, a text has no vector or two, the dimensions differ, or a vector is not finite
/// or zero.
pub(super) fn vectors(body: &[u8], texts: usize) -> Result<Vec<Vec<f32>>> {
    let answer: EmbeddingResponse =
        serde_json::from_slice(body).map_err(|_| wrong("what is no list of vectors"))?;
    if answer.data.len() != texts {
        return Err(wrong(format!("{} vectors for {texts} texts", answer.data.len())));
    }
    let mut places: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (at, row) in answer.data.into_iter().enumerate() {
        match places.get_mut(row.index.unwrap_or(at)) {
            Some(place @ None) => *place = Some(unit(row.embedding)?),
            _ => return Err(wrong("a vector for no text, or two for one")),
        }
    }
    let vectors: Vec<Vec<f32>> = places.into_iter().flatten().collect();
    let values = vectors.first().map_or(0, Vec::len);
    if values > MOST_VALUES || vectors.iter().any(|vector| vector.len() != values) {
        return Err(wrong("vectors of different or too many values"));
    }
    Ok(vectors)
}

/// Scales a vector to length 1.
fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>> {
    let sum: f64 = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    let length = sum.sqrt();
    if !(length.is_finite() && length > f64::from(f32::MIN_POSITIVE)) {
        return Err(wrong("a vector without a direction"));
    }
    for value in &mut vector {
        #[expect(clippy::cast_possible_truncation, reason = "the quotient lies in −1 to 1")]
        let scaled = (f64::from(*value) / length) as f32;
        *value = scaled;
    }
    Ok(vector)
}

/// The error of an answer that cannot be used.
pub(super) fn wrong(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unsupported, format!("the endpoint answers with {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_texts_and_have_length_1() {
        let body = br#"{"object":"list","data":[{"index":1,"embedding":[0,-2]},{"index":0,"embedding":[3,4]}],"usage":{}}"#;
        assert_eq!(vectors(body, 2).unwrap(), [[0.6, 0.8], [0.0, -1.0]]);
        let in_order = br#"{"data":[{"embedding":[1e30,0]},{"embedding":[0,1e-30]}]}"#;
        assert_eq!(
            vectors(in_order, 2).unwrap(),
            [[1.0, 0.0], [0.0, 1.0]],
            "very long and very short ones too"
        );
    }

    #[test]
    fn an_answer_that_is_not_whole_is_none() {
        for body in [
            "",
            "<html>busy</html>",
            "{\"data\":",
            "{\"data\":[{\"index\":0,\"embedding\":[1,0]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":0,\"embedding\":[1]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":2,\"embedding\":[1]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[1,0]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[0]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[null]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[NaN]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[1e39]}]}",
            "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":\"AAAA\"}]}",
        ] {
            assert_eq!(vectors(body.as_bytes(), 2).unwrap_err().kind(), ErrorKind::Unsupported, "{body}");
        }
    }
}
