#!/usr/bin/env bash
# mem0ai 2.2.1, qdrant-client 1.20.0; seen 2026-11-30: memories that have expired still take the places of those that have not.
# Expected: with `expiration_date` a memory is hidden once the day is over, and searches and lists go on as if it were not there.
# Seen: `search` and `get_all` fetch four times as many as are asked for, 60 at least, and only then take out what has expired.
# Where as many expired ones are nearer to the question nothing is found, with no error, though all that is alive fits; the
# same search with a `top_k` of 200 finds it. `get_all` leaves out some of what is alive, by chance.
# For a user: notes of the kind that expire, one a day, in some months hide what was to be kept; they have to be deleted.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder MEM0_TELEMETRY=false OPENAI_API_KEY=unused
python3 -m venv v; v/bin/pip -q install mem0ai==2.2.1 qdrant-client==1.20.0
v/bin/pip list --format=freeze | grep -E '^(mem0ai|qdrant-client)=='
v/bin/python -W ignore - 2>errors <<'P'
import hashlib
from mem0 import Memory

class Words:  # one place of the vector for each word
    config = None
    def embed(self, text, *_, **__):
        row = [0.0] * 128
        for word in text.lower().split(): row[int(hashlib.md5(word.encode()).hexdigest(), 16) % 128] += 1
        return row
    def embed_batch(self, texts, *_, **__): return [self.embed(text) for text in texts]

memory = Memory.from_config({"history_db_path": "history.db", "vector_store": {
    "provider": "qdrant", "config": {"path": "vectors", "embedding_model_dims": 128, "collection_name": "memories"}}})
memory.embedding_model = Words()
living = [f"Ana parked in the street, rule {number}" for number in range(5)]
for text in living: memory.add(text, user_id="ana", infer=False)
ask = lambda **more: {one["memory"] for one in memory.search("where Ana parked today", filters={"user_id": "ana"}, **more)["results"]}
listed = lambda **more: {one["memory"] for one in memory.get_all(filters={"user_id": "ana"}, **more)["results"]}

seen = {}
def look(when):
    seen[when] = [len(ask()), len(ask(top_k=200)), len(listed())]
    print(f"{when}: found {seen[when][0]} of 5, with a top_k of 200 {seen[when][1]}, listed {seen[when][2]}")
look("at first")
for number in range(600): memory.add(f"Ana parked today in place {number}", user_id="ana", infer=False, expiration_date="2026-01-01")
look("with 600 that have expired")
assert seen["at first"] == [5, 5, 5]
found, found_of_many, listed_now = seen["with 600 that have expired"]
assert found == 0 and found_of_many == 5 and listed_now < 5, "mem0 hides what has expired otherwise now"
P
