// The page of a run: lines over time, distributions, reordering, the table of flows.

const FEW_FLOWS = 8;
const FEWEST_IN_DISTRIBUTION = 5;
const PATTERNS = [[], [7, 4], [2, 3], [8, 3, 2, 3], [12, 4], [4, 2]];

class SeriesSection {
  constructor(network) {
    this.data = DATA.flow_series;
    this.network = network;
    this.charts = [];
    this.listener = () => {};
    this.times = this.data ? Array.from(decode(this.data.times)) : [];
    this.rowOf = new Map();
    if (this.data) {
      this.flows = Array.from(decode(this.data.flows));
      this.flows.forEach((flow, i) => this.rowOf.set(flow, i));
      this.own = decodeAll(this.data.own);
      this.groups = decodeAll(this.data.transports);
      this.all = decodeAll(this.data.all);
      const beside = this.data.simulated;
      this.simulated = beside
        ? { own: decodeAll(beside.own), groups: decodeAll(beside.transports), all: decodeAll(beside.all) } : null;
      this.transportOf = textsOf(DATA.flows, "transport");
      this.rank = new Map(DATA.transports.map((transport, i) => [transport.name, i]));
    }
    this.offered = this.firstOffer();
    this.shown = new Set(this.offered);
    // Lines of the simulation beside those of a live run.
    this.besides = Boolean(this.simulated);
    this.draw();
    this.drawQueues();
    network.linkListeners.push(() => this.drawQueues());
    themeListeners.push(() => { this.draw(); this.drawQueues(); });
  }

  /** Few flows have a line each; many are first seen as sums and means. */
  firstOffer() {
    if (!this.data) return [];
    if (DATA.flows.rows <= FEW_FLOWS) {
      const flows = this.flows.map((flow) => `flow ${flow}`);
      return flows.length > 1 ? ["all", ...flows] : flows;
    }
    return ["all", ...(DATA.transports.length > 1 ? DATA.transports.map((_, i) => `transport ${i}`) : [])];
  }

  /**
   * Label, colour and values of a line. One transport, one colour; flows of the same differ in their dashes.
   * Those of the simulation beside a live run are thin and pale.
   */
  line(key, /** @type {Record<string, any>} */ from = this) {
    const count = this.times.length;
    const flows = DATA.flows.rows;
    const [kind, text] = key.split(" ");
    const index = Number(text);
    if (kind === "all") {
      return { label: `all ${number(flows)} flows`, color: css("--text"), width: 2.5,
        values: (measure) => row(from.all[measure], 0, count) };
    }
    if (kind === "transport") {
      const { name, color, dash } = DATA.transports[index];
      return { label: `all ${name}`, color: css(`--c${color}`), dash, width: 2.5,
        values: (measure) => row(from.groups[measure], index, count) };
    }
    const transport = this.rank.get(this.transportOf(index));
    const alike = this.offered.filter((other) => other.startsWith("flow")
      && (DATA.transports.length === 1 || this.rank.get(this.transportOf(Number(other.split(" ")[1]))) === transport));
    const place = alike.indexOf(key);
    const several = DATA.transports.length > 1;
    const { color: own, hollow } = DATA.transports[transport];
    const color = several ? own : place % 8;
    // Relatives share a colour: the lines of one begin where those of the other do not.
    const pattern = (several ? place + (hollow ? 1 : 0) : Math.floor(place / 8)) % PATTERNS.length;
    return { label: textsOf(DATA.flows, "name")(index), color: css(`--c${color}`), dash: PATTERNS[pattern], width: 1.5,
      values: (measure) => row(from.own[measure], this.rowOf.get(index), count) };
  }

  simulatedLine(key) {
    return besideLine(this.line(key, this.simulated));
  }

  has(flow) {
    return this.rowOf.has(flow);
  }

  isShown(flow) {
    return this.shown.has(`flow ${flow}`);
  }

  toggleFlow(flow) {
    const key = `flow ${flow}`;
    if (!this.offered.includes(key)) this.offered.push(key);
    this.toggle(key);
  }

  toggle(key) {
    if (!this.shown.delete(key)) this.shown.add(key);
    this.draw();
    this.listener();
  }

  draw() {
    for (const each of this.charts) each.destroy();
    this.charts = [];
    if (!this.data) {
      byId("series-legend").replaceChildren(h("p", {}, DATA.flows.rows
        ? "This run sampled no flows (run.sample_interval)." : "This run has no connections."));
      return;
    }
    lineButtons(
      "series-legend", this.offered.map((key) => ({ ...this.line(key), key })), (key) => this.shown.has(key),
      (key) => this.toggle(key), ...(this.simulated ? [this.besidesButton()] : []),
    );
    const keys = this.offered.filter((key) => this.shown.has(key));
    const beside = this.besides ? keys.map((key) => this.simulatedLine(key)) : [];
    // The live ones last, above the others.
    const lines = [...beside, ...keys.map((key) => this.line(key))];
    const kinds = [
      ["goodput-chart", "Goodput", "goodput_mbps", "Mbps"], ["rtt-chart", "Smoothed RTT", "srtt_ms", "ms"],
      ["cwnd-chart", "Congestion window", "cwnd_kb", "kB"],
    ];
    this.charts = kinds.map(([id, title, measure, unit]) => overTime(
      id, title, unit, lines, lines.map((line) => line.values(measure)), this.times,
    ));
  }

  besidesButton() {
    return besidesButton(this.besides, () => {
      this.besides = !this.besides;
      this.draw();
    });
  }

  /** The longest queues, and that of the chosen link. */
  drawQueues() {
    this.queues?.destroy();
    const { network } = this;
    const container = byId("queue-chart");
    if (!network.series) {
      container.replaceChildren(h("p", {}, "This run sampled no links."));
      return;
    }
    const longest = network.whole.queue;
    const order = [...longest.keys()].filter((i) => longest[i] > 0).sort((a, b) => longest[b] - longest[a] || a - b);
    const links = order.slice(0, 4);
    if (network.link >= 0 && !links.includes(network.link)) links.push(network.link);
    const lines = links.map((link, i) => ({
      label: network.name(link), color: css(`--c${i}`), dash: PATTERNS[i % PATTERNS.length],
      width: link === network.link ? 3 : 1.5,
    }));
    const times = Array.from(network.times);
    const columns = links.map((link) => row(network.steps.queue, link, times.length));
    this.queues = overTime("queue-chart", "Queue", "packets", lines, columns, times);
    const names = lines.map((line) => h("span", {}, lineKey(line), line.label));
    container.append(h("p", { class: "legend" }, ...(names.length ? names : ["No queue ever held a packet."])));
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

function decodeAll(columns) {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, decode(column)]));
}

/**
 * Values of a column of the flows that are there, a group for each transport, and the count of its flows: those of which
 * the other column, if there is one, says that a value is still to come are among them.
 */
function byTransport(values, open) {
  const transport = textsOf(DATA.flows, "transport");
  const groups = new Map(DATA.transports.map((each) => [each.name, { ...each, label: each.name, values: [], count: 0 }]));
  for (let i = 0; i < values.length; i++) {
    const group = groups.get(transport(i));
    if (!Number.isNaN(values[i])) group.values.push(values[i]);
    if (!Number.isNaN(values[i]) || (open && !Number.isNaN(open[i]))) group.count += 1;
  }
  return [...groups.values()].map((group) => ({ ...group, color: css(`--c${group.color}`), width: 2 }));
}

function groupLegend(groups) {
  const shares = ({ values, count }) => `${number(values.length)}${values.length < count ? ` of ${number(count)}` : ""}`;
  return h("p", { class: "legend" }, ...groups.filter((group) => group.count).map(
    (group) => h("span", {}, lineKey(group), `${group.label} (${shares(group)})`),
  ));
}

function setUpDistributions() {
  const drawn = [];
  const draw = () => {
    while (drawn.length) drawn.pop().destroy();
    drawOne(drawn, "completion-chart", "completion_s", ["Completion time", "s"],
      { xName: "within", hint: "The share of flows that were done within x, of all that can complete." },
      "No flow was completed.", "completion_more_than_s");
    drawOne(drawn, "reordering-chart", "reordering_ratio", ["Reordered packets of a flow", "%"],
      { xName: "at most", hint: "The share of flows that had no more than x." }, "No flow received packets.");
  };
  draw();
  themeListeners.push(draw);
}

function drawOne(drawn, id, key, [title, unit], options, nothing, openKey) {
  const open = openKey && numbersOf(DATA.flows, openKey);
  // Where no flow has a value, the column is not there.
  const values = numbersOf(DATA.flows, key) ?? open?.map(() => NaN);
  const groups = values ? byTransport(values, open) : [];
  const left = groups.reduce((sum, { values: own, count }) => sum + count - own.length, 0);
  const rest = left ? ` ${number(left)} unfinished.` : "";
  const container = byId(id);
  const all = groups.flatMap((group) => group.values).sort((a, b) => a - b);
  const say = (text) => container.replaceChildren(h("h3", {}, `${title} in ${unit}`), h("p", { class: "nothing" }, text));
  if (!all.length) say(`${nothing}${rest}`);
  else if (key === "reordering_ratio" && all[all.length - 1] === 0) say("No packet was reordered.");
  else if (key === "reordering_ratio" && all.filter((value) => value > 0).length < FEWEST_IN_DISTRIBUTION) {
    const some = all.filter((value) => value > 0).map((value) => withUnit(value, unit)).join(", ");
    say(`Too few flows for a distribution: ${some}${all[0] > 0 ? "" : "; the others none"}.`);
  } else if (all.length < FEWEST_IN_DISTRIBUTION) {
    say(`Too few flows for a distribution: ${all.map((value) => withUnit(value, unit)).join(", ")}.${rest}`);
  } else {
    const [scaled, scaledUnit] = suited(groups.map((group) => group.values), unit);
    const same = groups.map((group, i) => ({ ...group, values: scaled[i] }));
    drawn.push(distributionChart(
      container, { title: `${title} in ${scaledUnit}`, xLabel: `${title.toLowerCase()} in ${scaledUnit}`,
        xUnit: scaledUnit, ...options }, same,
    ));
    container.append(groupLegend(groups));
  }
}

function flowTable(series) {
  const name = textsOf(DATA.flows, "name");
  const plot = {
    heading: "plot", text: () => "", width: 64, value: (i) => (series.isShown(i) ? 2 : series.has(i) ? 1 : 0),
    cell: (i) => (series.has(i) ? h("input", {
      type: "checkbox", checked: series.isShown(i), "aria-label": `Plot ${name(i)}`, onchange: () => series.toggleFlow(i),
    }) : ""),
  };
  const table = shownTable("flow-table", DATA.flows, { before: series.data ? [plot] : [] });
  series.listener = () => table.render(true);
  return table;
}

/** One unit of time for the whole page, which suits the length of the run. */
function setTimeUnit() {
  const [[end], unit] = suited([[DATA.ended_s]], "s");
  timeMarks.scale = DATA.ended_s > 0 ? end[0] / DATA.ended_s : 1;
  timeMarks.unit = unit;
}

function runPage() {
  setTimeUnit();
  timeMarks.events = DATA.events.filter((event) => event.kind !== "new routes")
    .map((event) => ({ ...event, bad: event.kind.endsWith("down") })).slice(0, 200);
  const network = new NetworkSection();
  const series = new SeriesSection(network);
  if (DATA.latency) new LatencySection();
  if (DATA.multipath) new MultipathSection();
  setUpDistributions();
  flowTable(series);
}
