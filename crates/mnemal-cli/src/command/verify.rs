//! `mnemal verify-receipt`.

use std::path::Path;

use anyhow::{Context as _, Result};
use mnemal::events::ErasureReceipt;
use mnemal::types::ReceiptId;
use mnemal::{Error, ErrorKind};
use serde::Serialize;

use crate::args::{Global, VerifyReceipt};
use crate::output::Output;

#[derive(Serialize)]
struct ErasureForm<'f> {
    signature: &'static str,
    public_key: &'f str,
    signed_by: &'static str,
    fields: &'f [(String, String)],
}

#[derive(Serialize)]
struct ContextForm<'f> {
    receipt: &'f str,
    lines: usize,
    resolved: usize,
    same: usize,
    not_compared: usize,
    blocks: usize,
    whole: Option<bool>,
    forgotten: usize,
    grounded: usize,
    findings: &'f [String],
}

/// Verifies a receipt; an invalid one gives exit code 1.
pub(super) async fn run(global: &Global, call: &VerifyReceipt, output: &Output) -> Result<u8> {
    if call.receipt.starts_with(ReceiptId::PREFIX) {
        return of_context(global, call, output).await;
    }
    let receipt = ErasureReceipt::from_text(text(&call.receipt, global)?);
    let verified = receipt.verify()?;
    let own = match &call.public_key {
        Some(key) => Some(key.trim().to_lowercase()),
        None => match super::open_one(global, output).await {
            Ok(memory) => Some(memory.admin().engine().public_key()),
            // A receipt of another machine can be verified without any space.
            Err(_) => None,
        },
    };
    let is_known = own.map(|own| own == verified.public_key);
    let signed_by = match (is_known, &call.public_key) {
        (Some(true), Some(_)) => "the key that was named",
        (Some(true), None) => "this installation",
        (Some(false), _) => "another key",
        (None, _) => "unknown",
    };
    let form = ErasureForm {
        signature: "good",
        public_key: &verified.public_key,
        signed_by,
        fields: &verified.fields,
    };
    output.answer(&form, || {
        let fields: Vec<String> =
            verified.fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("the signature holds; signed by {signed_by}\n{}", fields.join("\n"))
    })?;
    Ok(u8::from(is_known == Some(false)))
}

async fn of_context(global: &Global, call: &VerifyReceipt, output: &Output) -> Result<u8> {
    let memory = super::open_one(global, output).await?;
    let shown = match &call.text {
        Some(path) => Some(text(&path.to_string_lossy(), global)?),
        None => None,
    };
    let check = memory.admin().check_receipt(call.receipt.parse()?, shown.as_deref()).await?;
    let form = ContextForm {
        receipt: &call.receipt,
        lines: check.lines,
        resolved: check.resolved,
        same: check.same,
        not_compared: check.not_compared,
        blocks: check.blocks,
        whole: check.whole,
        forgotten: check.forgotten,
        grounded: check.grounded,
        findings: &check.findings,
    };
    output.answer(&form, || {
        let (lines, resolved, same) = (check.lines, check.resolved, check.same);
        let mut text = format!("{resolved} of {lines} lines resolve, {same} have the text that was shown");
        text.push_str(match check.whole {
            Some(true) => "; all of it is what was stored",
            Some(false) => "; it is not what was stored",
            None if check.forgotten > 0 => "; parts of it were forgotten since",
            None => "; it was stored without a seal",
        });
        for finding in &check.findings {
            text.push('\n');
            text.push_str(finding);
        }
        text
    })?;
    Ok(u8::from(!check.findings.is_empty()))
}

fn text(path: &str, global: &Global) -> Result<String> {
    if path == "-" {
        return super::text_or_stdin(path.to_owned(), global);
    }
    let read = std::fs::read(Path::new(path)).map_err(|cause| {
        let kind = if cause.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NotFound
        } else {
            ErrorKind::Unavailable
        };
        Error::new(kind, format!("cannot read {path}")).because(cause)
    })?;
    String::from_utf8(read).context("the file is not UTF-8")
}
