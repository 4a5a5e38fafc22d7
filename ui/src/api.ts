/** Requests to the server, and who is logged in. The session is a cookie that no script reads. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Operations, type Decided, type Gap, type JobForm, type Memory, type Options, type Stats } from '../../integrations/typescript/src/operations';

/** A refusal of the server, or that it did not answer. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly hint: string | undefined,
  ) {
    super(detail);
  }
}

/** The event of the window by which a request says that nobody is logged in. */
export const LOGGED_OUT = 'mnemal-logged-out';

/** The zone of the reader's days, where the browser knows it. */
const ZONE = [Intl.DateTimeFormat().resolvedOptions().timeZone].find((zone) => zone && zone !== 'Etc/Unknown');

class Api extends Operations {
  protected async call<T>(method: string, path: string, options: Options): Promise<T> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined && value !== '') query.set(name, String(value));
    }
    const headers: Record<string, string> = { accept: 'application/json' };
    if (ZONE) headers['time-zone'] = ZONE;
    if (options.idempotencyKey) headers['idempotency-key'] = options.idempotencyKey;
    let body: string | Blob | undefined;
    if (options.lines) [body, headers['content-type']] = options.lines;
    else if (options.body) [body, headers['content-type']] = [JSON.stringify(options.body), 'application/json'];
    const search = query.size > 0 ? `?${query}` : '';
    let answer: Answer;
    try {
      answer = await (options.lines ? sent : fetched)(method, path + search, headers, body);
    } catch {
      throw new Refusal(0, 'unreachable', 'The server does not answer.', 'Is `mnemal serve` still running?');
    }
    const { status, text } = answer;
    if (status < 200 || status > 299) {
      const refusal = parseRefusal(status, text);
      if (refusal.status === 401) window.dispatchEvent(new Event(LOGGED_OUT));
      throw refusal;
    }
    return (options.asText ? text : JSON.parse(text)) as T;
  }
}

/** An answer of the server. */
interface Answer {
  status: number;
  text: string;
}

async function fetched(method: string, path: string, headers: Record<string, string>, body?: string | Blob): Promise<Answer> {
  const response = await fetch(path, { method, headers, ...(body === undefined ? {} : { body }) });
  return { status: response.status, text: await response.text() };
}

/** The event of the window by which a long request says which part of it was sent. */
export const SENT = 'mnemal-sent';

/** Sends a long body, and says how far it is: `fetch` cannot. */
function sent(method: string, path: string, headers: Record<string, string>, body?: string | Blob): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    const tell = (part: number) => window.dispatchEvent(new CustomEvent(SENT, { detail: part }));
    request.upload.onprogress = ({ loaded, total }) => tell(total > 0 ? loaded / total : 1);
    request.upload.onload = () => tell(1);
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onerror = () => reject(new Error('no answer'));
    request.send(body ?? null);
  });
}

function parseRefusal(status: number, text: string): Refusal {
  try {
    const said = JSON.parse(text) as { code?: string; title?: string; detail?: string; hint?: string };
    return new Refusal(status, said.code ?? 'unknown', said.detail ?? said.title ?? text, said.hint);
  } catch {
    return new Refusal(status, 'unknown', text.slice(0, 200) || `The server answers ${status}.`, undefined);
  }
}

/** Every operation of the server. */
export const api = new Api();

/** Whether the browser can say which words a person saw; on plain HTTP only loopback has what this needs. */
export const canConfirm = Boolean(globalThis.crypto?.subtle);

/** Confirms the very words of a memory that a person has before him. */
export async function confirm(space: string, memory: Memory): Promise<Decided> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(memory.content));
  const sha256 = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return api.memoryConfirm(space, memory.id, { sha256 });
}

/** Milliseconds between two looks at a job that runs. */
const LOOK = 400;

/** Waits for a job to end. */
export async function waitForEnd(space: string, begun: JobForm, look?: (job: JobForm) => void): Promise<JobForm> {
  let job = begun;
  while (job.state === 'running') {
    look?.(job);
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    job = await api.jobGet(space, job.id);
  }
  if (job.state !== 'done') throw new Error(job.error ?? `the job is ${job.state}`);
  return job;
}

/** How the keys of memories begin that were learnt from what the user says. */
const LEARNT = 'learned/';

/** Whether a memory was read in what the user says, so that only what the user says changes it. */
export function isLearnt(memory: Memory): boolean {
  return memory.key?.startsWith(LEARNT) ?? false;
}

/** Rejects what was learnt, says the right words as the user, and returns the id of what was learnt from them, if anything was. */
export async function correct(space: string, memory: Memory, content: string): Promise<string | undefined> {
  await api.memoryReject(space, memory.id);
  const messages = [{ role: 'user', content }];
  const { event_ids: events } = await api.messageAdd(space, { session: memory.session, user: memory.user, messages });
  await waitForEnd(space, await api.extract(space));
  const { items } = await api.memoryList(space, { q: content, limit: 200 });
  return items.find((one) => one.source_event_ids.some((id) => events.includes(id)))?.id;
}

/** Anything that a request failed with, as a refusal. */
export function refusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal(0, 'internal', String(error), undefined);
}

let early: { space: string; stats: Promise<Stats> } | undefined;

/** Asks for the counts of a space before anything is drawn, so that the first view has them soon. */
export function askEarly(space: string): void {
  const stats = api.stats(space, { check: false });
  // Whoever takes it is told of a failure.
  stats.catch(() => undefined);
  early = { space, stats };
}

/** The counts of a space, without a check of its layers: what was asked for early, once, else a new answer. */
export function counts(space: string): Promise<Stats> {
  const asked = early;
  early = undefined;
  return asked?.space === space ? asked.stats : api.stats(space, { check: false });
}

/** What a request gave, or why it gave nothing. */
export interface Load<T> {
  data: T | undefined;
  error: Refusal | undefined;
  isLoading: boolean;
  reload: () => void;
}

/** Loads when `inputs` change; what was loaded before stays until then. `undefined` in place of a request loads nothing. */
export function useLoad<T>(request: (() => Promise<T>) | undefined, inputs: unknown[]): Load<T> {
  const [state, setState] = useState<{ data?: T; error?: Refusal; isLoading: boolean }>({ isLoading: Boolean(request) });
  const [round, setRound] = useState(0);
  const latest = useRef(0);
  // The request goes out with the frame that needs it, not after it was drawn.
  useLayoutEffect(() => {
    const mine = ++latest.current;
    if (!request) {
      setState({ isLoading: false });
      return;
    }
    setState((before) => ({ ...before, isLoading: true }));
    request().then(
      (data) => mine === latest.current && setState({ data, isLoading: false }),
      (error: unknown) => mine === latest.current && setState({ error: refusal(error), isLoading: false }),
    );
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload };
}

/** A page of a list. */
export interface PageOf<T> {
  items: T[];
  next_cursor?: string | null;
  gaps?: Gap[];
}

/** A list as far as it is loaded. */
export interface Pages<T> extends Load<PageOf<T>> {
  items: T[] | undefined;
  gaps: Gap[];
  /** Loads the next page, if there is one. */
  loadMore: (() => Promise<void>) | undefined;
}

/** Loads a list page by page. */
export function usePages<T>(request: ((cursor?: string) => Promise<PageOf<T>>) | undefined, inputs: unknown[]): Pages<T> {
  const [more, setMore] = useState<PageOf<T>[]>([]);
  const [error, setError] = useState<Refusal>();
  const first = useLoad(request && (() => request()), inputs);
  // A page that comes after the list has changed belongs to the old list.
  const current = useRef(first.data);
  current.current = first.data;
  useEffect(() => {
    setMore([]);
    setError(undefined);
  }, [first.data]);
  const next = (more.at(-1) ?? first.data)?.next_cursor;
  const loadMore = async () => {
    if (!request || !next) return;
    const list = current.current;
    try {
      const page = await request(next);
      if (list === current.current) setMore((before) => [...before, page]);
    } catch (failed) {
      setError(refusal(failed));
    }
  };
  return {
    ...first,
    error: first.error ?? error,
    items: first.data && [first.data, ...more].flatMap((page) => page.items),
    gaps: [first.data, ...more].flatMap((page) => page?.gaps ?? []),
    loadMore: next ? loadMore : undefined,
  };
}

/** Counts up, at most twice a second, when something is stored or changed in a space. */
export function useLive(space: string): { tick: number; isLive: boolean } {
  const [tick, setTick] = useState(0);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (!space) return;
    const source = new EventSource(`/v1/spaces/${encodeURIComponent(space)}/stream`);
    let waiting: number | undefined;
    const note = () => {
      waiting ??= window.setTimeout(() => {
        waiting = undefined;
        setTick((before) => before + 1);
      }, 500);
    };
    for (const name of ['event.stored', 'memory.changed', 'dream.finished']) source.addEventListener(name, note);
    source.onopen = () => setLive(true);
    source.onerror = () => setLive(false);
    return () => {
      source.close();
      clearTimeout(waiting);
    };
  }, [space]);
  return { tick, isLive };
}
