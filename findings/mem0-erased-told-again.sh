#!/usr/bin/env bash
# mem0ai 2.2.1, qdrant-client 1.20.0; seen 2026-12-01: what `delete_all` of mem0 erased is told to the model again at the next `add`, in the words of the user.
# Expected: after `delete_all(user_id=…)`, or `delete` of the memory that came of a message, nothing that this user said goes to the model again.
# Seen: mem0 also keeps the last ten messages of a user, agent or run in its own SQLite file, and puts them before the model, as "Last k Messages",
# whenever something is added. Neither `delete` nor `delete_all` takes them away, nor is there another call that does so for one user, so
# that they go with the next ten messages only; `get_all` and `search` find nothing, and nothing shows that they are there. `reset`
# takes them away, with the memories of all users. With `infer=False` no messages are kept.
# For a user: who was forgotten on request is sent to the provider of the model once more, and the model may note it anew.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder MEM0_TELEMETRY=false OPENAI_API_KEY=unused
python3 -m venv v; v/bin/pip -q install mem0ai==2.2.1 qdrant-client==1.20.0; v/bin/pip list --format=freeze | grep -E '^(mem0ai|qdrant-client)=='
v/bin/python -W ignore - 2>errors <<'P'
import json
from mem0 import Memory

class Same:  # one vector for all
    config = None
    def embed(self, *_, **__): return [1.0, 0.0]
    def embed_batch(self, texts, *_, **__): return [[1.0, 0.0] for _ in texts]
class Model:  # notes one thing, and keeps what it was told
    told = []
    def generate_response(self, messages, **_):
        self.told.append(" ".join(message["content"] for message in messages))
        return json.dumps({"memory": [{"text": f"fact {len(self.told)}"}]})

memory = Memory.from_config({"history_db_path": "history.db", "vector_store": {
    "provider": "qdrant", "config": {"path": "qdrant", "collection_name": "memories", "embedding_model_dims": 2}}})
memory.embedding_model, memory.llm = Same(), Model()
def known(): return len(memory.get_all(filters={"user_id": "ana"})["results"])
def again(): return "4711" in memory.llm.told[-1]

seen = {}
memory.add("My number is 4711", user_id="ana")
memory.delete_all(user_id="ana")
seen["memories after delete_all"] = known()
memory.add("Hello", user_id="ana")
seen["told to the model at the next add"] = again()
for one in memory.get_all(filters={"user_id": "ana"})["results"]: memory.delete(one["id"])
for number in range(8): memory.add(f"message {number}", user_id="ana")
seen["and nine messages later"] = again()
memory.add("message 8", user_id="ana"); memory.add("message 9", user_id="ana")
seen["and eleven messages later"] = again()
memory.add("My number is 4711", user_id="ana"); memory.reset(); memory.embedding_model = Same(); memory.add("Hello", user_id="ana")
seen["told after reset"] = again()
for what, answer in seen.items(): print(f"{what}: {answer}")
assert list(seen.values()) == [0, True, True, False, False]
P
