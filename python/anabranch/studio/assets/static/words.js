// Numbers for people, as text/units.py has them: a unit that suits, no more digits than are known, no exponents.

export const NOTHING = "–";

/** Units of a kind, each a thousand of the one before. */
const KINDS = [["bps", "kbps", "Mbps", "Gbps", "Tbps"], ["ns", "us", "ms", "s"], ["bytes", "kB", "MB", "GB", "TB"]];
/** @type {[number, string][]} */
const PREFIXES = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
const THIN_SPACE = "\u202f";

/** The factor by which the largest of the values reads well, and the unit that they are then in. */
export function suited(most, unit) {
  const kind = KINDS.find((units) => units.includes(unit)) ?? [unit];
  if (!(most > 0 && most < Infinity)) return [1, unit];
  const unitPlace = kind.indexOf(unit);
  const place = Math.min(Math.max(unitPlace + Math.floor(Math.log10(most * 1.000001) / 3), 0), kind.length - 1);
  return [Number(`1e${3 * (unitPlace - place)}`), kind[place]];
}

/** The exact decimals of a number, as many as asked for; a tie goes to the even digit. */
function decimalsOf(value, decimals) {
  if (decimals === 0 && Math.abs(value % 1) === 0.5) return String(2 * Math.round(value / 2));
  return value.toFixed(Math.min(decimals, 100));
}

/** A number in at most so many significant digits, whole numbers in full. */
export function plain(value, digits = 5) {
  if (!Number.isFinite(value)) return NOTHING;
  if (Number.isInteger(value)) return value.toFixed(0);
  const text = decimalsOf(value, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

function grouped(text, separator) {
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, separator);
}

/** A count with commas. */
export function count(value) {
  return grouped(String(value), ",");
}

/** A count with its noun, in the plural where it is not one. */
export function counted(number, what) {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** A number in three significant digits, counts below 100,000 in full; a dash for none. */
export function quantity(value, unit = "") {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  const whole = Number.isInteger(value) && size < 1e5;
  for (const [factor, prefix] of whole ? [] : PREFIXES) {
    if (size >= factor * 0.9995 && (factor > 1e3 || size >= 1e4)) return `${plain(value / factor, 3)}${prefix}${unit}`.trimEnd();
  }
  const text = whole || size >= 999.5 ? grouped(decimalsOf(value, 0), THIN_SPACE) : plain(value, 3);
  return `${text} ${unit}`.trimEnd();
}

/** A measure in the unit that suits the value; a dash for none. */
export function measure(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const [factor, shown] = suited(Math.abs(value), unit);
  return quantity(value * factor, shown);
}

/** A single value in six digits and the unit that suits it. */
export function withUnit(value, unit) {
  const [factor, shown] = suited(Math.abs(value), unit);
  return `${plain(value * factor, 6)} ${shown}`;
}

export function sentence(words) {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
