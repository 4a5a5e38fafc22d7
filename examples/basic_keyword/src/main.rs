//! Makes an always-on space of mnemal a set of statements of a script language.

use std::path::Path;
use std::rc::Rc;

use mnemal::{Engine, Error, SpaceId, Spaces};
use rhai::{Array, Dynamic, EvalAltResult, EvalContext, Expression, Map};
use tokio::runtime::Runtime;

/// Hits of one question. Source: own choice; a script reads a few.
const HITS: usize = 5;

/// The statements, over the spaces of one data directory.
#[derive(Debug)]
struct Keywords {
    spaces: Spaces,
    /// A script waits for each statement, so that one thread is enough.
    runtime: Runtime,
}

type Answer = Result<Dynamic, Box<EvalAltResult>>;

impl Keywords {
    fn new(data: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let spaces = Spaces::new(data, Engine::builder())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        Ok(Self { spaces, runtime })
    }

    /// Teaches a script engine the statements.
    fn register(self, engine: &mut rhai::Engine) -> Result<(), Box<dyn std::error::Error>> {
        let keywords = Rc::new(self);
        let used = Rc::clone(&keywords);
        engine.register_custom_syntax(
            ["USE", "KB", "$expr$", "ALWAYS", "ON"],
            false,
            move |context, parts| used.use_always_on(&text(context, parts, 0)?),
        )?;
        let added = Rc::clone(&keywords);
        let form = ["ADD", "MEMORY", "$expr$", "TO", "KB", "$expr$"];
        engine.register_custom_syntax(form, false, move |context, parts| {
            added.add(&text(context, parts, 0)?, &text(context, parts, 1)?)
        })?;
        engine.register_custom_syntax(["THINK", "KB", "$expr$"], false, move |context, parts| {
            keywords.think(&text(context, parts, 0)?)
        })?;
        Ok(())
    }

    fn use_always_on(&self, kb: &str) -> Answer {
        let space = SpaceId::new(kb).map_err(failed)?;
        self.runtime.block_on(self.spaces.use_always_on(&space)).map_err(failed)?;
        Ok(Dynamic::UNIT)
    }

    fn add(&self, text: &str, kb: &str) -> Answer {
        let space = SpaceId::new(kb).map_err(failed)?;
        let stored = self.runtime.block_on(async { self.spaces.open(&space).await?.remember(text).await });
        Ok(stored.map_err(failed)?.value.event.to_string().into())
    }

    fn think(&self, question: &str) -> Answer {
        let found = self.runtime.block_on(async {
            let spaces = self.spaces.always_on().await?;
            let Some(first) = spaces.first() else { return Ok(Vec::new()) };
            let memory = self.spaces.beside(&self.spaces.open(first).await?, &[]).await?;
            let found = memory.recall(question).await?.value;
            let of = |space: Option<SpaceId>| space.unwrap_or_else(|| first.clone());
            Ok::<_, Error>(
                found.hits.into_iter().take(HITS).map(|hit| (of(hit.space.clone()), hit)).collect::<Vec<_>>(),
            )
        });
        let mut hits = Array::new();
        for (space, hit) in found.map_err(failed)? {
            let Some(kept) = hit.event.body() else { continue };
            let mut map = Map::new();
            map.insert("text".into(), kept.content.clone().into());
            map.insert("space".into(), space.to_string().into());
            map.insert("event".into(), hit.event.id.to_string().into());
            map.insert("score".into(), hit.score.get().to_string().into());
            map.insert("trust".into(), hit.event.trust.as_str().to_owned().into());
            map.insert("date".into(), kept.occurred_at.to_string().into());
            hits.push(map.into());
        }
        Ok(hits.into())
    }
}

/// Returns a part of a statement, which is a text.
fn text(
    context: &mut EvalContext<'_, '_, '_, '_, '_, '_>,
    parts: &[Expression<'_>],
    at: usize,
) -> Result<String, Box<EvalAltResult>> {
    let part = parts.get(at).ok_or("a statement lacks a part")?;
    context
        .eval_expression_tree(part)?
        .into_string()
        .map_err(|kind| format!("a text is needed, not {kind}").into())
}

/// Reports an error of the memory as one of the statement.
fn failed(error: Error) -> Box<EvalAltResult> {
    format!("{}: {error}", error.kind().as_str()).into()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = std::env::args().nth(1).unwrap_or_else(|| "scripts/handbook.rhai".to_owned());
    let data = std::env::temp_dir().join(format!("basic-keyword-{}", std::process::id()));
    let mut engine = rhai::Engine::new();
    Keywords::new(&data)?.register(&mut engine)?;
    let ran = engine.run(&std::fs::read_to_string(&script)?);
    drop(engine);
    std::fs::remove_dir_all(&data)?;
    ran.map_err(|error| error.to_string().into())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn engine(data: &Path) -> rhai::Engine {
        let mut engine = rhai::Engine::new();
        Keywords::new(data).unwrap().register(&mut engine).unwrap();
        engine
    }

    // proves: GB-22 (a script that runs)
    #[test]
    fn the_script_of_this_example_answers_with_its_source() {
        let home = tempfile::tempdir().unwrap();
        let said = Rc::new(RefCell::new(Vec::new()));
        let mut engine = engine(home.path());
        let heard = Rc::clone(&said);
        engine.on_print(move |line| heard.borrow_mut().push(line.to_owned()));
        engine.run(include_str!("../scripts/handbook.rhai")).unwrap();
        let said = said.borrow();
        assert!(said[0].starts_with("Invoices are paid on Fridays. [handbook, "), "{said:?}");
    }

    #[test]
    fn every_always_on_space_is_thought_of_and_no_other() {
        let home = tempfile::tempdir().unwrap();
        let engine = engine(home.path());
        let script = r#"
            USE KB "one" ALWAYS ON;
            USE KB "two" ALWAYS ON;
            USE KB "two" ALWAYS ON;
            ADD MEMORY "The first canary is ochre." TO KB "one";
            ADD MEMORY "The second canary is teal." TO KB "two";
            THINK KB "Which colour has a canary?"
        "#;
        let hits: Array = engine.eval(script).unwrap();
        let of = |name: &str| {
            let text = |hit: &Dynamic| hit.read_lock::<Map>().unwrap()[name].to_string();
            let mut all: Vec<String> = hits.iter().map(text).collect();
            all.sort();
            all
        };
        assert_eq!(of("text"), ["The first canary is ochre.", "The second canary is teal."]);
        assert_eq!(of("space"), ["one", "two"]);
        assert!(of("score").iter().all(|score| (0.0..=1.0).contains(&score.parse::<f64>().unwrap())));
        assert!(of("event").iter().all(|event| event.starts_with("evt_")), "{:?}", of("event"));
    }

    // proves: GB-14 (the statement reports kind and cause)
    #[test]
    fn what_fails_is_an_error_of_the_statement() {
        let home = tempfile::tempdir().unwrap();
        let engine = engine(home.path());
        for (script, kind) in [
            (r#"ADD MEMORY "x" TO KB "none""#, "not_found"),
            (r#"USE KB "../up" ALWAYS ON"#, "invalid"),
            (r#"USE KB 7 ALWAYS ON"#, "a text is needed"),
        ] {
            let error = engine.run(script).unwrap_err().to_string();
            assert!(error.contains(kind), "{script}: {error}");
        }
        let empty: Array = engine.eval(r#"THINK KB "anything""#).unwrap();
        assert!(empty.is_empty());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "a read makes no space");
    }
}
