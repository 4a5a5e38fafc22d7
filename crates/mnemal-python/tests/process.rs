//! The tests of the part that needs no interpreter: a module cannot be linked as a program.

#[path = "../src/process.rs"]
mod process;
