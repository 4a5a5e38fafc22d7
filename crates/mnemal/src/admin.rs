//! Running an engine: backup, restore, audit, rebuild, maintenance, status, spaces.

pub use crate::areas::AdminHandle;
pub use crate::audit::{AuditAct, AuditCheck, AuditLog, AuditRecord};
pub use crate::background::BackgroundReport;
#[cfg(feature = "sqlite")]
pub use crate::backup::{Manifest, RestoreReport, events_in};
pub use crate::builder::Builder;
pub use crate::engine::Engine;
pub use crate::memory::Memory;
pub use crate::quality::{QualityMeasure, QualityUnit};
pub use crate::rebuild::{GraphState, RebuildMode, RebuildReport};
pub use crate::receipt_list::ReceiptPage;
#[cfg(feature = "sqlite")]
pub use crate::recover::RecoveryReport;
pub use crate::report::{
    ContextUsage, Contradictions, ErasedEvents, Report, ReportPeriod, ShownRecord, StoredEvents, Unrecorded,
    Verdicts,
};
#[cfg(feature = "sqlite")]
pub use crate::spaces::{AlwaysOn, GLOBAL, SpaceEntry, SpaceReport, Spaces};
pub use crate::status::{RecentLanguage, Stats};
pub use crate::trust_audit::{Burst, QuarantineCount, TrustAudit, TrustViolation};
pub use crate::upkeep::MaintenanceReport;
#[cfg(feature = "postgres")]
pub use mnemal_store::{Acknowledgment, DatabaseReport, PostgresDatabase, PostgresOptions};
