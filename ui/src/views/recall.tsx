/** Recall lab: what a question finds, from what each score is made, and what a context would withhold. */
import { useEffect, useState } from 'preact/hooks';

import type { Hit, Omitted, ScorePart } from '../../../integrations/typescript/src/operations';
import { api, useLoad } from '../api';
import { ByBudget } from '../bars';
import type { View } from '../main';
import { Action, Badge, Empty, Field, Gaps, LoadView, Select, Time, Trust, number, score } from '../parts';
import { RecordLink, reason } from '../record';
import { setParams } from '../route';
import { Words } from './context';

/** Colors of the parts of a bar; a signal has the same in every bar. */
const COLORS = 8;

const MODES: Array<[string, string]> = [
  ['auto', 'automatic'],
  ['hybrid', 'words and meaning'],
  ['lexical', 'words only'],
  ['vector', 'meaning only'],
];

/** Returns a place among the colors for each signal of the hits, the strongest first. */
function colors(hits: Hit[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const part of hits.flatMap((hit) => hit.explain?.arms ?? [])) {
    sums.set(part.signal, (sums.get(part.signal) ?? 0) + Math.abs(part.value));
  }
  const ranked = [...sums].sort((one, two) => two[1] - one[1]);
  return new Map(ranked.map(([signal], place) => [signal, Math.min(place, COLORS - 1)]));
}

function name(signal: string): string {
  return signal.replaceAll('_', ' ');
}

function Parts({ parts, most, places }: { parts: ScorePart[]; most: number; places: Map<string, number> }) {
  return (
    <div class="stack" aria-hidden="true">
      {parts
        .filter((part) => part.value > 0)
        .map((part) => (
          <span
            key={part.signal}
            class={`s${places.get(part.signal) ?? COLORS - 1}`}
            style={{ width: `${(part.value / most) * 100}%` }}
            title={`${name(part.signal)} ${score(part.value)}`}
          />
        ))}
    </div>
  );
}

function HitRow({ hit, place, most, places }: { hit: Hit; place: number; most: number; places: Map<string, number> }) {
  return (
    <li class="hit" data-id={hit.id} data-score={hit.score}>
      <div class="hit-head">
        <span class="rank num">{place}</span>
        <p class="said">{hit.text}</p>
        <span class="num total">{score(hit.score)}</span>
      </div>
      <Parts parts={hit.explain?.arms ?? []} most={most} places={places} />
      <p class="meta">
        <Trust trust={hit.trust} /> {hit.kind} · {hit.found_by} · <Time at={hit.occurred_at} />
        {hit.space && <> · from {hit.space}</>}
        {hit.quarantined && <Badge tone="bad">held back: {hit.quarantined}</Badge>} ·{' '}
        <RecordLink id={hit.id}>source</RecordLink>
      </p>
      <details>
        <summary>What the score is made of</summary>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>Signal</th>
                <th class="num">measured</th>
                <th class="num">normalized</th>
                <th class="num">weight</th>
                <th class="num">adds</th>
              </tr>
            </thead>
            <tbody>
              {hit.explain?.arms.map((part) => (
                <tr key={part.signal}>
                  <td>
                    <span class={`dot s${places.get(part.signal) ?? COLORS - 1}`} /> {name(part.signal)}
                  </td>
                  <td class="num">{score(part.raw)}</td>
                  <td class="num">{score(part.normalized)}</td>
                  <td class="num">{score(part.weight)}</td>
                  <td class="num">{score(part.value)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </li>
  );
}

/** What a context for the question leaves out, with the words of each. */
function OmittedList({ space, query }: { space: string; query: string }) {
  const context = useLoad(() => api.context(space, { query, explain: true, skip_injected: false }), [space, query]);
  return (
    <LoadView load={context}>
      {({ omitted }) =>
        omitted.length === 0 ? (
          <Empty>Nothing that was considered is left out.</Empty>
        ) : (
          <ul class="list">
            {omitted.map((one, place) => (
              <OmittedLine key={place} space={space} omitted={one} />
            ))}
          </ul>
        )
      }
    </LoadView>
  );
}

function OmittedLine({ space, omitted }: { space: string; omitted: Omitted }) {
  return (
    <li>
      <Words space={space} id={omitted.id} />
      <p class="meta">
        <Badge tone="warn">{reason(omitted)}</Badge> considered for {omitted.section} ·{' '}
        <RecordLink id={omitted.id}>source</RecordLink>
      </p>
    </li>
  );
}

/** Why a context for the question does not have one record. */
function WhyNot({ space, query }: { space: string; query: string }) {
  const [id, setId] = useState('');
  const [told, setTold] = useState('');
  const ask = async () => {
    const found = await api.whyNot(space, id.trim(), { query });
    const rank = found.rank ? `, rank ${found.rank}` : '';
    const at = found.score == null ? '' : `, score ${score(found.score)}`;
    const cause = found.reason ? `: ${found.reason.replaceAll('_', ' ')}` : '';
    setTold(`${found.outcome}${cause}${rank}${at}`);
  };
  return (
    <div class="row end">
      <Field label="Why not this record?">
        <input value={id} placeholder="evt_… mem_… fct_…" onInput={(event) => setId(event.currentTarget.value)} />
      </Field>
      <Action work={ask} isOff={!id.trim()}>
        Ask
      </Action>
      {told && <span role="status">{told}</span>}
    </div>
  );
}

export function RecallLab({ space, params }: View) {
  const asked = params.get('q') ?? '';
  const mode = params.get('mode') ?? 'auto';
  const asOf = params.get('as_of') ?? '';
  const held = params.get('held') === 'yes';
  const [query, setQuery] = useState(asked);
  const [isWithheldShown, showWithheld] = useState(false);
  const [isCompared, compare] = useState(false);
  useEffect(() => {
    setQuery(asked);
    showWithheld(false);
    compare(false);
  }, [asked]);
  const request = () =>
    api.recall(space, { query: asked, explain: true, mode, as_of: asOf || null, include_quarantined: held });
  const recalled = useLoad(asked ? request : undefined, [space, asked, mode, asOf, held]);
  return (
    <>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          setParams({ q: query.trim() });
        }}
      >
        <Field label="Question">
          <input type="search" value={query} autofocus onInput={(event) => setQuery(event.currentTarget.value)} />
        </Field>
        <Select label="Search by" value={mode} options={MODES} set={(value) => setParams({ mode: value })} />
        <Field label="As of">
          <input type="date" value={asOf} onChange={(event) => setParams({ as_of: event.currentTarget.value })} />
        </Field>
        <label class="check">
          <input type="checkbox" checked={held}
            onChange={(event) => setParams({ held: event.currentTarget.checked ? 'yes' : undefined })} />
          <span>with what is held back</span>
        </label>
        <button class="primary" disabled={!query.trim()}>
          Recall
        </button>
      </form>
      {!asked && <Empty>Ask something, and see what is found, in which order, and why.</Empty>}
      <LoadView load={recalled}>
        {(found) => {
          const places = colors(found.hits);
          const most = Math.max(0.001, ...found.hits.map((hit) => hit.explain?.final ?? hit.score));
          return (
            <>
              <Gaps gaps={found.gaps} />
              <p class="meta" role="status">
                {number(found.hits.length)} found by {found.used_mode}, {number(found.tokens)} tokens
                {found.truncated && ', cut to the limit of tokens'}
              </p>
              {found.hits.length === 0 && <Empty>Nothing was found. Other words may help.</Empty>}
              <ul class="legend" aria-label="Signals">
                {[...places].map(([signal, place]) => (
                  <li key={signal}>
                    <span class={`dot s${place}`} /> {name(signal)}
                  </li>
                ))}
              </ul>
              <ol class="list">
                {found.hits.map((hit, place) => (
                  <HitRow key={hit.id} hit={hit} place={place + 1} most={most} places={places} />
                ))}
              </ol>
              <section>
                <h2>By budget</h2>
                <p class="meta">How much of what is found a context of each size has room for.</p>
                {isCompared ? (
                  <ByBudget space={space} query={asked} />
                ) : (
                  <button type="button" onClick={() => compare(true)}>
                    Compare budgets
                  </button>
                )}
              </section>
              <section>
                <h2>Withheld</h2>
                <p class="meta">What a context for this question would leave out, and why.</p>
                {isWithheldShown ? (
                  <OmittedList space={space} query={asked} />
                ) : (
                  <button type="button" onClick={() => showWithheld(true)}>
                    Show what is withheld
                  </button>
                )}
                <WhyNot space={space} query={asked} />
              </section>
            </>
          );
        }}
      </LoadView>
    </>
  );
}
