#![doc = include_str!("../README.md")]

mod gate_cues;
mod gates;
mod phrase;
mod private;
mod question;
mod question_words;
mod screen;
mod screen_phrases;
mod secrets;
mod section;
pub mod synth;
mod turn;
mod word;

pub use gates::{Gates, gates};
pub use private::{PRIVATE_TAG, strip_private, strip_tag};
pub use question::{Question, Wh, question};
pub use screen::{SCREEN_RULES, screen};
pub use secrets::{Found, Mode, REDACTOR_VERSION, Redaction, SecretRules};
pub use turn::{Marks, turn_marks};
