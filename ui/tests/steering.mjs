// What conversations were given, what was taken back, a report that holds still, and whom an import takes speakers for.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { at, begin, open, server, show, violations } from './page.mjs';

const SPACE = 'steering';
const turn = (content, name) => `${JSON.stringify({ role: name === 'bot' ? 'assistant' : 'user', ...(name !== 'bot' && { name }), content })}\n`;

describe('steering', () => {
  before(begin);

  test('what conversations were given leads from Today to each receipt', async () => {
    const space = server.space(SPACE);
    await space('POST', 'messages', { session: 'talk', messages: [{ role: 'user', content: 'The lighthouse of Ushant is called Creach.' }] });
    const given = [];
    for (const session of ['morning', 'evening', 'morning']) {
      given.push(await space('POST', 'context', { query: 'what is the lighthouse called', session, skip_injected: false }));
    }
    await open({}, async (page) => {
      await page.goto(at('today', SPACE));
      const list = page.getByRole('region', { name: 'Given' });
      await list.locator('ul.bare li').nth(2).waitFor();
      const { items } = await space('GET', 'recalls');
      assert.deepEqual(items.map((one) => one.id), given.map((one) => one.recall_id).reverse(), 'newest first');
      const sessions = await list.locator('> ul > li > a').allTextContents();
      assert.deepEqual(sessions, ['morning', 'evening'], 'by conversation');
      const links = await list.locator('ul.bare a').evaluateAll((all) => all.map((one) => decodeURIComponent(one.hash.split('q=')[1])));
      assert.deepEqual(links, [2, 0, 1].map((place) => given[place].recall_id));
      const newest = items[0];
      const words = `${newest.lines} lines, ${newest.tokens} of ${newest.budget.toLocaleString('en-US')} tokens`;
      assert.ok((await list.locator('ul.bare li').first().textContent()).includes(words), words);
      assert.deepEqual(await violations(page), []);
      await list.locator('ul.bare a').first().click();
      await page.locator('.line .said', { hasText: 'Creach' }).waitFor();
      await page.getByRole('button', { name: 'source' }).first().click();
      await page.getByText('In the context because').waitFor();
    });
  });

  test('what waits is confirmed, rejected, taken back and corrected with one key each', async () => {
    const space = server.space('inbox');
    for (const [better, used] of [['ripgrep', 'grep'], ['pnpm', 'npm'], ['podman', 'docker']]) {
      const messages = [{ role: 'assistant', content: `Done, I did it with ${used}.` }, { role: 'user', content: `Use ${better} instead of ${used}.` }];
      await space('POST', 'messages', { session: used, messages });
    }
    await server.job('inbox', 'extract');
    const waiting = async () => (await space('GET', 'memories?status=candidate')).items.map((one) => one.content);
    const before = await waiting();
    assert.equal(before.length, 3);
    await open({}, async (page) => {
      await page.goto(at('today', 'inbox'));
      const items = page.locator('.inbox');
      await items.nth(2).waitFor();
      const names = await items.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
      assert.deepEqual(await violations(page), []);
      await items.first().focus();
      const said = (words) => page.getByRole('status').filter({ hasText: words }).waitFor();
      const focused = (name) => page.waitForFunction((wanted) => document.activeElement.getAttribute('aria-label') === wanted, name);
      await page.keyboard.press('a');
      await said(`Confirmed: ${names[0]}`);
      await focused(names[1]);
      const { items: held } = await space('GET', 'preferences');
      assert.ok(held.some((one) => one.content === names[0] && one.trust === 'user' && one.basis === 'told'), 'it counts as his own words');
      await page.keyboard.press('r');
      await said(`Rejected: ${names[1]}`);
      await focused(names[2]);
      const { items: rejected } = await space('GET', 'memories?status=rejected');
      assert.deepEqual(rejected.map((one) => one.content), [names[1]]);
      await page.keyboard.press('u');
      await items.nth(1).waitFor();
      assert.deepEqual((await waiting()).filter((words) => words === names[1]), [names[1]], 'it waits again');
      assert.deepEqual(await violations(page), []);
      // A key that is typed elsewhere decides nothing.
      await page.getByLabel('Day', { exact: true }).focus();
      await page.keyboard.press('r');
      await items.first().getByRole('button', { name: 'Confirm' }).focus();
      await page.keyboard.press('r');
      await items.nth(1).waitFor();
      await items.filter({ hasText: names[2] }).focus();
      await page.keyboard.press('c');
      await page.getByRole('textbox', { name: 'Words' }).waitFor();
      assert.equal(await page.getByRole('textbox', { name: 'Words' }).inputValue(), names[2]);
    });
    await assert.rejects(space('PATCH', `memories/${(await space('GET', 'memories?status=candidate')).items[0].id}`, { content: 'other words' }),
      /400.*kept for what is learnt/, 'what was learnt is corrected by saying it, and a patch says so');
  });

  test('what was taken back says so after the page is opened again', async () => {
    const space = server.space(SPACE);
    for (const mark of ['.', '!']) await space('POST', 'memories', { content: `The winch needs grease on Mondays${mark}`, session: `note ${mark}` });
    await server.job(SPACE, 'dream');
    const { items } = await space('GET', 'events?role=decision&order=desc&limit=200');
    const operation = items.find((one) => one.operation);
    assert.equal(operation.undone_by, undefined);
    const { event_id: undo } = await space('POST', `decisions/${operation.id}/undo`, {});
    assert.equal((await space('GET', `events/${operation.id}`)).undone_by, undo);
    await open({}, async (page) => {
      await page.goto(at('today', SPACE));
      const dream = page.getByRole('region', { name: 'Last dream' });
      await dream.getByText('taken back', { exact: true }).waitFor();
      assert.equal(await dream.getByRole('button', { name: 'Undo' }).count(), 0, 'nothing is left to undo');
      await page.goto(at(`timeline?role=decision&order=desc&event=${operation.id}`, SPACE));
      await page.locator('.detail').getByText('It was taken back.').waitFor();
      await page.locator('.rows li').getByText('taken back', { exact: true }).waitFor();
      assert.deepEqual(await violations(page), []);
      await page.getByRole('button', { name: undo }).click();
      await page.waitForFunction((wanted) => location.hash.includes(wanted), undo);
    });
  });

  test('a report is made once, and again when somebody asks', async () => {
    const space = server.space(SPACE);
    await space('POST', 'messages', { session: 'report', messages: [{ role: 'user', content: 'The report begins.' }] });
    await open({}, async (page) => {
      let reports = 0;
      page.on('request', (request) => new URL(request.url()).pathname.endsWith('/report') && reports++);
      await show(page, 'report', SPACE);
      await page.getByText('live', { exact: true }).waitFor();
      assert.equal(reports, 1);
      for (const place of [1, 2, 3]) {
        await space('POST', 'messages', { session: 'report', messages: [{ role: 'user', content: `The tide turns ${place} times.` }] });
        // A look at the stream is at most each half second.
        await new Promise((wake) => setTimeout(wake, 700));
      }
      await page.getByText('Something was stored since.').waitFor();
      assert.deepEqual(await violations(page), []);
      assert.equal(reports, 1, 'events alone make no report');
      await page.getByRole('button', { name: 'Make it again' }).click();
      await page.getByText('Something was stored since.').waitFor({ state: 'detached' });
      const stored = (await space('GET', 'report')).stored.events.toLocaleString('en-US');
      await page.waitForFunction((wanted) => [...document.querySelectorAll('.tile')]
        .some((one) => one.children[1].textContent === 'events stored' && one.children[0].textContent === wanted), stored);
      assert.equal(reports, 2);
    });
  });

  test('an import shows whom each speaker is taken for, and follows what is ticked', async () => {
    const lines = turn('The buoy is red.', 'Ada') + turn('It was green.', 'Ada') + turn('Noted.', 'bot');
    await open({}, async (page) => {
      await page.goto(at('ops', SPACE));
      await page.getByLabel(/^File/).setInputFiles({ name: 'talk.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(lines) });
      await page.getByRole('button', { name: 'Preview' }).click();
      const ada = page.locator('.speakers li', { hasText: 'Ada' });
      await ada.getByText('somebody else').waitFor();
      assert.match(await ada.textContent(), /2 records/);
      assert.deepEqual(await violations(page), []);
      await page.getByLabel(/It is my own history/).check();
      await ada.getByText('your words').waitFor();
      const { stored } = { stored: (await server.space(SPACE)('GET', 'events?speaker=Ada')).items.length };
      assert.equal(stored, 0, 'a preview stores nothing');
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByRole('heading', { name: 'Stored' }).waitFor();
      assert.equal((await server.space(SPACE)('GET', 'events?speaker=Ada')).items.length, 2);
    });
  });

  test('a long import says how much of it was sent, and a dream that it runs', async () => {
    await open({}, async (page) => {
      await page.goto(at('ops', SPACE));
      let answer;
      const asked = new Promise((resolve) => (answer = resolve));
      await page.route(/\/import\?/, async (route) => {
        await asked;
        await route.continue();
      });
      await page.getByLabel(/^File/).setInputFiles({ name: 'talk.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(turn('The rope is wet.', 'Ada')) });
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('progressbar', { name: 'Sent' }).waitFor();
      assert.deepEqual(await violations(page), []);
      answer();
      await page.getByText('It would store').waitFor();
      assert.equal(await page.getByRole('progressbar').count(), 0);
      let looks = 0;
      await page.route(/\/jobs\/[^/]+$/, async (route) => {
        const response = await route.fetch();
        const job = await response.json();
        await route.fulfill({ response, json: ++looks < 4 ? { ...job, state: 'running', result: undefined } : { ...job, state: 'done' } });
      });
      await page.route(/\/dream$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), state: 'running' } });
      });
      await page.getByRole('button', { name: 'Show what it would do' }).click();
      await page.getByText(/It runs for \d+ s/).waitFor();
      await page.getByText(/It would do/).waitFor();
      assert.equal(await page.getByText(/It runs for/).count(), 0);
    });
  });
});
