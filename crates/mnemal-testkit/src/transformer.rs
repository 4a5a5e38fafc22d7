//! A tiny sentence transformer for tests, in the file format of a real one.

use crate::fake::mix;

/// Values of a vector.
pub const TINY_DIMENSIONS: usize = 8;
/// Pieces that are no letters, by number.
const SPECIAL: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];
/// Type of a tensor in ONNX: 32-bit floats.
const FLOAT: u64 = 1;
/// Type of a tensor in ONNX: 64-bit integers.
const INT64: u64 = 7;

/// Returns the lines of `vocab.txt`: four special pieces, then each small letter and digit, opening a word and continuing one.
pub fn tiny_vocabulary() -> String {
    let letters = || ('a'..='z').chain('0'..='9');
    let opening = letters().map(String::from);
    let continuing = letters().map(|letter| format!("##{letter}"));
    let special = SPECIAL.into_iter().map(str::to_owned);
    special.chain(opening).chain(continuing).map(|piece| piece + "\n").collect()
}

/// Returns what the model knows of a piece, by its line in the vocabulary.
pub fn tiny_row(piece: usize) -> [f32; TINY_DIMENSIONS] {
    std::array::from_fn(|place| {
        let bits = mix((piece * TINY_DIMENSIONS + place) as u64) >> 40;
        bits as f32 / 8_388_608.0 - 1.0
    })
}

/// Returns an ONNX file with the inputs and the output of BERT.
///
/// Its vector of a position is the row of the piece there plus the mean of all rows: what a piece says depends on its
/// neighbors, so that both ways of pooling can be told apart and computed by hand.
pub fn tiny_transformer() -> Vec<u8> {
    let n_pieces = tiny_vocabulary().lines().count();
    let rows: Vec<u8> = (0..n_pieces).flat_map(tiny_row).flat_map(f32::to_le_bytes).collect();
    let table = [
        number(1, n_pieces as u64),
        number(1, TINY_DIMENSIONS as u64),
        number(2, FLOAT),
        text(8, "table"),
        bytes(9, &rows),
    ];
    let axes = attribute("axes", &[number(8, 1), number(20, 7)]);
    let keep = attribute("keepdims", &[number(3, 1), number(20, 2)]);
    let graph = [
        node("Gather", &["table", "input_ids"], "rows", &[]),
        node("ReduceMean", &["rows"], "mean", &[axes, keep]),
        node("Add", &["rows", "mean"], "last_hidden_state", &[]),
        text(2, "tiny"),
        bytes(5, &table.concat()),
        port(11, "input_ids", INT64, &["batch", "length"]),
        port(11, "attention_mask", INT64, &["batch", "length"]),
        port(11, "token_type_ids", INT64, &["batch", "length"]),
        port(12, "last_hidden_state", FLOAT, &["batch", "length", "dimensions"]),
    ];
    let operators = number(2, 13);
    [number(1, 8), bytes(8, &operators), bytes(7, &graph.concat())].concat()
}

fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|name| text(1, name)).collect();
    let own = [inputs, text(2, output), text(3, output), text(4, operator), attributes.concat()];
    bytes(1, &own.concat())
}

fn attribute(name: &str, value: &[Vec<u8>]) -> Vec<u8> {
    bytes(5, &[text(1, name), value.concat()].concat())
}

fn port(field: u64, name: &str, kind: u64, shape: &[&str]) -> Vec<u8> {
    let sides: Vec<u8> = shape.iter().flat_map(|side| bytes(1, &text(2, side))).collect();
    let tensor = [number(1, kind), bytes(2, &sides)].concat();
    bytes(field, &[text(1, name), bytes(2, &bytes(1, &tensor))].concat())
}

fn text(field: u64, text: &str) -> Vec<u8> {
    bytes(field, text.as_bytes())
}

/// A field of protobuf that is a run of bytes.
fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// A field of protobuf that is a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return out;
        }
        out.push(low | 0x80);
    }
}
