// Latency of pings and UDP: lines over time, curves of their distributions, and a table.

class LatencySection {
  /**
   * @param {{ before?: LatencySection, beside?: { name: string, document: Record<string, any> } }} [more] the section in
   *   whose place it comes, and another run whose lines are drawn below
   */
  constructor({ before, beside } = {}) {
    this.data = DATA.latency;
    this.curves = [];
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
    while (this.curves.length) this.curves.pop().destroy();
    const { distribution } = this.data;
    const all = curvesOf(distribution);
    const curves = shown.map((i) => all[i]).filter((curve) => curve?.steps[0].length);
    if (!curves.length) {
      byId("latency-curves").replaceChildren(h("p", { class: "nothing" }, distribution.words ?? "No packet of these flows arrived."));
      return;
    }
    const label = `${distribution.title} in ${distribution.unit}`;
    this.curves.push(distributionChart(byId("latency-curves"), {
      title: label, xLabel: label.toLowerCase(), xUnit: distribution.unit, xName: "within", log: distribution.log,
      yLabel: `share of ${distribution.shares_of}`, hint: "The share of packets that took no longer than x.",
      // From zero on, so that the first step is seen.
    }, curves.map(({ steps: [x, y], ...curve }) => ({ ...curve, width: 1.5, steps: [[0, ...x], [0, ...y]] }))));
  }
}
