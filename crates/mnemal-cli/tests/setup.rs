//! `mnemal setup`: the entries that it adds to a client's settings, and their exact removal.

#![expect(clippy::unwrap_used, reason = "the parts that tests share may panic as the tests do")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const SETTINGS: [&str; 9] = [
    "{}\n",
    "{\n}\n",
    "{\"model\": \"opus\"}",
    "{\n    \"model\": \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
    "// mine\n{\n\t\"model\": \"opus\", // the big one\n\t\"env\": {},\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  },\n  \"z\": 1\n}\n",
    "{\"hooks\": {\"Stop\": [], \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]}}",
    "{\r\n  \"hooks\": {},\r\n  \"statusLine\": null\r\n}\r\n",
    "{\n  \"hooks\": { \"SessionStart\": [ /* none */ ] }\n}",
];

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn setup(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mnemal"));
        command.args(["setup", "claude-code"]).args(args).current_dir(self.0.path()).env_clear();
        command.env("HOME", self.0.path()).stdin(Stdio::null()).output().unwrap()
    }

    fn ok(&self, args: &[&str]) -> Output {
        let output = self.setup(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn files_that_were_not_there_are_made_and_go_again() {
    for (option, settings, server) in [
        ("--global", ".claude/settings.json", ".claude.json"),
        ("--project", ".claude/settings.json", ".mcp.json"),
    ] {
        let home = Home::new();
        home.ok(&[option, "--yes"]);
        let hooks = read(&home.path(settings));
        let command = &hooks["hooks"]["UserPromptSubmit"][0]["hooks"][0];
        assert_eq!(command["command"], "mnemal hook claude-code UserPromptSubmit");
        assert_eq!((&command["type"], &command["timeout"]), (&"command".into(), &5.into()));
        assert!(
            !std::fs::read_to_string(home.path(settings)).unwrap().contains("async"),
            "a client waits for each"
        );
        assert_eq!(hooks["hooks"].as_object().unwrap().len(), 6);
        let server = home.path(server);
        assert_eq!(read(&server)["mcpServers"]["mnemal"]["args"], serde_json::json!(["mcp"]));
        home.ok(&[option, "--undo", "--yes"]);
        assert!(!home.path(settings).exists() && !server.exists());
    }
}

// proves: AD-72
#[test]
fn setup_then_undo_leaves_every_file_byte_equal() {
    for settings in SETTINGS {
        let home = Home::new();
        home.write(".claude/settings.json", settings);
        home.write(".claude.json", "{\n  \"numStartups\": 7,\n  \"mcpServers\": {}\n}");
        home.ok(&["--yes"]);
        let once = std::fs::read_to_string(home.path(".claude/settings.json")).unwrap();
        assert_ne!(once, settings);
        assert_eq!(std::fs::read_to_string(home.path(".claude/settings.json.bak")).unwrap(), settings);
        home.ok(&["--yes"]);
        assert_eq!(
            std::fs::read_to_string(home.path(".claude/settings.json")).unwrap(),
            once,
            "twice is once"
        );
        home.ok(&["--undo", "--yes"]);
        assert_eq!(
            std::fs::read_to_string(home.path(".claude/settings.json")).unwrap(),
            settings,
            "through {once}"
        );
        let server = std::fs::read_to_string(home.path(".claude.json")).unwrap();
        assert_eq!(server, "{\n  \"numStartups\": 7,\n  \"mcpServers\": {}\n}");
    }
}

#[test]
fn a_hook_that_an_earlier_version_ran_beside_the_client_is_waited_for() {
    let home = Home::new();
    home.ok(&["--hooks", "--yes"]);
    let path = home.path(".claude/settings.json");
    let now = std::fs::read_to_string(&path).unwrap();
    let mut earlier = read(&path);
    earlier["model"] = "opus".into();
    earlier["hooks"]["Stop"][0]["hooks"][0]["async"] = true.into();
    std::fs::write(&path, serde_json::to_string_pretty(&earlier).unwrap()).unwrap();
    home.ok(&["--hooks", "--yes"]);
    let mended = read(&path);
    let expect: Value = serde_json::from_str(&now).unwrap();
    assert_eq!((&mended["hooks"], &mended["model"]), (&expect["hooks"], &"opus".into()));
}

#[test]
fn what_somebody_added_meanwhile_stays() {
    let home = Home::new();
    home.ok(&["--hooks", "--yes"]);
    assert!(!home.path(".claude.json").exists());
    let path = home.path(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let changed =
        text.replacen("{\n", "{\n  \"model\": \"opus\",\n", 1).replace("\"timeout\": 5", "\"timeout\": 9");
    std::fs::write(&path, changed).unwrap();
    home.ok(&["--undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_file_in_which_somebody_left_a_remark_stays_with_it() {
    let home = Home::new();
    home.ok(&["--hooks", "--yes"]);
    let path = home.path(".claude/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("{\n", "{\n  // \"model\": \"opus\"\n", 1)).unwrap();
    home.ok(&["--undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  // \"model\": \"opus\"\n}\n");
}

#[test]
fn nothing_is_written_without_consent_and_print_only_prints() {
    let home = Home::new();
    let refused = home.setup(&[]);
    assert_eq!(refused.status.code(), Some(2));
    let printed = String::from_utf8(home.ok(&["--print"]).stdout).unwrap();
    assert!(printed.contains('+') && printed.contains("mnemal hook claude-code SessionStart"), "{printed}");
    assert!(!home.path(".claude").exists() && !home.path(".claude.json").exists());
    home.ok(&["--undo", "--yes"]);
}

#[test]
fn a_file_that_does_not_parse_is_left_alone_and_the_snippet_is_shown() {
    for broken in ["{\"hooks\": [}", "", "[]", "{\"hooks\": \"none\"}"] {
        let home = Home::new();
        home.write(".claude/settings.json", broken);
        let output = home.setup(&["--yes"]);
        assert_eq!(output.status.code(), Some(2), "{broken}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("mnemal hook claude-code Stop"), "{broken}");
        assert_eq!(std::fs::read_to_string(home.path(".claude/settings.json")).unwrap(), broken);
        assert!(!home.path(".claude.json").exists(), "all or nothing");
    }
}

/// The plugin has the same configuration as the setup, with the client's names.
#[test]
fn the_plugin_names_the_commands_that_the_program_has() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/claude-code");
    let home = Home::new();
    home.ok(&["--yes"]);
    assert_eq!(
        read(&plugin.join("hooks/hooks.json"))["hooks"],
        read(&home.path(".claude/settings.json"))["hooks"]
    );
    assert_eq!(read(&plugin.join(".mcp.json"))["mcpServers"], read(&home.path(".claude.json"))["mcpServers"]);
    let manifest = read(&plugin.join(".claude-plugin/plugin.json"));
    assert_eq!(
        (&manifest["name"], &manifest["version"]),
        (&"mnemal".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let market = read(&plugin.join("../../.claude-plugin/marketplace.json"));
    assert_eq!(market["plugins"][0]["source"], "./integrations/claude-code");
    let skill = std::fs::read_to_string(plugin.join("skills/memory/SKILL.md")).unwrap();
    assert!(skill.starts_with("---\nname: "));
}
