// Long lists: a few rows in the document, pages by cursor, the keyboard.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { at, begin, open, server, settle, violations } from './page.mjs';

const SPACE = 'fleet';
/** Events of the long log. */
const EVENTS = 3_000;
/** Messages of a request. */
const BATCH = 500;
/** Most rows in the document: a view of them, with some beyond each end. */
const MOST_ROWS = 40;
/** Rows of a page, as the list asks for them. */
const PAGE = 200;

const words = (place) => `Ship ${place} lies at anchor.`;

/** Counts the pages that are asked for, by cursor. */
function watch(page, path) {
  const asked = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith(`/${path}`)) asked.push(url.searchParams.get('cursor'));
  });
  return asked;
}

const rows = (page) => page.locator('.rows > li').count();
const focused = (page) => page.evaluate(() => document.activeElement.closest('li')?.getAttribute('aria-posinset'));

describe('long lists', () => {
  before(async () => {
    await begin();
    const messages = Array.from({ length: EVENTS }, (_, place) => ({ role: 'assistant', content: words(place) }));
    for (let from = 0; from < EVENTS; from += BATCH) {
      await server.space(SPACE)('POST', 'messages', { session: 'ships', messages: messages.slice(from, from + BATCH) });
    }
  });

  test('the end of a long log is reached with few rows in the document', async () => {
    await open({}, async (page) => {
      const asked = watch(page, 'events');
      await page.goto(at('timeline?role=assistant', SPACE));
      await page.getByText(words(0)).waitFor();
      await settle(page);
      assert.ok(asked.length <= 2, `${asked.length} pages for the first view`);
      const first = page.locator('.rows > li').first();
      assert.equal(await first.getAttribute('aria-posinset'), '1');
      assert.equal(await first.getAttribute('aria-setsize'), '-1', 'the end is not known yet');
      assert.ok((await rows(page)) <= MOST_ROWS);
      assert.deepEqual(await violations(page), []);

      // Scrolled as by hand: each time to the end of what is known so far.
      await page.waitForFunction((wanted) => {
        const box = document.querySelector('.scroller');
        box.scrollTop = box.scrollHeight;
        return box.textContent.includes(wanted);
      }, words(EVENTS - 1));
      assert.ok((await rows(page)) <= MOST_ROWS, `${await rows(page)} rows at the end`);
      const last = page.locator('.rows > li', { hasText: words(EVENTS - 1) });
      assert.equal(await last.getAttribute('aria-posinset'), String(EVENTS));
      await page.waitForSelector(`.rows > li[aria-setsize="${EVENTS}"]`);
      await last.waitFor();
      assert.ok(await last.evaluate((row) => {
        const [one, box] = [row.getBoundingClientRect(), row.closest('.scroller').getBoundingClientRect()];
        return one.top >= box.top - 1 && one.bottom <= box.bottom + 1;
      }), 'the last row is in view');
      assert.equal(new Set(asked).size, asked.length, 'no page is asked for twice on the way');
      assert.ok(asked.length <= EVENTS / PAGE + 1, `${asked.length} pages`);
      assert.deepEqual(await violations(page), []);

      // The first pages were let go; their cursors were not.
      await page.getByRole('button', { name: 'First', exact: true }).click();
      await page.locator('.rows > li', { hasText: words(0) }).waitFor();
      assert.ok((await rows(page)) <= MOST_ROWS);
    });
  });

  test('a long log is walked with the keyboard, and the focus stays', async () => {
    await open({}, async (page) => {
      await page.goto(at('timeline?role=assistant', SPACE));
      await page.getByText(words(0)).waitFor();
      assert.equal(await page.locator('.rows [tabindex="0"]').count(), 1, 'Tab reaches the list once');
      await page.locator('.rows [tabindex="0"]').focus();
      for (const [key, place] of [['ArrowDown', '2'], ['ArrowDown', '3'], ['ArrowUp', '2']]) {
        await page.keyboard.press(key);
        await page.waitForFunction((wanted) => document.activeElement.closest('li')?.ariaPosInSet === wanted, place);
      }
      await page.keyboard.press('PageDown');
      await page.waitForFunction(() => Number(document.activeElement.closest('li')?.ariaPosInSet) > 4);
      await page.keyboard.press('End');
      await page.waitForFunction((wanted) => document.activeElement.textContent.includes(wanted), words(EVENTS - 1));
      assert.equal(await focused(page), String(EVENTS));
      assert.ok((await rows(page)) <= MOST_ROWS);
      await page.keyboard.press('ArrowDown');
      assert.equal(await focused(page), String(EVENTS), 'there is nothing behind the end');
      // The row with the focus stays in the document wherever the view is scrolled to.
      await page.evaluate(() => (document.querySelector('.scroller').scrollTop = 0));
      await page.locator('.rows > li', { hasText: words(1) }).waitFor();
      assert.equal(await focused(page), String(EVENTS));
      await page.keyboard.press('Home');
      await page.waitForFunction((wanted) => document.activeElement.textContent.includes(wanted), words(0));
      await page.keyboard.press('Enter');
      await page.locator('.detail .said', { hasText: words(0) }).waitFor();
      assert.equal(await focused(page), '1', 'opening an event leaves the focus in the list');
    });
  });

  test('the newest events of a long log take one request, and the oldest one more', async () => {
    await open({}, async (page) => {
      const asked = watch(page, 'events');
      await page.goto(at('timeline?role=assistant', SPACE));
      await page.getByText(words(0)).waitFor();
      await settle(page);
      asked.length = 0;
      await page.getByRole('button', { name: 'Newest', exact: true }).click();
      const first = page.locator('.rows > li[aria-posinset="1"]', { hasText: words(EVENTS - 1) });
      await first.waitFor();
      await page.locator('.rows > li[aria-posinset="2"]', { hasText: words(EVENTS - 2) }).waitFor();
      await settle(page);
      assert.ok(asked.length <= 2, `${asked.length} pages for the newest`);
      assert.equal(await page.getByLabel('Order').inputValue(), 'desc');
      assert.deepEqual(await violations(page), []);
      // The list goes on behind its first page, without a hole.
      const places = await page.waitForFunction((page) => {
        const box = document.querySelector('.scroller');
        box.scrollTop = box.scrollHeight;
        const rows = [...box.querySelectorAll('.rows > li:not(.away)')].map((row) => [Number(row.ariaPosInSet), row.textContent]);
        return rows.length > 0 && rows.every(([place, text]) => place > page && text.includes('Ship')) && rows;
      }, PAGE);
      for (const [place, text] of await places.jsonValue()) assert.ok(text.includes(words(EVENTS - place)), `${place}: ${text}`);
      await page.getByRole('button', { name: 'Oldest', exact: true }).click();
      await page.locator('.rows > li[aria-posinset="1"]', { hasText: words(0) }).waitFor();
    });
  });

  test('what is stored meanwhile is reached, and the place in the list stays', async () => {
    await open({}, async (page) => {
      await page.goto(at('timeline?role=assistant', SPACE));
      await page.getByText(words(0)).waitFor();
      await page.waitForSelector('.live.on');
      await page.locator('.rows [tabindex="0"]').focus();
      await page.keyboard.press('End');
      const last = page.locator('.rows > li', { hasText: words(EVENTS - 1) });
      await last.waitFor();
      await server.space(SPACE)('POST', 'messages', { session: 'ships', messages: [{ role: 'assistant', content: 'A late ship comes in.' }] });
      const late = page.locator('.rows > li', { hasText: 'A late ship comes in.' });
      await late.waitFor();
      assert.equal(await late.getAttribute('aria-posinset'), String(EVENTS + 1));
      assert.ok(await last.isVisible(), 'the view stays where it was');
    });
  });

  test('a list that is longer than an element can be tall is reached to its end', async () => {
    // The server has no such log: its pages are made here, by the same cursors.
    const total = 45_000;
    const event = (seq) => ({
      id: `evt_${seq}`, seq, type: 'document', role: 'document', direction: 'inbound', content: words(seq), trust: 'document',
      level: 'evidence', recorded_at: '2026-01-01T00:00:00Z', session: 'ships',
    });
    await open({}, async (page) => {
      await page.route(new RegExp(`/v1/spaces/${SPACE}/events\\?`), (route) => {
        const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
        const items = Array.from({ length: Math.min(PAGE, total - from) }, (_, place) => event(from + place));
        return route.fulfill({ json: { items, gaps: [], next_cursor: from + PAGE < total ? String(from + PAGE) : null } });
      });
      await page.goto(at('timeline', SPACE));
      await page.getByText(words(0)).waitFor();
      await page.locator('.rows [tabindex="0"]').focus();
      await page.keyboard.press('End');
      await page.waitForFunction((wanted) => document.activeElement.textContent.includes(wanted), words(total - 1));
      assert.equal(await focused(page), String(total));
      assert.ok((await rows(page)) <= MOST_ROWS);
      // Back to the beginning by the scrollbar: the span moves along.
      await page.waitForFunction((wanted) => {
        const box = document.querySelector('.scroller');
        box.scrollTop = 0;
        return box.textContent.includes(wanted);
      }, words(0));
      assert.ok((await rows(page)) <= MOST_ROWS);
      assert.equal(await focused(page), String(total), 'the focus is where it was');
    });
  });

  test('a long list of memories is read to its end', async () => {
    const space = server.space('notes');
    const count = 230;
    for (let place = 0; place < count; place += 1) {
      // A conversation may store only so many notes within an hour.
      const session = `pier-${Math.floor(place / 40)}`;
      await space('POST', 'memories', { content: `Berth number ${place} is ${place + 20} meters long.`, key: `berth-${place}`, session });
    }
    await open({}, async (page) => {
      const asked = watch(page, 'memories');
      await page.goto(at('memories', 'notes'));
      await page.waitForSelector('.rows > li');
      await page.getByRole('button', { name: 'Last', exact: true }).click();
      const last = page.locator(`.rows > li[aria-posinset="${count}"]`);
      await last.waitFor();
      assert.equal(await last.getAttribute('aria-setsize'), String(count));
      assert.ok((await rows(page)) <= MOST_ROWS);
      assert.equal(new Set(asked).size, 2, 'one further page');
      assert.deepEqual(await violations(page), []);
    });
  });

  test('a click that begins on one memory never opens another one', async () => {
    const space = server.space('moving');
    for (const name of ['Anna', 'Bert']) await space('POST', 'memories', { content: `The boat ${name} needs paint.`, key: name });
    await open({}, async (page) => {
      let isTurned = false;
      await page.route(/\/v1\/spaces\/moving\/memories\?/, async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        await route.fulfill({ response, json: { ...body, items: isTurned ? [...body.items].reverse() : body.items } });
      });
      await page.goto(at('memories', 'moving'));
      await page.waitForSelector('.live.on');
      const first = page.locator('.rows > li[aria-posinset="1"]');
      await first.waitFor();
      const before = await first.textContent();
      await first.hover();
      await page.mouse.down();
      isTurned = true;
      await space('POST', 'messages', { session: 'any', messages: [{ role: 'assistant', content: 'Something new.' }] });
      await page.waitForFunction((words) => document.querySelector('.rows > li[aria-posinset="1"]').textContent !== words, before);
      await page.mouse.up();
      assert.equal(await page.locator('.detail').count(), 0);
      await page.locator('.rows > li', { hasText: before }).getByRole('button').click();
      await page.locator('.detail .said.big').waitFor();
      assert.ok(before.startsWith(await page.textContent('.detail .said.big')));
    });
  });
});
