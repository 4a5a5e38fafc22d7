// Drives `mnemal mcp` and `mnemal serve` with the official TypeScript clients, in both eras of the protocol:
// `client.mjs PROGRAM`.
// The packages are looked up in the working directory, where they are installed.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.cwd(), 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const [{ Client, StreamableHTTPClientTransport }, { StdioClientTransport }] = await Promise.all([
  load('@modelcontextprotocol/client'),
  load('@modelcontextprotocol/client/stdio'),
]);
const [
  { Client: FirstClient },
  { StdioClientTransport: FirstTransport },
  { StreamableHTTPClientTransport: FirstHttpTransport },
] = await Promise.all([
  load('@modelcontextprotocol/sdk/client/index.js'),
  load('@modelcontextprotocol/sdk/client/stdio.js'),
  load('@modelcontextprotocol/sdk/client/streamableHttp.js'),
]);

const TOOLS = [
  'memory_context', 'memory_answer', 'memory_recall', 'memory_store', 'memory_forget', 'memory_entity', 'memory_relationships',
  'working_put', 'working_get', 'working_find',
];
const program = process.argv[2];
const data = mkdtempSync(join(tmpdir(), 'mnemal-clients-'));
const identity = { name: 'mnemal-clients', version: '1.0.0' };
const server = {
  command: program,
  args: ['mcp', '--space', 'clients'],
  env: { ...process.env, MNEMAL_DATA_DIR: data },
};
let checks = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) throw new Error(`FAILED: ${what}`);
}

const text = (result) => result.content[0].text;
const shown = (result) => JSON.stringify(result);

async function drive(name, client, transport, version) {
  await client.connect(transport);
  const spoken = client.getNegotiatedProtocolVersion?.() ?? version;
  check(spoken === version, `${name}: speaks ${spoken}`);
  const call = (tool, args) => client.callTool({ name: tool, arguments: args });
  check(client.getServerVersion().name === 'mnemal', `${name}: identity`);
  check(client.getInstructions().includes('memory_context'), `${name}: instructions`);
  const { tools } = await client.listTools();
  check(shown(tools.map((tool) => tool.name)) === shown(TOOLS), `${name}: the tools in their order`);
  for (const { name: tool, annotations, outputSchema } of tools) {
    const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
    check(hints.every((hint) => typeof annotations[hint] === 'boolean') && outputSchema, `${name}: ${tool}`);
  }

  const note = { key: 'deploy_day', content: `Deploys happen on Tuesdays, says ${name}` };
  const stored = await call('memory_store', note);
  check(stored.structuredContent.created === true, `${name}: stored ${shown(stored)}`);
  const again = await call('memory_store', note);
  check(again.structuredContent.created === false, `${name}: one effect ${shown(again)}`);
  const found = await call('memory_recall', { text: 'when do we deploy?', max_tokens: '900' });
  check(found.structuredContent.hits[0].id === stored.structuredContent.id, `${name}: recalled ${shown(found)}`);
  check(text(found).startsWith('<mnemal-context nonce='), `${name}: marked`);
  const loaded = await call('memory_context', { query: 'when do we deploy?' });
  check(text(loaded).includes(note.content), `${name}: context ${shown(loaded)}`);
  const nobody = await call('memory_entity', { name: 'Nobody' });
  check(nobody.isError && text(nobody).includes("known by 'Nobody'"), `${name}: nobody ${shown(nobody)}`);
  const missing = await call('memory_store', {});
  check(missing.isError && text(missing).includes('content is missing'), `${name}: advice ${shown(missing)}`);
  const near = await call('memory_forget', { key: 'deploy_dya' });
  check(near.isError && text(near).includes("Nearest: 'deploy_day'"), `${name}: nearest ${shown(near)}`);

  const { resources } = await client.listResources();
  check(resources.length === 3, `${name}: resources ${shown(resources)}`);
  const { contents } = await client.readResource({ uri: resources[0].uri });
  check(contents[0].mimeType === 'text/markdown', `${name}: a resource ${shown(contents)}`);
  const { prompts } = await client.listPrompts();
  check(prompts[0].name === 'load_context', `${name}: prompts ${shown(prompts)}`);
  const { messages } = await client.getPrompt({ name: 'load_context', arguments: { topic: 'deploys' } });
  check(messages[0].content.text.includes(note.content), `${name}: a prompt ${shown(messages)}`);

  const preview = await call('memory_forget', { key: 'deploy_day' });
  check(preview.structuredContent.status === 'preview', `${name}: preview ${shown(preview)}`);
  const { confirm_token } = preview.structuredContent;
  const erased = await call('memory_forget', { key: 'deploy_day', confirm_token });
  check(erased.structuredContent.status.startsWith('erased'), `${name}: erased ${shown(erased)}`);
  const gone = await call('memory_recall', { query: 'when do we deploy?' });
  check(!text(gone).includes(note.content), `${name}: gone ${shown(gone)}`);
  await client.close();
}

// A client that can ask its person is asked, and the person's word counts.
async function confirm() {
  const client = new Client(identity, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  const questions = [];
  client.setRequestHandler('elicitation/create', async (request) => {
    questions.push(request.params.message);
    return { action: 'accept', content: { erase: questions.length > 1 } };
  });
  await client.connect(new StdioClientTransport(server));
  const call = (tool, args) => client.callTool({ name: tool, arguments: args });
  await call('memory_store', { key: 'editor', content: 'The user uses Helix' });
  const kept = await call('memory_forget', { key: 'editor' });
  check(text(kept).includes('said no'), `kept ${shown(kept)}`);
  const erased = await call('memory_forget', { key: 'editor' });
  check(erased.structuredContent.status.startsWith('erased'), `erased ${shown(erased)}`);
  check(questions.length === 2 && questions[0].includes("'editor'"), `questions ${shown(questions)}`);
  await client.close();
}

// Serves over HTTP while `work` runs, which is given what connects to it.
async function serving(work) {
  const env = { ...process.env, MNEMAL_DATA_DIR: data };
  const child = spawn(program, ['serve', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const line = await new Promise((resolve) => createInterface(child.stderr).once('line', resolve));
    const url = new URL(`http://${line.split('http://')[1].split('/')[0]}/mcp/clients`);
    const key = execFileSync(program, ['key', 'local'], { env, encoding: 'utf8' }).trim();
    await work(url, { requestInit: { headers: { authorization: `Bearer ${key}` } } });
  } finally {
    child.kill();
  }
}

const ERAS = [['auto', '2026-07-28'], ['legacy', '2025-11-25']];
try {
  for (const [mode, version] of ERAS) {
    const client = new Client(identity, { versionNegotiation: { mode } });
    await drive(mode, client, new StdioClientTransport(server), version);
  }
  await drive('first', new FirstClient(identity), new FirstTransport(server), '2025-11-25');
  await confirm();
  await serving(async (url, options) => {
    for (const [mode, version] of ERAS) {
      const client = new Client(identity, { versionNegotiation: { mode } });
      await drive(`${mode} over http`, client, new StreamableHTTPClientTransport(url, options), version);
    }
    await drive('first over http', new FirstClient(identity), new FirstHttpTransport(url, options), '2025-11-25');
  });
  console.log(`typescript clients: ${checks} checks passed in 2026-07-28 and 2025-11-25, on standard input and over HTTP`);
} finally {
  rmSync(data, { recursive: true, force: true });
}
