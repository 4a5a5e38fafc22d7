#!/usr/bin/env bash
# @modelcontextprotocol/server-memory 2026.8.31, client @modelcontextprotocol/sdk 1.32.2: what was acknowledged is not kept when calls
# overlap. Each call reads the whole file, adds to it, and writes it back.
# Seen: one client that makes 20 `create_entities` at once is told 20 times that all went well; the file keeps 1 of them. Three
# servers on one file (three windows of an editor) with 50 calls each, one after the other: 150 answers, 59 to 73 entities kept.
# The same calls of one client, each after the answer of the one before, are all kept.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
printf '{"private":true,"type":"module"}' > package.json
npm install --silent --no-fund --no-audit @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/sdk@1.32.2
cat > run.mjs <<'J'
import assert from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
const open = async (file) => {
  const client = new Client({ name: 'finding', version: '1' });
  const env = { ...process.env, MEMORY_FILE_PATH: `${process.cwd()}/${file}` };
  const args = ['node_modules/@modelcontextprotocol/server-memory/dist/index.js'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return client;
};
let told = 0;
const add = async (client, name) => {
  const entities = [{ name, entityType: 'thing', observations: ['is there'] }];
  const answer = await client.callTool({ name: 'create_entities', arguments: { entities } });
  if (!answer.isError) told += 1;
};
const kept = async (file) => {
  const client = await open(file);
  const answer = await client.callTool({ name: 'read_graph', arguments: {} });
  await client.close();
  return JSON.parse(answer.content[0].text).entities.length;
};
const series = async (client, prefix, count) => { for (let n = 0; n < count; n += 1) await add(client, `${prefix}-${n}`); };
const seen = {};
const measure = async (what, file, work) => { told = 0; await work(); seen[what] = { told, kept: await kept(file) }; };
await measure('one after the other', 'a.jsonl', async () => { const one = await open('a.jsonl'); await series(one, 'a', 20); await one.close(); });
await measure('at once', 'b.jsonl', async () => {
  const one = await open('b.jsonl');
  await Promise.all(Array.from({ length: 20 }, (_, n) => add(one, `b-${n}`)));
  await one.close();
});
await measure('three servers', 'c.jsonl', async () => {
  const all = await Promise.all([1, 2, 3].map(() => open('c.jsonl')));
  await Promise.all(all.map((one, place) => series(one, `c${place}`, 50)));
  for (const one of all) await one.close();
});
console.log(seen);
assert.deepStrictEqual(seen['one after the other'], { told: 20, kept: 20 });
assert.strictEqual(seen['at once'].told, 20); assert.ok(seen['at once'].kept < 20);
assert.strictEqual(seen['three servers'].told, 150); assert.ok(seen['three servers'].kept < 150);
J
node run.mjs
