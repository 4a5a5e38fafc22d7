//! `mnemal report`.

use anyhow::Result;
use mnemal::Memory;
use mnemal::admin::ReportPeriod;

use crate::args::{Global, ReportCall};
use crate::output::Output;
use crate::paths::SpacePaths;
use crate::storage::Storage;
use crate::time;
use crate::wire::ReportForm;

/// Prints what the space did in a period, as Markdown.
pub(super) async fn run(memory: &Memory, global: &Global, call: &ReportCall, output: &Output) -> Result<u8> {
    let until = match &call.until {
        Some(until) => time::read(until)?,
        None => memory.admin().engine().now(),
    };
    let period = match &call.since {
        Some(since) => ReportPeriod::new(time::read(since)?, until)?,
        None => ReportPeriod::last_days(Some(call.days), until)?,
    };
    let report = memory.admin().report(period).await?;
    let bytes = match SpacePaths::find(global)?.storage {
        file @ Storage::File(_) => Some(file.bytes()).filter(|bytes| *bytes > 0),
        Storage::Database(_) => None,
    };
    let form = ReportForm::new(&report, bytes);
    output.answer(&form, || form.markdown().to_owned())?;
    Ok(super::gaps(&report.gaps, global, output))
}
