/** The inbox: what was learnt and waits for a person. Each is decided with one key, and the last decision is taken back with one. */
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Decided, Memory } from '../../integrations/typescript/src/operations';
import { api, canConfirm, confirm, refusal, usePages, type Pages, type Refusal } from './api';
import { Paged } from './list';
import { Action, Problem, Time, Trust, number } from './parts';
import { RecordLink } from './record';
import { link } from './route';

/** Memories of a page. */
const PAGE = 10;

/** A decision that can be taken back. */
interface Last {
  words: string;
  event: string;
}

export function Inbox({ space, tick, mayDecide }: { space: string; tick: number; mayDecide: boolean }) {
  const open = usePages((cursor) => api.memoryList(space, { waiting: true, cursor, limit: PAGE }), [space, tick]);
  const [last, setLast] = useState<Last>();
  const [error, setError] = useState<Refusal>();
  const list = useRef<HTMLElement>(null);
  /** The item with the focus about which a key has decided: when it is gone, the next one gets the focus. */
  const decided = useRef<string>();
  useEffect(() => {
    if (!decided.current || !open.items || open.items.some((one) => one.id === decided.current)) return;
    decided.current = undefined;
    (list.current?.querySelector<HTMLElement>('.inbox') ?? list.current)?.focus();
  }, [open.items]);
  const decide = (memory: Memory, verb: string, work: () => Promise<Decided>) => async () => {
    setLast({ words: `${verb}: ${memory.content}`, event: (await work()).event_id });
    open.reload();
  };
  const accept = (memory: Memory) => decide(memory, 'Confirmed', () => confirm(space, memory));
  const reject = (memory: Memory) => decide(memory, 'Rejected', () => api.memoryReject(space, memory.id));
  const undo = async () => {
    if (!last) return;
    await api.decisionUndo(space, last.event);
    setLast(undefined);
    open.reload();
  };
  const to = (memory: Memory) => link(space, 'memories', { id: memory.id, status: memory.status, edit: 'yes' });
  /** What the keys do; they count only while an item, or the list after the last one, has the focus. */
  const press = (event: KeyboardEvent, memory?: Memory) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.altKey || event.metaKey || !mayDecide) return;
    const acts: Record<string, (() => unknown) | undefined> = {
      a: memory && canConfirm ? accept(memory) : undefined,
      r: memory && reject(memory),
      c: memory && (() => void (location.hash = to(memory))),
      u: last && undo,
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    setError(undefined);
    decided.current = event.key === 'a' || event.key === 'r' ? memory?.id : undefined;
    Promise.resolve(act()).catch((failed: unknown) => setError(refusal(failed)));
  };
  return (
    <section ref={list} aria-label="To review" tabIndex={-1} onKeyDown={(event) => press(event)}>
      <h2>To review</h2>
      {mayDecide && (open.items?.length ?? 0) > 0 && (
        <p class="meta">
          With the focus on an item: <kbd>a</kbd> confirm, <kbd>c</kbd> correct, <kbd>r</kbd> reject, <kbd>u</kbd> undo the last.
        </p>
      )}
      {last && (
        <div class="bar good" role="status">
          <span>{last.words}</span>
          <Action work={undo}>Undo</Action>
        </div>
      )}
      <Problem error={error} />
      {mayDecide && canConfirm && <ConfirmAll space={space} pages={open} />}
      <Paged pages={open} to={link(space, 'memories', { status: 'candidate' })} empty="Nothing is to be reviewed.">
        {(memory) => (
          <div class="inbox" role="group" aria-label={memory.content} tabIndex={mayDecide ? 0 : undefined}
            aria-keyshortcuts={mayDecide ? 'a c r u' : undefined} onKeyDown={(event) => press(event, memory)}>
            <p class="said">{memory.content}</p>
            <p class="meta">
              <Trust trust={memory.trust} /> <Time at={memory.created_at} /> ·{' '}
              <a href={link(space, 'memories', { id: memory.id, status: memory.status })}>open</a> ·{' '}
              <RecordLink id={memory.id}>source</RecordLink>
            </p>
            {mayDecide && (
              <div class="row">
                <Action work={accept(memory)} isOff={!canConfirm}>
                  Confirm
                </Action>
                {!canConfirm && <span class="muted">Confirming needs HTTPS or localhost.</span>}
                <a class="button" href={to(memory)}>
                  Correct
                </a>
                <Action work={reject(memory)}>Reject</Action>
              </div>
            )}
          </div>
        )}
      </Paged>
    </section>
  );
}

/** Confirms everything that is listed, after a second question. */
function ConfirmAll({ space, pages }: { space: string; pages: Pages<Memory> }) {
  // The very words that were on the page when it was asked for, whatever comes in meanwhile.
  const [asked, setAsked] = useState<Memory[]>();
  const [told, setTold] = useState('');
  const listed = pages.items ?? [];
  const all = async () => {
    let done = 0;
    try {
      for (const memory of asked ?? []) {
        await confirm(space, memory);
        done++;
      }
    } finally {
      setTold(`Confirmed: ${number(done)}.`);
      setAsked(undefined);
      pages.reload();
    }
  };
  return (
    <>
      {asked ? (
        <div class="bar warn">
          <span>These {number(asked.length)} count as your own words from then on.</span>
          <span class="row">
            <button type="button" onClick={() => setAsked(undefined)}>
              Not yet
            </button>
            <Action kind="primary" work={all}>
              Confirm {number(asked.length)}
            </Action>
          </span>
        </div>
      ) : (
        listed.length > 1 && (
          <div class="row">
            <button type="button" onClick={() => setAsked(listed)}>
              Confirm all {number(listed.length)}…
            </button>
          </div>
        )
      )}
      {told && <p role="status">{told}</p>}
    </>
  );
}
