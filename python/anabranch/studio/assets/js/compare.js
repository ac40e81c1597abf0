// A pinned run beside the one that is shown: its lines below, and the differences of both as tables; loads in the same way.

import { byId, columnsOf, dataTable, h, number, numbersOf, shownTable, textsOf } from "./page.js";
import { placeWords } from "./schema.js";
import { cardElement } from "./picture.js";

/** Columns of which a difference says something: of flows, and of links. */
const FLOWS = ["goodput_mbps", "completion_s", "rtt_mean_ms", "retransmissions", "timeouts"];
const LATENCIES = ["latency_p50_ms", "latency_p95_ms", "latency_mean_ms", "loss_ratio"];
const LINKS = ["utilization", "queue_mean_packets", "queue_max_packets", "packets"];
const LOADS = ["load_percent", "headroom_percent"];
/** What can stand beside another of its kind. */
const COMPARED = new Set(["run", "loads"]);
const PINNED = { run: "the pinned run", loads: "the pinned loads" };

export class Compare {
  constructor(model, picture, schema, transports) {
    this.model = model;
    this.picture = picture;
    this.schema = schema;
    this.transports = transports;
    /** @type {{ name: string, document: Record<string, any> } | null} */
    this.pinned = null;
    this.select = /** @type {HTMLSelectElement} */ (byId("beside"));
    byId("pin").addEventListener("click", () => this.pinShown());
    byId("unpin").addEventListener("click", () => this.pin(null));
    this.select.addEventListener("change", () => this.runBeside());
    // A run of another file has other flows.
    model.on("load", () => { this.pinned = null; });
    model.on("text", () => this.offer());
    model.on("answer", () => this.offer());
    picture.listeners.push(() => this.show());
  }

  pinShown() {
    const { document } = this.picture;
    if (COMPARED.has(document?.kind)) this.pin({ name: PINNED[document.kind], document });
  }

  /** The pinned run or loads, where this picture is of the same kind. */
  besideOf(document) {
    return this.pinned?.document.kind === document?.kind ? this.pinned : null;
  }

  /** @param {{ name: string, document: Record<string, any> } | null} pinned */
  pin(pinned) {
    this.pinned = pinned;
    if (this.picture.document) this.picture.draw(this.picture.document, this.besideOf(this.picture.document));
  }

  /** The other names that a transport or a scheme may have: each is a run beside this one. */
  variants() {
    const { data } = this.model;
    if (!data) return [];
    const ownTransports = Object.keys(data.transport ?? {});
    const transports = (data.traffic ?? []).flatMap((entry, i) => [...new Set([...ownTransports, ...this.transports])]
      .filter((name) => name !== (entry.transport ?? "")).map((name) => ({ steps: ["traffic", i, "transport"], value: name })));
    const places = [["routing", "scheme"], ["routing", "load_balancing"], ["network", "links", "queue"]];
    const schemes = places.flatMap((steps) => {
      const field = this.schema.at(data, steps);
      const now = steps.reduce((value, step) => value?.[step], data);
      return field ? this.schema.names(field).filter((name) => name !== now && name !== now?.algorithm).map((value) => ({ steps, value })) : [];
    });
    return [...schemes, ...transports].map((each) => ({ ...each, words: `${placeWords(data, each.steps)} = ${each.value}` }));
  }

  offer() {
    const variants = this.variants();
    const key = JSON.stringify(variants);
    if (key === this.key) return;
    this.key = key;
    this.offered = variants;
    this.select.replaceChildren(h("option", { value: "" }, "Beside…"), ...variants.map(({ words }, i) => h("option", { value: i }, words)));
  }

  /** Runs a variant beside the scenario, which stays as it is. */
  async runBeside() {
    const variant = this.offered[Number(this.select.value)];
    if (this.select.value === "" || !variant) return;
    this.select.value = "";
    const { model } = this;
    try {
      const answer = await model.answerer.ask({
        what: "show", tab: `${model.tab}-beside`, file: model.file, text: model.text, mode: model.mode === "loads" ? "loads" : "run",
        changes: [...model.pending, { place: variant.steps, value: variant.value }],
      });
      if (answer.problems.length || !answer.picture) throw new Error(answer.problems.map(({ place, message }) => `${place}: ${message}`).join("\n"));
      this.pin({ name: variant.words, document: answer.picture });
    } catch (error) {
      byId("said").textContent = `${variant.words}: ${error.message}`;
    }
  }

  show() {
    const now = this.picture.document;
    const isShown = COMPARED.has(now?.kind) && this.besideOf(now) !== null;
    byId("compare").hidden = !isShown;
    byId("pin").disabled = !COMPARED.has(now?.kind);
    this.select.disabled = !COMPARED.has(now?.kind);
    if (!isShown) return;
    byId("compare-name").textContent = this.pinned.name;
    const before = this.pinned.document;
    const of = new Map(before.cards.map((card) => [card.label, card.value]));
    byId("compare-cards").replaceChildren(...now.cards.filter(({ label, value }) => of.has(label) && of.get(label) !== value)
      .map(({ label, value }) => cardElement({ label, value, note: `beside: ${of.get(label)}` })));
    byId("compare-of-flows").hidden = now.kind === "loads";
    if (now.kind === "loads") {
      byId("compare-latency").hidden = true;
      const [mine, theirs] = [now, before].map(({ tables }) => tables.find((table) => columnsOf(table).has("load_percent")));
      differences(byId("compare-links"), "Highest loads of both", mine, theirs, LOADS, "link");
      return;
    }
    // Of a live run the kernel says less of a flow than a simulation does: what both say is told.
    if (now.against) shownTable("compare-flows", now.against);
    else differences(byId("compare-flows"), "Flows of both", now.flows, before.flows, FLOWS);
    const latencies = now.latency && before.latency ? [now.latency.table, before.latency.table] : null;
    byId("compare-latency").hidden = !latencies;
    if (latencies) differences(byId("compare-latency-table"), "Latencies of both", latencies[0], latencies[1], LATENCIES);
    differences(byId("compare-links"), "Links of both", now.links, before.links, LINKS);
  }
}

/** A table of two: for each row its values in both, and how far the first is from the second. */
function differences(place, caption, now, before, keys, nameKey = "name") {
  const [name, other] = [textsOf(now, nameKey), textsOf(before, nameKey)];
  const row = new Map(Array.from({ length: before.rows }, (_, i) => [other(i), i]));
  const columns = [{ heading: "name", text: name }];
  for (const key of keys) {
    const [mine, theirs] = [numbersOf(now, key), numbersOf(before, key)];
    if (!mine || !theirs) continue;
    const { heading, unit, text } = columnsOf(now).get(key);
    // Both columns have the unit of the first one.
    const factor = now.columns.find((column) => column.key === key).factor;
    const theirValue = (i) => (row.has(name(i)) ? theirs[row.get(name(i))] : NaN);
    const percent = (i) => (100 * (mine[i] - theirValue(i))) / Math.abs(theirValue(i));
    columns.push(
      { heading, unit, text, value: (i) => mine[i] },
      { heading: "beside", unit, text: (i) => number(theirValue(i) * factor), value: theirValue },
      { heading: "change", unit: "%", text: (i) => changeText(percent(i)), value: percent },
    );
  }
  dataTable(place, { caption, rows: now.rows, columns, search: name });
}

function changeText(percent) {
  if (!Number.isFinite(percent)) return "–";
  const rounded = Math.round(percent * 10) / 10;
  return `${rounded > 0 ? "+" : ""}${number(rounded)}`;
}
