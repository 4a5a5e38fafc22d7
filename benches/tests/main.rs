//! All integration tests as one program: each program more is linked for itself, which takes longer than its tests.

mod gold;
mod life;
mod moments;
mod receipts_and_power;
mod score;
mod torture_asking;
mod torture_corrupt;
mod torture_dream;
mod torture_formats;
mod torture_fuzz;
mod torture_inbox;
mod torture_poison;
mod torture_processes;
mod torture_vfs;
mod whose_words;
