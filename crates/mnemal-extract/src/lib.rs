#![doc = include_str!("../README.md")]

mod authorship;
mod claim_gate;
mod claims;
mod clause;
mod dates;
mod extractor;
mod feedback;
mod foreign_question;
mod forms;
mod gates;
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
mod prefilter;
mod private;
mod program;
mod question;
mod question_lexicon;
mod question_words;
mod screen;
mod screen_languages;
mod screen_phrases;
mod screen_view;
mod secrets;
mod section;
mod self_correction;
mod senses;
mod slips;
pub mod synth;
mod text_summary;
mod turn;
mod user;
mod word;

pub use authorship::{
    Author, OwnWords, RuleSegmenter, Segment, Segmenter, TurnText, foreign_remark, own_part,
};
pub use claim_gate::admit;
pub use dates::{Anchor, DateRules, PackLine, TimeBias, TimeExpression, dates, number};
pub use extractor::{RuleExtractor, is_role_word, repaired_turn, taken_back_turn};
pub use feedback::{
    Aspect, Feedback, FeedbackAct, FeedbackExample, Irritation, Polarity, Turn, feedback, feedback_examples,
    feedback_signals, is_slot_change, is_weighed_wish, only_states, requires_user_permission, wish_slot,
    wish_works,
};
pub use gates::{Gates, gates, is_imagined};
pub use label::{SpeakerLabel, speaker_label, speaker_voice};
pub use language::{Tier, by_script, language};
pub use lifecycle::{
    Duration, EndedSide, Ending, EndingScope, Form, FormPart, FormWish, begins_compound, denies, duration,
    endings, form_wish, form_wish_behind, joined_parts, subject_words,
};
pub use names::{NameList, clean_name, mentions, name_lists};
pub use notes::{Note, NoteKind, preference_notes};
pub use private::{PRIVATE_TAG, strip_private, strip_tag};
pub use program::program_elements;
pub use question::{Question, Wh, question};
pub use question_lexicon::{QuestionWords, question_words, without_idioms};
pub use screen::{SCREEN_RULES, screen};
pub use secrets::{Mode, REDACTOR_VERSION, Redaction, SecretMatch, SecretRules};
pub use self_correction::RepairedTurn;
pub use senses::WordSenses;
pub use slips::admits_slip;
pub use text_summary::{ImportanceCue, TextSummary, summarize_text};
pub use turn::{Marks, turn_marks};
pub use user::concerns_user;
