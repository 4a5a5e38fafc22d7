//! Request bodies, read within their limits.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest as _, Request};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::http::problem::Problem;

/// Maximum nesting of a document. Source: own choice, deeper than any form and safe for the parser's stack.
const DEPTH: usize = 32;
/// Buffered parts of a streamed body. Source: own default, some hundred kilobytes.
const WAITING: usize = 16;

/// Reads a whole body within a time limit.
///
/// No slot is held meanwhile, so a slow client delays only itself.
///
/// # Errors
/// `too_large` for a body over the limit, `invalid_request` when the client disconnects, `unavailable` when the time is over.
pub(crate) async fn whole(request: Request, time: Duration, most_kb: usize) -> Result<Bytes, Problem> {
    let read = tokio::time::timeout(time, Bytes::from_request(request, &())).await;
    let read = read.map_err(|_| Problem::new("unavailable", "the body took too long"))?;
    read.map_err(|refused| {
        if refused.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Problem::new(
                "too_large",
                format!("the body has more than {most_kb} KiB, which is `server.max_body_kb`"),
            )
        } else {
            Problem::invalid("the body ends in the middle")
        }
    })
}

/// Forwards the parts of a body as they arrive, with a time limit between two parts; an error is the last item.
pub(crate) fn parts(body: Body, time: Duration) -> mpsc::Receiver<io::Result<Bytes>> {
    let (hand, handed) = mpsc::channel(WAITING);
    let pass = async move {
        let mut body = body;
        loop {
            let part = match tokio::time::timeout(time, body.frame()).await {
                Ok(None) => return,
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(bytes) => Ok(bytes),
                    // Trailers are ignored.
                    Err(_) => continue,
                },
                Ok(Some(Err(_))) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the client broke off")),
                Err(_) => {
                    Err(io::Error::new(io::ErrorKind::TimedOut, "the client sent nothing for too long"))
                }
            };
            let is_last = part.is_err();
            if hand.send(part).await.is_err() || is_last {
                return;
            }
        }
    };
    #[expect(clippy::disallowed_methods, reason = "ends with the body, or with whoever reads it")]
    let _passing = tokio::spawn(pass);
    handed
}

/// Parses a document.
///
/// # Errors
/// `invalid_request` for an invalid document, with the place.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if let Err(wrong) = std::str::from_utf8(bytes) {
        return Err(Problem::new(
            "invalid_utf8",
            format!("byte {} of the body is wrong", wrong.valid_up_to()),
        ));
    }
    if depth(bytes) > DEPTH {
        return Err(Problem::invalid(format!("a document is nested at most {DEPTH} deep")));
    }
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    let mut text = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut text).map_err(|wrong| {
        let place = match wrong.path().to_string() {
            whole if whole == "." => String::new(),
            field => format!(".{field}"),
        };
        let is_document = wrong.inner().is_data();
        let said = wrong.inner().to_string();
        Problem::invalid(format!("body{place}: {}", if is_document { plain(&said) } else { said }))
    })?;
    text.end().map_err(|wrong| Problem::invalid(format!("body: {wrong}")))?;
    Ok(read)
}

/// Names of Rust types, and their JSON equivalents.
const TYPES: [(&str, &str); 9] = [
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("u64", "a whole number from 0"),
    ("usize", "a whole number from 0"),
    ("i64", "a whole number"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("a sequence", "a list"),
];

/// Rewrites a deserialization error for a client: without the column, and with JSON type names.
fn plain(said: &str) -> String {
    let said = said.rsplit_once(" at line ").map_or(said, |(said, _)| said);
    match said.rsplit_once(", expected ") {
        Some((wrong, meant)) if meant.starts_with("struct ") => format!("{wrong}, expected an object"),
        Some((wrong, meant)) => {
            let known = TYPES.iter().find(|(name, _)| *name == meant);
            format!("{wrong}, expected {}", known.map_or(meant, |(_, plain)| plain))
        }
        None => said.to_owned(),
    }
}

/// Returns the nesting depth of a document, without parsing it.
fn depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut is_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match (is_text, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (_, b'"') => is_text = !is_text,
            (false, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    #[test]
    fn depth_is_that_of_brackets_outside_texts() {
        for (text, expect) in
            [("", 0), ("1", 0), ("[]", 1), (r#"{"a":[1,{"b":[]}]}"#, 4), (r#"["[[[\"[["]"#, 1)]
        {
            assert_eq!(depth(text.as_bytes()), expect, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_within_a_document_is_named_by_its_path() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only read")]
        struct Item {
            n: u32,
        }
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only read")]
        struct List {
            items: Vec<Item>,
        }
        let said = |text: &str| read::<List>(text.as_bytes()).unwrap_err().detail().to_owned();
        for (text, place) in [
            (r#"{"items": [{"n": 1}, {"n": "two"}]}"#, "body.items[1].n: invalid type"),
            (r#"{"items": [{"n": 1}, {}]}"#, "body.items[1]: missing field `n`"),
            (
                r#"{"items": [{"n": -1}]}"#,
                "body.items[0].n: invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
            ),
            (r#"{"items": [3]}"#, "body.items[0]: invalid type: integer `3`, expected an object"),
            (r#"{"items": 3}"#, "body.items: invalid type: integer `3`, expected a list"),
            ("{}", "body: missing field `items`"),
            (r#"{"items": []} x"#, "body: trailing characters"),
        ] {
            assert!(said(text).starts_with(place), "{text}: {}", said(text));
            assert!(place.contains("trailing") || !said(text).contains("column"), "{}", said(text));
        }
    }

    #[test]
    fn what_is_no_document_is_refused_with_its_reason() {
        let code = |bytes: &[u8]| read::<Value>(bytes).map_err(|problem| problem.code());
        assert_eq!(code(b""), Ok(serde_json::json!({})));
        assert_eq!(code(b"{"), Err("invalid_request"));
        assert_eq!(code(b"\"\xff\""), Err("invalid_utf8"));
        assert_eq!(code(br#""\ud800""#), Err("invalid_request"), "half of a character");
        let nested = |deep: usize| [vec![b'['; deep], vec![b']'; deep]].concat();
        assert!(code(&nested(DEPTH)).is_ok());
        assert_eq!(code(&nested(DEPTH + 1)), Err("invalid_request"));
        assert_eq!(code(&nested(100_000)), Err("invalid_request"));
    }
}
