//! `memory_explain`: why lines were shown in an earlier answer, and their sources; `memory_feedback`: verdicts on them.

use mnemal::Memory;
use mnemal::context::ContextOutcome;
use mnemal_core::{Judgment, ReceiptId, RecordRef, Zone};
use serde_json::{Map, Value, json};

use crate::mcp::answer::{CorrectableError, Remarks, ToolAnswer};
use crate::mcp::arguments::Arguments;
use crate::mcp::bounded_list::{ListRow, render_rows};
use crate::mcp::tool::Tool;

/// Ceiling of the answer to a verdict, in tokens. Source: own default, that of `max_tokens`.
const CEILING: u32 = 2_000;

/// Explains a whole answer, or one item of it.
pub(super) async fn call(memory: &Memory, given: Map<String, Value>) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Explain, given);
    let ceiling = arguments.ceiling("max_tokens")?;
    let id = answer_named(&mut arguments)?;
    let item = arguments.text("item_id")?;
    let mut tail = Remarks::new(arguments.notes);
    let rows = match &item {
        None => whole(memory, id, &mut tail).await?,
        Some(item) => one(memory, id, memory.admin().record_named(item, Some(id)).await?, &mut tail).await?,
    };
    let answer = render_rows(memory, "items", &rows, ceiling, &tail).with("recall_id", id.to_string());
    if answer.shown < rows.len() {
        tail.say(format!("{} more; name an item_id or raise max_tokens.", rows.len() - answer.shown));
    }
    let head = if rows.is_empty() { "That answer showed nothing." } else { answer.text.as_str() };
    Ok(ToolAnswer {
        text: tail.behind(head, memory.admin().engine(), ceiling),
        structured: answer.structured,
    })
}

/// Records the agent's verdict on an item of an answer.
pub(super) async fn judge(
    memory: &Memory,
    given: Map<String, Value>,
) -> Result<ToolAnswer, CorrectableError> {
    let mut arguments = Arguments::new(Tool::Feedback, given);
    let id = answer_named(&mut arguments)?;
    let item = arguments.required("item_id", "give the id of an item of that answer.")?;
    let record = memory.admin().record_named(&item, Some(id)).await?;
    let verdict = arguments.required("verdict", "say useful, irrelevant or wrong.")?;
    let verdict = Judgment::from_name(verdict.trim())
        .ok_or_else(|| CorrectableError::new("verdict must be useful, irrelevant or wrong."))?;
    let noted = memory.preferences().feedback_by_agent(id, record, verdict).await?;
    let mut tail = Remarks::new(arguments.notes);
    tail.gaps(&noted.gaps);
    let said = format!("Noted: {record} was {}.", verdict.as_str());
    let structured = json!({"id": noted.event.to_string(), "verdict": verdict.as_str()});
    Ok(ToolAnswer { text: tail.behind(&said, memory.admin().engine(), CEILING), structured })
}

fn answer_named(arguments: &mut Arguments) -> Result<ReceiptId, CorrectableError> {
    let id = arguments.required("recall_id", "give the rcl_… of an earlier answer.")?;
    id.trim().parse().map_err(|_| CorrectableError::new("recall_id must be the rcl_… of an earlier answer."))
}

/// Returns the lines of the answer, and adds the omissions with their reasons.
async fn whole(memory: &Memory, id: ReceiptId, tail: &mut Remarks) -> Result<Vec<ListRow>, CorrectableError> {
    let receipt = memory.admin().receipt(id).await?;
    let left: Vec<String> =
        receipt.omitted_counts.iter().map(|(reason, count)| format!("{count} {}", reason.as_str())).collect();
    if !left.is_empty() {
        tail.say(format!("Left out: {}.", left.join(", ")));
    }
    let row = |line: &mnemal_core::ReceiptLine| {
        let (record, because) = (line.record.to_string(), line.because.as_str());
        let section = line.section.as_str();
        let parts: Map<String, Value> =
            line.parts.iter().map(|part| (part.name.to_owned(), rounded(part.value).into())).collect();
        ListRow {
            line: format!("{record} in {section}, because of {because}, score {}", rounded(line.score)),
            fields: json!({
                "id": record,
                "section": section,
                "because": because,
                "score": rounded(line.score),
                "explain": parts,
            }),
        }
    };
    Ok(receipt.lines.iter().map(row).collect())
}

/// Returns the sources of an item, and adds its outcome in the answer.
async fn one(
    memory: &Memory,
    id: ReceiptId,
    record: RecordRef,
    tail: &mut Remarks,
) -> Result<Vec<ListRow>, CorrectableError> {
    let why = memory.admin().why(record, Some(id)).await?;
    tail.say(match &why.shown {
        Some(ContextOutcome::Line(line)) => {
            format!("It stood in {}, because of {}.", line.section.as_str(), line.because.as_str())
        }
        Some(ContextOutcome::Omitted(omitted)) => format!("It was left out: {}.", omitted.reason.as_str()),
        _ => "It is not listed in that answer.".to_owned(),
    });
    if let Some(weighing) = &why.explanation {
        tail.say(format!("It {weighing}."));
    }
    for one in &why.feedback {
        tail.say(format!("The {} found it {} in {}.", one.level.as_str(), one.verdict.as_str(), one.recall));
    }
    let words = |sentence: &mnemal::graph::SourceSentence| {
        let date = sentence.at.civil(&Zone::utc()).day_text();
        ListRow {
            line: format!("[{date} · {}] {}", sentence.level.as_str(), sentence.text),
            fields: json!({
                "id": sentence.source.event.to_string(), "date": date, "origin": sentence.level.as_str(),
            }),
        }
    };
    let itself = ListRow {
        line: format!("{record}: {}", why.text),
        fields: json!({"id": record.to_string(), "rests_on": why.evidence.len()}),
    };
    Ok(std::iter::once(itself).chain(why.evidence.iter().map(words)).collect())
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1_000.0).round() / 1_000.0
}
