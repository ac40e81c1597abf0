// The network is drawn: nodes and links by the pointer or by a form, a link's settings, and when it fails.

import { byId, decode, h, numbersOf, textsOf, measure } from "./page.js";
import { blank, degreesOf, drawnAt, encode } from "./geometry.js";

const CLICK_MOVES = 4;
/** What a link has that is set here, and what a new one begins with where no setting of all links says it. */
/** @type {string[][]} */
const SETTINGS = [["capacity", "10 Mbps"], ["delay", "5 ms"], ["queue", null], ["loss", null]];
/** What holds where nothing is set. */
const USUAL = { queue: "100 packets", loss: "0" };
const TOOLS = [["choose", "Move and choose"], ["node", "Draw nodes"], ["link", "Draw links"]];

export class Draw {
  constructor(model, picture, schema) {
    this.model = model;
    this.picture = picture;
    this.schema = schema;
    this.panel = byId("panel-network-edit");
    this.tool = "choose";
    this.layout = "map";
    this.link = -1;
    this.node = -1;
    this.isOpen = false;
    this.svg = null;
    /** Called where a link is chosen, and where another ground is. */
    this.onLink = () => {};
    this.onGround = () => {};
    picture.prepare = (document) => this.putPlaces(document);
    picture.listeners.push((network) => this.attach(network));
    model.on("answer", () => this.refresh());
  }

  /** While its tab is open, the pointer draws; else it moves the map, as on every page. */
  setOpen(isOpen) {
    this.isOpen = isOpen;
    byId("map").classList.toggle("drawing", isOpen && this.tool !== "choose");
    this.refresh(true);
  }

  /** Where there is nothing to draw yet, the whole world or a plane. */
  empty() {
    return blank(this.layout === "map" ? "map" : "distances");
  }

  // Places in a plane, which no field of a scenario holds, are this browser's.

  get placesKey() {
    return `anabranch-studio:${this.model.file}`;
  }

  places() {
    try {
      return JSON.parse(localStorage.getItem(this.placesKey) ?? "{}");
    } catch {
      return {};
    }
  }

  keepPlace(name, place) {
    const places = { ...this.places(), [name]: place };
    try {
      localStorage.setItem(this.placesKey, JSON.stringify(places));
    } catch { /* Full, or forbidden: the drawing is made by the program then. */ }
  }

  putPlaces({ network }) {
    if (network.layout === "map") return;
    const places = this.places();
    if (!network.names.some((name) => name in places)) return;
    const [x, y] = [Array.from(decode(network.x)), Array.from(decode(network.y))];
    network.names.forEach((name, i) => { if (places[name]) [x[i], y[i]] = places[name]; });
    [network.x, network.y] = [encode(x), encode(y)];
    network.layout = "distances";
  }

  // The pointer.

  attach(network) {
    this.network = network;
    const { svg } = network.map;
    network.linkListeners.push((link) => { this.link = link; this.node = -1; this.refresh(true); if (link >= 0) this.onLink(); });
    this.link = network.link;
    byId("map").classList.toggle("drawing", this.isOpen && this.tool !== "choose");
    this.refresh();
    // The same drawing may show many pictures.
    if (svg === this.svg) return;
    this.svg = svg;
    let from = null;
    svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; this.grab(event); }, true);
    svg.addEventListener("click", (event) => {
      const isMoved = from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) > CLICK_MOVES;
      if (this.isOpen && !isMoved) this.click(event);
    }, true);
  }

  nodeOf(event) {
    const number = event.target.getAttribute?.("data-node");
    return number === null || number === undefined ? -1 : Number(number);
  }

  click(event) {
    const node = this.nodeOf(event);
    const { map } = this.network;
    if (this.tool === "node" && node < 0 && !event.target.hasAttribute("data-link")) {
      event.stopPropagation();
      this.addNode(this.freeName(), "router", drawnAt(map, event));
    } else if (this.tool === "link" && node >= 0) {
      event.stopPropagation();
      this.pick(node);
    } else if (this.tool === "choose" && node >= 0) {
      this.node = node;
      this.link = -1;
      this.refresh(true);
    }
  }

  /** The first node that is clicked is one end of a link, the next one the other. */
  pick(node) {
    const { map } = this.network;
    const { names } = map.network;
    if (this.picked === undefined || this.picked === names[node]) {
      this.picked = this.picked === undefined ? names[node] : undefined;
    } else {
      this.addLink(this.picked, names[node]);
      this.picked = undefined;
    }
    map.dots.forEach((dot, i) => dot.classList.toggle("picked", names[i] === this.picked));
  }

  /** Drags a node of the scenario's own, or any in a plane. */
  grab(event) {
    const node = this.nodeOf(event);
    if (!this.isOpen || this.tool !== "choose" || node < 0) return;
    const { map } = this.network;
    const name = map.network.names[node];
    const entry = this.ownNode(name);
    if (map.isMap && entry < 0) return;
    event.stopPropagation();
    const start = [event.clientX, event.clientY];
    let place = null;
    const move = (now) => {
      if (!place && Math.hypot(now.clientX - start[0], now.clientY - start[1]) <= CLICK_MOVES) return;
      place = drawnAt(map, now);
      [map.x[node], map.y[node]] = place;
      map.place();
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      if (place) this.moved(name, entry, place);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  moved(name, entry, place) {
    const { map } = this.network;
    if (!map.isMap) {
      // All of them, or the others would move when the program draws anew.
      map.network.names.forEach((each, i) => this.keepPlace(each, [map.x[i], map.y[i]]));
      this.keepPlace(name, place);
      return;
    }
    const degrees = degreesOf(map, place);
    this.model.change(Object.entries(degrees).map(([key, value]) => ({ place: ["network", "node", entry, key], value })));
  }

  // The scenario's own nodes and links.

  ownNodes() {
    return this.model.data?.network?.node ?? [];
  }

  ownNode(name) {
    return this.ownNodes().findIndex((entry) => entry.name === name);
  }

  /** The entry of the scenario that sets a link, or adds it; -1 where there is none. */
  entryOf(a, b) {
    const entries = this.model.data?.network?.link ?? [];
    return entries.findIndex(({ between, index }) => Array.isArray(between) && index === undefined && between.includes(a) && between.includes(b) && a !== b);
  }

  freeName() {
    const names = new Set(this.network.map.network.names);
    let number = 1;
    while (names.has(`n${number}`)) number++;
    return `n${number}`;
  }

  addNode(name, kind, place = null) {
    const node = { name, ...(kind === "router" ? {} : { kind }) };
    const map = this.network?.map;
    if (place && map?.isMap) Object.assign(node, degreesOf(map, place));
    else if (place) this.keepPlace(name, place);
    this.model.change([{ place: ["network", "node"], append: node }]);
  }

  addLink(a, b) {
    const settings = this.model.data?.network?.links ?? {};
    const defaults = Object.fromEntries(SETTINGS.filter(([key, start]) => start !== null && settings[key] === undefined));
    this.model.change([{ place: ["network", "link"], append: { between: [a, b], new: true, ...defaults } }]);
  }

  removeNode(name) {
    const { data } = this.model;
    const links = (data.network.link ?? []).map(({ between, new: isNew }, i) => (isNew && between?.includes(name) ? i : -1)).filter((i) => i >= 0).reverse();
    this.model.change([...links.map((i) => ({ place: ["network", "link", i], remove: true })), { place: ["network", "node", this.ownNode(name)], remove: true }]);
    this.node = -1;
  }

  // The panel, which does all of it without a pointer, too.

  refresh(isChosen = false) {
    if (this.panel.hidden || (!isChosen && this.panel.contains(document.activeElement) && document.activeElement?.tagName === "INPUT")) return;
    const { names } = this.picture.document?.network ?? { names: [] };
    const focused = this.panel.contains(document.activeElement) ? document.activeElement.id : "";
    this.panel.replaceChildren(...this.toolPart(), ...this.chosenPart(), ...this.addPart(names));
    if (focused) byId(focused)?.focus();
  }

  toolPart() {
    const radio = (group, value, label, isOn, act) => h("label", {}, h("input", { type: "radio", name: group, id: `${group}-${value}`, value, checked: isOn, onchange: act }), ` ${label}`);
    const tools = TOOLS.map(([value, label]) => radio("tool", value, label, this.tool === value, () => { this.tool = value; this.setOpen(true); }));
    const isEmpty = !(this.picture.document?.network.names.length);
    const layouts = isEmpty ? [h("fieldset", { class: "controls" }, h("legend", { class: "unseen" }, "Ground"),
      ...[["map", "Map"], ["plane", "Plane"]].map(([value, label]) => radio("ground", value, label, this.layout === value, () => { this.layout = value; this.onGround(); })))] : [];
    const words = { choose: "Drag nodes; click a link or a node to change it.", node: "Click where a node is to stand.", link: "Click two nodes, one after the other." };
    return [h("h3", {}, "Drawing"), h("div", { class: "bar" }, h("fieldset", {}, h("legend", { class: "unseen" }, "What the pointer does"), ...tools)), ...layouts, h("p", { class: "help" }, words[this.tool])];
  }

  chosenPart() {
    const document = this.picture.document;
    if (!document) return [];
    const { names } = document.network;
    if (this.node >= 0 && names[this.node] !== undefined) return this.nodePart(names[this.node]);
    if (this.link >= 0 && this.link < document.links.rows) return this.linkPart(document);
    return [];
  }

  nodePart(name) {
    const entry = this.ownNode(name);
    if (entry < 0) return [h("h3", {}, `Node ${name}`), h("p", { class: "help" }, "It belongs to the topology, so that it can be neither moved nor removed here.")];
    const kind = this.ownNodes()[entry].kind ?? "router";
    return [h("h3", {}, `Node ${name}`), h("div", { class: "form-line" },
      h("label", {}, "Kind", h("select", { id: "node-kind", onchange: (event) => this.model.change([{ place: ["network", "node", entry, "kind"], value: event.target.value }]) },
        ...["router", "switch", "host"].map((each) => h("option", { value: each, selected: each === kind }, each)))),
      h("button", { type: "button", onclick: () => this.removeNode(name) }, "Remove node"))];
  }

  linkPart(document) {
    const { links, network } = document;
    const [a, b] = [network.names[decode(links.from)[this.link]], network.names[decode(links.to)[this.link]]];
    const entry = this.entryOf(a, b);
    const settings = entry < 0 ? {} : this.model.data.network.link[entry];
    const ofAll = this.model.data?.network?.links ?? {};
    const usual = (key) => (["string", "number"].includes(typeof ofAll[key]) ? String(ofAll[key]) : ofAll[key] === undefined ? USUAL[key] : "as network.links");
    const now = { queue: usual("queue"), loss: usual("loss"), capacity: measure(numbersOf(links, "capacity_mbps")[this.link], "Mbps"), delay: measure(numbersOf(links, "delay_ms")?.[this.link] ?? NaN, "ms") };
    const set = (key, typed) => {
      const count = this.model.data?.network?.link?.length ?? 0;
      const place = ["network", "link", entry < 0 ? count : entry, key];
      const made = entry < 0 ? [{ place: ["network", "link"], append: { between: [a, b] } }] : [];
      this.model.change([...made, typed === "" ? { place, remove: true } : { place, typed }]);
    };
    /** @param {string[]} setting */
    const field = ([key]) => h("label", {}, key, h("input", {
      type: "text", id: `link-${key}`, value: typeof settings[key] === "object" ? "" : settings[key] ?? "", placeholder: now[key],
      onchange: (event) => set(key, event.target.value.trim()),
    }));
    return [
      h("h3", {}, `Link ${textsOf(links, "name")(this.link)}`),
      h("p", { class: "help" }, "Both directions. What is empty comes from the settings of all links or the topology, as it stands in grey."),
      h("div", { class: "form-line" }, ...SETTINGS.map(field)),
      this.failurePart(a, b),
      settings.new ? h("button", {
        type: "button", id: "remove-link", onclick: () => this.model.change([{ place: ["network", "link", entry], remove: true }]),
      }, "Remove link") : "",
    ];
  }

  failurePart(a, b) {
    const at = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "down-at", value: "5 s" }));
    const until = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "down-until", placeholder: "the end" }));
    const event = (time, state) => ({ place: ["event"], append: { at: time, link: [a, b], state } });
    const take = () => this.model.change([event(at.value.trim(), "down"), ...(until.value.trim() ? [event(until.value.trim(), "up")] : [])]);
    return h("div", { class: "form-line" }, h("label", {}, "Down at", at), h("label", {}, "until", until),
      h("button", { type: "button", id: "take-down", onclick: take }, "Take it down"));
  }

  addPart(names) {
    const name = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "node-name", value: this.network ? this.freeName() : "n1" }));
    const kind = /** @type {HTMLSelectElement} */ (h("select", { id: "new-kind" }, ...["router", "switch", "host"].map((each) => h("option", { value: each }, each))));
    const end = (id, label, at) => {
      const select = h("select", { id }, ...names.map((each, i) => h("option", { value: each, selected: i === at }, each)));
      return { select: /** @type {HTMLSelectElement} */ (select), label: h("label", {}, label, select) };
    };
    const [from, to] = [end("link-from", "Link from", 0), end("link-to", "to", Math.max(0, names.length - 1))];
    return [
      h("h3", {}, "Add"),
      h("div", { class: "form-line" }, h("label", {}, "Node", name), h("label", {}, "Kind", kind),
        h("button", { type: "button", id: "add-node", onclick: () => this.addNode(name.value.trim(), kind.value) }, "Add node")),
      h("div", { class: "form-line" }, from.label, to.label,
        h("button", { type: "button", id: "add-link", disabled: names.length < 2, onclick: () => this.addLink(from.select.value, to.select.value) }, "Add link")),
    ];
  }
}
