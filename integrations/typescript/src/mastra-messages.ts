/**
 * Messages of Mastra as events. Words, calls of tools and what tools answered are contents of events and stand nowhere else, so
 * that words that are erased are gone from their message too. The frame, which is all the rest, is metadata.
 */
import { randomUUID } from 'node:crypto';

import type { MastraDBMessage } from '@mastra/core/agent';
import type { InMemoryDB } from '@mastra/core/storage';

import type { Event, NewEvent } from './operations.js';

/** The channel of messages, and the field of metadata in which all that is needed to read them stands. */
export const MARK = 'mastra';
/** Stands for words that were erased, and for those that the log keeps away because they were erased before. */
const FORGOTTEN = '[forgotten]';
/** The fields that stand in a frame for words, and for all texts of a message behind each other. */
const [HOLE, JOINED] = ['\u0001', '\u0002'];
/** Names under which words stand in a message; their texts repeat in several places. */
const SAID = new Set(['text', 'content', 'args', 'result', 'errorText']);
/** Characters of the words of one event, and of a frame in the metadata of one, which has at most 16 KiB. */
const [WORDS, FRAME] = [30_000, 3_500];
/** Characters of a frame that stands beside words, and what would have the write screen hold back the words beside it. */
const [BESIDE, BLOB] = [2_000, /[\w+/=-]{64,}/];
/** What the server puts in the place of what it never stores. */
const CUT_OUT = /\[(?:secret:[^\]]*|private)\]/;

/** A message that is stored: its words with the names under which frames refer to them, and its events. */
export interface Saved {
  message: MastraDBMessage;
  words: Map<string, string>;
  events: Event[];
}

/** What an event says of a message or record: words have a name and a piece, a frame the place of its piece. */
interface Mark {
  message?: string;
  save: string;
  word?: string;
  piece?: number;
  at?: number;
  of?: number;
  json?: string;
}

/** Returns what an event says of a message or record of Mastra. */
export const markOf = (event: Event) => event.metadata?.[MARK] as Mark | undefined;

/** Returns events without words that hold a value of JSON. */
export function silent(json: string, mark: Omit<Mark, 'save'> = {}, save: string = randomUUID()): NewEvent[] {
  const pieces = cut(json, FRAME);
  return pieces.map((piece, at) => ({
    type: 'tool_call',
    tool_name: MARK,
    content: '',
    metadata: { [MARK]: { ...mark, save, at, of: pieces.length, json: piece } },
  }));
}

/** Returns the events of a message; `known` are words of it that are stored. Without its last event it is not there. */
export function encode(message: MastraDBMessage, known: Map<string, string> = new Map()): NewEvent[] {
  const [save, words, events] = [randomUUID(), new Map<string, string>(), [] as NewEvent[]];
  const plain = JSON.parse(JSON.stringify(message, (_, value) => (typeof value === 'string' ? clean(value) : value)));
  const joint = ['\n', '', ' ', '\n\n'].find((one) => textsOf(plain).join(one) === plain.content.content);
  if (joint !== undefined && !textsOf(plain).includes(plain.content.content)) plain.content.content = { [JOINED]: joint };
  for (const [value, fields] of said(plain)) {
    const text = asText(value);
    if (!text.trim() || words.has(text)) continue;
    const pieces = cut(text, WORDS);
    const before = nameOf(text, known);
    words.set(text, before ?? `${save} ${words.size} ${pieces.length}`);
    if (before) continue;
    const mark = { message: message.id, save, word: words.get(text) };
    events.push(...pieces.map((content, piece) => ({ ...fields, content, metadata: { [MARK]: { ...mark, piece } } })));
  }
  const frame = JSON.stringify(plain, (name, value) => {
    const word = SAID.has(name) && words.get(asText(value));
    return word ? { [HOLE]: word, isJson: typeof value !== 'string' } : value;
  });
  const rest = silent(frame, { message: message.id }, save);
  if (events.length === 1 && rest.length === 1 && frame.length <= BESIDE && !BLOB.test(frame)) {
    Object.assign(events[0]!.metadata![MARK]!, rest.pop()!.metadata![MARK]);
  }
  const owner = { session: message.threadId, user: message.resourceId, channel: MARK };
  const occurred_at = new Date(message.createdAt ?? Date.now()).toISOString();
  return [...events, ...rest].map((event) => ({ ...event, ...owner, occurred_at }));
}

/** Returns the messages of events by their ids, in the order in which they were stored first; the newest version counts. */
export function messagesIn(events: Event[]): Map<string, Saved> {
  const words = new Map<string, string[]>();
  for (const event of events) {
    const { word, piece } = markOf(event) ?? {};
    if (word) words.set(word, Object.assign(words.get(word) ?? [], { [piece!]: event.content ?? '' }));
  }
  const found = new Map<string, Saved>();
  for (const [{ message: id = '' }, json] of frames(events)) {
    const [used, holes] = [new Map<string, string>(), { all: 0, gone: 0 }];
    const message = JSON.parse(json, (_, value) => {
      if (typeof value?.[HOLE] !== 'string') return value;
      const pieces = words.get(value[HOLE]);
      holes.all += 1;
      holes.gone += pieces ? 0 : 1;
      const whole = Array.from({ length: Number(value[HOLE].split(' ')[2]) }, (_, at) => pieces?.[at] || FORGOTTEN);
      if (!whole.includes(FORGOTTEN)) used.set(whole.join(''), value[HOLE]);
      return value.isJson ? parsed(whole.join('')) : whole.join('');
    });
    message.createdAt = new Date(message.createdAt);
    const joint = message.content.content?.[JOINED];
    if (joint !== undefined) message.content.content = textsOf(message).join(joint);
    found.set(id, { message, words: used, events: [] });
    // What a person erased to the last word is no message any more.
    if (holes.all > 0 && holes.all === holes.gone) found.delete(id);
  }
  for (const event of events) found.get(markOf(event)?.message ?? '')?.events.push(event);
  return found;
}

/** Puts messages into a store in memory. */
export function fill(db: InMemoryDB, saved: Map<string, Saved>): InMemoryDB {
  for (const { message } of saved.values()) {
    const { id, threadId, resourceId, role, type, content, createdAt } = message;
    const row = { id, role, type: type ?? 'text', createdAt, thread_id: threadId ?? '', resourceId: resourceId ?? null };
    db.messages.set(id, { ...row, content: JSON.stringify(content) });
  }
  return db;
}

/** Yields the values of JSON that events hold, oldest first; one that was not stored to its end is left out. */
export function* frames(events: Event[]): Generator<[Mark, string, Event]> {
  const open = new Map<string, string[]>();
  for (const event of events) {
    const mark = markOf(event);
    if (mark?.json === undefined) continue;
    const pieces = Object.assign(open.get(mark.save) ?? [], { [mark.at!]: mark.json });
    open.set(mark.save, pieces);
    if (Object.keys(pieces).length === mark.of) yield [mark, pieces.join(''), event];
  }
}

/** Yields what is said in a message, with the fields of its events; thoughts, files and sources are no words. */
function* said(message: MastraDBMessage): Generator<[unknown, Partial<NewEvent>]> {
  const isTurn = message.role === 'user' || message.role === 'assistant';
  const turn = isTurn ? { type: 'message', role: message.role } : { type: 'observation' };
  for (const part of message.content.parts ?? []) {
    if (part.type === 'text') yield [part.text, turn];
    if (part.type !== 'tool-invocation') continue;
    const { toolName: tool_name, args, result, errorText, isError } = part.toolInvocation as { [name: string]: any };
    if (args !== undefined) yield [args, { type: 'tool_call', tool_name }];
    if (result !== undefined) yield [result, { type: 'tool_result', tool_name, ok: !isError }];
    if (errorText !== undefined) yield [errorText, { type: 'tool_result', tool_name, ok: false }];
  }
  if (typeof message.content.content === 'string') yield [message.content.content, turn];
}

/** Returns the texts of a message. */
export const textsOf = ({ content }: MastraDBMessage) =>
  (content.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));

/** Returns the name of words that are stored, also where the server put something in the place of secrets and private parts. */
function nameOf(text: string, known: Map<string, string>): string | undefined {
  const fits = (stored: string) => {
    const parts = stored.split(CUT_OUT).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return parts.length > 1 && new RegExp(`^${parts.join('[^]*')}$`).test(text);
  };
  return known.get(text) ?? [...known].find(([stored]) => fits(stored))?.[1];
}

function cut(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  // What the server cuts out of a text it would not find in pieces of it.
  const open = text.replace(/<private\b[^<>]*>[^]*?(?:<\/private\s*>|$)/gi, '[private]');
  return open.match(new RegExp(`[^]{1,${most}}`, 'gu')) ?? [''];
}

/** Returns a text in which nothing stands that no text may hold. */
export const clean = (text: string) => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
const asText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}
