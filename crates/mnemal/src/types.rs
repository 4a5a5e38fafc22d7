//! Identifiers, names, times and other values that all areas share.

pub use mnemal_core::{
    AgentId, AsOf, Category, ChannelId, Civil, Degraded, Elapsed, EntityId, Error, ErrorKind, EventId,
    FactId, Gap, GapCause, Gaps, Health, HealthReport, Importance, InstallationKey, Layer, LearningId,
    LeaseName, Level, ModelId, NoteKey, Origin, OwnerId, PRODUCT, Predicate, Producer, ReceiptId, Result,
    RuleId, Scope, Score, Scored, SessionId, Slot, Source, SpaceId, Span, Speaker, Status, Tag, Timestamp,
    TokenCount, TokenParts, ToolName, Trust, UserId, Within, Zone, derived_id, named_id,
};

/// Returns the first eight hexadecimal digits of the BLAKE3 hash of a path, to distinguish folders of the same name.
pub fn path_fingerprint(path: &str) -> String {
    let producer = Producer { id: path.to_owned(), version: 0 };
    format!("{:08x}", derived_id("path", &producer, &[], 0) >> 96)
}
