/** One record: what it says, the sentence it rests on in its turn, and why a context had it. */
import { useState } from 'preact/hooks';

import type { Event, Line, Omitted, Words } from '../../integrations/typescript/src/operations';
import { api, useLoad } from './api';
import { Action, Badge, Empty, LoadView, Panel, Time, Trust, score } from './parts';
import { link, setParams } from './route';

/** Why a line is in a context. */
const BECAUSE: { [code: string]: string } = {
  pinned: 'it is pinned',
  explicit_preference: 'the user said how it should be',
  query: 'it fits the question',
  time: 'it is of the time that is asked about',
  recent: 'it is recent',
  importance: 'it is important',
  section: 'its section always has it',
};

/** Why a record is not in a context. */
const REASONS: { [code: string]: string } = {
  budget: 'no room left in the budget',
  section_full: 'its section is full',
  below_floor: 'scored too low',
  superseded: 'something newer took its place',
  duplicate: 'the same words are there already',
  already_injected: 'shown to the conversation before',
  quarantined: 'held back by a rule',
  expired: 'it no longer holds',
  archived: 'archived',
  scope: 'of another scope',
};

export function because(line: Line): string {
  return BECAUSE[line.because] ?? line.because.replaceAll('_', ' ');
}

export function reason(omitted: Omitted): string {
  return REASONS[omitted.reason] ?? omitted.reason.replaceAll('_', ' ');
}

/** Opens a record beside the view. */
export function RecordLink({ id, receipt, children }: { id: string; receipt?: string; children?: string }) {
  return (
    <button type="button" class="link" onClick={() => setParams({ record: id, receipt })}>
      {children ?? id}
    </button>
  );
}

/** The words of an event with the sentence marked; places are bytes of UTF-8. */
export function SentenceInTurn({ text, start, end }: { text: string; start: number; end: number }) {
  const all = new TextEncoder().encode(text);
  const part = (from: number, to: number) => new TextDecoder().decode(all.slice(from, to));
  return (
    <blockquote>
      {part(0, start)}
      <mark>{part(start, end)}</mark>
      {part(end, all.length)}
    </blockquote>
  );
}

function Evidence({ space, words }: { space: string; words: Words }) {
  const event = useLoad(() => api.eventGet(space, words.event), [space, words.event]);
  return (
    <section class="evidence">
      <p class="meta">
        <Time at={words.at} /> {words.speaker && <Badge>{words.speaker}</Badge>}
        <SessionOf space={space} event={event.data} />
      </p>
      <LoadView load={event}>
        {(whole) =>
          whole.content ? (
            <SentenceInTurn text={whole.content} start={words.start} end={words.end} />
          ) : (
            <blockquote>{words.text}</blockquote>
          )
        }
      </LoadView>
    </section>
  );
}

function SessionOf({ space, event }: { space: string; event: Event | undefined }) {
  if (!event?.session) return null;
  return (
    <a href={link(space, 'timeline', { session: event.session, event: event.id })}>in conversation {event.session}</a>
  );
}

export function Record({ space, id, recall, close }: {
  space: string;
  id: string;
  recall: string | undefined;
  close: () => void;
}) {
  const why = useLoad(() => api.why(space, id, { recall }), [space, id, recall]);
  const [verdict, setVerdict] = useState('');
  const judge = (given: string) => async () => {
    if (!recall) return;
    await api.recallFeedback(space, recall, { item_id: id, verdict: given });
    setVerdict(given);
    why.reload();
  };
  return (
    <Panel title="Where it comes from" close={close}>
      <LoadView load={why}>
        {(told) => (
          <>
            <p class="said">{told.text}</p>
            <p class="meta">
              <code>{told.id}</code>
              {told.producer && <> · made by {told.producer}</>}
            </p>
            {told.line && (
              <dl class="facts">
                <dt>In the context because</dt>
                <dd>{because(told.line)}</dd>
                <dt>Score</dt>
                <dd class="num">{score(told.line.score)}</dd>
                <dt>Tokens</dt>
                <dd class="num">{told.line.tokens}</dd>
                <dt>Trust</dt>
                <dd>
                  <Trust trust={told.line.trust} />
                </dd>
              </dl>
            )}
            {told.omitted && <p class="bar warn">Left out of the context: {reason(told.omitted)}.</p>}
            <h3>The words it rests on</h3>
            {told.evidence.length === 0 && <Empty>It rests on no words of the log.</Empty>}
            {told.evidence.map((words) => (
              <Evidence key={`${words.event}${words.start}`} space={space} words={words} />
            ))}
            {told.weighing && (
              <p class="meta">
                {told.weighing.claims} claims by {told.weighing.voices} speakers; {told.weighing.values}{' '}
                different values.
              </p>
            )}
            {told.feedback.length > 0 && (
              <>
                <h3>What it was found to be</h3>
                <ul class="bare">
                  {told.feedback.map((one) => (
                    <li key={one.event_id}>
                      <Badge tone={one.verdict === 'useful' ? 'good' : 'warn'}>{one.verdict}</Badge> <Time at={one.at} />
                    </li>
                  ))}
                </ul>
              </>
            )}
            {recall && (
              <>
                <h3>Was it right to show it?</h3>
                <div class="row">
                  <Action work={judge('useful')}>Useful</Action>
                  <Action work={judge('irrelevant')}>Irrelevant</Action>
                  <Action work={judge('wrong')}>Wrong</Action>
                  {verdict && <span role="status">Noted: {verdict}.</span>}
                </div>
              </>
            )}
            {told.id.startsWith('mem_') && <a href={link(space, 'memories', { id: told.id })}>Open it in Memories</a>}
          </>
        )}
      </LoadView>
    </Panel>
  );
}
