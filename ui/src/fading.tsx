/** How the weight of an inferred preference fades, as a curve and in words; drawn only where somebody looks. */
import { useState } from 'preact/hooks';

import type { Memory } from '../../integrations/typescript/src/operations';
import { Time } from './parts';

const DAY = 86_400_000;
/** Half-life in days and least weight of a server whose settings leave them as they are. */
const DEFAULT = { halfLife: 14, floor: 0.1 };
/** Days after which a weight tells the half-life well: by then, clocks that differ by minutes matter little. */
const TELLING = 0.5;
/** How far two half-lives may differ that stand for the same one. */
const SAME = 1.02;

/** How weights fade on a server, as far as its preferences tell. */
export interface Decay {
  /** Days after which a weight is half. */
  halfLife: number;
  /** The least weight. */
  floor: number;
  /** Whether no weight tells the half-life, so that it is that of the default settings. */
  isAssumed: boolean;
}

/** Whether the weight of a preference becomes less with time. */
export function fades(memory: Memory): boolean {
  return memory.basis === 'inferred' && !(memory.kind === 'anti_pattern' && memory.requires_user_permission);
}

/**
 * Reads the half-life and the least weight off the weights themselves: a weight is `max(floor, 2^(-age / half-life))`, so every
 * age and weight give at least the half-life, and more than that only where the weight is the least one.
 */
export function decayOf(memories: Memory[], now: number): Decay {
  const told = memories
    .filter((one) => fades(one) && one.weight > 0 && one.weight < 1)
    .map((one) => ({ age: (now - Date.parse(one.occurred_at)) / DAY, weight: one.weight }))
    .filter(({ age }) => age >= TELLING)
    .map(({ age, weight }) => ({ weight, halfLife: age / -Math.log2(weight) }));
  const isFloor = (weight: number) => Math.abs(weight - DEFAULT.floor) < 1e-6;
  const shortest = Math.min(...told.filter(({ weight }) => !isFloor(weight)).map(({ halfLife }) => halfLife));
  const least = told.find(({ halfLife }) => halfLife > shortest * SAME);
  if (!Number.isFinite(shortest)) return { ...DEFAULT, isAssumed: true };
  return { halfLife: shortest, floor: least?.weight ?? DEFAULT.floor, isAssumed: false };
}

/** The weight at a moment. */
export function weightAt(decay: Decay, since: number, at: number): number {
  return Math.max(decay.floor, 2 ** (-Math.max(0, at - since) / DAY / decay.halfLife));
}

/** When the least weight is reached. */
export function floorAt(decay: Decay, since: number): number {
  return since - Math.log2(decay.floor) * decay.halfLife * DAY;
}

function days(value: number): string {
  const text = value.toLocaleString(undefined, { maximumFractionDigits: 1 });
  return `${text} ${text === '1' ? 'day' : 'days'}`;
}

export function Fading({ memory, decay }: { memory: Memory; decay: Decay }) {
  const [isOpen, setOpen] = useState(false);
  if (!fades(memory)) return <p class="meta">It was stated, so its weight does not fade.</p>;
  return (
    <details class="fading" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>How its weight fades</summary>
      {isOpen && <Curve memory={memory} decay={decay} />}
    </details>
  );
}

/** Size of the drawing and of its margins. */
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [420, 190, 34, 24, 10];
/** Points of the curve. */
const POINTS = 80;

function Curve({ memory, decay }: { memory: Memory; decay: Decay }) {
  const [now] = useState(Date.now);
  const since = Date.parse(memory.occurred_at);
  const floor = floorAt(decay, since);
  const ends = memory.expires_at ? Date.parse(memory.expires_at) : undefined;
  const end = since + (Math.max(now, floor) - since) * 1.1;
  const x = (at: number) => LEFT + ((at - since) / (end - since)) * (WIDTH - LEFT - 8);
  const y = (weight: number) => TOP + (1 - weight) * (HEIGHT - TOP - BOTTOM);
  const moments = Array.from({ length: POINTS + 1 }, (_, place) => since + ((end - since) * place) / POINTS);
  // The bend at the least weight is a point of its own.
  const line = [...moments, floor].sort((one, two) => one - two).map((at) => `${x(at).toFixed(1)},${y(weightAt(decay, since, at)).toFixed(1)}`);
  const iso = (at: number) => new Date(at).toISOString();
  const rows: Array<[string, number]> = [
    ['last said', since],
    ['half', since + decay.halfLife * DAY],
    ['a quarter', since + 2 * decay.halfLife * DAY],
    ['least', floor],
  ];
  const isAtLeast = now >= floor;
  const shown = rows.filter(([, at]) => at <= Math.max(floor, since));
  const words = `The weight halves every ${days(decay.halfLife)}. It is ${memory.weight.toFixed(2)} today`;
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img"
        aria-label={`${words}${isAtLeast ? ', the least weight' : ` and reaches the least weight, ${decay.floor.toFixed(2)}, on ${iso(floor).slice(0, 10)}`}.`}>
        {[0, 0.5, 1].map((weight) => (
          <g key={weight}>
            <line class="grid" x1={LEFT} x2={WIDTH - 8} y1={y(weight)} y2={y(weight)} />
            <text x={LEFT - 6} y={y(weight) + 4} text-anchor="end">{weight.toFixed(1)}</text>
          </g>
        ))}
        <line class="least" x1={LEFT} x2={WIDTH - 8} y1={y(decay.floor)} y2={y(decay.floor)} />
        <polyline class="line" points={line.join(' ')} />
        {ends !== undefined && ends > since && ends < end && <line class="ends" x1={x(ends)} x2={x(ends)} y1={TOP} y2={y(0)} />}
        <line class="today" x1={x(now)} x2={x(now)} y1={y(memory.weight)} y2={y(0)} />
        <circle class="today" cx={x(now)} cy={y(memory.weight)} r={5} />
        <text x={x(now)} y={HEIGHT - 7} text-anchor={x(now) < LEFT + 40 ? 'start' : x(now) > WIDTH - 40 ? 'end' : 'middle'}>today</text>
      </svg>
      <figcaption>
        {words}.{' '}
        {isAtLeast ? (
          <>It has its least weight since <Time at={iso(floor)} />.</>
        ) : (
          <>It reaches its least weight, {decay.floor.toFixed(2)}, on <Time at={iso(floor)} />.</>
        )}{' '}
        It keeps that weight until you say it again or reject it
        {ends !== undefined && <>, and no longer holds from <Time at={memory.expires_at} /></>}.
        {decay.isAssumed && ' No preference is old enough to tell the half-life of this server: this is the default.'}
      </figcaption>
      <table>
        <thead>
          <tr>
            <th>Weight</th>
            <th class="num">is</th>
            <th>on</th>
          </tr>
        </thead>
        <tbody>
          {[...shown, ['today', now] as [string, number]].sort((one, two) => one[1] - two[1]).map(([name, at]) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="num">{(name === 'today' ? memory.weight : weightAt(decay, since, at)).toFixed(2)}</td>
              <td>
                <Time at={iso(at)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
