/** The tools of the memory slot. OpenClaw's own memory stays loaded beside it, and has `memory_search` and `memory_get`. */
import { MnemalError } from '@mnemal/client';

import { keyOf } from './turns.js';

const text = (description) => ({ type: 'string', minLength: 1, description });
const object = (properties, ...required) => ({ type: 'object', properties, required, additionalProperties: false });
const isNote = (id) => id.startsWith('mem_');
/** By name, what a model may do with memory; `execute` takes the client, the place of the turn and what the model gave. */
export const TOOLS = {
  memory_recall: {
    label: 'Memory Recall',
    description: 'Searches what was said, done and noted in earlier conversations, word for word, best first.',
    parameters: object({ query: text('What to look for'), maxResults: { type: 'integer', minimum: 1, maximum: 50 } }, 'query'),
    execute: async (client, { space, user }, { query, maxResults: limit }) => {
      const { hits } = await client.recall(space, { query, limit, user }).catch((error) => {
        if (error instanceof MnemalError && error.code === 'not_found') return { hits: [] };
        throw error;
      });
      return {
        results: hits.map(({ id, text, role, occurred_at, key, trust, score }) => ({
          id,
          text,
          role,
          occurred_at,
          key,
          trust,
          score,
        })),
      };
    },
  },
  memory_read: {
    label: 'Memory Read',
    description: 'Reads one record of memory in full.',
    parameters: object({ id: text('The id that a search gave') }, 'id'),
    execute: (client, { space, user }, { id }) =>
      isNote(id) ? client.memoryGet(space, id, { user }) : client.eventGet(space, id, { user }),
  },
  memory_store: {
    label: 'Memory Store',
    description: 'Keeps a note that lasts. Under a key that is in use it takes the place of what was there. Not for secrets.',
    parameters: object({ content: text('Understandable on its own'), key: text('Short stable name') }, 'content'),
    execute: async (client, { space, ...owner }, { content, key }) => {
      const note = { content, ...owner, ...(key ? { key: keyOf(owner.user, key) } : {}) };
      const { id, status, reason } = await client.memoryAdd(space, note);
      return { id, status, ...(reason ? { reason } : {}) };
    },
  },
  memory_forget: {
    label: 'Memory Forget',
    description: 'Erases one record of memory for good. Only where the user asks for it.',
    parameters: object({ id: text('The id that a search gave') }, 'id'),
    execute: async (client, { space, user }, { id }) => {
      const { status, events } = await (isNote(id)
        ? client.memoryForget(space, id, { user })
        : client.eventForget(space, id, { user }));
      return { status, erased: events };
    },
  },
};
