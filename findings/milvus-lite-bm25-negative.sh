#!/usr/bin/env bash
# milvus-lite 3.2.2, pymilvus 3.0.2; seen 2026-11-30: scores of BM25 in Milvus Lite are negative, and a range search by them is turned around.
# Expected: a score of BM25 grows with the match, as the scores of the metrics IP and COSINE do here, `radius` is the score that a
# hit must be above, and `range_filter` the highest that it may have.
# Seen: a hit with a score of 1.16 is given as −1.16, in the right order, the best first. `radius` 2 lets all hits through, `radius` −1
# only the best, which is the one that it should keep out, and a range from 0.5 to 100 none. IP and COSINE give what they should.
# For a user: a lowest score that was fitted to Milvus lets everything through in Milvus Lite, and a sort by score, highest first,
# puts the worst hit on top.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install milvus-lite==3.2.2 pymilvus==3.0.2
v/bin/pip list --format=freeze | grep -E '^(milvus-lite|pymilvus)=='
v/bin/python -W ignore - <<'P'
from pymilvus import DataType, Function, FunctionType, MilvusClient

client = MilvusClient("./memory.db")
schema = client.create_schema()
schema.add_field("id", DataType.INT64, is_primary=True)
schema.add_field("vector", DataType.FLOAT_VECTOR, dim=2)
schema.add_field("text", DataType.VARCHAR, max_length=100, enable_analyzer=True)
schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
schema.add_function(Function(name="bm25", function_type=FunctionType.BM25, input_field_names=["text"], output_field_names=["words"]))
index = client.prepare_index_params()
index.add_index("vector", index_type="FLAT", metric_type="IP")
index.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
client.create_collection("memory", schema=schema, index_params=index)
texts = ["the boat is called Wanda", "Wanda Wanda Wanda", "the dog", "the boat"]
client.insert("memory", [{"id": number, "vector": [float(number), 1.0], "text": text} for number, text in enumerate(texts, 1)])

def search(field, question, **bounds):
    hits = client.search("memory", [question], anns_field=field, limit=4, search_params={"params": bounds})[0]
    return [(hit["id"], round(hit["distance"], 2)) for hit in hits]
seen = {
    "IP": search("vector", [1.0, 0.0]),
    "IP, above 2": search("vector", [1.0, 0.0], radius=2),
    "BM25": search("words", "Wanda"),
    "BM25, above 2": search("words", "Wanda", radius=2),
    "BM25, above -1": search("words", "Wanda", radius=-1),
    "BM25, above 0.5 and up to 100": search("words", "Wanda", radius=0.5, range_filter=100),
}
client.close()
for what, answer in seen.items(): print(f"{what}: {answer}")
both = [(2, -1.16), (1, -0.53)]
assert list(seen.values()) == [
    [(4, 4.0), (3, 3.0), (2, 2.0), (1, 1.0)], [(4, 4.0), (3, 3.0)], both, both, both[:1], [],
], "Milvus Lite scores otherwise now"
P
