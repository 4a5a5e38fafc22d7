import { Client, type ClientOptions } from './client.js';
import type { Context, ContextRequest, Erasure, Hit, NewMemory, Recall, Stored } from './operations.js';

/** The memory of one space, in the words of the library. */
export class Mnemal {
  /** Every other operation. */
  readonly client: Client;

  constructor(
    readonly space: string,
    options: ClientOptions | Client = {},
  ) {
    this.client = options instanceof Client ? options : new Client(options);
  }

  /** Stores a note; with the same `key` it makes a new version. */
  remember(content: string, fields: Omit<Partial<NewMemory>, 'content'> = {}): Promise<Stored> {
    return this.client.memoryAdd(this.space, { content, ...fields });
  }

  /** Logs turns of a conversation; returns the ids of their events. */
  async log(session: string, ...turns: Array<{ role: string; content: string }>): Promise<string[]> {
    return (await this.client.messageAdd(this.space, { session, messages: turns })).event_ids;
  }

  /** Finds what was said or noted, best first. */
  async recall(query: string, fields: Omit<Partial<Recall>, 'query'> = {}): Promise<Hit[]> {
    return (await this.client.recall(this.space, { query, ...fields })).hits;
  }

  /** Assembles what matters for a turn within a token budget; `text` goes into the prompt. */
  context(query = '', fields: Omit<Partial<ContextRequest>, 'query'> = {}): Promise<Context> {
    return this.client.context(this.space, { query, ...fields });
  }

  /** Erases every version under a key, in every layer; there is no undo. */
  forget(key: string): Promise<Erasure> {
    return this.client.memoryForgetByKey(this.space, key);
  }
}
