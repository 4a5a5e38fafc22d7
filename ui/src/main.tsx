/** The frame: login, navigation, space switcher, and the view of the address. */
import { render, type FunctionComponent } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

import type { Caller, Space } from '../../integrations/typescript/src/operations';
import { LOGGED_OUT, api, askEarly, refusal, useLive, useLoad, type Refusal } from './api';
import { Action, Field, Loading, Problem } from './parts';
import { Record } from './record';
import { link, read, setParams, useRoute } from './route';
import './style.css';
import { ContextPreview } from './views/context';
import { Graph } from './views/graph';
import { Memories } from './views/memories';
import { Ops } from './views/ops';
import { RecallLab } from './views/recall';
import { ReportView } from './views/report';
import { Summaries } from './views/summaries';
import { Timeline } from './views/timeline';
import { Today } from './views/today';

/** What each view is given. */
export interface View {
  space: string;
  params: URLSearchParams;
  /** Counts up when something is stored or changed. */
  tick: number;
  caller: Caller;
}

const VIEWS: Array<[string, string, FunctionComponent<View>]> = [
  ['today', 'Today', Today],
  ['recall', 'Recall lab', RecallLab],
  ['context', 'Context preview', ContextPreview],
  ['memories', 'Memories', Memories],
  ['timeline', 'Timeline', Timeline],
  ['graph', 'Graph', Graph],
  ['summaries', 'Summaries & preferences', Summaries],
  ['report', 'Report', ReportView],
  ['ops', 'Operations', Ops],
];

function Login({ done, error }: { done: (caller: Caller) => void; error: Refusal | undefined }) {
  const [key, setKey] = useState('');
  const [failed, setFailed] = useState(error);
  useEffect(() => setFailed(error), [error]);
  const submit = async () => {
    try {
      done(await api.login({ key: key.trim() }));
    } catch (refused) {
      setFailed(refusal(refused));
    }
  };
  return (
    <main class="login">
      <h1>mnemal</h1>
      <p>
        Run <code>mnemal ui</code> on the machine of the server: it opens this page and logs you in. Or enter a key;{' '}
        <code>mnemal key local</code> prints the one of this machine.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field label="Key">
          <input type="password" value={key} autocomplete="off" spellcheck={false} placeholder="mnk_…"
            onInput={(event) => setKey(event.currentTarget.value)} />
        </Field>
        <button class="primary" disabled={!key.trim()}>
          Log in
        </button>
      </form>
      <Problem error={failed} />
      <p class="muted">The page keeps no key: the server gives the browser a session that no script can read.</p>
    </main>
  );
}

/** Takes a one-time code out of the address, so that it stands in no history. */
function takeCode(): string | undefined {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, '', location.pathname);
  return code;
}

function App() {
  const [caller, setCaller] = useState<Caller | null>();
  const [error, setError] = useState<Refusal>();
  useLayoutEffect(() => {
    const code = takeCode();
    // With a code that was used before, the session that it began may still be there.
    const begin = code
      ? api.login({ code }).catch((failed: unknown) => api.loginGet().catch(() => Promise.reject(failed)))
      : api.loginGet();
    begin.then(setCaller, (failed: unknown) => {
      const refused = refusal(failed);
      setCaller(null);
      setError(refused.status === 401 && !code ? undefined : refused);
    });
    const loggedOut = () => setCaller(null);
    addEventListener(LOGGED_OUT, loggedOut);
    return () => removeEventListener(LOGGED_OUT, loggedOut);
  }, []);
  if (caller === undefined) return <Loading />;
  if (caller === null) return <Login done={setCaller} error={error} />;
  return <Frame caller={caller} logOut={() => setCaller(null)} />;
}

function Frame({ caller, logOut }: { caller: Caller; logOut: () => void }) {
  const route = useRoute();
  const spaces = useLoad(() => api.spaceList(), []);
  const names = spaces.data?.items.map((one: Space) => one.name) ?? [];
  const space = route.space || names[0] || '';
  const live = useLive(space);
  const found = VIEWS.find(([id]) => id === route.view);
  const [, title, Shown] = found ?? VIEWS[0]!;
  useEffect(() => {
    document.title = `${title} · ${space || 'mnemal'}`;
  }, [title, space]);
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => {
        event.preventDefault();
        document.getElementById('content')?.focus();
      }}>
        Skip to content
      </a>
      <header class="top">
        <strong class="brand">mnemal</strong>
        <label class="spaces">
          <span class="muted">Space</span>
          <select value={space} aria-label="Space" onChange={(event) => (location.hash = link(event.currentTarget.value, route.view))}>
            {!names.includes(space) && <option value={space}>{space || 'none'}</option>}
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <span class={`live ${live.isLive ? 'on' : ''}`} role="status">
          {live.isLive ? 'live' : 'not live'}
        </span>
        <span class="grow" />
        <span class="muted who" title={`rights: ${caller.rights.join(', ')}`}>
          {caller.user ? `${caller.user} · ` : ''}
          {caller.id}
        </span>
        {caller.id !== 'open' && (
          <Action work={async () => {
            await api.logout();
            logOut();
          }}>
            Log out
          </Action>
        )}
      </header>
      <div class="frame">
        <nav aria-label="Views">
          {VIEWS.map(([id, name]) => (
            <a key={id} href={link(space, id)} aria-current={id === route.view ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <main id="content" tabIndex={-1}>
          <h1>{title}</h1>
          <Problem error={spaces.error} again={spaces.reload} />
          {!space && spaces.data && (
            <div class="empty">
              There is no space yet. Store something first: <code>mnemal remember "Deploys happen on Tuesdays"</code>
            </div>
          )}
          {space && <Shown key={space} space={space} params={route.params} tick={live.tick} caller={caller} />}
        </main>
      </div>
      {route.params.get('record') && space && (
        <Record
          key={route.params.get('record')}
          space={space}
          id={route.params.get('record')!}
          recall={read(location.hash).params.get('receipt') ?? undefined}
          close={() => setParams({ record: undefined })}
        />
      )}
    </>
  );
}

const first = read(location.hash);
// With a one-time code nobody is logged in yet.
if (first.space && first.view === 'today' && !first.space.startsWith('code=')) askEarly(first.space);
render(<App />, document.getElementById('app')!);
