/** Tools for the AI SDK: `generateText({ model, tools: memoryTools(memory), … })`. */
import { jsonSchema, tool } from 'ai';

import type { Mnemal } from './memory.js';

const text = (description: string) => ({ type: 'string', description }) as const;

/** What a model may do with a memory: ask and look for what is known, load what matters, and keep what lasts. It erases nothing. */
export function memoryTools(memory: Mnemal) {
  return {
    memory_context: tool({
      description: 'What matters for a task, within a token budget. Call it once when a task starts.',
      inputSchema: jsonSchema<{ query: string }>({
        type: 'object',
        properties: { query: text('The task or topic') },
        required: ['query'],
      }),
      execute: async ({ query }) => (await memory.context(query, { budget_tokens: 2_000 })).text,
    }),
    memory_answer: tool({
      description:
        'Answers one question with what was said, word for word and dated, or with "not known"; it never guesses. For a ' +
        'topic use memory_recall.',
      inputSchema: jsonSchema<{ query: string }>({
        type: 'object',
        properties: { query: text('The question') },
        required: ['query'],
      }),
      execute: async ({ query }) => {
        const { known, quotes } = await memory.ask(query);
        return known ? quotes.map(({ id, day, label, text }) => ({ id, day, label, text })) : 'not known';
      },
    }),
    memory_recall: tool({
      description: 'Searches notes and past conversations. Use it when the user refers to earlier work.',
      inputSchema: jsonSchema<{ query: string; limit?: number }>({
        type: 'object',
        properties: { query: text('What to look for'), limit: { type: 'integer' } },
        required: ['query'],
      }),
      execute: async ({ query, limit }) => {
        const hits = await memory.recall(query, { limit, max_tokens: 2_000 });
        return hits.map(({ id, key, text, occurred_at, origin }) => ({ id, key, text, occurred_at, origin }));
      },
    }),
    memory_store: tool({
      description:
        'Keeps a lasting fact, decision or correction. The same key again makes a new version. Not for secrets, output ' +
        'of tools, or what memory said.',
      inputSchema: jsonSchema<{ content: string; key?: string }>({
        type: 'object',
        properties: { content: text('Understandable on its own'), key: text('Short stable name') },
        required: ['content'],
      }),
      execute: async ({ content, key }) => {
        const { id, version, status } = await memory.remember(content, key ? { key } : {});
        return { id, version, status };
      },
    }),
  };
}
