// What all parts of the page share: the data, numbers for people, elements, colours.

/** What the page shows: it stands in the page itself, or comes later and is replaced. */
let DATA = JSON.parse(document.getElementById("data")?.textContent ?? "null");

function setData(data) {
  DATA = data;
}

const ARRAYS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array };

/** A column as numbers; what the run does not have is NaN. One that was made in this browser has them as they are. */
function decode(column) {
  if (column.values) return column.values;
  const binary = atob(column.base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new ARRAYS[column.kind](bytes.buffer);
}

/** A column of texts that repeat, as a function of the row. */
function decodeWords(column) {
  const index = decode(column.index);
  return (row) => column.words[index[row]];
}

/** An element. Children that are texts become text nodes: nothing of a scenario's is ever read as HTML. */
function h(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "polygon", "circle", "text", "line", "use", "rect"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

const THIN_SPACE = "\u202f";

const formats = new Map();

/** A format with so many decimals at most; to make one takes longer than to write a hundred numbers. */
function digitsFormat(decimals) {
  if (!formats.has(decimals)) formats.set(decimals, new Intl.NumberFormat("en", { maximumFractionDigits: decimals, useGrouping: false }));
  return formats.get(decimals);
}

/** A number in at most four significant digits, whole numbers in full, never with an exponent; a dash for none. */
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const decimals = Number.isInteger(value) || size >= 1000 ? 0 : Math.min(3 - Math.floor(Math.log10(size)), 20);
  const [whole, part] = digitsFormat(decimals).format(value).split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN_SPACE) : whole;
  return part ? `${grouped}.${part}` : grouped;
}

function withUnit(value, unit) {
  const text = number(value);
  return unit && text !== "–" ? `${text} ${unit}` : text;
}

/** How many rows of a table are shown. */
function rowCount(shown, all) {
  const rows = `${number(all)} ${all === 1 ? "row" : "rows"}`;
  return shown === all ? rows : `${number(shown)} of ${rows}`;
}

// Units of a kind, each a thousand of the one before; the same as in units.py.
const KINDS = [
  ["bps", "kbps", "Mbps", "Gbps", "Tbps"], ["ns", "us", "ms", "s"], ["bytes", "kB", "MB", "GB", "TB"],
];

/** What values are multiplied by so that the largest reads well, and the unit that they are then in. */
function suitedUnit(most, unit) {
  const kind = KINDS.find((units) => units.includes(unit));
  if (!kind || !(most > 0 && most < Infinity)) return [1, unit];
  const unitPlace = kind.indexOf(unit);
  const place = Math.min(Math.max(unitPlace + Math.floor(Math.log10(most * 1.000001) / 3), 0), kind.length - 1);
  return [1000 ** (unitPlace - place), kind[place]];
}

/** A single value in the unit that suits it. */
function measure(value, unit) {
  const [factor, shown] = suitedUnit(Math.abs(value), unit);
  return withUnit(value * factor, shown);
}

/** Variables of the style sheet that have been asked for: to ask the element each time has the whole page styled. */
const cssValues = new Map();

/** The value of a variable of the style sheet, which follows the theme. */
function css(name) {
  if (!cssValues.has(name)) cssValues.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return cssValues.get(name);
}

// Themes: the system's until the reader chooses; paper is always light.

const themeListeners = [];
let printing = false;

function isDark() {
  if (printing) return false;
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeChanged() {
  cssValues.clear();
  for (const listener of themeListeners) listener();
}

function setUpTheme() {
  const button = byId("theme");
  const label = () => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    themeChanged();
  });
  themeListeners.push(label);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  label();
}

const printListeners = [];

// Where one picture takes the place of another, what it listens to ends with it.

let pictureEnds = new AbortController();
let lasting = { theme: 0, print: 0 };

/** What listens until now is the page's, and stays. */
function keepListeners() {
  lasting = { theme: themeListeners.length, print: printListeners.length };
}

function dropListeners() {
  pictureEnds.abort();
  pictureEnds = new AbortController();
  themeListeners.length = lasting.theme;
  printListeners.length = lasting.print;
}

/** Listens until the picture is replaced. */
function onPicture(target, event, listener, options = {}) {
  target.addEventListener(event, listener, { ...options, signal: pictureEnds.signal });
}

function setUpPrinting() {
  const change = (now) => {
    if (now === printing) return;
    printing = now;
    document.documentElement.classList.toggle("printing", now);
    themeChanged();
    for (const listener of printListeners) listener(now);
  };
  addEventListener("beforeprint", () => change(true));
  addEventListener("afterprint", () => change(false));
  matchMedia("print").addEventListener("change", (event) => change(event.matches));
}

/** The colours of links from idle to full, and that of an overload, on the ground of the theme. */
function linkColors() {
  const read = (color) => [0, 1, 2].map((i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16));
  const stops = Array.from({ length: 5 }, (_, i) => read(css(`--ramp${i}`)));
  return { stops, overload: css("--overload") };
}

/** A share of the full scale as a colour. */
function ramp(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const left = Math.min(Math.floor(place), stops.length - 2);
  return `rgb(${stops[left].map((a, i) => Math.round(a + (stops[left + 1][i] - a) * (place - left))).join(",")})`;
}
