// A layout of nodes without places: distances on paper as near as can be to those in hops.
//
// Classical scaling to some pivots (Brandes and Pich 2006), and then, unless the network is large, stress majorization with
// weights 1/d^2 (Gansner, Koren and North 2004). Nothing is drawn at random.

import { natural } from "./network.js";

const PIVOTS = 50;
const ROUNDS = 200;
const PAIRS_MOVED = 8_000_000;
/** Length of the line to a leaf, where one hop is 1. */
const LEAF = 0.9;
const POWER_ROUNDS = 200;
/** Below it, as a share of what is large, a number is rounding alone. */
const SMALLEST = 1e-9;

/** Nodes with one neighbour are in a fan around it, away from the rest, which is laid out without them. */
export function distances(near, names, hopsFrom, mostExact) {
  const nodes = near.map((_, node) => node);
  const core = nodes.filter((node) => near[node].length !== 1);
  const inner = new Map(core.map((node, place) => [node, place]));
  if (!core.length || core.length === near.length) return byDistances(near, hopsFrom, mostExact);
  const placed = byDistances(core.map((node) => near[node].filter((next) => inner.has(next)).map((next) => inner.get(next))), hopsFrom, mostExact);
  const points = nodes.map((node) => (inner.has(node) ? placed[inner.get(node)] : [0, 0]));
  const centre = average(placed);
  for (const hub of core) {
    const leaves = near[hub].filter((next) => !inner.has(next)).sort(natural(names));
    const beside = near[hub].filter((next) => inner.has(next)).map((next) => points[next]);
    const from = beside.length ? average(beside) : centre;
    const away = [points[hub][0] - from[0], points[hub][1] - from[1]];
    const direction = away[0] || away[1] ? Math.atan2(away[1], away[0]) : Math.PI;
    // The first one above, on either side.
    if (Math.cos(direction) < 0) leaves.reverse();
    // Further apart than letters are high, and round the whole circle only where nothing else is.
    const most = beside.length ? 1.5 * Math.PI : 2 * Math.PI * (1 - 1 / Math.max(1, leaves.length));
    const fan = Math.min(0.35 * (leaves.length - 1), most);
    leaves.forEach((leaf, place) => {
      const angle = direction + fan * (leaves.length > 1 ? place / (leaves.length - 1) - 0.5 : 0);
      points[leaf] = [points[hub][0] + LEAF * Math.cos(angle), points[hub][1] + LEAF * Math.sin(angle)];
    });
  }
  return points;
}

function average(points) {
  return [0, 1].map((axis) => points.reduce((all, point) => all + point[axis], 0) / points.length);
}

function byDistances(near, hopsFrom, mostExact) {
  const count = near.length;
  if (count === 1) return [[0, 0]];
  const step = count <= mostExact ? 1 : Math.ceil(count / PIVOTS);
  const hops = [];
  for (let node = 0; node < count; node += step) hops.push(Float64Array.from(hopsFrom(near, [node])));
  const farthest = Math.max(...hops.map((row) => row.reduce((a, b) => Math.max(a, b), 0)));
  // What has no way to the rest stands beside it.
  for (const row of hops) row.forEach((value, node) => { if (value < 0) row[node] = farthest + 1; });
  const most = Math.max(...hops.map((row) => row.reduce((a, b) => Math.max(a, b), 0)));
  let points = scaled(hops.filter((_, place) => place % Math.ceil(hops.length / PIVOTS) === 0), most);
  if (count <= mostExact) points = leastStress(points, hops);
  return lying(points);
}

/** Classical scaling to pivots, whose distances to all nodes are the rows. */
function scaled(rows, most) {
  const [height, width] = [rows.length, rows[0].length];
  const squared = rows.map((row) => row.map((value) => value ** 2));
  const columns = Float64Array.from({ length: width }, (_, j) => squared.reduce((all, row) => all + row[j], 0) / height);
  const means = squared.map((row) => row.reduce((a, b) => a + b, 0) / width);
  const middle = means.reduce((a, b) => a + b, 0) / height;
  const centred = squared.map((row, i) => row.map((value, j) => value - columns[j] - means[i] + middle));
  const product = centred.map((one) => Float64Array.from(centred, (other) => one.reduce((all, value, k) => all + value * other[k], 0)));
  const [first, second] = largestAxes(product);
  const project = (axis) => Float64Array.from({ length: width }, (_, j) => centred.reduce((all, row, i) => all + axis[i] * row[j], 0));
  const [x, y] = [project(first), project(second)];
  const size = Math.max(...x.map(Math.abs), ...y.map(Math.abs)) || 1;
  // What falls together, as leaves of one node do, must be apart before stress can move it.
  return Array.from(x, (_, node) => {
    const angle = 2.399963 * node;
    return [((x[node] / size) * most) / 2 + 0.01 * Math.cos(angle), ((y[node] / size) * most) / 2 + 0.01 * Math.sin(angle)];
  });
}

/** The eigenvectors of the two largest eigenvalues of a symmetric matrix without negative ones, by orthogonal iteration. */
function largestAxes(matrix) {
  const size = matrix.length;
  let one = Float64Array.from({ length: size }, (_, i) => 1 + Math.sin(i + 1));
  let other = Float64Array.from({ length: size }, (_, i) => Math.cos(2.7 * i + 0.3));
  const applied = (vector) => Float64Array.from(matrix, (row) => row.reduce((all, value, i) => all + value * vector[i], 0));
  const dot = (a, b) => a.reduce((all, value, i) => all + value * b[i], 0);
  const unit = (vector) => { const length = Math.sqrt(dot(vector, vector)) || 1; return vector.map((value) => value / length); };
  for (let round = 0; round < POWER_ROUNDS; round++) {
    one = unit(applied(one));
    const next = applied(other);
    const share = dot(next, one);
    const rest = next.map((value, i) => value - share * one[i]);
    // What a line needs no second axis for is noise.
    other = dot(rest, rest) > SMALLEST ** 2 * dot(applied(one), applied(one)) ? unit(rest) : new Float64Array(size);
  }
  return [one, other];
}

/** Guttman transforms with the weights d^-2, a Jacobi step each. */
function leastStress(points, hops) {
  const count = points.length;
  let x = Float64Array.from(points, ([across]) => across);
  let y = Float64Array.from(points, ([, down]) => down);
  const rounds = Math.min(ROUNDS, Math.floor(PAIRS_MOVED / count ** 2));
  for (let round = 0; round < rounds; round++) {
    const [nextX, nextY] = [new Float64Array(count), new Float64Array(count)];
    for (let i = 0; i < count; i++) {
      const row = hops[i];
      let total = 0;
      for (let j = 0; j < count; j++) {
        if (i === j) continue;
        const weight = 1 / row[j] ** 2;
        const [dx, dy] = [x[i] - x[j], y[i] - y[j]];
        const pull = (weight * row[j]) / Math.max(Math.sqrt(dx * dx + dy * dy), 1e-9);
        total += weight;
        nextX[i] += weight * x[j] + pull * dx;
        nextY[i] += weight * y[j] + pull * dy;
      }
      nextX[i] /= total;
      nextY[i] /= total;
    }
    [x, y] = [nextX, nextY];
  }
  return Array.from(x, (across, node) => [across, y[node]]);
}

/** The longer way from left to right, the first node that is off the middle on the left, and above. */
function lying(points) {
  const [meanX, meanY] = average(points);
  const centred = points.map(([x, y]) => [x - meanX, y - meanY]);
  const sum = (of) => centred.reduce((all, point) => all + of(point), 0);
  const angle = 0.5 * Math.atan2(2 * sum(([x, y]) => x * y), sum(([x]) => x * x) - sum(([, y]) => y * y));
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turned = centred.map(([x, y]) => [x * cos + y * sin, -x * sin + y * cos]);
  const flips = [0, 1].map((axis) => {
    const least = SMALLEST * Math.max(...turned.map((point) => Math.max(...point.map(Math.abs))));
    return (turned.find((point) => Math.abs(point[axis]) > least)?.[axis] ?? 0) > 0 ? -1 : 1;
  });
  return turned.map(([x, y]) => [x * flips[0], y * flips[1]]);
}
