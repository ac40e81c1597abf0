// The page of captures: lines of subflows over time, distributions of round-trip times, tables.

const FEW_SUBFLOWS = 8;
const PATTERNS = [[], [7, 4], [2, 3], [8, 3, 2, 3], [12, 4], [4, 2]];

class CaptureLines {
  constructor() {
    this.data = DATA.lines;
    this.charts = [];
    this.names = this.data.names;
    this.times = Array.from(decode(this.data.times));
    this.series = decodeAll(this.data.series);
    this.distributions = this.data.distributions.map(decodeAll);
    // The last row is of all subflows; a single one needs no sum.
    this.all = this.names.length;
    this.offered = this.names.map((_, i) => i);
    if (this.data.subflows > 1) this.offered.unshift(this.all);
    const some = this.names.length > FEW_SUBFLOWS ? [this.all] : this.offered;
    this.shown = new Set(some);
    this.draw();
    themeListeners.push(() => this.draw());
  }

  line(index) {
    if (index === this.all) return { label: `all ${number(this.data.subflows)} subflows`, color: css("--text"), width: 2.5 };
    const dash = PATTERNS[Math.floor(index / 8) % PATTERNS.length];
    return { label: this.names[index], color: css(`--c${index % 8}`), dash, width: 1.5 };
  }

  toggle(index) {
    if (!this.shown.delete(index)) this.shown.add(index);
    this.draw();
  }

  draw() {
    for (const each of this.charts) each.destroy();
    lineButtons("series-legend", this.offered.map((i) => ({ key: i, ...this.line(i) })), (i) => this.shown.has(i), (i) => this.toggle(i));
    const chosen = this.offered.filter((index) => this.shown.has(index));
    const lines = chosen.map((index) => this.line(index));
    const per = `per ${measure(this.data.step_s, "s")}`;
    const known = new Set(this.data.known);
    const kinds = [
      ["throughput-chart", "Throughput", "throughput_mbps", "Mbps"],
      ["rtt-chart", ...(known.has("rtt_ms") || !known.has("srtt_ms") ? ["RTT of data segments", "rtt_ms", "ms"] : ["Smoothed RTT", "srtt_ms", "ms"])],
      ["cwnd-chart", "Congestion window", ...(known.has("cwnd_bytes") ? ["cwnd_bytes", "bytes"] : ["cwnd_packets", "segments"])],
      ["retransmissions-chart", `Retransmissions ${per}`, "retransmissions", "segments"],
      ["lost-chart", `Lost packets ${per}`, "lost", "packets"],
      ["reordered-chart", `Reordering ${per}`, "reordered_packets", "segments"],
    ];
    // What was not measured has no chart: an empty one reads as none.
    this.charts = kinds.filter(([, , name]) => known.has(name)).map(([id, title, name, unit]) => overTime(
      id, title, unit, lines, chosen.map((index) => row(this.series[name], index, this.times.length)), this.times,
    ));
    if (DATA.has_rtts) this.drawDistribution(chosen, lines);
  }

  drawDistribution(chosen, lines) {
    const container = byId("rtt-distribution");
    const columns = chosen.map((index) => this.distributions[index].rtt_ms);
    if (!columns.some((column) => column.length)) {
      container.replaceChildren(h("h3", {}, "Round-trip times"), h("p", { class: "nothing" }, "No round-trip time was measured."));
      return;
    }
    const [scaled, unit] = suited(columns, "ms");
    const groups = lines.map((line, i) => ({
      ...line, steps: [Array.from(scaled[i]), Array.from(this.distributions[chosen[i]].share)],
    }));
    this.charts.push(distributionChart(container, {
      title: `Round-trip times in ${unit}`, xLabel: `round-trip time in ${unit}`, xUnit: unit, xName: "at most",
      yLabel: "share of data segments", hint: "The share of data segments whose ACK came within x.",
    }, groups));
  }
}

class AgainstLines {
  constructor(data) {
    this.data = data;
    this.charts = [];
    this.times = Array.from(decode(data.times));
    this.series = decodeAll(data.series);
    this.offered = data.names.map((_, i) => i);
    // The sum of each side comes first, or its only flow.
    this.shown = new Set(["measured", "other"].map((side) => data.sides.indexOf(side)).filter((index) => index >= 0));
    this.draw();
    themeListeners.push(() => this.draw());
  }

  line(index) {
    const isMeasured = this.data.sides[index] === "measured";
    const place = index - this.data.sides.indexOf(this.data.sides[index]);
    const side = isMeasured ? "measured" : DATA.against.title;
    // Full lines are measured and dashed ones are not; behind the eighth flow colours come again, with other dashes.
    const dashes = isMeasured ? [[], [8, 3, 2, 3], [12, 4]] : [[7, 4], [2, 3], [4, 2]];
    const dash = dashes[Math.floor(place / 8) % dashes.length];
    return { label: `${side}: ${this.data.names[index]}`, color: css(`--c${(place + (isMeasured ? 0 : 1)) % 8}`), dash, width: 1.8 };
  }

  toggle(index) {
    if (!this.shown.delete(index)) this.shown.add(index);
    this.draw();
  }

  draw() {
    for (const each of this.charts) each.destroy();
    lineButtons("against-legend", this.offered.map((i) => ({ key: i, ...this.line(i) })), (i) => this.shown.has(i), (i) => this.toggle(i));
    const chosen = this.offered.filter((index) => this.shown.has(index));
    const known = new Set(this.data.known);
    const kinds = [
      ["against-throughput-chart", "Throughput", "throughput_mbps", "Mbps"],
      ["against-rtt-chart", ...(known.has("srtt_ms") ? ["Smoothed RTT", "srtt_ms", "ms"] : ["RTT", "rtt_ms", "ms"])],
      ["against-cwnd-chart", "Congestion window", "cwnd_bytes", "bytes"],
      ["against-retransmissions-chart", "Retransmissions", "retransmissions", "segments"],
    ];
    this.charts = kinds.filter(([, , name]) => known.has(name)).map(([id, title, name, unit]) => overTime(
      id, title, unit, chosen.map((index) => this.line(index)), chosen.map((index) => row(this.series[name], index, this.times.length)), this.times,
    ));
  }
}

function capturePage() {
  setTimeUnit();
  timeMarks.events = DATA.marks;
  if (DATA.lines) new CaptureLines();
  if (DATA.against) {
    if (DATA.against.lines) new AgainstLines(DATA.against.lines);
    shownTable("against-table", DATA.against.table);
  }
  shownTable("connection-table", DATA.connections);
  shownTable("subflow-table", DATA.subflows);
  if (DATA.protocols) shownTable("protocol-table", DATA.protocols);
}
