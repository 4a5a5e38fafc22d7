//! `audit`.

use clap::{Args as ClapArgs, Subcommand};

/// `audit`. Without more it says what of the space a person should look at.
#[derive(Debug, ClapArgs)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) verb: Option<AuditVerb>,
}

/// What to do with the log of acts.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// Check the log of acts: a line that was changed, removed, added or put elsewhere is named.
    Verify,
}
