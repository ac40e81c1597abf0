// Latency of pings and UDP: lines over time, curves of their distributions, and a table.

class LatencySection {
  /**
   * @param {{ before?: LatencySection, beside?: { name: string, document: Record<string, any> } }} [more] the section in
   *   whose place it comes, and another run whose lines are drawn below
   */
  constructor({ before, beside } = {}) {
    this.data = DATA.latency;
    this.curves = {};
    this.shown = this.data.shown;
    if (this.data.series) {
      this.lines = new LineCharts(this.data.series, {
        legend: "latency-legend", charts: ["latency-chart"], offersAll: true, onDraw: (shown) => this.drawCurves(shown),
        before: before?.lines, beside: besideLines(beside, (document) => document.latency?.series),
      });
    } else {
      byId("latency-chart").replaceChildren(h("p", {}, "This run sampled no flows (run.sample_interval)."));
      this.drawCurves(this.shown);
      themeListeners.push(() => this.drawCurves(this.shown));
    }
    shownTable("latency-table", this.data.table);
  }

  drawCurves(shown) {
    drawDistribution("latency-curves", this.data.distribution, {
      xName: "within", hint: "The share of packets that took no longer than x.", shown, nothing: "No packet of these flows arrived.",
      // So that the first step is seen.
      fromZero: true,
    }, this.curves);
  }
}
