#!/usr/bin/env bash
# @orama/orama 3.1.18; seen 2026-11-30: a hybrid weight of 0 counts as no weights at all, and a filter by two words takes either.
# Expected: `hybridWeights: { text: 1, vector: 0 }` ranks by the words alone, as 0.999 and 0.001 nearly do, and `where` with a
# string takes the rows that have that string.
# Seen: with a 0 in either place both weights are 0.5, so that both ends of the scale give one and the same answer, in an order that
# neither end has. `where: { user: "ana maria" }` gives the rows of "ana" as well, and "ana" those of "ana maria"; an `enum` does not.
# For a user: a comparison of words, vectors and both measures the same thing three times; and a name belongs in an `enum`.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts @orama/orama@3.1.18 >/dev/null 2>&1
node -p '"@orama/orama " + require("@orama/orama/package.json").version' 2>/dev/null || grep -m1 '"version"' node_modules/@orama/orama/package.json
cat > ask.mjs <<'J'
import assert from "node:assert";
import { create, insert, search } from "@orama/orama";

const index = create({ schema: { user: "string", owner: "enum", text: "string", place: "vector[2]" } });
for (const [id, user, text, place] of [
  ["boat", "ana", "the boat is called Wanda", [1, 0]],
  ["tea", "ben", "tea is green", [0, 1]],
  ["cat", "ana maria", "the cat drinks tea", [1, 1]],
]) insert(index, { id, user, owner: user, text, place });

const ids = (found) => found.hits.map((hit) => hit.id);
const weighed = (text, vector) => ids(search(index, {
  mode: "hybrid", term: "tea", properties: ["text"], vector: { value: [1, 0], property: "place" }, similarity: 0,
  hybridWeights: { text, vector },
}));
const seen = {
  "text 1, vector 0": weighed(1, 0),
  "text 0.999, vector 0.001": weighed(0.999, 0.001),
  "text 0, vector 1": weighed(0, 1),
  "text 0.001, vector 0.999": weighed(0.001, 0.999),
  "text 0.5, vector 0.5": weighed(0.5, 0.5),
  "user is ana maria": ids(search(index, { term: "", where: { user: "ana maria" } })),
  "user is ana": ids(search(index, { term: "", where: { user: "ana" } })),
  "owner is ana maria": ids(search(index, { term: "", where: { owner: { eq: "ana maria" } } })),
};
for (const [what, answer] of Object.entries(seen)) console.log(`${what}: ${answer}`);
assert.deepStrictEqual(Object.values(seen), [
  ["cat", "tea", "boat"], ["tea", "cat", "boat"], ["cat", "tea", "boat"], ["boat", "cat", "tea"], ["cat", "tea", "boat"],
  ["boat", "cat"], ["boat", "cat"], ["cat"],
]);
J
node ask.mjs
