//! Recipe for the built-in embedder's table; a build never needs it.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::Line;

/// The recipe, with its own document and list of packages.
const RECIPE: &str = "crates/mnemal-providers/distil/distil.py";

/// Runs `embedder distil` (rewrites the table) or `embedder verify` (compares a sample with the teacher).
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((word, rest)) if word == "distil" || word == "verify" => {
            Line::new("python3", &[RECIPE, word]).args(rest.iter().cloned()).run(root)
        }
        _ => bail!("embedder needs `distil` or `verify`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn another_word_is_refused_before_anything_starts() {
        let error = run(&root(), &["delete".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "embedder needs `distil` or `verify`");
    }
}
