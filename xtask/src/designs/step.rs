//! One step: an action, and the check of its answer.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::http;
use super::installation::{Input, TestInstallation};
use super::model::Mode;
use super::row::{Act, Step};
use super::words::{filled, filled_within, split};

/// Between two attempts of a step that has time. Source: own choice.
const PAUSE: Duration = Duration::from_millis(200);
/// Characters of an answer that a message shows.
const SHOWN: usize = 600;

/// What came of an act.
#[derive(Debug)]
struct Answer {
    code: u64,
    /// Whether it succeeded by its own measure.
    is_good: bool,
    text: String,
    json: Value,
}

/// Does a step, repeated as long as it has time, and keeps what it saves.
pub(super) fn act(place: &mut TestInstallation, step: &Step) -> Result<()> {
    let begun = now();
    loop {
        let told = once(place, step).and_then(|answer| {
            check(place, step, &answer)?;
            Ok(answer)
        });
        match told {
            Ok(answer) => return save(place, step, &answer),
            Err(error) if now().duration_since(begun) >= Duration::from_secs(step.within) => {
                return Err(error);
            }
            Err(_) => pause(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "what happens by itself takes its time on the wall")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "what happens by itself takes its time on the wall")]
fn pause() {
    std::thread::sleep(PAUSE);
}

fn once(place: &mut TestInstallation, step: &Step) -> Result<Answer> {
    match &step.act {
        Act::Run(line, input) => {
            let words = split(line)?;
            let arguments = words.iter().map(|word| filled(word, &place.variables));
            let arguments: Vec<String> = arguments.collect::<Result<_>>()?;
            let text = filled(input, &place.variables)?;
            let printed = place.run(&arguments, &step.environment, &input_of(step, &text))?;
            let json = serde_json::from_str(&printed.out).unwrap_or_default();
            let text = format!("{}{}", printed.out, printed.error);
            Ok(Answer { code: printed.code, is_good: printed.code == 0, text, json })
        }
        Act::Http(request, headers, body) => over_http(place, request, headers, body),
        Act::Tool(name, arguments, profile, space) => {
            let arguments = filled_within(arguments, &place.variables)?;
            call(place, step, (name, &arguments), (profile, space.as_deref()))
        }
        Act::File(path, text) => {
            let path = place.home.join(filled(path, &place.variables)?);
            std::fs::create_dir_all(path.parent().context("a file without a folder")?)?;
            std::fs::write(path, filled(text, &place.variables)?)?;
            Ok(nothing())
        }
        Act::Model(mode) => {
            place.model.as_ref().context("the section has no model")?.set(Mode::of(mode)?);
            Ok(nothing())
        }
        Act::Asked => {
            let asked = place.model.as_ref().context("the section has no model")?.questions();
            let json = json!({"requests": asked.len()});
            Ok(Answer { code: 0, is_good: true, text: asked.join("\n\n"), json })
        }
        Act::Restart => place.restart().map(|()| nothing()),
    }
}

fn input_of<'t>(step: &Step, text: &'t str) -> Input<'t> {
    Input { text, open: Duration::from_secs(step.hold) }
}

fn nothing() -> Answer {
    Answer { code: 0, is_good: true, text: String::new(), json: Value::Null }
}

fn over_http(
    place: &TestInstallation,
    request: &str,
    headers: &std::collections::BTreeMap<String, String>,
    body: &Value,
) -> Result<Answer> {
    let (address, key) = place.server()?;
    let mut all = std::collections::BTreeMap::from([
        ("authorization".to_owned(), format!("Bearer {key}")),
        ("content-type".to_owned(), "application/json".to_owned()),
    ]);
    for (name, value) in headers {
        all.insert(name.to_lowercase(), filled(value, &place.variables)?);
    }
    all.retain(|_, value| !value.is_empty());
    let body = match filled_within(body, &place.variables)? {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    let (code, text) = http::ask(address, &filled(request, &place.variables)?, &all, &body)?;
    let json = serde_json::from_str(&text).unwrap_or_default();
    Ok(Answer { code, is_good: (200..300).contains(&code), text, json })
}

/// Calls a tool over stdin and stdout, as a client starts the program; `tools/list` lists them.
fn call(
    place: &TestInstallation,
    step: &Step,
    (name, arguments): (&str, &Value),
    (profile, space): (&str, Option<&str>),
) -> Result<Answer> {
    let mut line: Vec<String> = space.iter().flat_map(|space| ["-s", *space]).map(str::to_owned).collect();
    line.extend(["mcp", "--profile", profile].map(str::to_owned));
    let about = json!({"name": "walk", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
    let is_list = name == "tools/list";
    let arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
    let method = if is_list { name } else { "tools/call" };
    let parameters = if is_list { json!({}) } else { json!({"name": name, "arguments": arguments}) };
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": parameters}),
    ];
    let input = requests.map(|request| request.to_string()).join("\n") + "\n";
    let printed = place.run(&line, &step.environment, &input_of(step, &input))?;
    let answers = printed.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = answers.into_iter().find(|answer| answer.get("id") == Some(&json!(2)));
    let answer = answer.with_context(|| format!("no answer: {}{}", printed.out, printed.error))?;
    let json = answer.get("result").or_else(|| answer.get("error")).cloned().unwrap_or_default();
    let is_good = answer.get("error").is_none() && json.get("isError") != Some(&json!(true));
    let parts = json.get("content").and_then(Value::as_array);
    let words = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    let text = match parts {
        Some(parts) => parts.iter().filter_map(words).collect::<Vec<_>>().join("\n"),
        None => json.to_string(),
    };
    Ok(Answer { code: u64::from(!is_good), is_good, text, json })
}

fn check(place: &TestInstallation, step: &Step, answer: &Answer) -> Result<()> {
    let shown = || {
        let text = if answer.text.is_empty() { answer.json.to_string() } else { answer.text.clone() };
        let short: String = text.chars().take(SHOWN).collect();
        format!("code {}, {short}", answer.code)
    };
    match step.code {
        Some(code) if code != answer.code => bail!("not code {code}: {}", shown()),
        None if !answer.is_good => bail!("no success: {}", shown()),
        _ => {}
    }
    for wanted in &step.contains {
        let wanted = filled(wanted, &place.variables)?;
        if !answer.text.contains(&wanted) {
            bail!("lacks {wanted:?}: {}", shown());
        }
    }
    for unwanted in &step.lacks {
        let unwanted = filled(unwanted, &place.variables)?;
        if answer.text.contains(&unwanted) {
            bail!("contains {unwanted:?}: {}", shown());
        }
    }
    let at = |pointer: &str| answer.json.pointer(pointer).cloned().unwrap_or_default();
    for (pointer, wanted) in &step.json {
        let wanted = filled_within(wanted, &place.variables)?;
        if !is_same(&at(pointer), &wanted) {
            bail!("{pointer} is {} and not {wanted}: {}", at(pointer), shown());
        }
    }
    for (pointer, wanted) in &step.count {
        let found = at(pointer);
        let members = found.as_array().map(Vec::len).or_else(|| found.as_object().map(serde_json::Map::len));
        if members.map(|n| json!(n)).as_ref() != Some(wanted) {
            bail!("{pointer} has not {wanted} members: {}", shown());
        }
    }
    for (pointer, wanted) in &step.least {
        if at(pointer).as_f64() < wanted.as_f64() {
            bail!("{pointer} is {} and not at least {wanted}: {}", at(pointer), shown());
        }
    }
    Ok(())
}

/// Whether two values are the same, numbers as numbers.
fn is_same(found: &Value, wanted: &Value) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-6,
        _ => found == wanted,
    }
}

fn save(place: &mut TestInstallation, step: &Step, answer: &Answer) -> Result<()> {
    for (name, pointer) in &step.save {
        let value = match pointer.as_str() {
            "text" => answer.text.trim().to_owned(),
            pointer => {
                let found = answer.json.pointer(pointer);
                let found = found.with_context(|| format!("nothing at {pointer} in {}", answer.json))?;
                found.as_str().map_or_else(|| found.to_string(), str::to_owned)
            }
        };
        place.variables.insert(name.clone(), value);
    }
    Ok(())
}
