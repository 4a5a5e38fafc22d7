import { Client, type ClientOptions } from './client.js';
import type {
  Answer,
  Context,
  ContextRequest,
  Erasure,
  Gap,
  Hit,
  NewMemory,
  Question,
  Recall,
  RecallResult,
  Stored,
  StoredMessages,
} from './operations.js';

/** What was found, best first; `gaps` are the layers that could not answer in full, `answer` is all that the server said. */
export type Hits = Hit[] & { readonly gaps: Gap[]; readonly answer: RecallResult };

/** The ids of events that were stored; `gaps` are the layers that could not take them in, `answer` is all that was said. */
export type Events = string[] & { readonly gaps: Gap[]; readonly answer: StoredMessages };

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
  async log(session: string, ...turns: Array<{ role: string; content: string }>): Promise<Events> {
    const answer = await this.client.messageAdd(this.space, { session, messages: turns });
    return beside(answer.event_ids, answer);
  }

  /** Finds what was said or noted, best first; what could not be looked through is in `gaps`. */
  async recall(query: string, fields: Omit<Partial<Recall>, 'query'> = {}): Promise<Hits> {
    const answer = await this.client.recall(this.space, { query, ...fields });
    return beside(answer.hits, answer);
  }

  /** Answers with sentences that were said and facts, in `quotes`; `known` is false where nothing answers. */
  async ask(question: string, fields: Omit<Partial<Question>, 'query'> = {}): Promise<Answer> {
    return this.client.answer(this.space, { query: question, ...fields });
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

/** Puts what an answer says beside its items, where neither loops nor JSON see it. */
function beside<T, A extends { gaps: Gap[] }>(items: T[], answer: A): T[] & { gaps: Gap[]; answer: A } {
  const fields = { gaps: { value: answer.gaps }, answer: { value: answer } };
  return Object.defineProperties([...items], fields) as T[] & { gaps: Gap[]; answer: A };
}
