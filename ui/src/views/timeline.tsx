/** Timeline: the log, by conversation and time, and what was derived from each event. */
import { useLoad, usePages, api } from '../api';
import { Forget, Proof } from '../forget';
import type { Erasure, Event } from '../../../integrations/typescript/src/operations';
import type { View } from '../main';
import { Action, Badge, Empty, Field, Gaps, LoadView, Problem, Select, Status, Time, Trust, number } from '../parts';
import { PAGE, Rows, useRows } from '../list';
import { RecordLink } from '../record';
import { setParams } from '../route';
import { useState } from 'preact/hooks';

/** Facts and memories that are looked through for what rests on an event. */
const LOOKED_THROUGH = 200;

const ROLES: Array<[string, string]> = [
  ['', 'all'], ['user', 'user'], ['assistant', 'agent'], ['tool', 'tool'], ['document', 'document'], ['decision', 'decision'],
];
const ORDERS: Array<[string, string]> = [['', 'oldest first'], ['desc', 'newest first']];
const SHOWS: Array<[string, string]> = [
  ['', 'active events'], ['all', 'also erased and held back'], ['held', 'held back only'],
];

export function Timeline({ space, params, tick, caller }: View) {
  const get = (name: string) => params.get(name) ?? '';
  const [session, role, show, since, chosen] = [get('session'), get('role'), get('show'), get('since'), get('event')];
  const order = get('order');
  const sessions = usePages((cursor) => api.sessionList(space, { cursor, limit: 50 }), [space, tick]);
  const events = useRows<Event>(
    (cursor) =>
      api.eventList(space, {
        session, role, since, all: show === 'all' || undefined, quarantined: show === 'held' || undefined, order: order || undefined,
        cursor, limit: PAGE,
      }),
    [space, session, role, show, since, order],
    tick,
  );
  return (
    <>
      <div class="ask">
        <Select label="Conversation" value={session} set={(value) => setParams({ session: value, event: undefined })}
          options={[
            ['', 'all'],
            ...(session && !sessions.items?.some((one) => one.id === session) ? [[session, session] as [string, string]] : []),
            ...(sessions.items ?? []).map((one): [string, string] => [one.id, `${one.id} (${number(one.event_count)})`]),
          ]} />
        <Select label="Role" value={role} options={ROLES} set={(value) => setParams({ role: value })} />
        <Select label="Show" value={show} options={SHOWS} set={(value) => setParams({ show: value })} />
        <Select label="Order" value={order} options={ORDERS} set={(value) => setParams({ order: value })} />
        <Field label="From">
          <input type="date" value={since} onChange={(event) => setParams({ since: event.currentTarget.value })} />
        </Field>
      </div>
      <Problem error={sessions.error} again={sessions.reload} />
      <Gaps gaps={[...sessions.gaps, ...events.gaps]} />
      <div class={`master ${chosen ? 'has-detail' : ''}`}>
        <section aria-label="Events">
          <Rows rows={events} name="Events" kind="log" chosen={chosen} choose={(event) => setParams({ event: event.id })}
            turn={{ name: order ? 'Oldest' : 'Newest', act: () => setParams({ order: order ? '' : 'desc' }) }}
            empty={<Empty>{show === 'held' ? 'Nothing is held back.' : 'No event is here.'}</Empty>}>
            {(event) => (
              <>
                <span class="meta">
                  <span class={`role ${event.role}`}>{event.speaker ?? event.role}</span>{' '}
                  <Time at={event.occurred_at ?? event.recorded_at} />
                  {!session && event.session && <> · {event.session}</>}
                  {event.decision && <Badge>{event.decision.replaceAll('_', ' ')}</Badge>}
                  {event.operation && <Badge>{event.operation.replaceAll('_', ' ')}</Badge>}
                  {event.undone_by && <Badge tone="warn">taken back</Badge>}
                  {event.quarantined && <Badge tone="bad">held back</Badge>}
                  {event.erased_at && <Badge tone="bad">erased</Badge>}
                </span>
                <span class="said">{event.content ?? (event.erased_at ? 'erased' : event.type)}</span>
              </>
            )}
          </Rows>
        </section>
        {chosen && <Detail key={chosen} space={space} id={chosen} tick={tick} rights={caller.rights} changed={() => events.reload()} />}
      </div>
    </>
  );
}

function Detail({ space, id, tick, rights, changed }: {
  space: string;
  id: string;
  tick: number;
  rights: string[];
  changed: () => void;
}) {
  const [erasure, setErasure] = useState<Erasure>();
  const load = useLoad(erasure ? undefined : () => api.eventGet(space, id), [space, id, tick]);
  const [isForgetting, forget] = useState(false);
  const may = (right: string) => rights.includes(right) || rights.includes('admin');
  return (
    <section class="detail" aria-label="Event">
      <button type="button" class="back" onClick={() => setParams({ event: undefined })}>
        ← All events
      </button>
      {erasure && <Proof erasure={erasure} />}
      {!erasure && <LoadView load={load}>
        {(event) => (
          <>
            <p class="said big">{event.content ?? 'It is erased.'}</p>
            <p class="meta">
              <Trust trust={event.trust} /> {event.role} · {event.type} · <Time at={event.occurred_at ?? event.recorded_at} /> ·
              place {number(event.seq)}
            </p>
            <p class="meta">
              <code>{event.id}</code>
              {event.session && (
                <>
                  {' '}
                  ·{' '}
                  <button type="button" class="link" onClick={() => setParams({ session: event.session ?? undefined })}>
                    conversation {event.session}
                  </button>
                </>
              )}
            </p>
            {event.undone_by && (
              <div class="bar warn">
                It was taken back.
                <button type="button" class="link" onClick={() => setParams({ event: event.undone_by ?? undefined })}>
                  {event.undone_by}
                </button>
              </div>
            )}
            {event.quarantined && (
              <div class="bar warn">
                <div>
                  Held back by the rule <code>{event.quarantined}</code>: it is shown to no agent.
                </div>
                {may('write') && (
                  <Release space={space} id={id} changed={changed} />
                )}
              </div>
            )}
            <h3>What was derived from it</h3>
            <Derivations space={space} id={id} tick={tick} />
            {may('erase') && event.content && !isForgetting && (
              <div class="danger-zone">
                <button type="button" class="danger" onClick={() => forget(true)}>
                  Forget…
                </button>
                <span class="muted">erases it in every layer; there is no undo</span>
              </div>
            )}
            {isForgetting && <Forget space={space} selector={{ id }} cancel={() => forget(false)} done={(gone) => {
              setErasure(gone);
              changed();
            }} />}
          </>
        )}
      </LoadView>}
    </section>
  );
}

/** Lets what is held back be used, and takes that back. */
function Release({ space, id, changed }: { space: string; id: string; changed: () => void }) {
  const [decision, setDecision] = useState('');
  const release = async () => {
    setDecision((await api.eventRelease(space, id)).event_id);
    changed();
  };
  const undo = async () => {
    await api.decisionUndo(space, decision);
    setDecision('');
    changed();
  };
  if (!decision) return <Action work={release}>Release</Action>;
  return (
    <span role="status">
      It may be used from now on. <Action work={undo}>Undo</Action>
    </span>
  );
}

/** Facts and memories that rest on an event, among the first of each. */
function Derivations({ space, id, tick }: { space: string; id: string; tick: number }) {
  const load = useLoad(
    () =>
      Promise.all([
        api.factList(space, { current: false, limit: LOOKED_THROUGH }),
        api.memoryList(space, { status: 'all', limit: LOOKED_THROUGH }),
      ]),
    [space, id, tick],
  );
  return (
    <LoadView load={load}>
      {([facts, memories]) => {
        const mine = <T extends { source_event_ids: string[] }>(all: T[]) => all.filter((one) => one.source_event_ids.includes(id));
        const records = [
          ...mine(facts.items).map((fact) => ({ id: fact.id, text: fact.line, kind: 'fact', status: fact.status })),
          ...mine(memories.items).map((one) => ({ id: one.id, text: one.content, kind: one.kind, status: one.status })),
        ];
        const isCut = facts.next_cursor || memories.next_cursor;
        return (
          <>
            <Gaps gaps={[...facts.gaps, ...memories.gaps]} />
            {records.length === 0 && <Empty>Nothing rests on it.</Empty>}
            <ul class="list">
              {records.map((record) => (
                <li key={record.id} class="line">
                  <RecordLink id={record.id}>{record.text}</RecordLink>
                  <span class="meta">
                    {record.kind} <Status status={record.status} />
                  </span>
                </li>
              ))}
            </ul>
            {isCut && <p class="meta">Only the first {LOOKED_THROUGH} facts and memories were looked through.</p>}
          </>
        );
      }}
    </LoadView>
  );
}
