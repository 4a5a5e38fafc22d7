#!/usr/bin/env node
'use strict';
// Starts the program of the package for this platform, which npm installs as an optional dependency.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const name = `@mnemal/cli-${process.platform}-${process.arch}`;
const file = process.platform === 'win32' ? 'mnemal.exe' : 'mnemal';

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: mnemal has no program for this platform: ${name} is not installed`);
  console.error('It is an optional dependency: leave out --omit=optional, or see the guide for other ways to install it.');
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// Who stops the launcher means the program. A terminal tells both of an interrupt, and the program decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('error', (error) => {
  console.error(`error: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
