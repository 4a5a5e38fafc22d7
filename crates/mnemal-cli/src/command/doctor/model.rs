//! The checks of `mnemal doctor` on the language model and the trained reader.

use mnemal::Memory;
use mnemal::model::CallOutcome;

use super::{FAIL, Finding, OK, WARN, finding};
use crate::args::Global;
use crate::config;

const CHECK: &str = "model";

/// Opens the trained reader, where one was added.
pub(super) fn reader(global: &Global) -> Finding {
    const CHECK: &str = "reader";
    match config::read(global).map(|settings| settings.extract.reader) {
        Err(_) => finding(CHECK, FAIL, "the settings cannot be read"),
        Ok(file) if file.is_empty() => {
            finding(CHECK, OK, "none; the rules read alone (`mnemal models add FILE` adds one)")
        }
        Ok(file) => match mnemal::extract::check_reader(std::path::Path::new(&file)) {
            Ok(name) => finding(CHECK, OK, format!("{name} reads beside the rules")),
            Err(error) => finding(CHECK, FAIL, error.to_string()),
        },
    }
}
/// Checks the settings of the model, and the outcome of its last request. No request is sent.
pub(super) async fn model(memory: &Memory, global: &Global) -> Finding {
    let Ok(settings) = config::read(global) else {
        return finding(CHECK, FAIL, "the settings cannot be read");
    };
    if !settings.llm.is_asked() {
        return finding(CHECK, OK, "none; nothing needs one");
    }
    let status = match memory.admin().engine().model_status().await {
        Ok(status) => status,
        Err(error) => return finding(CHECK, FAIL, error.to_string()),
    };
    let Some(model) = status.model else {
        return finding(CHECK, FAIL, "this build cannot ask an endpoint; it needs the feature `http`");
    };
    let name = settings.llm.key_variable();
    if !name.is_empty() && config::model_key(&settings).is_none() {
        return finding(CHECK, WARN, format!("the variable {name} with the model's key is not set"));
    }
    if status.caps.requests_per_hour <= status.spent.requests
        || status.caps.tokens_per_day <= status.spent.tokens
    {
        return finding(CHECK, WARN, format!("{model} is not asked now: a cap of [llm] is reached"));
    }
    match status.last.map(|call| call.outcome) {
        None => {
            finding(CHECK, OK, format!("{model} was not asked in the last day; `mnemal model check` asks it"))
        }
        Some(CallOutcome::Answered) => finding(CHECK, OK, format!("{model} answered its last question")),
        Some(CallOutcome::Refused) => {
            finding(CHECK, FAIL, format!("{model} refused the key, its name or the last question"))
        }
        Some(outcome) => {
            finding(CHECK, WARN, format!("the last question to {model} ended as: {}", outcome.as_str()))
        }
    }
}
