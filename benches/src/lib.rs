#![doc = include_str!("../README.md")]

/// The allocator of the program, so that its costs are those that are measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub mod attribution;
pub mod count;
pub mod dates;
pub mod endings;
pub mod extraction;
pub mod feedback;
pub mod learned;
pub mod life;
pub mod neutral;

pub mod curve;
pub mod evidence;
pub mod metric;
pub mod paired;
pub mod plain;
pub mod postgres;
pub mod preferences;
pub mod replay;
pub mod score;

pub mod abstain;

pub mod spaces;

pub mod signals;

pub mod chat;
pub mod words;
pub mod workers;

pub mod cpu;
pub mod embedder;
pub mod figure;
pub mod graph;
pub mod latency;
pub mod many;
pub mod model;
pub mod serving;
pub mod vector_cache;

pub mod peers;

pub mod torture;

pub mod throughput;

pub mod secret_planting;

pub mod vectors;

pub mod summaries;

pub mod visible;
