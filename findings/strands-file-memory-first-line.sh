#!/usr/bin/env bash
# strands-agents 1.62.0; seen 2026-11-30: the file memory store of Strands drops a fact that begins like one it has.
# Expected: what is added is found afterwards, or the caller is told that it was not stored.
# Seen: the file is named by a to z and 0 to 9 in the first 50 letters of the first line, and where that file exists only the lines after the
# first are added. A fact of one line, as the tool `add_memory` takes it, is then stored nowhere, and the name of the other
# file comes back as if it were: "… is on Friday" after "… is on Monday", "Ana likes C++" after "Ana likes C", and in Greek any
# sentence with the same Latin name in it.
# For a user: the newer of two facts is the one that is lost. Give each entry a heading line of its own.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install strands-agents==1.62.0
v/bin/pip list --format=freeze | grep -E '^strands-agents=='
v/bin/python -W ignore - <<'P'
import asyncio
from strands.memory import MemoryManager
from strands.vended_memory_stores.file_memory_store import FileMemoryStore

pairs = {
    "long": ("The appointment of Ana at the dental clinic in Oslo is on Monday", "The appointment of Ana at the dental clinic in Oslo is on Friday"),
    "signs": ("Ana likes C", "Ana likes C++"),
    "greek": ("Η Άννα μένει στο Oslo", "Ο Νίκος δουλεύει στο Oslo"),
    "short": ("Ana has a boat", "Ben has a boat"),
    "heading": ("# Dentist\nThe appointment is on Monday", "# Dentist\nThe appointment moved to Friday"),
}

async def main():
    seen = {}
    for name, (first, second) in pairs.items():
        store = FileMemoryStore(name=name)
        memory = MemoryManager(stores=[store], add_tool_config=True)
        await memory.add(first); await memory.add(second)  # an error would be raised here
        found = "\n".join(entry.content for entry in await memory.search(f"{first} {second}"))
        seen[name] = [text.split("\n")[-1] in found.split("\n") for text in (first, second)]
        print(f"{name}: {second!r} after {first!r}: {'found' if seen[name][1] else 'lost'}, stored as {await store.add(second)}")
    assert seen == {"long": [True, False], "signs": [True, False], "greek": [True, False], "short": [True, True], "heading": [True, True]}, \
        "strands keeps facts otherwise now"
asyncio.run(main())
P
