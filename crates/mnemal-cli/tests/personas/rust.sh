# The first five minutes of a Rust developer with one crate. MNEMAL_SRC is the source, CARGO_TARGET_DIR where it builds.
set -eu
cd "$(mktemp -d)" && cargo new --quiet --vcs none agent && cd agent
cargo add --quiet --path "$MNEMAL_SRC/crates/mnemal"
cargo add --quiet tokio -F macros,rt
cp "$MNEMAL_SRC/examples/quickstart/src/main.rs" src/main.rs
# The versions that the project is tested with.
cp "$MNEMAL_SRC/Cargo.lock" Cargo.lock
cargo run --quiet > out.txt
grep -q "Deploys happen on Tuesdays" out.txt
if cargo tree -e normal --prefix none | grep -E '^(axum|rmcp|reqwest) v'; then exit 1; fi
