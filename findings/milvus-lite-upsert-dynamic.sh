#!/usr/bin/env bash
# milvus-lite 3.2.2, pymilvus 3.0.2; seen 2026-11-30: an `upsert` in Milvus Lite empties the fields of the schema and keeps the dynamic ones.
# Expected: without `partial_update` the new row takes the place of the old one whole; with it, what is not given stays.
# Seen: a field of the schema that the new row does not name is set to null or to its default, as expected, but dynamic fields that
# it does not name stay as they were, and filters find the row by them; `partial_update=False` changes nothing. An `insert` of the
# same ID does replace the whole row, and does not add a second one; so does a `delete` before the `upsert`.
# For a user: tags, scopes and end dates that are kept as dynamic fields outlive the memory that they belonged to.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install milvus-lite==3.2.2 pymilvus==3.0.2
v/bin/pip list --format=freeze | grep -E '^(milvus-lite|pymilvus)=='
v/bin/python -W ignore - <<'P'
from pymilvus import DataType, MilvusClient

client = MilvusClient("./memory.db")
schema = client.create_schema(enable_dynamic_field=True)
schema.add_field("id", DataType.INT64, is_primary=True)
schema.add_field("vector", DataType.FLOAT_VECTOR, dim=2)
schema.add_field("topic", DataType.VARCHAR, max_length=20, nullable=True)
index = client.prepare_index_params()
index.add_index("vector", index_type="FLAT", metric_type="L2")
client.create_collection("memory", schema=schema, index_params=index)

def row(): return {name: value for name, value in client.get("memory", [1])[0].items() if name not in ("id", "vector")}
def found(where): return [one["id"] for one in client.query("memory", filter=where, output_fields=["id"])]
old, new = {"id": 1, "vector": [1.0, 0.0], "topic": "home", "tag": "private"}, {"id": 1, "vector": [0.0, 1.0], "text": "new"}
client.insert("memory", [old])
seen = {"first": row()}
client.upsert("memory", [new])
seen["after upsert"] = row()
seen["found by the old topic, by the old tag"] = found('topic == "home"'), found('tag == "private"')
client.upsert("memory", [new], partial_update=False)
seen["after upsert with partial_update=False"] = row()
client.insert("memory", [new])
seen["after insert"] = row()
seen["rows"] = client.query("memory", filter="", output_fields=["count(*)"])[0]["count(*)"]
client.upsert("memory", [old]); client.delete("memory", ids=[1]); client.upsert("memory", [new])
seen["after delete and upsert"] = row()
client.close()
for what, answer in seen.items(): print(f"{what}: {answer}")
assert list(seen.values()) == [
    {"topic": "home", "tag": "private"},
    {"topic": None, "tag": "private", "text": "new"},
    ([], [1]),
    {"topic": None, "tag": "private", "text": "new"},
    {"topic": None, "text": "new"},
    1,
    {"topic": None, "text": "new"},
], "Milvus Lite upserts otherwise now"
P
