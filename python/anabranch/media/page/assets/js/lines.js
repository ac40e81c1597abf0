// Lines over time: a chart for each axis of a piece, one legend, and the lines that a reader chooses.

/** Colour, dashes and width of a line as the charts draw it. */
function lineLook({ look, wide }) {
  return { color: look.color < 0 ? css("--text") : css(`--c${look.color}`), dash: look.dash, width: wide ? 2.5 : 1.5 };
}

/** The values of another chart's lines at the steps of this one, axis by axis, by their labels; NaN where it has none. */
function valuesBeside(data, other) {
  const [times, others] = [decode(data.times), decode(other.times)];
  let step = 0;
  // A value holds for the time up to its step.
  const places = Array.from(times, (time) => {
    while (step < others.length && others[step] < time - 1e-9) step++;
    return step;
  });
  // Of a flow with another transport, the name is the same, and not the words behind it.
  const nameOf = (label) => label.replace(/ \([^()]*\)$/, "");
  const rows = new Map(other.lines.flatMap(({ label }, i) => [[nameOf(label), i]]));
  other.lines.forEach(({ label }, i) => rows.set(label, i));
  const rowOf = data.lines.map(({ label }) => rows.get(label) ?? rows.get(nameOf(label)));
  return data.axes.map(({ title }) => {
    const axis = other.axes.find((each) => each.title === title);
    const values = axis ? decode(axis.values) : new Float64Array(0);
    return Float64Array.from({ length: data.lines.length * times.length }, (_, at) => {
      const row = rowOf[Math.floor(at / times.length)];
      const place = places[at % times.length];
      return axis && row !== undefined && place < others.length ? values[row * others.length + place] : NaN;
    });
  });
}

/**
 * The lines of another run for a chart; undefined where there is none.
 * @param {{ name: string, document: Record<string, any> } | undefined} beside another run
 * @param {(document: Record<string, any>) => Record<string, any> | null | undefined} chartOf
 */
function besideLines(beside, chartOf) {
  const data = beside ? chartOf(beside.document) : null;
  return data ? { name: beside.name, data } : undefined;
}

class LineCharts {
  /**
   * @param {Record<string, any>} data as `chart_data` makes it
   * @param {{ legend: string, charts: string[], offersAll?: boolean,
   *   onDraw?: (shown: number[]) => void, before?: LineCharts, beside?: { name: string, data: Record<string, any> } }}
   *   options the places of the legend and of each axis; before are the charts in whose place these come, beside is
   *   another run, whose lines are drawn below
   */
  constructor(data, options) {
    this.data = data;
    this.options = options;
    this.times = Array.from(decode(data.times));
    this.values = data.axes.map((axis) => decode(axis.values));
    const { beside, before } = options;
    this.simulated = beside?.data ? valuesBeside(data, beside.data) : data.simulated?.map(decode) ?? null;
    this.besideName = beside?.name ?? "simulated";
    this.besides = this.simulated !== null;
    this.offered = options.offersAll ? data.lines.map((_, i) => i) : [...data.shown];
    this.shown = new Set(data.shown.filter((i) => !before?.hides(data.lines[i].label)));
    this.charts = [];
    this.nothing = "Nothing is chosen.";
    this.draw();
    themeListeners.push(() => this.draw());
  }

  /** Whether the reader has put a line away. */
  hides(label) {
    return this.offered.some((i) => this.data.lines[i].label === label && !this.shown.has(i));
  }

  /** Other lines in place of those that were offered, all of them shown. */
  offer(lines, nothing) {
    this.offered = lines;
    this.shown = new Set(lines);
    this.nothing = nothing;
    this.draw();
  }

  toggle(line) {
    if (!this.offered.includes(line)) this.offered.push(line);
    if (!this.shown.delete(line)) this.shown.add(line);
    this.draw();
  }

  line(i) {
    const { label, title } = this.data.lines[i];
    return { key: i, label, title, spanGaps: this.data.joined, ...lineLook(this.data.lines[i]) };
  }

  draw() {
    for (const each of this.charts) each.destroy();
    const chosen = this.offered.filter((i) => this.shown.has(i));
    this.charts = this.data.axes.map((axis, place) => this.chart(axis, place, chosen));
    lineButtons(
      this.options.legend, this.offered.map((i) => this.line(i)), (i) => this.shown.has(i), (i) => this.toggle(i),
      ...(this.simulated ? [besidesButton(this.besideName, this.besides, () => { this.besides = !this.besides; this.draw(); })] : []),
    );
    this.options.onDraw?.(chosen);
  }

  chart({ title, unit }, place, chosen) {
    const lines = chosen.map((i) => this.line(i));
    const columns = (values) => chosen.map((i) => row(values[place], i, this.times.length));
    const [ownColumns, besideColumns] = [columns(this.values), this.besides ? columns(this.simulated) : []];
    // The sum of what is shown, where it says something.
    if (this.data.total && place === 0 && lines.length > 1) {
      const which = chosen.length === this.offered.length ? "all" : `these ${chosen.length}`;
      lines.push({ key: -1, label: `${which} ${this.data.total}`, title: "", spanGaps: false, color: css("--text"), dash: [], width: 2.5 });
      for (const each of [ownColumns, besideColumns]) if (each.length) each.push(this.sum(each));
    }
    // Lines of a simulation first, below those of the live run.
    const all = [...(besideColumns.length ? lines.map((line) => besideLine(line, this.besideName)) : []), ...lines];
    return overTime(this.options.charts[place], title, unit, all, [...besideColumns, ...ownColumns], this.times, this.nothing);
  }

  sum(columns) {
    return this.times.map((_, t) => columns.reduce((sum, column) => (column[t] === null ? sum : (sum ?? 0) + column[t]), null));
  }
}

/** A chart over time: all of them have the same axis, or the cursors could not move together. */
function overTime(id, title, unit, lines, columns, times, nothing = "Nothing is chosen.") {
  const [scaled, scaledUnit] = suited(columns, unit);
  const span = DATA.ended_s;
  return chart(byId(id), {
    title: `${title} in ${scaledUnit}`, unit: scaledUnit, series: lines, sync: "time", marks: true,
    xRange: [0, span * timeMarks.scale || 1], xName: "at", xLabel: `time in ${timeMarks.unit}`, xUnit: timeMarks.unit,
    hint: lines.length ? "" : nothing,
  }, [times.map((time) => time * timeMarks.scale), ...scaled]);
}

/** One unit of time for the whole page, which suits the length of the run. */
function setTimeUnit() {
  const [[end], unit] = suited([[DATA.ended_s]], "s");
  timeMarks.scale = DATA.ended_s > 0 ? end[0] / DATA.ended_s : 1;
  timeMarks.unit = unit;
}

/** The curves of a distribution as `distribution_data` makes them, those that have points. */
function curvesOf(data) {
  return (data.curves ?? []).map((curve) => ({
    ...lineLook(curve), label: curve.label, width: 2,
    steps: [Array.from(decode(curve.values)), Array.from(decode(curve.shares))],
  }));
}

/**
 * A distribution, or the words in its place; hint is what a share is. Of lines that can be chosen, shown has those with a curve, and
 * nothing the words where none of them has one.
 * @param {Record<string, any>} drawn the charts by their places
 */
function drawDistribution(id, data, { xName, hint, shown = null, nothing = "", fromZero = false }, drawn) {
  const container = byId(id);
  drawn[id]?.destroy();
  delete drawn[id];
  const label = data.title && data.unit ? `${data.title} in ${data.unit}` : data.title;
  const all = curvesOf(data);
  const curves = (shown ? shown.map((i) => ({ ...all[i], width: 1.5 })) : all).filter((curve) => curve.steps?.[0].length);
  const words = data.words ?? (curves.length ? "" : nothing);
  if (words) {
    container.replaceChildren(...(label ? [h("h3", {}, label)] : []), h("p", { class: "nothing" }, words));
    return;
  }
  if (fromZero) for (const curve of curves) curve.steps = curve.steps.map((column) => [0, ...column]);
  const joined = uPlot.join(curves.map((curve) => curve.steps));
  drawn[id] = chart(container, {
    title: label, xLabel: label.charAt(0).toLowerCase() + label.slice(1), xUnit: data.unit, xName, hint,
    yLabel: `share of ${data.shares_of}`, yMax: 1.02, unit: "", log: data.log, series: curves, step: true, spanGaps: true,
    points: joined[0].length < 40,
  }, joined);
  if (!shown) container.append(h("p", { class: "legend" }, ...curves.map((curve) => h("span", {}, lineKey(curve), curve.label))));
}
