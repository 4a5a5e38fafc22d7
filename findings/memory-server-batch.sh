#!/usr/bin/env bash
# @modelcontextprotocol/server-memory 2026.8.31, client @modelcontextprotocol/sdk 1.32.2: what is not stored twice in two calls is
# stored twice in one. A call compares what it is given with the graph, and not with what stands before it in the same call.
# Seen: two entities of one name in one `create_entities` are both kept, where a second call with that name adds nothing. From
# then on the name means two: `open_nodes` returns both, `add_observations` and `delete_observations` see the first alone, and
# what the second one says can only be deleted with the entity. The same relation twice in one `create_relations`, and the same
# words twice in one `add_observations`, are kept twice too.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
printf '{"private":true,"type":"module"}' > package.json
npm install --silent --no-fund --no-audit @modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/sdk@1.32.2
cat > run.mjs <<'J'
import assert from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
const client = new Client({ name: 'finding', version: '1' });
const env = { ...process.env, MEMORY_FILE_PATH: `${process.cwd()}/memory.jsonl` };
const args = ['node_modules/@modelcontextprotocol/server-memory/dist/index.js'];
await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
const call = async (name, args) => {
  const answer = await client.callTool({ name, arguments: args });
  assert.ok(!answer.isError, answer.content[0].text);
  return answer.structuredContent;
};
const anna = (observation) => ({ name: 'Anna', entityType: 'person', observations: [observation] });
const trusts = { from: 'Anna', to: 'Anna', relationType: 'trusts' };
await call('create_entities', { entities: [anna('lives in Oslo'), anna('moved to Bergen')] });
await call('create_entities', { entities: [anna('lives in Rome')] });
await call('create_relations', { relations: [trusts, trusts] });
await call('create_relations', { relations: [trusts] });
await call('add_observations', { observations: [{ entityName: 'Anna', contents: ['plays chess', 'plays chess'] }] });
await call('add_observations', { observations: [{ entityName: 'Anna', contents: ['plays chess'] }] });
await call('delete_observations', { deletions: [{ entityName: 'Anna', observations: ['moved to Bergen'] }] });
const seen = await call('open_nodes', { names: ['Anna'] });
await client.close();
console.log(JSON.stringify(seen, null, 1));
assert.deepStrictEqual(seen.entities.map((one) => one.observations), [
  ['lives in Oslo', 'plays chess', 'plays chess'],
  ['moved to Bergen'],
]);
assert.deepStrictEqual(seen.relations, [trusts, trusts]);
J
node run.mjs
