// The drawing of a network: places of its nodes, widths of its links, as report/layout.py and media/links.py have them.

import { column } from "./frames.js";
import { distances } from "./distances.js";
import { sentence, withUnit } from "./words.js";

/** Utilization and loads as shares of the capacity: above the limit a link is overloaded. */
const MOST_EXACT = 400;
const LONE_DEGREES = 40;
const SPREAD = 0.012;

/**
 * @param {[string, [number, number] | null][]} nodes names, and degrees north and east
 * @param {[number, number][]} ends numbers of the two nodes of each directed link
 * @param {ArrayLike<number>} capacities in Mbps, of each link
 * @param {any} links the table of links
 * @param {any} scale of the colours of links
 */
export function networkDocument(nodes, ends, capacities, links, scale = { full: 1, limit: 1.000000001 }) {
  const drawn = laidOut(nodes, ends);
  const x = drawn.points.map(([across]) => across);
  const y = drawn.points.map(([, down]) => down);
  return {
    network: {
      names: nodes.map(([name]) => name), x: column(x), y: column(y), layout: drawn.kind, longitude: drawn.longitude, stretch: drawn.stretch,
      box: nodes.length ? boxOf(drawn, x, y) : [-180, -90, 180, 90],
      widths: column(linkWidths(capacities)), width_words: capacities.length ? sentence(capacityWords(capacities)) : "", scale,
    },
    links: { ...links, from: column(ends.map(([from]) => from), "i4"), to: column(ends.map(([, to]) => to), "i4") },
  };
}

function range(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return [least, most];
}

/** The width of each link as a share of the widest, by the logarithm of its capacity. */
function linkWidths(capacities) {
  const [least, most] = range(capacities);
  if (!(least > 0) || most === least) return new Float64Array(capacities.length).fill(5 / 9);
  const decades = Math.max(1, Math.log10(most / least));
  return Float64Array.from(capacities, (value) => (3 + (6 * Math.log10(value / least)) / decades) / 9);
}

function capacityWords(capacities) {
  const [least, most] = range(capacities).map((value) => withUnit(value, "Mbps"));
  return least === most ? `each link ${most}` : `width: capacity, ${least} to ${most}`;
}

/** West, south, east and north of what a map shows, in degrees, with room to move about. */
function boxOf({ longitude, stretch }, x, y) {
  const [[left, right], [top, bottom]] = [range(x), range(y)];
  const room = 0.6 * Math.max(right - left, 2.7 * (bottom - top)) || LONE_DEGREES;
  const [west, east] = [left - room, right + room].map((each) => each / stretch + longitude);
  return [Math.max(west, longitude - 180), Math.max(-bottom - room, -90), Math.min(east, longitude + 180), Math.min(-top + room, 90)];
}

function laidOut(nodes, ends) {
  const places = nodes.map(([, place]) => place);
  const names = nodes.map(([name]) => name);
  const different = new Set(places.map(String)).size;
  if (places.length && places.every(Boolean) && (different > 1 || places.length === 1)) return onMap(places);
  const near = neighbours(nodes.length, ends);
  const tiers = tiersOf(near);
  const plane = { longitude: 0, stretch: 1 };
  if (tiers) return { ...plane, points: inTiers(tiers, near, names), kind: "tiers" };
  return { ...plane, points: nodes.length ? distances(near, names, hopsFrom, MOST_EXACT) : [], kind: "distances" };
}

/** Equirectangular, true to scale at the middle latitude; no distances are torn apart at 180 degrees. */
function onMap(places) {
  const latitudes = places.map(([north]) => north);
  let longitudes = places.map(([, east]) => east);
  const spread = (values) => range(values)[1] - range(values)[0];
  const around = longitudes.map((east) => (east < 0 ? east + 360 : east));
  if (spread(around) < spread(longitudes)) longitudes = around;
  const [south, north] = range(latitudes);
  const [west, east] = range(longitudes);
  const stretch = Math.cos((((north + south) / 2) * Math.PI) / 180);
  const longitude = (east + west) / 2;
  return { points: apart(longitudes.map((each, i) => [(each - longitude) * stretch, -latitudes[i]])), kind: "map", longitude, stretch };
}

/** Nodes in the same place, side by side. */
function apart(points) {
  const wide = (axis) => { const [least, most] = range(points.map((point) => point[axis])); return most - least; };
  const radius = SPREAD * Math.max(wide(0), wide(1)) || 1;
  const together = new Map();
  const cell = (value) => { const share = value / radius; return Math.abs(share % 1) === 0.5 ? 2 * Math.round(share / 2) : Math.round(share); };
  points.forEach(([x, y], node) => {
    const key = `${cell(x)} ${cell(y)}`;
    together.set(key, [...(together.get(key) ?? []), node]);
  });
  const moved = points.map((point) => [...point]);
  for (const nodes of together.values()) {
    if (nodes.length < 2) continue;
    const length = radius * Math.max(1, nodes.length / 6);
    nodes.forEach((node, number) => {
      const angle = (2 * Math.PI * number) / nodes.length;
      moved[node][0] += length * Math.cos(angle);
      moved[node][1] += length * Math.sin(angle);
    });
  }
  return moved;
}

function neighbours(count, ends) {
  const near = Array.from({ length: count }, () => new Set());
  for (const [a, b] of ends) {
    near[a].add(b);
    near[b].add(a);
  }
  return near.map((each) => [...each].sort((a, b) => a - b));
}

/** Hops from the nearest start to each node; -1 where there is no way. */
function hopsFrom(near, starts) {
  const hops = new Int32Array(near.length).fill(-1);
  for (const start of starts) hops[start] = 0;
  let front = [...starts];
  while (front.length) {
    const following = [];
    for (const node of front) {
      for (const next of near[node]) {
        if (hops[next] >= 0) continue;
        hops[next] = hops[node] + 1;
        following.push(next);
      }
    }
    front = following;
  }
  return hops;
}

/** The tier of each node, counted from the hosts up; null if the network is not built in tiers. */
function tiersOf(near) {
  const hosts = near.flatMap((each, node) => (each.length === 1 ? [node] : []));
  if (!hosts.length || near.length > MOST_EXACT) return null;
  const tier = hopsFrom(near, hosts);
  const [least, most] = range(tier);
  if (most < 2 || least < 0) return null;
  if (near.some((row, node) => row.some((next) => Math.abs(tier[node] - tier[next]) !== 1))) return null;
  const top = tier.filter((height) => height === most).length;
  return top > 1 && range(hopsFrom(near, [hosts[0]]))[1] <= 2 * most ? tier : null;
}

/** `h2` before `h10`: by length, and then by letters. */
export function natural(names) {
  return (a, b) => names[a].length - names[b].length || (names[a] < names[b] ? -1 : Number(names[a] > names[b]));
}

/** The top tier above; each tier in the order of what is above it, and all of the same width. */
function inTiers(tiers, near, names) {
  const points = names.map(() => [0, 0]);
  const height = range(tiers)[1];
  const order = new Map(names.map((_, node) => node).sort(natural(names)).map((node, place) => [node, place]));
  for (let tier = height; tier >= 0; tier--) {
    const nodes = names.map((_, node) => node).filter((node) => tiers[node] === tier);
    const middle = new Map(nodes.map((node) => {
      const above = near[node].filter((next) => tiers[next] === tier + 1).map((next) => points[next][0]);
      // Rounded, so that nodes below the same ones are in the order of their names.
      return [node, above.length ? Math.round((above.reduce((a, b) => a + b, 0) / above.length) * 1e9) / 1e9 : 0];
    }));
    nodes.sort((a, b) => middle.get(a) - middle.get(b) || order.get(a) - order.get(b));
    nodes.forEach((node, place) => { points[node] = [((place + 0.5) / nodes.length) * 2.4, (height - tier) / height]; });
  }
  return points;
}
