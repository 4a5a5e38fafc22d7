#!/usr/bin/env bash
# langgraph 1.2.24, langgraph-checkpoint-sqlite 3.1.2: what ends in a store of LangGraph, and what begins by reading it.
# Seen: a `get` of a namespace in which nothing was ever put makes InMemoryStore list that namespace, and a `delete` of the last
# item leaves it listed; SQLite lists neither. InMemoryStore shares what lies deeper in a value with whoever put it. In SQLite an item
# that has ended is found by `get` and `search` until somebody sweeps; `refresh_ttl=True` moves no end on unless the store was made
# with `refresh_on_read`; and with it a read moves the end back, because the new one is cut to whole seconds and the first is not.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2
v/bin/python - <<'P'
import datetime, time
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

memory, seen = InMemoryStore(), {}
memory.get(("nothing", "put"), "k")
seen["memory lists after a get"] = memory.list_namespaces()
value = {"deep": [1]}
memory.put(("a",), "k", value)
value["deep"].append(2)
seen["memory has after the caller's change"] = memory.get(("a",), "k").value
memory.delete(("a",), "k")
seen["memory lists after a delete"] = memory.list_namespaces()
with SqliteStore.from_conn_string(":memory:") as lite:
    lite.setup()
    lite.get(("nothing", "put"), "k"); lite.put(("a",), "k", value); lite.delete(("a",), "k")
    seen["sqlite lists after both"] = lite.list_namespaces()
    lite.put(("t",), "k", {"v": 1}, ttl=1 / 60)
    for _ in range(6):
        time.sleep(0.5)
        lite.get(("t",), "k", refresh_ttl=True)
    seen["sqlite gets what has ended"] = lite.get(("t",), "k", refresh_ttl=False) is not None
    seen["sqlite finds what has ended"] = [one.key for one in lite.search(("t",), refresh_ttl=False)]
    seen["sqlite sweeps what was refreshed each half second"] = lite.sweep_ttl()
moved = []
for wait in (0.15, 0.35, 0.55, 0.75):
    with SqliteStore.from_conn_string(":memory:", ttl={"default_ttl": 1, "refresh_on_read": True}) as lite:
        lite.setup()
        time.sleep((1 + wait - time.time() % 1) % 1)
        lite.put(("t",), "k", {"v": 1})
        end = lambda: datetime.datetime.fromisoformat(lite.conn.execute("select expires_at from store").fetchone()[0]).replace(tzinfo=None)
        before = end(); lite.get(("t",), "k"); moved.append((end() - before).total_seconds())
seen["a read at once moves the end of sqlite by seconds"] = [round(one, 1) for one in moved]
for what, answer in seen.items(): print(f"{what}: {answer}")
assert all(one < 0 for one in moved)
del seen["a read at once moves the end of sqlite by seconds"]
assert list(seen.values()) == [
    [("nothing", "put")], {"deep": [1, 2]}, [("a",), ("nothing", "put")], [], True, ["k"], 1,
]
P
