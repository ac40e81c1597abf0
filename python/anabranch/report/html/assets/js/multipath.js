// Multipath TCP: what each path carries, of all connections or of one, and the tables of both.

const ALL_CONNECTIONS = -1;

class MultipathSection {
  constructor() {
    this.data = DATA.multipath;
    this.connection = ALL_CONNECTIONS;
    this.name = textsOf(this.data.connections, "name");
    this.hidden = new Set();
    this.charts = [];
    this.series = this.data.series ? this.decodeSeries() : null;
    // Lines of the simulation beside those of a live run.
    this.besides = Boolean(this.series?.simulated);
    if (this.series) this.setUpSelect();
    this.connections = this.connectionTable();
    this.subflows = this.subflowTable();
    this.draw();
    themeListeners.push(() => this.draw());
  }

  decodeSeries() {
    const { series } = this.data;
    return {
      times: Array.from(decode(series.times)), connection: Array.from(decode(series.connection)),
      path: decodeWords(series.path), subflows: decode(series.subflows), ...this.decodeValues(series),
      simulated: series.simulated ? this.decodeValues(series.simulated) : null,
    };
  }

  decodeValues({ throughput_mbps, srtt_ms }) {
    return { throughput: decode(throughput_mbps), rtt: decode(srtt_ms) };
  }

  setUpSelect() {
    const count = this.data.connections.rows;
    const known = [...new Set(this.series.connection)].filter((connection) => connection !== ALL_CONNECTIONS);
    known.sort((a, b) => a - b);
    this.select = /** @type {HTMLSelectElement} */ (byId("connection"));
    this.select.append(
      h("option", { value: ALL_CONNECTIONS }, count === 1 ? "the connection" : `all ${number(count)} connections`),
      ...(count === 1 ? [] : known.map((connection) => h("option", { value: connection }, this.name(connection)))),
    );
    this.select.addEventListener("change", () => this.choose(Number(this.select.value)));
  }

  /** Shows the paths and subflows of a connection, or of all; those without lines of their own have only the latter. */
  choose(connection) {
    this.connection = connection;
    this.hidden.clear();
    if (this.select) this.select.value = this.has(connection) ? String(connection) : "";
    this.connections.render(true);
    this.subflows.refresh();
    this.draw();
  }

  has(connection) {
    return this.series.connection.includes(connection);
  }

  /** The lines of what is chosen, the sum of the throughputs behind them. */
  lines() {
    const found = [];
    this.series.connection.forEach((connection, i) => {
      if (connection !== this.connection) return;
      const place = found.length;
      found.push({
        index: i, key: this.series.path(i), label: `${this.series.path(i)} (${number(this.series.subflows[i])})`,
        color: css(`--c${place % 8}`), dash: PATTERNS[(place + Math.floor(place / 8)) % PATTERNS.length], width: 1.5,
      });
    });
    return found;
  }

  draw() {
    for (const each of this.charts) each.destroy();
    this.charts = [];
    if (!this.series) return;
    const { times } = this.series;
    const all = this.lines();
    const lines = all.filter((line) => !this.hidden.has(line.key));
    const values = (measure, /** @type {Record<string, any>} */ from = this.series) => lines.map((line) => row(from[measure], line.index, times.length));
    const together = lines.length > 1
      ? [{ label: lines.length === all.length ? "all paths" : `these ${lines.length} paths`, color: css("--text"), width: 2.5 }]
      : [];
    const withSum = (throughputs) => [...throughputs, ...(together.length
      ? [times.map((_, t) => throughputs.reduce((sum, own) => (own[t] === null ? sum : (sum ?? 0) + own[t]), null))] : [])];
    const beside = this.besides ? this.series.simulated : null;
    const simulated = (shown) => (beside ? shown.map(besideLine) : []);
    const nothing = all.length ? "Nothing is chosen." : "This connection has no lines; those that delivered most have some.";
    this.charts = [
      overTime(
        "path-chart", "Throughput by path", "Mbps", [...simulated([...lines, ...together]), ...lines, ...together],
        [...(beside ? withSum(values("throughput", beside)) : []), ...withSum(values("throughput"))], times, nothing,
      ),
      overTime(
        "path-rtt-chart", "Smoothed RTT by path", "ms", [...simulated(lines), ...lines],
        [...(beside ? values("rtt", beside) : []), ...values("rtt")], times, nothing,
      ),
    ];
    this.legend(all);
  }

  legend(all) {
    const besides = () => {
      this.besides = !this.besides;
      this.draw();
    };
    lineButtons(
      "path-legend", all.map((line) => ({ ...line, title: `${line.key}, ${number(this.series.subflows[line.index])} subflows` })),
      (key) => !this.hidden.has(key), (key) => this.toggle(key),
      ...(this.series.simulated ? [besidesButton(this.besides, besides)] : []),
    );
  }

  toggle(key) {
    if (!this.hidden.delete(key)) this.hidden.add(key);
    this.draw();
  }

  connectionTable() {
    const toggle = (i) => this.choose(this.connection === i ? ALL_CONNECTIONS : i);
    const button = (i) => h(
      "button", { type: "button", class: "plain", "aria-pressed": String(i === this.connection),
        onclick: (event) => { event.stopPropagation(); toggle(i); this.focus(i); } }, this.name(i),
    );
    return shownTable("connection-table", this.data.connections, {
      cells: { name: button }, chosen: (i) => i === this.connection, onChoose: toggle,
    });
  }

  focus(connection) {
    /** @type {NodeListOf<HTMLElement>} */
    const found = byId("connection-table").querySelectorAll("button.plain");
    [...found].find((button) => button.textContent === this.name(connection))?.focus();
  }

  subflowTable() {
    const connection = decode(this.data.subflows.connection);
    return shownTable("subflow-table", this.data.subflows, {
      keeps: (i) => this.connection === ALL_CONNECTIONS || connection[i] === this.connection,
    });
  }
}
