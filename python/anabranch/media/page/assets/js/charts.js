// Charts over uPlot: one look, cursors that move together, the values under the cursor in a line above.

const liveCharts = new Set();

/** Marks on the time axis that every chart over time draws: changes of the network, and the slider's place. */
const timeMarks = { events: [], now: null, scale: 1, unit: "s" };

function axis(label, extra = {}) {
  return {
    label,
    labelSize: 18,
    labelGap: 0,
    size: 26,
    gap: 4,
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    stroke: css("--text-2"),
    grid: { stroke: css("--grid"), width: 1 },
    ticks: { stroke: css("--grid"), width: 1, size: 4 },
    ...extra,
  };
}

const PREFIXES = [
  { from: 1e9, factor: 1e9, letter: "G" }, { from: 1e6, factor: 1e6, letter: "M" }, { from: 1e4, factor: 1e3, letter: "k" },
];

function shortNumber(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  for (const { from, factor, letter } of PREFIXES) {
    if (size >= from) return `${number(value / factor)}${letter}`;
  }
  return number(value);
}

function drawMarks(u) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const upright = (time, color, dash, width) => {
    const x = Math.round(u.valToPos(time * timeMarks.scale, "x", true)) + 0.5;
    ctx.strokeStyle = color;
    ctx.lineWidth = width * devicePixelRatio;
    ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  };
  for (const event of timeMarks.events) upright(event.time_s, css(event.bad ? "--bad" : "--text-2"), [3, 4], 1);
  if (timeMarks.now !== null) upright(timeMarks.now, css("--accent"), [], 1.5);
  ctx.restore();
}

/** A colour, so light that a line of it stays behind others; colours are hexadecimal. */
function pale(color) {
  return `${color}90`;
}

/** Key of the button that shows the lines of another run beside those of this one. */
const BESIDES = "beside";

/** The line of another run beside that of this one, such as a simulation beside a live run: thin and pale. */
function besideLine(line, name) {
  return { ...line, label: `${line.label}, ${name}`, color: pale(line.color), width: line.width * 0.7 };
}

function besidesButton(name, shown, onclick) {
  const look = { color: pale(css("--text")), width: 1, dash: [] };
  return h("button", { type: "button", class: "series", "aria-pressed": String(shown), onclick,
    "data-key": BESIDES }, lineKey(look), `${name} (thin and pale)`);
}

/**
 * A piece of a line as the charts draw it, for legends.
 * @param {{ color: string, dash?: number[], width?: number }} line
 */
function lineKey({ color, dash, width }) {
  return h(
    "svg", { class: "key", viewBox: "0 0 26 10", "aria-hidden": "true" },
    h("line", { x1: 0, x2: 26, y1: 5, y2: 5, stroke: color, "stroke-width": (width ?? 1.5) + 0.5,
      "stroke-dasharray": dash?.length ? dash.join(" ") : null }),
  );
}

/**
 * A legend of buttons, one for each line ({key, label, color, dash, width, title?}), which show and hide them. They are
 * new each time; whoever works by keyboard stays where they were.
 */
function lineButtons(id, lines, isShown, toggle, ...more) {
  const legend = byId(id);
  const focused = legend.contains(document.activeElement) ? document.activeElement.getAttribute("data-key") : null;
  legend.replaceChildren(...lines.map((line) => h(
    "button", { type: "button", class: "series", "aria-pressed": String(isShown(line.key)), "data-key": line.key,
      title: line.title, onclick: () => toggle(line.key) }, lineKey(line), line.label,
  )), ...more);
  if (focused === null) return;
  [.../** @type {HTMLCollectionOf<HTMLElement>} */ (legend.children)].find((each) => each.dataset.key === focused)?.focus();
}

/** What a chart says to those who do not see it. */
function summary(options, data) {
  const parts = options.series.slice(0, 6).map((series, i) => {
    const values = Array.from(data[i + 1]).filter((value) => value !== null && value !== undefined);
    if (!values.length) return `${series.label}: no values`;
    const least = values.reduce((a, b) => Math.min(a, b));
    const most = values.reduce((a, b) => Math.max(a, b));
    return `${series.label}: ${number(least)} to ${withUnit(most, options.unit)}`;
  });
  return `${options.title}. ${parts.join("; ")}.`;
}

const chartWidths = new WeakMap();

/** The width of a chart. That of the chart before is taken: to measure one after the other lays out the page each time. */
function widthOf(container, canvas) {
  const lastWidth = chartWidths.get(container);
  if (lastWidth && !printing) return lastWidth;
  const width = canvas.clientWidth;
  if (!printing) chartWidths.set(container, width);
  return width;
}

/** What a chart is made for; one that differs in title, hint and data alone takes its place without being made anew. */
function chartKey(options) {
  const lines = options.series.map(({ label, color, dash, width, spanGaps }) => [label, color, dash, width, spanGaps]);
  return JSON.stringify({ ...options, title: "", hint: "", series: lines });
}

/** The chart that a container holds. */
const chartIn = new WeakMap();

/** Charts that nobody needs any more. What is drawn of them stays for a frame: another chart may take it over. */
const leftCharts = new Set();

/**
 * A chart in a container, drawn again when the theme or the width changes.
 *
 * options: title, unit, xName, xLabel, xUnit, yLabel, series ({label, color, dash, width}), sync, marks, log, step,
 * yMax, hint. The data are columns, the first of them x.
 */
class Chart {
  constructor(container, options, data) {
    this.container = container;
    this.options = options;
    this.data = data;
    this.key = chartKey(options);
    this.marks = Boolean(options.marks);
    this.title = h("h3", {}, options.title);
    this.values = h("p", { class: "readout" });
    this.canvas = h("div", { class: "canvas", role: "img", "aria-label": summary(options, data) });
    container.replaceChildren(this.title, this.values, this.canvas);
    chartIn.set(container, this);
    liveCharts.add(this);
    this.draw();
  }

  draw() {
    this.plot?.destroy();
    const width = widthOf(this.container, this.canvas);
    this.plot = new uPlot(settings(this.options, width, () => this.tell()), this.data, this.canvas);
    this.tell();
  }

  redraw() {
    this.plot.redraw(false, false);
  }

  resize() {
    const width = this.canvas.clientWidth;
    chartWidths.set(this.container, width);
    if (width && Math.abs(width - this.plot.width) > 1) this.plot.setSize({ width, height: this.plot.height });
  }

  /** Whether what is drawn suits other options, too. */
  suits(options) {
    const isThere = this.canvas.parentNode === this.container && this.plot.width === chartWidths.get(this.container);
    return isThere && this.key === chartKey(options);
  }

  /** Other data in place of these. */
  take(options, data) {
    this.options = options;
    this.data = data;
    leftCharts.delete(this);
    liveCharts.add(this);
    this.title.textContent = options.title;
    this.canvas.setAttribute("aria-label", summary(options, data));
    // Legends that stood below.
    while (this.container.lastChild !== this.canvas) this.container.lastChild.remove();
    this.plot.setData(data);
    this.tell();
  }

  /** The values under the cursor. */
  tell() {
    const { plot: u, options } = this;
    const index = u?.cursor.idx;
    if (index === null || index === undefined) {
      this.values.replaceChildren(options.hint ?? "");
      return;
    }
    const parts = [h("span", {}, `${options.xName} ${withUnit(u.data[0][index], options.xUnit)}`)];
    let room = 8;
    u.series.slice(1).forEach((series, i) => {
      const value = u.data[i + 1][index];
      if (value === null || value === undefined || room-- <= 0) return;
      parts.push(h("span", {}, lineKey(options.series[i]), `${series.label} ${withUnit(value, options.unit)}`));
    });
    this.values.replaceChildren(...parts);
  }

  /** Nobody needs it any more. */
  destroy() {
    liveCharts.delete(this);
    leftCharts.add(this);
    requestAnimationFrame(() => { if (leftCharts.has(this)) this.end(); });
  }

  end() {
    this.plot.destroy();
    leftCharts.delete(this);
    liveCharts.delete(this);
    if (chartIn.get(this.container) === this) chartIn.delete(this.container);
  }
}

/** A chart in a container, of what is drawn there already where that suits it. */
function chart(container, options, data) {
  const before = chartIn.get(container);
  if (before && !printing && before.suits(options)) {
    before.take(options, data);
    return before;
  }
  before?.end();
  return new Chart(container, options, data);
}

/**
 * The given range in place of that of the data, and what the reader has zoomed to in place of that.
 * @returns {(u: uPlot, least: number, most: number) => [number, number]}
 */
function wholeRange([from, until]) {
  return (u, least, most) => {
    const times = u.data[0];
    const all = !times.length || least === null || (least <= times[0] && most >= times[times.length - 1]);
    return all ? [from, until] : [least, most];
  };
}

/** @returns {uPlot.Options} */
function settings(options, width, tell) {
  const stepped = uPlot.paths.stepped({ align: 1 });
  return {
    width: Math.max(width, 200),
    height: 230,
    legend: { show: false },
    padding: [10, 14, 0, 0],
    cursor: {
      sync: options.sync ? { key: options.sync, scales: ["x", null] } : undefined,
      drag: { x: true, y: false, setScale: true },
      points: { size: 7 },
    },
    scales: {
      x: { time: false, distr: options.log ? 3 : 1, range: options.xRange ? wholeRange(options.xRange) : undefined },
      y: { range: (_, least, most) => [Math.min(0, least ?? 0), options.yMax ?? ((most || 1) * 1.06)] },
    },
    axes: [
      axis(options.xLabel, { values: (_, ticks) => ticks.map(shortNumber) }),
      axis(options.yLabel, { size: 54, labelSize: 18, values: (_, ticks) => ticks.map(shortNumber) }),
    ],
    series: [
      {},
      ...options.series.map((series) => ({
        label: series.label,
        stroke: series.color,
        dash: series.dash,
        width: series.width ?? 1.5,
        points: { show: options.points ?? false, size: 5, fill: series.color },
        spanGaps: series.spanGaps ?? options.spanGaps ?? false,
        paths: options.step ? stepped : undefined,
      })),
    ],
    hooks: { setCursor: [tell], draw: options.marks ? [drawMarks] : [] },
  };
}

/** The row of a matrix, as uPlot takes it: gaps are null. */
function row(matrix, index, count) {
  const values = new Array(count);
  for (let i = 0; i < count; i++) {
    const value = matrix[index * count + i];
    values[i] = Number.isNaN(value) ? null : value;
  }
  return values;
}

/** Columns in the unit that suits their largest value, and that unit. */
function suited(columns, unit) {
  let most = 0;
  for (const column of columns) for (const value of column) if (value > most) most = value;
  const [factor, shown] = suitedUnit(most, unit);
  if (factor === 1) return [columns, unit];
  return [columns.map((column) => Array.from(column, (value) => (value === null ? null : value * factor))), shown];
}

/** Ends the picture, before another one takes its place. */
function dropPicture() {
  for (const each of [...liveCharts]) each.destroy();
  dropListeners();
}

function setUpCharts() {
  themeListeners.push(() => liveCharts.forEach((each) => each.draw()));
  let pending = 0;
  // The body: a scroll bar that comes makes it narrower, too.
  new ResizeObserver(() => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => liveCharts.forEach((each) => each.resize()));
  }).observe(document.body);
}
