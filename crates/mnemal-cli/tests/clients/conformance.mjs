// Runs the conformance suite of the Model Context Protocol, all of its scenarios in both eras, against `mnemal serve`, and
// against a server of the tools, resources and prompts that the suite asks for, which has the same code around them:
// `conformance.mjs PROGRAM BASELINE FIXTURES BASELINE`. The suite is looked up in the working directory.
// A scenario that fails and is not in the baseline, and one that passes and is, are failures.

import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [program, baseline, fixtures, fixturesBaseline] = process.argv.slice(2);
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

// Starts a server that says where it listens, runs the suite against a path of it, and compares with a baseline.
async function run(server, args, path, expected) {
  const child = spawn(server, args, {
    env: { ...process.env, MNEMAL_DATA_DIR: data },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const lines = createInterface(child.stderr);
    const address = await new Promise((resolve, reject) => {
      lines.on('line', (line) => line.includes('http://') && resolve(line.split('http://')[1].split('/')[0]));
      lines.on('close', () => reject(new Error(`FAILED: ${server} said no address`)));
    });
    const asked = [runnable(), 'server', '--url', `http://${address}${path}`, '--suite', 'all'];
    const { status, stdout } = spawnSync(process.execPath, [...asked, '--expected-failures', expected], {
      encoding: 'utf8',
      cwd: data,
      maxBuffer: 1 << 28,
    });
    console.log(stdout.slice(Math.max(0, stdout.lastIndexOf('=== SUMMARY ==='))));
    if (status !== 0) throw new Error(`FAILED: the conformance suite and ${expected} disagree`);
  } finally {
    child.kill();
  }
}

try {
  // The suite sends no key.
  await run(program, ['serve', '--listen', '127.0.0.1:0', '--no-auth'], '/mcp/conformance', baseline);
  await run(fixtures, [], '/mcp-fixtures', fixturesBaseline);
} finally {
  fs.rmSync(data, { recursive: true, force: true });
}
