// The picture: the parts of the page of a run, drawn anew from each answer, with what the reader has chosen kept.

import {
  LatencySection, MultipathSection, NetworkSection, SeriesSection, byId, collectiveTables, dropPicture, flowTable, h, setData,
  setTimeUnit, setUpDistributions, shortTables, timeMarks,
} from "./page.js";
import { PlanSection } from "./plans.js";

const OF_RUNS = ["collectives", "series", "latency", "multipath", "distributions", "flows", "links"];

export class Picture {
  /** @param {(question: object) => Promise<any>} ask for outlines of land */
  constructor(ask) {
    this.ask = ask;
    this.lands = new Map();
    this.document = null;
    this.isStale = false;
    this.network = null;
    this.series = null;
    this.latency = null;
    this.multipath = null;
    /** @type {(document: any) => void} changes a document before it is drawn */
    this.prepare = () => {};
    /** @type {((network: any, document: any) => void)[]} */
    this.listeners = [];
  }

  /**
   * Draws a document.
   * @param {Record<string, any>} document of an answer
   * @param {{ name: string, document: Record<string, any> } | null} beside a pinned one, whose lines are drawn below
   */
  async draw(document, beside) {
    const { network } = document;
    if (network.layout === "map") document.outlines = await this.land(network.box);
    this.prepare(document);
    this.document = document;
    byId("picture").classList.remove("is-empty");
    dropPicture();
    setData(document);
    setTimeUnit();
    timeMarks.events = document.marks;
    this.words(document);
    const isRun = document.kind === "run";
    // While a live run goes on, there are its lines alone.
    const isLive = document.kind === "live";
    const hasLines = isLive && document.flow_series !== null;
    for (const id of OF_RUNS) byId(id).hidden = !(isRun || (hasLines && id === "series")) || (id in document && document[id] === null);
    byId("plan-tables").hidden = isRun || isLive || document.kind === "network";
    byId("queue-chart").hidden = isLive;
    byId("network").dataset.kind = document.kind;
    this.parts(document);
    this.network = isRun || isLive || document.kind === "network" ? new NetworkSection(this.network ?? undefined) : new PlanSection(document, this.network);
    if (isRun) this.run(document, beside);
    else this.series = hasLines ? new SeriesSection(this.network, { before: this.series ?? undefined, beside: beside ?? undefined }) : null;
    for (const listener of this.listeners) listener(this.network, document);
  }

  run(document, beside) {
    const other = beside ?? undefined;
    this.series = new SeriesSection(this.network, { before: this.series ?? undefined, beside: other });
    this.latency = document.latency ? new LatencySection({ before: this.latency ?? undefined, beside: other }) : null;
    if (document.collectives) collectiveTables();
    this.multipath = document.multipath ? new MultipathSection({ before: this.multipath ?? undefined, beside: other }) : null;
    setUpDistributions();
    flowTable(this.series);
    shortTables();
  }

  /** Outlines of land, asked for once for each box. */
  async land(box) {
    const key = JSON.stringify(box);
    if (!this.lands.has(key)) this.lands.set(key, await this.ask({ what: "land", box }).catch(() => undefined));
    return this.lands.get(key);
  }

  words(document) {
    const { cards, warnings, notes, texts = [], network_source: source = [] } = document;
    byId("cards").replaceChildren(...cards.map(cardElement));
    const box = byId("warnings");
    box.hidden = !warnings.length;
    box.querySelector("ul").replaceChildren(...warnings.map((words) => h("li", {}, words)));
    byId("notes").replaceChildren(...[...notes, ...source].map((words) => h("li", {}, words)));
    byId("texts").replaceChildren(...texts.map((words) => h("p", { class: "lead" }, words)));
  }

  /** Hides the parts that this document does not have. */
  parts(document) {
    const { events, routes, flows } = document;
    const shown = {
      down: events.some(({ kind }) => kind === "link down"), moved: Boolean(routes?.moved), several: flows?.rows > 1,
      events: events.length > 0, reordering: Boolean(document.reordering_table),
    };
    for (const [name, isShown] of Object.entries(shown)) {
      for (const element of /** @type {NodeListOf<HTMLElement>} */ (globalThis.document.querySelectorAll(`[data-part="${name}"]`))) element.hidden = !isShown;
    }
    byId("pair-routes").hidden = !routes;
    if (!routes) byId("route-list").replaceChildren();
    byId("time-controls").hidden = document.kind !== "run";
    byId("network").querySelector("fieldset").hidden = document.kind !== "run";
  }

  /** Nothing is shown of another file. */
  clear() {
    this.document = null;
    this.setStale(false);
    byId("picture").classList.add("is-empty");
  }

  /** Grey while the scenario as it stands cannot be shown. */
  setStale(isStale) {
    this.isStale = isStale && this.document !== null;
    byId("picture").classList.toggle("is-stale", this.isStale);
    byId("stale").hidden = !this.isStale;
  }
}

export function cardElement({ label, value, note }) {
  return h("li", { class: "card" }, h("div", { class: "label" }, label), h("div", { class: "value" }, value), h("div", { class: "note" }, note));
}
