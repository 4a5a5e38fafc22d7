//! `mnemal settings`.

use anyhow::Result;
use mnemal_server::wire::SettingForm;

use crate::args::Global;
use crate::output::Output;
use crate::setting_list;

/// Prints the settings in effect, each with its origin.
pub(super) fn run(global: &Global, output: &Output) -> Result<u8> {
    let list = setting_list::list(global, &[])?;
    output.list(&list.items, &list, || list.items.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    Ok(0)
}

fn line(of: &SettingForm) -> String {
    let from = of.from.as_ref().map(|from| format!(" {from}")).unwrap_or_default();
    format!("{:<36}  {:<24}  {}{from}", of.name, of.value.to_string(), of.origin)
}
