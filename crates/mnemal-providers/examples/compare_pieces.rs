//! Compares the tokenizer with the lines that `distil/reference.py strings` prints, read from standard input.

use std::io::{self, BufRead, Write};

use mnemal_providers::StaticEmbedder;

fn main() -> io::Result<()> {
    let embedder = StaticEmbedder::built_in();
    let mut out = io::stdout().lock();
    let (mut compared, mut different) = (0, 0);
    for line in io::stdin().lock().lines() {
        let (text, expected): (String, Vec<Option<u32>>) = serde_json::from_str(&line?)?;
        let found = embedder.pieces(&text);
        compared += 1;
        if found != expected {
            different += 1;
            writeln!(out, "{text:?}\n  expected {expected:?}\n  found    {found:?}")?;
        }
    }
    writeln!(out, "{compared} strings compared, {different} differ")
}
