//! `mnemal extract`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::extract::{Confidence, ExtractedFact, Extraction, Subject, TextSummary, When};
use mnemal::ports::Clock as _;
use mnemal::types::Span;
use mnemal::{EventId, Zone};
use serde::Serialize;

use crate::args::{Extract, Global};
use crate::output::Output;

/// Extracts from one event or one text, and prints the result.
pub(super) async fn run(global: &Global, call: Extract, output: &Output) -> Result<u8> {
    let read = match (call.text, call.event) {
        (Some(text), _) => {
            let text = super::text_or_stdin(text, global)?;
            let found = mnemal::extract::extract_text(&text, &crate::config::read(global)?)?;
            let explained = call.explain.then(|| {
                mnemal::extract::summarize_text(
                    &mnemal::extract::OwnWords::of_text(&text),
                    mnemal::ports::SystemClock::default().now(),
                    &Zone::utc(),
                )
            });
            ExtractedText { text, zone: Zone::utc(), found, explained }
        }
        (None, event) => {
            let memory = super::open_one(global, output).await?;
            let id: EventId = event.unwrap_or_default().parse()?;
            let read = if call.model {
                memory.facts().extract_with_model(id).await
            } else {
                memory.facts().extract(id).await
            };
            let found = read?;
            let event = memory.events().get(id).await?;
            let zone = event.body().map_or_else(Zone::utc, |kept| kept.zone.clone());
            let text = event.body().map(|kept| kept.content.clone()).unwrap_or_default();
            let at = event.body().map_or(event.recorded_at, |kept| kept.occurred_at);
            let explained = call.explain.then(|| {
                mnemal::extract::summarize_text(&mnemal::extract::OwnWords::of_text(&text), at, &zone)
            });
            ExtractedText { text, zone, found, explained }
        }
    };
    output.answer(&read.form(), || read.lines())?;
    Ok(0)
}

/// The extracted text and the result.
struct ExtractedText {
    text: String,
    zone: Zone,
    found: Extraction,
    /// The digest and importance of the text, if `--explain` asks for them and the remarks.
    explained: Option<TextSummary>,
}

#[derive(Serialize)]
struct ExtractionForm {
    facts: Vec<FactForm>,
    mentions: Vec<MentionForm>,
    preferences: Vec<StatedPreferenceForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segments: Option<Vec<SegmentForm>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remarks: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gist: Option<TextSummaryForm>,
}

/// The digest of the text, its topics, and its importance.
#[derive(Serialize)]
struct TextSummaryForm {
    summary: Vec<String>,
    topics: Vec<String>,
    importance: f32,
    signs: Vec<&'static str>,
}

#[derive(Serialize)]
struct FactForm {
    predicate: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject_name: Option<String>,
    object: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    act: &'static str,
    status: &'static str,
    confidence: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<TimeForm>,
    rule: String,
    span: [u32; 2],
}

#[derive(Serialize)]
struct TimeForm {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    approximate: bool,
}

/// A sentence that states a preference or an instruction.
#[derive(Serialize)]
struct StatedPreferenceForm {
    kind: &'static str,
    text: String,
    span: [u32; 2],
}

/// A segment of the text, with its attribution.
#[derive(Serialize)]
struct SegmentForm {
    author: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    reason: &'static str,
    text: String,
    span: [u32; 2],
}

#[derive(Serialize)]
struct MentionForm {
    name: String,
    kind: &'static str,
    span: [u32; 2],
}

impl ExtractedText {
    fn form(&self) -> ExtractionForm {
        let mention = |mention: &mnemal::extract::Mention| MentionForm {
            name: mention.name.clone(),
            kind: mention.kind.as_str(),
            span: bytes(mention.span),
        };
        ExtractionForm {
            facts: self.found.facts.iter().map(|fact| self.fact(fact)).collect(),
            mentions: self.found.mentions.iter().map(mention).collect(),
            preferences: self.wishes(),
            segments: self.explained.is_some().then(|| self.segments()),
            remarks: self.explained.is_some().then(|| self.found.remarks.clone()),
            gist: self.gist(),
        }
    }

    fn wishes(&self) -> Vec<StatedPreferenceForm> {
        let words = |span: Span| span.of(&self.text).unwrap_or_default().to_owned();
        let form = |wish: mnemal::extract::Wish| StatedPreferenceForm {
            kind: wish.kind,
            text: words(wish.span),
            span: bytes(wish.span),
        };
        mnemal::extract::wishes(&self.text).into_iter().map(form).collect()
    }

    fn segments(&self) -> Vec<SegmentForm> {
        let form = |segment: mnemal::extract::Segment| SegmentForm {
            author: segment.author.as_str(),
            name: segment.author.name().map(str::to_owned),
            reason: segment.reason,
            text: segment.span.of(&self.text).unwrap_or_default().to_owned(),
            span: bytes(segment.span),
        };
        let said = mnemal::extract::segments(&self.text).into_iter().map(form);
        said.filter(|segment| !segment.text.trim().is_empty()).collect()
    }

    fn gist(&self) -> Option<TextSummaryForm> {
        let gist = self.explained.as_ref()?;
        let sentences = gist.summary.iter().filter_map(|span| span.of(&self.text));
        Some(TextSummaryForm {
            summary: sentences.map(|sentence| sentence.trim().to_owned()).collect(),
            topics: gist.topics.clone(),
            importance: gist.importance.get(),
            signs: gist.cues.iter().map(|cue| cue.as_str()).collect(),
        })
    }

    fn fact(&self, fact: &ExtractedFact) -> FactForm {
        let (subject, subject_name) = match &fact.subject {
            Subject::Speaker => ("speaker".to_owned(), None),
            Subject::Relation { role, name } => (role.clone(), name.clone()),
            Subject::Named(name) => (name.clone(), None),
        };
        FactForm {
            predicate: fact.predicate.to_string(),
            subject,
            subject_name,
            object: fact.object.text.clone(),
            topic: fact.object.topic.clone(),
            act: fact.act.as_str(),
            status: status(fact.confidence),
            confidence: fact.confidence.get(),
            time: fact.time.map(|time| self.time(time)),
            rule: fact.rule.to_string(),
            span: bytes(fact.span),
        }
    }

    fn time(&self, time: When) -> TimeForm {
        let civil = |moment: mnemal::extract::WorldTime| {
            let civil = moment.civil(&self.zone);
            format!("{}T{:02}:{:02}", civil.day_text(), civil.hour, civil.minute)
        };
        TimeForm {
            text: time.span.of(&self.text).unwrap_or_default().to_owned(),
            start: time.start.map(civil),
            end: time.end.map(civil),
            approximate: time.is_approximate,
        }
    }

    fn lines(&self) -> String {
        let mut lines = Vec::new();
        for fact in &self.found.facts {
            let form = self.fact(fact);
            let name = form.subject_name.map(|name| format!(" ({name})")).unwrap_or_default();
            let mut line = format!("{}{name}  {}  {}", form.subject, form.predicate, form.object);
            if form.act != "assert" {
                let _ = write!(line, "  [{}]", form.act);
            }
            if let Some(time) = form.time {
                let _ = write!(
                    line,
                    "  {} = {} to {}",
                    time.text,
                    display_time(time.start),
                    display_time(time.end)
                );
            }
            lines.push(format!("{line}  {} {:.2}  {}", form.status, form.confidence, form.rule));
        }
        let mention =
            |mention: &mnemal::extract::Mention| format!("names {}: {}", mention.kind.as_str(), mention.name);
        lines.extend(self.found.mentions.iter().map(mention));
        let wishes = self.wishes();
        lines
            .extend(wishes.into_iter().map(|wish| format!("wishes {}: {}", wish.kind, one_line(&wish.text))));
        if lines.is_empty() {
            lines.push("nothing is claimed or named".to_owned());
        }
        if let Some(gist) = self.gist() {
            for segment in self.segments() {
                let name = segment.name.map(|name| format!(" ({name})")).unwrap_or_default();
                let text = one_line(&segment.text);
                lines.push(format!("{}{name}, {}: {text}", segment.author, segment.reason));
            }
            lines.extend(self.found.remarks.iter().map(|remark| format!("remark: {remark}")));
            lines.extend(gist.summary.iter().map(|sentence| format!("in short: {sentence}")));
            lines.push(format!("about: {}", gist.topics.join(", ")));
            lines.push(format!("importance {:.1}: {}", gist.importance, gist.signs.join(", ")));
        }
        lines.join("\n")
    }
}

/// Joins text to one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn display_time(moment: Option<String>) -> String {
    moment.unwrap_or_else(|| "…".to_owned())
}

fn bytes(span: Span) -> [u32; 2] {
    [span.start, span.end]
}

/// Returns the status that a claim of this confidence gets.
fn status(confidence: Confidence) -> &'static str {
    match confidence {
        sure if sure >= Confidence::ACTIVE => "active",
        likely if likely >= Confidence::CANDIDATE => "candidate",
        _ => "none",
    }
}
