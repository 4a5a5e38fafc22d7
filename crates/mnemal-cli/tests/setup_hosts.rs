//! `mnemal setup` for every host: its files, their exact removal, and files that are left alone.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The folder for settings of applications, below the home directory.
const APPLICATIONS: &str = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };

/// A host as a person finds it.
struct Row {
    name: &'static str,
    /// The file of the MCP server, below the home directory.
    server: String,
    /// The same in a project.
    project: Option<&'static str>,
    /// The key of the servers.
    key: &'static str,
    entry: Value,
    /// The file of the hooks, with the first event's name and time limit.
    hooks: Option<(&'static str, &'static str, u32)>,
}

fn rows() -> Vec<Row> {
    let plain = || json!({"command": "mnemal", "args": ["mcp"]});
    let typed = || json!({"type": "stdio", "command": "mnemal", "args": ["mcp"]});
    let local = json!({"type": "local", "command": ["mnemal", "mcp"]});
    let row = |name, server: &str, project, key, entry, hooks| Row {
        name,
        server: server.to_owned(),
        project,
        key,
        entry,
        hooks,
    };
    vec![
        row(
            "claude-code",
            ".claude.json",
            Some(".mcp.json"),
            "mcpServers",
            typed(),
            Some((".claude/settings.json", "SessionStart", 5)),
        ),
        row(
            "codex",
            ".codex/config.toml",
            Some(".codex/config.toml"),
            "mcp_servers",
            plain(),
            Some((".codex/hooks.json", "SessionStart", 5)),
        ),
        row(
            "gemini-cli",
            ".gemini/settings.json",
            Some(".gemini/settings.json"),
            "mcpServers",
            plain(),
            Some((".gemini/settings.json", "BeforeAgent", 5_000)),
        ),
        row("opencode", ".config/opencode/opencode.json", Some("opencode.json"), "mcp", local, None),
        row(
            "cursor",
            ".cursor/mcp.json",
            Some(".cursor/mcp.json"),
            "mcpServers",
            plain(),
            Some((".cursor/hooks.json", "beforeSubmitPrompt", 15)),
        ),
        row(
            "vscode",
            &format!("{APPLICATIONS}/Code/User/mcp.json"),
            Some(".vscode/mcp.json"),
            "servers",
            typed(),
            None,
        ),
        row(
            "windsurf",
            ".config/devin/mcp_config.json",
            Some(".devin/mcp_config.json"),
            "mcpServers",
            plain(),
            None,
        ),
        row("zed", ".config/zed/settings.json", None, "context_servers", plain(), None),
        row(
            "continue",
            ".continue/mcpServers/mnemal.json",
            Some(".continue/mcpServers/mnemal.json"),
            "mcpServers",
            plain(),
            None,
        ),
        row(
            "claude-desktop",
            &format!("{APPLICATIONS}/Claude/claude_desktop_config.json"),
            None,
            "mcpServers",
            plain(),
            None,
        ),
    ]
}

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.path("shop")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn setup(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.arg("setup").args(args).current_dir(self.path("shop")).env_clear();
        command.env("HOME", self.0.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// Returns stderr of a run that succeeds.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.setup(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {told}");
        told
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// All files below the home directory, sorted, without copies.
    fn files(&self) -> Vec<String> {
        let (mut folders, mut files) = (vec![self.0.path().to_owned()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_none_or(|kind| kind != "bak") {
                    let name = path.strip_prefix(self.0.path()).unwrap();
                    files.push(name.to_str().unwrap().to_owned());
                }
            }
        }
        files.sort();
        files
    }
}

/// Parses a settings file, with its remarks.
fn value(path: &str, text: &str) -> Value {
    if Path::new(path).extension().is_some_and(|kind| kind == "toml") {
        return serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
    }
    let lines = text.lines().map(|line| line.split(" //").next().unwrap());
    let plain: String = lines.filter(|line| !line.trim_start().starts_with("//")).collect();
    serde_json::from_str(&plain).unwrap()
}

/// A person's settings, with remarks, another server and another hook.
fn existing(row: &Row) -> String {
    if row.server.ends_with("toml") {
        return "# mine\nmodel = \"o9\" # the big one\n\n[mcp_servers.other]\ncommand = \"x\"\n".to_owned();
    }
    format!(
        "{{\n    // mine\n    \"theme\": \"dark\", // at night\n    \"{}\": {{\n        \"other\": {{ \"command\": \"x\" }}\n    }}\n}}\n",
        row.key
    )
}

const HOOKS: &str = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"Other\": [\n      { \"command\": \"say done\" }\n    ]\n  }\n}\n";

#[test]
fn an_empty_home_gets_the_settings_of_each_host_and_loses_them_again() {
    for row in rows() {
        let home = Home::new();
        home.ok(&[row.name, "--yes"]);
        let file = value(&row.server, &home.read(&row.server));
        assert_eq!(file[row.key]["mnemal"], row.entry, "{}", row.name);
        if let Some((hooks, event, limit)) = row.hooks {
            let hooks = value(hooks, &home.read(hooks));
            let entry = &hooks["hooks"][event][0];
            let hook = entry.pointer("/hooks/0").unwrap_or(entry);
            assert_eq!(hook["command"], format!("mnemal hook {} {event}", row.name));
            assert_eq!(hook["timeout"], limit, "{}", row.name);
        }
        home.ok(&[row.name, "--undo", "--yes"]);
        assert_eq!(home.files(), Vec::<String>::new(), "{}", row.name);
    }
}

// proves: AD-72
#[test]
fn what_a_person_had_stays_as_it_was_byte_for_byte() {
    for row in rows() {
        let home = Home::new();
        let text = existing(&row);
        home.write(&row.server, &text);
        let hooks = row.hooks.map(|(hooks, ..)| hooks).filter(|hooks| *hooks != row.server);
        if let Some(hooks) = hooks {
            home.write(hooks, HOOKS);
        }
        let before = home.files();
        home.ok(&[row.name, "--yes"]);
        let once = home.read(&row.server);
        let file = value(&row.server, &once);
        assert_eq!(file[row.key]["other"]["command"], "x", "{once}");
        assert_eq!(file[row.key]["mnemal"], row.entry, "{once}");
        assert!(once.contains("mine"), "{once}");
        assert_eq!(home.read(&format!("{}.bak", row.server)), text);
        let again = home.ok(&[row.name, "--yes"]);
        assert!(again.contains("nothing to change"), "{again}");
        assert_eq!(home.read(&row.server), once, "twice is once");
        home.ok(&[row.name, "--undo", "--yes"]);
        assert_eq!(home.read(&row.server), text, "through {once}");
        if let Some(hooks) = hooks {
            assert_eq!(home.read(hooks), HOOKS, "{}", row.name);
        }
        assert_eq!(home.files(), before, "{}", row.name);
    }
}

#[test]
fn the_settings_of_a_project_are_changed_where_a_host_has_them() {
    for row in rows() {
        let home = Home::new();
        let Some(file) = row.project.map(|file| format!("shop/{file}")) else {
            let refused = home.setup(&[row.name, "--project", "--yes"]);
            assert_eq!(refused.status.code(), Some(2), "{}", row.name);
            assert!(String::from_utf8_lossy(&refused.stderr).contains("no settings of a project"));
            continue;
        };
        home.ok(&[row.name, "--project", "--yes"]);
        assert_eq!(value(&file, &home.read(&file))[row.key]["mnemal"], row.entry);
        assert!(home.files().iter().all(|file| file.starts_with("shop/")), "{:?}", home.files());
        home.ok(&[row.name, "--project", "--undo", "--yes"]);
        assert_eq!(home.files(), Vec::<String>::new(), "{}", row.name);
    }
}

#[test]
fn a_broken_file_is_left_alone_with_all_others_and_the_snippet_is_shown() {
    for row in rows() {
        let home = Home::new();
        let broken = if row.server.ends_with("toml") { "model = \n" } else { "{\"theme\": }\n" };
        home.write(&row.server, broken);
        for args in [&["--yes"][..], &["--undo", "--yes"]] {
            let refused = home.setup(&[&[row.name][..], args].concat());
            let told = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(2), "{}: {told}", row.name);
            assert!(told.contains("is left alone") && told.contains("mnemal"), "{told}");
            assert_eq!(home.read(&row.server), broken);
            assert_eq!(home.files(), std::slice::from_ref(&row.server), "all or nothing");
        }
    }
}

/// A remark ends at a lone carriage return for some parsers, and at the next line for others.
#[test]
fn a_change_that_cannot_be_read_back_is_not_made() {
    let home = Home::new();
    let (file, text) = (".config/zed/settings.json", "{\n  \"theme\": \"dark\" // at\r night\n}\n");
    home.write(file, text);
    let refused = home.setup(&["zed", "--yes"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("is left alone"), "{told}");
    assert_eq!(home.read(file), text);
}

#[test]
fn the_copy_keeps_the_mode_of_the_file_and_replaces_no_other_copy() {
    let (file, text) = (".config/zed/settings.json", "{\n  \"token\": \"secret\"\n}\n");
    let names = [".config/zed/settings.json.bak", ".config/zed/settings.json.bak-mnemal"];
    let [first, second] = names;
    for (known, copy) in [(0, first), (1, second), (2, second)] {
        let home = Home::new();
        home.write(file, text);
        std::fs::set_permissions(home.path(file), std::fs::Permissions::from_mode(0o600)).unwrap();
        for name in names.iter().take(known) {
            home.write(name, "older\n");
        }
        home.ok(&["zed", "--yes"]);
        assert_eq!(home.read(copy), text);
        for name in [file, copy] {
            assert_eq!(home.path(name).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
        assert!(known == 0 || home.read(first) == "older\n");
    }
}

#[test]
fn a_server_of_the_same_name_is_not_replaced() {
    for row in rows().into_iter().filter(|row| !row.server.ends_with("toml")) {
        let home = Home::new();
        let text = format!("{{\"{}\": {{\"mnemal\": {{\"command\": \"elsewhere\"}}}}}}", row.key);
        home.write(&row.server, &text);
        assert_eq!(home.setup(&[row.name, "--yes"]).status.code(), Some(2), "{}", row.name);
        assert_eq!(home.read(&row.server), text);
        home.ok(&[row.name, "--undo", "--yes"]);
        assert_eq!(home.read(&row.server), text, "nothing of it is ours");
    }
}

#[test]
fn the_file_that_exists_is_the_one_that_is_changed_and_undo_finds_it() {
    for (host, newer, older) in [
        ("opencode", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"),
        ("windsurf", ".config/devin/mcp_config.json", ".codeium/windsurf/mcp_config.json"),
    ] {
        let home = Home::new();
        home.write(older, "{}\n");
        home.ok(&[host, "--yes"]);
        assert!(home.read(older).contains("mnemal") && !home.path(newer).exists(), "{host}");
        home.write(newer, "{}\n");
        home.ok(&[host, "--undo", "--yes"]);
        assert_eq!((home.read(older), home.read(newer)), ("{}\n".to_owned(), "{}\n".to_owned()), "{host}");
    }
}

#[test]
fn hooks_of_cursor_need_a_version_which_goes_with_them() {
    for (text, stays) in [
        ("{}\n", "{}\n"),
        ("{\"version\": 1}", "{\"version\": 1}"),
        ("{\"hooks\": {}, \"version\": 1}\n", "{\"hooks\": {}, \"version\": 1}\n"),
        ("{\n  \"hooks\": {\n    \"stop\": [{\"command\": \"x\"}]\n  },\n  \"version\": 1\n}\n", ""),
    ] {
        let home = Home::new();
        home.write(".cursor/hooks.json", text);
        home.ok(&["cursor", "--hooks", "--yes"]);
        let now = value("", &home.read(".cursor/hooks.json"));
        assert_eq!((&now["version"], now["hooks"]["sessionStart"].is_array()), (&1.into(), true), "{now}");
        home.ok(&["cursor", "--hooks", "--undo", "--yes"]);
        let stays = if stays.is_empty() { text } else { stays };
        assert_eq!(home.read(".cursor/hooks.json"), stays);
        assert!(!home.path(".cursor/mcp.json").exists());
    }
}

#[test]
fn the_plugin_is_a_file_of_its_own_which_another_one_of_its_name_keeps_out() {
    let home = Home::new();
    let plugin = ".config/opencode/plugins/mnemal.js";
    home.ok(&["opencode", "--hooks", "--yes"]);
    let text = home.read(plugin);
    assert!(text.contains("chat.message") && text.contains("session.idle"), "{text}");
    let newer = text.replace("15_000", "16_000");
    home.write(plugin, &newer);
    home.ok(&["opencode", "--hooks", "--yes"]);
    assert_eq!(home.read(plugin), text, "another version of it is replaced");
    home.ok(&["opencode", "--undo", "--yes"]);
    assert_eq!(home.files(), Vec::<String>::new());
    home.write(plugin, "export const Mine = 1\n");
    assert_eq!(home.setup(&["opencode", "--yes"]).status.code(), Some(2));
    home.ok(&["opencode", "--undo", "--yes"]);
    assert_eq!(home.read(plugin), "export const Mine = 1\n");
}

#[test]
fn hosts_without_hooks_say_so_and_unknown_hosts_are_listed() {
    let home = Home::new();
    let refused = home.setup(&["zed", "--hooks", "--yes"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Zed has no hooks"));
    let unknown = home.setup(&["emacs"]);
    assert_eq!(unknown.status.code(), Some(2));
    let told = String::from_utf8(unknown.stderr).unwrap();
    assert!(rows().iter().all(|row| told.contains(row.name)), "{told}");
    let told = home.ok(&["codex", "--yes"]);
    assert!(told.contains("trust the hooks"), "{told}");
}
