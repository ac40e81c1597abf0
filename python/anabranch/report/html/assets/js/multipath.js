// Multipath TCP: what each path carries, of all connections or of one, and the tables of both.

const ALL_CONNECTIONS = -1;

class MultipathSection {
  /**
   * @param {{ before?: MultipathSection, beside?: { name: string, document: Record<string, any> } }} [more] the section in
   *   whose place it comes, and another run whose lines are drawn below
   */
  constructor({ before, beside } = {}) {
    this.data = DATA.multipath;
    this.connection = ALL_CONNECTIONS;
    this.name = textsOf(this.data.connections, "name");
    const { series } = this.data;
    this.connectionOf = (series?.lines ?? []).map(({ row }) => row ?? ALL_CONNECTIONS);
    if (series) {
      this.lines = new LineCharts(series, { legend: "path-legend", charts: ["path-chart", "path-rtt-chart"],
        before: before?.lines, beside: besideLines(beside, (document) => document.multipath?.series) });
      this.setUpSelect();
    }
    this.connections = this.connectionTable();
    this.subflows = this.subflowTable();
    this.keep(before?.chosen() ?? null);
  }

  /** The name of the connection that the reader has chosen, or null. */
  chosen() {
    return this.connection === ALL_CONNECTIONS ? null : this.name(this.connection);
  }

  /** Chooses the connection of a name, if there is one. */
  keep(name) {
    const connection = Array.from({ length: this.data.connections.rows }, (_, i) => this.name(i)).indexOf(name);
    if (connection >= 0) this.choose(connection);
  }

  setUpSelect() {
    const count = this.data.connections.rows;
    const connections = [...new Set(this.connectionOf)].filter((connection) => connection !== ALL_CONNECTIONS);
    connections.sort((a, b) => a - b);
    this.select = /** @type {HTMLSelectElement} */ (byId("connection"));
    this.select.replaceChildren(
      h("option", { value: ALL_CONNECTIONS }, count === 1 ? "the connection" : `all ${number(count)} connections`),
      ...(count === 1 ? [] : connections.map((connection) => h("option", { value: connection }, this.name(connection)))),
    );
    onPicture(this.select, "change", () => this.choose(Number(this.select.value)));
  }

  /** Shows the paths and subflows of a connection, or of all; those without lines of their own have only the latter. */
  choose(connection) {
    this.connection = connection;
    const lines = [...this.connectionOf.keys()].filter((i) => this.connectionOf[i] === connection);
    if (this.select) this.select.value = lines.length ? String(connection) : "";
    this.connections.render(true);
    this.subflows.refresh();
    this.lines?.offer(lines, lines.length
      ? "Nothing is chosen." : "This connection has no lines; those that delivered most have some.");
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
    const buttons = byId("connection-table").querySelectorAll("button.plain");
    [...buttons].find((button) => button.textContent === this.name(connection))?.focus();
  }

  subflowTable() {
    const connection = decode(this.data.subflows.connection);
    return shownTable("subflow-table", this.data.subflows, {
      keeps: (i) => this.connection === ALL_CONNECTIONS || connection[i] === this.connection,
    });
  }
}
