import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { Operations, type Options } from './operations.js';

const DEFAULT = 'http://127.0.0.1:6767';
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

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

/** Where requests go, and with which key. */
export interface ClientOptions {
  /** `MNEMAL_URL`, else http://127.0.0.1:6767, without it. */
  baseUrl?: string;
  /** `MNEMAL_API_KEY`, else on loopback the local key, without it. */
  key?: string;
  /** Longest time of a request, in milliseconds; 30,000 without it. */
  timeoutMs?: number;
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
  #key: string | undefined;
  #looked = false;

  constructor(options: ClientOptions = {}) {
    super();
    this.#url = new URL(options.baseUrl ?? process.env['MNEMAL_URL'] ?? DEFAULT);
    this.#key = options.key ?? process.env['MNEMAL_API_KEY'];
    this.#timeout = options.timeoutMs ?? 30_000;
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
    let body: string | undefined;
    if (options.lines) {
      [body, headers['content-type']] = options.lines;
    } else if (options.body) {
      [body, headers['content-type']] = [JSON.stringify(options.body), 'application/json'];
    }
    const signal = AbortSignal.timeout(this.#timeout);
    const response = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    if (!response.ok) throw new MnemalError(response.status, problem(text));
    return (options.asText ? text : JSON.parse(text)) as T;
  }

  async #find(): Promise<string | undefined> {
    if (!this.#key && !this.#looked && LOOPBACK.has(this.#url.hostname)) {
      this.#looked = true;
      this.#key = await localKey();
    }
    return this.#key;
  }
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
