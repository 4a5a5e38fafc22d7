//! Logins of browsers: one-time codes, and the sessions that they begin.
//!
//! A page holds no key. A program with a key asks for a one-time code; the page exchanges it for a random session token, which
//! the browser keeps in a cookie that no script reads. Both live in the memory of the server, so they end with it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mnemal_core::Result;

use crate::auth::Secret;

/// How long a one-time code can be used. Source: own choice; a browser opens within it, and it is useless in a shell's history.
pub(crate) const CODE_LIFE: Duration = Duration::from_mins(1);
/// How long a session lasts. Source: own choice, a working day.
pub(crate) const SESSION_LIFE: Duration = Duration::from_hours(12);
/// Maximum number of unused codes; the oldest one goes first. Source: own choice, far more than people open at once.
const MOST_CODES: usize = 32;
/// Maximum number of sessions; the oldest one goes first. Source: own choice, more than a team has browsers.
const MOST_SESSIONS: usize = 256;

/// How a caller proved who it is, so that a session can be checked again at each request.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// The server authenticates nobody.
    Open,
    /// A process of the same user, through the socket.
    LocalProcess,
    /// A key.
    Key(Secret),
}

/// A token that is valid until a moment of the monotonic clock.
#[derive(Debug)]
struct Grant {
    digest: String,
    credential: Credential,
    until: Duration,
}

/// Codes and sessions of one run of the server.
#[derive(Debug, Default)]
pub(crate) struct BrowserSessions {
    codes: Mutex<Vec<Grant>>,
    sessions: Mutex<Vec<Grant>>,
}

impl BrowserSessions {
    /// Issues a one-time code that logs a browser in with this credential.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness.
    pub(crate) fn issue_code(&self, credential: Credential, now: Duration) -> Result<Secret> {
        let until = now.saturating_add(CODE_LIFE);
        insert(&mut lock(&self.codes), (credential, until), (now, MOST_CODES))
    }

    /// Takes a code away, and returns the credential of who issued it; `None` for one that is unknown, used or too old.
    pub(crate) fn take_code(&self, code: &str, now: Duration) -> Option<Credential> {
        let code = Secret::parse(code)?;
        let mut codes = lock(&self.codes);
        let place = codes.iter().position(|grant| code.is_of(&grant.digest))?;
        let grant = codes.remove(place);
        (grant.until > now).then_some(grant.credential)
    }

    /// Begins a session, and returns its token.
    ///
    /// # Errors
    /// `Unavailable` when the operating system has no randomness.
    pub(crate) fn begin(&self, credential: Credential, now: Duration) -> Result<Secret> {
        let until = now.saturating_add(SESSION_LIFE);
        insert(&mut lock(&self.sessions), (credential, until), (now, MOST_SESSIONS))
    }

    /// Returns the credential of a session; `None` for one that is unknown or over.
    pub(crate) fn credential(&self, token: &str, now: Duration) -> Option<Credential> {
        let token = Secret::parse(token)?;
        let sessions = lock(&self.sessions);
        let grant = sessions.iter().find(|grant| grant.until > now && token.is_of(&grant.digest))?;
        Some(grant.credential.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&self, token: &str) {
        if let Some(token) = Secret::parse(token) {
            lock(&self.sessions).retain(|grant| !token.is_of(&grant.digest));
        }
    }
}

/// Adds a grant, drops those that are over, and the oldest ones beyond the limit.
fn insert(
    grants: &mut Vec<Grant>,
    (credential, until): (Credential, Duration),
    (now, most): (Duration, usize),
) -> Result<Secret> {
    let token = Secret::random()?;
    grants.retain(|grant| grant.until > now);
    let surplus = (grants.len() + 1).saturating_sub(most);
    drop(grants.drain(..surplus));
    grants.push(Grant { digest: token.digest(), credential, until });
    Ok(token)
}

fn lock(grants: &Mutex<Vec<Grant>>) -> MutexGuard<'_, Vec<Grant>> {
    grants.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1_000);

    #[test]
    fn a_code_is_used_once_and_within_a_minute() {
        let browsers = BrowserSessions::default();
        let code = browsers.issue_code(Credential::Open, START).unwrap();
        assert!(browsers.take_code("mnk_other", START).is_none());
        assert!(browsers.take_code(Secret::random().unwrap().expose(), START).is_none());
        assert!(browsers.take_code(code.expose(), START).is_some());
        assert!(browsers.take_code(code.expose(), START).is_none(), "it was used");
        let late = browsers.issue_code(Credential::Open, START).unwrap();
        assert!(browsers.take_code(late.expose(), START + CODE_LIFE).is_none(), "it is too old");
    }

    #[test]
    fn a_session_ends_by_itself_and_when_it_is_ended() {
        let browsers = BrowserSessions::default();
        let code = browsers.issue_code(Credential::Open, START).unwrap();
        assert!(browsers.credential(code.expose(), START).is_none(), "a code is no session");
        let (one, two) = (browsers.begin(Credential::Open, START), browsers.begin(Credential::Open, START));
        let (one, two) = (one.unwrap(), two.unwrap());
        assert!(browsers.credential(one.expose(), START).is_some());
        assert!(browsers.credential(one.expose(), START + SESSION_LIFE).is_none());
        browsers.end(one.expose());
        assert!(browsers.credential(one.expose(), START).is_none());
        assert!(browsers.credential(two.expose(), START).is_some());
    }

    #[test]
    fn the_oldest_grants_go_when_there_are_too_many() {
        let browsers = BrowserSessions::default();
        let first = browsers.issue_code(Credential::Open, START).unwrap();
        let others: Vec<Secret> = std::iter::repeat_with(|| browsers.issue_code(Credential::Open, START))
            .take(MOST_CODES)
            .map(Result::unwrap)
            .collect();
        assert!(browsers.take_code(first.expose(), START).is_none());
        assert!(others.iter().all(|code| browsers.take_code(code.expose(), START).is_some()));
    }
}
