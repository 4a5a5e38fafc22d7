#!/usr/bin/env bash
# deepagents 0.7.32 (PyPI) and 1.14.1 (npm); seen 2026-11-30: without ripgrep, `grep` in one memory file of a folder answers from all of them.
# Expected: `path` is a "directory or file path to search in", so that a `grep` in a file gives lines of this file, whatever searches.
# Seen: where there is no `rg`, the backend walks the files itself, from the folder in which the file lies, and gives the lines of each of them,
# and of the folders below (Python's `_python_search` and JavaScript's `literalSearch` take the parent of a file as their root and do not
# come back to the file). A limit of one match is then spent on another file. The backends in memory, for the same call, and
# this one with `rg`, give the lines of the file that was named.
# For a user: the agent looks up in Ana's notes whether she eats nuts, and is told of Ben's.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install deepagents==0.7.32; v/bin/pip list --format=freeze | grep '^deepagents=='
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts deepagents@1.14.1 >/dev/null 2>&1
echo "deepagents (npm) $(node -p 'require("./node_modules/deepagents/package.json").version')"
python=$PWD/v/bin/python node=$(command -v node); mkdir none
PATH=none "$python" -W ignore - <<'P'
from deepagents.backends import FilesystemBackend, StoreBackend
from langgraph.store.memory import InMemoryStore

def look(backend):
    for path, text in notes.items(): backend.write(path, text)
    found = backend.grep("nuts", "/notes/ana.md").matches
    return [f"{one['path']}:{one['line']} {one['text']}" for one in sorted(found, key=lambda one: one["path"])]

notes = {"/notes/ana.md": "Ana\neats nuts\n", "/notes/ben.md": "Ben\nis allergic to nuts\n", "/notes/old/cleo.md": "no nuts for Cleo\n"}
seen = look(StoreBackend(store=InMemoryStore(), namespace=lambda _: ("a",))), look(FilesystemBackend(root_dir="files-py", virtual_mode=True))
print("Python, in memory:", seen[0]); print("Python, on disk:", seen[1])
assert seen[0] == ["/notes/ana.md:2 eats nuts"]
assert seen[1] == ["/notes/ana.md:2 eats nuts", "/notes/ben.md:2 is allergic to nuts", "/notes/old/cleo.md:1 no nuts for Cleo"]
P
cat > ask.mjs <<'J'
import assert from "node:assert";
import fs from "node:fs";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { FilesystemBackend, StoreBackend } from "deepagents";

const notes = { "/notes/ana.md": "Ana\neats nuts\n", "/notes/ben.md": "Ben\nis allergic to nuts\n", "/notes/old/cleo.md": "no nuts for Cleo\n" };
async function look(backend) {
  for (const [path, text] of Object.entries(notes)) await backend.write(path, text);
  return (await backend.grep("nuts", "/notes/ana.md")).matches.map((one) => `${one.path}:${one.line} ${one.text}`).sort();
}
fs.mkdirSync("files-js");
const seen = [
  await look(new StoreBackend({ store: new InMemoryStore(), namespace: ["a"] })), await look(new FilesystemBackend({ rootDir: "files-js", virtualMode: true })),
];
console.log("JavaScript, in memory:", seen[0]); console.log("JavaScript, on disk:", seen[1]);
assert.deepStrictEqual(seen[0], ["/notes/ana.md:2 eats nuts"]);
assert.deepStrictEqual(seen[1], ["/notes/ana.md:2 eats nuts", "/notes/ben.md:2 is allergic to nuts", "/notes/old/cleo.md:1 no nuts for Cleo"]);
J
PATH=none "$node" ask.mjs
