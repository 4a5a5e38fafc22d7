//! `mnemal audit` and `mnemal audit verify`.

use anyhow::Result;
use mnemal::Memory;
use mnemal::admin::{AuditCheck, AuditLog, TrustAudit};
use serde::Serialize;

use crate::args::Global;
use crate::failure::GAPS;
use crate::output::Output;
use crate::paths::SpacePaths;

#[derive(Serialize)]
struct AuditForm {
    read: u64,
    held_back: Vec<QuarantineForm>,
    bursts: Vec<BurstForm>,
    trust_violations: Vec<ViolationForm>,
    findings: Vec<FindingForm>,
}

#[derive(Serialize)]
struct QuarantineForm {
    rule: String,
    count: u64,
    events: Vec<String>,
}

#[derive(Serialize)]
struct BurstForm {
    level: &'static str,
    from: String,
    count: u64,
    usual: f64,
}

#[derive(Serialize)]
struct ViolationForm {
    record: String,
    trust: &'static str,
    level: &'static str,
    sources_trust: &'static str,
    sources_level: &'static str,
}

#[derive(Serialize)]
struct FindingForm {
    name: &'static str,
    severity: &'static str,
    rows: u64,
    meaning: &'static str,
    next: &'static str,
}

/// Prints the trust audit of the space; with `--strict` a burst, a violation or a finding gives exit code 6.
pub(super) async fn run(memory: &Memory, global: &Global, output: &Output) -> Result<u8> {
    let audit = memory.admin().audit().await?;
    let is_clean = audit.bursts.is_empty() && audit.violations.is_empty() && audit.findings.is_empty();
    let form = AuditForm::from(audit);
    output.answer(&form, || form.text())?;
    Ok(if is_clean || !global.strict { 0 } else { GAPS })
}

#[derive(Serialize)]
struct ChainForm<'c> {
    file: String,
    lines: u64,
    head: &'c Option<String>,
    torn: u64,
    findings: &'c [String],
}

/// Verifies the audit log; a violation gives exit code 1.
pub(super) fn verify(global: &Global, output: &Output) -> Result<u8> {
    let log = AuditLog::beside(&SpacePaths::find_several(global)?.key)?;
    let check = log.verify()?;
    let file = log.path().display().to_string();
    let form = ChainForm {
        file,
        lines: check.lines,
        head: &check.head,
        torn: check.torn,
        findings: &check.findings,
    };
    output.answer(&form, || format_check(&form.file, &check))?;
    Ok(u8::from(!check.findings.is_empty()))
}

fn format_check(file: &str, check: &AuditCheck) -> String {
    let AuditCheck { lines, head, torn, findings } = check;
    let Some(head) = head else {
        return [&[format!("{file} has no lines")], findings.as_slice()].concat().join("\n");
    };
    let holds = if findings.is_empty() { "hold" } else { "do not all hold" };
    let mut text = vec![format!("{lines} lines of {file} {holds}; the last one is {head}")];
    text.extend((*torn > 0).then(|| {
        format!("{torn} bytes of a line that was not finished stand at its end; the next act removes them")
    }));
    text.extend(findings.iter().cloned());
    text.join("\n")
}

impl From<TrustAudit> for AuditForm {
    fn from(audit: TrustAudit) -> Self {
        let held = audit.held_back.into_iter().map(|held| QuarantineForm {
            rule: held.rule,
            count: held.count,
            events: held.events.iter().map(ToString::to_string).collect(),
        });
        let bursts = audit.bursts.into_iter().map(|burst| BurstForm {
            level: burst.level.as_str(),
            from: burst.from.to_string(),
            count: burst.count,
            usual: burst.usual,
        });
        let violations = audit.violations.into_iter().map(|one| ViolationForm {
            record: one.record.to_string(),
            trust: one.has.0.as_str(),
            level: one.has.1.as_str(),
            sources_trust: one.may.0.as_str(),
            sources_level: one.may.1.as_str(),
        });
        let findings = audit.findings.into_iter().map(|one| FindingForm {
            name: one.name,
            severity: one.severity.as_str(),
            rows: one.rows,
            meaning: one.meaning,
            next: one.next,
        });
        Self {
            read: audit.read,
            held_back: held.collect(),
            bursts: bursts.collect(),
            trust_violations: violations.collect(),
            findings: findings.collect(),
        }
    }
}

impl AuditForm {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for held in &self.held_back {
            lines.push(format!("held back by {}: {}", held.rule, held.count));
            lines.extend(held.events.iter().map(|event| format!("  {event}")));
        }
        for burst in &self.bursts {
            let BurstForm { level, from, count, usual } = burst;
            lines.push(format!(
                "burst: {count} of level {level} in the hour from {from}, usual are {usual:.0}"
            ));
        }
        for one in &self.trust_violations {
            lines.push(format!(
                "trust: {} has {} and level {}, its sources give {} and level {}",
                one.record, one.trust, one.level, one.sources_trust, one.sources_level
            ));
        }
        for one in &self.findings {
            lines.push(format!(
                "{} {}: {}\n  {}\n  {}",
                one.severity, one.name, one.rows, one.meaning, one.next
            ));
        }
        lines.push(format!("{} events were looked at", self.read));
        lines.join("\n")
    }
}
