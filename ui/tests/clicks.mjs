// Eight tasks that begin at Today: each takes at most four clicks beside typing. The page itself counts them.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { at, begin, open, server, violations } from './page.mjs';
import { zip } from './zip.mjs';

/** Most clicks of a task. */
const MOST = 4;
/** The space of the tasks. */
const SPACE = 'desk';
const WRONG = 'I prefer coffee to tea.';
/** Gentle corrections: one alone is no rule yet, so a person decides about each. */
const CORRECTIONS = [
  ['ripgrep', 'grep'], ['pnpm', 'npm'], ['podman', 'docker'], ['meson', 'cmake'], ['rsync', 'scp'], ['zstd', 'gzip'],
  ['nftables', 'iptables'], ['helix', 'vim'], ['fish', 'bash'], ['mercurial', 'git'],
];

/** A moment some days ago. */
const ago = (days) => new Date(Date.now() - days * 86_400_000).toISOString();
const user = (content) => ({ role: 'user', content });

/** Does a task from Today on, and counts the presses of the mouse, also those that miss. */
function task(name, work) {
  test(`${name}: at most ${MOST} clicks from Today`, async (told) => {
    await open({}, async (page) => {
      await page.addInitScript(() => {
        globalThis.presses = 0;
        addEventListener('pointerdown', (event) => event.isTrusted && globalThis.presses++, true);
        // Each further choice in a list of the browser is a click that no page sees.
        addEventListener('change', (event) => event.isTrusted && event.target.matches('select') && globalThis.presses++, true);
      });
      await page.goto(at('today', SPACE));
      await page.waitForSelector('.tile');
      await work(page);
      const presses = await page.evaluate(() => globalThis.presses);
      told.diagnostic(`${name}: ${presses} clicks`);
      assert.ok(presses > 0, 'the clicks are counted');
      assert.ok(presses <= MOST, `${presses} clicks`);
    });
  });
}

const nav = (page, name) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true }).click();

describe('tasks', () => {
  before(async () => {
    await begin();
    const desk = server.space(SPACE);
    await desk('POST', 'messages', { session: 'kickoff', messages: [
      user(WRONG), user('My colleague Mallory works at Initech.'),
    ] });
    await desk('POST', 'messages', { session: 'family', messages: [
      { ...user('My sister Ada lives in Paris.'), occurred_at: ago(10) },
      { ...user('My sister Ada moved to Berlin.'), occurred_at: ago(1) },
    ] });
    for (const [better, used] of CORRECTIONS) {
      const messages = [{ role: 'assistant', content: `Done, I did it with ${used}.` }, user(`Use ${better} instead of ${used}.`)];
      await desk('POST', 'messages', { session: used, messages });
    }
    await server.job(SPACE, 'extract');
    // The dream folds copies.
    for (const mark of ['.', '!']) {
      await desk('POST', 'memories', { content: `The spare key hangs behind the door of the workshop${mark}`, session: `note ${mark}` });
    }
    await server.job(SPACE, 'dream');
    const { items } = await desk('GET', 'events?role=decision&since=1d&limit=200');
    assert.ok(items.some((one) => one.operation), 'a dream did something');
  });

  task('find why a line stood in a prompt', async (page) => {
    const { text, recall_id: receipt } = await server.space(SPACE)('POST', 'context', { query: 'where does Ada live', session: 'chat' });
    assert.ok(text.includes(receipt), 'the prompt names its receipt');
    await nav(page, 'Context preview');
    await page.getByLabel('Query').click();
    await page.keyboard.type(receipt);
    await page.keyboard.press('Enter');
    await page.locator('.line', { hasText: 'Berlin' }).getByRole('button', { name: 'source' }).first().click();
    await page.getByText('In the context because').waitFor();
    assert.match(await page.textContent('dialog mark'), /Berlin/);
  });

  task('correct a wrong preference', async (page) => {
    await nav(page, 'Summaries & preferences');
    await page.getByRole('link', { name: /prefer coffee/ }).click();
    await page.getByRole('button', { name: 'Correct' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('I prefer tea to coffee.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Corrected').waitFor();
    const { items } = await server.space(SPACE)('GET', 'preferences');
    assert.deepEqual(items.map((one) => one.content).filter((words) => /prefer/.test(words)), ['I prefer tea to coffee.']);
  });

  task('undo the dream of last night', async (page) => {
    const kept = async () => {
      const { items } = await server.space(SPACE)('GET', 'memories?q=spare%20key');
      return items.length;
    };
    assert.equal(await kept(), 1, 'the dream folded two into one');
    const dream = page.getByRole('region', { name: 'Last dream' });
    await dream.locator('del', { hasText: 'spare key' }).waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Undo all of it' }).click();
    await page.getByText('the memories are as they were').waitFor();
    assert.equal(await kept(), 2);
  });

  task('forget a person and see the proof', async (page) => {
    await nav(page, 'Graph');
    await page.getByRole('button', { name: /^Mallory/ }).click();
    await page.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByRole('heading', { name: 'Erased' }).waitFor();
    await page.getByRole('heading', { name: 'Signed receipt' }).waitFor();
    assert.deepEqual(await violations(page), []);
    const { items } = await server.space(SPACE)('GET', 'entities?q=Mallory');
    assert.deepEqual(items, []);
  });

  task('see what held on a day', async (page) => {
    const [year, month, day] = ago(5).slice(0, 10).split('-');
    // The month is at the left.
    await page.getByLabel('Day', { exact: true }).click({ position: { x: 20, y: 18 } });
    await page.keyboard.type(`${month}${day}${year}`);
    await page.keyboard.press('Enter');
    const held = page.getByRole('region', { name: 'What held' });
    await held.getByRole('button', { name: /Ada.*Paris/ }).waitFor();
    assert.equal(await held.getByRole('button', { name: /Ada.*Berlin/ }).count(), 0, 'she moved there later');
  });

  task('accept ten pending items', async (page) => {
    const desk = server.space(SPACE);
    const { items: pending } = await desk('GET', 'memories?status=candidate');
    assert.equal(pending.length, CORRECTIONS.length);
    await page.getByRole('button', { name: 'Confirm all 10…' }).click();
    assert.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Confirm 10' }).click();
    await page.getByText('Confirmed: 10.').waitFor();
    const { items: holding } = await desk('GET', 'preferences');
    const held = holding.filter((one) => one.basis === 'told' && one.trust === 'user').map((one) => one.content);
    assert.deepEqual(pending.map((one) => one.content).filter((words) => !held.includes(words)), []);
    await page.getByText('Nothing is to be reviewed.').waitFor();
  });

  task('revoke a key', async (page) => {
    const key = await server.ask('POST', '/v1/keys', { name: 'lost laptop', rights: ['write'], class: 'agent', spaces: [SPACE] });
    await nav(page, 'Operations');
    const row = page.locator('.key', { hasText: 'lost laptop' });
    await row.getByRole('button', { name: 'Revoke…' }).click();
    await row.getByRole('button', { name: 'Revoke for good' }).click();
    await row.getByText('revoked').waitFor();
    const { items } = await server.ask('GET', '/v1/keys');
    assert.ok(items.find((one) => one.id === key.id).revoked_at);
  });

  task('import a ChatGPT export', async (page) => {
    const message = (id, parent, children, role, words) => ({
      id, parent, children,
      message: { id, author: { role }, create_time: 1735725600, content: { content_type: 'text', parts: [words] }, metadata: {}, recipient: 'all' },
    });
    const conversation = {
      title: 'Boats', create_time: 1735725600, update_time: 1735725700, conversation_id: 'boats', current_node: 'b',
      mapping: {
        a: message('a', null, ['b'], 'user', 'The sailing boat in the harbor is called Nautilus.'),
        b: message('b', 'a', [], 'assistant', 'A fine name for a boat.'),
      },
    };
    await nav(page, 'Operations');
    const chosen = page.waitForEvent('filechooser');
    await page.getByLabel(/^File/).click();
    const files = { 'conversations.json': JSON.stringify([conversation]), 'user.json': '{"id":"user-1"}', 'chat.html': '<html></html>' };
    await (await chosen).setFiles({ name: 'export.zip', mimeType: 'application/zip', buffer: zip(files) });
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('It would store').waitFor();
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByRole('heading', { name: 'Stored' }).waitFor();
    assert.match(await page.textContent('.facts'), /chatgpt/);
    const { hits } = await server.space(SPACE)('POST', 'recall', { query: 'what is the sailing boat called' });
    assert.match(hits[0].text, /Nautilus/);
  });
});
