// Runs one script of a client of the official memory server against that server and against the profile `classic`, and
// compares what the client sees: `classic.mjs PROGRAM`. The packages are looked up in the working directory. What the
// newer source of that server answers otherwise, its own tests say, and ours in the crate mnemal-server: names that are skipped or
// not found, relations to nobody, and arguments that are wrong.

import { deepStrictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.cwd(), 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const [{ Client }, { StdioClientTransport }] = await Promise.all([
  load('@modelcontextprotocol/sdk/client/index.js'),
  load('@modelcontextprotocol/sdk/client/stdio.js'),
]);

const program = process.argv[2];
const data = mkdtempSync(join(tmpdir(), 'mnemal-classic-'));
const official = join(process.cwd(), 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');
const SERVERS = {
  official: {
    command: process.execPath,
    args: [official],
    env: { ...process.env, MEMORY_FILE_PATH: join(data, 'memory.jsonl') },
  },
  mnemal: {
    command: program,
    args: ['mcp', '--profile', 'classic', '--space', 'classic'],
    env: { ...process.env, MNEMAL_DATA_DIR: join(data, 'mnemal') },
  },
};

const anna = { name: 'Anna', entityType: 'person', observations: ['Likes green tea', 'Says "a < b & c"'] };
const bank = { name: 'Fjordbank', entityType: 'company', observations: [] };
const oslo = { name: 'Oslo', entityType: 'city', observations: ['Liegt am Fjord', '首都です'] };
const relation = (from, relationType, to) => ({ from, to, relationType });

// The calls in their order; each step goes through a fresh connection where it says so.
const SCRIPT = [
  ['read_graph', {}],
  ['create_entities', { entities: [anna, bank] }],
  ['create_entities', { entities: [oslo] }],
  ['create_relations', { relations: [relation('Anna', 'works_at', 'Fjordbank'), relation('Fjordbank', 'is_in', 'Oslo')] }],
  ['create_relations', { relations: [relation('Anna', 'works_at', 'Fjordbank'), relation('Anna', 'knows', 'Oslo')] }],
  ['add_observations', { observations: [{ entityName: 'Anna', contents: ['Likes green tea', 'Plays chess'] }] }],
  ['add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }],
  ['read_graph', {}, 'again'],
  ['search_nodes', { query: 'FJORD' }],
  ['search_nodes', { query: 'person' }],
  ['search_nodes', { query: 'nothing like it' }],
  ['search_nodes', { query: '' }],
  ['open_nodes', { names: ['Anna', 'Nobody'] }],
  ['delete_observations', { deletions: [{ entityName: 'Anna', observations: ['Likes green tea'] }] }],
  ['delete_relations', { relations: [relation('Fjordbank', 'is_in', 'Oslo')] }],
  ['read_graph', {}],
  ['delete_entities', { entityNames: ['Fjordbank'] }],
  ['read_graph', {}, 'again'],
  ['create_entities', { entities: [bank] }],
  ['open_nodes', { names: ['Fjordbank', 'Oslo'] }],
  ['add_observations', { observations: [{ entityName: 'Oslo', contents: ['Liegt am Fjord', 'Is rainy'] }] }],
  ['read_graph', {}],
];

async function connected(server) {
  const client = new Client({ name: 'mnemal-classic', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ ...server, stderr: 'ignore' }));
  return client;
}

// What a client sees of a result; the words of an error up to its advice.
function seen({ content, structuredContent, isError }) {
  const [{ type, text }] = content;
  if (isError) return { error: text.split(' Nearest:')[0].replace(/\.$/, '') };
  let said = text;
  try {
    said = JSON.parse(text);
  } catch {
    // A sentence.
  }
  return { parts: content.length, type, said, structuredContent };
}

async function run(server) {
  let client = await connected(server);
  const { tools } = await client.listTools();
  const results = [];
  for (const [name, args, again] of SCRIPT) {
    if (again) {
      await client.close();
      client = await connected(server);
    }
    results.push([name, seen(await client.callTool({ name, arguments: args }))]);
  }
  const { resources } = await client.listResources();
  const { contents } = await client.readResource({ uri: resources[0].uri });
  results.push(['resource', resources[0].uri, contents[0].mimeType, JSON.parse(contents[0].text)]);
  await client.close();
  return { tools, results };
}

const sorted = (list) => [...(list ?? [])].sort();
try {
  const [theirs, ours] = [await run(SERVERS.official), await run(SERVERS.mnemal)];
  deepStrictEqual(ours.tools.map((tool) => tool.name), theirs.tools.map((tool) => tool.name));
  for (const [place, their] of theirs.tools.entries()) {
    const our = ours.tools[place];
    deepStrictEqual(sorted(our.inputSchema.required), sorted(their.inputSchema.required), our.name);
    for (const [name, schema] of Object.entries(their.inputSchema.properties ?? {})) {
      deepStrictEqual(our.inputSchema.properties[name].type, schema.type, `${our.name}.${name}`);
      deepStrictEqual(
        sorted(our.inputSchema.properties[name].items?.required),
        sorted(schema.items?.required),
        `${our.name}.${name}`,
      );
    }
    deepStrictEqual(our.annotations, their.annotations, our.name);
  }
  for (const [place, result] of theirs.results.entries()) {
    deepStrictEqual(ours.results[place], result, `step ${place}: ${JSON.stringify(SCRIPT[place])}`);
  }
  console.log(`classic: ${theirs.results.length} steps and ${theirs.tools.length} tools alike on both servers`);
} finally {
  rmSync(data, { recursive: true, force: true });
}
