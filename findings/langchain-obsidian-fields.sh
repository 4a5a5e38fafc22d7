#!/usr/bin/env bash
# langchain-community 0.4.2; seen 2026-12-01: of two fields in one line of an Obsidian note, the loader of LangChain makes one, with the rest of the line.
# Expected: "[priority:: high] [due:: 2026-12-04]", as plugins for tasks write it, gives two fields, and code gives no tags and no fields.
# Seen: a value goes on to the last bracket of the line: `priority` is "high] [due:: 2026-12-04", and there is no `due`; with round brackets
# it is the same. Of several lines with one field each, the last one stands for all: the dates of all tasks of a note are one date.
# A comment in a code block is a tag of the note, and "key:: value" in a code block is a field of it.
# For a user: a filter for what is due finds nothing, or finds a note by the one date of its last task.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-community==0.4.2; v/bin/pip list --format=freeze | grep '^langchain-community=='
mkdir vault
cat > vault/call.md <<'T'
- [ ] call Ana [priority:: high] [due:: 2026-12-04] #phone
T
cat > vault/round.md <<'T'
- [ ] call Ben (priority:: low) about the trip (due:: 2026-12-05)
T
cat > vault/tasks.md <<'T'
- [ ] pay the rent [due:: 2026-12-01]
- [ ] see Carla [due:: 2026-12-24]
T
cat > vault/code.md <<'T'
A script of mine

```sh
 #backup of the notes
size:: 5
```
T
v/bin/python -W ignore - <<'P'
from langchain_community.document_loaders import ObsidianLoader

seen = {}
for note in ObsidianLoader("vault").load():
    name, fields = note.metadata["source"], ("priority", "due", "size", "tags")
    seen[name] = {field: note.metadata[field] for field in fields if field in note.metadata}
for name in sorted(seen): print(f"{name}: {seen[name]}")
assert seen == {
    "call.md": {"priority": "high] [due:: 2026-12-04", "tags": "phone"},
    "round.md": {"priority": "low) about the trip (due:: 2026-12-05"},
    "tasks.md": {"due": "2026-12-24"},
    "code.md": {"size": "5", "tags": "backup"},
}
P
