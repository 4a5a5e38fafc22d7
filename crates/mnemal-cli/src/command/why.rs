//! `mnemal why`, `mnemal why-not` and `mnemal feedback`.

use std::fmt::Write as _;

use anyhow::Result;
use mnemal::context::ContextOutcome;
use mnemal::events::Judgment;
use mnemal::graph::SourceSentence;
use mnemal::learnings::Feedback;
use mnemal::{Error, Memory};
use serde::Serialize;

use crate::args::{FeedbackCall, Global, Why, WhyNot};
use crate::output::Output;
use crate::wire::{FactExplanationForm, LineForm, OmittedForm, SourceForm};

#[derive(Serialize)]
struct WhyForm {
    record: String,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<String>,
    evidence: Vec<SourceTextForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weighing: Option<FactExplanationForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<LineForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<OmittedForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    feedback: Vec<FeedbackForm>,
}

/// A verdict on an item of a context.
#[derive(Serialize)]
struct FeedbackForm {
    event_id: String,
    recall_id: String,
    item_id: String,
    verdict: &'static str,
    level: &'static str,
    at: String,
}

impl From<&Feedback> for FeedbackForm {
    fn from(of: &Feedback) -> Self {
        Self {
            event_id: of.event.to_string(),
            recall_id: of.recall.to_string(),
            item_id: of.record.to_string(),
            verdict: of.verdict.as_str(),
            level: of.level.as_str(),
            at: of.at.to_string(),
        }
    }
}

/// A source text in the log.
#[derive(Serialize)]
pub(super) struct SourceTextForm {
    #[serde(flatten)]
    source: SourceForm,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    text: String,
}

impl From<&SourceSentence> for SourceTextForm {
    fn from(sentence: &SourceSentence) -> Self {
        Self {
            source: SourceForm::from(&sentence.source),
            at: sentence.at.to_string(),
            speaker: sentence.speaker.as_ref().map(ToString::to_string),
            text: sentence.text.clone(),
        }
    }
}

/// Formats a source sentence for people.
pub(super) fn evidence(sentence: &SourceSentence) -> String {
    let span = sentence.source.span;
    let speaker = sentence.speaker.as_ref().map(|speaker| format!(" {speaker}")).unwrap_or_default();
    let event = sentence.source.event;
    format!("{}{speaker}: {:?}  {event} {}..{}", sentence.day(), sentence.text, span.start, span.end)
}

/// Prints the provenance of a record.
pub(super) async fn why(memory: &Memory, call: &Why, output: &Output) -> Result<u8> {
    let receipt = call.recall.as_deref().map(str::parse).transpose()?;
    let record = memory.admin().record_named(&call.what, receipt).await?;
    let why = memory.admin().why(record, receipt).await?;
    let (line, omitted, counted) = match &why.shown {
        Some(ContextOutcome::Line(line)) => (Some(LineForm::from(line.as_ref())), None, None),
        Some(ContextOutcome::Omitted(omitted)) => (None, Some(OmittedForm::from(omitted)), None),
        Some(ContextOutcome::Unlisted { counted }) => (None, None, Some(*counted)),
        None => (None, None, None),
    };
    let form = WhyForm {
        record: record.to_string(),
        text: why.text.clone(),
        producer: why.producer.as_ref().map(|producer| format!("{} {}", producer.id, producer.version)),
        evidence: why.evidence.iter().map(SourceTextForm::from).collect(),
        weighing: why.explanation.as_ref().map(FactExplanationForm::from),
        line,
        omitted,
        counted,
        feedback: why.feedback.iter().map(FeedbackForm::from).collect(),
    };
    output.answer(&form, || {
        let mut text = format!("{record}: {}", why.text);
        if let Some(producer) = &form.producer {
            let _written = write!(text, "\nmade by {producer} from");
        }
        for sentence in &why.evidence {
            let _written = write!(text, "\n  {}", evidence(sentence));
        }
        if let Some(weighing) = &why.explanation {
            let _written = write!(text, "\n{weighing}");
        }
        let _written = write!(text, "{}", format_outcome(&form));
        for one in &form.feedback {
            let _written = write!(text, "\nfound {} by the {} in {}", one.verdict, one.level, one.recall_id);
        }
        text
    })?;
    Ok(0)
}

/// Logs the user's verdict on a line of a context.
pub(super) async fn feedback(
    memory: &Memory,
    global: &Global,
    call: &FeedbackCall,
    output: &Output,
) -> Result<u8> {
    let verdict = Judgment::from_name(&call.verdict)
        .ok_or_else(|| Error::invalid("a verdict is useful, irrelevant or wrong"))?;
    let receipt = call.recall.parse()?;
    let record = memory.admin().record_named(&call.what, Some(receipt)).await?;
    let given = memory.preferences().feedback(receipt, record, verdict).await?;
    let form = FeedbackForm::from(&given.value);
    output.answer(&form, || format!("{} was {} in {}", form.item_id, form.verdict, form.recall_id))?;
    Ok(super::gaps(&given.gaps, global, output))
}

/// Formats the record's outcome in the receipt.
fn format_outcome(form: &WhyForm) -> String {
    if let Some(line) = &form.line {
        let mut text = format!(
            "\nshown in {}, because of {}: score {:.3}, {} tokens",
            line.section, line.because, line.score, line.tokens
        );
        for part in &line.parts {
            let _written = write!(
                text,
                "\n  {:<10} {:>7.3} × {:.3} = {:.3}",
                part.signal, part.normalized, part.weight, part.value
            );
        }
        return text;
    }
    if let Some(omitted) = &form.omitted {
        return format!("\nleft out of {}: {}, score {:.3}", omitted.section, omitted.reason, omitted.score);
    }
    match form.counted {
        Some(0) => "\nno candidate of that context".to_owned(),
        Some(counted) => {
            format!("\nnot listed in that receipt: no candidate, or one of {counted} that are only counted")
        }
        None => String::new(),
    }
}

#[derive(Serialize)]
struct WhyNotForm {
    record: String,
    /// `shown`, `omitted`, `behind`, `barred`, `unlisted`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
}

/// Prints why a context lacks a record.
pub(super) async fn why_not(memory: &Memory, global: &Global, call: &WhyNot, output: &Output) -> Result<u8> {
    let receipt = call.recall.as_deref().map(str::parse).transpose()?;
    let record = memory.admin().record_named(&call.what, receipt).await?;
    let blank = WhyNotForm {
        record: record.to_string(),
        outcome: "unlisted",
        reason: None,
        section: None,
        rank: None,
        score: None,
    };
    let mut gaps = Vec::new();
    let form = if receipt.is_some() {
        match memory.admin().why(record, receipt).await?.shown {
            Some(ContextOutcome::Line(line)) => WhyNotForm {
                outcome: "shown",
                section: Some(line.section.as_str()),
                score: Some(line.score),
                ..blank
            },
            Some(ContextOutcome::Omitted(omitted)) => of_omitted(blank, &omitted),
            _ => blank,
        }
    } else {
        let answer = memory.admin().why_not(record, call.query.as_deref().unwrap_or_default()).await?;
        gaps = answer.gaps;
        match answer.value {
            mnemal::context::WhyNot::Shown(line) => WhyNotForm {
                outcome: "shown",
                section: Some(line.section.as_str()),
                score: Some(line.score),
                ..blank
            },
            mnemal::context::WhyNot::Omitted { omitted, ranked } => {
                let form = of_omitted(blank, &omitted);
                WhyNotForm { rank: ranked.map(|(rank, _)| rank), ..form }
            }
            mnemal::context::WhyNot::Behind { rank, score } => {
                WhyNotForm { outcome: "behind", rank: Some(rank), score: Some(score), ..blank }
            }
            mnemal::context::WhyNot::Barred(gate) => {
                WhyNotForm { outcome: "barred", reason: Some(gate.to_string()), ..blank }
            }
        }
    };
    output.answer(&form, || format_omission(&form))?;
    Ok(super::gaps(&gaps, global, output))
}

fn of_omitted(blank: WhyNotForm, omitted: &mnemal::context::Omitted) -> WhyNotForm {
    WhyNotForm {
        outcome: "omitted",
        reason: Some(omitted.reason.as_str().to_owned()),
        section: Some(omitted.section.as_str()),
        score: Some(omitted.score),
        ..blank
    }
}

fn format_omission(form: &WhyNotForm) -> String {
    let ranked = form.rank.map(|rank| format!(", rank {rank}")).unwrap_or_default();
    let score = form.score.map(|score| format!(", score {score:.3}")).unwrap_or_default();
    let section = form.section.map(|section| format!(" of {section}")).unwrap_or_default();
    let reason = form.reason.as_deref().unwrap_or_default();
    match form.outcome {
        "shown" => format!("{} is a line{section}{score}", form.record),
        "omitted" => format!("{} was left out{section}: {reason}{ranked}{score}", form.record),
        "behind" => format!("{} stands too far down{ranked}{score}", form.record),
        "barred" => format!("{} never was a candidate: {reason}", form.record),
        _ => format!("{} is not listed in that receipt", form.record),
    }
}
