#!/usr/bin/env bash
# langgraph 1.2.24, langgraph-checkpoint-sqlite 3.1.2: InMemoryStore and SqliteStore are one interface with two meanings.
# Seen: {"$ne": …} of a field that an item lacks finds the item in memory and not in SQLite; a filter by an equal object finds it
# in memory and raises "Unsupported operator" in SQLite; "d.x" is a path in SQLite alone; an order ("$lt") of a field that one item
# lacks is a TypeError in memory, and in SQLite a comparison by type, in which 9 is below "5". In both a second put of a key sets created_at anew; SQLite's has no fraction and no zone.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2
v/bin/python - <<'P'
import sqlite3, time
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
lite = SqliteStore(sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)); lite.setup()
stores = {"memory": InMemoryStore(), "sqlite": lite}
items = {"done": {"done": True, "d": {"x": 1}}, "open": {"done": False, "n": 2}, "none": {"n": 9}}
filters = [{"done": {"$ne": True}}, {"d": {"x": 1}}, {"d.x": 1}, {"n": {"$lt": "5"}}]
seen = {}
for name, store in stores.items():
    for key, value in items.items(): store.put(("a",), key, value)
    for one in filters:
        try: answer = sorted(item.key for item in store.search(("a",), filter=one))
        except Exception as error: answer = f"{type(error).__name__}: {error}"
        seen.setdefault(str(one), {})[name] = answer
    first = store.get(("a",), "done").created_at; time.sleep(1.1)
    store.put(("a",), "done", {"done": False})
    seen.setdefault("created_at moved", {})[name] = store.get(("a",), "done").created_at != first
for one, answer in seen.items(): print(one, answer)
assert seen == {
    "{'done': {'$ne': True}}": {"memory": ["none", "open"], "sqlite": ["open"]},
    "{'d': {'x': 1}}": {"memory": ["done"], "sqlite": "ValueError: Unsupported operator: x"},
    "{'d.x': 1}": {"memory": [], "sqlite": ["done"]},
    "{'n': {'$lt': '5'}}": {"memory": "TypeError: float() argument must be a string or a real number, not 'NoneType'", "sqlite": ["none", "open"]},
    "created_at moved": {"memory": True, "sqlite": True},
}
assert len(str(lite.get(("a",), "done").updated_at)) == len("2026-11-28 03:20:02")
P
