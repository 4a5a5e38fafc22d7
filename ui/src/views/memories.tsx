/** Memories: a list with filters, and one memory with its versions, its evidence, and what a person can decide about it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { Caller, Erasure, Memory } from '../../../integrations/typescript/src/operations';
import { api, canConfirm, confirm, correct, isLearnt, useLoad } from '../api';
import { Forget, Proof } from '../forget';
import type { View } from '../main';
import { Action, Badge, Empty, Field, Gaps, LoadView, Meter, Select, Status, Time, Trust } from '../parts';
import { PAGE, Rows, useRows } from '../list';
import { RecordLink } from '../record';
import { read, setParams } from '../route';

const KINDS: Array<[string, string]> = [
  ['', 'all'], ['knowledge', 'knowledge'], ['preference', 'preferences'], ['anti_pattern', 'anti-patterns'],
  ['tool', 'tools'], ['insight', 'insights'],
];
const STATUSES: Array<[string, string]> = [
  ['', 'active'], ['candidate', 'to review'], ['archived', 'archived'], ['superseded', 'superseded'],
  ['rejected', 'rejected'], ['expired', 'expired'], ['all', 'all'],
];

const CORRECTED = 'Corrected: these are your words now, and the old ones are rejected.';
const REJECTED = 'The old words are rejected. Yours are in the log, and nothing was learnt from them.';

/** The tag of what stands in every context. */
const PINNED = 'pinned';

export function Memories({ space, params, tick, caller }: View) {
  const [kind, status, q] = ['kind', 'status', 'q'].map((name) => params.get(name) ?? '') as [string, string, string];
  const chosen = params.get('id') ?? '';
  const [text, setText] = useState(q);
  const [done, setDone] = useState({ id: '', words: '' });
  useEffect(() => setText(q), [q]);
  const list = useRows<Memory>(
    (cursor) => api.memoryList(space, { kind, status, q, cursor, limit: PAGE }),
    [space, kind, status, q],
    tick,
  );
  return (
    <>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          setParams({ q: text.trim() });
        }}
      >
        <Field label="Containing">
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </Field>
        <Select label="Kind" value={kind} options={KINDS} set={(value) => setParams({ kind: value })} />
        <Select label="Status" value={status} options={STATUSES} set={(value) => setParams({ status: value })} />
        <button>Filter</button>
      </form>
      <Gaps gaps={list.gaps} />
      <div class={`master ${chosen ? 'has-detail' : ''}`}>
        <section aria-label="List">
          <Rows rows={list} name="Memories" chosen={chosen} choose={(memory) => setParams({ id: memory.id, edit: undefined })}
            empty={
              <Empty>
                No memory fits. Agents store them, and so do you: <code>mnemal -s {space} remember "…"</code>
              </Empty>
            }>
            {(memory) => (
              <>
                <span class="said">{memory.content}</span>
                <span class="meta">
                  <Trust trust={memory.trust} /> {memory.kind}
                  {memory.status !== 'active' && <Status status={memory.status} />} · <Time at={memory.occurred_at} />
                </span>
              </>
            )}
          </Rows>
        </section>
        {chosen && <Detail key={chosen} space={space} id={chosen} tick={tick} caller={caller} isEdited={params.get('edit') === 'yes'}
          done={done.id === chosen ? done.words : ''}
          changed={(id, words) => {
            setDone({ id, words });
            // Whoever has opened another memory meanwhile stays there.
            if (read(location.hash).params.get('id') === chosen) setParams({ id, edit: undefined });
            list.reload();
          }} />}
      </div>
    </>
  );
}

function Detail({ space, id, tick, changed, done, caller, isEdited }: {
  space: string;
  id: string;
  tick: number;
  /** Whether it opens to be corrected. */
  isEdited: boolean;
  /** Says what was done to the memory, which may have another id since. */
  changed: (id: string, words: string) => void;
  done: string;
  caller: Caller;
}) {
  const [erasure, setErasure] = useState<Erasure>();
  const [mode, setMode] = useState<'read' | 'edit' | 'forget'>(isEdited && caller.class === 'app' ? 'edit' : 'read');
  // What is being erased is not asked for again, though the log tells of a change.
  const seen = useRef(tick);
  if (mode !== 'forget') seen.current = tick;
  const load = useLoad(erasure ? undefined : () => api.memoryGet(space, id), [space, id, seen.current]);
  /** Does something, says so, and shows what is there now. */
  const then = (words: string, work: () => Promise<unknown>) => async () => {
    const next = await work();
    setMode('read');
    load.reload();
    changed(typeof next === 'string' ? next : id, words);
  };
  const may = (right: string) => caller.rights.includes(right) || caller.rights.includes('admin');
  const [mayWrite, mayErase] = [may('write'), may('erase')];
  return (
    <section class="detail" aria-label="Memory">
      <button type="button" class="back" onClick={() => setParams({ id: undefined })}>
        ← All memories
      </button>
      {erasure && <Proof erasure={erasure} />}
      {!erasure && <LoadView load={load}>
        {(memory) => (
          <>
            {mode === 'edit' ? (
              <Edit memory={memory} cancel={() => setMode('read')}
                save={async (content) => {
                  if (isLearnt(memory)) {
                    const next = await correct(space, memory, content);
                    await then(next ? CORRECTED : REJECTED, async () => next)();
                    return;
                  }
                  await then('Saved as a new version.', async () => {
                    const patch = { content, if_version: memory.version, writer: 'application' };
                    return (await api.memoryEdit(space, memory.id, patch)).id;
                  })();
                }}
              />
            ) : (
              <p class="said big">{memory.content}</p>
            )}
            {done && (
              <p class="bar good" role="status">
                {done}
              </p>
            )}
            <p class="meta">
              <Status status={memory.status} /> <Trust trust={memory.trust} /> {memory.kind} · {memory.category} ·{' '}
              <Time at={memory.occurred_at} />
            </p>
            <dl class="facts">
              {memory.key && <Row name="Key">{memory.key}</Row>}
              <Row name="Version">{memory.version}</Row>
              <Row name="Basis">{memory.basis === 'told' ? 'stated' : 'inferred'}</Row>
              <Row name="Confidence">
                <Meter value={memory.confidence} label="confidence" />
              </Row>
              <Row name="Weight now">
                <Meter value={memory.weight} label="weight" />
              </Row>
              {memory.expires_at && (
                <Row name="Holds until">
                  <Time at={memory.expires_at} />
                </Row>
              )}
              {memory.speaker && <Row name="Said by">{memory.speaker}</Row>}
              {memory.user && <Row name="User">{memory.user}</Row>}
              {memory.tags.length > 0 && (
                <Row name="Tags">
                  {memory.tags.map((tag) => (
                    <Badge key={tag}>{tag}</Badge>
                  ))}
                </Row>
              )}
              <Row name="Conversation">{memory.session}</Row>
            </dl>
            <p>
              <RecordLink id={memory.id}>The words it rests on</RecordLink>
            </p>
            {mode === 'read' && mayWrite && (
              <div class="row">
                {(!isLearnt(memory) || caller.class === 'app') && (
                  <button type="button" onClick={() => setMode('edit')}>
                    {isLearnt(memory) ? 'Correct' : 'Edit'}
                  </button>
                )}
                {canConfirm && caller.class === 'app' && (memory.status === 'candidate' || memory.trust !== 'user') && (
                  <Action work={then('Confirmed: it counts as your own words.', () => confirm(space, memory))}>
                    Confirm
                  </Action>
                )}
                {caller.class === 'app' && memory.status === 'active' && memory.kind !== 'tool' && (
                  memory.tags.includes(PINNED) ? (
                    <Action work={then('Unpinned; it stays.', async () => (await api.memoryUnpin(space, memory.id)).id)}>Unpin</Action>
                  ) : (
                    <Action work={then('Pinned: it stands in every context.', async () => (await api.memoryPin(space, memory.id)).id)}>
                      Pin
                    </Action>
                  )
                )}
                {['archived', 'rejected'].includes(memory.status) ? (
                  <Action work={then('Restored.', () => api.memoryRestore(space, memory.id))}>Restore</Action>
                ) : (
                  <Action work={then('Archived; it can be restored.', () => api.memoryArchive(space, memory.id))}>
                    Archive
                  </Action>
                )}
                {memory.status !== 'rejected' && (
                  <Action work={then('Rejected; it can be restored.', () => api.memoryReject(space, memory.id))}>
                    Reject
                  </Action>
                )}
              </div>
            )}
            <Versions space={space} id={id} version={memory.version} />
            {mayErase && mode !== 'forget' && (
              <div class="danger-zone">
                <button type="button" class="danger" onClick={() => setMode('forget')}>
                  Forget…
                </button>
                <span class="muted">erases it in every layer; there is no undo</span>
              </div>
            )}
            {mode === 'forget' && (
              <Forget space={space} selector={{ id: memory.id }} cancel={() => setMode('read')} done={(gone) => {
                setErasure(gone);
                changed(id, '');
              }} />
            )}
          </>
        )}
      </LoadView>}
    </section>
  );
}

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Edit({ memory, save, cancel }: { memory: Memory; save: (content: string) => Promise<void>; cancel: () => void }) {
  const [content, setContent] = useState(memory.content);
  const words = useRef<HTMLTextAreaElement>(null);
  // Before the next key arrives, or its letter is lost.
  useLayoutEffect(() => words.current?.focus(), []);
  return (
    <div class="edit">
      <Field label="Words">
        <textarea ref={words} rows={5} value={content} onInput={(event) => setContent(event.currentTarget.value)} />
      </Field>
      {isLearnt(memory) && <p class="meta">It was read in what you said. What you write here counts as said by you now.</p>}
      <div class="row">
        <Action kind="primary" work={() => save(content)} isOff={!content.trim() || content === memory.content}>
          Save
        </Action>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

/** Earlier versions, each with what became different in the next one. */
function Versions({ space, id, version }: { space: string; id: string; version: number }) {
  const load = useLoad(() => api.memoryHistory(space, id), [space, id, version]);
  return (
    <details class="versions">
      <summary>Versions</summary>
      <LoadView load={load}>
        {({ items }) => (
          <ol class="list">
            {items.map((one, place) => (
              <li key={one.id + one.version}>
                <p class="meta">
                  version {one.version} · <Time at={one.created_at} /> · <Status status={one.status} />
                </p>
                <Difference before={items[place + 1]?.content} after={one.content} />
              </li>
            ))}
          </ol>
        )}
      </LoadView>
    </details>
  );
}

/** Marks the words between the common beginning and the common end of two texts. */
function Difference({ before, after }: { before: string | undefined; after: string }) {
  if (before === undefined || before === after) return <p class="said">{after}</p>;
  const [old, now] = [before.split(/(?<=\s)/), after.split(/(?<=\s)/)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const cut = (words: string[]) => words.slice(start, words.length - end).join('');
  return (
    <p class="said">
      {now.slice(0, start).join('')}
      {cut(old) && <del>{cut(old)}</del>} {cut(now) && <ins>{cut(now)}</ins>}
      {now.slice(now.length - end).join('')}
    </p>
  );
}
