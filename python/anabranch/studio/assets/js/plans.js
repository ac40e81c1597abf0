// Loads and routes: the network in the colours of the loads, and the tables of the plan.

import { RouteChooser, byId, decode, h, linkColors, mapOf, measure, number, numbersOf, ramp, shownTable, textsOf, themeListeners, withUnit } from "./page.js";

export class PlanSection {
  /**
   * @param {Record<string, any>} document of loads or routes
   * @param {any} before the section in whose place it comes
   */
  constructor(document, before) {
    this.document = document;
    this.count = document.links.rows;
    this.name = textsOf(document.links, "name");
    this.link = -1;
    this.linkListeners = [];
    // A run that was played ends with its picture.
    before?.stop?.();
    this.delays = numbersOf(document.links, "delay_ms");
    this.loads = document.load ? decode(document.load) : new Float32Array(this.count).fill(NaN);
    this.map = mapOf(byId("map"), document, (node) => this.chooseNode(node), (link) => this.chooseLink(link), before?.map);
    this.shares = null;
    this.routes = document.routes ? new RouteChooser(this, before?.routes ?? undefined) : null;
    this.update();
    themeListeners.push(() => this.update());
    this.tables();
  }

  chooseNode(node) {
    this.routes?.chooseNode(node);
  }

  showRoutes(shares, ends) {
    this.shares = shares;
    this.map.highlight(shares, ends);
    this.update();
  }

  chooseLink(link) {
    this.link = this.link === link ? -1 : link;
    this.map.select(this.link);
    for (const listener of this.linkListeners) listener(this.link);
  }

  update() {
    const { scale } = this.document.network;
    const loads = Array.from(this.loads, (load) => (Number.isNaN(load) ? 0 : load));
    this.map.color(loads, scale, new Set(), (i) => [
      `${measure(this.map.capacities[i], "Mbps")}, ${measure(this.delays?.[i] ?? NaN, "ms")}`,
      ...(this.shares?.get(i) ? [`${number(Math.round(this.shares.get(i) * 1000) / 10)} % of the pair's packets`] : []),
      ...(Number.isNaN(this.loads[i]) ? [] : [`load ${number(Math.round(this.loads[i] * 1000) / 10)} %`]),
    ]);
    const { stops } = linkColors();
    byId("ramp").style.background = `linear-gradient(to right,${stops.map((_, i) => ramp(stops, i / (stops.length - 1))).join(",")})`;
    byId("ramp-least").textContent = "0";
    byId("ramp-most").textContent = withUnit(scale.full * 100, "%");
    byId("width-words").textContent = this.document.network.width_words;
    // A network may have more links than a call has arguments.
    const busiest = loads.reduce((most, load, i) => (most < 0 || load > loads[most] ? i : most), -1);
    const greatest = this.document.load && busiest >= 0
      ? ` Highest load: ${this.name(busiest)}, ${number(Math.round(loads[busiest] * 1000) / 10)} %.` : "";
    byId("map-summary").textContent = `${this.document.network.names.length} nodes, ${this.count} directed links.${greatest}`;
  }

  tables() {
    const place = byId("plan-tables");
    const captions = JSON.stringify(this.document.tables.map(({ caption }) => caption));
    // Tables that are there already stay, as the reader has sorted them.
    if (place.dataset.captions !== captions) {
      place.dataset.captions = captions;
      place.replaceChildren(...this.document.tables.map((table, i) => h("section", {}, h("h2", {}, table.caption), h("div", { id: `plan-table-${i}` }))));
    }
    this.document.tables.forEach((table, i) => shownTable(`plan-table-${i}`, table));
  }
}
