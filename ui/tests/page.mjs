// A browser on a server with data: what every test file uses. Each test has a page of its own, whose console must stay clean and
// which may ask nobody but the server.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join, resolve } from 'node:path';
import { after, before } from 'node:test';

import { chromium } from 'playwright-core';

import { Server, fill } from './server.mjs';

const [program, given] = process.argv.slice(2);
/** Where screenshots go, if anywhere. */
export const folder = given;
if (folder) mkdirSync(folder, { recursive: true });
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const VIEWS = ['today', 'recall', 'context', 'memories', 'timeline', 'graph', 'summaries', 'report', 'ops'];
/** A link to each view that shows data. */
export const FULL = {
  today: 'today', recall: 'recall?q=where%20does%20Ada%20live', context: 'context?q=where%20does%20Ada%20live',
  memories: 'memories', timeline: 'timeline', graph: 'graph?center=Ada', summaries: 'summaries', report: 'report',
  ops: 'ops',
};
/** The element of a view that has loaded its data. */
export const READY = {
  today: '.tile', recall: '.hit', context: 'pre.exact', memories: '.rows li', timeline: '.log li', graph: '.graph .node',
  summaries: '.tree li', report: '.tiles', ops: 'h2',
};
/** The endpoint without which a view has nothing to show. */
export const NEEDS = {
  today: 'stats', recall: 'recall', context: 'context', memories: 'memories', timeline: 'events', graph: 'graph',
  summaries: 'summaries', report: 'report', ops: 'jobs',
};

/** Milliseconds that a page may take to show something, on a machine that has much else to do. */
const PATIENCE = 20_000;

export let server;
let browser, state;

function browserPath() {
  const name = process.env.CHROMIUM ?? 'chromium';
  const places = name.includes('/') ? [name] : process.env.PATH.split(delimiter).map((one) => join(one, name));
  return places.find((one) => existsSync(one));
}

let begun;

/** Starts the server and the browser once, whoever needs them first. */
export function begin() {
  begun ??= (async () => {
    server = await new Server(resolve(program)).start();
    await fill(server);
    browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox'] });
    const page = await (await overlay(await browser.newContext())).newPage();
    await page.goto(server.link());
    await page.waitForSelector('.tile');
    state = await page.context().storageState();
    await page.context().close();
  })();
  return begun;
}

before(begin);

after(async () => {
  await browser?.close();
  await server?.stop();
});

/** With `MNEMAL_UI_FILES` the files of that folder stand for those in the program, so that a page is tried without building it. */
async function overlay(context) {
  const files = process.env.MNEMAL_UI_FILES;
  if (!files) return context;
  await context.route(`${server.url}/ui/**`, async (route) => {
    const name = new URL(route.request().url()).pathname.replace('/ui/', '') || 'index.html';
    const response = await route.fetch();
    await route.fulfill({ response, body: readFileSync(join(files, name)) });
  });
  return context;
}

/** Opens a page that is logged in, and checks after the test that it kept to itself. */
export async function open(options, work) {
  const context = await browser.newContext({ storageState: state, viewport: { width: 1280, height: 860 }, ...options });
  await overlay(context);
  const page = await context.newPage();
  const [outside, wrong] = [[], []];
  // A refusal that a test asks for is written to the console by the browser itself.
  page.on('console', (said) => said.type() === 'error' && !(options.mayFail && /Failed to load/.test(said.text())) && wrong.push(said.text()));
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('request', (asked) => !asked.url().startsWith(server.url) && !/^(data|blob):/.test(asked.url()) && outside.push(asked.url()));
  page.setDefaultTimeout(PATIENCE);
  try {
    await work(page);
  } catch (failed) {
    if (folder) await page.screenshot({ path: join(folder, 'failed.png') });
    throw failed;
  }
  await context.close();
  assert.deepEqual({ wrong, outside }, { wrong: [], outside: [] });
}

export const at = (view, space = 'demo') => `${server.url}/ui/#/${space}/${view}`;

export async function show(page, view, space) {
  await page.goto(at(FULL[view], space));
  await page.waitForSelector(READY[view]);
  await settle(page);
}

/** Waits until nothing loads. */
export async function settle(page) {
  await page.waitForFunction(() => !document.querySelector('.loading'));
}

export async function violations(page) {
  // The policy of the page forbids inline scripts, so this one runs through the debugger.
  await page.evaluate(AXE);
  const found = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).join(' | ').slice(0, 900)}`);
}
