// Runs the conformance suite of the Model Context Protocol, all of its scenarios in both eras, against `mnemal serve`:
// `conformance.mjs PROGRAM BASELINE`. The suite is looked up in the working directory.
// A scenario that fails and is not in the baseline, and one that passes and is, are failures.

import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [program, baseline] = process.argv.slice(2);
const suite = join(process.cwd(), 'node_modules/@modelcontextprotocol/conformance/dist');
const data = fs.mkdtempSync(join(tmpdir(), 'mnemal-conformance-'));

// The suite names a function of newer versions of Node, which no scenario for servers calls.
function runnable() {
  const whole = join(suite, 'index.js');
  if (fs.globSync) return whole;
  const text = fs.readFileSync(whole, 'utf8');
  const [named, local] = text.match(/globSync as (\w+),/);
  const lines = text.replace(named, '').split('\n');
  lines.splice(1, 0, `const ${local} = () => [];`);
  const part = join(suite, 'without-glob.js');
  fs.writeFileSync(part, lines.join('\n'));
  return part;
}

// The suite sends no key.
const child = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--no-auth'], {
  env: { ...process.env, MNEMAL_DATA_DIR: data },
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  const lines = createInterface(child.stderr);
  const address = await new Promise((resolve) => {
    lines.on('line', (line) => line.includes('http://') && resolve(line.split('http://')[1].split('/')[0]));
  });
  const url = `http://${address}/mcp/conformance`;
  const asked = [runnable(), 'server', '--url', url, '--suite', 'all', '--expected-failures', baseline];
  const { status, stdout } = spawnSync(process.execPath, asked, { encoding: 'utf8', cwd: data });
  console.log(stdout.slice(Math.max(0, stdout.lastIndexOf('=== SUMMARY ==='))));
  if (status !== 0) throw new Error('FAILED: the conformance suite and its baseline disagree');
} finally {
  child.kill();
  fs.rmSync(data, { recursive: true, force: true });
}
