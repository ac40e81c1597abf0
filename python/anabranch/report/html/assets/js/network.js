// The section of the network: what colours the links, when, and whose routes.

class NetworkSection {
  /** @param {NetworkSection} [before] the section in whose place it comes, of which it keeps what the reader chose */
  constructor(before) {
    this.series = DATA.link_series;
    this.count = DATA.links.rows;
    this.times = this.series ? decode(this.series.times) : new Float64Array(0);
    this.name = textsOf(DATA.links, "name");
    this.measure = before?.measure ?? "utilization";
    this.step = -1;
    this.link = -1;
    this.linkListeners = [];
    this.shares = null;
    this.whole = this.wholeRun();
    this.steps = this.series ? {
      utilization: decode(this.series.utilization), queue: decode(this.series.queue_packets), drops: decode(this.series.drops),
    } : null;
    this.delays = this.column("delay_ms");
    this.downs = this.timesDown();
    this.map = mapOf(byId("map"), DATA, (node) => this.chooseNode(node), (link) => this.chooseLink(link), before?.map);
    if (before) this.keep(before);
    this.setUpControls();
    if (before?.playing) {
      before.stop();
      if (this.times.length > 1) this.play();
    }
    this.routes = DATA.routes ? new RouteChooser(this, before?.routes ?? undefined) : null;
    this.table = DATA.kind === "network" ? null : this.linkTable();
    this.update();
    themeListeners.push(() => this.update());
  }

  keep(before) {
    const link = before.link >= 0 ? before.name(before.link) : null;
    this.link = Array.from({ length: this.count }, (_, i) => this.name(i)).indexOf(link);
    this.map.select(this.link);
    // The same moment, where there is one.
    this.step = before.step >= 0 && before.times.length === this.times.length ? before.step : -1;
  }

  column(key) {
    return numbersOf(DATA.links, key) ?? new Float64Array(this.count).fill(NaN);
  }

  wholeRun() {
    return {
      utilization: this.column("utilization").map((share) => share / 100),
      queue: this.column("queue_max_packets"),
      drops: DATA.drops ? decode(DATA.drops) : new Float64Array(this.count),
    };
  }

  /** Of each link, from when until when it was down. */
  timesDown() {
    const number = new Map(Array.from({ length: this.count }, (_, i) => [this.name(i), i]));
    const timesByLink = new Map();
    for (const event of DATA.events) {
      const link = number.get(event.subject);
      if (link === undefined) continue;
      const times = timesByLink.get(link) ?? [];
      if (event.kind === "link down") times.push([event.time_s, Infinity]);
      if (event.kind === "link up" && times.length) times[times.length - 1][1] = event.time_s;
      timesByLink.set(link, times);
    }
    return timesByLink;
  }

  down(time) {
    const links = [...this.downs].filter(([, spans]) => spans.some(([from, until]) => from < time && time <= until));
    return new Set(links.map(([link]) => link));
  }

  setUpControls() {
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=measure]"))) {
      onPicture(input, "change", () => { this.measure = input.value; this.update(); });
    }
    this.slider = /** @type {HTMLInputElement} */ (byId("time"));
    this.playing = 0;
    if (!this.series || this.times.length < 2) {
      byId("time-controls").hidden = true;
      return;
    }
    byId("time-controls").hidden = false;
    this.slider.max = this.times.length;
    this.slider.value = String(this.step + 1);
    onPicture(this.slider, "input", () => { this.step = Number(this.slider.value) - 1; this.update(); });
    onPicture(byId("play"), "click", () => this.play());
    onPicture(byId("whole"), "click", () => { this.stop(); this.goTo(-1); });
  }

  goTo(step) {
    this.step = step;
    this.slider.value = step + 1;
    this.update();
  }

  play() {
    if (this.playing) { this.stop(); return; }
    if (this.step >= this.times.length - 1) this.step = -1;
    byId("play").textContent = "Pause";
    // About fifteen seconds for the run, however many steps it has.
    const stride = Math.max(1, Math.round(this.times.length / 150));
    this.playing = setInterval(() => {
      this.goTo(Math.min(this.step + stride, this.times.length - 1));
      if (this.step >= this.times.length - 1) this.stop();
    }, 100);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = 0;
    byId("play").textContent = "Play";
  }

  /** Values of all links for a measure, at the slider's time or over the whole run. */
  values(measure) {
    if (this.step < 0 || !this.steps) return this.whole[measure];
    const { length } = this.times;
    return Float64Array.from({ length: this.count }, (_, i) => this.steps[measure][i * length + this.step]);
  }

  /** The scale of colours: that of a share of the capacity, or for packets up to the most that there are. */
  scale() {
    if (this.measure === "utilization") return DATA.network.scale;
    const values = this.step < 0 || !this.steps ? this.whole[this.measure] : this.steps[this.measure];
    return { full: Math.max(extent(values)[1], 1), limit: null };
  }

  update() {
    const scale = this.scale();
    const now = { utilization: this.values("utilization"), queue: this.values("queue"), drops: this.values("drops") };
    const time = this.step < 0 ? null : this.times[this.step];
    const down = time === null ? new Set() : this.down(time);
    this.map.color(now[this.measure], scale, down, (i) => [
      `${measure(this.map.capacities[i], "Mbps")}, ${measure(this.delays[i], "ms")}${down.has(i) ? ", down" : ""}`,
      `utilization ${number(Math.round(now.utilization[i] * 1000) / 10)} %`,
      `${this.step < 0 ? "longest queue" : "queue"} ${withUnit(now.queue[i], "packets")}`,
      `${withUnit(now.drops[i], "packets")} dropped`,
      ...(this.shares?.get(i) ? [`${number(Math.round(this.shares.get(i) * 1000) / 10)} % of the pair's packets`] : []),
    ]);
    const words = time === null ? "whole run" : withUnit(time * timeMarks.scale, timeMarks.unit);
    byId("time-value").textContent = words;
    this.slider.setAttribute("aria-valuetext", words);
    this.legend(scale);
    byId("map-summary").textContent = this.summary(now);
    timeMarks.now = time;
    liveCharts.forEach((each) => { if (each.marks) each.redraw(); });
  }

  legend({ full }) {
    const { stops } = linkColors();
    byId("ramp").style.background = `linear-gradient(to right,${stops.map((_, i) => ramp(stops, i / (stops.length - 1))).join(",")})`;
    const isShare = this.measure === "utilization";
    byId("ramp-least").textContent = "0";
    byId("ramp-most").textContent = isShare ? withUnit(full * 100, "%") : withUnit(full, "packets");
    byId("width-words").textContent = DATA.network.width_words;
  }

  summary(now) {
    const size = `${DATA.network.names.length} nodes, ${this.count} directed links.`;
    if (DATA.kind === "network") return `${size} Not simulated.`;
    // Of the links of a live run nobody hears before its end.
    if (DATA.kind === "live") return size;
    let busiest = 0;
    for (let i = 1; i < this.count; i++) if (now[this.measure][i] > now[this.measure][busiest]) busiest = i;
    const names = { utilization: "utilization", queue: "queue", drops: "drops" };
    const value = now[this.measure][busiest];
    const text = this.measure === "utilization" ? `${number(Math.round(value * 1000) / 10)} %` : withUnit(value, "packets");
    return `${size} Greatest ${names[this.measure]}: `
      + `${this.name(busiest)}, ${text}.`;
  }

  chooseNode(node) {
    this.routes?.chooseNode(node);
  }

  chooseLink(link) {
    this.link = this.link === link ? -1 : link;
    this.map.select(this.link);
    this.table?.render(true);
    for (const listener of this.linkListeners) listener(this.link);
  }

  showRoutes(shares, ends) {
    this.shares = shares;
    this.map.highlight(shares, ends);
    this.update();
  }

  linkTable() {
    const button = (i) => h(
      "button", { type: "button", class: "plain", "aria-pressed": String(i === this.link),
        onclick: (event) => { event.stopPropagation(); this.chooseLink(i); } }, this.name(i),
    );
    return shownTable("link-table", DATA.links, {
      cells: { name: button }, chosen: (i) => i === this.link, onChoose: (i) => this.chooseLink(i),
    });
  }
}

/** Which pair's routes are shown. */
class RouteChooser {
  /**
   * @param {NetworkSection} section
   * @param {RouteChooser} [before] whose pair stays, where there still is one of these names
   */
  constructor(section, before) {
    this.section = section;
    this.bySource = new Map();
    DATA.routes.pairs.forEach((pair, i) => {
      const destinations = this.bySource.get(pair[0]) ?? new Map();
      this.bySource.set(pair[0], destinations.set(pair[1], i));
    });
    this.source = /** @type {HTMLSelectElement} */ (byId("route-from"));
    this.destination = /** @type {HTMLSelectElement} */ (byId("route-to"));
    const words = new Intl.Collator(undefined, { numeric: true });
    this.byName = (a, b) => words.compare(DATA.network.names[a], DATA.network.names[b]);
    this.fill(this.source, [...this.bySource.keys()], "none");
    this.fill(this.destination, [], "none");
    onPicture(this.source, "change", () => this.sourceChanged());
    onPicture(this.destination, "change", () => this.show());
    const [from, to] = (before?.pair ?? []).map((name) => DATA.network.names.indexOf(name));
    if (this.bySource.get(from)?.has(to)) {
      this.source.value = String(from);
      this.fill(this.destination, [...this.bySource.get(from).keys()], "");
      this.destination.value = String(to);
    }
    this.show();
  }

  fill(select, nodes, first) {
    select.replaceChildren(
      ...(first ? [h("option", { value: "" }, first)] : []),
      ...nodes.sort(this.byName).map((node) => h("option", { value: node }, DATA.network.names[node])),
    );
  }

  sourceChanged() {
    const destinations = this.bySource.get(Number(this.source.value));
    if (this.source.value === "" || !destinations) this.fill(this.destination, [], "none");
    else this.fill(this.destination, [...destinations.keys()], "");
    this.show();
  }

  /** The first node that is clicked is the source, the next one the destination. */
  chooseNode(node) {
    const destinations = this.source.value === "" ? undefined : this.bySource.get(Number(this.source.value));
    if (destinations?.has(node)) this.destination.value = node;
    else if (this.bySource.has(node)) {
      this.source.value = node;
      this.sourceChanged();
      return;
    }
    this.show();
  }

  show() {
    const list = byId("route-list");
    const destinations = this.source.value === "" ? undefined : this.bySource.get(Number(this.source.value));
    const number_ = destinations?.get(Number(this.destination.value));
    list.replaceChildren();
    /** The names of the chosen pair, or null. */
    this.pair = null;
    if (number_ === undefined) {
      this.section.showRoutes(null, null);
      return;
    }
    const [from, to, flows, count, paths, shares] = DATA.routes.pairs[number_];
    this.pair = [DATA.network.names[from], DATA.network.names[to]];
    this.section.showRoutes(new Map(shares), [from, to]);
    list.append(h("p", {}, `${withUnit(flows, flows === 1 ? "flow" : "flows")}; ${count
      ? `${count} ${count === 1 ? "path" : "paths"}` : "hop by hop, equal shares at each node"}`));
    if (count) list.append(this.pathTable(paths, count));
  }

  pathTable(paths, count) {
    const { map, delays } = this.section;
    const head = ["share", "hops", "delay", "bottleneck", "path"].map((word) => h("th", { scope: "col", class: word === "path" ? "" : "num" }, word));
    const rows = paths.map(([share, links, text]) => {
      const delay = links.reduce((sum, link) => sum + delays[link], 0);
      const narrowest = links.reduce((least, link) => Math.min(least, map.capacities[link]), Infinity);
      const cells = [
        `${number(Math.round(share * 1000) / 10)} %`, String(links.length), measure(delay, "ms"),
        measure(narrowest, "Mbps"), text,
      ];
      return h("tr", {}, ...cells.map((cell, i) => h("td", { class: i < 4 ? "num" : "path" }, cell)));
    });
    const more = count > rows.length ? [h("tr", {}, h("td", { colspan: 5 }, `and ${count - rows.length} more`))] : [];
    return h("table", { class: "paths" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows, ...more));
  }
}
