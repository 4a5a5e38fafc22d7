/** Long lists: pages come by cursor as they are needed, and only the rows in view are in the document. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { Gap } from '../../integrations/typescript/src/operations';
import { refusal, type Pages as LoadedPages, type PageOf, type Refusal } from './api';
import { Action, Cut, Empty, Gaps, Loading, Problem, number } from './parts';

/** Rows of a page: the most that the server gives. */
export const PAGE = 200;
/** Pages whose rows are kept; the others are asked for again by their cursors. */
const KEPT = 8;
/** Rows beyond each end of the view that are in the document. */
const OVERSCAN = 6;
/** Rows that the scrollbar covers at once: browsers limit how tall an element is, so the span moves along. */
const SPAN = 20_000;
/** Height of a row in pixels until one is measured. */
const HEIGHT = 80;
/** Rows of a view until it is measured. */
const SHOWN = 12;
/** Describes the keys to screen readers. */
const HINT = 'rows-keys';

type Request<T> = (cursor?: string) => Promise<PageOf<T>>;

/** The pages of a list, in the order of the server. */
class Pages<T> {
  error: Refusal | undefined;
  isSeeking = false;
  /** The cursor of each known page and its first row; the last one may not have been loaded yet. */
  private readonly known: Array<{ cursor: string | undefined; start: number }> = [{ cursor: undefined, start: 0 }];
  /** Loaded pages, the one that was loaded last at the end. */
  private readonly kept = new Map<number, PageOf<T>>();
  /** Pages that may have changed since they were loaded. */
  private stale = new Set<number>();
  /** Rows of the whole list, once its end is known. */
  private total: number | undefined;
  private range: [number, number] = [0, SHOWN];
  private round = 0;
  private isBusy = false;
  private isClosed = false;

  constructor(
    private readonly request: Request<T>,
    private readonly changed: () => void,
  ) {}

  /** Rows that are known so far. */
  get count(): number {
    return this.total ?? this.known.at(-1)!.start;
  }

  get isWhole(): boolean {
    return this.total !== undefined;
  }

  get gaps(): Gap[] {
    return [...this.kept.values()].find((page) => page.gaps?.length)?.gaps ?? [];
  }

  row(place: number): T | undefined {
    const page = this.pageOf(place);
    return this.kept.get(page)?.items[place - this.known[page]!.start];
  }

  /** Sees to it that the rows of a range are loaded, and the page behind it when the range ends near the last known row. */
  want(from: number, to: number): void {
    this.range = [from, to];
    void this.pump();
  }

  /** Loads up to the end of the list, page by page. */
  async seekEnd(): Promise<void> {
    this.isSeeking = true;
    this.changed();
    await this.pump();
  }

  /** Loads again what is in view. */
  reload(): void {
    this.round++;
    this.stale = new Set(this.kept.keys());
    this.error = undefined;
    void this.pump();
  }

  close(): void {
    this.isClosed = true;
  }

  private pageOf(place: number): number {
    let [low, high] = [0, this.known.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.known[middle]!.start <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The page to load next. */
  private next(): number | undefined {
    const last = this.known.length - 1;
    const isMissing = (page: number) => !this.kept.has(page) || this.stale.has(page);
    const [from, to] = this.range;
    if (!this.isSeeking) {
      for (let page = this.pageOf(from); page <= this.pageOf(Math.max(from, to - 1)); page++) {
        // The last page is unknown territory while no end is known: it is loaded when the view comes near.
        if (isMissing(page) && (page < last || this.isWhole)) return page;
      }
    }
    const isNear = this.isSeeking || to + PAGE / 2 >= this.count;
    const isBehind = this.isWhole && this.stale.has(last);
    return (isNear && !this.isWhole) || isBehind ? last : undefined;
  }

  private async pump(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let page = this.next(); page !== undefined && !this.isClosed; page = this.next()) {
        const { round } = this;
        const loaded = await this.request(this.known[page]!.cursor);
        this.put(page, loaded, round);
        if (!this.isClosed) this.changed();
      }
    } catch (failed) {
      this.error = refusal(failed);
    } finally {
      this.isBusy = false;
      this.isSeeking = false;
      if (!this.isClosed) this.changed();
    }
  }

  private put(page: number, loaded: PageOf<T>, round: number): void {
    const { start } = this.known[page]!;
    const cursor = loaded.next_cursor ?? undefined;
    const after = this.known[page + 1];
    if (!cursor || !after || after.cursor !== cursor) {
      // What was known behind this page belongs to an earlier state of the list.
      this.known.length = page + 1;
      for (const kept of this.kept.keys()) if (kept > page) this.kept.delete(kept);
      this.total = cursor ? undefined : start + loaded.items.length;
      if (cursor) this.known.push({ cursor, start: start + loaded.items.length });
    }
    this.kept.delete(page);
    this.kept.set(page, loaded);
    if (round === this.round) this.stale.delete(page);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
      this.stale.delete(oldest);
    }
  }
}

/** The rows of a list as far as they are known. */
export type RowsOf<T> = Pages<T>;

/** Loads the rows of a list as they are looked at; they are loaded again when `tick` changes, and anew when `inputs` do. */
export function useRows<T>(request: Request<T>, inputs: unknown[], tick: number): RowsOf<T> {
  const [, redraw] = useState(0);
  const pages = useMemo(() => new Pages<T>(request, () => redraw((before) => before + 1)), inputs);
  useEffect(() => () => pages.close(), [pages]);
  const first = useRef<{ pages: RowsOf<T>; tick: number }>({ pages, tick });
  useEffect(() => {
    if (first.current.pages === pages && first.current.tick !== tick) pages.reload();
    first.current = { pages, tick };
  }, [pages, tick]);
  return pages;
}

/** A list of which only the rows in view are in the document. One row is reached by Tab, the others by the arrow keys. */
export function Rows<T extends { id: string }>({ rows, name, kind = '', chosen, choose, turn, empty, children }: {
  rows: RowsOf<T>;
  name: string;
  kind?: string;
  chosen: string;
  choose: (row: T) => void;
  /** Shows the list from its other end, which takes one request however long it is; without it the end is loaded page by page. */
  turn?: { name: string; act: () => void };
  empty: ComponentChildren;
  children: (row: T) => ComponentChildren;
}) {
  const view = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(HEIGHT);
  const [tall, setTall] = useState(0);
  const [first, setFirst] = useState(0);
  const [base, setBase] = useState(0);
  const [active, setActive] = useState(0);
  const [, redraw] = useState(0);
  /** The row to scroll to, and whether it takes the focus, once it is drawn. */
  const goal = useRef<{ row: number; takesFocus: boolean }>();
  /** The element of the active row: it stays the same when the page of the row is let go and loaded again. */
  const held = useRef<{ place: number; id: string | undefined; key: string }>();
  const { count } = rows;
  const shown = tall > 0 ? Math.ceil(tall / height) + 1 : SHOWN;
  const at = Math.min(active, Math.max(0, count - 1));
  const start = Math.min(base, Math.max(0, count - SPAN));
  const [from, to] = [Math.max(0, first - OVERSCAN), Math.min(count, first + shown + OVERSCAN)];
  const places = Array.from({ length: Math.max(0, to - from) }, (_, place) => from + place);
  // The row that has the focus, or gets it by Tab, stays in the document wherever the view is.
  if (count > 0 && at < from) places.unshift(at);
  if (count > 0 && at >= to) places.push(at);

  useEffect(() => {
    setFirst(0);
    setBase(0);
    setActive(0);
    if (view.current) view.current.scrollTop = 0;
  }, [rows]);
  useEffect(() => rows.want(from, Math.max(to, from + shown)), [rows, from, to, shown]);
  const place = useRef({ first, start, height });
  place.current = { first, start, height };
  useEffect(() => {
    const box = view.current;
    if (!box) return;
    let before = box.clientHeight;
    const seen = new ResizeObserver(() => {
      const { clientHeight } = box;
      const now = place.current;
      // A box that was hidden comes back at its top.
      if (before === 0 && clientHeight > 0) box.scrollTop = (now.first - now.start) * now.height;
      before = clientHeight;
      if (clientHeight > 0) setTall(clientHeight);
    });
    seen.observe(box);
    return () => seen.disconnect();
  }, [count === 0]);
  useLayoutEffect(() => {
    const box = view.current;
    const drawn = box?.querySelector('li')?.offsetHeight;
    if (drawn && drawn !== height) setHeight(drawn);
    if (!box || !goal.current) return;
    const { row, takesFocus } = goal.current;
    const button = box.querySelector<HTMLElement>(`[data-row="${row}"] button`);
    if (!button) return;
    goal.current = undefined;
    const top = (row - start) * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    if (takesFocus) button.focus({ preventScroll: true });
  });

  /** Names the element of a row by the record, so that a click that begins on a record never ends on another one. */
  const keyOf = (place: number, row: T | undefined): string => {
    const key = row?.id ?? `place ${place}`;
    if (place !== at) return key;
    const before = held.current;
    const isSame = before?.place === place && (!row || !before.id || before.id === row.id);
    held.current = isSame ? { ...before, id: before.id ?? row?.id } : { place, id: row?.id, key };
    return held.current.key;
  };
  /** Moves the span so that a row lies in it. */
  const spanFor = (row: number) => {
    const isInside = row >= start && row < Math.min(start + SPAN, count);
    return isInside ? start : Math.max(0, Math.min(count - SPAN, row - SPAN / 2));
  };
  const go = (row: number, takesFocus: boolean) => {
    const to = Math.max(0, Math.min(rows.count - 1, row));
    goal.current = { row: to, takesFocus };
    setBase(spanFor(to));
    setActive(to);
    // The row may be the active one already, out of view.
    redraw((before) => before + 1);
  };
  const goToEnd = async (takesFocus: boolean) => {
    if (!rows.isWhole) await rows.seekEnd();
    const box = view.current;
    const end = rows.count - 1;
    go(end, takesFocus);
    setBase(Math.max(0, rows.count - SPAN));
    if (box) setFirst(Math.max(0, end - shown));
  };
  const scrolled = () => {
    const box = view.current;
    if (!box || box.clientHeight === 0) return;
    const row = Math.floor(box.scrollTop / height);
    const isNearEdge = (row > SPAN * 0.75 && start + SPAN < count) || (row < SPAN * 0.25 && start > 0);
    if (isNearEdge) {
      const moved = Math.max(0, Math.min(count - SPAN, start + row - SPAN / 2));
      box.scrollTop -= (moved - start) * height;
      setBase(moved);
    }
    setFirst(start + row);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => go(at + 1, true),
    ArrowUp: () => go(at - 1, true),
    PageDown: () => go(at + Math.max(1, shown - 2), true),
    PageUp: () => go(at - Math.max(1, shown - 2), true),
    Home: () => go(0, true),
    End: () => void goToEnd(true),
  };
  if (count === 0) {
    return (
      <>
        <Problem error={rows.error} again={() => rows.reload()} />
        {rows.isWhole ? empty : !rows.error && <Loading />}
      </>
    );
  }
  const span = Math.min(SPAN, count - start);
  /** A row that has the focus and lies outside of the span is held at its edge, behind the others. */
  const topOf = (row: number) => Math.max(0, Math.min(span - 1, row - start)) * height;
  const shownTo = Math.min(count, first + Math.max(1, shown - 1));
  const isAllInView = rows.isWhole && first === 0 && shownTo >= count;
  return (
    <>
      <Problem error={rows.error} again={() => rows.reload()} />
      <div class="scroller" ref={view} onScroll={scrolled}>
        <p id={HINT} hidden>
          The arrow keys, Page Up, Page Down, Home and End move through the list.
        </p>
        <ol class={`list rows ${kind}`} aria-label={name} aria-describedby={HINT} style={{ height: `${span * height}px` }}
          onKeyDown={(event) => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !keys[event.key]) return;
            event.preventDefault();
            keys[event.key]!();
          }}>
          {places.map((place) => {
            const row = rows.row(place);
            return (
              <li key={keyOf(place, row)} data-row={place} aria-posinset={place + 1} aria-setsize={rows.isWhole ? count : -1}
                class={place < from || place >= to ? 'away' : undefined} style={{ top: `${topOf(place)}px` }}>
                <button type="button" class="row-button" tabIndex={place === at ? 0 : -1} aria-current={row?.id === chosen}
                  onFocus={() => setActive(place)} onClick={() => row && choose(row)}>
                  {row ? children(row) : <span class="muted">Loading…</span>}
                </button>
              </li>
            );
          })}
        </ol>
      </div>
      {!isAllInView && (
        <div class="row places">
          <span class="meta" role={rows.isSeeking ? 'status' : undefined}>
            {rows.isSeeking
              ? `Loading the rest: ${number(count)} so far`
              : `${number(first + 1)} to ${number(shownTo)} of ${rows.isWhole ? '' : 'more than '}${number(count)}`}
          </span>
          <button type="button" onClick={() => go(0, false)} disabled={first === 0}>
            First
          </button>
          {turn ? (
            <button type="button" onClick={turn.act}>
              {turn.name}
            </button>
          ) : (
            <button type="button" onClick={() => void goToEnd(false)} disabled={rows.isSeeking || (rows.isWhole && shownTo >= count)}>
              Last
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** A short list with its problems and gaps, and a button for its next page. */
export function Paged<T extends { id: string }>({ pages, name, kind = 'list', empty, shown, all, to, children }: {
  pages: Omit<LoadedPages<T>, 'data'>;
  name?: string;
  kind?: string;
  /** What is said where there is nothing. */
  empty: ComponentChildren;
  /** How many are shown, where an item stands for several. */
  shown?: number;
  /** How many there are in all, where that is known. */
  all?: number | undefined;
  /** Where the others are. */
  to?: string;
  /** What is in the item of a row. */
  children: (row: T) => ComponentChildren;
}) {
  return (
    <>
      <Problem error={pages.error} again={pages.reload} />
      <Gaps gaps={pages.gaps} />
      {pages.items?.length === 0 && <Empty>{empty}</Empty>}
      <ul class={kind} aria-label={name}>
        {pages.items?.map((row) => (
          <li key={row.id}>{children(row)}</li>
        ))}
      </ul>
      {pages.loadMore && (
        <>
          <Cut shown={shown ?? pages.items?.length ?? 0} all={all} to={to} />
          <Action work={pages.loadMore}>More</Action>
        </>
      )}
    </>
  );
}
