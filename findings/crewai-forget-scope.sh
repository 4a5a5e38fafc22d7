#!/usr/bin/env bash
# crewai 1.15.30: forgetting a scope of the memory forgets more than the scope, in the storage that is the default (LanceDB).
# Seen: forget(scope="/projects/api") also erases the records of "/" and those of "/projects/api-docs", whose name only begins alike.
# With categories the records of "/" stay and those of "/projects/api-docs" go. With older_than, whatever its time, all records of the scope
# go, new ones too, and only those of "/" are kept for their age: the conditions are joined as `scope OR (root AND older)`.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install crewai==1.15.30
CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true v/bin/python -W ignore - <<'P'
import datetime
from crewai import Memory
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord

def left_after(**forgotten):
    left_after.calls += 1
    storage = LanceDBStorage(path=f"memory-{left_after.calls}")
    scopes = ("/", "/projects/api", "/projects/api-docs", "/projects/web")
    storage.save([MemoryRecord(content=scope, scope=scope, categories=["c"], embedding=[1.0, 0.0]) for scope in scopes])
    memory = Memory(storage=storage, llm="none", embedder=lambda texts: [[1.0, 0.0] for _ in texts])
    memory.forget(**forgotten)
    return sorted(one.content for one in memory.list_records())

left_after.calls = 0
last_year = datetime.datetime.utcnow() - datetime.timedelta(days=365)
seen = {
    "scope": left_after(scope="/projects/api"),
    "scope and category": left_after(scope="/projects/api", categories=["c"]),
    "scope, and older than a year": left_after(scope="/projects/api", older_than=last_year),
}
for what, left in seen.items(): print(f"forget by {what} leaves: {left}")
assert list(seen.values()) == [["/projects/web"], ["/", "/projects/web"], ["/", "/projects/web"]]
P
