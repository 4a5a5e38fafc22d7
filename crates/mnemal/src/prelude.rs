//! The names that most programs need: `use mnemal::prelude::*;`.

#[cfg(feature = "sqlite")]
pub use crate::Spaces;
pub use crate::{
    Answer, AsOf, Builder, Context, Decision, Engine, Error, ErrorKind, EventFilter, EventId, Fact,
    FactFilter, Gap, Graph, Hit, ImportFormat, ImportOptions, Learning, LearningFilter, LearningKind, Memory,
    Message, NoteKey, RecallResult, Receipt, Role, Scope, SessionId, Settings, SpaceId, Speaker, Timestamp,
    UserId, Within, Zone,
};
