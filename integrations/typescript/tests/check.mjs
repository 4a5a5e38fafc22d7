// Drives the TypeScript client and its tools for the AI SDK against a running server: `check.mjs PROGRAM`, in the folder
// where the package is built and its packages are installed.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const home = process.cwd();
const require = createRequire(join(home, 'package.json'));
const built = (name) => import(pathToFileURL(join(home, 'dist', name)).href);
const installed = (name) => import(pathToFileURL(require.resolve(name)).href);
const [{ Mnemal, MnemalConnectionError, MnemalError, Client }, { memoryTools }] = await Promise.all([built('index.js'), built('ai.js')]);
const { generateText, stepCountIs } = await installed('ai');
const models = await installed('ai/test');
let checks = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) throw new Error(`FAILED: ${what}`);
}

const shown = (value) => JSON.stringify(value);

// Asks again while a layer was too slow to answer, as on a machine that has much to do.
async function soon(ask, holds) {
  let answer = await ask();
  for (let turn = 0; turn < 20 && !holds(answer); turn += 1) answer = await ask();
  return answer;
}

// A server that is asked too often is waited for, and none is named.
async function troubles() {
  let [asked, refusals] = [0, 2];
  const server = createServer((_, response) => {
    asked += 1;
    const busy = asked <= refusals;
    response.writeHead(busy ? 429 : 200, { 'retry-after': '0' });
    response.end(shown(busy ? { code: 'rate_limited', detail: 'too often' } : { items: [], next_cursor: null, gaps: [] }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const page = await new Client({ baseUrl, key: 'k' }).spaceList();
  check(page.items.length === 0 && asked === 3, `a refused call is made again ${asked}`);
  [asked, refusals] = [0, 1_000];
  const busy = await new Client({ baseUrl, key: 'k', patienceMs: 120 }).spaceList().catch((error) => error);
  check(busy.status === 429 && busy.code === 'rate_limited' && asked < 5, `not for ever ${busy}`);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const gone = await new Client({ baseUrl, key: 'k' }).spaceList().catch((error) => error);
  check(gone instanceof MnemalConnectionError && gone instanceof MnemalError, `nobody there ${gone}`);
  check(gone.code === 'unreachable' && gone.hint.includes('mnemal serve') && gone.message.includes(baseUrl), `nobody ${gone}`);
}

async function facade(memory) {
  const stored = await memory.remember('Deploys happen on Tuesdays', { key: 'deploy_day', tags: ['calendar'] });
  check(stored.created && stored.status === 'active', `stored ${shown(stored)}`);
  const ids = await memory.log('s1', { role: 'user', content: 'I moved to Lyon' }, { role: 'assistant', content: 'Noted.' });
  check(ids.length === 2 && Array.isArray(ids.gaps), `logged ${shown(ids)}`);
  const hits = await soon(() => memory.recall('when do we deploy?'), (found) => found.length > 0);
  check(hits[0].key === 'deploy_day', `recalled ${shown(hits)}`);
  check(hits.gaps === hits.answer.gaps && hits.answer.used_mode, `what an answer says beside its hits ${shown(hits.answer)}`);
  const lyon = (context) => context.text.includes('Lyon');
  const context = await soon(() => memory.context('where do I live?', { budget_tokens: 500 }), lyon);
  check(lyon(context) && context.tokens <= 500, `context ${shown(context)}`);
  const answer = await soon(() => memory.ask('When do deploys happen?'), (answer) => answer.known);
  check(answer.quotes[0].text.includes('Tuesdays'), `answered ${shown(answer)}`);
  const page = await memory.client.eventList(memory.space, { limit: 1 });
  check(page.items.length === 1 && page.next_cursor, `a page ${shown(page)}`);
  check((await memory.client.export(memory.space)).includes('\n'), 'an answer that is no JSON');
  const erased = await memory.forget('deploy_day');
  check(erased.status.startsWith('erased'), `erased ${shown(erased)}`);
  const missing = await memory.client.memoryGetByKey(memory.space, 'deploy_dya').catch((error) => error);
  check(missing instanceof MnemalError && missing.code === 'not_found' && missing.hint, `a problem ${missing}`);
}

// A scripted model that stores what it is told and answers with what it recalls.
async function tools(memory) {
  const Model = models.MockLanguageModelV4 ?? models.MockLanguageModelV3 ?? models.MockLanguageModelV2;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const calls = (toolName, input) => ({
    content: [{ type: 'tool-call', toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  });
  const says = (text) => ({
    content: [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
  });
  const script = [
    calls('memory_store', { content: 'The user drinks green tea', key: 'drink' }),
    calls('memory_recall', { query: 'what does the user drink?' }),
    calls('memory_context', { query: 'tea' }),
    calls('memory_answer', { query: 'Who painted the bridge of Malmö?' }),
    says('You drink green tea.'),
  ];
  let turn = 0;
  const model = new Model({ doGenerate: async () => script[turn++] });
  const { text, steps } = await generateText({
    model,
    tools: memoryTools(memory),
    prompt: 'What do I drink?',
    stopWhen: stepCountIs(6),
  });
  const results = steps.flatMap((step) => step.toolResults.map((result) => result.output));
  check(text === 'You drink green tea.', `the model says ${text}`);
  check(results.length === 4 && results[0].status === 'active', `results ${shown(results)}`);
  check(results[3] === 'not known', `a question that nothing answers ${shown(results[3])}`);
  const again = await soon(() => memoryTools(memory).memory_recall.execute({ query: 'drink' }, {}), (hits) => hits.length);
  check(again[0].text.includes('green tea'), `recalled ${shown(again)}`);
}

const data = mkdtempSync(join(tmpdir(), 'mnemal-typescript-'));
process.env.MNEMAL_DATA_DIR = data;
const child = spawn(process.argv[2], ['serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
try {
  const line = await new Promise((resolve) => createInterface(child.stderr).once('line', resolve));
  const baseUrl = `http://${line.split('http://')[1].split('/')[0]}`;
  await troubles();
  // The client finds the local key by itself.
  await facade(new Mnemal('facade', { baseUrl }));
  const wrong = await new Client({ baseUrl, key: 'mnk_wrong' }).spaceList().catch((error) => error);
  check(wrong.code === 'unauthenticated', `refused ${wrong}`);
  await tools(new Mnemal('tools', { baseUrl }));
  console.log(`typescript package: ${checks} checks passed, the AI SDK among them`);
} finally {
  child.kill();
  rmSync(data, { recursive: true, force: true });
}
