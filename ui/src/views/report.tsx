/** Report: what memory cost in a week, and what was used, learned, forgotten and contradicted. */
import { useEffect, useState } from 'preact/hooks';

import type { ChangeCounts, ContextUsage, Report } from '../../../integrations/typescript/src/operations';
import { api, useLoad } from '../api';
import { Bars } from '../bars';
import type { View } from '../main';
import { Action, Badge, Empty, Gaps, LoadView, Select, Tile, Time, bytes, number } from '../parts';
import { RecordLink } from '../record';
import { link, setParams } from '../route';

/** Weeks that can be chosen. */
const WEEKS = 8;
const DAYS = 7;
/** Milliseconds of a day. */
const DAY = 86_400_000;

const CHOICES = Array.from({ length: WEEKS }, (_, back): [string, string] => [
  back === 0 ? '' : String(back),
  back === 0 ? 'the last 7 days' : back === 1 ? 'the week before' : `${back} weeks earlier`,
]);

export function ReportView({ space, params, tick, caller }: View) {
  const week = params.get('week') ?? '';
  const back = Math.max(0, Math.floor(Number(week)) || 0);
  const isWhole = !caller.user;
  // A report counts a week: it is not made again with every event, but when somebody asks for it.
  const [shownTick, show] = useState(tick);
  const load = useLoad(
    isWhole
      ? () => api.report(space, { since: `${DAYS * (back + 1)}d`, until: back > 0 ? `${DAYS * back}d` : undefined })
      : undefined,
    [space, back, shownTick],
  );
  if (!isWhole) return <Empty>A report is of the whole space, and your key is that of {caller.user} alone.</Empty>;
  return (
    <>
      <div class="ask">
        <Select label="Week" value={week} options={CHOICES} set={(value) => setParams({ week: value })} />
      </div>
      {tick !== shownTick && (
        <div class="bar" role="status">
          Something was stored since.
          <button type="button" onClick={() => show(tick)}>
            Make it again
          </button>
        </div>
      )}
      <LoadView load={load}>{(report) => <Figures space={space} report={report} />}</LoadView>
    </>
  );
}

function Figures({ space, report }: { space: string; report: Report }) {
  const { contexts, stored, erased } = report;
  const isIdle = stored.events === 0 && erased.events === 0;
  return (
    <>
      <Gaps gaps={report.gaps} />
      <div class="row spread">
        <p class="meta">
          <Time at={report.since} /> to <Time at={report.until} />
        </p>
        <CopyMarkdown text={report.markdown} />
      </div>
      {isIdle && (
        <Empty>
          Nothing was stored or forgotten in this week. Choose an earlier one, or put mnemal behind an agent with{' '}
          <code>mnemal setup</code>.
        </Empty>
      )}
      <div class="tiles">
        {contexts && <Tile value={number(contexts.contexts)} name="contexts" />}
        {contexts && <Tile value={number(contexts.tokens)} name="tokens in contexts" />}
        <Tile value={number(stored.events)} name="events stored" to={link(space, 'timeline', { order: 'desc' })} />
        <Tile value={bytes(stored.text_bytes)} name="text stored" />
        {report.file_bytes != null && <Tile value={bytes(report.file_bytes)} name="on disk now" />}
        <Tile value={number(erased.events)} name="events erased" />
      </div>
      <div class="columns wide">
        <div>
          <Activity report={report} />
          <Used contexts={contexts} report={report} />
          <Unanswered contexts={contexts} />
        </div>
        <div>
          <Learned report={report} />
          <Contradictions report={report} />
          <Unrecorded report={report} />
        </div>
      </div>
    </>
  );
}

/** Events of each day of the week, in UTC. */
function Activity({ report }: { report: Report }) {
  const begin = Date.parse(report.since);
  const days = Array.from({ length: DAYS + 1 }, (_, day) => new Date(begin + day * DAY).toISOString().slice(0, 10));
  const count = (day: string) => report.stored.by_day[day] ?? 0;
  const rows = days.map((day) => ({ name: day, value: count(day), text: number(count(day)) }));
  if (report.stored.events === 0) return null;
  return (
    <section>
      <h2>Activity by day</h2>
      <Bars head={['Day', 'Events stored']} rows={rows} />
    </section>
  );
}

function CopyMarkdown({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [text]);
  return (
    <Action work={async () => {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    }}>
      {isCopied ? 'Copied' : 'Copy as Markdown'}
    </Action>
  );
}

function Numbers({ all }: { all: Array<[string, number]> }) {
  return (
    <dl class="facts">
      {all.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} of`} class="num">{number(value)}</dd>])}
    </dl>
  );
}

const words = (name: string) => name.replaceAll('_', ' ');

function Used({ contexts, report }: { contexts: ContextUsage | null | undefined; report: Report }) {
  const { useful, irrelevant, wrong } = report.verdicts;
  return (
    <section>
      <h2>Used</h2>
      {contexts ? (
        <>
          <Numbers all={[
            ['lines', contexts.lines], ['tokens allowed', contexts.budget_tokens], ['tokens from outside', contexts.external_tokens],
            ['events', contexts.events], ['memories', contexts.memories], ['facts', contexts.facts],
            ['contexts with a gap', contexts.incomplete],
          ]} />
          {contexts.kept_since && (
            <p class="meta">
              Receipts are kept since <Time at={contexts.kept_since} />: earlier contexts are missing.
            </p>
          )}
          {contexts.most_shown.length > 0 && <h3>Shown most</h3>}
          <ul class="list">
            {contexts.most_shown.map((shown) => (
              <li key={shown.id} class="line">
                <RecordLink id={shown.id}>{shown.text ?? 'gone'}</RecordLink>
                <span class="meta num">in {number(shown.contexts)}</span>
              </li>
            ))}
          </ul>
          {Object.keys(contexts.omitted).length > 0 && <h3>Left out</h3>}
          <Numbers all={Object.entries(contexts.omitted).map(([reason, count]): [string, number] => [words(reason), count])} />
        </>
      ) : (
        <Empty>Not recorded: this memory keeps no receipts.</Empty>
      )}
      <h3>Verdicts on lines</h3>
      <Numbers all={[['useful', useful], ['irrelevant', irrelevant], ['wrong', wrong]]} />
    </section>
  );
}

function Unanswered({ contexts }: { contexts: ContextUsage | null | undefined }) {
  if (!contexts) return null;
  return (
    <section>
      <h2>Without an answer</h2>
      <Numbers all={[['contexts without a line', contexts.empty], ['no line matched, or no question', contexts.unmatched]]} />
    </section>
  );
}

function Learned({ report }: { report: Report }) {
  const { learned, stored, erased } = report;
  const row = (name: string, of: ChangeCounts): Array<[string, number]> => [
    [`${name} believed`, of.believed], [`${name} changed`, of.changed], [`${name} dropped`, of.dropped],
  ];
  return (
    <section>
      <h2>Learned and forgotten</h2>
      <Numbers all={[
        ...Object.entries(stored.by_role).map(([role, count]): [string, number] => [`events: ${role}`, count]),
        ['held back', stored.quarantined],
        ...(learned ? [...row('facts', learned.facts), ...row('memories', learned.memories)] : []),
        ...(learned && learned.candidates != null ? [['waiting for you', learned.candidates] as [string, number]] : []),
        ['decisions to forget', erased.forgets],
      ]} />
      {!learned && <p class="meta">What is believed cannot be told.</p>}
      <ul class="list">
        {learned?.newest.map((one) => (
          <li key={`${one.id}${one.at}`}>
            <p class="said">
              {one.before && <del>{one.before}</del>} {one.change === 'dropped' ? <del>{one.text}</del> : one.text}
            </p>
            <p class="meta">
              <Badge tone={one.change === 'believed' ? 'good' : 'warn'}>{one.change}</Badge> <Time at={one.at} /> ·{' '}
              <RecordLink id={one.id}>source</RecordLink>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Contradictions({ report }: { report: Report }) {
  const of = report.contradictions;
  return (
    <section>
      <h2>Contradictions</h2>
      {of ? (
        <>
          <Numbers all={[['replaced by another value', of.replaced], ['disputed', of.disputed]]} />
          <ul class="list">
            {[...of.replaced_lines, ...of.disputed_lines].map((line, place) => (
              <li key={place} class="said">{line}</li>
            ))}
          </ul>
        </>
      ) : (
        <p class="meta">Contradictions cannot be told.</p>
      )}
    </section>
  );
}

function Unrecorded({ report }: { report: Report }) {
  return (
    <section>
      <h2>Not recorded</h2>
      <ul class="list">
        {report.unrecorded.map((one) => (
          <li key={one.name}>
            <strong>{words(one.name)}</strong>: {one.why}
          </li>
        ))}
      </ul>
    </section>
  );
}
