#!/usr/bin/env bash
# memsearch 0.4.23, milvus-lite 3.2.2; seen 2026-11-30: what stands in a heading is not searched, and a comment in a code block is a heading.
# Expected: every line of a Markdown file that is indexed can be found, and a code block is one piece of text.
# Seen: a heading without text below it is left out of the index, so that "## Mira is allergic to nuts" is found nowhere, nor is a file of
# such lines; `index` counts the rest and says nothing. In a code block every line that begins with "# " begins a new chunk: the
# commands are cut from the sentence that says what they are for, and stand under their comment as heading.
# For a user: notes that are kept as headings, as outlines and checklists are, are no memory. Put a line of text below each.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder
python3 -m venv v; v/bin/pip -q install memsearch==0.4.23 milvus-lite==3.2.2 pymilvus==3.0.2
v/bin/pip list --format=freeze | grep -E '^(memsearch|milvus-lite)=='
mkdir notes
cat > notes/people.md <<'M'
# People
## Mira is allergic to nuts
## Ben comes on Friday
## Ana
She has a boat.
M
cat > notes/deploy.md <<'M'
# Deploy
Never on a Friday. The commands are:
```bash
# stop the service
systemctl stop boats
# now copy the files, and do not forget the keys
```
M
v/bin/python -W ignore - 2>errors <<'P'
import asyncio, hashlib
import memsearch.core

class Words:  # one place of the vector for each word
    model_name, dimension, batch_size = "words", 256, 16
    async def embed(self, texts):
        rows = []
        for text in texts:
            row = [0.001] * 256
            for word in text.lower().split(): row[int(hashlib.md5(word.strip(".,#").encode()).hexdigest(), 16) % 256] += 1
            rows.append(row)
        return rows
memsearch.core.get_provider = lambda *_, **__: Words()

async def main():
    memory = memsearch.core.MemSearch(paths=["notes"], milvus_uri="memory.db")
    print("chunks:", await memory.index())
    found = await memory.search("Mira is allergic to nuts", top_k=50)
    chunks = sorted((one["heading"], one["content"]) for one in found)
    for heading, text in chunks: print(f"{heading!r}: {text!r}")
    everything = "\n".join(text for _, text in chunks)
    for line in ("allergic to nuts", "comes on Friday", "She has a boat", "Never on a Friday", "do not forget the keys"): print(f"{line}: {line in everything}")
    assert chunks == [
        ("Ana", "## Ana\nShe has a boat."),
        ("Deploy", "# Deploy\nNever on a Friday. The commands are:\n```bash"),
        ("now copy the files, and do not forget the keys", "# now copy the files, and do not forget the keys\n```"),
        ("stop the service", "# stop the service\nsystemctl stop boats"),
    ], "memsearch cuts Markdown otherwise now"
asyncio.run(main())
P
