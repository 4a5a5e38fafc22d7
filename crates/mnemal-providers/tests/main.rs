//! All integration tests as one program: each program more is linked for itself, which takes longer than its tests.

mod chat;
mod endpoint;
mod inbox;
mod paraphrases;
mod static_embedder;
mod table;
mod tokens;
mod transformer;
mod wordpiece;
