// Charts as the scripts of a page take them: samples merged to steps, distributions as points.

import { column } from "./frames.js";
import { count, quantity, sentence, suited } from "./words.js";

const MERGED = { mean: "mean", max: "maximum", sum: "sum" };
const WIDE = 100;
const FEWEST_IN_DISTRIBUTION = 5;

/** Instants of samples, ascending, each once, and where each is. */
export class Instants {
  constructor(times) {
    this.times = Float64Array.from(new Set(times)).sort();
    this.place = new Map(Array.from(this.times, (time, place) => [time, place]));
  }
}

/** Instants merged to steps, equally many to each, of which there are at most so many. */
export class Steps {
  constructor(times, most) {
    const { length } = times;
    this.merged = Math.max(1, Math.ceil(length / Math.max(1, most)));
    this.count = Math.ceil(length / this.merged);
    this.times = Float64Array.from({ length: this.count }, (_, step) => times[Math.min((step + 1) * this.merged, length) - 1]);
  }
}

/**
 * Samples of lines: a row has the number of its line and of its instant, and a value on each axis.
 * @typedef {{ axes: any[], lines: any[], instants: Instants, line: number[], at: number[], values: (Float64Array | number[])[],
 *   shown: number[] | null, total: string, joined: boolean, notes: string[] }} LineChart
 */

/** The steps of a chart: at most 600, and fewer where there are very many lines. */
export function stepsOf(views, chart, mostValues = 0) {
  const { steps, fewest_steps: fewest } = views.most;
  const most = mostValues ? Math.min(steps, Math.max(fewest, Math.floor(mostValues / Math.max(1, chart.lines.length)))) : steps;
  return new Steps(chart.instants.times, most);
}

/** A note that says what a step is, where it is not a single sample. */
export function mergeNote(what, chart, steps) {
  if (steps.merged === 1) return [];
  const kinds = new Map();
  for (const axis of chart.axes) kinds.set(axis.merge, [...(kinds.get(axis.merge) ?? []), axis.quantity]);
  const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join(""));
  const merges = [...kinds].map(([kind, names]) => `the ${MERGED[kind]} of ${listed(names)}`).join(", ");
  return [`${what}: ${steps.merged} samples in a row are one step: ${merges}.`];
}

/** The values of each axis: a row for each line, a column for each step, NaN for none. */
function merged(chart, steps) {
  const size = chart.lines.length * steps.count;
  return chart.axes.map(({ merge }, axis) => {
    const values = new Float64Array(size).fill(NaN);
    const counts = new Uint32Array(size);
    const given = chart.values[axis];
    for (let row = 0; row < given.length; row++) {
      const value = given[row];
      const place = chart.line[row] * steps.count + Math.floor(chart.at[row] / steps.merged);
      // A sum of nothing is zero, a mean of nothing is none.
      if (Number.isNaN(value)) {
        if (merge === "sum" && !counts[place]) values[place] = 0;
        continue;
      }
      values[place] = counts[place] ? (merge === "max" ? Math.max(values[place], value) : values[place] + value) : value;
      counts[place]++;
    }
    if (merge === "mean") for (let place = 0; place < size; place++) if (counts[place] > 1) values[place] /= counts[place];
    return column(values);
  });
}

export function chartData(chart, steps) {
  const values = merged(chart, steps);
  return {
    times: column(steps.times, "f8"),
    lines: chart.lines,
    axes: chart.axes.map(({ quantity: words, unit }, axis) => ({ title: sentence(words), unit, values: values[axis] })),
    simulated: null,
    shown: chart.shown ?? chart.lines.map((_, place) => place),
    total: chart.total,
    joined: chart.joined,
  };
}

/** The values of a chart alone, by the names of their columns. */
export function seriesData(chart, steps) {
  const values = merged(chart, steps);
  return { times: column(steps.times, "f8"), ...Object.fromEntries(chart.axes.map(({ name }, axis) => [name, values[axis]])) };
}

/** A distribution function: values in order, each once, and the share of `total` that are no greater. */
export function distribution(sample, total = sample.length) {
  const ordered = Float64Array.from(sample).sort();
  const [values, shares] = [[], []];
  for (let place = 0; place < ordered.length; place++) {
    if (ordered[place] === ordered[place + 1]) continue;
    values.push(ordered[place]);
    shares.push((place + 1) / total);
  }
  return { values: [...values.slice(0, 1), ...values], shares: [0, ...shares], sample: ordered };
}

/**
 * Distribution functions for a page, or the words in their place.
 * @param {{ quantity: string, unit: string, of: string, log: boolean | null, left: number, curves: any[] } | null} shown
 */
export function distributionData(views, shown, nothing, noneIsZero = "") {
  if (!shown) return { words: nothing };
  const every = shown.curves.flatMap(({ values }) => values);
  const most = every.reduce((a, b) => Math.max(a, b), every.length ? -Infinity : 0);
  const least = every.reduce((a, b) => Math.min(a, b), every.length ? Infinity : 0);
  const log = shown.log === null ? least > 0 && most > WIDE * least : shown.log && most > 0;
  const about = { title: sentence(shown.quantity), shares_of: shown.of, log };
  const words = told(shown, nothing, noneIsZero);
  if (words) return { ...about, unit: shown.unit, words };
  const [factor, unit] = suited(most, shown.unit);
  return { ...about, unit, curves: shown.curves.map((curve) => points(curve, factor, views.most.steps)) };
}

/** The words in place of curves, where values are few or all zero; empty else. */
function told(shown, nothing, noneIsZero) {
  const rest = shown.left ? ` ${quantity(shown.left)} unfinished.` : "";
  if (!shown.curves.some(({ values }) => values.length)) return `${nothing}${rest}`;
  const every = shown.curves.flatMap(({ sample }) => [...(sample ?? [])]).sort((a, b) => a - b);
  if (!every.length) return "";
  const some = noneIsZero ? every.filter((value) => value > 0) : every;
  if (!some.length) return noneIsZero;
  if (some.length >= FEWEST_IN_DISTRIBUTION) return "";
  const others = some.length < every.length ? "; the others none" : "";
  return `Too few ${shown.of} for a distribution: ${some.map((value) => quantity(value, shown.unit)).join(", ")}${others}.${rest}`;
}

/** The points of a curve; of more than there are pixels those nearest to equal steps of the share. */
function points({ label, look, values, shares }, factor, most) {
  if (values.length > 1 && values[0] === values[1]) [values, shares] = [values.slice(1), shares.slice(1)];
  if (values.length > most) {
    const last = shares.at(-1);
    const places = new Set([0]);
    let place = 0;
    for (let step = 0; step < most; step++) {
      const wanted = (step / (most - 1)) * last;
      while (place < shares.length - 1 && shares[place] < wanted) place++;
      places.add(place);
    }
    const kept = [...places].sort((a, b) => a - b);
    [values, shares] = [kept.map((each) => values[each]), kept.map((each) => shares[each])];
  }
  return { label, look, values: column(values.map((value) => value * factor), "f8"), shares: column(shares) };
}

// Looks.

/** The look of a line that belongs to no transport, by its place. */
export function lookAt(views, place) {
  const { colors, patterns } = views;
  const across = place % colors;
  return { color: across, dash: patterns[(across + Math.floor(place / colors)) % patterns.length] };
}

export const TOGETHER = { color: -1, dash: [] };

/** The look of each transport: of the program's own it is fixed, another one takes a free one from that of its name on. */
export function transportLooks(views, names) {
  const { looks, transports, colors } = views;
  const taken = new Set(names.filter((name) => name in transports).map((name) => transports[name]));
  return new Map(names.map((name) => {
    let number = transports[name];
    if (number === undefined) {
      number = freeLook(crc32(name), taken, looks.length, colors);
      taken.add(number);
    }
    return [name, looks[number]];
  }));
}

function freeLook(start, taken, all, colors) {
  const used = new Set([...taken].map((number) => number % colors));
  const filled = Array.from({ length: colors }, (_, step) => (start + step) % colors);
  const every = Array.from({ length: all }, (_, step) => (start + step) % all);
  return filled.find((slot) => !used.has(slot)) ?? [...filled, ...every].find((slot) => !taken.has(slot)) ?? every[0];
}

/** CRC-32 (ISO 3309) of a text in UTF-8. */
function crc32(text) {
  let rest = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return (rest ^ 0xffffffff) >>> 0;
}

/** A line of several things. */
export function wideLine(label, detail, look, row = null) {
  return { label: detail === null ? label : `${label} (${count(detail)})`, row, wide: true, look };
}
