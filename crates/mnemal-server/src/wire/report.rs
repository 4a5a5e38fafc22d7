//! Reports of a period, the same on every surface, as figures and as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mnemal::admin::{ContextUsage, Contradictions, Report, ShownRecord};
use mnemal::graph::{BeliefChange, BeliefDiff, ChangeKind};
use mnemal_core::Degraded;
use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{GapForm, gaps};

/// Maximum number of changes in a report. Source: own choice, what a page shows without scrolling; `diff` lists all.
const CHANGES: usize = 10;
/// Maximum number of letters of a text in a report. Source: own choice, two lines.
const LETTERS: usize = 160;

/// What a space did in a period.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Report")]
pub struct ReportForm {
    /// The start, inclusive.
    since: String,
    /// The end, exclusive.
    until: String,
    /// The contexts and what they cost; `null` where no receipts are kept.
    contexts: Option<ContextUsageForm>,
    /// Verdicts on lines of contexts; of each line the last one of the user and of an agent.
    verdicts: VerdictsForm,
    /// What was stored.
    stored: StoredCountsForm,
    /// What was erased.
    erased: ErasedCountsForm,
    /// What came to be believed, was changed or dropped; `null` where it cannot be told.
    learned: Option<LearnedForm>,
    /// Contradictions among facts; `null` where they cannot be told.
    contradictions: Option<ContradictionsForm>,
    /// Bytes of the space's files now; `null` where they are not known.
    file_bytes: Option<u64>,
    /// Figures that nothing stores: they have no number here, which is not the same as 0.
    unrecorded: Vec<UnrecordedForm>,
    /// All of this as Markdown.
    markdown: String,
    /// Layers that could not answer in full.
    gaps: Vec<GapForm>,
}

/// Contexts and what they cost.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ContextUsage")]
struct ContextUsageForm {
    /// How many, with those that `ask` reads and those that a person previews.
    contexts: u64,
    /// Tokens of their texts.
    tokens: u64,
    /// Tokens that they might have had: the sum of their budgets.
    budget_tokens: u64,
    /// Lines in them.
    lines: u64,
    /// Tokens of lines from outside.
    external_tokens: u64,
    /// Contexts without a line.
    empty: u64,
    /// Contexts with lines, none of which the question matched; one without a question is among them.
    unmatched: u64,
    /// Contexts that lost lines to a forget since; neither empty nor unmatched.
    cut: u64,
    /// Contexts in which a layer could not answer in full.
    incomplete: u64,
    /// Candidates that did not become lines, by reason.
    omitted: BTreeMap<&'static str, u64>,
    /// Different events in them.
    events: u64,
    /// Different memories in them.
    memories: u64,
    /// Different facts in them.
    facts: u64,
    /// The records that stood in most of them, at most 5.
    most_shown: Vec<ShownForm>,
    /// Receipts from before it are deleted, so that earlier contexts are missing here; `null` where none is missing for that.
    kept_since: Option<String>,
}

/// A record and how many contexts it stood in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ShownRecord")]
struct ShownForm {
    /// The record.
    id: String,
    /// How many contexts.
    contexts: u64,
    /// What it says, cut to 160 letters; `null` where it is gone.
    text: Option<String>,
}

/// Verdicts on lines of contexts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Verdicts")]
struct VerdictsForm {
    /// It helped.
    useful: u64,
    /// It had nothing to do with the question.
    irrelevant: u64,
    /// It is false.
    wrong: u64,
}

/// What was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StoredCounts")]
struct StoredCountsForm {
    /// Events, with those that were erased since.
    events: u64,
    /// The same by role: `user`, `assistant`, `tool`, `document` and `decision`.
    by_role: BTreeMap<&'static str, u64>,
    /// The same by day in UTC, `2026-05-04`; days without one are left out.
    by_day: BTreeMap<String, u64>,
    /// Bytes of their texts, without those that were erased since.
    text_bytes: u64,
    /// Events that a rule holds back, without those that were erased since.
    quarantined: u64,
}

/// What was erased.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ErasedCounts")]
struct ErasedCountsForm {
    /// Decisions to forget.
    forgets: u64,
    /// Events that were erased, whenever they were stored.
    events: u64,
}

/// What came to be believed, was changed or dropped.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Learned")]
struct LearnedForm {
    /// Of facts.
    facts: ChangeCountsForm,
    /// Of memories.
    memories: ChangeCountsForm,
    /// Memories of the period that wait for a person; `null` where they cannot be told.
    candidates: Option<u64>,
    /// The newest changes, at most 10, the newest first.
    newest: Vec<BeliefForm>,
}

/// Changes by their kind.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ChangeCounts")]
struct ChangeCountsForm {
    /// Came to be believed.
    believed: u64,
    /// Is believed otherwise.
    changed: u64,
    /// Is no longer believed.
    dropped: u64,
}

/// A change of belief in short.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Belief")]
struct BeliefForm {
    /// The record.
    id: String,
    /// `believed`, `dropped` or `changed`.
    change: &'static str,
    /// What is believed now, or was before it was dropped, cut to 160 letters.
    text: String,
    /// What was believed before, of one that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// When.
    at: String,
}

/// Contradictions among facts.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Contradictions")]
struct ContradictionsForm {
    /// Facts whose value another value replaced in the period.
    replaced: u64,
    /// The newest of them, at most 5.
    replaced_lines: Vec<String>,
    /// Facts that were disputed at the end of the period.
    disputed: u64,
    /// Some of them, at most 5.
    disputed_lines: Vec<String>,
}

/// A figure that nothing stores.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unrecorded")]
struct UnrecordedForm {
    /// Which.
    name: &'static str,
    /// Why, and where else to look.
    why: &'static str,
}

impl ReportForm {
    /// Builds the form of a report, with the bytes of the space's files if they are known.
    pub fn new(report: &Degraded<Report>, file_bytes: Option<u64>) -> Self {
        let unrecorded = Report::UNRECORDED.map(|one| UnrecordedForm { name: one.name, why: one.why });
        let of = &report.value;
        let mut form = Self {
            since: of.period.since().to_string(),
            until: of.period.until().to_string(),
            contexts: of.contexts.as_ref().map(ContextUsageForm::from),
            verdicts: VerdictsForm {
                useful: of.verdicts.useful,
                irrelevant: of.verdicts.irrelevant,
                wrong: of.verdicts.wrong,
            },
            stored: StoredCountsForm {
                events: of.stored.events,
                by_role: of.stored.by_role.iter().map(|(role, count)| (role.as_str(), *count)).collect(),
                by_day: of.stored.by_day.clone(),
                text_bytes: of.stored.text_bytes,
                quarantined: of.stored.quarantined,
            },
            erased: ErasedCountsForm { forgets: of.erased.forgets, events: of.erased.events },
            learned: of.beliefs.as_ref().map(|beliefs| LearnedForm::new(beliefs, of.candidates)),
            contradictions: of.contradictions.as_ref().map(ContradictionsForm::from),
            file_bytes,
            unrecorded: unrecorded.into_iter().collect(),
            markdown: String::new(),
            gaps: gaps(&report.gaps),
        };
        form.markdown = form.as_markdown();
        form
    }

    /// Returns the report as Markdown.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    fn as_markdown(&self) -> String {
        let mut page = Page(String::new());
        page.line(format_args!("# Memory from {} to {}", self.since, self.until));
        for gap in &self.gaps {
            page.line(format_args!("\n> Incomplete: {} ({}).", gap.layer, gap.cause));
        }
        self.push_cost(&mut page);
        self.push_use(&mut page);
        self.push_changes(&mut page);
        self.push_contradictions(&mut page);
        page.heading("Without an answer");
        match &self.contexts {
            Some(of) => {
                page.line(format_args!("- Contexts without a line: {}", of.empty));
                page.line(format_args!(
                    "- Contexts with no line that the question matched, or without a question: {}",
                    of.unmatched
                ));
            }
            None => page.line(format_args!("Not recorded: this memory keeps no receipts.")),
        }
        page.heading("Not recorded");
        for one in &self.unrecorded {
            page.line(format_args!("- {}: {}", one.name.replace('_', " "), one.why));
        }
        page.0
    }

    fn push_cost(&self, page: &mut Page) {
        page.heading("Cost");
        match &self.contexts {
            Some(of) => {
                page.line(format_args!(
                    "- Contexts: {}, with {} tokens of the {} that they might have had",
                    of.contexts, of.tokens, of.budget_tokens
                ));
                page.line(format_args!("- Lines: {}; tokens from outside: {}", of.lines, of.external_tokens));
                page.line(format_args!("- Contexts with a gap: {}", of.incomplete));
                if let Some(since) = &of.kept_since {
                    page.line(format_args!(
                        "- Receipts are kept since {since}; earlier contexts are missing"
                    ));
                }
            }
            None => page.line(format_args!("- Contexts: not recorded; this memory keeps no receipts")),
        }
        page.line(format_args!("- Text stored: {} bytes", self.stored.text_bytes));
        if let Some(bytes) = self.file_bytes {
            page.line(format_args!("- Files now: {bytes} bytes"));
        }
    }

    fn push_use(&self, page: &mut Page) {
        page.heading("Used");
        if let Some(of) = &self.contexts {
            page.line(format_args!(
                "- Records in contexts: {} events, {} memories, {} facts",
                of.events, of.memories, of.facts
            ));
            for shown in &of.most_shown {
                let text = shown.text.as_deref().unwrap_or("(gone)");
                page.line(format_args!("  - in {}: {} ({})", shown.contexts, escaped(text), shown.id));
            }
            let omitted: Vec<String> = of
                .omitted
                .iter()
                .map(|(reason, count)| format!("{} {count}", reason.replace('_', " ")))
                .collect();
            if !omitted.is_empty() {
                page.line(format_args!("- Left out: {}", omitted.join(", ")));
            }
        }
        let VerdictsForm { useful, irrelevant, wrong } = self.verdicts;
        page.line(format_args!("- Verdicts: {useful} useful, {irrelevant} irrelevant, {wrong} wrong"));
    }

    fn push_changes(&self, page: &mut Page) {
        page.heading("Learned and forgotten");
        let roles: Vec<String> =
            self.stored.by_role.iter().map(|(role, count)| format!("{role} {count}")).collect();
        let roles = if roles.is_empty() { String::new() } else { format!(" ({})", roles.join(", ")) };
        page.line(format_args!("- Events stored: {}{roles}", self.stored.events));
        page.line(format_args!("- Held back by a rule: {}", self.stored.quarantined));
        match &self.learned {
            Some(learned) => {
                for (name, of) in [("Facts", &learned.facts), ("Memories", &learned.memories)] {
                    page.line(format_args!(
                        "- {name}: {} believed, {} changed, {} dropped",
                        of.believed, of.changed, of.dropped
                    ));
                }
                if let Some(candidates) = learned.candidates {
                    page.line(format_args!("- Waiting for you: {candidates}"));
                }
                for one in &learned.newest {
                    page.line(format_args!("  - {}: {} ({})", one.change, escaped(&one.text), one.id));
                }
            }
            None => page.line(format_args!("- Beliefs: cannot be told")),
        }
        let ErasedCountsForm { forgets, events } = self.erased;
        page.line(format_args!("- Forgotten: {events} events erased, {forgets} decisions to forget"));
    }

    fn push_contradictions(&self, page: &mut Page) {
        page.heading("Contradictions");
        let Some(of) = &self.contradictions else {
            page.line(format_args!("- Facts: cannot be told"));
            return;
        };
        for (name, count, lines) in [
            ("Replaced by another value", of.replaced, &of.replaced_lines),
            ("Disputed, for you to decide", of.disputed, &of.disputed_lines),
        ] {
            page.line(format_args!("- {name}: {count}"));
            for line in lines {
                page.line(format_args!("  - {}", escaped(line)));
            }
        }
    }
}

impl From<&ContextUsage> for ContextUsageForm {
    fn from(of: &ContextUsage) -> Self {
        Self {
            contexts: of.contexts,
            tokens: of.tokens,
            budget_tokens: of.budget,
            lines: of.lines,
            external_tokens: of.external_tokens,
            empty: of.empty,
            unmatched: of.unmatched,
            cut: of.cut,
            incomplete: of.incomplete,
            omitted: of.omitted.iter().map(|(reason, count)| (reason.as_str(), *count)).collect(),
            events: of.events,
            memories: of.learnings,
            facts: of.facts,
            most_shown: of.most_shown.iter().map(ShownForm::from).collect(),
            kept_since: of.kept_since.map(|since| since.to_string()),
        }
    }
}

impl From<&ShownRecord> for ShownForm {
    fn from(of: &ShownRecord) -> Self {
        Self { id: of.record.to_string(), contexts: of.contexts, text: of.text.as_deref().map(short) }
    }
}

impl LearnedForm {
    fn new(beliefs: &BeliefDiff, candidates: Option<u64>) -> Self {
        let mut all: Vec<&BeliefChange> = beliefs.facts.iter().chain(&beliefs.learnings).collect();
        all.sort_by_key(|change| std::cmp::Reverse((change.at, &change.record)));
        Self {
            facts: ChangeCountsForm::of(&beliefs.facts),
            memories: ChangeCountsForm::of(&beliefs.learnings),
            candidates,
            newest: all.into_iter().take(CHANGES).map(BeliefForm::from).collect(),
        }
    }
}

impl ChangeCountsForm {
    fn of(changes: &[BeliefChange]) -> Self {
        let count = |kind| changes.iter().filter(|change| change.kind == kind).count() as u64;
        Self {
            believed: count(ChangeKind::Believed),
            changed: count(ChangeKind::Changed),
            dropped: count(ChangeKind::Dropped),
        }
    }
}

impl From<&BeliefChange> for BeliefForm {
    fn from(of: &BeliefChange) -> Self {
        Self {
            id: of.record.clone(),
            change: of.kind.as_str(),
            text: of.after.as_ref().or(of.before.as_ref()).map(|text| short(text)).unwrap_or_default(),
            before: of.after.as_ref().and(of.before.as_ref()).map(|text| short(text)),
            at: of.at.to_string(),
        }
    }
}

impl From<&Contradictions> for ContradictionsForm {
    fn from(of: &Contradictions) -> Self {
        Self {
            replaced: of.replaced,
            replaced_lines: of.replaced_lines.iter().map(|line| short(line)).collect(),
            disputed: of.disputed,
            disputed_lines: of.disputed_lines.iter().map(|line| short(line)).collect(),
        }
    }
}

/// A Markdown page.
struct Page(String);

impl Page {
    fn heading(&mut self, title: &str) {
        self.line(format_args!("\n## {title}\n"));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _written = writeln!(self.0, "{text}");
    }
}

/// Returns a text on one line, cut to a number of letters.
fn short(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LETTERS {
        return line;
    }
    line.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// Escapes a stored text, so that Markdown shows it as text.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~') {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_text_is_one_line_and_no_markup() {
        let text = format!("a <img src=x>\n# [b](c) `d`\u{7}{}", "é".repeat(500));
        let line = escaped(&short(&text));
        assert!(line.starts_with("a \\<img src=x\\> \\# \\[b\\](c) \\`d\\` é"), "{line}");
        assert!(!line.contains('\n') && line.ends_with('…'), "{line}");
        assert_eq!(short(&text).chars().count(), LETTERS);
        assert_eq!(short("as it is"), "as it is");
    }
}
