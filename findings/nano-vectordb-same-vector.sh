#!/usr/bin/env bash
# nano-vectordb 0.0.4.3, numpy 2.4.6; seen 2026-11-30: rows without an ID that have the same vector are one row, the last.
# Expected: as the README says, a row without `__id__` gets an ID that is generated, one for each row.
# Seen: the ID is made of the vector alone. Of two memories that an embedder cannot tell apart ("Ana owes Ben 5" and "Ben owes Ana 5" for
# one that counts words) the first is gone at once, and `upsert` names one ID for two rows, so that a list of IDs beside the list of
# rows no longer fits. `upsert` also takes `__vector__` out of the dictionaries it was given, so that a list of rows can be stored
# once only. `get` answers in the order of the file, not in that of the IDs asked for, and leaves out what it does not know.
# For a user: give each row an ID of its own, hand over copies, and find out by `__id__` which row is which.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install nano-vectordb==0.0.4.3 numpy==2.4.6
v/bin/pip list --format=freeze | grep -E '^(nano-vectordb|numpy)=='
v/bin/python - 2>errors <<'P'
import numpy
from nano_vectordb import NanoVectorDB

words = ["ana", "ben", "owes", "5", "tea"]
def row(text, **more):  # counts words
    return {"__vector__": numpy.array([text.lower().split().count(word) for word in words], dtype=numpy.float32), "text": text, **more}

store = NanoVectorDB(len(words), storage_file="a.json")
rows = [row("Ana owes Ben 5"), row("Ben owes Ana 5"), row("Ana drinks tea")]
told = store.upsert(rows)
found = [one["text"] for one in store.query(row("Ana owes Ben 5")["__vector__"], top_k=9)]
print("rows given: 3, IDs told:", len(told["insert"]), "rows kept:", len(store), "found:", found)
print("keys of the caller's rows afterwards:", sorted(rows[2]))
named = NanoVectorDB(len(words), storage_file="b.json")
named.upsert([row("Ana owes Ben 5", __id__="1"), row("Ben owes Ana 5", __id__="2"), row("Ana drinks tea", __id__="3")])
order = [one["__id__"] for one in named.get(["3", "0", "1"])]
print("with IDs:", len(named), "rows; get of 3, 0 and 1:", order)
assert len(told["insert"]) == 2 == len(store) and sorted(found) == ["Ana drinks tea", "Ben owes Ana 5"], "two rows are kept apart now"
assert "__vector__" not in rows[2] and len(named) == 3 and order == ["1", "3"], "rows or their order are left alone now"
P
