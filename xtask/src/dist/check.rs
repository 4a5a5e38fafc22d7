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

/// The beginning of the native module's path in the wheel.
const ENGINE: &str = "mnemal/_engine.";
/// The beginning and the end of the name of the wheel for each platform.
const WHEEL: [&str; 2] = ["mnemal-", ".whl"];
/// The trial of the engine in Python.
const EMBEDDED: &str = "integrations/python/tests/installed.py";

type Check = fn(&Trial<'_>, &Home) -> Result<()>;

/// Each package with its check; the reader is installed beside the program.
const CHECKS: [(&str, Check); 8] = [
    ("wheel", of_wheel),
    ("reader", of_reader),
    ("npm", of_npm),
    ("deb", of_deb),
    ("archive", of_archive),
    ("mcpb", of_bundle),
    ("image", of_image),
    ("sums", of_sums),
];

/// The packages that are tried out.
#[derive(Debug)]
pub(super) struct Trial<'t> {
    /// What the packages of this platform are made of.
    pub(super) parts: &'t Parts,
    /// The folder of the packages.
    pub(super) out: &'t Path,
    /// Whether a wheel without the engine fails.
    pub(super) needs_engine: bool,
}

impl Trial<'_> {
    /// Installs the packages that are tried out, and runs what they install.
    pub(super) fn run(&self, scratch: &Path, tries: impl Fn(&str) -> bool) -> Result<()> {
        for (name, check) in CHECKS.into_iter().filter(|(name, _)| tries(name)) {
            let home = Home::new(&scratch.join(name))?;
            check(self, &home).with_context(|| format!("the package {name} does not work"))?;
        }
        Ok(())
    }
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

/// An environment of Python with a package that was installed by pip.
struct Installed<'h> {
    home: &'h Home,
    python: PathBuf,
}

impl<'h> Installed<'h> {
    /// Creates the environment; `None` if Python is missing, which fails where `CI` is set.
    fn new(trial: &Trial<'_>, home: &'h Home) -> Result<Option<Self>> {
        let wheel = trial.out.join(wheel::name(trial.parts));
        let Some(wheel) = installable(trial.parts, &wheel, "python3")? else { return Ok(None) };
        let surrounding = home.folder.join("venv");
        Line::new("python3", &["-m", "venv"]).arg(surrounding.display().to_string()).run(&home.folder)?;
        let installed = Self { home, python: surrounding.join("bin/python") };
        installed.add(&wheel)?;
        Ok(Some(installed))
    }

    fn add(&self, wheel: &str) -> Result<()> {
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel];
        self.home.run(&self.python, &install).map(drop)
    }

    fn program(&self) -> PathBuf {
        self.python.with_file_name("mnemal")
    }
}

fn of_wheel(trial: &Trial<'_>, home: &Home) -> Result<()> {
    let wheels = wheels(trial.out)?;
    let without = wheels.iter().find(|(_, bytes)| !has_engine(bytes).unwrap_or_default());
    if let Some((name, _)) = without.filter(|_| trial.needs_engine) {
        bail!("{name} has no module mnemal._engine");
    }
    let Some(installed) = Installed::new(trial, home)? else { return Ok(()) };
    home.try_out(trial.parts, &installed.program(), &[])?;
    home.run(&installed.python, &["-c", "from mnemal import Mnemal, AsyncMnemal"])?;
    println!("wheel: installed by pip, the program runs and the client is there");
    if without.is_some_and(|(name, _)| *name == wheel::name(trial.parts)) {
        println!("engine: NOT checked, the wheel was made without it");
        return Ok(());
    }
    let script = trial.parts.root.join(EMBEDDED).display().to_string();
    print!("engine: {}", home.run(&installed.python, &["-B", &script])?);
    Ok(())
}

/// Returns the wheels of all platforms in a folder.
fn wheels(out: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let [begin, end] = WHEEL;
    let is_wheel = |name: &str| name.starts_with(begin) && name.ends_with(end);
    Ok(files(out)?.into_iter().filter(|(name, _)| is_wheel(name)).collect())
}

/// Whether a wheel has the native module.
fn has_engine(wheel: &[u8]) -> Result<bool> {
    let wheel = zip::ZipArchive::new(std::io::Cursor::new(wheel))?;
    // A stub for type checkers lies beside it.
    let is_module = |name: &str| name.strip_prefix(ENGINE).is_some_and(|rest| rest != "pyi");
    Ok(wheel.file_names().any(|name| name.is_ok_and(|name| is_module(&name))))
}

fn of_reader(trial: &Trial<'_>, home: &Home) -> Result<()> {
    let reader = present(&trial.out.join(reader::name(trial.parts)))?;
    if !trial.out.join(wheel::name(trial.parts)).exists() {
        println!("reader: NOT checked, there is no wheel of the program beside it");
        return Ok(());
    }
    let Some(installed) = Installed::new(trial, home)? else { return Ok(()) };
    installed.add(&reader)?;
    with_reader(home, &installed.program())
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

fn of_npm(&Trial { parts, out, .. }: &Trial<'_>, home: &Home) -> Result<()> {
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

fn of_deb(&Trial { parts, out, .. }: &Trial<'_>, home: &Home) -> Result<()> {
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

fn of_archive(&Trial { parts, out, .. }: &Trial<'_>, home: &Home) -> Result<()> {
    let file = out.join(format!("{}.tar.gz", parts.archive()));
    let Some(file) = installable(parts, &file, "tar")? else { return Ok(()) };
    home.run(Path::new("tar"), &["-xzf", &file])?;
    home.try_out(parts, &home.folder.join(parts.archive()).join("mnemal"), &[])?;
    println!("archive: unpacked by tar, the program in it runs");
    Ok(())
}

/// Unpacks the bundle and starts its server as its manifest says.
fn of_bundle(&Trial { parts, out, .. }: &Trial<'_>, home: &Home) -> Result<()> {
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
fn of_image(&Trial { parts, out, .. }: &Trial<'_>, _home: &Home) -> Result<()> {
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

fn of_sums(&Trial { out, .. }: &Trial<'_>, _home: &Home) -> Result<()> {
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
    fn a_wheel_without_the_engine_is_refused_where_one_is_to_be_published() {
        let home = std::env::temp_dir().join(format!("mnemal-xtask-check-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        let whole = sample::parts();
        let made = wheel::make(&whole).unwrap().remove(0);
        assert!(has_engine(&made.bytes).unwrap());
        fs::write(home.join(&made.path), &made.bytes).unwrap();
        let bare = wheel::make(&Parts { module: None, ..sample::parts() }).unwrap().remove(0);
        assert!(!has_engine(&bare.bytes).unwrap(), "its stub is no module");
        fs::write(home.join("mnemal-1.0.0-py3-none-other.whl"), &bare.bytes).unwrap();
        fs::write(home.join("mnemal_reader-1.0.0-py3-none-any.whl"), "").unwrap();
        assert_eq!(wheels(&home).unwrap().len(), 2);
        let trial = Trial { parts: &whole, out: &home, needs_engine: true };
        let empty = Home { folder: home.join("home"), path: OsString::new() };
        let error = of_wheel(&trial, &empty).unwrap_err().to_string();
        assert_eq!(error, "mnemal-1.0.0-py3-none-other.whl has no module mnemal._engine");
        fs::remove_dir_all(&home).unwrap();
    }

    #[test]
    fn a_missing_package_fails_whether_or_not_its_installer_is_there() {
        let error = installable(&sample::parts(), Path::new("none.whl"), "no-installer").unwrap_err();
        assert_eq!(error.to_string(), "there is no none.whl");
        assert!(present(Path::new("none.mcpb")).is_err());
    }
}
