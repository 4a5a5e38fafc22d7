//! Errors as exit codes and problem documents.

use mnemal::{Error, ErrorKind};
use serde::Serialize;

use crate::output::Output;

/// Usage, configuration, invalid input. Source: own choice, like every code here; the README lists them.
pub(crate) const USAGE: u8 = 2;
/// Not authenticated or not allowed.
pub(crate) const NOT_ALLOWED: u8 = 4;
/// Answered with gaps, and `--strict` was given.
pub(crate) const GAPS: u8 = 6;

/// Base address of the problem types; the code is the last part. Source: own choice, the same as over HTTP.
const TYPES: &str = "https://mnemal.dev/errors/";

/// A failure as a problem document. Source: RFC 9457.
#[derive(Serialize)]
struct Problem<'a> {
    /// A stable address that ends with the code.
    r#type: String,
    title: &'a str,
    /// The machine-readable code; the same as over HTTP.
    code: &'a str,
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// Prints the failure on stderr and returns the exit code.
pub(crate) fn report(error: &anyhow::Error, output: &Output) -> u8 {
    if is_closed_pipe(error) {
        return 0;
    }
    let kind = error.chain().find_map(|cause| cause.downcast_ref::<Error>()).map(Error::kind);
    let detail = chain(error);
    if output.is_machine() {
        let title = kind.map_or("failure", ErrorKind::as_str);
        let (code, hint) = kind.map_or(("internal", None), describe);
        let problem = Problem { r#type: format!("{TYPES}{code}"), title, code, detail, hint };
        output.talk(&serde_json::to_string(&problem).unwrap_or_default());
    } else {
        output.talk(&format!("error: {detail}"));
    }
    kind.map_or(1, code)
}

/// Returns the chain of causes, without those that only repeat the message before them.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if parts.last().is_none_or(|last| !last.contains(&cause)) {
            parts.push(cause);
        }
    }
    parts.join(": ")
}

/// Returns the exit code of an error kind.
pub(crate) fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Invalid | ErrorKind::Unsupported => USAGE,
        ErrorKind::NotFound => 3,
        ErrorKind::Conflict => 5,
        ErrorKind::Unavailable => 7,
        _ => 1,
    }
}

/// Returns the wire code of an error kind, and a hint.
fn describe(kind: ErrorKind) -> (&'static str, Option<&'static str>) {
    match kind {
        ErrorKind::Invalid => ("invalid_request", Some("`mnemal help COMMAND` says what may be given.")),
        ErrorKind::Unsupported => ("unsupported", Some("`mnemal doctor` says what this program has.")),
        ErrorKind::NotFound => ("not_found", Some("List what is there, or recall it by its words.")),
        ErrorKind::Conflict => ("conflict", Some("Read it again, or try again when the other one is done.")),
        ErrorKind::Unavailable => ("unavailable", Some("Try again in a moment; `mnemal doctor` looks why.")),
        ErrorKind::Corrupt => ("corrupt", Some("Run `mnemal check`.")),
        _ => ("internal", None),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_code_of_the_table() {
        let rows = [
            (ErrorKind::Invalid, 2),
            (ErrorKind::Unsupported, 2),
            (ErrorKind::NotFound, 3),
            (ErrorKind::Conflict, 5),
            (ErrorKind::Unavailable, 7),
            (ErrorKind::Corrupt, 1),
            (ErrorKind::Internal, 1),
        ];
        for (kind, expected) in rows {
            assert_eq!(code(kind), expected);
        }
    }

    #[test]
    fn every_kind_that_a_caller_can_mend_says_how() {
        for kind in [
            ErrorKind::Invalid,
            ErrorKind::Unsupported,
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::Unavailable,
            ErrorKind::Corrupt,
        ] {
            assert!(describe(kind).1.is_some_and(|hint| hint.ends_with('.')), "{kind:?}");
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let closed =
            anyhow::Error::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe)).context("cannot print");
        assert!(is_closed_pipe(&closed));
        assert!(!is_closed_pipe(&anyhow::anyhow!("else")));
    }
}
