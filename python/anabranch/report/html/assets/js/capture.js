// The page of captures: lines of subflows over time, distributions of round-trip times, tables.

const FEW_SUBFLOWS = 8;

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
    const kinds = [
      ["throughput-chart", "Throughput", "throughput_mbps", "Mbps"], ["rtt-chart", "RTT of data segments", "rtt_ms", "ms"],
      ["retransmissions-chart", `Retransmissions ${per}`, "retransmissions", "segments"],
      ["reordered-chart", `Reordering ${per}`, "reordered_packets", "segments"],
    ];
    this.charts = kinds.map(([id, title, name, unit]) => overTime(
      id, title, unit, lines, chosen.map((index) => row(this.series[name], index, this.times.length)), this.times,
    ));
    this.drawDistribution(chosen, lines);
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
      ...line, values: columns[i], steps: [Array.from(scaled[i]), Array.from(this.distributions[chosen[i]].share)],
    }));
    this.charts.push(distributionChart(container, {
      title: `Round-trip times in ${unit}`, xLabel: `round-trip time in ${unit}`, xUnit: unit, xName: "at most",
      yLabel: "share of data segments", hint: "The share of data segments whose ACK came within x.",
    }, groups));
  }
}

function capturePage() {
  setTimeUnit();
  timeMarks.events = DATA.marks;
  if (DATA.lines) new CaptureLines();
  shownTable("connection-table", DATA.connections);
  shownTable("subflow-table", DATA.subflows);
  if (DATA.protocols) shownTable("protocol-table", DATA.protocols);
}
