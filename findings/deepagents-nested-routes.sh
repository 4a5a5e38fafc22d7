#!/usr/bin/env bash
# deepagents 0.7.32 (PyPI) and 1.14.1 (npm); seen 2026-11-30: a folder that has a backend of its own is not there for the one above it.
# Expected: with the routes `/memories/` and `/memories/ana/`, `ls`, `grep` and `delete` of /memories know of Ana's notes, as `grep` in `/` does.
# Seen: they do not, in Python as in JavaScript: a path that lies in a route is given to this route alone, and only `/` and what lies outside of
# all routes looks at those below. `delete` of /memories says that it is done, and Ana's notes can be read as before. In JavaScript a
# route that is written `/memories`, which Python takes as `/memories/`, takes all paths that begin so: /memories-old/ben.md is
# stored among the memories, and `grep` in /memories finds none of them.
# For a user: an agent that forgets all it has under /memories still knows of Ana.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install deepagents==0.7.32; v/bin/pip list --format=freeze | grep '^deepagents=='
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts deepagents@1.14.1 >/dev/null 2>&1
echo "deepagents (npm) $(node -p 'require("./node_modules/deepagents/package.json").version')"
v/bin/python -W ignore - <<'P'
from deepagents.backends import CompositeBackend, StoreBackend
from langgraph.store.memory import InMemoryStore

def grep(backend, path): return sorted(one["path"] for one in backend.grep("nuts", path).matches)
def all_of(*routes):
    store = InMemoryStore()
    parts = {route: StoreBackend(store=store, namespace=lambda _, number=number: (f"part{number}",)) for number, route in enumerate(("/", *routes))}
    backend = CompositeBackend(default=parts.pop("/"), routes=parts)
    for path in ("/memories/plan.md", "/memories/ana/food.md", "/memories-old/ben.md"): backend.write(path, "nuts")
    return backend, parts

backend, _ = all_of("/memories/", "/memories/ana/")
seen = {
    "ls /memories": [one["path"] for one in backend.ls("/memories").entries], "grep in /memories": grep(backend, "/memories"), "grep in /": grep(backend, "/"),
    "delete of /memories": backend.delete("/memories").error, "grep in / after it": grep(backend, "/"), "stored for the route /memories": grep(all_of("/memories")[1]["/memories"], "/"),
}
for what, answer in seen.items(): print(f"Python, {what}: {answer}")
assert list(seen.values()) == [
    ["/memories/plan.md"], ["/memories/plan.md"], ["/memories-old/ben.md", "/memories/ana/food.md", "/memories/plan.md"], None,
    ["/memories-old/ben.md", "/memories/ana/food.md"], ["/ana/food.md", "/plan.md"],
]
P
cat > ask.mjs <<'J'
import assert from "node:assert";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { CompositeBackend, StoreBackend } from "deepagents";

const grep = async (backend, path) => (await backend.grep("nuts", path)).matches.map((one) => one.path).sort();
async function allOf(...routes) {
  const store = new InMemoryStore(), part = (name) => new StoreBackend({ store, namespace: [name] });
  const parts = Object.fromEntries(routes.map((route, number) => [route, part(`part${number}`)]));
  const backend = new CompositeBackend(part("rest"), parts);
  for (const path of ["/memories/plan.md", "/memories/ana/food.md", "/memories-old/ben.md"]) await backend.write(path, "nuts");
  return [backend, parts];
}
const [backend] = await allOf("/memories/", "/memories/ana/"), [bare, parts] = await allOf("/memories");
const seen = {
  "ls /memories": (await backend.ls("/memories")).files.map((one) => one.path), "grep in /memories": await grep(backend, "/memories"), "grep in /": await grep(backend, "/"),
  "stored for the route /memories": await grep(parts["/memories"], "/"), "grep in /memories with this route": await grep(bare, "/memories"),
};
for (const [what, answer] of Object.entries(seen)) console.log(`JavaScript, ${what}: ${answer.join(", ") || "nothing"}`);
assert.deepStrictEqual(Object.values(seen), [
  ["/memories/plan.md"], ["/memories/plan.md"], ["/memories-old/ben.md", "/memories/ana/food.md", "/memories/plan.md"], ["/-old/ben.md", "//ana/food.md", "//plan.md"], [],
]);
J
node ask.mjs
