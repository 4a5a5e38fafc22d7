#!/usr/bin/env bash
# pyseekdb 1.4.0.post1 (embedded); seen 2026-11-30: with `distance="inner_product"` a query gives what is farthest first.
# Expected: `query` gives the nearest rows whatever the distance is, and `distances` grow from the first row to the last.
# Seen: with inner_product `distances` holds the product itself, which is larger for a nearer row, and the rows are sorted from the smallest:
# who asks for the one nearest row gets the one that points the other way. `hybrid_search` of the same vector sorts from the
# largest. With words and a vector the `distances` of `hybrid_search` are scores, larger for better, in whatever distance.
# For a user: RAG with vectors of length 1, for which the inner product is the usual choice, is given the most unlike memories.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install pyseekdb==1.4.0.post1 pylibseekdb==1.4.0.post1
v/bin/pip list --format=freeze | grep -E '^(pyseekdb|pylibseekdb)=='
v/bin/python -W ignore - <<'P'
import pyseekdb
client = pyseekdb.Client(path="data")
seen = {}
for distance in ("cosine", "l2", "inner_product"):
    rows = client.create_collection(distance, configuration=pyseekdb.HNSWConfiguration(dimension=2, distance=distance), embedding_function=None)
    rows.add(ids=["same", "near", "across", "opposite"], embeddings=[[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-1.0, 0.0]],
             documents=["green tea", "tea and boats", "boats", "nothing"])
    rows.refresh_index()  # what was added is not found by the index before it is built
    vector, words = {"query_embeddings": [[1.0, 0.0]], "n_results": 4}, {"where_document": {"$contains": "tea"}, "n_results": 4}
    asked = {
        "query": rows.query(query_embeddings=[[1.0, 0.0]], n_results=4),
        "query for one": rows.query(query_embeddings=[[1.0, 0.0]], n_results=1),
        "hybrid, vector": rows.hybrid_search(knn=vector, n_results=4),
        "hybrid, both": rows.hybrid_search(query=words, knn=vector, n_results=4),
    }
    for what, found in asked.items():
        seen[distance, what] = found["ids"][0]
        print(f"{distance}, {what}: {found['ids'][0]} {[round(float(one), 2) for one in found['distances'][0]]}")
    scores = asked["hybrid, both"]["distances"][0]
    assert list(scores) == sorted(scores, reverse=True)
near = ["same", "near", "across", "opposite"]
for distance in ("cosine", "l2"):
    assert [seen[distance, what] for what in asked] == [near, near[:1], near, near], "pyseekdb sorts otherwise now"
assert [seen["inner_product", what] for what in asked] == [near[::-1], near[:2:-1], near, near], "pyseekdb sorts otherwise now"
P
