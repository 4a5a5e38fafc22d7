/** Summaries as a tree with what they do not know yet, and how the user wants things. */
import { useMemo, useState } from 'preact/hooks';

import type { Memory, Summary } from '../../../integrations/typescript/src/operations';
import { Action, Badge, Empty, Gaps, Meter, Problem, Time, Trust, number } from '../parts';
import { api, usePages } from '../api';
import { Fading, decayOf } from '../fading';
import { Paged } from '../list';
import type { View } from '../main';
import { RecordLink } from '../record';
import { link } from '../route';

/** Records of a page. */
const PAGE = 100;

export function Summaries({ space, tick, caller }: View) {
  const mayWrite = caller.class === 'app' && (caller.rights.includes('write') || caller.rights.includes('admin'));
  const [retired, setRetired] = useState<Memory>();
  const summaries = usePages<Summary>((cursor) => api.summaryList(space, { cursor, limit: PAGE }), [space, tick]);
  const preferences = usePages<Memory>((cursor) => api.preferenceList(space, { cursor, limit: PAGE }), [space, tick]);
  const decay = useMemo(() => decayOf(preferences.items ?? [], Date.now()), [preferences.items?.length, preferences.data]);
  const all = summaries.items ?? [];
  const keys = new Set(all.map((one) => one.key));
  const roots = all.filter((one) => !one.parent_key || !keys.has(one.parent_key));
  return (
    <div class="columns">
      <section>
        <h2>Summaries</h2>
        <Problem error={summaries.error} again={summaries.reload} />
        <Gaps gaps={summaries.gaps} />
        {summaries.items?.length === 0 && <Empty>Nothing is summarized yet.</Empty>}
        <ul class="tree">
          {roots.map((root) => (
            <Node key={root.key} node={root} all={all} space={space} depth={0} />
          ))}
        </ul>
        {summaries.loadMore && <Action work={summaries.loadMore}>More</Action>}
      </section>
      <section>
        <h2>Preferences</h2>
        {retired && (
          <div class="bar good" role="status">
            <span>Retired: {retired.content}</span>
            <Action
              work={async () => {
                await api.memoryRestore(space, retired.id);
                setRetired(undefined);
                preferences.reload();
              }}
            >
              Undo
            </Action>
          </div>
        )}
        <Paged pages={preferences} empty="The user has not said yet how things should be.">
          {(one) => (
            <>
              <p class="said">
                <a href={link(space, 'memories', { id: one.id, kind: 'preference' })}>{one.content}</a>
              </p>
              <p class="meta">
                <Trust trust={one.trust} /> {one.basis === 'told' ? 'said' : 'inferred'}
                {one.speaker && <> by {one.speaker}</>}
                {one.supports && <> · {number(one.supports)}×</>} · <Time at={one.occurred_at} />
                {one.expires_at && (
                  <>
                    {' '}
                    · until <Time at={one.expires_at} />
                  </>
                )}
                {one.requires_user_permission && <Badge tone="warn">asks first</Badge>}
              </p>
              <p class="meta">
                weight now <Meter value={one.weight} label="weight" /> ·{' '}
                <RecordLink id={one.id}>source</RecordLink>
              </p>
              <Fading memory={one} decay={decay} />
              {mayWrite && (
                <div class="row">
                  <a class="button" href={link(space, 'memories', { id: one.id, kind: 'preference', edit: 'yes' })}>
                    Edit
                  </a>
                  <Action
                    work={async () => {
                      await api.memoryArchive(space, one.id);
                      setRetired(one);
                      preferences.reload();
                    }}
                  >
                    Retire
                  </Action>
                </div>
              )}
            </>
          )}
        </Paged>
      </section>
    </div>
  );
}

function Node({ node, all, space, depth }: { node: Summary; all: Summary[]; space: string; depth: number }) {
  const below = all.filter((one) => one.parent_key === node.key);
  return (
    <li>
      <details open={depth === 0}>
        <summary>
          <code>{node.key}</code> <span class="muted num">{number(node.event_count)} events</span>{' '}
          {node.behind > 0 && <Badge tone="warn">{number(node.behind)} behind</Badge>}
        </summary>
        <p class="said">{node.text}</p>
        <p class="meta">
          {node.method === 'model' ? 'written by a model' : 'sentences that were said'} · <Time at={node.updated_at} />
          {node.source_event_ids.slice(0, 3).map((id, place) => (
            <span key={id}>
              {' '}
              · <RecordLink id={id}>{`source ${place + 1}`}</RecordLink>
            </span>
          ))}
        </p>
        {below.length > 0 && (
          <ul class="tree">
            {below.map((one) => (
              <Node key={one.key} node={one} all={all} space={space} depth={depth + 1} />
            ))}
          </ul>
        )}
      </details>
    </li>
  );
}
