//! The official clients of the Model Context Protocol drive the program end to end, its conformance suite runs, a client of
//! the official memory server sees the same of the profile `classic`, and our own clients are checked with the frameworks
//! that they serve. The clients of mem0, and clients that public generators make of the server's `OpenAPI` document, drive the
//! server.
//!
//! Where Python or Node is missing, its client is skipped with a message; where `CI` is set that is a failure, so that
//! continuous integration never passes by skipping it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::ci::EXTRA;
use crate::command::Line;

/// The clients, with the versions of their packages.
const SCRIPTS: &str = "crates/mnemal-cli/tests/clients";
/// The first five minutes, a script for each sort of user.
const PERSONAS: &str = "crates/mnemal-cli/tests/personas";
/// Our own clients.
const INTEGRATIONS: &str = "integrations";
/// Built as the tests build it, which have dependencies of their own, so that nothing is compiled twice.
const BUILD: &[&str] = &[
    "test",
    "--quiet",
    "--workspace",
    "--features",
    EXTRA,
    "--no-run",
    "--test",
    "mcp",
    "--example",
    FIXTURES,
];
/// The fixture server that the conformance suite requires.
const FIXTURES: &str = "conformance";

/// Builds the program, installs the clients below the target folder unless they are there, and runs them.
pub(crate) fn run(root: &Path) -> Result<()> {
    let (program, clients) = built(root)?;
    let scripts = root.join(SCRIPTS);
    if is_there(root, "python3")? {
        let interpreter = python(root, &scripts.join("requirements.txt"), &clients.join("python"))?;
        for script in [scripts.join("client.py"), root.join(INTEGRATIONS).join("python/tests/check.py")] {
            unlimited(Line::new(&interpreter, &["-B"])).arg(text(&script)).arg(text(&program)).run(root)?;
        }
    }
    if is_there(root, "node")? && is_there(root, "npm")? {
        node(root, &scripts, &clients, &program)?;
        typescript(&root.join(INTEGRATIONS).join("typescript"), &clients, &program)?;
    }
    Ok(())
}

/// Builds the native module for Python, and runs the checks of the client over it and over a server.
pub(crate) fn module(root: &Path) -> Result<()> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    if !is_there(root, "python3")? {
        return Ok(());
    }
    let (program, _) = built(root)?;
    Line::new("cargo", &["build", "--quiet", "--package", "mnemal-python", "--lib"]).run(root)?;
    let module = target(root)?.join("debug").join(format!("{DLL_PREFIX}mnemal_python{DLL_SUFFIX}"));
    let script = root.join(INTEGRATIONS).join("python/tests/embedded.py");
    let line = unlimited(Line::new("python3", &["-B"])).arg(text(&script));
    line.arg(text(&program)).arg(text(&module)).run(root)
}

/// Runs the mem0 clients against the server, and clients generated from its document, which a validator checks.
pub(crate) fn foreign(root: &Path) -> Result<()> {
    let (program, clients) = built(root)?;
    let scripts = root.join(SCRIPTS);
    let names = [("mem0", "client_mem0"), ("document", "document")];
    for (packages, script) in names {
        if is_there(root, "python3")? {
            let packages = scripts.join(format!("{packages}.txt"));
            let interpreter = python(root, &packages, &clients.join(format!("{script}-python")))?;
            let script = text(&scripts.join(format!("{script}.py")));
            unlimited(Line::new(&interpreter, &["-B"])).arg(script).arg(text(&program)).run(root)?;
        }
        if is_there(root, "node")? && is_there(root, "npm")? {
            let home = clients.join(format!("{script}-node"));
            // Of mem0 the client alone is needed, without the stores and models that its own server speaks to.
            let alone = ["--legacy-peer-deps", "--ignore-scripts"];
            installed(&scripts.join(format!("{packages}.json")), &home, &alone)?;
            let script = text(&scripts.join(format!("{script}.mjs")));
            unlimited(Line::new("node", &[])).arg(script).arg(text(&program)).run(&home)?;
        }
    }
    Ok(())
}

/// Sets up real agents with the program, and lets them speak to a scripted model; it fetches some 300 MB.
pub(crate) fn hosts(root: &Path) -> Result<()> {
    if !(is_there(root, "node")? && is_there(root, "npm")?) {
        return Ok(());
    }
    let (program, clients) = built(root)?;
    let (scripts, home) = (root.join(SCRIPTS), clients.join("hosts"));
    installed(&scripts.join("hosts.json"), &home, &[])?;
    Line::new("node", &[]).arg(text(&scripts.join("hosts.mjs"))).arg(text(&program)).run(&home)
}

/// Runs the first five minutes of each sort of user as scripts, each from an empty home.
pub(crate) fn personas(root: &Path) -> Result<()> {
    for program in ["bash", "curl", "git", "jq"] {
        if !is_there(root, program)? {
            return Ok(());
        }
    }
    let (program, _) = built(root)?;
    let folder = program.parent().context("the program lies in no folder")?.to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&path)))?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    for name in ["coding-agent", "http", "rust"] {
        let script = root.join(PERSONAS).join(format!("{name}.sh"));
        let line = Line::new("bash", &[]).arg(text(&script)).with("MNEMAL_SRC", &text(root));
        let line = line.with("PATH", &path.to_string_lossy()).with("MNEMAL_PORT", &port.to_string());
        // What the examples have built needs not be built again.
        line.with("CARGO_TARGET_DIR", &text(&root.join("target/examples"))).run(root)?;
        println!("{name}: the first five minutes");
    }
    Ok(())
}

/// Tests the server against its `OpenAPI` document with schemathesis; arguments are passed to the script.
pub(crate) fn fuzz(root: &Path, arguments: &[String]) -> Result<()> {
    let (program, clients) = built(root)?;
    let scripts = root.join(SCRIPTS);
    let interpreter = python(root, &scripts.join("fuzz.txt"), &clients.join("fuzz"))?;
    let line =
        unlimited(Line::new(&interpreter, &["-B"])).arg(text(&scripts.join("fuzz.py"))).arg(text(&program));
    line.args(arguments.iter().filter(|argument| *argument != "--").cloned()).run(root)
}

/// Lets two users of one space try every route to the other's data; arguments are passed to the script. The program is `MNEMAL`
/// of the environment, else it is built.
pub(crate) fn doors(root: &Path, arguments: &[String]) -> Result<()> {
    let program = match std::env::var_os("MNEMAL") {
        Some(given) => PathBuf::from(given),
        None => built(root)?.0,
    };
    let script = root.join(SCRIPTS).join("doors.py");
    let line = unlimited(Line::new("python3", &["-B"])).arg(text(&script)).arg(text(&program));
    line.args(arguments.iter().filter(|argument| *argument != "--").cloned()).run(root)
}

/// Builds the program and returns it.
pub(crate) fn program(root: &Path) -> Result<PathBuf> {
    Ok(built(root)?.0)
}

/// Builds the program; returns it, and the folder in which clients are installed.
fn built(root: &Path) -> Result<(PathBuf, PathBuf)> {
    Line::new("cargo", BUILD).run(root)?;
    let target = target(root)?;
    let clients = target.join("clients");
    std::fs::create_dir_all(&clients)?;
    Ok((target.join("debug").join(format!("mnemal{}", std::env::consts::EXE_SUFFIX)), clients))
}

/// Installs packages into a surrounding of their own, unless they are there; returns its interpreter.
pub(crate) fn python(root: &Path, packages: &Path, home: &Path) -> Result<String> {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let interpreter = text(&home.join(folder).join("python"));
    if !is_installed(home, packages)? {
        Line::new("python3", &["-m", "venv", "--clear"]).arg(text(home)).run(root)?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        Line::new(&interpreter, &install).arg(text(packages)).run(root)?;
        mark_installed(home, packages)?;
    }
    Ok(interpreter)
}

fn node(root: &Path, scripts: &Path, clients: &Path, program: &Path) -> Result<()> {
    let home = clients.join("node");
    installed(&scripts.join("package.json"), &home, &[])?;
    // The scripts find their packages in the folder in which they run.
    for script in ["client.mjs", "classic.mjs"] {
        unlimited(Line::new("node", &[])).arg(text(&scripts.join(script))).arg(text(program)).run(&home)?;
    }
    let suite =
        unlimited(Line::new("node", &[])).arg(text(&scripts.join("conformance.mjs"))).arg(text(program));
    let suite = suite.arg(text(&scripts.join("conformance.yml"))).arg(fixtures(root)?);
    suite.arg(text(&scripts.join("fixtures.yml"))).run(&home)
}

/// Returns the server of fixtures that was built with the program; its file has a name of its own for each build.
fn fixtures(root: &Path) -> Result<String> {
    let told = Line::new("cargo", BUILD).arg("--message-format").arg("json").read(root)?;
    let built = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut files = built.filter(|said| said.pointer("/target/name").is_some_and(|name| name == FIXTURES));
    let file = files.find_map(|said| Some(said.get("executable")?.as_str()?.to_owned()));
    file.with_context(|| format!("cargo built no {FIXTURES}"))
}

/// Builds our own client where its packages are installed, away from its source, and checks it.
fn typescript(source: &Path, clients: &Path, program: &Path) -> Result<()> {
    let home = clients.join("typescript");
    installed(&source.join("package.json"), &home, &[])?;
    std::fs::copy(source.join("tsconfig.json"), home.join("tsconfig.json"))?;
    copy_folder(&source.join("src"), &home.join("src"))?;
    Line::new("node", &["node_modules/typescript/bin/tsc"]).run(&home)?;
    unlimited(Line::new("node", &[])).arg(text(&source.join("tests/check.mjs"))).arg(text(program)).run(&home)
}

/// A script asks faster than the rate of a key allows, on a machine that has nothing else to do.
pub(crate) fn unlimited(line: Line) -> Line {
    const RATE: &str = "100000";
    line.with("MNEMAL_SERVER__RATE_LIMIT_RPS", RATE).with("MNEMAL_SERVER__RATE_LIMIT_BURST", RATE)
}

/// Installs what a `package.json` names into a folder, unless it is there; `options` are those of the installation.
pub(crate) fn installed(packages: &Path, home: &Path, options: &[&str]) -> Result<()> {
    if is_installed(home, packages)? {
        return Ok(());
    }
    std::fs::create_dir_all(home)?;
    std::fs::copy(packages, home.join("package.json"))?;
    // A lock file would name the host that served each package.
    let install = ["install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"];
    Line::new("npm", &install).args(options.iter().map(|option| (*option).to_owned())).run(home)?;
    mark_installed(home, packages)
}

/// Copies the files of a folder, without what is below it; files that the source does not have are removed.
pub(crate) fn copy_folder(source: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for file in std::fs::read_dir(to)?.collect::<Result<Vec<_>, _>>()? {
        if file.file_type()?.is_file() {
            std::fs::remove_file(file.path())?;
        }
    }
    for file in std::fs::read_dir(source).with_context(|| format!("cannot read {}", source.display()))? {
        let file = file?;
        if file.file_type()?.is_file() {
            std::fs::copy(file.path(), to.join(file.file_name()))?;
        }
    }
    Ok(())
}

/// Whether these very packages were installed before.
fn is_installed(home: &Path, packages: &Path) -> Result<bool> {
    let wanted = std::fs::read(packages).with_context(|| format!("cannot read {}", packages.display()))?;
    Ok(std::fs::read(home.join("installed")).is_ok_and(|installed| installed == wanted))
}

fn mark_installed(home: &Path, packages: &Path) -> Result<()> {
    std::fs::copy(packages, home.join("installed"))?;
    Ok(())
}

/// Whether a program can be started; says so when not, and fails where `CI` is set.
pub(crate) fn is_there(root: &Path, program: &str) -> Result<bool> {
    if Line::new(program, &["--version"]).read(root).is_ok() {
        return Ok(true);
    }
    if std::env::var_os("CI").is_some() {
        bail!("{program} is not installed, and continuous integration needs it");
    }
    println!("{program} is not installed: what needs it was NOT run");
    Ok(false)
}

/// Returns the target folder.
pub(crate) fn target(root: &Path) -> Result<PathBuf> {
    let metadata = Line::new("cargo", &["metadata", "--no-deps", "--format-version", "1"]).read(root)?;
    let metadata: serde_json::Value =
        serde_json::from_str(&metadata).context("cannot read cargo metadata")?;
    let folder = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    Ok(PathBuf::from(folder.context("metadata without a target folder")?))
}

/// Returns a path as an argument.
pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn every_package_has_one_exact_version_and_no_host() {
        let packages = ["requirements.txt", "fuzz.txt", "package.json", "mem0.txt", "mem0.json"];
        for name in packages.into_iter().chain(["document.txt", "document.json", "hosts.json"]) {
            let text = std::fs::read_to_string(root().join(SCRIPTS).join(name)).unwrap();
            assert!(!text.contains("://"), "{name}");
            assert!(!text.contains(['^', '~', '>', '*']), "{name}");
        }
    }

    #[test]
    fn a_changed_version_is_installed_again() {
        let home = std::env::temp_dir().join(format!("mnemal-xtask-clients-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let packages = home.join("packages");
        std::fs::write(&packages, "mcp==1").unwrap();
        assert!(!is_installed(&home, &packages).unwrap());
        mark_installed(&home, &packages).unwrap();
        assert!(is_installed(&home, &packages).unwrap());
        std::fs::write(&packages, "mcp==2").unwrap();
        assert!(!is_installed(&home, &packages).unwrap());
        std::fs::remove_dir_all(&home).unwrap();
    }
}
