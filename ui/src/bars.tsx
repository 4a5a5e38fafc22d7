/** Bars: what people look at rather than read, with the numbers beside them. */
import type { ComponentChildren } from 'preact';

import { api, useLoad } from './api';
import { LoadView, number } from './parts';

/** Budgets of the comparison, in tokens. */
const BUDGETS = [250, 500, 1000, 2000, 4000, 8000];

/** One row: its name, the length of its bar, the number as text, and what else is said. */
export interface Bar {
  name: ComponentChildren;
  value: number;
  text: string;
  more?: string;
}

/** A table of bars; the longest fills its cell. */
export function Bars({ head, rows }: { head: string[]; rows: Bar[] }) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return (
    <table class="bars">
      <thead>
        <tr>
          {head.map((name, place) => (
            <th key={name} class={place > 1 ? 'num' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, place) => (
          <tr key={place}>
            <td>{row.name}</td>
            <td>
              <span class="bar-cell">
                <span class="s0" style={{ width: `${(row.value / most) * 100}%` }} />
              </span>{' '}
              <span class="num">{row.text}</span>
            </td>
            {row.more !== undefined && <td class="num">{row.more}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many lines and tokens the context of a question has at other budgets. */
export function ByBudget({ space, query }: { space: string; query: string }) {
  const load = useLoad(
    () =>
      Promise.all(
        BUDGETS.map((budget_tokens) => api.context(space, { query, budget_tokens, skip_injected: false })),
      ),
    [space, query],
  );
  return (
    <LoadView load={load}>
      {(contexts) => (
        <Bars
          head={['Budget', 'Lines', 'Tokens']}
          rows={contexts.map((context) => {
            const lines = context.sections.reduce((sum, section) => sum + section.items.length, 0);
            return { name: number(context.budget), value: lines, text: number(lines), more: number(context.tokens) };
          })}
        />
      )}
    </LoadView>
  );
}
