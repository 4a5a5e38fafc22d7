//! Answer of the sandboxed child: one JSON document.

use mnemal_core::{Metadata, Passage, Timestamp};
use serde::{Deserialize, Serialize};

use super::Content;

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildAnswer {
    /// The content of the file.
    Content {
        #[serde(default)]
        fields: Metadata,
        at: Option<i64>,
        passages: Vec<PassageLine>,
    },
    /// The reason why it cannot be read.
    Refused(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PassageLine {
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headings: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
}

impl From<Result<Content, String>> for ChildAnswer {
    fn from(read: Result<Content, String>) -> Self {
        match read {
            Ok(content) => Self::Content {
                fields: content.fields,
                at: content.written_at.map(Timestamp::as_micros),
                passages: content.passages.into_iter().map(PassageLine::from).collect(),
            },
            Err(why) => Self::Refused(why),
        }
    }
}

impl From<ChildAnswer> for Result<Content, String> {
    fn from(answer: ChildAnswer) -> Self {
        match answer {
            ChildAnswer::Content { fields, at, passages } => Ok(Content {
                fields,
                written_at: at.and_then(|micros| Timestamp::from_micros(micros).ok()),
                passages: passages.into_iter().map(Passage::from).collect(),
            }),
            ChildAnswer::Refused(why) => Err(why),
        }
    }
}

impl From<Passage> for PassageLine {
    fn from(passage: Passage) -> Self {
        let Passage { text, headings, page, at } = passage;
        Self { text, headings, page, at: at.map(Timestamp::as_micros) }
    }
}

impl From<PassageLine> for Passage {
    fn from(line: PassageLine) -> Self {
        let PassageLine { text, headings, page, at } = line;
        Self { text, headings, page, at: at.and_then(|micros| Timestamp::from_micros(micros).ok()) }
    }
}
