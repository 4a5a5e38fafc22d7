/** Threads, messages and resources of Mastra in the log: a thread is a conversation, a resource its user. */
import { type MastraDBMessage, MessageList } from '@mastra/core/agent';
import { InMemoryDB, InMemoryMemory, MemoryStorage } from '@mastra/core/storage';

import { Log, type Where } from './log.js';
import { encode, fill, frames, MARK, markOf, messagesIn, silent } from './mastra-messages.js';
import type { Mnemal } from './memory.js';
import type { Event } from './operations.js';

/** Channels of what threads and resources are; what resources are stands in the conversation `MARK`. */
const [THREADS, RESOURCES] = [`${MARK}.threads`, `${MARK}.resources`];

type Of<Name extends keyof MemoryStorage> = MemoryStorage[Name] extends (args: infer Args) => unknown ? Args : never;

/** Threads, messages and resources of Mastra. Its own store in memory answers what is asked, and is filled before. */
export class MnemalMemoryStorage extends MemoryStorage {
  override readonly supportsPartialThreadUpdate = true;
  readonly #log: Log;

  constructor(readonly memory: Mnemal) {
    super();
    this.#log = new Log(memory, MARK);
  }

  async getThreadById(args: Of<'getThreadById'>) {
    return (await this.#threads({ session: args.threadId })).inner.getThreadById(args);
  }

  async saveThread({ thread }: Of<'saveThread'>) {
    const owner = { session: thread.id, user: thread.resourceId };
    const old = await this.#log.events({ session: thread.id, channel: THREADS });
    await this.#record(THREADS, owner, { saveThread: { thread } }, thread.updatedAt);
    await this.#log.forget(old.filter((event) => event.user !== thread.resourceId));
    return thread;
  }

  async updateThread({ id, title, metadata }: Of<'updateThread'>) {
    const { inner, db } = await this.#threads({ session: id });
    const thread = await inner.updateThread({ id, title, metadata });
    const owner = { session: id, user: db.threads.get(id)?.resourceId };
    await this.#record(THREADS, owner, { updateThread: { id, title, metadata } }, thread.updatedAt);
    return thread;
  }

  async deleteThread({ threadId }: Of<'deleteThread'>) {
    await this.#log.forget((await this.#log.events({ session: threadId })).filter((event) => event.metadata?.[MARK]));
  }

  async listThreads(args: Of<'listThreads'>) {
    return (await this.#threads({ user: args.filter?.resourceId })).inner.listThreads(args);
  }

  async copyThread(args: Of<'copyThread'>) {
    const { inner, db } = await this.#threads({ session: args.sourceThreadId });
    const there = args.newThreadId ? await this.getThreadById({ threadId: args.newThreadId }) : null;
    if (there) db.threads.set(there.id, there);
    fill(db, await this.#saved({ session: args.sourceThreadId }));
    const copied = await inner.copyThread(args);
    const { messages } = await inner.listMessages({ threadId: copied.thread.id, perPage: false });
    await this.saveThread({ thread: copied.thread });
    await this.saveMessages({ messages });
    return copied;
  }

  async listMessages(args: Of<'listMessages'>) {
    const db = new InMemoryDB();
    const near = (args.include ?? []).map((one) => one.threadId ?? '');
    for (const session of new Set([args.threadId, near].flat())) {
      if (session.trim()) fill(db, await this.#saved({ session }));
    }
    if (args.include?.some(({ id }) => !db.messages.has(id))) fill(db, await this.#saved({}));
    return new InMemoryMemory({ db }).listMessages(args);
  }

  override async listMessagesByResourceId(args: Of<'listMessagesByResourceId'>) {
    const db = fill(new InMemoryDB(), await this.#saved({ user: args.resourceId }));
    return new InMemoryMemory({ db }).listMessagesByResourceId(args);
  }

  async listMessagesById(args: Of<'listMessagesById'>) {
    return new InMemoryMemory({ db: fill(new InMemoryDB(), await this.#saved({})) }).listMessagesById(args);
  }

  async saveMessages({ messages }: Of<'saveMessages'>) {
    const threads = new Map<string, Map<string, MastraDBMessage>>();
    for (const message of messages) {
      if (!message.threadId) throw new Error(`message ${message.id} has no threadId`);
      const thread = threads.get(message.threadId) ?? new Map();
      threads.set(message.threadId, thread.set(message.id, message));
    }
    for (const [thread, group] of threads) await this.#log.inTurn(thread, () => this.#save(thread, [...group.values()]));
    return { messages: new MessageList().add(messages, 'memory').get.all.db() };
  }

  async updateMessages({ messages }: Of<'updateMessages'>) {
    return this.#log.inTurn(`${MARK}.updates`, async () => {
      const saved = await this.#saved({});
      const updated = await new InMemoryMemory({ db: fill(new InMemoryDB(), saved) }).updateMessages({ messages });
      const isMoved = ({ id, threadId, resourceId }: MastraDBMessage) => {
        const { message } = saved.get(id)!;
        return message.threadId !== threadId || message.resourceId !== resourceId;
      };
      await this.saveMessages({ messages: updated.filter((one) => !isMoved(one)) });
      // Words that were moved before cannot be moved once more: they were erased where they stood first.
      const moved = updated.filter(isMoved);
      await this.#log.add(
        moved.flatMap((one) => encode(one)),
        'refuse',
      );
      await this.#log.forget(moved.flatMap(({ id }) => saved.get(id)!.events));
      return updated;
    });
  }

  override async deleteMessages(ids: string[]) {
    const saved = await this.#saved({});
    await this.#log.forget(ids.flatMap((id) => saved.get(id)?.events ?? []));
  }

  override async getResourceById(args: Of<'getResourceById'>) {
    return (await this.#resources(args.resourceId)).getResourceById(args);
  }

  override async saveResource({ resource }: Of<'saveResource'>) {
    await this.#record(RESOURCES, { session: MARK, user: resource.id }, { saveResource: { resource } }, resource.updatedAt);
    return resource;
  }

  override async updateResource(args: Of<'updateResource'>) {
    const resource = await (await this.#resources(args.resourceId)).updateResource(args);
    await this.#record(RESOURCES, { session: MARK, user: args.resourceId }, { updateResource: args }, resource.updatedAt);
    return resource;
  }

  async dangerouslyClearAll() {
    for (const channel of [MARK, THREADS, RESOURCES]) await this.#log.forget(await this.#log.events({ channel }));
  }

  /** Stores messages of a thread. Of one that is there the words that it still says stay, and the others are erased. */
  async #save(session: string, messages: MastraDBMessage[]) {
    const saved = await this.#saved({ session });
    const unused: Event[] = [];
    const events = messages.flatMap((message) => {
      const was = saved.get(message.id);
      const isMoved = was?.message.resourceId !== message.resourceId;
      const own = encode(message, isMoved ? undefined : was?.words);
      const said = JSON.stringify(own.map(({ metadata }) => metadata));
      unused.push(...(was?.events ?? []).filter((event) => isMoved || !said.includes(markOf(event)?.word ?? '')));
      return own;
    });
    await this.#log.add(events);
    await this.#log.forget(unused);
  }

  /** Stores a change of a thread or resource; parallel ones all count, as they are made again in their order. */
  async #record(channel: string, owner: { session: string; user?: string }, change: object, at: Date) {
    const occurred_at = new Date(at).toISOString();
    await this.#log.add(silent(JSON.stringify(change)).map((event) => ({ ...event, ...owner, channel, occurred_at })));
  }

  /** Makes the changes of threads anew in a store in memory; a thread changed last when its newest event happened. */
  async #threads(where: Where) {
    const db = new InMemoryDB();
    const inner = new InMemoryMemory({ db });
    for (const [, json, event] of frames(await this.#log.events({ ...where, channel: THREADS }))) {
      const { saveThread, updateThread } = revived(json);
      if (saveThread) await inner.saveThread(saveThread);
      if (!db.threads.has(updateThread?.id)) continue;
      (await inner.updateThread(updateThread)).updatedAt = new Date(event.occurred_at!);
    }
    const { client, space } = this.memory;
    const one = where.session !== undefined && db.threads.size > 0 ? [await client.sessionGet(space, where.session)] : [];
    const times = where.session === undefined ? await this.#log.sessions(where.user) : one;
    for (const { id, last_at } of times) {
      const thread = db.threads.get(id);
      if (thread && new Date(last_at) > thread.updatedAt) thread.updatedAt = new Date(last_at);
    }
    return { db, inner };
  }

  async #resources(user: string) {
    const inner = new InMemoryMemory({ db: new InMemoryDB() });
    for (const [, json] of frames(await this.#log.events({ channel: RESOURCES, user }))) {
      const { saveResource, updateResource } = revived(json);
      await (saveResource ? inner.saveResource(saveResource) : inner.updateResource(updateResource));
    }
    return inner;
  }

  async #saved(where: Where) {
    return messagesIn(await this.#log.events({ ...where, channel: MARK }));
  }
}

/** Returns a change as it was made, with its times. */
const revived = (json: string) =>
  JSON.parse(json, (name, value) => (['createdAt', 'updatedAt'].includes(name) ? new Date(value) : value));
