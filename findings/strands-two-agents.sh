#!/usr/bin/env bash
# strands-agents 1.62.0: two agents on one session of FileSessionManager overwrite each other's messages.
# Seen: two agents with the same agent id are made on one new session, as by two workers of a web server or by one that restarts. Each
# counts its messages by itself, from what it read when it was made, and message 0 of the second replaces message 0 of the first. All
# three calls succeed; the session, read again, has the second question, goes on with the third, and the first one and its answer are gone.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install strands-agents==1.62.0
v/bin/python - <<'P'
from strands import Agent
from strands.models import Model
from strands.session import FileSessionManager

class Scripted(Model):
    def update_config(self, **_): pass
    def get_config(self): return {}
    async def structured_output(self, *_, **__): raise NotImplementedError
    async def stream(self, messages, *_, **__):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "answer to " + messages[-1]["content"][0]["text"]}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}

def agent():
    session = FileSessionManager("s", storage_dir="sessions")
    return Agent(model=Scripted(), agent_id="a", callback_handler=None, session_manager=session)

one, two = agent(), agent()
one("first"); two("second"); one("third")
kept = [message["content"][0]["text"] for message in agent().messages]
print("said: first, second, third; the session has:", kept)
assert kept == ["second", "answer to second", "third", "answer to third"]
P
