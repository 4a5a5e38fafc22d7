//! Installations of the packages as people make them: from an empty home, and without a compiler in reach.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::parts::{Parts, files};
use super::release::SUMS;
use super::{bundle, deb, image, npm, pack, reader, wheel};
use crate::clients::is_there;
use crate::command::Line;

/// What the demo says, whatever it finds.
const DEMO: &str = "mnemal remembers 239 turns";
/// What a program says of a trained reader, if it was built without the feature.
const READERLESS: &str = "this build has no trained reader";
/// The first words of a client of the Model Context Protocol.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}"#;

/// Tells whether the package that is installed has the native module.
const HAS_ENGINE: &str =
    "import importlib.util; print(importlib.util.find_spec('mnemal._engine') is not None)";
/// The trial of the engine in Python.
const EMBEDDED: &str = "integrations/python/tests/installed.py";

type Check = fn(&Parts, &Path, &Home) -> Result<()>;

/// Each package with its check.
const CHECKS: [(&str, Check); 7] = [
    ("wheel", of_wheel),
    ("npm", of_npm),
    ("deb", of_deb),
    ("archive", of_archive),
    ("mcpb", of_bundle),
    ("image", of_image),
    ("sums", of_sums),
];

/// Installs every package of a folder, and runs what it installs.
pub(super) fn run(parts: &Parts, out: &Path, scratch: &Path) -> Result<()> {
    for (name, check) in CHECKS {
        let home = Home::new(&scratch.join(name))?;
        check(parts, out, &home).with_context(|| format!("the package {name} does not work"))?;
    }
    Ok(())
}

/// A home that was empty, without what the person who builds has.
#[derive(Debug)]
struct Home {
    folder: PathBuf,
    path: OsString,
}

impl Home {
    fn new(folder: &Path) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).filter(|folder| !folder.join("cargo").is_file());
        Ok(Self { folder: folder.to_path_buf(), path: std::env::join_paths(folders)? })
    }

    /// Runs a program with this input, and returns what it prints.
    fn ask(&self, program: &Path, arguments: &[&str], input: &str) -> Result<String> {
        let shown = format!("{} {}", program.display(), arguments.join(" "));
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).env_clear();
        command.env("HOME", &self.folder).env("PATH", &self.path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start `{shown}`"))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("`{shown}` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Result<String> {
        self.ask(program, arguments, "")
    }

    /// Checks that the program is of this version, and that it shows what it does.
    fn try_out(&self, parts: &Parts, program: &Path, before: &[&str]) -> Result<()> {
        let version = self.run(program, &[before, &["--version"]].concat())?;
        if version.trim() != format!("mnemal {}", parts.version) {
            bail!("{} is of version {version:?}", program.display());
        }
        if !self.run(program, &[before, &["demo"]].concat())?.contains(DEMO) {
            bail!("the demo of {} does not say {DEMO:?}", program.display());
        }
        Ok(())
    }
}

/// Returns the path of a package; fails if there is none.
fn present(file: &Path) -> Result<String> {
    if !file.exists() {
        bail!("there is no {}", file.display());
    }
    Ok(file.display().to_string())
}

/// Returns the path of a package; `None` if what installs it is missing, which fails where `CI` is set.
fn installable(parts: &Parts, file: &Path, installer: &str) -> Result<Option<String>> {
    let file = present(file)?;
    Ok(is_there(&parts.root, installer)?.then_some(file))
}

/// Whether a package for Linux alone is made of the program; says so when not.
fn is_made(parts: &Parts, name: &str) -> bool {
    if !parts.is_for_linux() {
        println!("{name}: there is none for this system");
    }
    parts.is_for_linux()
}

fn of_wheel(parts: &Parts, out: &Path, home: &Home) -> Result<()> {
    let Some(file) = installable(parts, &out.join(wheel::name(parts)), "python3")? else { return Ok(()) };
    let reader = present(&out.join(reader::name(parts)))?;
    let surrounding = home.folder.join("venv");
    Line::new("python3", &["-m", "venv"]).arg(surrounding.display().to_string()).run(&home.folder)?;
    let programs = surrounding.join("bin");
    let (python, program) = (programs.join("python"), programs.join("mnemal"));
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
    home.run(&python, &[install.as_slice(), &[file.as_str()]].concat())?;
    home.try_out(parts, &program, &[])?;
    home.run(&python, &["-c", "from mnemal import Mnemal, AsyncMnemal"])?;
    println!("wheel: installed by pip, the program runs and the client is there");
    with_engine(parts, home, &python)?;
    home.run(&python, &[install.as_slice(), &[reader.as_str()]].concat())?;
    with_reader(home, &program)
}

/// Tries the engine out that was installed with the package.
fn with_engine(parts: &Parts, home: &Home, python: &Path) -> Result<()> {
    if home.run(python, &["-c", HAS_ENGINE])?.trim() != "True" {
        if parts.module.is_some() {
            bail!("the wheel has no module mnemal._engine");
        }
        println!("engine: NOT checked, the wheel was made without it");
        return Ok(());
    }
    let script = parts.root.join(EMBEDDED).display().to_string();
    let told = home.run(python, &["-B", &script])?;
    print!("engine: {told}");
    Ok(())
}

/// Looks whether the program lists the trained reader that was installed beside it.
fn with_reader(home: &Home, program: &Path) -> Result<()> {
    let told = home.run(program, &["models", "list"])?;
    if told.contains(READERLESS) {
        println!("reader: NOT checked, the program was built without it");
        return Ok(());
    }
    if !told.starts_with("reader ") || told.contains("cannot be read") {
        bail!("the program does not list the reader beside it: {told:?}");
    }
    println!("reader: installed by pip, the program lists it");
    Ok(())
}

fn of_npm(parts: &Parts, out: &Path, home: &Home) -> Result<()> {
    let [launcher, platform] = npm::names(parts);
    let Some(launcher) = installable(parts, &out.join(launcher), "npm")? else { return Ok(()) };
    let platform = present(&out.join(platform))?;
    let install = ["install", "--offline", "--no-audit", "--no-fund", "--prefix", ".", &launcher, &platform];
    home.run(Path::new("npm"), &install)?;
    home.try_out(parts, &home.folder.join("node_modules/.bin/mnemal"), &[])?;
    home.try_out(parts, Path::new("npx"), &["--offline", "mnemal"])?;
    println!("npm: installed without a registry, npx runs the program");
    Ok(())
}

fn of_deb(parts: &Parts, out: &Path, home: &Home) -> Result<()> {
    if !is_made(parts, "deb") {
        return Ok(());
    }
    let Some(file) = installable(parts, &out.join(deb::name(parts)), "dpkg-deb")? else { return Ok(()) };
    let told = home.run(Path::new("dpkg-deb"), &["--info", &file])?;
    if !told.contains(&format!("Version: {}", parts.version)) {
        bail!("dpkg-deb says of it: {told}");
    }
    home.run(Path::new("dpkg-deb"), &["--extract", &file, "."])?;
    home.try_out(parts, &home.folder.join("usr/bin/mnemal"), &[])?;
    println!("deb: read by dpkg-deb, the program in it runs");
    Ok(())
}

fn of_archive(parts: &Parts, out: &Path, home: &Home) -> Result<()> {
    let file = out.join(format!("{}.tar.gz", parts.archive()));
    let Some(file) = installable(parts, &file, "tar")? else { return Ok(()) };
    home.run(Path::new("tar"), &["-xzf", &file])?;
    home.try_out(parts, &home.folder.join(parts.archive()).join("mnemal"), &[])?;
    println!("archive: unpacked by tar, the program in it runs");
    Ok(())
}

/// Unpacks the bundle and starts its server as its manifest says.
fn of_bundle(parts: &Parts, out: &Path, home: &Home) -> Result<()> {
    let file = present(&out.join(bundle::name(parts)))?;
    zip::ZipArchive::new(fs::File::open(file)?)?.extract(&home.folder)?;
    let manifest: Value = serde_json::from_slice(&fs::read(home.folder.join("manifest.json"))?)?;
    let started = manifest.pointer("/server/mcp_config").context("no configuration in the manifest")?;
    let command = started.get("command").and_then(Value::as_str).context("no command in the manifest")?;
    let command = command.replace("${__dirname}", &home.folder.display().to_string());
    let arguments =
        started.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let arguments: Vec<String> =
        arguments.map(|one| one.replace("${user_config.space}", "default")).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = home.ask(Path::new(&command), &arguments, &format!("{HELLO}\n"))?;
    if !answer.contains("\"serverInfo\"") {
        bail!("the server answers {answer:?}");
    }
    println!("mcpb: unpacked, its server answers a client");
    Ok(())
}

/// Looks for everything that the image copies, and checks its programs for this platform.
fn of_image(parts: &Parts, out: &Path, _home: &Home) -> Result<()> {
    if !is_made(parts, "image") {
        return Ok(());
    }
    let folder = out.join("image");
    let dockerfile = present(&folder.join("Dockerfile"))?;
    let platform = format!("linux/{}", parts.target.debian());
    for source in image::copied(&fs::read_to_string(dockerfile)?, &platform) {
        if !folder.join(&source).exists() {
            bail!("the image copies {source}, which is not there");
        }
    }
    println!("image: everything that it copies is there; it was not built");
    Ok(())
}

fn of_sums(_parts: &Parts, out: &Path, _home: &Home) -> Result<()> {
    let sums = present(&out.join(SUMS))?;
    let sums = fs::read_to_string(sums)?;
    for (name, bytes) in files(out)?.into_iter().filter(|(name, _)| name != SUMS) {
        let line = format!("{}  {name}", pack::sha256(&bytes));
        if !sums.lines().any(|found| found == line) {
            bail!("{SUMS} does not have {name} as it is");
        }
    }
    println!("sums: those of all files");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::sample;

    #[test]
    fn a_missing_package_fails_whether_or_not_its_installer_is_there() {
        let error = installable(&sample::parts(), Path::new("none.whl"), "no-installer").unwrap_err();
        assert_eq!(error.to_string(), "there is no none.whl");
        assert!(present(Path::new("none.mcpb")).is_err());
    }
}
