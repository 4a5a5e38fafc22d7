#![doc = include_str!("../README.md")]

pub mod dates;
pub mod extraction;
pub mod feedback;
pub mod neutral;

pub mod metric;
pub mod paired;
pub mod score;
pub mod shown;

pub mod abstain;

pub mod spaces;

pub mod signals;

pub mod chat;
pub mod words;

pub mod cpu;
pub mod figure;
pub mod graph;
pub mod kept;
pub mod latency;
pub mod many;

pub mod peers;

pub mod torture;

pub mod planting;

pub mod vectors;

pub mod visible;
