#!/usr/bin/env bash
# claude-converter 1.9.0, claude-code-transcripts 0.6; seen 2026-11-30: what was taken back in Claude Code is said again in what they make of it.
# Expected: a session is the chain from its last line back to its first by `parentUuid`; a question that the user went back and changed, and
# its answer, are in the file and in no chain, and are left out or marked.
# Seen: both go through the file from top to bottom. `session_to_messages` gives both trips as turns of one conversation, and where
# no answer stood between them it makes one message of the old wording and the new one; the HTML pages count five prompts, of which two
# were taken back. claude-code-log 1.7.0 shows the same file with a fork.
# For a user: facts and training data that are drawn from such transcripts hold what the user has corrected, as if both were meant.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install claude-converter==1.9.0 claude-code-transcripts==0.6 claude-code-log==1.7.0
v/bin/pip list --format=freeze | grep -E '^claude-(converter|code-transcripts|code-log)=='
cat > make.py <<'P'
import json
session = "11111111-1111-4111-8111-111111111111"
def line(key, parent, role, text):
    message = {"role": role, "content": text}
    if role == "assistant": message = {"role": role, "id": f"msg_{key}", "type": "message", "model": "claude-sonnet-4-5",
                                       "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1}}
    return {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/ana/boat", "sessionId": session, "version": "2.1.0",
            "type": role, "message": message, "uuid": key, "timestamp": f"2026-11-01T10:00:0{key[1]}.000Z"}
lines = [
    line("u1", None, "user", "Plan a trip"), line("a2", "u1", "assistant", "Where to?"),
    line("u3", "a2", "user", "To Oslo, by plane"), line("a4", "u3", "assistant", "By plane, then"),
    line("u5", "a2", "user", "To Bergen, by train"), line("a6", "u5", "assistant", "By train, then"),  # Ana went back to "Where to?"
    line("u7", "a6", "user", "Book a room for two"), line("u8", "a6", "user", "Book a room for three"), line("a9", "u8", "assistant", "Three it is"),
]
with open("session.jsonl", "w") as file: file.writelines(json.dumps(one) + "\n" for one in lines)
P
python3 make.py
v/bin/python -c 'from claude_converter.claude import session_to_messages
for one in session_to_messages("session.jsonl"): print(one["role"] + ":", repr(one["content"]))' | tee messages.txt
diff messages.txt - <<'R'
user: 'Plan a trip'
assistant: 'Where to?'
user: 'To Oslo, by plane'
assistant: 'By plane, then'
user: 'To Bergen, by train'
assistant: 'By train, then'
user: 'Book a room for two\nBook a room for three'
assistant: 'Three it is'
R
v/bin/claude-code-transcripts json session.jsonl -o pages | grep -o '5 prompts'  # three were asked in the end
v/bin/claude-code-log session.jsonl -o log.html >/dev/null 2>&1
grep -o 'Fork point &bull; [A-Z][a-z ?]*' log.html | sort -u | tee forks.txt
[ "$(wc -l < forks.txt)" = 2 ]
