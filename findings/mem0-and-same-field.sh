#!/usr/bin/env bash
# mem0ai 2.2.1, qdrant-client 1.20.0; seen 2026-12-01: of two conditions on one field in an `AND` of mem0 the last alone counts.
# Expected: `{"AND": [{"tag": {"ne": "private"}}, {"tag": {"ne": "secret"}}]}` leaves out both, as `nin` with the two does, and two values of
# a field with several must both be there.
# Seen: the conditions are merged into one for each field, so that the second with the same operator replaces the first. "Not private and
# not secret" finds what is private, "for Ana and for Ben" what is for Ben alone, and "from 7" and "from 5" what is from 5. Two operators,
# as `gte` and `lt`, are both kept, and the parts of `NOT`. A condition beside the `AND` is merged with those in it as well.
# Nothing tells which condition was dropped.
# For a user: a filter that is built of parts, one by one, tells what the first part was to keep back.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder MEM0_TELEMETRY=false OPENAI_API_KEY=unused
python3 -m venv v; v/bin/pip -q install mem0ai==2.2.1 qdrant-client==1.20.0; v/bin/pip list --format=freeze | grep -E '^(mem0ai|qdrant-client)=='
v/bin/python -W ignore - 2>errors <<'P'
from mem0 import Memory

class Same:  # one vector for all
    config = None
    def embed(self, *_, **__): return [1.0, 0.0]
    def embed_batch(self, texts, *_, **__): return [[1.0, 0.0] for _ in texts]

memory = Memory.from_config({"history_db_path": "history.db", "vector_store": {
    "provider": "qdrant", "config": {"path": "qdrant", "collection_name": "memories", "embedding_model_dims": 2}}})
memory.embedding_model, names = Same(), {}
for tag, who, size in (("private", ["ana"], 5), ("secret", ["ben"], 6), ("open", ["ana", "ben"], 7)):
    names[memory.add(tag, user_id="ana", infer=False, metadata={"tag": tag, "for": who, "size": size})["results"][0]["id"]] = tag

def ne(tag): return {"tag": {"ne": tag}}
questions = {
    "nin": {"tag": {"nin": ["private", "secret"]}},
    "AND of two ne": {"AND": [ne("private"), ne("secret")]},
    "the other way round": {"AND": [ne("secret"), ne("private")]},
    "one beside the AND": {**ne("private"), "AND": [ne("secret")]},
    "NOT with both": {"NOT": [{"tag": "private"}, {"tag": "secret"}]},
    "AND of for ana and for ben": {"AND": [{"for": "ana"}, {"for": "ben"}]},
    "AND of gte 7 and gte 5": {"AND": [{"size": {"gte": 7}}, {"size": {"gte": 5}}]},
    "AND of gte 5 and lt 7": {"AND": [{"size": {"gte": 5}}, {"size": {"lt": 7}}]},
}
seen = {what: sorted(names[one["id"]] for one in memory.search("which", filters={"user_id": "ana", **question}, threshold=0.0, top_k=9)["results"])
        for what, question in questions.items()}
for what, answer in seen.items(): print(f"{what}: {answer}")
assert list(seen.values()) == [
    ["open"], ["open", "private"], ["open", "secret"], ["open", "private"], ["open"], ["open", "secret"], ["open", "private", "secret"], ["private", "secret"],
]
P
