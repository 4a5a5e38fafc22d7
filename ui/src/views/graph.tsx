/** Graph: somebody or something with what surrounds it, as it was on a day; merging two names for one, with undo; forgetting. */
import { useEffect, useMemo, useState } from 'preact/hooks';

import type { Entity, Erasure, Fact, Graph as Drawn } from '../../../integrations/typescript/src/operations';
import { api, useLoad, usePages, type Pages } from '../api';
import { Forget, Proof } from '../forget';
import { Paged } from '../list';
import type { View } from '../main';
import { Action, Badge, Cut, Empty, Field, Gaps, LoadView, Meter, Select, Status, Time, Trust, number } from '../parts';
import { RecordLink } from '../record';
import { read, setParams } from '../route';

/** Most edges that are drawn. */
const MOST_EDGES = 200;
/** Entities and facts of a page. */
const PAGE = 50;
const DAY = 86_400_000;

type Places = Map<string, { x: number; y: number }>;

/** Where an edge leads, when it leads to somebody or something. */
function target(fact: Fact): string | undefined {
  return (fact.object as { entity?: { id: string } }).entity?.id;
}

export function Graph({ space, params, tick, caller }: View) {
  const center = params.get('center') ?? '';
  const depth = params.get('depth') ?? '1';
  const asOf = params.get('as_of') ?? '';
  const [text, setText] = useState('');
  const [q, setQ] = useState('');
  const [erasure, setErasure] = useState<Erasure>();
  const may = (right: string) => caller.rights.includes(right) || caller.rights.includes('admin');
  const entities = usePages((cursor) => api.entityList(space, { q, cursor, limit: PAGE }), [space, q, tick]);
  const graph = useLoad(
    center ? () => api.graphGet(space, { center, depth: Number(depth), as_of: asOf, limit: MOST_EDGES }) : undefined,
    [space, center, depth, asOf, tick],
  );
  return (
    <>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          setQ(text.trim());
        }}
      >
        <Field label="Entity">
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <Select label="Depth" value={depth} options={[['1', '1 step'], ['2', '2 steps']]}
          set={(value) => setParams({ depth: value === '1' ? undefined : value })} />
        <Field label="As of">
          <input type="date" value={asOf} onChange={(event) => setParams({ as_of: event.currentTarget.value })} />
        </Field>
        <button>Search</button>
      </form>
      <Paged pages={entities} name="Entities" kind="chips" empty={`Nobody and nothing of that name is known${q ? '' : ' yet'}.`}>
        {(entity) => (
          <button type="button" aria-pressed={entity.id === center || entity.name === center}
            onClick={() => {
              setErasure(undefined);
              setParams({ center: entity.id, record: undefined });
            }}>
            {entity.name} <span class="muted num">{number(entity.event_count)}</span>
          </button>
        )}
      </Paged>
      {erasure && !center && <Proof erasure={erasure} />}
      {!center && asOf && <Held space={space} asOf={asOf} />}
      {center && (
        <>
          <AsOf value={asOf} nodes={graph.data?.nodes ?? []} />
          <div class="columns wide">
            <section>
              <LoadView load={graph}>
                {(found) => (
                  <>
                    <Gaps gaps={found.gaps} />
                    {found.edges.length >= MOST_EDGES && <Cut shown={found.edges.length} />}
                    <Drawing graph={found} center={center} />
                  </>
                )}
              </LoadView>
            </section>
            <Portrait key={center + asOf} space={space} id={center} asOf={asOf} all={entities.items ?? []}
              mayWrite={may('write')} mayErase={may('erase')} changed={() => {
                graph.reload();
                entities.reload();
              }} erased={(gone) => {
                setErasure(gone);
                if (read(location.hash).params.get('center') === center) setParams({ center: undefined });
                entities.reload();
              }} />
          </div>
        </>
      )}
    </>
  );
}

/** What held on a day, of whomever. */
function Held({ space, asOf }: { space: string; asOf: string }) {
  const facts = usePages((cursor) => api.factList(space, { as_of: asOf, cursor, limit: PAGE }), [space, asOf]);
  return (
    <section aria-label="What held">
      <h2>
        What held on <Time at={asOf} />
      </h2>
      <Facts facts={facts} empty="No fact held then." />
    </section>
  );
}

/** Facts, a page at a time. */
function Facts({ facts, empty }: { facts: Pages<Fact>; empty: string }) {
  return (
    <Paged pages={facts} empty={empty}>
      {(fact) => (
        <>
          <RecordLink id={fact.id}>{fact.line}</RecordLink>
          <p class="meta">
            <Status status={fact.status} /> <Meter value={fact.confidence} label="confidence" />
          </p>
        </>
      )}
    </Paged>
  );
}

/** A slider over the days since the first of the nodes became known. */
function AsOf({ value, nodes }: { value: string; nodes: Entity[] }) {
  const today = Math.floor(Date.now() / DAY);
  const [start, setStart] = useState(today - 30);
  useEffect(() => {
    const times = nodes.map((node) => Date.parse(node.first_seen ?? node.created_at)).filter((time) => !Number.isNaN(time));
    if (times.length > 0) setStart((before) => Math.min(before, Math.floor(Math.min(...times) / DAY) - 1));
  }, [nodes]);
  const day = value ? Math.floor(Date.parse(value) / DAY) : today + 1;
  const [shown, setShown] = useState(day);
  useEffect(() => setShown(day), [day]);
  const text = (at: number) => (at > today ? 'now' : new Date(at * DAY).toISOString().slice(0, 10));
  return (
    <label class="slider">
      <span>
        As of <strong>{text(shown)}</strong>
      </span>
      <input type="range" min={Math.min(start, day)} max={today + 1} value={shown} aria-valuetext={text(shown)}
        onInput={(event) => setShown(Number(event.currentTarget.value))}
        onChange={(event) => {
          const at = Number(event.currentTarget.value);
          setParams({ as_of: at > today ? undefined : text(at) });
        }} />
    </label>
  );
}

/** Half the width and height of a drawing without nodes. */
const SMALLEST = 160;

function Drawing({ graph, center }: { graph: Drawn; center: string }) {
  const [places, setPlaces] = useState<Places>();
  const ids = graph.nodes.map((node) => node.id);
  const middle = graph.nodes.find((node) => node.id === center || node.name === center)?.id ?? ids[0] ?? '';
  const edges = graph.edges.filter((edge) => ids.includes(edge.subject.id) && ids.includes(target(edge) ?? ''));
  useEffect(() => {
    let isCurrent = true;
    void import('../force').then((force) => {
      const pairs = edges.map((edge): [string, string] => [edge.subject.id, target(edge) ?? '']);
      if (isCurrent) setPlaces(force.places(ids, pairs, middle));
    });
    return () => {
      isCurrent = false;
    };
  }, [graph]);
  const view = useMemo(() => {
    const all = [...(places?.values() ?? [])];
    const x = Math.max(SMALLEST, ...all.map((one) => Math.abs(one.x) + 70));
    const y = Math.max(SMALLEST, ...all.map((one) => Math.abs(one.y) + 40));
    return `${-x} ${-y} ${2 * x} ${2 * y}`;
  }, [places]);
  if (graph.nodes.length === 0) return <Empty>Nothing was known of it then.</Empty>;
  if (!places) return null;
  const at = (id: string) => places.get(id) ?? { x: 0, y: 0 };
  return (
    <>
      <svg class="graph" viewBox={view} role="group" aria-label="Graph">
        {edges.map((edge) => {
          const [one, two] = [at(edge.subject.id), at(target(edge) ?? '')];
          return (
            <g key={edge.id} class={`edge ${edge.status}`}>
              <line x1={one.x} y1={one.y} x2={two.x} y2={two.y} stroke-width={1 + 2.5 * edge.strength} />
              <text x={(one.x + two.x) / 2} y={(one.y + two.y) / 2 - 4} aria-hidden="true">
                {edge.predicate.replaceAll('_', ' ')}
              </text>
            </g>
          );
        })}
        {graph.nodes.map((node) => {
          const { x, y } = at(node.id);
          const show = () => setParams({ center: node.id });
          return (
            <g key={node.id} class={`node ${node.id === middle ? 'center' : ''}`} transform={`translate(${x} ${y})`}
              role="button" tabindex={0} aria-label={`${node.name}, ${node.type}`} onClick={show}
              onKeyDown={(event) => (event.key === 'Enter' || event.key === ' ') && (event.preventDefault(), show())}>
              <circle r={node.id === middle ? 22 : 16} />
              <text y={node.id === middle ? 38 : 31}>{node.name.length > 24 ? `${node.name.slice(0, 23)}…` : node.name}</text>
            </g>
          );
        })}
      </svg>
      <details>
        <summary>As a list ({number(graph.edges.length)} facts)</summary>
        <ul class="list">
          {graph.edges.map((edge) => (
            <li key={edge.id} class="line">
              <RecordLink id={edge.id}>{edge.line}</RecordLink>
              <span class="meta">
                <Status status={edge.status} /> <Trust trust={edge.trust} />
              </span>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Portrait({ space, id, asOf, all, mayWrite, mayErase, changed, erased }: {
  space: string;
  id: string;
  asOf: string;
  all: Entity[];
  mayWrite: boolean;
  mayErase: boolean;
  changed: () => void;
  erased: (erasure: Erasure) => void;
}) {
  const [isForgetting, forget] = useState(false);
  const load = useLoad(() => api.entityGet(space, id, { as_of: asOf }), [space, id, asOf]);
  const facts = usePages((cursor) => api.entityFacts(space, id, { as_of: asOf, cursor, limit: PAGE }), [space, id, asOf]);
  return (
    <section aria-label="Entity">
      <LoadView load={load}>
        {(entity) => (
          <>
            <h2>{entity.name}</h2>
            <p class="meta">
              <Badge>{entity.type_word ?? entity.type}</Badge> {number(entity.event_count)} events
              {entity.aliases.length > 0 && <> · also {entity.aliases.join(', ')}</>}
              {entity.last_seen && (
                <>
                  {' '}
                  · last named <Time at={entity.last_seen} />
                </>
              )}
            </p>
            <Facts facts={facts} empty="No fact held of it then." />
            {mayWrite && <Merge space={space} entity={entity} all={all} changed={changed} />}
            {mayErase && !isForgetting && (
              <div class="danger-zone">
                <button type="button" class="danger" onClick={() => forget(true)}>
                  Forget…
                </button>
                <span class="muted">erases everything that names {entity.name}, in every layer; there is no undo</span>
              </div>
            )}
            {isForgetting && (
              <Forget space={space} selector={{ entity: entity.id }} cancel={() => forget(false)} done={erased} />
            )}
          </>
        )}
      </LoadView>
    </section>
  );
}

/** Says that two are one, and takes it back. */
function Merge({ space, entity, all, changed }: {
  space: string;
  entity: { id: string; name: string };
  all: Entity[];
  changed: () => void;
}) {
  const others = all.filter((one) => one.id !== entity.id);
  const [into, setInto] = useState('');
  const [decision, setDecision] = useState<{ event_id: string; text: string }>();
  const [isUndone, setUndone] = useState(false);
  const merge = async () => {
    setDecision(await api.entityMerge(space, entity.id, { into }));
    setUndone(false);
    changed();
  };
  const undo = async () => {
    await api.decisionUndo(space, decision!.event_id);
    setUndone(true);
    changed();
  };
  return (
    <details class="versions">
      <summary>Merge with another entity</summary>
      <div class="row end">
        <Select label={`${entity.name} is`} value={into} set={setInto}
          options={[['', 'choose…'], ...others.map((one): [string, string] => [one.id, one.name])]} />
        <Action work={merge} isOff={!into}>
          Merge
        </Action>
      </div>
      {decision && (
        <div class="bar good" role="status">
          <span>{isUndone ? 'Taken back: they are two again.' : decision.text}</span>
          {!isUndone && <Action work={undo}>Undo</Action>}
        </div>
      )}
    </details>
  );
}
