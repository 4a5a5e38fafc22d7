/** Today: what changed, what waits for a person, how the space and its layers are. */
import { useState } from 'preact/hooks';

import { api, canConfirm, confirm, useLoad, usePages } from '../api';
import type { View } from '../main';
import { Action, Badge, Cut, Empty, Gaps, LoadView, Problem, Status, Time, Trust, bytes, number } from '../parts';
import { RecordLink } from '../record';
import { link } from '../route';

/** How far back the list of changes looks. */
const LOOK_BACK = '7d';
/** Changes that are shown first, and more at each request. */
const CHANGES = 20;
/** Memories to review and conversations of a page. */
const PAGE = 10;

function Tile({ value, name, to }: { value: string; name: string; to?: string }) {
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

export function Today({ space, tick, caller }: View) {
  const stats = useLoad(() => api.stats(space), [space, tick]);
  const changes = useLoad(() => api.diff(space, { from: LOOK_BACK }), [space, tick]);
  const waiting = usePages((cursor) => api.memoryList(space, { status: 'candidate', cursor, limit: PAGE }), [space, tick]);
  const sessions = usePages((cursor) => api.sessionList(space, { cursor, limit: PAGE }), [space, tick]);
  const [known, total] = [sessions.items?.length ?? 0, stats.data?.sessions ?? 0];
  const [most, setMost] = useState(CHANGES);
  const mayDecide = caller.class === 'app' && (caller.rights.includes('write') || caller.rights.includes('admin'));
  const decide = (work: () => Promise<unknown>) => async () => {
    await work();
    waiting.reload();
  };
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
              <Tile value={number(held.quarantined)} name="held back" to={link(space, 'timeline', { show: 'held' })} />
              <Tile value={number(held.erased)} name="erased" />
              <Tile value={bytes(held.bytes)} name="on disk" />
            </div>
            {held.layers.some((layer) => layer.status !== 'ok' || layer.behind > 0) && (
              <div class="bar warn" role="status">
                {held.layers
                  .filter((layer) => layer.status !== 'ok' || layer.behind > 0)
                  .map((layer) => `${layer.layer}: ${layer.cause ?? `${number(layer.behind)} events behind`}`)
                  .join('; ')}
              </div>
            )}
          </>
        )}
      </LoadView>
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
          <section>
            <h2>To review</h2>
            <Problem error={waiting.error} again={waiting.reload} />
            <Gaps gaps={waiting.gaps} />
            {waiting.items?.length === 0 && <Empty>Nothing is to be reviewed.</Empty>}
            <ul class="list">
              {waiting.items?.map((memory) => (
                <li key={memory.id}>
                  <p class="said">{memory.content}</p>
                  <p class="meta">
                    <Trust trust={memory.trust} /> <Time at={memory.created_at} /> ·{' '}
                    <a href={link(space, 'memories', { id: memory.id, status: 'candidate' })}>open</a> ·{' '}
                    <RecordLink id={memory.id}>source</RecordLink>
                  </p>
                  {mayDecide && (
                    <div class="row">
                      <Action work={decide(() => confirm(space, memory))} isOff={!canConfirm}>
                        Confirm
                      </Action>
                      {!canConfirm && <span class="muted">Confirming needs HTTPS or localhost.</span>}
                      <Action work={decide(() => api.memoryReject(space, memory.id))}>Reject</Action>
                    </div>
                  )}
                </li>
              ))}
            </ul>
            {waiting.loadMore && (
              <>
                <Cut shown={waiting.items?.length ?? 0} to={link(space, 'memories', { status: 'candidate' })} />
                <Action work={waiting.loadMore}>More</Action>
              </>
            )}
          </section>
          <section>
            <h2>Last conversations</h2>
            <Problem error={sessions.error} again={sessions.reload} />
            <Gaps gaps={sessions.gaps} />
            {sessions.items?.length === 0 && <Empty>There was no conversation yet.</Empty>}
            <ul class="list">
              {sessions.items?.map((session) => (
                <li key={session.id}>
                  <a href={link(space, 'timeline', { session: session.id })}>{session.id}</a>
                  <p class="meta">
                    {session.channel} · {number(session.event_count)} events · <Time at={session.last_at} />
                  </p>
                </li>
              ))}
            </ul>
            {sessions.loadMore && (
              <>
                <Cut shown={known} all={total > known ? total : undefined} />
                <Action work={sessions.loadMore}>More</Action>
              </>
            )}
          </section>
          <section>
            <h2>Layers</h2>
            <LoadView load={stats}>
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
    </>
  );
}
