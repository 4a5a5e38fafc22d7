import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { Operations, type Options } from './operations.js';

const DEFAULT = 'http://127.0.0.1:14767';
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Longest time that a call waits, in milliseconds, where the server says that it is asked too often. */
const PATIENCE = 60_000;

/** A problem that the server told: its code is stable, the hint says what to do. */
export class MnemalError extends Error {
  readonly code: string;
  readonly detail: string;
  readonly hint: string | undefined;

  constructor(
    readonly status: number,
    problem: { code?: string; detail?: string; title?: string; hint?: string },
  ) {
    const [code, detail] = [problem.code ?? 'unknown', problem.detail ?? problem.title ?? ''];
    super(`${code}: ${detail}${problem.hint ? ` (${problem.hint})` : ''}`);
    this.name = 'MnemalError';
    [this.code, this.detail, this.hint] = [code, detail, problem.hint];
  }
}

/** No server answered: `code` is `unreachable` or `timed_out`, `status` is 0, and the cause is kept. */
export class MnemalConnectionError extends MnemalError {
  constructor(code: 'unreachable' | 'timed_out', detail: string, hint: string, cause: unknown) {
    super(0, { code, detail, hint });
    this.name = 'MnemalConnectionError';
    this.cause = cause;
  }
}

/** Where requests go, and with which key. */
export interface ClientOptions {
  /** `MNEMAL_URL`, else the local server, without it. */
  baseUrl?: string;
  /** `MNEMAL_API_KEY`, else on loopback the local key, without it. */
  key?: string;
  /** Longest time of a request, in milliseconds; 30,000 without it. */
  timeoutMs?: number;
  /**
   * Longest time, in milliseconds, for which a call that is refused because the server is asked too often waits as
   * `Retry-After` says and is made again; 60,000 without it, 0 for no wait.
   */
  patienceMs?: number;
}

/** The key that a person's own programs share, if this is his machine. */
export async function localKey(): Promise<string | undefined> {
  const { MNEMAL_DATA_DIR, XDG_STATE_HOME, APPDATA } = process.env;
  const base =
    process.platform === 'win32'
      ? (APPDATA ?? join(homedir(), 'AppData', 'Roaming'))
      : XDG_STATE_HOME || join(homedir(), '.local', 'state');
  const folder = MNEMAL_DATA_DIR ?? join(base, 'mnemal');
  try {
    return (await readFile(join(folder, 'local.key'), 'utf8')).trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Every operation of the server. */
export class Client extends Operations {
  readonly #url: URL;
  readonly #timeout: number;
  readonly #patience: number;
  #key: string | undefined;
  #looked = false;

  constructor(options: ClientOptions = {}) {
    super();
    this.#url = new URL(options.baseUrl ?? process.env['MNEMAL_URL'] ?? DEFAULT);
    this.#key = options.key ?? process.env['MNEMAL_API_KEY'];
    this.#timeout = options.timeoutMs ?? 30_000;
    this.#patience = options.patienceMs ?? PATIENCE;
  }

  protected async call<T>(method: string, path: string, options: Options): Promise<T> {
    const url = new URL(this.#url.pathname.replace(/\/$/, '') + path, this.#url);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { accept: 'application/json, application/problem+json, */*' };
    const key = await this.#find();
    if (key) headers['authorization'] = `Bearer ${key}`;
    if (options.idempotencyKey) headers['idempotency-key'] = options.idempotencyKey;
    let body: string | Blob | undefined;
    if (options.lines) {
      [body, headers['content-type']] = options.lines;
    } else if (options.body) {
      [body, headers['content-type']] = [JSON.stringify(options.body), 'application/json'];
    }
    const request = { method, headers, ...(body === undefined ? {} : { body }) };
    let waited = 0;
    for (;;) {
      const { status, ok, text, pause } = await this.#ask(url, request);
      if (status === 429 && waited + pause <= this.#patience) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        waited += pause;
        continue;
      }
      if (!ok) throw new MnemalError(status, problem(text));
      return (options.asText ? text : this.#read(status, text)) as T;
    }
  }

  /** Makes one request; `pause` is the time in milliseconds after which it may be made again. */
  async #ask(url: URL, request: RequestInit) {
    try {
      const response = await fetch(url, { ...request, signal: AbortSignal.timeout(this.#timeout) });
      const text = await response.text();
      return { status: response.status, ok: response.ok, text, pause: pauseOf(response.headers.get('retry-after')) };
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        const detail = `${url.origin} did not answer within ${this.#timeout} ms`;
        throw new MnemalConnectionError('timed_out', detail, 'Try again, or give the client a longer timeoutMs.', error);
      }
      const detail = `no server of mnemal answers at ${url.origin}: ${reason(error)}`;
      const hint = 'Start it with `mnemal serve`, or name another one with MNEMAL_URL or baseUrl.';
      throw new MnemalConnectionError('unreachable', detail, hint, error);
    }
  }

  #read(status: number, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      const detail = `${this.#url.host} answered no JSON: ${JSON.stringify(text.slice(0, 80))}`;
      const hint = 'Is this the address of mnemal? See MNEMAL_URL, or baseUrl.';
      throw new MnemalError(status, { code: 'invalid_answer', detail, hint });
    }
  }

  async #find(): Promise<string | undefined> {
    if (!this.#key && !this.#looked && LOOPBACK.has(this.#url.hostname)) {
      this.#looked = true;
      this.#key = await localKey();
    }
    return this.#key;
  }
}

/** The milliseconds of a `Retry-After`; a second where it says none, or a date. */
function pauseOf(retryAfter: string | null): number {
  const text = retryAfter?.trim() ?? '';
  return /^\d+$/.test(text) ? Math.max(Number(text) * 1_000, 50) : 1_000;
}

/** What `fetch` says of a failure stands in its cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause && typeof cause === 'object' && 'code' in cause ? String(cause.code) : '';
  return (cause instanceof Error && cause.message) || code || String(error);
}

function problem(text: string): { detail: string } {
  try {
    const found: unknown = JSON.parse(text);
    if (found && typeof found === 'object') return found as { detail: string };
  } catch {
    // No document: its words are told.
  }
  return { detail: text.slice(0, 200) };
}
