//! Packages of the program, so that nobody needs a compiler: `cargo xtask dist`.
//!
//! The packages of one platform are made from the program that was built on it; files about a release, from the packages of all
//! platforms in one folder. The same program gives the same packages, byte by byte.

mod archive;
mod bundle;
mod bytes;
mod check;
mod deb;
mod dependencies;
mod elf;
mod image;
mod notices;
mod npm;
mod pack;
mod parts;
mod reader;
mod release;
#[cfg(test)]
mod sample;
mod sbom;
mod target;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, Result, bail};

use self::pack::Entry;
use self::parts::{Built, Parts};
use self::release::Release;
use crate::clients;
use crate::command::Line;

/// Where packages are put, below the target folder.
const OUT: &str = "packages";
/// Where packages are tried out, below the target folder.
const SCRATCH: &str = "packages-scratch";
/// Features of the build that is shipped, beside the default ones.
pub(super) const FEATURES: &str = "hnsw,reader";
/// The build that is shipped.
const BUILD: &[&str] = &[
    "build",
    "--locked",
    "--profile",
    "dist",
    "--package",
    "mnemal-cli",
    "--bin",
    "mnemal",
    "--features",
    FEATURES,
];

/// The module for Python that is shipped.
const BUILD_MODULE: &[&str] = &[
    "build",
    "--locked",
    "--profile",
    "dist",
    "--package",
    dependencies::MODULE,
    "--lib",
    "--features",
    "hnsw",
];

type OfProgram = fn(&Parts) -> Result<Vec<Entry>>;
type OfRelease = fn(&Release) -> Result<Vec<Entry>>;

/// Packages of one platform, each with one line of help.
const OF_PROGRAM: &[(&str, &str, OfProgram)] = &[
    ("wheel", "for pip: the program, and the package for Python with the engine and the client", wheel::make),
    ("reader", "the trained reader, which votes with the rules: for pip, and as a file to add", reader::make),
    ("npm", "for npm: the program, and the launcher that finds it", npm::make),
    ("client", "for npm: the client for TypeScript, if it is compiled", npm::client),
    ("deb", "for Debian: the program, its service, manual and completions", deb::make),
    ("archive", "to unpack anywhere", archive::make),
    ("mcpb", "a bundle for clients of the Model Context Protocol", bundle::make),
    ("image", "the folder of the container image, with files for compose", image::make),
    ("sbom", "the crates in the program, with their licenses", sbom::make),
];

/// Files about all packages of a folder.
const OF_RELEASE: &[(&str, &str, OfRelease)] = &[
    ("formula", "for Homebrew", release::formula),
    ("server", "for the registry of the Model Context Protocol", release::server),
    ("sums", "the SHA-256 of every file", release::sums),
];

/// Words for all packages of a platform, and for all files about a release.
const GROUPS: [&str; 2] = ["packages", "index"];

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    out: PathBuf,
    program: Option<PathBuf>,
    module: Option<PathBuf>,
    is_checked: bool,
    chosen: Vec<String>,
}

impl Call {
    fn read(arguments: &[String], out: PathBuf) -> Result<Self> {
        let mut call = Self { out, program: None, module: None, is_checked: false, chosen: Vec::new() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut path = || -> Result<PathBuf> {
                Ok(absolute(words.next().with_context(|| format!("{word} needs a path"))?)?)
            };
            match word.as_str() {
                "--out" => call.out = path()?,
                "--program" => call.program = Some(path()?),
                "--module" => call.module = Some(path()?),
                "--check" => call.is_checked = true,
                name if names().any(|known| known == name) => call.chosen.push(name.to_owned()),
                other => bail!("dist does not know {other}\n{}", help()),
            }
        }
        Ok(call)
    }

    /// Whether a package is asked for: by its name, by its group, or because nothing is named.
    fn wants(&self, name: &str, group: &str) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|chosen| chosen == name || chosen == group)
    }

    /// Whether a package is tried out: one that is asked for, and with the files about a release every one.
    fn tries(&self, name: &str) -> bool {
        let [packages, index] = GROUPS;
        let is_of_release = OF_RELEASE.iter().any(|(known, ..)| *known == name);
        self.chosen.iter().any(|chosen| chosen == index)
            || self.wants(name, if is_of_release { index } else { packages })
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    let of_program = OF_PROGRAM.iter().map(|(name, ..)| *name);
    of_program.chain(OF_RELEASE.iter().map(|(name, ..)| *name)).chain(GROUPS)
}

/// Returns the help of the command.
pub(crate) fn help() -> String {
    let of_program = OF_PROGRAM.iter().map(|(name, help, _)| (name, help));
    let rows = of_program.chain(OF_RELEASE.iter().map(|(name, help, _)| (name, help)));
    rows.map(|(name, help)| format!("    {name:<10} {help}")).collect::<Vec<_>>().join("\n")
}

/// Makes packages; builds the program before, unless one is given.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let target = clients::target(root)?;
    let call = Call::read(arguments, target.join(OUT))?;
    let scratch = target.join(SCRATCH);
    fs::create_dir_all(&scratch)?;
    fs::create_dir_all(&call.out)?;
    let [packages, index] = GROUPS;
    let makers: Vec<_> = OF_PROGRAM.iter().filter(|(name, ..)| call.wants(name, packages)).collect();
    let mut parts = None;
    if !makers.is_empty() || call.is_checked {
        let is_wheel = makers.iter().any(|(name, ..)| *name == "wheel");
        let folders = (target.as_path(), scratch.as_path());
        let program = program(&call, root, folders)?;
        let module = if is_wheel { module(&call, root, folders)? } else { None };
        parts = Some(Parts::gather(root, &Built { program, module }, &scratch)?);
    }
    if let Some(parts) = &parts {
        for (name, _, make) in makers {
            put(&call.out, &make(parts).with_context(|| format!("cannot make the package {name}"))?)?;
        }
    }
    let release = Release::of(root, &call.out)?;
    for (name, _, make) in OF_RELEASE.iter().filter(|(name, ..)| call.wants(name, index)) {
        put(&call.out, &make(&release).with_context(|| format!("cannot make {name}"))?)?;
    }
    match parts {
        Some(parts) if call.is_checked => {
            // A wheel from elsewhere is one to publish.
            let needs_engine = parts.module.is_some() || !call.wants("wheel", packages);
            check::Trial { parts: &parts, out: &call.out, needs_engine }
                .run(&scratch, |name| call.tries(name))
        }
        _ => Ok(()),
    }
}

/// Returns the program that is packed: the one that is given, without its symbols, or one that is built now.
fn program(call: &Call, root: &Path, (target, scratch): (&Path, &Path)) -> Result<PathBuf> {
    let name = format!("{}{}", parts::NAME, std::env::consts::EXE_SUFFIX);
    let Some(given) = &call.program else {
        Line::new("cargo", BUILD).run(root)?;
        return Ok(target.join("dist").join(name));
    };
    Ok(stripped(root, given, scratch.join(name)))
}

/// Returns the module for Python that is packed: the one that is given, or one that is built with the program; `None` where only a
/// program is given.
fn module(call: &Call, root: &Path, (target, scratch): (&Path, &Path)) -> Result<Option<PathBuf>> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let name = format!("{DLL_PREFIX}{}{DLL_SUFFIX}", dependencies::MODULE.replace('-', "_"));
    match (&call.module, &call.program) {
        (Some(given), _) => Ok(Some(stripped(root, given, scratch.join(name)))),
        (None, Some(_)) => Ok(None),
        (None, None) => {
            Line::new("cargo", BUILD_MODULE).run(root)?;
            Ok(Some(target.join("dist").join(name)))
        }
    }
}

/// Returns a file without its symbols; as it is where they cannot be taken out.
fn stripped(root: &Path, given: &Path, stripped: PathBuf) -> PathBuf {
    let strip = Line::new("strip", &["-o"]);
    let strip = strip.args([stripped.as_path(), given].map(|path| path.display().to_string()));
    if cfg!(target_os = "linux") && strip.read(root).is_ok() {
        return stripped;
    }
    println!("`strip` does not work here: {} is packed as it is", given.display());
    given.to_owned()
}

fn put(out: &Path, files: &[Entry]) -> Result<()> {
    for Entry { path, bytes, .. } in files {
        let file = out.join(path);
        fs::create_dir_all(file.parent().context("a package without a folder")?)?;
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        println!("{} ({} KiB)", file.display(), bytes.len().div_ceil(1_024));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Result<Call> {
        Call::read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), PathBuf::from("out"))
    }

    #[test]
    fn packages_are_asked_for_by_name_by_group_or_all() {
        let wanted = |words: &[&str]| {
            let call = call(words).unwrap();
            (call.wants("wheel", GROUPS[0]), call.wants("deb", GROUPS[0]), call.wants("sums", GROUPS[1]))
        };
        assert_eq!(wanted(&[]), (true, true, true));
        assert_eq!(wanted(&["wheel"]), (true, false, false));
        assert_eq!(wanted(&["packages"]), (true, true, false));
        assert_eq!(wanted(&["index", "--check"]), (false, false, true));
    }

    #[test]
    fn what_is_asked_for_is_tried_out_and_with_a_release_everything() {
        let tried = |words: &[&str]| {
            let call = call(words).unwrap();
            ["wheel", "reader", "deb", "sums"].map(|name| call.tries(name))
        };
        assert_eq!(tried(&["--check"]), [true; 4]);
        assert_eq!(tried(&["--check", "wheel"]), [true, false, false, false]);
        assert_eq!(tried(&["--check", "packages"]), [true, true, true, false]);
        assert_eq!(tried(&["--check", "sums"]), [false, false, false, true]);
        assert_eq!(tried(&["--check", "client", "index"]), [true; 4]);
    }

    #[test]
    fn paths_are_taken_from_here_and_unknown_words_are_refused() {
        let read = call(&["--program", "a/mnemal", "--module", "/m.so", "--out", "/b", "npm"]).unwrap();
        assert_eq!(read.program, Some(std::env::current_dir().unwrap().join("a/mnemal")));
        assert_eq!(read.module, Some(PathBuf::from("/m.so")));
        assert_eq!((read.out, read.chosen), (PathBuf::from("/b"), vec!["npm".to_owned()]));
        let error = call(&["rpm"]).unwrap_err().to_string();
        assert!(error.starts_with("dist does not know rpm\n") && error.contains("wheel"), "{error}");
        assert!(call(&["--out"]).is_err());
    }

    #[test]
    fn every_package_of_one_program_is_the_same_anew() {
        // The bill of materials asks cargo, and has a test of its own.
        for (name, _, make) in OF_PROGRAM.iter().filter(|(name, ..)| *name != "sbom") {
            let parts = sample::parts();
            assert_eq!(make(&parts).unwrap(), make(&parts).unwrap(), "{name}");
        }
    }
}
