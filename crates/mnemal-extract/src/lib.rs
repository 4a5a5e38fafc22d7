#![doc = include_str!("../README.md")]

mod admit;
mod asking;
mod authorship;
mod claims;
mod clause;
mod dates;
mod extractor;
mod feedback;
mod forms;
mod gates;
mod gist;
#[cfg(test)]
mod gold_texts;
mod hash;
mod label;
mod language;
mod lifecycle;
mod names;
mod notes;
mod packs;
mod phrase;
pub mod predicate;
mod private;
mod program;
mod question;
mod question_words;
mod screen;
mod screen_languages;
mod screen_phrases;
mod screen_view;
mod secrets;
mod section;
mod sieve;
mod slips;
pub mod synth;
mod turn;
mod user;
mod word;

pub use admit::admit;
pub use asking::{QuestionWords, question_words};
pub use authorship::{
    Author, OwnWords, RuleSegmenter, Segment, Segmenter, TurnText, foreign_remark, own_part,
};
pub use dates::{Anchor, DateRules, Dated, Lean, Wording, dates, number};
pub use extractor::{RuleExtractor, is_role_word};
pub use feedback::{
    Aspect, Feedback, FeedbackAct, FeedbackExample, Irritation, Polarity, Turn, feedback, feedback_examples,
    feedback_signals, only_states, requires_user_permission,
};
pub use gates::{Gates, gates};
pub use gist::{Gist, Sign, gist};
pub use label::{SpeakerLabel, speaker_label, speaker_voice};
pub use language::{Tier, by_script, language};
pub use lifecycle::{
    Duration, EndedSide, Ending, EndingScope, Form, FormPart, FormWish, denies, duration, endings, form_wish,
    form_wish_behind, joined_parts, named,
};
pub use names::{NameList, clean_name, mentions, name_lists};
pub use notes::{Note, NoteKind, preference_notes};
pub use private::{PRIVATE_TAG, strip_private, strip_tag};
pub use program::program_elements;
pub use question::{Question, Wh, question};
pub use screen::{SCREEN_RULES, screen};
pub use secrets::{Found, Mode, REDACTOR_VERSION, Redaction, SecretRules};
pub use slips::admits_slip;
pub use turn::{Marks, turn_marks};
pub use user::concerns_user;
