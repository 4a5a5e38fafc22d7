#!/usr/bin/env bash
# vectra 0.15.0; seen 2026-11-30: `$in` finds no number and `$nin` leaves out none, and for words `$nin` takes a part for the whole.
# Expected: as in MongoDB, whose filters the README names, `$in` and `$nin` compare whole values of any type, and divide the rows in two.
# Seen: `{ n: { $in: [1, 2] } }` finds nothing and `$nin` with them everything that has n, though `{ n: 1 }` and `$ne` work. With words, `$nin:
# ["ana maria"]` leaves out "ana maria", "ana" and whatever else stands in it as letters, "mari" too, and `$nin: ["ana"]` "ana" and
# "an"; `$in` compares whole words. A number is found by text that has its digits in it: `$in: ["2010"]` finds 1, 20 and 201.
# A row without the field is in neither.
# For a user: all but one person leaves out others by their names, and a list of years or IDs has to be written with `$or`.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts vectra@0.15.0 >/dev/null 2>&1
echo "vectra $(node -p 'require("./node_modules/vectra/package.json").version')"
cat > ask.mjs <<'J'
import assert from "node:assert";
import { LocalIndex } from "vectra";

const index = new LocalIndex("index");
await index.createIndex();
const names = ["ana", "an", "mari", "ana maria", "ben"], numbers = [1, 20, 201, 3];
for (const who of names) await index.upsertItem({ id: who, vector: [1, 0], metadata: { who } });
for (const n of numbers) await index.upsertItem({ id: `${n}`, vector: [1, 0], metadata: { n } });

const seen = {};
for (const filter of [
  { who: { $in: ["ana maria"] } }, { who: { $nin: ["ana maria"] } }, { who: { $nin: ["ana"] } }, { who: { $ne: "ana" } },
  { n: { $in: [1, 20] } }, { n: { $nin: [1, 20] } }, { n: 1 }, { n: { $ne: 1 } }, { n: { $in: ["2010"] } },
]) seen[JSON.stringify(filter)] = (await index.queryItems([1, 0], "", 20, filter)).map((one) => one.item.id).sort().join(", ");
for (const [filter, answer] of Object.entries(seen)) console.log(`${filter}: ${answer || "nothing"}`);
assert.deepStrictEqual(Object.values(seen), [
  "ana maria", "ben", "ana maria, ben, mari", "an, ana maria, ben, mari",
  "", "1, 20, 201, 3", "1", "20, 201, 3", "1, 20, 201",
]);
J
node ask.mjs
