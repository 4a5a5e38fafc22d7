//! The table of hosts: files, forms and events.
//!
//! Each row follows the newest public source of its host that we found; the guide lists versions and dates. Where a host has its
//! own variable for a folder, that folder is used.

use mnemal::ImportFormat;

use super::event::Event::{PreCompact, SessionEnd, SessionStart, Stop, SubagentStop, UserPromptSubmit};
use super::spot::{Root, Spot};
use super::{Capture, Format, Hooks, Host, McpServer, ReplyShape, ServerEntry, Wiring};

/// The plugin for OpenCode.
const OPENCODE: &str = include_str!("opencode.js");

const CLAUDE: Root = Root::Folder("CLAUDE_CONFIG_DIR", ".claude");
const CODEX: Root = Root::Folder("CODEX_HOME", ".codex");
const CONTINUE: Root = Root::Folder("CONTINUE_GLOBAL_DIR", ".continue");
const GEMINI: Root = Root::Home(Some("GEMINI_CLI_HOME"));
/// A home directory that no variable moves.
const HOME: Root = Root::Home(None);

/// A server in a JSON file below `mcpServers`, which most hosts have.
const fn common(user: &'static [Spot], project: &'static [Spot]) -> McpServer {
    McpServer { user, project, format: Format::Json, key: "mcpServers", entry: ServerEntry::Plain }
}

/// All hosts, in the order of the help.
pub(crate) static HOSTS: [Host; 10] = [
    Host {
        name: "claude-code",
        title: "Claude Code",
        server: McpServer {
            entry: ServerEntry::Typed,
            ..common(
                &[Spot(Root::Home(Some("CLAUDE_CONFIG_DIR")), ".claude.json")],
                &[Spot(Root::Project, ".mcp.json")],
            )
        },
        hooks: Some(Hooks {
            user: &[Spot(CLAUDE, "settings.json")],
            project: &[Spot(Root::Project, ".claude/settings.json")],
            wiring: Wiring::Groups { per_second: 1, end: 10 },
            events: &[
                ("SessionStart", SessionStart),
                ("UserPromptSubmit", UserPromptSubmit),
                ("Stop", Stop),
                ("SubagentStop", SubagentStop),
                ("PreCompact", PreCompact),
                ("SessionEnd", SessionEnd),
            ],
            capture: Capture::Transcript(ImportFormat::ClaudeCode),
            answer: ReplyShape::Nested,
        }),
        then: None,
    },
    Host {
        name: "codex",
        title: "Codex",
        server: McpServer {
            format: Format::Toml,
            key: "mcp_servers",
            ..common(&[Spot(CODEX, "config.toml")], &[Spot(Root::Project, ".codex/config.toml")])
        },
        hooks: Some(Hooks {
            user: &[Spot(CODEX, "hooks.json")],
            project: &[Spot(Root::Project, ".codex/hooks.json")],
            wiring: Wiring::Groups { per_second: 1, end: 3 },
            events: &[
                ("SessionStart", SessionStart),
                ("UserPromptSubmit", UserPromptSubmit),
                ("Stop", Stop),
                ("PreCompact", PreCompact),
                ("SessionEnd", SessionEnd),
            ],
            capture: Capture::Transcript(ImportFormat::Codex),
            answer: ReplyShape::Nested,
        }),
        then: Some("start codex and trust the hooks in /hooks; until then it skips them"),
    },
    Host {
        name: "gemini-cli",
        title: "Gemini CLI",
        server: common(
            &[Spot(GEMINI, ".gemini/settings.json")],
            &[Spot(Root::Project, ".gemini/settings.json")],
        ),
        hooks: Some(Hooks {
            user: &[Spot(GEMINI, ".gemini/settings.json")],
            project: &[Spot(Root::Project, ".gemini/settings.json")],
            wiring: Wiring::Groups { per_second: 1_000, end: 10 },
            // `PreCompress` comes before each request, whether or not anything is compressed.
            events: &[
                ("SessionStart", SessionStart),
                ("BeforeAgent", UserPromptSubmit),
                ("AfterAgent", Stop),
                ("SessionEnd", SessionEnd),
            ],
            capture: Capture::Transcript(ImportFormat::GeminiCli),
            answer: ReplyShape::Nested,
        }),
        then: None,
    },
    Host {
        name: "opencode",
        title: "OpenCode",
        server: McpServer {
            key: "mcp",
            entry: ServerEntry::Local,
            ..common(
                &[
                    Spot(Root::Config, "opencode/opencode.json"),
                    Spot(Root::Config, "opencode/opencode.jsonc"),
                ],
                &[Spot(Root::Project, "opencode.json"), Spot(Root::Project, "opencode.jsonc")],
            )
        },
        hooks: Some(Hooks {
            user: &[Spot(Root::Config, "opencode/plugins/mnemal.js")],
            project: &[Spot(Root::Project, ".opencode/plugins/mnemal.js")],
            wiring: Wiring::Plugin(OPENCODE),
            events: &[
                ("SessionStart", SessionStart),
                ("UserPromptSubmit", UserPromptSubmit),
                ("Stop", Stop),
                ("PreCompact", PreCompact),
            ],
            capture: Capture::Messages,
            answer: ReplyShape::Nested,
        }),
        then: None,
    },
    Host {
        name: "cursor",
        title: "Cursor",
        server: common(&[Spot(HOME, ".cursor/mcp.json")], &[Spot(Root::Project, ".cursor/mcp.json")]),
        hooks: Some(Hooks {
            user: &[Spot(HOME, ".cursor/hooks.json")],
            project: &[Spot(Root::Project, ".cursor/hooks.json")],
            wiring: Wiring::Commands { version: 1 },
            events: &[
                ("sessionStart", SessionStart),
                ("beforeSubmitPrompt", UserPromptSubmit),
                ("afterAgentResponse", Stop),
                ("preCompact", PreCompact),
            ],
            capture: Capture::Words,
            answer: ReplyShape::Flat,
        }),
        then: None,
    },
    Host {
        name: "vscode",
        title: "VS Code",
        server: McpServer {
            key: "servers",
            entry: ServerEntry::Typed,
            ..common(
                &[Spot(Root::Application, "Code/User/mcp.json")],
                &[Spot(Root::Project, ".vscode/mcp.json")],
            )
        },
        hooks: None,
        then: None,
    },
    Host {
        name: "windsurf",
        title: "Windsurf, now Devin Desktop",
        server: common(
            &[Spot(Root::Roaming, "devin/mcp_config.json"), Spot(HOME, ".codeium/windsurf/mcp_config.json")],
            &[Spot(Root::Project, ".devin/mcp_config.json")],
        ),
        hooks: None,
        then: None,
    },
    Host {
        name: "zed",
        title: "Zed",
        server: McpServer { key: "context_servers", ..common(&[Spot(ZED, ZED_FILE)], &[]) },
        hooks: None,
        then: None,
    },
    Host {
        name: "continue",
        title: "Continue",
        server: common(
            &[Spot(CONTINUE, "mcpServers/mnemal.json")],
            &[Spot(Root::Project, ".continue/mcpServers/mnemal.json")],
        ),
        hooks: None,
        then: None,
    },
    Host {
        name: "claude-desktop",
        title: "Claude Desktop",
        server: common(&[Spot(Root::Application, "Claude/claude_desktop_config.json")], &[]),
        hooks: None,
        then: Some("quit and start Claude Desktop again"),
    },
];

/// Zed's folder, which has a capital letter on Windows only.
const ZED: Root = Root::Roaming;
const ZED_FILE: &str = if cfg!(windows) { "Zed/settings.json" } else { "zed/settings.json" };
