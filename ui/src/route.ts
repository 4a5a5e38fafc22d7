/** The place in the UI: `#/SPACE/VIEW?name=value`, so that every view is a link. */
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  space: string;
  view: string;
  params: URLSearchParams;
}

export function read(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [space = '', view = ''] = path.split('/');
  return { space: decode(space), view: view || 'today', params: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Writes a link to a view. */
export function link(space: string, view: string, params: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  return `#/${encodeURIComponent(space)}/${view}${query.size > 0 ? `?${query}` : ''}`;
}

/** Changes parameters of the place; `undefined` or an empty text takes one away. */
export function setParams(changes: Record<string, string | undefined>): void {
  const { space, view, params } = read(location.hash);
  const all = { ...Object.fromEntries(params), ...changes };
  const to = link(space, view, all);
  if (to !== location.hash) location.hash = to;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => read(location.hash));
  useEffect(() => {
    const changed = () => setRoute(read(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}
