// Latency of pings and UDP: lines over time, curves of their distributions, and a table.

class LatencySection {
  constructor() {
    this.data = DATA.latency;
    this.name = textsOf(this.data.table, "name");
    this.measures = textsOf(this.data.table, "measures");
    this.charts = [];
    this.offered = this.data.curves.map((_, i) => i);
    this.shown = new Set(this.offered.slice(0, FEW_FLOWS));
    this.draw();
    shownTable("latency-table", this.data.table);
    themeListeners.push(() => this.draw());
  }

  line(i) {
    return { label: `${this.name(i)} (${this.measures(i)})`, color: css(`--c${i % 8}`), width: 1.5,
      dash: PATTERNS[Math.floor(i / 8) % PATTERNS.length] };
  }

  toggle(i) {
    if (!this.shown.delete(i)) this.shown.add(i);
    this.draw();
  }

  draw() {
    while (this.charts.length) this.charts.pop().destroy();
    lineButtons("latency-legend", this.offered.map((i) => ({ key: i, ...this.line(i) })), (i) => this.shown.has(i), (i) => this.toggle(i));
    const chosen = this.offered.filter((i) => this.shown.has(i));
    this.drawLines(chosen);
    this.drawCurves(chosen);
  }

  drawLines(chosen) {
    const { series } = this.data;
    if (!series) {
      byId("latency-chart").replaceChildren(h("p", {}, "This run sampled no flows (run.sample_interval)."));
      return;
    }
    const times = Array.from(decode(series.times));
    const latency = decode(series.latency_ms);
    this.charts.push(overTime(
      "latency-chart", "Latency", "ms", chosen.map((i) => ({ ...this.line(i), spanGaps: true })),
      chosen.map((i) => row(latency, i, times.length)), times,
    ));
  }

  drawCurves(chosen) {
    const curves = chosen.map((i) => ({ ...this.line(i), x: decode(this.data.curves[i].latency_ms),
      y: Array.from(decode(this.data.curves[i].share)) })).filter((curve) => curve.x.length);
    if (!curves.length) {
      byId("latency-curves").replaceChildren(h("p", { class: "nothing" }, "No packet of these flows arrived."));
      return;
    }
    const [scaled, unit] = suited(curves.map((curve) => curve.x), "ms");
    // From zero on, so that the first step is seen.
    const tables = curves.map((curve, i) => [[0, ...scaled[i]], [0, ...curve.y]]);
    this.charts.push(chart(byId("latency-curves"), {
      title: `Latency in ${unit}`, xLabel: `latency in ${unit}`, xUnit: unit, xName: "within", unit: "",
      yLabel: "share of packets", yMax: 1.02, step: true,
      series: curves.map((curve) => ({ ...curve, spanGaps: true })),
      hint: "The share of packets that took no longer than x.",
    }, uPlot.join(tables)));
  }
}
