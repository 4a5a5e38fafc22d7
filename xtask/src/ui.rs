//! The web UI: its committed build is that of its source, and a browser drives it against a real server.
//!
//! Where Node or Chromium is missing, what needs it is skipped with a message; where `CI` is set, missing Node is a failure.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::clients::{copy_folder, installed, is_there, program, target, text, unlimited};
use crate::command::Line;

/// The source.
const SOURCE: &str = "ui";
/// The built files, which the server embeds.
const BUILT: &str = "crates/mnemal-server/ui";
/// The types of the API, which the source imports from beside it.
const TYPES: &str = "integrations/typescript/src";
/// The variable that names another browser than Debian's.
const BROWSER: &str = "CHROMIUM";

/// The argument that asks for figures over long logs instead of the tests; further ones are sizes of logs.
const MEASURE: &str = "--measure";

/// Builds the UI away from its source, compares it with the committed files, and drives it in a browser. The program is `MNEMAL`
/// of the environment, else it is built. An argument names a folder for screenshots; `--measure` measures long logs instead.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    if let Some((first, sizes)) = arguments.split_first().filter(|(first, _)| *first == MEASURE) {
        return measure(root, first, sizes);
    }
    if !(is_there(root, "node")? && is_there(root, "npm")?) {
        return Ok(());
    }
    let home = prepare(root)?;
    let output = target(root)?.join("clients/ui-built");
    Line::new("node", &["node_modules/typescript/bin/tsc", "--noEmit"]).run(&home)?;
    let build = Line::new("node", &["node_modules/vite/bin/vite.js", "build", "--logLevel", "warn"]);
    build.with("MNEMAL_UI_OUT", &text(&output)).run(&home)?;
    compare(&output, &root.join(BUILT))?;
    println!("the committed build of the UI is that of its source");
    let browser = std::env::var_os(BROWSER).map(|named| named.to_string_lossy().into_owned());
    let browser = browser.unwrap_or_else(|| "chromium".to_owned());
    if Line::new(&browser, &["--version"]).read(root).is_err() {
        println!("{browser} is not installed: the UI was NOT driven in a browser");
        return Ok(());
    }
    let program = match std::env::var_os("MNEMAL") {
        Some(given) => PathBuf::from(given),
        None => program(root)?,
    };
    let drive = unlimited(Line::new("node", &["tests/run.mjs"])).with(BROWSER, &browser).arg(text(&program));
    drive.args(arguments.iter().filter(|argument| *argument != "--").cloned()).run(&home)
}

/// Measures the pages of the program that `MNEMAL` names, which should be built for release, over long logs.
fn measure(root: &Path, asked: &str, sizes: &[String]) -> Result<()> {
    let given = std::env::var_os("MNEMAL")
        .with_context(|| format!("{asked} needs a program that is built for release: MNEMAL names it"))?;
    let home = prepare(root)?;
    let program = std::path::absolute(given)?;
    unlimited(Line::new("node", &["tests/measure.mjs"]))
        .arg(text(&program))
        .args(sizes.iter().cloned())
        .run(&home)
}

/// Copies the source below the target folder and installs its packages there; returns the copy.
fn prepare(root: &Path) -> Result<PathBuf> {
    let clients = target(root)?.join("clients");
    let home = clients.join("web").join(SOURCE);
    let source = root.join(SOURCE);
    installed(&source.join("package.json"), &home, &[])?;
    for folder in ["src", "src/views", "public", "tests"] {
        copy_folder(&source.join(folder), &home.join(folder))?;
    }
    for file in ["index.html", "tsconfig.json", "vite.config.js"] {
        std::fs::copy(source.join(file), home.join(file))?;
    }
    copy_folder(&root.join(TYPES), &clients.join("web").join(TYPES))?;
    Ok(home)
}

/// Fails when two folders do not have the same files.
fn compare(built: &Path, committed: &Path) -> Result<()> {
    let (new, old) = (names(built)?, names(committed)?);
    if new != old {
        bail!("the UI is built to {new:?}, and {BUILT} has {old:?}: {REBUILD}");
    }
    for name in new {
        let read = |folder: &Path| {
            std::fs::read(folder.join(&name))
                .with_context(|| format!("cannot read {name} of {}", folder.display()))
        };
        if read(built)? != read(committed)? {
            bail!("{BUILT}/{name} is not built from the source of the UI: {REBUILD}");
        }
    }
    Ok(())
}

/// What to do about an old build.
const REBUILD: &str = "run `npm install && npm run build` in `ui`";

fn names(folder: &Path) -> Result<Vec<String>> {
    let files = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names = files
        .map(|file| Ok(file?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<String>>>()?;
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_build_than_the_committed_one_is_refused() {
        let home = std::env::temp_dir().join(format!("mnemal-xtask-ui-{}", std::process::id()));
        let (built, committed) = (home.join("built"), home.join("committed"));
        for folder in [&built, &committed] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("app.js"), "1").unwrap();
        }
        compare(&built, &committed).unwrap();
        std::fs::write(committed.join("app.js"), "2").unwrap();
        assert!(compare(&built, &committed).unwrap_err().to_string().contains("app.js"));
        std::fs::write(built.join("new.js"), "").unwrap();
        assert!(compare(&built, &committed).unwrap_err().to_string().contains("new.js"));
        std::fs::remove_dir_all(&home).unwrap();
    }
}
