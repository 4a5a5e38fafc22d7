#!/usr/bin/env bash
# @voltagent/libsql 2.1.2, @voltagent/core 2.10.0; seen 2026-11-30: the last messages of a conversation have gaps in the SQLite memory of VoltAgent.
# Expected: `getMessages` with a `limit` of 3 gives the last three messages, as the memory store of the same package does.
# Seen: where question and answer are saved in one call of `addMessages` they have one time, and of one time the first comes first: a limit
# of 1 gives the last question without its answer, 3 gives the second question, the third and its answer, and 5 leaves out the first
# answer. Without a limit all are there and in order, so that nothing shows it. Of four messages saved at once a limit of 2 gives
# the two oldest.
# For a user: the model is shown questions that look unanswered, and answers them again; take an even limit, or save one by one.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts @voltagent/core@2.10.0 @voltagent/libsql@2.1.2 >/dev/null 2>&1
grep -H -m1 '"version"' node_modules/@voltagent/{core,libsql}/package.json | sed 's/node_modules.//; s/.package.json: */ /'
cat > ask.mjs <<'J'
import assert from "node:assert";
globalThis.fetch = undefined; // keeps it from asking for a list of models
const { InMemoryStorageAdapter } = await import("@voltagent/core");
const { LibSQLMemoryAdapter } = await import("@voltagent/libsql");

const pause = () => new Promise((done) => setTimeout(done, 20));
const message = (id) => ({ id, role: id[0] === "q" ? "user" : "assistant", parts: [{ type: "text", text: id }] });
async function look(store) {
  for (const id of ["turns", "batch"]) await store.createConversation({ id, userId: "ana", resourceId: "r", title: id, metadata: {} });
  for (const n of [1, 2, 3]) { await store.addMessages([message(`q${n}`), message(`a${n}`)], "ana", "turns"); await pause(); }
  await store.addMessages(["q1", "a1", "q2", "a2"].map(message), "ana", "batch");
  const last = async (limit, conversation = "turns") =>
    (await store.getMessages("ana", conversation, { limit })).map((one) => one.id).join(" ");
  const seen = [];
  for (const limit of [undefined, 1, 2, 3, 5]) seen.push(await last(limit));
  seen.push(await last(2, "batch"));
  return seen;
}
const seen = { memory: await look(new InMemoryStorageAdapter()), SQLite: await look(new LibSQLMemoryAdapter({ url: "file:memory.db" })) };
["no limit", "limit 1", "limit 2", "limit 3", "limit 5", "of four at once, limit 2"].forEach((what, n) =>
  console.log(`${what}: in memory ${seen.memory[n]}; SQLite ${seen.SQLite[n]}`));
assert.deepStrictEqual(seen, {
  memory: ["q1 a1 q2 a2 q3 a3", "a3", "q3 a3", "a2 q3 a3", "a1 q2 a2 q3 a3", "q2 a2"],
  SQLite: ["q1 a1 q2 a2 q3 a3", "q3", "q3 a3", "q2 q3 a3", "q1 q2 a2 q3 a3", "q1 a1"],
});
process.exit(0);
J
node ask.mjs 2>errors
