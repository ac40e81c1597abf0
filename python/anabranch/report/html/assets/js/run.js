// The page of a run: lines over time, distributions, reordering, the table of flows.

class SeriesSection {
  /**
   * @param {NetworkSection} network
   * @param {{ before?: SeriesSection, beside?: { name: string, document: Record<string, any> } }} [more] the section in whose
   *   place it comes, and another run whose lines are drawn below
   */
  constructor(network, { before, beside } = {}) {
    this.network = network;
    this.beside = beside;
    this.listener = () => {};
    const data = DATA.flow_series;
    this.lineOf = new Map((data?.lines ?? []).map(({ row }, i) => [row, i]).filter(([flow]) => flow !== null));
    if (data) {
      this.charts = new LineCharts(data, {
        legend: "series-legend", charts: ["goodput-chart", "rtt-chart", "cwnd-chart"], onDraw: () => this.listener(),
        before: before?.charts, beside: besideLines(beside, (document) => document.flow_series),
      });
    } else {
      byId("series-legend").replaceChildren(h("p", {}, DATA.flows.rows
        ? "This run sampled no flows (run.sample_interval)." : "This run has no connections."));
    }
    this.drawQueues();
    network.linkListeners.push(() => this.drawQueues());
    themeListeners.push(() => this.drawQueues());
  }

  has(flow) {
    return this.lineOf.has(flow);
  }

  isShown(flow) {
    return this.has(flow) && this.charts.shown.has(this.lineOf.get(flow));
  }

  toggleFlow(flow) {
    this.charts.toggle(this.lineOf.get(flow));
  }

  /** The same queues in another run, where packets waited. */
  queuesBeside(count) {
    const beside = besideLines(this.beside, (document) => document.queues);
    if (!beside) return [];
    const [values] = valuesBeside(DATA.queues, beside.data);
    const lines = DATA.queues.lines.map((line, i) => ({ ...besideLine({ ...line, ...lineLook(line) }, beside.name), values: row(values, i, count) }));
    return lines.filter((line) => line.values.some((value) => value > 0));
  }

  /** The longest queues, and that of the chosen link. */
  drawQueues() {
    this.queues?.destroy();
    const { network } = this;
    const container = byId("queue-chart");
    if (!DATA.queues) {
      container.replaceChildren(h("p", {}, "This run sampled no links."));
      return;
    }
    const [{ title, unit, values }] = DATA.queues.axes;
    const times = Array.from(decode(DATA.queues.times));
    const all = decode(values);
    const candidates = DATA.queues.lines.map((line, i) => ({ ...line, ...lineLook(line), values: row(all, i, times.length) }));
    if (network.link >= 0 && !candidates.some((line) => line.row === network.link)) {
      candidates.push({ row: network.link, label: network.name(network.link), color: css(`--c${candidates.length}`), dash: [],
        values: row(network.steps.queue, network.link, times.length) });
    }
    const lines = candidates.filter((line) => line.row === network.link || line.values.some((value) => value > 0))
      .map((line) => ({ ...line, width: line.row === network.link ? 3 : 1.5 }));
    const below = this.queuesBeside(times.length);
    const all_ = [...below, ...lines];
    this.queues = overTime("queue-chart", title, unit, all_, all_.map((line) => line.values), times);
    const names = lines.map((line) => h("span", {}, lineKey(line), line.label));
    if (below.length) names.push(h("span", {}, lineKey({ color: pale(css("--text")), width: 1 }), `${this.beside.name} (thin and pale)`));
    container.append(h("p", { class: "legend" }, ...(names.length ? names : ["No sample found a packet in a queue."])));
  }
}

function setUpDistributions() {
  const drawn = {};
  const draw = () => {
    drawDistribution("completion-chart", DATA.completion,
      { xName: "within", hint: "The share of flows that were done within x, of all that can complete." }, drawn);
    drawDistribution("reordering-chart", DATA.reordering,
      { xName: "at most", hint: "The share of flows that had no more than x." }, drawn);
  };
  draw();
  themeListeners.push(draw);
}

function flowTable(series) {
  const name = textsOf(DATA.flows, "name");
  const plot = {
    heading: "plot", text: () => "", width: 64, value: (i) => (series.isShown(i) ? 2 : series.has(i) ? 1 : 0),
    cell: (i) => (series.has(i) ? h("input", {
      type: "checkbox", checked: series.isShown(i), "aria-label": `Plot ${name(i)}`, onchange: () => series.toggleFlow(i),
    }) : ""),
  };
  const table = shownTable("flow-table", DATA.flows, { before: DATA.flow_series ? [plot] : [] });
  series.listener = () => table.render(true);
  return table;
}

/** Changes of the network, and reordering by transport, where a run has them. */
function shortTables() {
  if (DATA.event_table) shownTable("event-table", DATA.event_table);
  if (DATA.reordering_table) shownTable("reordering-table", DATA.reordering_table, { filtered: false });
}

/** Collective operations and their steps. */
function collectiveTables() {
  const [operations, steps] = DATA.collectives;
  shownTable("collective-table", operations);
  shownTable("collective-steps", steps);
}

function runPage() {
  setTimeUnit();
  timeMarks.events = DATA.marks;
  const network = new NetworkSection();
  const series = new SeriesSection(network);
  if (DATA.collectives) collectiveTables();
  if (DATA.latency) new LatencySection();
  if (DATA.multipath) new MultipathSection();
  setUpDistributions();
  shortTables();
  flowTable(series);
}
