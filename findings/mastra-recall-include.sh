#!/usr/bin/env bash
# @mastra/memory 1.31.0, @mastra/core 1.71.0, @mastra/libsql 1.23.1; seen 2026-11-30: `recall` does not look at its documented `include`.
# Expected: as the guide in the package says, `recall({ threadId, include: [{ id }] })` gives that one message, and with
# `withPreviousMessages` and `withNextMessages` those around it.
# Seen: it gives the last messages of the thread, as many as `lastMessages` says, whether the message asked for is among them or not, and
# with no error; an ID that does not exist gives the same. The store below does know `include`: `listMessages` with it and a
# `perPage` of 0 gives what was meant, in SQLite and in memory alike; `recall` with a `perPage` of 0 gives nothing.
# For a user: an agent that follows a reference to an old message is shown the newest ones instead, and takes them for it.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export MASTRA_TELEMETRY_DISABLED=1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @mastra/memory@1.31.0 @mastra/core@1.71.0 @mastra/libsql@1.23.1 >/dev/null 2>&1
grep -H -m1 '"version"' node_modules/@mastra/{memory,core,libsql}/package.json | sed 's/node_modules.//; s/.package.json: */ /'
cat > ask.mjs <<'J'
import assert from "node:assert";
import { InMemoryStore } from "@mastra/core/storage";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";

async function look(storage) {
  await storage.init();
  const memory = new Memory({ storage, options: { lastMessages: 3, semanticRecall: false } });
  await memory.createThread({ threadId: "t", resourceId: "ana" });
  await memory.saveMessages({ messages: Array.from({ length: 20 }, (_, n) => ({
    id: `m${n}`, threadId: "t", resourceId: "ana", role: n % 2 ? "assistant" : "user", createdAt: new Date(Date.UTC(2026, 0, 1, 0, n)),
    content: { format: 2, parts: [{ type: "text", text: `text ${n}` }] },
  })) });
  const ids = (answer) => answer.messages.map((one) => one.id).join(" ");
  const around = [{ id: "m5", withPreviousMessages: 1, withNextMessages: 1 }];
  const store = await storage.getStore("memory");
  return {
    "recall of m5": ids(await memory.recall({ threadId: "t", include: [{ id: "m5" }] })),
    "recall of m5 and its neighbors": ids(await memory.recall({ threadId: "t", include: around })),
    "recall of m5, perPage 0": ids(await memory.recall({ threadId: "t", include: around, perPage: 0 })),
    "recall of what is not there": ids(await memory.recall({ threadId: "t", include: [{ id: "m99" }] })),
    "listMessages of the store, perPage 0": ids(await store.listMessages({ threadId: "t", include: around, perPage: 0 })),
  };
}
const seen = { "in memory": await look(new InMemoryStore()), SQLite: await look(new LibSQLStore({ id: "s", url: "file:memory.db" })) };
for (const [store, answers] of Object.entries(seen)) for (const [what, answer] of Object.entries(answers)) console.log(`${store}, ${what}: ${answer}`);
for (const answers of Object.values(seen))
  assert.deepStrictEqual(Object.values(answers), ["m17 m18 m19", "m17 m18 m19", "", "m17 m18 m19", "m4 m5 m6"]);
J
node ask.mjs
