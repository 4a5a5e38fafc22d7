//! Settings of identity: agent and user, as stated by the host.

use mnemal_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Longest text, in bytes. Source: own choice; the share of the section in a context is 200 tokens.
const LONGEST: usize = 2_000;

/// Who the agent and the user are. It stands in every context, before what was learnt, and is stored nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdentitySettings {
    /// Who the agent is; empty where nobody says.
    pub agent: String,
    /// Whose agent it is; empty where nobody says.
    pub user: String,
}

impl IdentitySettings {
    /// Returns the texts that are there, the agent's first.
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
