/** Places of the nodes of a graph, found once and without movement; loaded only where a graph is drawn. */
import { forceCenter, forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from 'd3-force';

export interface Place extends SimulationNodeDatum {
  id: string;
}

/** Steps of the simulation: it is at rest by then. */
const STEPS = 250;

/** Returns a place for each node, `center` in the middle; the same graph always gets the same places. */
export function places(ids: string[], edges: Array<[string, string]>, center: string): Map<string, { x: number; y: number }> {
  const nodes: Place[] = ids.map((id, place) => ({
    id,
    x: 120 * Math.cos(place * 2.4) * Math.sqrt(place),
    y: 120 * Math.sin(place * 2.4) * Math.sqrt(place),
    ...(id === center ? { fx: 0, fy: 0 } : {}),
  }));
  const links = edges.map(([source, target]) => ({ source, target }));
  forceSimulation(nodes)
    .force('link', forceLink<Place, { source: string; target: string }>(links).id((node) => node.id).distance(130))
    .force('charge', forceManyBody().strength(-420))
    .force('collide', forceCollide(46))
    .force('x', forceX(0).strength(0.04))
    .force('y', forceY(0).strength(0.07))
    .force('center', center ? null : forceCenter(0, 0))
    .stop()
    .tick(STEPS);
  return new Map(nodes.map((node) => [node.id, { x: node.x ?? 0, y: node.y ?? 0 }]));
}
