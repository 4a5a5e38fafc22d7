//! Removal of what must not be stored: injected context blocks, private passages, secrets.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use mnemal_core::{Decision, Error, EventKind, InstallationKey, NewEvent, Result, Selector, Speaker, marker};
use mnemal_extract::{Mode, SecretRules, strip_tag};

use crate::log::LogSettings;

/// Rules that plain numbers match by chance; a name may look like one, because chats are named by telephone numbers.
const NUMBERS: [&str; 3] = ["pan", "iban", "ssn_us"];

/// Cleans texts with one set of rules. Cleaning is idempotent.
#[derive(Clone, Debug)]
pub struct Cleaner {
    secrets: Arc<SecretRules>,
    private_tag: String,
    key: InstallationKey,
}

impl Cleaner {
    /// Makes the cleaner of a log with these settings and this key.
    pub fn new(settings: LogSettings, key: InstallationKey) -> Self {
        let LogSettings { secrets, private_tag, .. } = settings;
        Self { secrets, private_tag, key }
    }

    /// Refuses a batch in which a name holds a secret: names are stored unchanged, so they cannot be redacted.
    pub(crate) fn check_names(&self, events: &[NewEvent]) -> Result<()> {
        let mut known = HashSet::new();
        for event in events {
            for (what, name) in names(event) {
                if known.insert(name) {
                    self.check_name(what, name)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a name that holds a secret; `what` names its kind.
    ///
    /// # Errors
    /// `Invalid` naming the rule.
    pub fn check_name(&self, what: &str, name: &str) -> Result<()> {
        let redaction = self.secrets.redact(name, &|_| 0);
        let secret = redaction
            .found
            .iter()
            .find(|found| found.mode != Mode::Allow && !NUMBERS.contains(&found.rule.as_str()));
        secret.map_or(Ok(()), |found| {
            Err(Error::invalid(format!("{what} must not hold a secret (rule {})", found.rule)))
        })
    }

    /// Cleans text, metadata values and speaker; returns the number of removed secrets.
    pub(crate) fn clean(&self, event: &mut NewEvent) -> Result<u32> {
        let mut redactions = self.clean_text("content", &mut event.content)?;
        for (key, value) in &mut event.metadata {
            redactions += self.clean_text(key, value)?;
        }
        if let Some(speaker) = &mut event.speaker {
            let mut name = speaker.as_str().to_owned();
            let found = self.clean_text("speaker", &mut name)?;
            if name != speaker.as_str() {
                *speaker = Speaker::new(name).or_else(|_| Speaker::new("[secret]"))?;
            }
            redactions += found;
        }
        Ok(redactions)
    }

    /// Removes injected context blocks, private passages and secrets from a text, and returns the number of secrets; `what`
    /// names the text.
    ///
    /// # Errors
    /// `Invalid` for a secret whose rule is in mode `block`.
    pub fn clean_text(&self, what: &str, text: &mut String) -> Result<u32> {
        if text.contains('\0') {
            *text = text.replace('\0', "\u{FFFD}");
        }
        if text.contains('<') {
            if let (Cow::Owned(rest), _) = marker::strip(text) {
                *text = rest;
            }
            if let (Cow::Owned(rest), _) = strip_tag(text, &self.private_tag) {
                *text = rest;
            }
        }
        let redaction = self.secrets.redact(text, &|secret| self.key.fingerprint(secret));
        if let Some(rule) = redaction.blocked() {
            return Err(Error::invalid(format!("{what} holds a secret and the rule {rule} refuses it")));
        }
        let gone = redaction.found.iter().filter(|found| found.mode == Mode::Redact).count();
        if let Cow::Owned(rest) = redaction.text {
            *text = rest;
        }
        Ok(u32::try_from(gone).unwrap_or(u32::MAX))
    }
}

/// Returns every name that is stored unchanged.
fn names(event: &NewEvent) -> Vec<(&'static str, &str)> {
    let mut names = Vec::with_capacity(8);
    names.push(("session", event.session.as_str()));
    names.push(("channel", event.channel.as_str()));
    names.push(("zone", event.zone.name.as_str()));
    names.extend(event.user.as_ref().map(|user| ("user", user.as_str())));
    names.extend(event.agent.as_ref().map(|agent| ("agent", agent.as_str())));
    names.extend(event.idempotency_key.as_deref().map(|key| ("idempotency_key", key)));
    names.extend(event.metadata.keys().map(|key| ("a key of metadata", key.as_str())));
    match &event.kind {
        EventKind::ToolCall { tool } | EventKind::ToolResult { tool, .. } => {
            names.push(("tool", tool.as_str()));
        }
        EventKind::Decision(Decision::Remember(note)) => {
            names.extend(note.key.as_ref().map(|key| ("key", key.as_str())));
            names.push(("category", note.category.as_str()));
            names.extend(note.tags.iter().map(|tag| ("a tag", tag.as_str())));
        }
        EventKind::Operation(operation) => {
            names.push(("a reason", operation.because.as_str()));
            if let Some(classification) = operation.kind.classification() {
                names.push(("category", classification.category.as_str()));
                names.extend(classification.tags.iter().map(|tag| ("a tag", tag.as_str())));
            }
        }
        EventKind::Decision(
            Decision::Archive(target) | Decision::Restore(target) | Decision::Reject(target),
        ) => names.extend(target.key.as_ref().map(|key| ("key", key.as_str()))),
        EventKind::Decision(Decision::Fact(fact)) => {
            names.extend(fact.topic.as_deref().map(|topic| ("a topic", topic)));
            if let mnemal_core::Value::Literal { text, key } = &fact.object {
                names.extend([("a value", text.as_str()), ("the key of a value", key.as_str())]);
            }
        }
        EventKind::Decision(Decision::Forget(forget)) => match &forget.selector {
            Selector::Key(key) => names.push(("key", key.as_str())),
            Selector::Session(session) => names.push(("session", session.as_str())),
            Selector::User(user) => names.push(("user", user.as_str())),
            _ => {}
        },
        _ => {}
    }
    names
}
