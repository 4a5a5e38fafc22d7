/** Context preview: the exact text that an agent would be given, what it costs, and why each line is in it. */
import { useEffect, useState } from 'preact/hooks';

import type { Context, Line, LineUse, Omitted } from '../../../integrations/typescript/src/operations';
import { api, useLoad } from '../api';
import { ByBudget } from '../bars';
import type { View } from '../main';
import { Action, Badge, Empty, Field, Gaps, LoadView, Time, Trust, number, score } from '../parts';
import { RecordLink, because, reason } from '../record';
import { link, setParams } from '../route';

/** The budget without a choice, in tokens, as that of the server. */
const BUDGET = 4000;
/** How the id of a receipt begins. */
const RECEIPT = 'rcl_';

/** A context with the milliseconds that this page waited for it. */
interface Measurement {
  context: Context;
  took: number;
}

async function measure(request: () => Promise<Context>): Promise<Measurement> {
  const began = performance.now();
  const context = await request();
  return { context, took: Math.round(performance.now() - began) };
}

function BudgetBar({ context }: { context: Context }) {
  const used = context.sections.filter((section) => section.used > 0);
  const inSections = used.reduce((sum, section) => sum + section.used, 0);
  const most = Math.max(1, context.budget);
  const rest = Math.max(0, context.tokens - inSections);
  const parts: Array<[string, number]> = [...used.map((one): [string, number] => [one.name, one.used]), ['frame', rest]];
  return (
    <>
      <div class="stack tall" role="img" aria-label={`${context.tokens} of ${context.budget} tokens`}>
        {parts.map(([name, tokens], place) => (
          <span key={name} class={`s${place % 8}`} style={{ width: `${(tokens / most) * 100}%` }} title={`${name}: ${tokens}`} />
        ))}
      </div>
      <ul class="legend">
        {parts.map(([name, tokens], place) => (
          <li key={name}>
            <span class={`dot s${place % 8}`} /> {name} <span class="num">{number(tokens)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The words of a record. */
export function Words({ space, id }: { space: string; id: string }) {
  const why = useLoad(() => api.why(space, id), [space, id]);
  return <p class="said">{why.data?.text ?? (why.error ? id : '…')}</p>;
}

function Lines({ space, lines, receipt, used }: { space: string; lines: Line[]; receipt: string; used?: number[] }) {
  return (
    <ul class="list">
      {lines.map((line, place) => (
        <li key={line.id} class="line">
          <Words space={space} id={line.id} />
          <span class="meta">
            {used?.includes(place + 1) && (
              <>
                <Badge>used</Badge>{' '}
              </>
            )}
            <Badge tone="good">{because(line)}</Badge> {line.kind} of <Trust trust={line.trust} />{' '}
            <span class="num">{line.tokens}</span> tokens
            {line.score > 0 && (
              <>
                {' '}
                · score <span class="num">{score(line.score)}</span>
              </>
            )}{' '}
            ·{' '}
            <RecordLink id={line.id} receipt={receipt}>
              source
            </RecordLink>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What was considered and left out. */
function LeftOut({ space, omitted, receipt }: { space: string; omitted: Omitted[]; receipt: string }) {
  return (
    <>
      <h2>Left out</h2>
      {omitted.length === 0 && <Empty>Nothing that was considered is left out.</Empty>}
      <ul class="list">
        {omitted.map((one, place) => (
          <li key={place} class="line">
            <Words space={space} id={one.id} />
            <span class="meta">
              <Badge tone="warn">{reason(one)}</Badge> {one.kind}, considered for {one.section} ·{' '}
              <RecordLink id={one.id} receipt={receipt}>
                source
              </RecordLink>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The share of the lines that stand in the answer that followed: an estimate by words. */
function Used({ used, lines }: { used: LineUse | null | undefined; lines: number }) {
  if (!used || lines === 0) return null;
  const share = Math.round((used.lines.length / lines) * 100);
  return (
    <p class="meta" title="Lines of whose content words the next answer has at least half; those of the question do not count.">
      Used in <RecordLink id={used.answer}>the answer that followed</RecordLink>: <span class="num">{number(used.lines.length)}</span>{' '}
      of <span class="num">{number(lines)}</span> lines, <span class="num">{share}</span> %
    </p>
  );
}

/** What a prompt of earlier was given, by the receipt that stands in it. */
function Earlier({ space, receipt }: { space: string; receipt: string }) {
  const load = useLoad(() => api.recallGet(space, receipt), [space, receipt]);
  return (
    <LoadView load={load}>
      {(found) => (
        <>
          <p class="cost" role="status">
            <strong class="num">{number(found.tokens)}</strong> of <span class="num">{number(found.budget)}</span> tokens ·{' '}
            <Time at={found.at} />
            {found.session && (
              <>
                {' '}
                · <a href={link(space, 'timeline', { session: found.session })}>conversation {found.session}</a>
              </>
            )}
          </p>
          <Used used={found.used} lines={found.lines.length} />
          <h2>Why each line is in it</h2>
          <Lines space={space} lines={found.lines} receipt={found.id} used={found.used?.lines} />
          <LeftOut space={space} omitted={found.omitted} receipt={found.id} />
        </>
      )}
    </LoadView>
  );
}

/** Whether the account of a context holds against the log. */
function Verify({ space, context }: { space: string; context: Context }) {
  const [told, setTold] = useState('');
  const check = async () => {
    const found = await api.recallVerify(space, context.recall_id, { text: context.text });
    setTold(found.holds ? `It holds: ${found.resolved} of ${found.lines} lines found in the log.` : found.findings.join(' '));
  };
  return (
    <>
      <Action work={check}>Check the receipt</Action>
      {told && <span role="status">{told}</span>}
    </>
  );
}

export function ContextPreview({ space, params }: View) {
  const asked = params.get('q') ?? '';
  const budget = Number(params.get('budget')) || BUDGET;
  const [query, setQuery] = useState(asked);
  const [tokens, setTokens] = useState(String(budget));
  const [isCompared, compare] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const [isAsked, setIsAsked] = useState(Boolean(asked));
  useEffect(() => {
    setQuery(asked);
    compare(false);
    setCopied(false);
  }, [asked]);
  const request = () =>
    measure(() =>
      api.context(space, {
        query: asked || null, budget_tokens: budget, explain: true,
      }),
    );
  const isReceipt = asked.startsWith(RECEIPT);
  const load = useLoad(isAsked && !isReceipt ? request : undefined, [space, asked, budget, isAsked]);
  return (
    <>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          setIsAsked(true);
          setParams({ q: query.trim(), budget: tokens === String(BUDGET) ? undefined : tokens });
        }}
      >
        <Field label="Query, or the receipt that stands in a prompt">
          <input type="search" value={query} placeholder="rcl_…" autofocus onInput={(event) => setQuery(event.currentTarget.value)} />
        </Field>
        <Field label="Budget in tokens">
          <input type="number" min={50} max={100000} value={tokens} onInput={(event) => setTokens(event.currentTarget.value)} />
        </Field>
        <button class="primary">Assemble</button>
      </form>
      {!isAsked && <Empty>Assemble a context, and read exactly what an agent would be given for that turn.</Empty>}
      {isReceipt && <Earlier space={space} receipt={asked} />}
      <LoadView load={load}>
        {({ context, took }) => (
          <>
            <Gaps gaps={context.gaps} />
            <p class="cost" role="status">
              <strong class="num">{number(context.tokens)}</strong> of <span class="num">{number(context.budget)}</span>{' '}
              tokens · <span class="num">{took}</span> ms
              {context.no_match && <Badge tone="warn">nothing that is known answers it</Badge>}
            </p>
            <BudgetBar context={context} />
            <div class="columns wide">
              <section>
                <h2>Exact text</h2>
                <pre class="exact" tabIndex={0} aria-label="Exact text">{context.text}</pre>
                <div class="row">
                  <Action work={async () => {
                    await navigator.clipboard.writeText(context.text);
                    setCopied(true);
                  }}>
                    {isCopied ? 'Copied' : 'Copy'}
                  </Action>
                  <Verify space={space} context={context} />
                </div>
                <h2>By budget</h2>
                {isCompared ? (
                  <ByBudget space={space} query={asked} />
                ) : (
                  <button type="button" onClick={() => compare(true)}>
                    Compare budgets
                  </button>
                )}
              </section>
              <section>
                <h2>Why each line is in it</h2>
                <p class="meta">
                  Receipt <code>{context.recall_id}</code>
                </p>
                {context.sections.filter((one) => one.items.length > 0).map((one) => (
                  <div key={one.name}>
                    <h3>
                      {one.name} <span class="muted num">{number(one.used)} tokens</span>
                    </h3>
                    <Lines space={space} lines={one.items} receipt={context.recall_id} />
                  </div>
                ))}
                {context.tokens === 0 && <Empty>The context is empty.</Empty>}
                <LeftOut space={space} omitted={context.omitted} receipt={context.recall_id} />
              </section>
            </div>
          </>
        )}
      </LoadView>
    </>
  );
}
