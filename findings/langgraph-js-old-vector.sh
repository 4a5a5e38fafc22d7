#!/usr/bin/env bash
# @langchain/langgraph 1.7.3, @langchain/core 1.4.0; seen 2026-11-30: in LangGraph.js an item is found by a text that was deleted with it before.
# Expected: `put` replaces a value, `delete` deletes it, and a value without the indexed field has no vector, as one that never had it.
# Seen: the vector of a key in `InMemoryStore` stays for ever. An item of which the text was taken out is the best answer to that text,
# with a score of 1, before an item that does speak of it; the same if the new text is put with `index: false`, and the same
# if the item is deleted first and put anew. Only another indexed text takes its place. `put` also changes the item that an
# earlier `get` gave out, and a change to a value that was read is a change in the store.
# For a user: what was blanked out or deleted still says, to who asks, that it was there; use a new key for the new item.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts @langchain/langgraph@1.7.3 @langchain/core@1.4.0 >/dev/null 2>&1
grep -H -m1 '"version"' node_modules/@langchain/{langgraph,core}/package.json | sed 's/node_modules.//; s/.package.json: */ /'
cat > ask.mjs <<'J'
import assert from "node:assert";
import { InMemoryStore } from "@langchain/langgraph";

const vector = (text) => ["boat", "tea", "moor"].map((word) => (text.includes(word) ? 1 : 0));
const embeddings = { embedDocuments: async (texts) => texts.map(vector), embedQuery: async (text) => vector(text) };
const store = new InMemoryStore({ index: { dims: 3, embeddings, fields: ["text"] } });
await store.put(["ana"], "secret", { text: "a boat" });
await store.put(["ana"], "berth", { text: "the boat is moored" });
await store.put(["ana"], "never", { kind: "blank" });
const ask = async () => (await store.search(["ana"], { query: "boat" })).map((one) => `${one.key} ${one.score?.toFixed(2)}`).join(", ");

const seen = {};
seen["at first"] = await ask();
const read = await store.get(["ana"], "secret");
await store.put(["ana"], "secret", { kind: "blank" });
seen["text taken out"] = await ask();
seen["what was read before"] = JSON.stringify(read.value);
await store.put(["ana"], "secret", { text: "tea" }, false);
seen["other text, not to be indexed"] = await ask();
read.value.text = "changed by the reader";
seen["in the store"] = (await store.get(["ana"], "secret")).value.text;
await store.delete(["ana"], "secret"); await store.put(["ana"], "secret", { kind: "blank" });
seen["deleted and put anew"] = await ask();
await store.delete(["ana"], "secret"); await store.put(["ana"], "other", { kind: "blank" });
seen["deleted and put under another key"] = await ask();
for (const [what, answer] of Object.entries(seen)) console.log(`${what}: ${answer}`);
assert.deepStrictEqual(Object.values(seen), [
  "secret 1.00, berth 0.71, never undefined", "secret 1.00, berth 0.71, never undefined", '{"kind":"blank"}',
  "secret 1.00, berth 0.71, never undefined", "changed by the reader", "secret 1.00, berth 0.71, never undefined",
  "berth 0.71, never undefined, other undefined",
]);
J
node ask.mjs
