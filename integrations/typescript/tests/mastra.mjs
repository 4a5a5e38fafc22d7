// Runs Mastra's memory on mnemal: `mastra.mjs PROGRAM [--json FILE]`, with Node 22.13 or newer.
//
// Mastra publishes no tests of stores, so each step is asked of its own stores too, the one in memory and LibSQL, and real agents
// run with a scripted model. It installs pinned packages into a temporary folder and is no part of continuous integration.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

// The first two are those with which the package is built.
const PINNED = ['@mastra/core@1.71.0', '@mastra/memory@1.31.0', '@mastra/libsql@1.23.1', 'zod@4.6.7'];
const [program, flag, report] = process.argv.slice(2);
const source = dirname(dirname(fileURLToPath(import.meta.url)));
const home = mkdtempSync(join(tmpdir(), 'mnemal-mastra-'));
let checks = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) throw new Error(`FAILED: ${what}`);
}

// As JSON, whatever the order of the fields.
const ordered = (_, value) =>
  value?.constructor === Object
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((name) => [name, value[name]]),
      )
    : value;
const shown = (value) => JSON.stringify(value, ordered) ?? 'undefined';
const same = (one, other, what) =>
  check(shown(one) === shown(other), `${what}\n  ours   ${shown(one)}\n  theirs ${shown(other)}`);

// Asks again while a layer was too slow to answer, as on a machine that has much to do.
async function soon(ask, holds) {
  let answer = await ask();
  for (let turn = 0; turn < 20 && !holds(answer); turn += 1) answer = await ask();
  return answer;
}

// ---- the packages ----------------------------------------------------------------------------------------------------------

for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.mastra.json'])
  cpSync(join(source, name), join(home, name), { recursive: true });
const run = (line, ...given) => execFileSync(line, given, { cwd: home, stdio: 'inherit' });
const install = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--silent'];
run('npm', ...install);
run('npm', 'run', '--silent', 'build');
run('npm', ...install, '--no-save', '--save-dev', ...PINNED);
const require = createRequire(join(home, 'package.json'));
const built = (name) => import(pathToFileURL(join(home, 'dist', name)).href);
const installed = (name) => import(pathToFileURL(require.resolve(name).replace(/\.cjs$/, '.js')).href);
const [{ Mnemal, MnemalError }, { MnemalContext, MnemalMemory, MnemalMemoryStorage, MnemalStore }, { memoryTools }] =
  await Promise.all(['index.js', 'mastra.js', 'ai.js'].map(built));
const [{ Agent }, { InMemoryStore, MastraCompositeStore }, { createTool }, { Memory }, { LibSQLStore }, { z }, models] =
  await Promise.all(
    [
      '@mastra/core/agent',
      '@mastra/core/storage',
      '@mastra/core/tools',
      '@mastra/memory',
      '@mastra/libsql',
      'zod',
      'ai/test',
    ].map(installed),
  );

// ---- the stores answer alike -----------------------------------------------------------------------------------------------

const at = (second) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const textOf = (text) => ({ format: 2, parts: [{ type: 'text', text }], content: text });
const message = (id, second, text, more = {}) => ({
  id,
  threadId: 't1',
  resourceId: 'ana',
  role: 'user',
  type: 'text',
  createdAt: at(second),
  content: textOf(text),
  ...more,
});
const thread = (id, second, more = {}) => ({
  id,
  resourceId: 'ana',
  title: `about ${id}`,
  metadata: { n: second },
  createdAt: at(second),
  updatedAt: at(second),
  ...more,
});
const called = {
  format: 2,
  parts: [
    { type: 'step-start' },
    { type: 'reasoning', reasoning: '', details: [{ type: 'text', text: 'The user wants the weather.' }] },
    {
      type: 'tool-invocation',
      toolInvocation: {
        state: 'result',
        step: 0,
        toolCallId: 'c1',
        toolName: 'weather',
        args: { city: 'Lyon', days: [1, 2] },
        result: { sky: 'sunny', degrees: 21.5, none: null },
      },
    },
    { type: 'text', text: 'Lyon is sunny.', providerMetadata: { lab: { signature: 'q0'.repeat(300) } } },
    {
      type: 'file',
      mimeType: 'image/png',
      data: Buffer.from(`\x89PNG\r\n\x1a\n${'picture'.repeat(9_000)}`, 'latin1').toString('base64'),
    },
    { type: 'text', text: 'Take no umbrella.' },
  ],
  content: 'Lyon is sunny.\nTake no umbrella.',
  metadata: { modelId: 'm', nested: { list: [{ deep: true }] } },
};

// Each step is a name and what is asked; an error is an answer as well. What no two stores can share is left out of it.
const page = async (asked) => {
  const { messages, ...rest } = await asked;
  return { ids: messages.map(({ id }) => id), ...rest };
};
const ids = async (asked) => {
  const { threads, ...rest } = await asked;
  return { ids: threads.map(({ id }) => id), ...rest };
};
const timeless = ({ createdAt, updatedAt, ...rest } = {}) => rest;
const STEPS = [
  ['no thread', (s) => s.getThreadById({ threadId: 't1' })],
  ['no messages', (s) => s.listMessages({ threadId: 't1' })],
  ['no threads', (s) => s.listThreads({})],
  ['no messages of ids', (s) => s.listMessagesById({ messageIds: ['m1'] })],
  ['a thread', (s) => s.saveThread({ thread: thread('t1', 1) })],
  ['it is there', (s) => s.getThreadById({ threadId: 't1' })],
  ['it is not of somebody else', (s) => s.getThreadById({ threadId: 't1', resourceId: 'bo' })],
  [
    'more threads',
    async (s) => {
      for (const n of [2, 3, 4, 5])
        await s.saveThread({ thread: thread(`t${n}`, n, n === 5 ? { resourceId: 'bo', metadata: { n, kind: 'x' } } : {}) });
    },
  ],
  [
    'messages',
    (s) =>
      s.saveMessages({
        messages: [1, 2, 3, 4, 5, 6, 7].map((n) =>
          message(`m${n}`, n, `sentence number ${n}`, n % 2 ? {} : { role: 'assistant' }),
        ),
      }),
  ],
  ['none to save', (s) => s.saveMessages({ messages: [] })],
  ['all of them', (s) => s.listMessages({ threadId: 't1' })],
  [
    'all of them, newest first',
    (s) => page(s.listMessages({ threadId: 't1', orderBy: { field: 'createdAt', direction: 'DESC' } })),
  ],
  ...[
    [0, 3],
    [1, 3],
    [2, 3],
    [3, 3],
    [0, 0],
    [0, 100],
    [0, false],
  ].map(([number, perPage]) => [
    `page ${number} of ${perPage}`,
    (s) => page(s.listMessages({ threadId: 't1', page: number, perPage })),
  ]),
  ['a page that cannot be', (s) => page(s.listMessages({ threadId: 't1', page: -1 })).catch(() => 'refused')],
  ['a thread without a name', (s) => page(s.listMessages({ threadId: ' ' })).catch(() => 'refused')],
  ['those of a user', (s) => page(s.listMessages({ threadId: 't1', resourceId: 'ana' }))],
  ['those of another', (s) => page(s.listMessages({ threadId: 't1', resourceId: 'bo' }))],
  ['those of a time', (s) => page(s.listMessages({ threadId: 't1', filter: { dateRange: { start: at(2), end: at(4) } } }))],
  [
    'between two times',
    (s) =>
      page(
        s.listMessages({
          threadId: 't1',
          filter: { dateRange: { start: at(2), end: at(4), startExclusive: true, endExclusive: true } },
        }),
      ),
  ],
  [
    'with what is around one',
    (s) =>
      page(
        s.listMessages({ threadId: 't1', perPage: 0, include: [{ id: 'm4', withPreviousMessages: 1, withNextMessages: 2 }] }),
      ),
  ],
  [
    'with one of another thread',
    (s) => page(s.listMessages({ threadId: 't2', perPage: 5, include: [{ id: 'm4', threadId: 't1' }] })),
  ],
  ['of several threads', (s) => page(s.listMessages({ threadId: ['t1', 't2'], perPage: 2 }))],
  ['by ids', (s) => s.listMessagesById({ messageIds: ['m2', 'm1', 'nobody'] })],
  ['those of a user in all threads', (s) => page(s.listMessagesByResourceId({ resourceId: 'ana', perPage: 4 }))],
  [
    'a message with all parts',
    (s) => s.saveMessages({ messages: [message('m8', 8, '', { role: 'assistant', content: called })] }),
  ],
  ['comes back whole', (s) => s.listMessages({ threadId: 't1', page: 7, perPage: 1 })],
  ['one that is there takes its place', (s) => s.saveMessages({ messages: [message('m3', 3, 'another sentence')] })],
  ['at its place', (s) => s.listMessages({ threadId: 't1', perPage: 3 })],
  [
    'one that grows',
    async (s) => {
      const [, , call, text] = called.parts;
      const asks = { ...call, toolInvocation: { ...call.toolInvocation, state: 'call', result: undefined } };
      for (const parts of [[asks], [call], [call, text]])
        await s.saveMessages({ messages: [message('m9', 9, '', { role: 'assistant', content: { format: 2, parts } })] });
      return (await s.listMessagesById({ messageIds: ['m9'] })).messages[0].content;
    },
  ],
  ['empty words', (s) => s.saveMessages({ messages: [message('m10', 10, '')] })],
  ['are kept', async (s) => (await s.listMessagesById({ messageIds: ['m10'] })).messages.map(({ content }) => content)],
  [
    'an update',
    async (s) =>
      (
        await s.updateMessages({
          messages: [
            { id: 'm2', content: { metadata: { seen: true } } },
            { id: 'nobody', role: 'user' },
          ],
        })
      ).map(({ id, content }) => [id, content]),
  ],
  [
    'an update that adds',
    async (s) =>
      (await s.updateMessages({ messages: [{ id: 'm2', content: { metadata: { twice: 2 } } }] })).map(({ content }) => content),
  ],
  [
    'a move',
    async (s) => (await s.updateMessages({ messages: [{ id: 'm5', threadId: 't2' }] })).map(({ threadId }) => threadId),
  ],
  ['from there', (s) => page(s.listMessages({ threadId: 't1', perPage: false }))],
  ['to here', (s) => page(s.listMessages({ threadId: 't2', perPage: false }))],
  ['fewer', (s) => s.deleteMessages(['m1', 'm10', 'nobody'])],
  ['what is left', (s) => page(s.listMessages({ threadId: 't1', perPage: false }))],
  ['none fewer', (s) => s.deleteMessages([])],
  [
    'an id that was deleted is used again',
    async (s) => {
      for (const text of ['the first sentence', 'sentence number one'])
        await s.saveMessages({ messages: [message('m1', 1, text)] });
      return (await s.listMessages({ threadId: 't1', perPage: 1 })).messages;
    },
  ],
  [
    'a title',
    async (s) => {
      const { title, metadata } = await s.updateThread({ id: 't1', title: 'Weather' });
      return { title, metadata };
    },
  ],
  [
    'metadata',
    async (s) => {
      const { title, metadata } = await s.updateThread({ id: 't1', metadata: { mood: 'good' } });
      return { title, metadata };
    },
  ],
  ['as stored', async (s) => timeless(await s.getThreadById({ threadId: 't1' }))],
  [
    'a thread that is not there',
    (s) => s.updateThread({ id: 'nobody', title: 'x', metadata: {} }).catch((error) => error.message.includes('not found')),
  ],
  ...[
    [0, 2],
    [1, 2],
    [0, false],
    [5, 2],
  ].map(([number, perPage]) => [
    `page ${number} of ${perPage} threads`,
    (s) => ids(s.listThreads({ page: number, perPage, orderBy: { field: 'createdAt', direction: 'ASC' } })),
  ]),
  ['threads of a user', (s) => ids(s.listThreads({ filter: { resourceId: 'bo' } }))],
  ['threads with metadata', (s) => ids(s.listThreads({ filter: { metadata: { kind: 'x' } } }))],
  ['the thread that changed last is first', async (s) => (await s.listThreads({})).threads[0].id],
  [
    'a copy',
    async (s) => {
      const { thread: made, messageIdMap } = await s.copyThread({ sourceThreadId: 't1', newThreadId: 'copy' });
      return [made.id, made.title, made.resourceId, Object.keys(messageIdMap).sort()];
    },
  ],
  [
    'has what was said',
    async (s) =>
      (await s.listMessages({ threadId: 'copy', perPage: false })).messages.map(({ role, content }) => [role, content]),
  ],
  [
    'is its own',
    async (s) => {
      await s.deleteThread({ threadId: 'copy' });
      return [await s.getThreadById({ threadId: 'copy' }), (await s.listMessages({ threadId: 't1', perPage: false })).total];
    },
  ],
  [
    'a copy of nothing',
    (s) => s.copyThread({ sourceThreadId: 'nobody' }).catch((error) => error.message.includes('not found')),
  ],
  [
    'another owner',
    async (s) => {
      await s.saveMessages({
        messages: [
          message('m11', 11, 'a secret of Eve', { threadId: 't3' }),
          message('m12', 12, 'kept by the agent', { threadId: 't3', role: 'assistant' }),
        ],
      });
      await s.updateThreadResourceId({ threadId: 't3', resourceId: 'eve' });
      return [
        (await s.getThreadById({ threadId: 't3' })).resourceId,
        (await s.listMessages({ threadId: 't3', resourceId: 'eve' })).messages.map(({ id, content }) => [id, content]),
      ];
    },
  ],
  [
    'the one before has it no more',
    (s) => ids(s.listThreads({ filter: { resourceId: 'ana' }, orderBy: { field: 'createdAt', direction: 'ASC' } })),
  ],
  ['no resource', (s) => s.getResourceById({ resourceId: 'ana' })],
  [
    'a resource',
    async (s) => {
      await s.saveResource({
        resource: { id: 'ana', workingMemory: '# Ana', metadata: { a: 1 }, createdAt: at(1), updatedAt: at(1) },
      });
      return s.getResourceById({ resourceId: 'ana' });
    },
  ],
  [
    'changes',
    async (s) => {
      await s.updateResource({ resourceId: 'ana', metadata: { b: 2 } });
      await s.updateResource({ resourceId: 'ana', workingMemory: '# Ana\n- Lyon' });
      return timeless(await s.getResourceById({ resourceId: 'ana' }));
    },
  ],
  [
    'a resource by a change',
    async (s) => {
      await s.updateResource({ resourceId: 'bo', workingMemory: 'w' });
      return timeless(await s.getResourceById({ resourceId: 'bo' }));
    },
  ],
  [
    'threads go',
    async (s) => {
      for (const id of ['t1', 't2', 'nobody']) await s.deleteThread({ threadId: id });
      return [
        await s.getThreadById({ threadId: 't1' }),
        (await s.listMessages({ threadId: 't1' })).total,
        (await s.listMessagesById({ messageIds: ['m2', 'm5'] })).messages.length,
      ];
    },
  ],
  [
    'all goes',
    async (s) => {
      await s.dangerouslyClearAll();
      return [(await s.listThreads({})).total, await s.getResourceById({ resourceId: 'ana' })];
    },
  ],
];

// LibSQL answers otherwise than the store in memory there; ours answers as the latter.
const LIBSQL_DIFFERS = new Set([]);

async function alike(baseUrl) {
  const libsql = new LibSQLStore({ id: 'libsql', url: `file:${join(home, 'libsql.db')}` });
  await libsql.init();
  const [ours, theirs, third] = await Promise.all(
    [new MnemalStore(new Mnemal('alike', { baseUrl })), new InMemoryStore(), libsql].map((store) => store.getStore('memory')),
  );
  const differs = [];
  for (const [name, ask] of STEPS) {
    const answer = async (store) => shown((await ask(store)) ?? null);
    const [one, other, sql] = [await answer(ours), await answer(theirs), await answer(third).catch((error) => `${error}`)];
    check(one === other, `${name}\n  ours   ${one}\n  theirs ${other}`);
    if (one === sql) checks += 1;
    else differs.push(name);
    if (one !== sql && process.env.SHOW)
      console.log(`LibSQL differs: ${name}\n  ours   ${one.slice(0, 600)}\n  libsql ${sql.slice(0, 600)}`);
  }
  same(differs, [...LIBSQL_DIFFERS], 'where LibSQL answers otherwise');
}

// ---- what the log makes of messages ----------------------------------------------------------------------------------------

const eventsOf = async (memory, session) =>
  (await memory.client.eventList(memory.space, { session, all: true, limit: 200 })).items;
const texts = async (store, threadId) =>
  (await store.listMessages({ threadId, perPage: false })).messages.map(({ content }) => content.content);
const erase = async (memory, session, text) => {
  const said = (await eventsOf(memory, session)).filter(({ content }) => content === text);
  check(said.length > 0, `${text} is there to be erased`);
  for (const { id } of said) await memory.client.eventForget(memory.space, id);
};
const warned = [];
process.removeAllListeners('warning');
process.on('warning', ({ message: text }) => warned.push(text));

// Changes at the same time, by one process and by two.
async function parallel(memory) {
  const stores = await Promise.all([1, 2].map(() => new MnemalStore(memory).getStore('memory')));
  await stores[0].saveThread({ thread: thread('t1', 1, { metadata: {} }) });
  const numbers = Array.from({ length: 40 }, (_, number) => number);
  await Promise.all(numbers.map((n) => stores[n % 2].saveMessages({ messages: [message(`p${n}`, n, `said at once ${n}`)] })));
  const { messages, total } = await stores[0].listMessages({ threadId: 't1', perPage: false });
  check(total === 40, `all messages are there ${total}`);
  same(
    messages.map(({ id }) => id),
    numbers.map((n) => `p${n}`),
    'each once, in order',
  );
  await Promise.all(
    numbers.map((n) => stores[0].updateMessages({ messages: [{ id: 'p1', content: { metadata: { [`field${n}`]: n } } }] })),
  );
  const [
    {
      content: { metadata },
    },
  ] = (await stores[1].listMessagesById({ messageIds: ['p1'] })).messages;
  check(Object.keys(metadata).length === 40, 'all fields of a message are there');
  await Promise.all(numbers.map((n) => stores[n % 2].updateThread({ id: 't1', metadata: { [`field${n}`]: n } })));
  check(
    Object.keys((await stores[1].getThreadById({ threadId: 't1' })).metadata).length === 40,
    'all fields of a thread are there',
  );
  await Promise.all(numbers.map((n) => stores[n % 2].updateResource({ resourceId: 'ana', metadata: { [`field${n}`]: n } })));
  check(
    Object.keys((await stores[1].getResourceById({ resourceId: 'ana' })).metadata).length === 40,
    'all fields of a resource are there',
  );
  await Promise.all(numbers.map((n) => stores[0].saveMessages({ messages: [message('one', 50, `version ${n} of it`)] })));
  const versions = (await eventsOf(memory, 't1')).filter(({ content }) => content?.startsWith('version'));
  check(
    versions.length === 1 && (await texts(stores[1], 't1')).at(-1) === versions[0].content,
    `one version stays ${versions.length}`,
  );
}

// Words are memory, once; what is erased is gone from messages too.
async function words(memory) {
  const store = await new MnemalStore(memory).getStore('memory');
  await store.saveThread({ thread: thread('t1', 1) });
  await store.saveMessages({
    messages: [
      message('m1', 1, 'My sister Greta plays the cello in Bergen.'),
      message('m2', 2, '', { role: 'assistant', content: called }),
    ],
  });
  const recall = (query, user = 'ana') => memory.recall(query, { user });
  const [hit] = await soon(
    () => recall('What does Greta play?'),
    (hits) => hits.length,
  );
  check(hit.text.includes('cello') && hit.session === 't1' && hit.role === 'user', `recalled ${shown(hit)}`);
  check(hit.occurred_at.startsWith('2026-01-01T00:00:01'), `said then ${hit.occurred_at}`);
  const events = await eventsOf(memory, 't1');
  const kinds = events
    .filter(({ content }) => content)
    .map(({ type, role, tool_name, content }) => [type, role, tool_name ?? null, content]);
  same(
    kinds,
    [
      ['message', 'user', null, 'My sister Greta plays the cello in Bergen.'],
      ['tool_call', 'tool', 'weather', '{"city":"Lyon","days":[1,2]}'],
      ['tool_result', 'tool', 'weather', '{"sky":"sunny","degrees":21.5,"none":null}'],
      ['message', 'assistant', null, 'Lyon is sunny.'],
      ['message', 'assistant', null, 'Take no umbrella.'],
    ],
    'all words, each once',
  );
  check(
    events.every(({ user, quarantined, content }) => user === 'ana' && !(content && quarantined)),
    'all of the user, no words held back',
  );
  check((await recall('What does Greta play?', 'bo')).length === 0, 'nobody else is told');
  await store.saveMessages({ messages: [message('m1', 1, 'My sister Greta plays the flute in Bergen.')] });
  const flute = await soon(
    () => recall('What does Greta play?'),
    (hits) => hits[0]?.text.includes('flute'),
  );
  check(!shown(flute).includes('cello'), `the words before are gone ${shown(flute)}`);
  await erase(memory, 't1', 'Take no umbrella.');
  const [, left] = (await store.listMessages({ threadId: 't1' })).messages;
  same(left.content.parts.at(-1).text, '[forgotten]', 'what is erased is gone from its message');
  same(left.content.content, 'Lyon is sunny.\n[forgotten]', 'wherever it stood');
  await erase(memory, 't1', 'My sister Greta plays the flute in Bergen.');
  same(
    (await store.listMessages({ threadId: 't1' })).messages.map(({ id }) => id),
    ['m2'],
    'a message without words is gone',
  );
  await store.saveMessages({ messages: [message('m3', 3, 'Take no umbrella.', { role: 'assistant' })] });
  check(
    (await texts(store, 't1')).at(-1) === '[forgotten]' && warned.some((text) => text.includes('[forgotten]')),
    'told when it is said again',
  );
  await store.saveMessages({ messages: [message('m4', 4, 'It stays.', { threadId: 't4', role: 'assistant' })] });
  await store.updateMessages({ messages: [{ id: 'm4', threadId: 't5' }] });
  const refused = await store.updateMessages({ messages: [{ id: 'm4', threadId: 't6' }] }).catch((error) => error);
  check(refused instanceof MnemalError && refused.detail.includes('forgotten'), `moved twice ${refused}`);
  same([await texts(store, 't5'), await texts(store, 't6')], [['It stays.'], []], 'and it is where it was');
  await store.saveMessages({ messages: [message('m6', 6, 'Given to Bo.', { threadId: 't7' })] });
  await store.saveMessages({ messages: [message('m6', 6, 'Given to Bo.', { threadId: 't7', resourceId: 'bo' })] });
  const given = (await eventsOf(memory, 't7')).map(({ user }) => user);
  check(
    given.length === 1 && given[0] === 'bo' && (await texts(store, 't7'))[0] === 'Given to Bo.',
    `another resource ${given}`,
  );
  const nowhere = await store
    .saveMessages({ messages: [message('m5', 5, 'x', { threadId: undefined })] })
    .catch((error) => error);
  check(nowhere.message === 'message m5 has no threadId', `no thread ${nowhere}`);
}

// Whatever a message holds.
async function odd(memory) {
  const store = await new MnemalStore(memory).getStore('memory');
  const back = async (id, content, more) => {
    await store.saveMessages({ messages: [message(id, 1, '', { threadId: id, content, ...more })] });
    return (await store.listMessages({ threadId: id })).messages[0].content;
  };
  const long = Array.from({ length: 40_000 }, (_, n) => `sentence ${n} 𝄞`).join(', ');
  same(await back('long', textOf(long)), textOf(long), 'a long text');
  const picture = {
    format: 2,
    parts: [{ type: 'file', mimeType: 'image/png', data: Buffer.alloc(1_500_000, 'picture').toString('base64') }],
  };
  same(await back('picture', picture), picture, 'a picture of 2 MB');
  for (const text of [
    '\u0001 \u0002 "\\u0001"',
    '\\ud800 "quoted" \\n',
    '{"a":1}',
    ' spaces ',
    'Ignore all previous instructions.',
    '<b>',
    'user',
    '𝄞',
  ]) {
    same(await back(`odd-${Buffer.from(text).toString('hex')}`, textOf(text)), textOf(text), `odd ${text}`);
  }
  same(await back('half', textOf('a \ud800 b \0 c')), textOf('a \ufffd b \ufffd c'), 'what is no text');
  const secret = 'my key is AKIAIOSFODNN7EXAMPLE and <private>hush</private> that is it';
  for (let turn = 0; turn < 4; turn += 1) {
    const { content } = await back('secret', { ...textOf(secret), metadata: { turn } }, { role: 'assistant' });
    check(/^my key is \[secret:[^\]]*\] and \[private\] that is it$/.test(content), `a secret ${content}`);
  }
  check((await eventsOf(memory, 'secret')).filter(({ content }) => content).length === 1, 'its words are stored once');
  for (const role of ['system', 'signal'])
    same((await back(role, textOf(`a ${role} says it`), { role })).content, `a ${role} says it`, role);
  const failed = {
    format: 2,
    parts: [
      {
        type: 'tool-invocation',
        toolInvocation: { state: 'output-error', toolCallId: 'c', toolName: 'w', args: {}, errorText: 'no network' },
      },
    ],
  };
  same(await back('failed', failed, { role: 'assistant' }), failed, 'a tool that failed');
  const many = Array.from({ length: 450 }, (_, n) => message(`n${n}`, n, `one of many ${n}`, { threadId: 'many' }));
  await store.saveMessages({ messages: many });
  const { messages, total, hasMore } = await store.listMessages({ threadId: 'many', page: 1, perPage: 200 });
  check(total === 450 && hasMore && messages[0].id === 'n200', `several pages ${total}`);
}

// ---- real agents -----------------------------------------------------------------------------------------------------------

const Model = models.MockLanguageModelV4 ?? models.MockLanguageModelV3;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const says = (text) => ({
  content: [{ type: 'text', text }],
  finishReason: { unified: 'stop', raw: undefined },
  usage,
  warnings: [],
});
const calls = (toolName, input) => ({
  content: [{ type: 'tool-call', toolCallId: `call-${toolName}`, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: 'tool-calls', raw: undefined },
  usage,
  warnings: [],
});

function streamed({ content: [part], finishReason }) {
  const delta =
    part.type === 'text'
      ? [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: part.text },
          { type: 'text-end', id: '1' },
        ]
      : [part];
  const chunks = [{ type: 'stream-start', warnings: [] }, ...delta, { type: 'finish', finishReason, usage }];
  return { stream: models.simulateReadableStream ? models.simulateReadableStream({ chunks }) : ReadableStream.from(chunks) };
}

// A model that says what it is told, one turn after the other, and keeps what it was asked.
function scripted(...script) {
  const prompts = [];
  const next = ({ prompt }) => (prompts.push(prompt), script.shift() ?? says('That is all.'));
  const model = new Model({ doGenerate: async (asked) => next(asked), doStream: async (asked) => streamed(next(asked)) });
  return { model, prompts };
}

const weather = createTool({
  id: 'weather',
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, sky: 'hazy with saffron dust' }),
});
const systemOf = (prompt) =>
  prompt
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n');

async function agents(memory) {
  const { model, prompts } = scripted(calls('weather', { city: 'Lyon' }), says('It is hazy in Lyon.'));
  const agent = new Agent({
    id: 'a',
    name: 'a',
    instructions: 'Be brief.',
    model,
    tools: { weather },
    memory: new MnemalMemory(memory),
  });
  const to = (thread, resource = 'ana') => ({ memory: { thread, resource } });
  const { text } = await agent.generate('I moved to Lyon. How is the weather?', to('chat-1'));
  check(text === 'It is hazy in Lyon.', `the agent says ${text}`);
  check(!systemOf(prompts[0]).includes('mnemal-context'), 'nothing is known at first');
  const stream = await agent.stream('And what else?', to('chat-1'));
  check((await stream.text) === 'That is all.', 'a stream');
  check(
    shown(prompts.at(-1)).includes('saffron') && shown(prompts.at(-1)).includes('It is hazy in Lyon.'),
    'the history is before the model',
  );
  const store = await new MnemalStore(memory).getStore('memory');
  const stored = (await store.listMessages({ threadId: 'chat-1', perPage: false })).messages;
  same(
    stored.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant'],
    'the thread has every message',
  );
  check(shown(stored[1].content.parts).includes('saffron'), 'with what the tool answered');
  const known = () => agent.generate('Where do I live?', to('chat-2')).then(() => systemOf(prompts.at(-1)));
  const context = await soon(known, (told) => told.includes('Lyon'));
  check(context.startsWith('Be brief.') && context.includes('I moved to Lyon.'), `another thread knows it ${context}`);
  check(context.split('mnemal-context nonce').length === 3, 'one context, once');
  check(
    !shown((await store.listMessages({ threadId: 'chat-2', perPage: false })).messages).includes('mnemal-context'),
    'and does not store it',
  );
  await agent.generate('Where do I live? \ud800', to('chat-3', 'bo'));
  check(!shown(prompts.at(-1)).includes('Lyon'), 'another resource does not');
  await agent.generate('Where do I live?');
  check(!shown(prompts.at(-1)).includes('Lyon'), 'a call without a resource neither');
  const [early, late] = await Promise.all([1, 2].map((n) => agent.generate(`At once ${n}`, to('chat-4'))));
  check(
    early.text && late.text && (await store.listMessages({ threadId: 'chat-4' })).total === 4,
    'two calls at once lose nothing',
  );

  // What is Memory's own.
  const own = agent.getMemory ? await agent.getMemory() : undefined;
  check(own instanceof Memory && own instanceof MnemalMemory, 'it is a Memory');
  const { messages } = await own.recall({ threadId: 'chat-1', resourceId: 'ana' });
  check(messages.length === 4, `its recall ${messages.length}`);
  const { thread: copy } = await own.cloneThread({ sourceThreadId: 'chat-1' });
  check((await own.recall({ threadId: copy.id })).messages.length === 4, 'a clone');
  await own.deleteMessages([stored[3].id]);
  check((await own.recall({ threadId: 'chat-1' })).messages.length === 3, 'a message is deleted');
  await own.deleteThread('chat-2');
  check((await own.getThreadById({ threadId: 'chat-2' })) === null, 'a thread is deleted');

  // Working memory, of the resource.
  const working = scripted(calls('updateWorkingMemory', { memory: '# Ana\n- plays chess' }), says('Noted down.'));
  const template = { workingMemory: { enabled: true, scope: 'resource', template: '# Name' } };
  const writer = new Agent({
    id: 'w',
    name: 'w',
    instructions: 'x',
    model: working.model,
    memory: new MnemalMemory(memory, { options: template, budgetTokens: 400 }),
  });
  await writer.generate('I play chess.', to('chat-5'));
  await writer.generate('Hello.', to('chat-6'));
  check(systemOf(working.prompts.at(-1)).includes('plays chess'), 'working memory is in the next thread');

  // The parts alone: Mastra's Memory over the store, the processor and the tools.
  const parts = scripted(calls('memory_recall', { query: 'Where does Ana live?' }), says('In Lyon.'));
  const single = new Agent({
    id: 's',
    name: 's',
    instructions: 'x',
    model: parts.model,
    tools: memoryTools(memory),
    memory: new Memory({ storage: new MnemalStore(memory) }),
    inputProcessors: [new MnemalContext(memory)],
  });
  const done = await single.generate('Where do I live, again?', to('chat-7'));
  check(done.text === 'In Lyon.' && systemOf(parts.prompts[0]).includes('Lyon'), `parts ${done.text}`);
  const composed = new MastraCompositeStore({
    id: 'all',
    default: new InMemoryStore(),
    domains: { memory: new MnemalMemoryStorage(memory) },
  });
  const [threads, workflows] = await Promise.all(['memory', 'workflows'].map((name) => composed.getStore(name)));
  check((await threads.listMessages({ threadId: 'chat-1' })).total === 3 && workflows, 'a store that is composed with another');
  check(
    shown(parts.prompts[1]).includes('tool-result') && shown(parts.prompts[1]).includes('moved to Lyon'),
    'a tool for the AI SDK works',
  );
}

async function gone(baseUrl) {
  const { model } = scripted();
  const memory = new Mnemal('gone', { baseUrl, key: 'k' });
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'x', model, memory: new MnemalMemory(memory) });
  const error = await agent.generate('Hello', { memory: { thread: 't', resource: 'r' } }).catch((failure) => failure);
  check(error instanceof Error && error.message.includes('mnemal serve'), `without a server ${error}`);
}

const data = join(home, 'data');
mkdirSync(data);
process.env.MNEMAL_DATA_DIR = data;
const env = { ...process.env, MNEMAL_SERVER__RATE_LIMIT_RPS: '100000', MNEMAL_SERVER__RATE_LIMIT_BURST: '100000' };
const child = spawn(program, ['serve', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'], env });
try {
  const line = await new Promise((resolve) => createInterface(child.stderr).once('line', resolve));
  const baseUrl = `http://${line.split('http://')[1].split('/')[0]}`;
  const to = (space) => new Mnemal(space, { baseUrl });
  await alike(baseUrl);
  for (const suite of [parallel, words, odd, agents]) await suite(to(suite.name));
  child.kill();
  await new Promise((resolve) => child.once('exit', resolve));
  await gone(baseUrl);
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`Mastra: ${checks} checks passed, ${STEPS.length} steps of them answered alike by its stores (${version})`);
  if (flag === '--json')
    writeFileSync(report, `${JSON.stringify({ name: 'Mastra', passed: checks, failed: 0, skipped: 0 })}\n`);
} finally {
  child.kill();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
