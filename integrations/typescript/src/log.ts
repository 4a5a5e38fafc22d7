/** The log of one space as adapters read, write and erase it: page after page, batch after batch, each to its end. */
import { MnemalError } from './client.js';
import type { Mnemal } from './memory.js';
import type { Event, NewEvent } from './operations.js';

/** Items of a page of a list, and events of one call with their bytes: a server takes 1 MiB as it is installed. */
const [PAGE, BATCH, BODY] = [200, 1_000, 900_000];

/** Which events of the log. */
export interface Where {
  session?: string;
  user?: string;
  channel?: string;
}

/** Events of one space, which are written in the name of one adapter. */
export class Log {
  readonly #turns = new Map<string, Promise<unknown>>();

  /** `mark` is the name of the tool whose calls stand for words that the log refuses. */
  constructor(
    readonly memory: Mnemal,
    readonly mark: string,
  ) {}

  /** Returns events that are not erased, held back or not, oldest first. */
  events(where: Where): Promise<Event[]> {
    return pages((more) => this.memory.client.eventList(this.memory.space, { all: true, limit: PAGE, ...where, ...more }));
  }

  /** Returns the conversations of a user, or of everybody. */
  sessions(user?: string) {
    return pages((more) => this.memory.client.sessionList(this.memory.space, { user, limit: PAGE, ...more }));
  }

  /** Stores events; up to some 900 kB in one call, all or none. Words that were erased before are lost, or an error. */
  async add(events: NewEvent[], ofErased: 'lose' | 'refuse' = 'lose'): Promise<void> {
    for (const batch of batches(events)) {
      while (!(await this.#sent(batch, ofErased)));
    }
  }

  async #sent(batch: NewEvent[], ofErased: 'lose' | 'refuse'): Promise<boolean> {
    try {
      await this.memory.client.eventAdd(this.memory.space, { events: batch });
      return true;
    } catch (error) {
      // None is stored, for the sake of one.
      const at = error instanceof MnemalError && error.detail.includes('left to store') ? placeIn(error.detail) : -1;
      if (ofErased === 'refuse' || !batch[at]?.content) throw error;
      batch[at] = { ...batch[at], type: 'tool_call', tool_name: this.mark, content: '', role: null, ok: null };
      process.emitWarning(`words of ${batch[at].session} come back as [forgotten]: ${(error as MnemalError).detail}`);
      return false;
    }
  }

  /** Erases events for good; those that are gone already are no error. */
  async forget(events: Event[]): Promise<void> {
    const ids = [...new Set(events.map(({ id }) => id))];
    while (ids.length > 0) {
      const selector = { ids: ids.splice(0, BATCH) };
      while (!(await this.#forgotten(selector)));
    }
  }

  async #forgotten(selector: { ids: string[] }): Promise<boolean> {
    const { client, space } = this.memory;
    try {
      const { confirm_token } = await client.forget(space, { selector, dry_run: true });
      await client.forget(space, { selector, confirm_token });
      return true;
    } catch (error) {
      if (isMissing(error)) return true;
      // Somebody else erased some of them meanwhile.
      if (error instanceof MnemalError && error.code === 'selection_changed') return false;
      throw error;
    }
  }

  /** Lets changes of one conversation follow each other: each sees what the one before made of it. */
  async inTurn<T>(session: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(session) ?? Promise.resolve()).then(act);
    const done: Promise<unknown> = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(session) === done) this.#turns.delete(session);
      });
    this.#turns.set(session, done);
    return turn;
  }
}

/** Whether an error says that something is not there: a space is made by the first event. */
export const isMissing = (error: unknown) => error instanceof MnemalError && error.code === 'not_found';

const placeIn = (detail: string) => Number(/^events\[(\d+)\]/.exec(detail)?.[1] ?? 0);

type Page<T> = { items: T[]; next_cursor?: string | null };

async function pages<T>(ask: (more: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await ask({ cursor }).catch((error: unknown) => {
      if (isMissing(error)) return { items: [], next_cursor: null };
      throw error;
    });
    items.push(...page.items);
    if (!page.next_cursor) return items;
    cursor = page.next_cursor;
  }
}

function* batches(events: NewEvent[]): Generator<NewEvent[]> {
  let [batch, size] = [[] as NewEvent[], 0];
  for (const event of events) {
    const more = Buffer.byteLength(JSON.stringify(event));
    if (batch.length === BATCH || (batch.length > 0 && size + more > BODY)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(event);
    size += more;
  }
  if (batch.length > 0) yield batch;
}
