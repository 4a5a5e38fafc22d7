//! Identifiers, names, times and other values that all areas share.

pub use mnemal_core::{
    AgentId, AsOf, Category, ChannelId, Civil, Degraded, Elapsed, EntityId, Error, ErrorKind, EventId,
    FactId, Gap, GapCause, Gaps, Health, HealthReport, Importance, InstallationKey, Layer, LearningId,
    LeaseName, Level, ModelId, NoteKey, Origin, OwnerId, PRODUCT, Predicate, Producer, ReceiptId, Result,
    RuleId, Scope, Score, Scored, SessionId, Slot, Source, SpaceId, Span, Speaker, Status, Tag, Timestamp,
    TokenCount, TokenParts, ToolName, Trust, UserId, Within, Zone, derived_id, named_id,
};
