//! Identity of the agent and the user, as the host states it.

use mnemal_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Longest text, in bytes. Source: own choice; the section's share of a context is 200 tokens.
const LONGEST: usize = 2_000;

/// Identity of the agent and the user. It is part of every context, before learned preferences, and is not stored in the space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdentitySettings {
    /// Description of the agent; empty for none.
    pub agent: String,
    /// Description of the agent's user; empty for none.
    pub user: String,
}

impl IdentitySettings {
    /// Returns the non-empty texts, the agent's first.
    pub(crate) fn texts(&self) -> Vec<String> {
        let named = [("agent", &self.agent), ("user", &self.user)];
        let said = named.into_iter().filter(|(_, text)| !text.trim().is_empty());
        said.map(|(who, text)| format!("{who}: {}", text.trim())).collect()
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.agent.len() > LONGEST || self.user.len() > LONGEST {
            return Err(Error::invalid(format!(
                "identity.agent and identity.user must have at most {LONGEST} bytes"
            )));
        }
        Ok(())
    }
}
