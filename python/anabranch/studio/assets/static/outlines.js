// Outlines of land and borders of countries within a box of degrees, as report/html/outlines.py makes them.

const UNITS_PER_DEGREE = 50;
const MOST_POINTS = 12_000;
const TURN = 360 * UNITS_PER_DEGREE;

/** Lines of the world: in its file each is its first point and the steps from there. */
export function worldLines(world) {
  const absolute = (line) => {
    const points = Int32Array.from(line);
    for (let i = 2; i < points.length; i++) points[i] += points[i - 2];
    return points;
  };
  return Object.fromEntries(Object.entries(world).map(([kind, lines]) => [kind, lines.map(absolute)]));
}

/**
 * SVG paths for a part of the Earth: x is the longitude, y the latitude northwards.
 * @param {Record<string, Int32Array[]>} world of `worldLines`
 * @param {[number, number, number, number]} box west, south, east and north in degrees
 */
export function outlines(world, box) {
  const shapes = { land: near(world.land, box), borders: near(world.borders, box) };
  const points = [...shapes.land, ...shapes.borders].reduce((all, line) => all + line.length / 2, 0);
  const grid = Math.max(1, Math.floor(Math.sqrt(Math.floor(points / MOST_POINTS))) * 2);
  return {
    land: shapes.land.map((line) => path(line, grid, true)).join(""),
    borders: shapes.borders.map((line) => path(line, grid, false)).join(""),
    units: UNITS_PER_DEGREE / grid,
  };
}

/** The lines that may touch a box, cut to it, moved by whole turns of the Earth where it lies there. */
function near(lines, box) {
  const [west, south, east, north] = box.map((side) => side * UNITS_PER_DEGREE);
  const pieces = [];
  for (const line of lines) {
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < line.length; i += 2) {
      left = Math.min(left, line[i]);
      right = Math.max(right, line[i]);
      bottom = Math.min(bottom, line[i + 1]);
      top = Math.max(top, line[i + 1]);
    }
    if (top < south || bottom > north) continue;
    for (const shift of [-TURN, 0, TURN]) if (left + shift <= east && right + shift >= west) pieces.push(clamped(line, shift, box));
  }
  return pieces;
}

/** A line whose points outside of the box are moved to its edge, so that land stays land. */
function clamped(line, shift, box) {
  const [west, south, east, north] = box.map((side) => Math.round(side * UNITS_PER_DEGREE));
  const moved = [];
  for (let i = 0; i < line.length; i += 2) {
    const [x, y] = [Math.min(Math.max(line[i] + shift, west), east), Math.min(Math.max(line[i + 1], south), north)];
    const { length } = moved;
    if (length && moved[length - 2] === x && moved[length - 1] === y) continue;
    // Of points in a row along the same edge only the outer ones.
    const isUpright = length >= 4 && (x === west || x === east) && moved[length - 2] === x && moved[length - 4] === x;
    const isLevel = length >= 4 && (y === south || y === north) && moved[length - 1] === y && moved[length - 3] === y;
    if (isUpright || isLevel) moved.length = length - 2;
    moved.push(x, y);
  }
  return moved;
}

function path(line, grid, isClosed) {
  const steps = [];
  let [x, y] = [Math.round(line[0] / grid), Math.round(line[1] / grid)];
  const start = `M${x} ${y}l`;
  for (let i = 2; i < line.length; i += 2) {
    const [nextX, nextY] = [Math.round(line[i] / grid), Math.round(line[i + 1] / grid)];
    if (nextX !== x || nextY !== y) steps.push(nextX - x, nextY - y);
    [x, y] = [nextX, nextY];
  }
  if (steps.length < (isClosed ? 4 : 2)) return "";
  return `${start}${steps.join(" ").replaceAll(" -", "-")}${isClosed ? "z" : ""}`;
}
