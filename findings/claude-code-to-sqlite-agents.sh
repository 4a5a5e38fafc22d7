#!/usr/bin/env bash
# claude-code-to-sqlite 0.1.0; seen 2026-11-30: what a sub-agent said is written over the first turns of the session that called it.
# Expected: `--include-agents` adds the rows of `agent-*.jsonl`, and what was read in a session is its text.
# Seen: a session and its agents have one session ID, and rows are stored by session ID and place, so that the first turns of the session
# are replaced by the turns of the agent, and the counts of the session are those of the agent. A tool result of more than
# 1,000 characters with "base64" among its first 500, as a source file that imports it, is taken for a picture, and its text is
# not stored. One answer that Claude Code wrote as three lines counts its tokens three times.
# For a user: an archive that is meant to hold more holds less, of the sessions that did most.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install claude-code-to-sqlite==0.1.0 sqlite-utils==3.39
v/bin/pip list --format=freeze | grep -E '^claude-code-to-sqlite=='
python3 - <<'P'
import json, os
os.makedirs("projects/-home-ana-boat")
session = "11111111-1111-4111-8111-111111111111"
def line(key, parent, role, content, answer=None, agent=None):
    message = {"role": role, "content": content}
    if role == "assistant": message |= {"id": answer, "type": "message", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 100, "output_tokens": 10}}
    return {"parentUuid": parent, "isSidechain": bool(agent), "userType": "external", "cwd": "/home/ana/boat", "sessionId": session,
            "version": "2.0.30", "type": role, "message": message, "uuid": key, "timestamp": f"2026-11-01T10:00:0{key[1]}.000Z"} | (
            {"agentId": agent} if agent else {})
text = lambda words: [{"type": "text", "text": words}]
source = "import base64\n" + "# the tickets are in the blue bag\n" * 40
lines = {session: [
    line("u1", None, "user", "We go to Bergen, and Mira comes along"),
    line("a2", "u1", "assistant", [{"type": "thinking", "thinking": "A look first.", "signature": "x"}], "msg_1"),
    line("a3", "a2", "assistant", text("I look at the timetable"), "msg_1"),
    line("a4", "a3", "assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "trip.py"}}], "msg_1"),
    line("u5", "a4", "user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": source}]),
], "agent-1": [
    line("u1", None, "user", "Search the timetable", agent="1"),
    line("a2", "u1", "assistant", text("It leaves at eight"), "msg_2", agent="1"),
]}
for name, rows in lines.items():
    with open(f"projects/-home-ana-boat/{name}.jsonl", "w") as file: file.writelines(json.dumps(row) + "\n" for row in rows)
P
for with in "" --include-agents; do
  v/bin/claude-code-to-sqlite sessions "db$with" projects $with --silent
  v/bin/sqlite-utils "db$with" "select message_index, content from messages order by 1" --nl
  v/bin/sqlite-utils "db$with" "select message_count, total_output_tokens from sessions" --nl
done | tee seen.txt
diff seen.txt - <<'R'
{"message_index": 0, "content": "We go to Bergen, and Mira comes along"}
{"message_index": 1, "content": ""}
{"message_index": 2, "content": "I look at the timetable"}
{"message_index": 3, "content": "[tool_use: Read]"}
{"message_index": 4, "content": "[base64 content, ~1KB decoded]"}
{"message_count": 5, "total_output_tokens": 30}
{"message_index": 0, "content": "Search the timetable"}
{"message_index": 1, "content": "It leaves at eight"}
{"message_index": 2, "content": "I look at the timetable"}
{"message_index": 3, "content": "[tool_use: Read]"}
{"message_index": 4, "content": "[base64 content, ~1KB decoded]"}
{"message_count": 2, "total_output_tokens": 10}
R
