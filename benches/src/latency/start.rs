//! Startup cost of every process before its first call: parts built from tables.

use anyhow::Result;
use mnemal_extract::SecretRules;
use mnemal_providers::StaticEmbedder;

use crate::cpu::{Cost, Watch};
use crate::figure::Figure;

/// A text without a secret.
const TEXT: &str = "It begins at nine, and the code is in the letter.";

/// Makes the parts that a process makes once, in a process that has not made them before.
///
/// # Errors
/// Where CPU time cannot be read.
pub fn start() -> Result<Vec<Figure>> {
    let (embedder, first) = timed(StaticEmbedder::built_in)?;
    drop(embedder);
    let (rules, second) = timed(SecretRules::built_in)?;
    let ((), empty) = timed(|| ())?;
    let (_, third) = timed(|| rules.redact(TEXT, &|_| 0).text.len())?;
    let figure = |name: &str, cost: Cost| Figure::time(format!("start: {name}, CPU"), 0, cost.cpu);
    Ok(vec![
        figure("table of the embedder", first),
        figure("rules for secrets", second),
        figure("rules for secrets, first text", third),
        figure("nothing (what each measurement adds)", empty),
    ])
}

fn timed<T>(make: impl FnOnce() -> T) -> Result<(T, Cost)> {
    let watch = Watch::start()?;
    let part = make();
    Ok((part, watch.stop()?))
}
