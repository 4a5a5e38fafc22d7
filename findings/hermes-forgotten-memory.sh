#!/usr/bin/env bash
# hermes-agent 0.19.0: what the agent replaces or removes in its own memory stays in the holographic provider, and is told again.
# Seen: the manager hands each add, replace and remove of the built-in memory to the provider, and the provider that comes with Hermes and
# needs no service stores an add and does nothing else. After the removal the built-in memory is empty, and the next question about it
# brings the first wording back, which the agent had replaced already.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install hermes-agent==0.19.0
HERMES_HOME="$folder/home" v/bin/python - <<'P'
import json, os
from agent.memory_manager import MemoryManager
from plugins.memory import load_memory_provider
from tools.memory_tool import MemoryStore, memory_tool

os.makedirs(os.environ["HERMES_HOME"])
store, manager = MemoryStore(), MemoryManager()
store.load_from_disk()
manager.add_provider(load_memory_provider("holographic"))
manager.initialize_all(session_id="s", platform="cli", hermes_home=os.environ["HERMES_HOME"], agent_context="primary")

def does(**args):
    result = memory_tool(store=store, **args)
    manager.notify_memory_tool_write(result, args)
    assert json.loads(result)["success"]
    told = manager.prefetch_all("which tea is liked?").splitlines()[1:]
    print(f"{args['action']}: built-in memory {store.user_entries}, the provider tells {told}")
    return store.user_entries[:], [line.split("] ")[1] for line in told]

seen = [
    does(action="add", target="user", content="The user likes green tea"),
    does(action="replace", target="user", old_text="green", content="The user likes black tea"),
    does(action="remove", target="user", old_text="black tea"),
]
assert [told for _, told in seen] == [["The user likes green tea"]] * 3
assert [kept for kept, _ in seen] == [["The user likes green tea"], ["The user likes black tea"], []]
P
