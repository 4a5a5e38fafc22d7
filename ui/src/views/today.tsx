/** Today: what changed, what waits for a person, how the space and its layers are. */
import { useState } from 'preact/hooks';

import type { Change, Event, Stats } from '../../../integrations/typescript/src/operations';
import { api, counts, useLoad, usePages, type Load } from '../api';
import { Inbox } from '../inbox';
import { Paged } from '../list';
import type { View } from '../main';
import { Action, Badge, Cut, Empty, Field, LoadView, Status, Tile, Time, bytes, number } from '../parts';
import { RecordLink } from '../record';
import { link } from '../route';

/** How far back the list of changes looks. */
const LOOK_BACK = '7d';
/** Changes that are shown first, and more at each request. */
const CHANGES = 20;
/** Contexts and conversations of a page. */
const PAGE = 10;
/** How far back the last dream is looked for. */
const DREAMS = '3d';
/** Decisions of a page. */
const DECISIONS = 200;
/** Milliseconds between two operations that belong to two dreams. */
const PAUSE = 300_000;

/** What the last dream did. */
interface Dreamed {
  /** Oldest first. */
  operations: Event[];
  /** What is believed otherwise because of them, as far as they still hold. */
  changes: Change[];
  /** Decisions that were taken back since. */
  undone: number;
}

async function lastDream(space: string): Promise<Dreamed> {
  const operations: Event[] = [];
  let [undone, isWhole] = [0, false];
  const time = (event: Event | undefined) => Date.parse(event?.recorded_at ?? '');
  // From the newest on: what stands before the first operation came after the dream, and a pause ends it.
  for (let cursor: string | undefined; !isWhole; ) {
    const page = await api.eventList(space, { order: 'desc', role: 'decision', since: DREAMS, cursor, limit: DECISIONS });
    for (const one of page.items) {
      if (operations.length === 0 && one.decision === 'undo') undone++;
      if (!one.operation) continue;
      isWhole = operations.length > 0 && time(operations.at(-1)) - time(one) >= PAUSE;
      if (isWhole) break;
      operations.push(one);
    }
    cursor = page.next_cursor ?? undefined;
    isWhole ||= !cursor;
  }
  operations.reverse();
  if (operations.length === 0) return { operations, changes: [], undone };
  const before = new Date(time(operations[0]) - 1).toISOString();
  const { changes } = await api.diff(space, { from: before });
  return { operations, changes, undone };
}

/** What the last dream did; all of it, or a part, is taken back. */
function LastDream({ space, tick, mayUndo }: { space: string; tick: number; mayUndo: boolean }) {
  const load = useLoad(() => lastDream(space), [space, tick]);
  const [back, setBack] = useState<string[]>([]);
  const undo = (operations: Event[]) => async () => {
    // What came later may rest on what came before.
    for (const { id } of [...operations].reverse()) {
      await api.decisionUndo(space, id);
      setBack((before) => [...before, id]);
    }
  };
  return (
    <section aria-label="Last dream">
      <h2>Last dream</h2>
      <LoadView load={load}>
        {({ operations, changes, undone }) => {
          const isBack = (one: Event) => Boolean(one.undone_by) || back.includes(one.id);
          const left = operations.filter((one) => !isBack(one));
          if (operations.length === 0) return <Empty>No dream changed anything in the last 3 days.</Empty>;
          return (
            <>
              <p class="meta">
                <Time at={operations.at(-1)?.recorded_at} /> · operations: {number(operations.length)}
                {undone > 0 && <> · decisions taken back since: {number(undone)}</>}
              </p>
              {mayUndo && left.length > 0 && (
                <div class="row">
                  <Action work={undo(left)}>{left.length < operations.length ? 'Undo the rest' : 'Undo all of it'}</Action>
                </div>
              )}
              {left.length === 0 && (
                <p class="bar good" role="status">
                  Taken back: the memories are as they were before this dream.
                </p>
              )}
              <ul class="list">
                {operations.map((one) => (
                  <li key={one.id}>
                    <p class="said">
                      <Badge>{(one.operation ?? '').replaceAll('_', ' ')}</Badge> {one.content}
                    </p>
                    {changes.filter((change) => change.cause === one.id).map((change) => (
                      <p key={change.id} class="said">
                        {change.before && <del>{change.before}</del>} {change.after && change.after !== one.content && <ins>{change.after}</ins>}{' '}
                        <span class="meta">
                          <RecordLink id={change.id}>source</RecordLink>
                        </span>
                      </p>
                    ))}
                    <div class="row">
                      {isBack(one) ? (
                        <Badge tone="good">taken back</Badge>
                      ) : (
                        mayUndo && <Action work={undo([one])}>Undo</Action>
                      )}
                    </div>
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </LoadView>
    </section>
  );
}

/** What conversations were given, each with its newest contexts first. */
function Given({ space, tick }: { space: string; tick: number }) {
  const pages = usePages((cursor) => api.recallList(space, { cursor, limit: PAGE }), [space, tick]);
  const sessions = [...new Set(pages.items?.map((one) => one.session))];
  const shown = sessions.map((session) => ({ id: session, all: pages.items?.filter((one) => one.session === session) ?? [] }));
  return (
    <section aria-label="Given">
      <h2>What conversations were given</h2>
      <Paged pages={{ ...pages, items: pages.items && shown }} shown={pages.items?.length ?? 0} empty="No context was assembled yet.">
        {({ id, all }) => (
          <>
            <a href={link(space, 'timeline', { session: id })}>{id}</a>
            <ul class="bare">
              {all.map((one) => (
                <li key={one.id} class="meta">
                  <a href={link(space, 'context', { q: one.id })}>
                    <Time at={one.at} />
                  </a>{' '}
                  · <span class="num">{number(one.lines)}</span> lines, <span class="num">{number(one.tokens)}</span> of{' '}
                  <span class="num">{number(one.budget)}</span> tokens
                  {one.gaps.length > 0 && <Badge tone="warn">incomplete</Badge>}
                </li>
              ))}
            </ul>
          </>
        )}
      </Paged>
    </section>
  );
}

/** Leads to what held on a day. */
function OnADay({ space }: { space: string }) {
  const [day, setDay] = useState('');
  return (
    <section>
      <h2>What held on a day</h2>
      <form
        class="row end"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = link(space, 'graph', { as_of: day });
        }}
      >
        <Field label="Day">
          <input type="date" value={day} onInput={(event) => setDay(event.currentTarget.value)} />
        </Field>
        <button disabled={!day}>Show</button>
      </form>
    </section>
  );
}

/** Which layers are not whole. */
function Trouble({ layers }: Pick<Stats, 'layers'>) {
  const bad = layers.filter((layer) => layer.status !== 'ok' || layer.behind > 0);
  if (bad.length === 0) return null;
  return (
    <div class="bar warn" role="status">
      {bad.map((layer) => `${layer.layer}: ${layer.cause ?? `${number(layer.behind)} events behind`}`).join('; ')}
    </div>
  );
}

export function Today({ space, tick, caller }: View) {
  const stats = useLoad(() => counts(space), [space, tick]);
  const isTold = stats.data !== undefined || stats.error !== undefined;
  // The check of the layers takes longer than the counts.
  const checked = useLoad(isTold ? () => api.stats(space) : undefined, [space, tick, isTold]);
  return (
    <>
      <LoadView load={stats}>
        {(held) => (
          <>
            {held.events === 0 && (
              <Empty>
                Nothing is stored in <strong>{space}</strong> yet. Put mnemal behind an agent with{' '}
                <code>mnemal setup</code>, or store a first note: <code>mnemal -s {space} remember "…"</code>
              </Empty>
            )}
            <div class="tiles">
              <Tile value={number(held.events)} name="events" to={link(space, 'timeline')} />
              <Tile value={number(held.memories)} name="memories" to={link(space, 'memories')} />
              <Tile value={number(held.sessions)} name="conversations" to={link(space, 'timeline')} />
              <Tile value={number(held.to_review)} name="to review" />
              <Tile value={number(held.quarantined)} name="held back" to={link(space, 'timeline', { show: 'held' })} />
              <Tile value={number(held.erased)} name="erased" />
              <Tile value={bytes(held.bytes)} name="on disk" />
            </div>
            <Trouble layers={(checked.data ?? held).layers} />
          </>
        )}
      </LoadView>
      {isTold && <Sections space={space} tick={tick} caller={caller} total={stats.data?.sessions ?? 0} checked={checked} />}
    </>
  );
}

/** What is below the counts; it is asked for when they are there, so that they are there soon. */
function Sections({ space, tick, caller, total, checked }: Omit<View, 'params'> & { total: number; checked: Load<Stats> }) {
  const changes = useLoad(() => api.diff(space, { from: LOOK_BACK }), [space, tick]);
  const sessions = usePages((cursor) => api.sessionList(space, { cursor, limit: PAGE }), [space, tick]);
  const known = sessions.items?.length ?? 0;
  const [most, setMost] = useState(CHANGES);
  const mayWrite = caller.rights.includes('write') || caller.rights.includes('admin');
  const mayDecide = caller.class === 'app' && mayWrite;
  return (
    <div class="columns">
      <section>
        <h2>Changed in the last 7 days</h2>
        <LoadView load={changes}>
          {({ changes: all }) =>
            all.length === 0 ? (
              <Empty>No belief changed.</Empty>
            ) : (
              <>
              <ul class="list">
                {all.slice(-most).reverse().map((change) => (
                  <li key={`${change.id}${change.at}`}>
                    <p class="said">
                      {change.change === 'dropped' ? <del>{change.before}</del> : change.after}
                    </p>
                    {change.change === 'changed' && (
                      <p class="meta">
                        before: <del>{change.before}</del>
                      </p>
                    )}
                    <p class="meta">
                      <Badge tone={change.change === 'believed' ? 'good' : 'warn'}>{change.change}</Badge> {change.kind}{' '}
                      · <Time at={change.at} /> · <RecordLink id={change.id}>source</RecordLink>
                    </p>
                  </li>
                ))}
              </ul>
              <Cut shown={most} all={all.length} />
              {most < all.length && <Action work={async () => setMost(most + CHANGES)}>More</Action>}
              </>
            )
          }
        </LoadView>
      </section>
      <div>
        <Inbox space={space} tick={tick} mayDecide={mayDecide} />
        <LastDream space={space} tick={tick} mayUndo={mayDecide} />
        <Given space={space} tick={tick} />
        <OnADay space={space} />
        <section>
          <h2>Last conversations</h2>
          <Paged pages={sessions} all={total > known ? total : undefined} empty="There was no conversation yet.">
            {(session) => (
              <>
                <a href={link(space, 'timeline', { session: session.id })}>{session.id}</a>
                <p class="meta">
                  {session.channel} · {number(session.event_count)} events · <Time at={session.last_at} />
                </p>
              </>
            )}
          </Paged>
        </section>
        <section>
          <h2>Layers</h2>
          <LoadView load={checked}>
            {(held) => (
              <ul class="layers">
                {held.layers.map((layer) => (
                  <li key={layer.layer}>
                    <span>{layer.layer}</span> <Status status={layer.status} />
                  </li>
                ))}
              </ul>
            )}
          </LoadView>
        </section>
      </div>
    </div>
  );
}
