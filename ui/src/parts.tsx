/** Parts that every view uses. Stored text is always a text node, never markup. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Gap } from '../../integrations/typescript/src/operations';
import { refusal, type Load, type Refusal } from './api';

/** A moment in the zone of the reader; the exact one in UTC stands in its title. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return null;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <time>{at}</time>;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(at);
  const text = isDay
    ? date.toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
    : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <time dateTime={at} title={isDay ? at : `${date.toISOString()} (UTC)`}>
      {text}
    </time>
  );
}

export function number(value: number): string {
  return value.toLocaleString();
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let place = 0;
  let size = value;
  while (size >= 1000 && place < units.length - 1) [size, place] = [size / 1000, place + 1];
  return `${size < 10 && place > 0 ? size.toFixed(1) : Math.round(size)} ${units[place]}`;
}

/** A score as it is shown everywhere. */
export function score(value: number): string {
  return value.toFixed(3);
}

const TRUST: Record<string, string> = {
  user: 'said by the user',
  assistant: 'said by the agent',
  tool: 'from a tool',
  document: 'from a document',
  external: 'from outside',
};

export function Badge({ children, tone = 'plain', title }: { children: ComponentChildren; tone?: string; title?: string }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** Whose words something rests on. */
export function Trust({ trust }: { trust: string }) {
  return (
    <Badge tone={trust === 'user' ? 'good' : trust === 'external' ? 'warn' : 'plain'} title={TRUST[trust] ?? trust}>
      {trust}
    </Badge>
  );
}

export function Status({ status }: { status: string }) {
  const tones: Record<string, string> = {
    active: 'good', ok: 'good', done: 'good', candidate: 'warn', disputed: 'warn', running: 'warn', degraded: 'warn',
    down: 'bad', failed: 'bad', rejected: 'bad',
  };
  return <Badge tone={tones[status] ?? 'plain'}>{status}</Badge>;
}

const CAUSES: Record<string, string> = {
  not_configured: 'is not set up',
  failed: 'failed',
  timed_out: 'took too long',
  stale: 'is behind the log',
  truncated: 'was cut to the limit',
};

/** What an answer lacks, so that incomplete never looks like complete. */
export function Gaps({ gaps }: { gaps: Gap[] | undefined }) {
  if (!gaps || gaps.length === 0) return null;
  return (
    <div class="bar warn" role="status">
      <strong>Incomplete:</strong>{' '}
      {gaps.map((gap, place) => (
        <span key={place}>
          {place > 0 && '; '}
          {gap.layer} {CAUSES[gap.cause] ?? gap.cause}
          {gap.behind ? ` (${number(gap.behind)} events)` : ''}
        </span>
      ))}
    </div>
  );
}

/** Says that a list is cut: how many of all are shown, where the number of all is known, and where the others are. */
export function Cut({ shown, all, to }: { shown: number; all?: number; to?: string }) {
  if (all !== undefined && shown >= all) return null;
  const text = all === undefined ? `The first ${number(shown)} of more` : `${number(shown)} of ${number(all)}`;
  return <p class="meta cut">{to ? <a href={to}>{text}</a> : text}</p>;
}

export function Problem({ error, again }: { error: Refusal | undefined; again?: () => void }) {
  if (!error) return null;
  return (
    <div class="bar bad" role="alert">
      <div>
        <strong>{error.detail}</strong> <span class="muted">({error.code})</span>
        {error.hint && <div>{error.hint}</div>}
      </div>
      {again && <button onClick={again}>Try again</button>}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** The state of a request: loading, failed, or what it gave. */
export function LoadView<T>({ load, children }: { load: Load<T>; children: (data: T) => ComponentChildren }) {
  if (load.error) return <Problem error={load.error} again={load.reload} />;
  if (load.data === undefined) return load.isLoading ? <Loading /> : null;
  return <>{children(load.data)}</>;
}

export function Loading() {
  return (
    <div class="loading" role="status">
      Loading…
    </div>
  );
}

/** A bar between 0 and 1 with its value beside it. */
export function Meter({ value, label }: { value: number; label: string }) {
  const part = Math.min(1, Math.max(0, value));
  return (
    <span class="meter" role="img" aria-label={`${label} ${value.toFixed(2)}`}>
      <span class="meter-track">
        <span class="meter-fill" style={{ width: `${part * 100}%` }} />
      </span>
      <span class="num">{value.toFixed(2)}</span>
    </span>
  );
}

/** A button that waits for its work, and shows why it failed. */
export function Action({ work, children, kind = '', isOff = false }: {
  work: () => Promise<unknown>;
  children: ComponentChildren;
  kind?: string;
  isOff?: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Refusal>();
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failed) {
      setError(refusal(failed));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class={kind} disabled={isBusy || isOff} onClick={run}>
        {children}
      </button>
      <Problem error={error} />
    </>
  );
}

/** A panel over the page; Escape and a click outside close it, and the focus returns to where it was. */
export function Panel({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-label={title}
      onClose={close}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" onClick={() => dialog.current?.close()} aria-label="Close">
          ✕
        </button>
      </header>
      <div class="panel-body">{children}</div>
    </dialog>
  );
}

/** A number with its name, which may lead to what it counts. */
export function Tile({ value, name, to }: { value: string; name: string; to?: string }) {
  const body = (
    <>
      <span class="tile-value num">{value}</span>
      <span class="tile-name">{name}</span>
    </>
  );
  return to ? (
    <a class="tile" href={to}>
      {body}
    </a>
  ) : (
    <div class="tile">{body}</div>
  );
}

export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** A choice of one value. */
export function Select({ label, value, options, set }: {
  label: string;
  value: string;
  options: Array<[string, string]>;
  set: (value: string) => void;
}) {
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}
