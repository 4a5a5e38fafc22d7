#!/usr/bin/env bash
# mem0ai 2.2.1, milvus-lite 3.2.2, pymilvus 3.0.2; seen 2026-11-30: on Milvus Lite the words of a question count for nothing in mem0, or the wrong way round.
# Expected: of two memories that are equally near by vector, `search` gives the one first that has more of the words of the question.
# Seen: Milvus Lite gives BM25 as a negative number, and mem0 counts only what is above 0. With the metric COSINE no word ever counts,
# and no message says so. With L2 mem0 turns the BM25 of a hit into 1 / (1 + it), as if it were a distance: what matches least
# (−0.34) comes out above 0 and counts, and what matches well (−1.07, −3.25) does not. The one with three words of the question
# then stands behind the one with one word; and as something counts, the scores of all memories are halved.
# For a user: search by words there is off or harmful. COSINE is the lesser evil, and a lowest score must be fitted for each question.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder MEM0_DIR=$folder MEM0_TELEMETRY=false OPENAI_API_KEY=none
python3 -m venv v; v/bin/pip -q install mem0ai==2.2.1 milvus-lite==3.2.2 pymilvus==3.0.2
v/bin/pip list --format=freeze | grep -E '^(mem0ai|milvus-lite|pymilvus)=='
v/bin/python -W ignore - <<'P'
import logging, math
logging.disable(logging.CRITICAL)
from mem0 import Memory
from mem0.embeddings.openai import OpenAIEmbedding

question = "what was the boat called"
degrees = {question: 0, "Ana called her boat Wanda": 5, "Ben has a boat in Lyon": 20, "The boat race was called off": 20, "Ben rides a bike": 40}
def embed(self, text, memory_action=None): return [math.cos(math.radians(degrees[text])), math.sin(math.radians(degrees[text]))]
OpenAIEmbedding.embed = embed
OpenAIEmbedding.embed_batch = lambda self, texts, memory_action=None: [embed(self, text) for text in texts]

seen = {}
for metric in ("COSINE", "L2"):
    store = {"url": f"./{metric}.db", "token": "", "db_name": "", "collection_name": "m", "embedding_model_dims": 2, "metric_type": metric}
    memory = Memory.from_config({"vector_store": {"provider": "milvus", "config": store}, "history_db_path": f"{metric}-history.db"})
    for text in ("The boat race was called off", "Ben has a boat in Lyon", "Ana called her boat Wanda", "Ben rides a bike"):
        memory.add(text, user_id="u", infer=False)
    words = memory.vector_store.keyword_search(question, filters={"user_id": "u"})
    print(metric, "by words:", [(hit.payload["data"], round(hit.score, 2)) for hit in words])
    found = memory.search(question, filters={"user_id": "u"}, explain=True)["results"]
    seen[metric] = [(one["memory"], one["score_details"]["bm25_score"] > 0, round(one["score"], 2)) for one in found]
    for text, counted, score in seen[metric]: print(metric, score, "words count" if counted else "words do not count", text)
problem = "mem0 and Milvus Lite rank otherwise now"
assert not any(counted for text, counted, score in seen["COSINE"]), problem
assert seen["L2"] == [
    ("Ana called her boat Wanda", False, 0.5), ("Ben has a boat in Lyon", True, 0.46),
    ("The boat race was called off", False, 0.45), ("Ben rides a bike", False, 0.34),
], problem
P
