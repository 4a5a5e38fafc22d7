#!/usr/bin/env bash
# mem0ai 2.2.1, qdrant-client 1.20.0, chromadb 1.5.9; seen 2026-11-30: in mem0 a tag that is `ne` x and `NOT` a tag of x find other memories.
# Expected: both mean that the tag is not x, and each filter means the same in Qdrant, the store by default, and in Chroma.
# Seen: in Qdrant `ne` and `nin` leave out a memory that has no tag and take one that has x among several; `NOT` does the reverse of both.
# In Chroma all three take both. `contains` takes whole words in Qdrant, and large and small letters as one: "x" finds "X" and "x y"
# and not "xy"; in Chroma it is equality, and `icontains` too. A list is found by one of its members in Qdrant and never in Chroma.
# For a user: "all but what is private" leaves out, or tells, what was never marked, by the way that it is written and where it is kept.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
export HOME=$folder MEM0_TELEMETRY=false OPENAI_API_KEY=unused ANONYMIZED_TELEMETRY=False
python3 -m venv v; v/bin/pip -q install mem0ai==2.2.1 qdrant-client==1.20.0 chromadb==1.5.9
v/bin/pip list --format=freeze | grep -E '^(mem0ai|qdrant-client|chromadb)=='
v/bin/python -W ignore - 2>errors <<'P'
import hashlib
from mem0 import Memory

class Words:  # one place of the vector for each word
    config = None
    def embed(self, text, *_, **__):
        row = [0.0] * 64
        for word in text.lower().split(): row[int(hashlib.md5(word.encode()).hexdigest(), 16) % 64] += 1
        return row
    def embed_batch(self, texts, *_, **__): return [self.embed(text) for text in texts]

tags = {"x": "x", "y": "y", "none": None, "X": "X", "xy": "xy", "x y": "x y", "list": ["x", "z"]}
questions = [{"tag": {"ne": "x"}}, {"tag": {"nin": ["x"]}}, {"NOT": [{"tag": "x"}]}, {"tag": {"contains": "x"}}, {"tag": {"icontains": "x"}}, {"tag": "x"}]
seen = {}
for provider, config in {"qdrant": {"embedding_model_dims": 64}, "chroma": {}}.items():
    memory = Memory.from_config({"history_db_path": f"{provider}.db", "vector_store": {
        "provider": provider, "config": {"path": provider, "collection_name": "memories", **config}}})
    memory.embedding_model = Words()
    names = {}
    for name, tag in tags.items():
        added = memory.add(f"Ana noted {name}", user_id="ana", infer=False, metadata={"tag": tag} if tag else {})
        names[added["results"][0]["id"]] = name
    seen[provider] = [sorted(names[one["id"]] for one in memory.search("Ana noted", filters={"user_id": "ana", **question}, threshold=0.0, top_k=9)["results"])
                      for question in questions]
for number, question in enumerate(questions): print(question, {provider: answers[number] for provider, answers in seen.items()})
assert seen == {
    "qdrant": [["X", "list", "x y", "xy", "y"]] * 2 + [["X", "none", "x y", "xy", "y"]] + [["X", "list", "x", "x y"]] * 2 + [["list", "x"]],
    "chroma": [["X", "list", "none", "x y", "xy", "y"]] * 3 + [["x"]] * 3,
}, "mem0 filters otherwise now"
P
