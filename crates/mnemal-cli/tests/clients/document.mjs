// Makes a client of the server's OpenAPI document with @hey-api/openapi-ts, compiles it, and drives the server with it:
// `document.mjs PROGRAM`, in the folder where the packages are installed.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = process.argv[2];
const home = process.cwd();
const data = mkdtempSync(join(tmpdir(), 'mnemal-document-'));
const env = { ...process.env, MNEMAL_DATA_DIR: data };
const version = (name) => `${name} ${JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8')).version}`;
const node = (...args) => execFileSync(process.execPath, args, { cwd: home, encoding: 'utf8' });
let checks = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) throw new Error(`FAILED: ${what}`);
}

// Generates into the working directory, so that the compiler finds its packages.
async function made(address, key) {
  const answer = await fetch(`${address}/openapi.json`, { headers: { authorization: `Bearer ${key}` } });
  writeFileSync(join(home, 'openapi.json'), await answer.text());
  rmSync(join(home, 'generated'), { recursive: true, force: true });
  node('node_modules/@hey-api/openapi-ts/bin/run.js', '-i', 'openapi.json', '-o', 'generated', '--no-log-file');
  const compilerOptions = {
    strict: true, module: 'commonjs', moduleResolution: 'node10', target: 'es2022', outDir: 'compiled',
    types: ['node'], lib: ['es2022', 'dom', 'dom.iterable'],
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['generated'] }));
  node('node_modules/typescript/bin/tsc', '-p', '.');
  const require = createRequire(join(home, 'package.json'));
  return { sdk: require('./compiled/sdk.gen.js'), client: require('./compiled/client.gen.js').client };
}

async function drive({ sdk, client }, address, key) {
  client.setConfig({ baseUrl: address, auth: key, headers: { authorization: `Bearer ${key}` } });
  const path = { space: 'made' };
  await sdk.spaceCreate({ body: { name: 'made' } });
  const stored = await sdk.memoryAdd({ path, body: { content: 'Deploys happen on Tuesdays', key: 'deploy_day' } });
  check(stored.data?.status === 'active', `stored: ${JSON.stringify(stored.error ?? stored.data)}`);
  const found = await sdk.recall({ path, body: { query: 'when do deploys happen?' } });
  check(found.data.hits[0].text.includes('Tuesdays'), `found: ${JSON.stringify(found.data)}`);
  const missing = await sdk.memoryGetByKey({ path: { space: 'made', key: 'no-such-key' } });
  check(missing.error?.code === 'not_found', `a problem: ${JSON.stringify(missing.error)}`);
  const gone = await sdk.memoryForgetByKey({ path: { space: 'made', key: 'deploy_day' } });
  check(gone.response.status === 200, `erased: ${JSON.stringify(gone.error)}`);
}

const server = spawn(program, ['serve', '--listen', '127.0.0.1:0'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
try {
  const address = await new Promise((resolve, reject) => {
    const lines = createInterface(server.stderr);
    lines.on('line', (line) => line.includes('http://') && resolve(`http://${line.split('http://')[1].split('/')[0]}`));
    lines.on('close', () => reject(new Error('FAILED: the server said no address')));
  });
  const key = execFileSync(program, ['key', 'local'], { env, encoding: 'utf8' }).trim();
  await drive(await made(address, key), address, key);
  console.log(`${version('@hey-api/openapi-ts')}, ${version('typescript')}: ${checks} checks`);
} finally {
  server.kill();
  rmSync(data, { recursive: true, force: true });
}
