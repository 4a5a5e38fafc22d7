// Runs the conformance suites of the Model Context Protocol, the one that is out and the next one, all of their scenarios in
// both eras, against `mnemal serve`, and against a server of the tools, resources and prompts that the suites ask for, which
// has the same code around them:
// `conformance.mjs PROGRAM BASELINE FIXTURES BASELINE`. The suites are looked up in the working directory.
// A scenario that fails and is not in the baseline, and one that passes and is, are failures.

import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [program, baseline, fixtures, fixturesBaseline] = process.argv.slice(2);
const suites = ['conformance-stable', '@modelcontextprotocol/conformance'].map((name) => join(process.cwd(), 'node_modules', name));
const data = fs.mkdtempSync(join(tmpdir(), 'mnemal-conformance-'));

// The suite names a function of newer versions of Node, which no scenario for servers calls.
function runnable(suite) {
  const whole = join(suite, 'dist/index.js');
  if (fs.globSync) return whole;
  const text = fs.readFileSync(whole, 'utf8');
  const [named, local] = text.match(/globSync as (\w+),/);
  const lines = text.replace(named, '').split('\n');
  lines.splice(1, 0, `const ${local} = () => [];`);
  const part = join(suite, 'dist/without-glob.js');
  fs.writeFileSync(part, lines.join('\n'));
  return part;
}

// What a baseline expects of a suite: a scenario that a suite does not have cannot fail in it.
function expectation(suite, expected) {
  const scenarios = spawnSync(process.execPath, [runnable(suite), 'list', '--server'], { encoding: 'utf8' }).stdout;
  const lines = fs.readFileSync(expected, 'utf8').split('\n');
  const kept = lines.filter((line) => !line.startsWith('  - ') || scenarios.includes(`${line.slice(4)} `));
  const file = join(data, 'expected.yml');
  fs.writeFileSync(file, kept.join('\n'));
  return file;
}

// Starts a server that says where it listens, runs a suite against a path of it, and compares with a baseline.
async function run(suite, server, args, path, expected) {
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
    const asked = [runnable(suite), 'server', '--url', `http://${address}${path}`, '--suite', 'all'];
    const { status, stdout } = spawnSync(process.execPath, [...asked, '--expected-failures', expectation(suite, expected)], {
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
  for (const suite of suites) {
    console.log(`conformance ${JSON.parse(fs.readFileSync(join(suite, 'package.json'), 'utf8')).version}`);
    // The suite sends no key.
    await run(suite, program, ['serve', '--listen', '127.0.0.1:0', '--no-auth'], '/mcp/conformance', baseline);
    await run(suite, fixtures, [], '/mcp-fixtures', fixturesBaseline);
  }
} finally {
  fs.rmSync(data, { recursive: true, force: true });
}
