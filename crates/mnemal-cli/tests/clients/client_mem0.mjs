// Drives `mnemal serve` with the client of mem0 from npm: `client_mem0.mjs PROGRAM`, in the folder where the package is installed.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), 'mnemal-mem0-'));
Object.assign(process.env, { MEM0_TELEMETRY: 'false', HOME: folder });
const require = createRequire(join(process.cwd(), 'package.json'));
const { MemoryClient, MemoryNotFoundError, ValidationError } = require('mem0ai');
const { version } = JSON.parse(readFileSync(join(process.cwd(), 'node_modules/mem0ai/package.json'), 'utf8'));
let checks = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) throw new Error(`FAILED: ${what}`);
}

const shown = (value) => JSON.stringify(value);
const words = (answer) => answer.results.map((row) => row.memory);
const ferries = (answer) => words(answer).filter((text) => text.includes('ferry')).sort();

async function refused(kind, act) {
  const error = await act().catch((thrown) => thrown);
  check(error instanceof kind, `${kind.name} is thrown: ${error}`);
  return error;
}

// What is added is found, listed, changed and erased.
async function memories(client) {
  const said = (content) => [{ role: 'user', content }];
  const added = await client.add(said('The ferry leaves at nine'), { userId: 'ana', metadata: { topic: 'boats', deck: 2 }, infer: false });
  check(added.status === 'SUCCEEDED' && added.results[0].event === 'ADD', `add: ${shown(added)}`);
  const [{ id }] = added.results;
  await client.add([...said('The ferry is red'), { role: 'assistant', content: 'The tram is blue' }], { userId: 'ana', runId: 'trip' });
  await client.add(said('The ferry leaves at noon'), { userId: 'bo', appId: 'boats', expirationDate: '2999-12-31', source: 'OPENCLAW' });
  const one = await client.get(id);
  check(one.memory === 'The ferry leaves at nine' && one.userId === 'ana' && one.metadata.deck === 2, `get: ${shown(one)}`);
  const page = await client.getAll({ filters: { user_id: 'ana' }, page: 2, pageSize: 2 });
  check(page.count === 3 && words(page)[0] === 'The ferry leaves at nine', `getAll: ${shown(page)}`);
  await client.update(id, { text: 'The ferry leaves at ten', metadata: { deck: 3 } });
  const history = await client.history(id);
  check(history.length === 2 && history[1].newMemory === 'The ferry leaves at ten', `history: ${shown(history)}`);
  return id;
}

// Conditions of a search are carried out or refused.
async function conditions(client) {
  const everyone = { OR: [{ user_id: 'ana' }, { user_id: 'bo' }] };
  const both = await client.search('ferry', { filters: everyone, source: 'OPENCLAW' });
  check(ferries(both).length === 3 && both.results[0].score > 0, `a search of two users: ${shown(both)}`);
  const one = await client.search('ferry', { filters: { AND: [everyone, { deck: { gte: 3 } }] }, topK: 5, rerank: false });
  check(shown(ferries(one)) === shown(['The ferry leaves at ten']), `a range: ${shown(one)}`);
  const none = await client.search('ferry', { filters: { user_id: 'ana' }, threshold: 1 });
  check(none.results.length === 0, `a threshold: ${shown(none)}`);
  for (const filters of [{}, { deck: 3 }]) await refused(ValidationError, () => client.search('ferry', { filters }));
  const unknown = await refused(ValidationError, () => client.search('ferry', { filters: { user_id: 'ana' }, nearness: 3 }));
  check(unknown.message.includes('nearness'), `what is unknown is named: ${unknown.message}`);
}

// Whose memories there are, and what goes with them.
async function owners(client, id) {
  const users = await client.users();
  check(users.count === 4 && users.results.some((row) => row.name === 'ana' && row.totalMemories === 3), `users: ${shown(users)}`);
  await refused(ValidationError, () => client.deleteAll());
  await client.deleteUsers({ appId: 'boats' });
  await client.deleteAll({ userId: 'ana', runId: 'trip' });
  check(words(await client.getAll({ filters: { user_id: '*' } })).join() === 'The ferry leaves at ten', 'deleteAll of a run');
  await client.batchUpdate([{ memoryId: id, text: 'The ferry leaves at eleven' }]);
  check((await client.get(id)).memory === 'The ferry leaves at eleven', 'a batch of changes');
  const second = await client.add([{ role: 'user', content: 'The pier is closed' }], { userId: 'ana' });
  await client.batchDelete([second.results[0].id]);
  await client.delete(id, { deleteLinked: true });
  await refused(MemoryNotFoundError, () => client.get(id));
  check((await client.users()).count === 0, 'nothing is left');
}

const env = { ...process.env, MNEMAL_DATA_DIR: join(folder, 'data'), MNEMAL_COMPAT__MEM0: 'true' };
const server = spawn(program, ['serve', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
try {
  const address = await new Promise((resolve, reject) => {
    const lines = createInterface(server.stderr);
    lines.on('line', (line) => line.includes('http://') && resolve(line.split('http://')[1].split('/')[0]));
    lines.on('close', () => reject(new Error('FAILED: the server said no address')));
  });
  const create = ['-s', 'friends', 'key', 'create', '--name', 'mem0', '--rights', 'read,write,erase', '--json'];
  const { secret } = JSON.parse(execFileSync(program, create, { env, encoding: 'utf8' }));
  const client = new MemoryClient({ apiKey: secret, host: `http://${address}` });
  await client.ping();
  const id = await memories(client);
  await conditions(client);
  await owners(client, id);
  console.log(`mem0ai ${version} for TypeScript: ${checks} checks`);
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
