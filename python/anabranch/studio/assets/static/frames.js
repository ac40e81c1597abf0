// Tables of the core as columns, and as the documents of pages have them.

import { suited } from "./words.js";

const SMALLEST = 0.1;
const LARGEST = 1e5;
/** In longer tables numbers have seven digits, of which a page shows four. */
const EXACT_ROWS = 10_000;

/** Columns by name: numbers are a Float64Array with NaN for none, texts a list with null for none. */
export class Frame {
  /**
   * @param {Map<string, Float64Array | (string | null)[]>} columns
   * @param {Set<string>} whole names of columns that count
   */
  constructor(columns, whole = new Set()) {
    this.columns = columns;
    this.whole = whole;
  }

  /** A table as the core gives it. */
  static of(table) {
    const columns = new Map();
    const whole = new Set();
    for (const [name, values] of Object.entries(table)) {
      if (values instanceof BigUint64Array) {
        columns.set(name, Float64Array.from(values, Number));
        whole.add(name);
      } else if (values instanceof Float64Array) columns.set(name, values);
      else if (Array.isArray(values)) columns.set(name, values.map((text) => text || null));
      else columns.set(name, Array.from(values.places, (place) => values.names[place] || null));
    }
    return new Frame(columns, whole);
  }

  get rows() {
    return this.columns.values().next().value?.length ?? 0;
  }

  has(name) {
    return this.columns.has(name);
  }

  /** @returns {any} */
  get(name) {
    return this.columns.get(name);
  }

  with(name, values, isWhole = false) {
    const whole = new Set(this.whole);
    if (isWhole) whole.add(name);
    else whole.delete(name);
    return new Frame(new Map(this.columns).set(name, values), whole);
  }

  /** The rows at some places, in this order. */
  at(places) {
    const columns = new Map();
    for (const [name, values] of this.columns) {
      columns.set(name, values instanceof Float64Array ? Float64Array.from(places, (place) => values[place]) : places.map((place) => values[place]));
    }
    return new Frame(columns, this.whole);
  }

  sum(name) {
    return sum(this.get(name));
  }
}

export function isNone(value) {
  return value === null || Number.isNaN(value);
}

export function sum(values) {
  let total = 0;
  for (const value of values) if (!Number.isNaN(value)) total += value;
  return total;
}

export function mean(values) {
  let count = 0;
  for (const value of values) if (!Number.isNaN(value)) count++;
  return count ? sum(values) / count : NaN;
}

/** Places of rows in order: `keys` are functions of a place, a tie goes to the next one, and then to the earlier row. */
export function ranked(rows, ...keys) {
  return Array.from({ length: rows }, (_, place) => place).sort((a, b) => {
    for (const key of keys) {
      const [one, other] = [key(a), key(b)];
      if (one !== other) return one < other ? -1 : 1;
    }
    return a - b;
  });
}

const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array };

/** A column of numbers for a page. */
export function column(values, kind = "f4") {
  return { kind, values: values instanceof KINDS[kind] ? values : KINDS[kind].from(values) };
}

/** A column of texts of which many are the same. */
export function wordColumn(values) {
  const places = new Map();
  const index = Int32Array.from(values, (value) => {
    const text = value ?? "";
    if (!places.has(text)) places.set(text, places.size);
    return places.get(text);
  });
  return { words: [...places.keys()], index: column(index, "i4") };
}

/** The magnitude by which a column gets its unit: the largest, or a smaller one where that leaves 0.01. */
function readable(most, least, unit) {
  const [factor] = suited(most, unit);
  const smaller = most / 1000;
  const isSmall = least * factor > 0 && least * factor < SMALLEST && suited(smaller, unit)[0] * most < LARGEST;
  return isSmall ? smaller : most;
}

/** What the declarations of columns say of one: by its table first. */
export function declared(views, name, scope = "") {
  return views.columns[`${scope}.${name}`] ?? views.columns[name];
}

/** The columns of a frame that there are and that have a value, as a table of a page. */
export function tableData(views, caption, frame, names, scope) {
  const columns = names.flatMap((name) => {
    if (!frame.has(name)) return [];
    const about = declared(views, name, scope);
    const values = frame.get(name);
    const isEmpty = (each) => !each || each.every(isNone);
    if (frame.rows && isEmpty(values) && isEmpty(frame.get(about.bound))) return [];
    return [columnData(about, values, frame.whole.has(name))];
  });
  return { caption, rows: columns.length ? frame.rows : 0, columns };
}

function columnData(about, values, isWhole) {
  const named = { key: about.name, heading: about.label };
  if (!about.is_number) return { ...named, text: wordColumn(values), wide: about.folds };
  const numbers = Float64Array.from(values, (value) => value * about.factor);
  let [most, least] = [0, Infinity];
  for (const value of numbers) {
    const size = Math.abs(value);
    if (size > most) most = size;
    if (size > 0 && size < least) least = size;
  }
  const [factor, unit] = suited(readable(most, most > 0 ? least : 0, about.unit), about.unit);
  return { ...named, unit, factor, data: column(numbers, isWhole || numbers.length <= EXACT_ROWS ? "f8" : "f4"), plain: about.plain };
}
