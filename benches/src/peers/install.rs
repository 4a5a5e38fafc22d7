//! Dependencies of a peer, in its own virtual environment below `target/peers`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::process::finish;

/// Returns the interpreter of a peer, after these packages were installed for it.
///
/// Packages that were installed from the same list before are left as they are. The index is the one that pip is set up
/// with on this machine.
///
/// # Errors
/// A missing `python3`, packages that cannot be installed, or an installation that takes too long.
pub(super) fn interpreter(home: &Path, name: &str, packages: &Path) -> Result<PathBuf> {
    let environment = home.join("environments").join(name);
    let python = environment.join("bin").join("python");
    if !is_installed(&environment, packages)? {
        std::fs::create_dir_all(&environment)?;
        let said = home.join("environments").join(format!("{name}.said"));
        let mut make = Command::new("python3");
        finish(make.args(["-m", "venv", "--clear"]).arg(&environment), &said)?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--cache-dir"]);
        install.arg(home.join("cache")).arg("--requirement").arg(packages);
        finish(&mut install, &said).context("pip")?;
        std::fs::copy(packages, environment.join(INSTALLED))?;
    }
    Ok(python)
}

/// The copy of the list that was installed; written last.
const INSTALLED: &str = "installed.txt";

/// Whether these very packages were installed before.
fn is_installed(environment: &Path, packages: &Path) -> Result<bool> {
    let wanted = std::fs::read(packages).with_context(|| format!("cannot read {}", packages.display()))?;
    Ok(std::fs::read(environment.join(INSTALLED)).is_ok_and(|installed| installed == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::{Bench, PEERS};

    #[test]
    fn every_package_has_one_exact_version_and_no_host() {
        let lists: Vec<_> = PEERS.iter().filter_map(|peer| peer.packages).collect();
        assert_eq!(lists.len(), 4);
        for list in lists {
            let text = std::fs::read_to_string(Bench::default().scripts.join(list)).unwrap();
            let packages: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(packages.iter().all(|line| line.split_once("==").is_some()), "{list}");
            assert!(!text.contains("://") && !text.contains([';', '@', '*', '<', '>']), "{list}");
        }
    }

    #[test]
    fn a_changed_list_is_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let packages = folder.path().join("packages.txt");
        std::fs::write(&packages, "peer==1").unwrap();
        assert!(!is_installed(folder.path(), &packages).unwrap());
        std::fs::copy(&packages, folder.path().join(INSTALLED)).unwrap();
        assert!(is_installed(folder.path(), &packages).unwrap());
        std::fs::write(&packages, "peer==2").unwrap();
        assert!(!is_installed(folder.path(), &packages).unwrap());
    }
}
