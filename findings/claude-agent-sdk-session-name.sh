#!/usr/bin/env bash
# claude-agent-sdk 0.2.189 (PyPI), @anthropic-ai/claude-agent-sdk 0.3.332 (npm); seen 2026-11-30: a session is called what some tool was told.
# Expected: the `summary` of a listed session is its title, what the user last asked, a summary of it, or the first prompt, in Python as in TypeScript.
# Seen: where the file has no title or last prompt of its own, it is in Python "Invoice 12", the argument `summary` of a mail that the agent
# sent on the way. `_parse_session_info_from_lite` looks for `"summary":"` in the end of the file as text, wherever it stands; for tags
# it looks at lines of tags only. TypeScript gives the first prompt, and so does Python when it lists a `SessionStore`,
# while `get_session_info_from_store` gives "Invoice 12" for the same session of the same store.
# For a user: the list of conversations with an agent that uses mail, calendars or tickets shows the titles of those.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export CLAUDE_CONFIG_DIR=$folder/config
python3 -m venv v; v/bin/pip -q install claude-agent-sdk==0.2.189; v/bin/pip list --format=freeze | grep '^claude-agent-sdk=='
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional --legacy-peer-deps @anthropic-ai/claude-agent-sdk@0.3.332 >/dev/null 2>&1
echo "@anthropic-ai/claude-agent-sdk $(node -p 'JSON.parse(fs.readFileSync("node_modules/@anthropic-ai/claude-agent-sdk/package.json")).version')"
cat > ask.mjs <<'J'
import { listSessions } from "@anthropic-ai/claude-agent-sdk";
const [session] = await listSessions();
console.log(session.summary);
J
v/bin/python -W ignore - <<'P'
import asyncio, json, os, pathlib, subprocess
import claude_agent_sdk as sdk

session, project, last = "11111111-1111-4111-8111-111111111111", "/trips", None
file = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"], "projects", "-trips", f"{session}.jsonl")
file.parent.mkdir(parents=True)
def said(role, content):  # one line as Claude Code writes it
    global last
    number = 0 if last is None else int(last[-4:]) + 1
    entry = dict(parentUuid=last, isSidechain=False, cwd=project, gitBranch="main", sessionId=session, type=role, message=dict(role=role, content=content),
                 uuid=f"00000000-0000-4000-8000-{number:012}", timestamp=f"2026-11-30T10:00:{number:02}.000Z")
    last = entry["uuid"]
    with file.open("a") as lines: lines.write(json.dumps(entry, separators=(",", ":")) + "\n")

async def look():
    store = sdk.InMemorySessionStore()
    await sdk.import_session_to_store(session, store, directory=project)
    listed, [of_store] = sdk.list_sessions()[0], await sdk.list_sessions_from_store(store, directory=project)
    return {
        "Python, on disk": listed.summary, "TypeScript, on disk": subprocess.check_output(["node", "ask.mjs"], text=True).strip(),
        "Python, list of a store": of_store.summary, "Python, one of a store": (await sdk.get_session_info_from_store(store, session, directory=project)).summary,
    }

said("user", "Plan my trip to Oslo")
said("assistant", [dict(type="text", text="When will you go?")])
before = asyncio.run(look())
said("assistant", [dict(type="tool_use", id="t1", name="mcp__mail__send", input=dict(to="ben", summary="Invoice 12"))])
said("user", [dict(type="tool_result", tool_use_id="t1", content="sent")])
said("assistant", [dict(type="text", text="I have sent it.")])
after = asyncio.run(look())
for name in before: print(f"{name}: {before[name]}, and after a mail: {after[name]}")
assert set(before.values()) == {"Plan my trip to Oslo"}
assert list(after.values()) == ["Invoice 12", "Plan my trip to Oslo", "Plan my trip to Oslo", "Invoice 12"]
P
