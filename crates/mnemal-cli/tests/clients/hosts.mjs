// Sets up the real Codex, Gemini CLI and OpenCode with the program, lets them say a fact to a scripted model on loopback, and ask
// for it in another session: `hosts.mjs PROGRAM [HOST ...]`.
// The packages are looked up in the working directory, where they are installed.

import assert from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const [program, ...only] = process.argv.slice(2);
const SAID = 'The orders database listens on port 5544.';
const ANSWERED = 'Noted: orders, port 5544.';
const ASKED = 'Which port does the orders database listen on?';
// The words with which an injected block begins.
const BLOCK = 'mnemal-context';
// Milliseconds that a host may take for one prompt.
const LIMIT = 120_000;

// ---- the model -------------------------------------------------------------------------------------------------------------

const event = (value, name) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(value)}\n\n`;

/** The answer of the Responses API, which Codex speaks. */
function responses() {
  const content = [{ type: 'output_text', text: ANSWERED, annotations: [] }];
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const response = { id: 'resp_1', object: 'response', status: 'completed', output: [item], usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ].map((value) => event(value, value.type)).join('');
}

/** The answer of the chat API, which OpenCode speaks here. */
function chat() {
  const chunk = (delta, finish_reason, more) => event({
    id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], ...more,
  });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return chunk({ role: 'assistant', content: ANSWERED }, null) + chunk({}, 'stop', { usage }) + 'data: [DONE]\n\n';
}

/** The answer of the Gemini API. */
function gemini(path) {
  const content = { role: 'model', parts: [{ text: ANSWERED }] };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const value = { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata, modelVersion: 'm' };
  return path.includes('stream') ? event(value) : JSON.stringify(value);
}

const asked = [];
const model = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  if (request.method === 'POST') asked.push(body);
  const path = request.url;
  const text = path.includes('/responses') ? responses() : path.includes('/chat/') ? chat() : gemini(path);
  const kind = text.startsWith('{') ? 'application/json' : 'text/event-stream';
  response.writeHead(200, { 'content-type': kind }).end(request.method === 'POST' ? text : '{"data":[],"models":[]}');
});
await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${model.address().port}`;

// ---- the hosts -------------------------------------------------------------------------------------------------------------

const installed = (name) => join(process.cwd(), 'node_modules', '.bin', name);
const HOSTS = {
  codex: {
    file: '.codex/config.toml',
    settings: `model = "m" # a remark\nmodel_provider = "lab"\n\n[model_providers.lab]\nname = "lab"\nbase_url = "${url}/v1"\n` +
      'wire_api = "responses"\nenv_key = "LAB_KEY"\nsupports_websockets = false\n',
    // Hooks are trusted in its screen; without one there is this option.
    line: (prompt) => [installed('codex'), 'exec', '--dangerously-bypass-hook-trust', '--skip-git-repo-check', prompt],
  },
  'gemini-cli': {
    file: '.gemini/settings.json',
    settings: '{\n  // a remark\n  "security": { "auth": { "selectedType": "gemini-api-key" } },\n' +
      '  "privacy": { "usageStatisticsEnabled": false },\n  "general": { "enableAutoUpdate": false }\n}\n',
    line: (prompt) => [installed('gemini'), '-m', 'gemini-2.5-flash', '-p', prompt],
  },
  opencode: {
    file: '.config/opencode/opencode.json',
    // It would add the schema itself.
    settings: `{\n  "$schema": "https://opencode.ai/config.json", // a remark\n  "autoupdate": false,\n  "model": "lab/m",\n  "small_model": "lab/m",\n  "provider": {\n` +
      '    "lab": { "npm": "@ai-sdk/openai-compatible", "models": { "m": {} }, ' +
      `"options": { "baseURL": "${url}/v1", "apiKey": "x" } }\n  }\n}\n`,
    line: (prompt) => [installed('opencode'), 'run', prompt],
  },
};

/** Runs a host to its end; its output is shown if it fails. */
function run(line, options) {
  return new Promise((resolve, reject) => {
    const host = spawn(line[0], line.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT });
    let text = '';
    for (const stream of [host.stdout, host.stderr]) stream.on('data', (part) => (text += part));
    host.on('error', reject);
    host.on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${line[0]} ended with ${code}:\n${text}`))));
  });
}

async function check(name, host) {
  const home = mkdtempSync(join(tmpdir(), `mnemal-${name}-`));
  const shop = join(home, 'shop');
  mkdirSync(join(shop, '.git'), { recursive: true });
  const env = {
    HOME: home,
    PATH: [dirname(program), process.env.PATH].join(delimiter),
    LAB_KEY: 'x',
    GEMINI_API_KEY: 'x',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    // A busy machine must not decide what is found.
    MNEMAL_HOOKS__DEADLINE_MS: '4000',
  };
  const options = { cwd: shop, env };
  const mnemal = (...args) => execFileSync(program, args, { ...options, encoding: 'utf8' });
  const file = join(home, host.file);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, host.settings);
  mnemal('--quiet', 'setup', name, '--yes');
  try {
    await run(host.line(SAID), options);
    const said = mnemal('--jsonl', 'log', 'list').trim().split('\n').map((line) => JSON.parse(line));
    const of = (origin) => said.filter((one) => one.origin === origin).map((one) => one.content.replaceAll('"', ''));
    assert.deepEqual(of('user_direct'), [SAID], `${name}: what was said is in the log, once and without anything else`);
    assert.deepEqual(of('assistant'), [ANSWERED], name);
    asked.length = 0;
    await run(host.line(ASKED), options);
    const injected = asked.filter((body) => body.includes(BLOCK) && body.includes('5544'));
    assert.ok(injected.length > 0, `${name}: the prompt of another session brought what was said`);
    mnemal('--quiet', 'setup', name, '--undo', '--yes');
    assert.equal(readFileSync(file, 'utf8'), host.settings, `${name}: the settings are what they were`);
  } catch (error) {
    try {
      console.error(readFileSync(join(home, '.local/state/mnemal/hooks.log'), 'utf8'));
    } catch {
      // No hook failed.
    }
    throw error;
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  console.log(`${name}: what was said is known in the next session`);
}

for (const [name, host] of Object.entries(HOSTS)) {
  if (only.length === 0 || only.includes(name)) await check(name, host);
}
model.close();
model.closeAllConnections();
