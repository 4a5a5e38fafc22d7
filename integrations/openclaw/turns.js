/** What a turn of OpenClaw is in events, and whose it is. */
import { createHash } from 'node:crypto';

/** Characters of one event; a longer text is several. */
const LONGEST = 60_000;

const hash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 24);

/**
 * Returns the user of a turn: a conversation that has senders of its own, as a group, has a part of memory for each. The main
 * conversation is that of the owner, on whatever channel he writes.
 */
export function userOf(owner, { sessionKey = '', senderId, channel }) {
  return senderId && !sessionKey.endsWith(':main') ? `${channel ?? 'channel'}:${senderId}` : owner;
}

/** Returns the space of an agent: no agent knows what another was told. */
export const spaceOf = (space, agent) => (!agent || agent === 'main' ? space : `${space}.${agent}`);

/** Returns the key of a note: keys are those of a whole space. */
export const keyOf = (user, key) => `openclaw/${hash(user)}/${key}`;

/** Returns the events of messages, each with a key under which it is stored once, however often the run is told. */
export function eventsOf(messages, run, owner) {
  const tools = new Map();
  return messages
    .flatMap((message) => said(message, tools))
    .flatMap(({ content, ...fields }, place) =>
      pieces(content).map((piece, number) => ({
        ...fields,
        ...owner,
        content: piece,
        idempotency_key: `openclaw-${hash(JSON.stringify([run, place, number, fields, piece]))}`,
      })),
    );
}

function said({ role, content, toolName, toolCallId, isError }, tools) {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (role === 'toolResult')
    return [{ type: 'tool_result', tool_name: toolName ?? tools.get(toolCallId) ?? 'tool', ok: !isError, content: text }];
  if (role !== 'user' && role !== 'assistant') return [];
  const calls = parts
    .filter(({ type }) => type === 'toolCall')
    .map(({ id, name, arguments: given }) => {
      tools.set(id, name);
      return { type: 'tool_call', tool_name: name, content: JSON.stringify(given ?? {}) };
    });
  return [...(text.trim() ? [{ type: 'message', role, content: text }] : []), ...calls];
}

/** Returns a text in which nothing stands that no text may hold. */
export const clean = (text) => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');

function pieces(text) {
  return text.length > LONGEST ? clean(text).match(new RegExp(`[^]{1,${LONGEST}}`, 'gu')) : [clean(text)];
}
