//! All integration tests as one program: each program more is linked for itself, which takes longer than its tests.

mod composed_dates;
mod conformance;
mod date_parts;
mod dates;
mod feedback;
mod language_dates;
mod language_de_fr;
mod names;
mod never_panics;
mod people;
mod periods;
mod screen;
mod secrets;
mod stored_notes;
