// Measures the UI over long logs in a real browser: `node tests/measure.mjs PROGRAM [EVENTS…]`; prints JSON. It is no part of the
// tests: a million events take minutes.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { chromium } from 'playwright-core';

import { Server } from './server.mjs';

const [program, ...sizes] = process.argv.slice(2);
const SPACE = 'long';
/** Turns of a conversation. */
const TURNS = 50;
/** Seconds between two turns. */
const PAUSE = 30;
/** Lines that are written at once. */
const BATCH = 10_000;
/** First views that are counted; one more warms up. */
const VIEWS = 5;
/** Milliseconds between two looks at a layer that is behind, and for all of them. */
const [LOOK, PATIENCE] = [1_000, 20 * 60_000];

/** Writes a log: chat, with a fact or a wish in every hundredth turn of the user. */
function write(file, events) {
  const out = openSync(file, 'w');
  const begin = Date.now() - events * PAUSE * 1_000;
  for (let from = 0; from < events; from += BATCH) {
    let text = '';
    for (let place = from; place < Math.min(events, from + BATCH); place++) {
      const [isUser, session] = [place % 2 === 0, Math.floor(place / TURNS)];
      let words = isUser ? `How do we get the freight of ship ${place} through the lock?` : `Ship ${place} waits for the tide, then it moors at berth ${place % 97}.`;
      if (place % 200 === 0) words = place % 400 === 0 ? `My friend Person${place % 2_000} lives in Town${place % 1_900}.` : `I prefer berth ${place % 89} to berth ${place % 83}.`;
      const ts = new Date(begin + place * PAUSE * 1_000).toISOString();
      text += `${JSON.stringify({ id: String(place), conv: 'harbor', session: `watch-${session}`, ts, speaker: isUser ? 'user' : 'assistant', text: words })}\n`;
    }
    writeSync(out, text);
  }
  closeSync(out);
}

const median = (all) => all.toSorted((one, two) => one - two)[Math.floor(all.length / 2)];
const round = (value) => Math.round(value * 10) / 10;
const sleep = (time) => new Promise((wake) => setTimeout(wake, time));
const say = (words) => console.error(words);

/** Waits until every layer has read the log; what is still behind after some minutes is told. */
async function caughtUp(server) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const { layers } = await server.space(SPACE)('GET', 'stats');
    const behind = Object.fromEntries(layers.filter((one) => one.behind > 0).map((one) => [one.layer, one.behind]));
    if (Object.keys(behind).length === 0 || Date.now() > end) return behind;
    await sleep(LOOK);
  }
}

/** A page that tells how long its views took. */
async function timed(context) {
  const page = await context.newPage();
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      if (!globalThis.shown && document.querySelector('.tile')) globalThis.shown = performance.now();
      if (!globalThis.settled && globalThis.shown && !document.querySelector('.loading')) globalThis.settled = performance.now();
    });
    addEventListener('DOMContentLoaded', () => seen.observe(document, { childList: true, subtree: true }));
  });
  return page;
}

/** Milliseconds from the start of a navigation until the page has its first tile, and until nothing loads; by `how`, a new page or
 * one that is loaded again, in which the browser starts no process. */
async function firstView(page, how) {
  await how();
  await page.waitForFunction(() => globalThis.settled, undefined, { timeout: PATIENCE });
  return page.evaluate(() => ({
    shown: globalThis.shown, settled: globalThis.settled,
    requests: performance.getEntriesByType('resource').map((one) => [one.name.replace(/^.*\/v1/, '/v1'), Math.round(one.duration)]),
  }));
}

/** Megabytes of the page's script after a collection. */
async function heap(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name) => metrics.find((one) => one.name === name)?.value;
  return { heap_mb: round(of('JSHeapUsedSize') / 1e6), nodes: of('Nodes') };
}

/** The list of the whole log: its first rows, its end by the key End, a place in the middle by the scrollbar. */
async function list(context, server) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  let pages = 0;
  page.on('request', (request) => new URL(request.url()).pathname.endsWith('/events') && pages++);
  await page.goto(`${server.url}/ui/#/${SPACE}/timeline`);
  await page.waitForSelector('.rows li');
  const rows = () => page.locator('.rows > li').count();
  const atStart = { rows: await rows(), ...(await heap(page)) };
  await page.locator('.rows [tabindex="0"]').focus();
  let begin = performance.now();
  await page.keyboard.press('End');
  await page.waitForFunction(() => {
    const row = document.activeElement.closest('li');
    return row && row.ariaSetSize !== '-1' && row.ariaPosInSet === row.ariaSetSize && !row.textContent.includes('Loading…');
  });
  const [toEnd, fetched] = [performance.now() - begin, pages];
  const count = Number(await page.evaluate(() => document.activeElement.closest('li').ariaSetSize));
  const atEnd = { rows: await rows(), ...(await heap(page)) };
  // By hand to the middle of what the scrollbar covers: its rows come again by their cursors.
  const scrolls = [];
  for (const part of [0.5, 0.4, 0.6]) {
    begin = performance.now();
    await page.evaluate((where) => {
      const box = document.querySelector('.scroller');
      box.scrollTop = box.scrollHeight * where;
    }, part);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await page.waitForFunction(() => {
      const shown = [...document.querySelectorAll('.rows > li:not(.away)')];
      return shown.length > 0 && shown.every((row) => !row.textContent.includes('Loading…'));
    });
    scrolls.push(performance.now() - begin);
  }
  begin = performance.now();
  await page.getByRole('button', { name: 'Newest', exact: true }).click();
  await page.waitForFunction(() => location.hash.includes('order=desc')
    && document.querySelector('.rows > li[data-row="0"][aria-setsize="-1"] .said'));
  const toNewest = performance.now() - begin;
  await page.close();
  return {
    rows_in_all: count, at_start: atStart, end_key_ms: Math.round(toEnd), pages_to_end: fetched, at_end: atEnd, scroll_ms: round(median(scrolls)),
    newest_first_ms: round(toNewest),
  };
}

async function measure(events) {
  const file = join(tmpdir(), `mnemal-ui-${process.pid}.jsonl`);
  const server = new Server(resolve(program));
  write(file, events);
  const begin = performance.now();
  say(`${events} events: importing`);
  server.run('-s', SPACE, 'import', file, '--format', 'neutral', '--own-history', '--quiet');
  const importing = performance.now() - begin;
  rmSync(file);
  await server.start();
  let browser;
  try {
    say('catching up');
    const behind = await caughtUp(server);
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const login = await context.newPage();
    await login.goto(server.link());
    await login.waitForSelector('.tile');
    await login.close();
    say('first views');
    const today = `${server.url}/ui/#/${SPACE}/today`;
    const [fresh, counted] = [[], []];
    for (let round = 0; round <= VIEWS; round++) {
      const page = await timed(context);
      fresh.push((await firstView(page, () => page.goto(today))).shown);
      // In the same page the browser starts no process, which takes longer than everything else.
      counted.push(await firstView(page, () => page.reload()));
      await page.close();
    }
    counted.shift();
    say('the list');
    const listed = await list(context, server);
    const { memories, sessions } = await server.space(SPACE)('GET', 'stats');
    return {
      events, memories, sessions, import_s: round(importing / 1_000), behind,
      first_view_ms: round(median(counted.map((one) => one.shown))),
      first_views_ms: counted.map((one) => round(one.shown)), new_page_ms: round(median(fresh.slice(1))),
      all_sections_ms: round(median(counted.map((one) => one.settled))),
      requests_ms: Object.fromEntries(counted.at(-1).requests), list: listed,
    };
  } finally {
    await browser?.close();
    await server.stop();
  }
}

const results = [];
for (const size of sizes.length > 0 ? sizes : ['100000', '1000000']) results.push(await measure(Number(size)));
console.log(JSON.stringify({ results }, null, 1));
