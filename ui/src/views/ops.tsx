/** Operations: jobs, what the dream would do and did, import and export, keys, settings. */
import { useEffect, useRef, useState } from 'preact/hooks';

import type { Imported, IssuedKey, JobForm, Key } from '../../../integrations/typescript/src/operations';
import { SENT, api, useLoad, waitForEnd } from '../api';
import { Bars } from '../bars';
import type { View } from '../main';
import { Action, Badge, Empty, Field, Gaps, LoadView, Select, Status, Time, bytes, number } from '../parts';

/** One thing that a dream did, or would do. */
interface Operation {
  event_id: string | null;
  operation: string;
  by: string;
  because: string;
  notes: string[];
  entities: string[];
}

/** The bytes of each layer; measured when somebody asks, because it reads the whole file. */
function Sizes({ space }: { space: string }) {
  const [isAsked, ask] = useState(false);
  const load = useLoad(isAsked ? () => api.stats(space, { sizes: true }) : undefined, [space, isAsked]);
  return (
    <section aria-label="Size by layer">
      <h2>Size by layer</h2>
      {!isAsked && (
        <button type="button" onClick={() => ask(true)}>
          Measure
        </button>
      )}
      <LoadView load={load}>
        {({ sizes }) =>
          sizes ? (
            <Bars head={['Layer', 'On disk']} rows={sizes.map((one) => ({ name: one.layer, value: one.bytes, text: bytes(one.bytes) }))} />
          ) : (
            <Empty>This space has no file of its own: the database that holds it tells its size.</Empty>
          )
        }
      </LoadView>
    </section>
  );
}

export function Ops({ space, tick, caller }: View) {
  const jobs = useLoad(() => api.jobList(space), [space, tick]);
  const may = (right: string) => caller.rights.includes(right) || caller.rights.includes('admin');
  return (
    <div class="columns wide">
      <div>
        {may('write') && <Dream space={space} changed={jobs.reload} />}
        <section>
          <h2>Jobs</h2>
          <p class="meta">Since the server was started, newest first.</p>
          <LoadView load={jobs}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty>No job was asked for yet.</Empty>
              ) : (
                <ul class="list">
                  {items.map((job) => (
                    <li key={job.id} class="line">
                      <span>
                        {job.kind} <Status status={job.state} />
                      </span>
                      <span class="meta">
                        <Time at={job.created_at} />
                        {job.error && <> · {job.error}</>}
                      </span>
                    </li>
                  ))}
                </ul>
              )
            }
          </LoadView>
        </section>
      </div>
      <div>
        {may('write') && <Import space={space} isApp={caller.class === 'app'} />}
        <section>
          <h2>Export</h2>
          <p class="meta">Everything, without loss, as JSON lines.</p>
          <a class="button" href={`/v1/spaces/${encodeURIComponent(space)}/export`} download={`${space}.jsonl`}>
            Download
          </a>
        </section>
        <Sizes space={space} />
        {may('admin') && <Keys space={space} />}
        {may('admin') && <Settings />}
      </div>
    </div>
  );
}

function Dream({ space, changed }: { space: string; changed: () => void }) {
  const [done, setDone] = useState<{ operations: Operation[]; isDry: boolean }>();
  const [undone, setUndone] = useState<string[]>([]);
  const [seconds, setSeconds] = useState<number>();
  /** Waits for a job, and says meanwhile for how long it runs. */
  const wait = async (begun: JobForm) => {
    const since = performance.now();
    changed();
    try {
      return await waitForEnd(space, begun, () => setSeconds(Math.floor((performance.now() - since) / 1000)));
    } finally {
      setSeconds(undefined);
    }
  };
  const run = (isDry: boolean) => async () => {
    setDone(undefined);
    try {
      const job = await wait(await api.dream(space, { dry_run: isDry }));
      const result = (job.result ?? {}) as { operations?: Operation[] };
      setDone({ operations: result.operations ?? [], isDry });
    } finally {
      changed();
    }
  };
  const undo = (event: string) => async () => {
    await api.decisionUndo(space, event);
    setUndone((before) => [...before, event]);
  };
  return (
    <section>
      <h2>Dream</h2>
      <p class="meta">Looks over the notes: folds copies, puts away what has ended, connects what belongs together.</p>
      <div class="row">
        <Action work={run(true)}>Show what it would do</Action>
        <Action work={run(false)}>Do it now</Action>
        <Action
          work={async () => {
            try {
              await wait(await api.consolidate(space));
            } finally {
              changed();
            }
          }}
        >
          Consolidate now
        </Action>
      </div>
      {seconds !== undefined && (
        <p class="meta" role="status">
          It runs for {number(seconds)} s. You may leave this page: it goes on.
        </p>
      )}
      {done && (
        <div role="status">
          <h3>
            {done.isDry ? 'It would do' : 'It did'} {done.operations.length === 0 ? 'nothing' : ''}
          </h3>
          <ul class="list">
            {done.operations.map((one, place) => (
              <li key={place}>
                <p class="said">
                  <Badge>{one.operation.replaceAll('_', ' ')}</Badge> {one.because}
                </p>
                <p class="meta">{[...one.notes, ...one.entities].join(', ')}</p>
                {one.event_id && !done.isDry && (
                  undone.includes(one.event_id) ? (
                    <Badge tone="good">taken back</Badge>
                  ) : (
                    <Action work={undo(one.event_id)}>Undo</Action>
                  )
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** Formats of an import, by the name that the server knows. */
const FORMATS: Array<[string, string]> = [
  ['auto', 'detect'], ['chatgpt', 'ChatGPT export'], ['claude', 'Claude export'], ['claude-code', 'Claude Code'],
  ['codex', 'Codex'], ['openai', 'OpenAI messages'], ['mem0', 'mem0'], ['mcp-memory', 'MCP memory server'],
  ['neutral', 'neutral JSON lines'],
];

/** For whom a speaker is taken. */
const WHOSE: { [code: string]: string } = {
  user: 'your words',
  name: 'a person by this name',
  other: 'somebody else',
  assistant: 'the assistant',
  tool: 'a tool',
  nobody: 'nobody',
};

function Import({ space, isApp }: { space: string; isApp: boolean }) {
  const [file, setFile] = useState<File>();
  const [format, setFormat] = useState('auto');
  const [isOwn, setOwn] = useState(false);
  const [told, setTold] = useState<{ report: Imported; isDry: boolean }>();
  const [part, setPart] = useState<number>();
  const round = useRef(0);
  useEffect(() => {
    const sent = (event: Event) => setPart((event as CustomEvent<number>).detail);
    addEventListener(SENT, sent);
    return () => removeEventListener(SENT, sent);
  }, []);
  const read = (isDry: boolean) => async () => {
    const mine = ++round.current;
    setPart(0);
    try {
      const report = await api.import(space, { lines: file!, format, own_history: isOwn || undefined, dry_run: isDry });
      // What was chosen meanwhile has a preview of its own.
      if (mine === round.current) setTold({ report, isDry });
    } finally {
      setPart(undefined);
    }
  };
  useEffect(() => {
    const wasPreviewed = told?.isDry && file;
    setTold(undefined);
    round.current++;
    // Whom the speakers are taken for follows what is ticked.
    if (wasPreviewed) read(true)().catch(() => undefined);
  }, [file, format, isOwn]);
  return (
    <section>
      <h2>Import</h2>
      <Field label="File, or the zip of an export">
        <input type="file" onChange={(event) => setFile(event.currentTarget.files?.[0])} />
      </Field>
      <Select label="Format" value={format} options={FORMATS} set={setFormat} />
      {isApp && (
        <label class="check">
          <input type="checkbox" checked={isOwn} onChange={(event) => setOwn(event.currentTarget.checked)} />
          <span>It is my own history: what people say in it counts as the user’s words. Without it, it is hearsay.</span>
        </label>
      )}
      <div class="row">
        <Action work={read(true)} isOff={!file}>
          Preview
        </Action>
        <Action kind="primary" work={read(false)} isOff={!told?.isDry}>
          Import
        </Action>
      </div>
      {part !== undefined && (
        <p class="meta" role="status">
          <progress aria-label="Sent" max={1} value={part} /> {part < 1 ? `${Math.round(part * 100)} % sent` : 'All is sent; it is being read.'}
        </p>
      )}
      {told && (
        <div role="status">
          <h3>{told.isDry ? 'It would store' : 'Stored'}</h3>
          <Gaps gaps={told.report.gaps} />
          <dl class="facts">
            <dt>read as</dt>
            <dd>{told.report.format}</dd>
            {told.report.files > 1 && (
              <>
                <dt>files</dt>
                <dd class="num">{number(told.report.files)}</dd>
              </>
            )}
            <dt>events</dt>
            <dd class="num">{number(told.report.stored)}</dd>
            <dt>there already</dt>
            <dd class="num">{number(told.report.duplicates)}</dd>
            <dt>forgotten before</dt>
            <dd class="num">{number(told.report.forgotten)}</dd>
            <dt>secrets replaced</dt>
            <dd class="num">{number(told.report.redactions)}</dd>
            <dt>not understood</dt>
            <dd class="num">{number(told.report.broken)}</dd>
          </dl>
          {told.isDry && (told.report.speakers ?? []).length > 0 && (
            <>
              <h4>Who speaks</h4>
              <ul class="list speakers">
                {told.report.speakers!.map((one) => (
                  <li key={one.name + one.whose} class="line">
                    <span class="said">{one.name}</span>
                    <span class="meta">
                      <Badge tone={one.whose === 'user' ? 'good' : 'plain'}>{WHOSE[one.whose] ?? one.whose}</Badge>{' '}
                      <span class="num">{number(one.records)}</span> records
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )}
          <ul>
            {told.report.reasons.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Keys({ space }: { space: string }) {
  const load = useLoad(() => api.keyList(), []);
  const [issued, setIssued] = useState<IssuedKey>();
  const [name, setName] = useState('');
  const [right, setRight] = useState('write');
  const [kind, setKind] = useState('agent');
  const [revoking, setRevoking] = useState('');
  const create = async () => {
    setIssued(await api.keyCreate({ name: name.trim(), rights: [right], class: kind, spaces: [space] }));
    setName('');
    load.reload();
  };
  const revoke = (key: Key) => async () => {
    await api.keyRevoke(key.id);
    setRevoking('');
    load.reload();
  };
  return (
    <section>
      <h2>Keys</h2>
      <LoadView load={load}>
        {({ items }) => (
          <>
          {items.length === 0 && <Empty>There is no key yet; programs of this machine use the local one.</Empty>}
          <ul class="list">
            {items.map((key) => (
              <li key={key.id} class="key">
                <span>
                  {key.name} <Badge>{key.class}</Badge> {key.revoked_at && <Badge tone="bad">revoked</Badge>}
                </span>
                <span class="meta">
                  {key.rights.join(', ')} · {key.spaces ? key.spaces.join(', ') : 'all spaces'} · <Time at={key.created_at} />
                </span>
                {!key.revoked_at && revoking !== key.id && (
                  <button type="button" onClick={() => setRevoking(key.id)}>
                    Revoke…
                  </button>
                )}
                {revoking === key.id && (
                  <div class="row spread">
                    <button type="button" onClick={() => setRevoking('')}>
                      Keep it
                    </button>
                    <Action kind="danger" work={revoke(key)}>
                      Revoke for good
                    </Action>
                  </div>
                )}
              </li>
            ))}
          </ul>
          </>
        )}
      </LoadView>
      <h3>A new key for {space}</h3>
      <div class="ask">
        <Field label="Name">
          <input value={name} maxLength={64} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Select label="Right" value={right} set={setRight} options={[['read', 'read'], ['write', 'write'], ['erase', 'erase']]} />
        <Select label="For" value={kind} set={setKind} options={[['agent', 'an agent'], ['app', 'a program of the user']]} />
        <Action work={create} isOff={!name.trim()}>
          Create key
        </Action>
      </div>
      {issued && (
        <div class="bar good" role="status">
          <div>
            It is shown this once:
            <pre class="exact" tabIndex={0} aria-label="New key">{issued.secret}</pre>
          </div>
        </div>
      )}
    </section>
  );
}

/** Every setting in effect, with its origin: what somebody set comes first. */
function Settings() {
  const load = useLoad(() => api.settingList(), []);
  const [isAll, showAll] = useState(false);
  return (
    <section>
      <h2>Settings</h2>
      <LoadView load={load}>
        {({ items }) => {
          const set = items.filter((one) => one.origin !== 'default');
          const shown = isAll ? items : set;
          return (
            <>
              <p class="meta">Of a secret only whether it is set. They change with the next start of the server.</p>
              {shown.length === 0 && <Empty>Every setting has its default.</Empty>}
              {shown.length > 0 && (
                <div class="scroll" role="region" aria-label="Settings" tabIndex={0}>
                  <table>
                    <thead>
                      <tr>
                        <th scope="col">Name</th>
                        <th scope="col">Value</th>
                        <th scope="col">From</th>
                      </tr>
                    </thead>
                    <tbody>
                      {shown.map((one) => (
                        <tr key={one.name}>
                          <th scope="row">{one.name}</th>
                          <td>
                            <code>{JSON.stringify(one.value)}</code>
                          </td>
                          <td>
                            {one.origin} {one.from}
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
              {set.length < items.length && (
                <button type="button" onClick={() => showAll(!isAll)}>
                  {isAll ? 'Only what was set' : `Show all ${number(items.length)}`}
                </button>
              )}
            </>
          );
        }}
      </LoadView>
    </section>
  );
}
