#!/usr/bin/env bash
# llm 0.36, sqlite-utils 4.2.1; seen 2026-11-30: a collection of embeddings of `llm` leaves out an entry whose text it knows from another.
# Expected: an entry is what its ID says; a text that was embedded before only saves the call of the model.
# Seen: `embed` with a new ID and a text that any other ID of the collection has stores nothing and says nothing; its metadata is
# lost too, and when the first ID is deleted the text is found no more. `embed_multi` keeps two such entries, but leaves an ID
# as it is when the text that was given to any ID of the same batch is one it had before: two notes whose texts are
# exchanged stay as they were, and a note whose old text another takes keeps that too. Given one call each, the same notes change.
# For a user: an import of short turns ("yes", "thanks") keeps one of each, and a second run over changed files leaves old texts.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export LLM_USER_PATH=$folder/user
python3 -m venv v; v/bin/pip -q install llm==0.36 sqlite-utils==4.2.1
v/bin/pip list --format=freeze | grep -E '^(llm|sqlite-utils)=='
v/bin/python - <<'P'
import json, llm, sqlite_utils

class Letters(llm.EmbeddingModel):
    model_id = "letters"
    def embed_batch(self, items):
        for item in items: yield [float(item.count(one)) for one in "abcdefghijklmnopqrstuvwxyz"]

database = sqlite_utils.Database(memory=True)
def collection(name): return llm.Collection(name, database, model=Letters())
def rows(one):
    return {row["id"]: (row["content"], json.loads(row["metadata"]) if row["metadata"] else None)
            for row in database.query("select * from embeddings where collection_id = ? order by id", [one.id])}
turns, seen = collection("turns"), {}
turns.embed("turn-1", "yes, please", metadata={"by": "Ana"}, store=True)
turns.embed("turn-2", "yes, please", metadata={"by": "Ben"}, store=True)
seen["two turns of one text"] = rows(turns)
database["embeddings"].delete_where("id = ?", ["turn-1"])
seen["found after the first is deleted"] = [entry.id for entry in turns.similar("yes, please")]

both = collection("both")
both.embed_multi([("turn-1", "yes, please"), ("turn-2", "yes, please")], store=True)
seen["two turns of one text in a batch"] = rows(both)

notes = collection("notes")
notes.embed_multi([("home", "Oslo"), ("work", "Bergen")], store=True)
notes.embed_multi([("home", "Bergen"), ("work", "Oslo")], store=True)
seen["two notes after their texts were exchanged"] = rows(notes)
moved = collection("moved")
moved.embed_multi([("home", "Oslo"), ("work", "Bergen")], store=True)
moved.embed_multi([("home", "Rome"), ("past", "Oslo")], store=True)
seen["a note whose old text another takes"] = rows(moved)
each = collection("each")
each.embed_multi([("home", "Oslo"), ("work", "Bergen")], store=True)
for note in (("home", "Bergen"), ("work", "Oslo")): each.embed_multi([note], store=True)
seen["two notes exchanged by one call each"] = rows(each)
for what, answer in seen.items(): print(f"{what}: {answer}")
assert list(seen.values()) == [
    {"turn-1": ("yes, please", {"by": "Ana"})},
    [],
    {"turn-1": ("yes, please", None), "turn-2": ("yes, please", None)},
    {"home": ("Oslo", None), "work": ("Bergen", None)},
    {"home": ("Oslo", None), "past": ("Oslo", None), "work": ("Bergen", None)},
    {"home": ("Bergen", None), "work": ("Oslo", None)},
], "llm keeps other entries now"
P
