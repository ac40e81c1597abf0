// The network: a map where there are coordinates, a drawing of its shape where there are none.

const MAP_WIDTH = 1000;
const MAP_MARGIN = 56;
const LABELLED_NODES = 80;
const WIDEST = 9;
const CROWDED_NODES = 200;
/** How long a drawing that was moved stands still before labels find their places again. */
const SETTLES_MS = 150;
/** How many degrees a map of a single node is wide. */
const LONE_DEGREES = 40;
/** What a drawing without nodes shows: the inhabited world in degrees, or a plane of some hops. */
const EMPTY = { map: { x: [-115, 115], y: [-72, 55] }, plane: { x: [-3, 3], y: [-1.5, 1.5] } };

class NetworkMap {
  constructor(container, data, onChooseNode, onChooseLink) {
    const { network, links } = data;
    this.network = network;
    this.x = decode(network.x);
    this.y = decode(network.y);
    this.from = decode(links.from);
    this.to = decode(links.to);
    this.links = links;
    this.isMap = network.layout === "map";
    this.view = { zoom: 1, x: 0, y: 0 };
    this.onChooseNode = onChooseNode;
    this.onChooseLink = onChooseLink;
    this.capacities = numbersOf(links, "capacity_mbps") ?? new Float64Array(0);
    this.widths = Array.from(decode(network.widths), (share) => share * WIDEST);
    this.lanes = this.lanesOfLinks();
    this.fit();
    this.build(container);
    this.place();
  }

  /** Positions in the drawing at zoom 1, and its height. */
  fit() {
    const [left, right] = this.x.length ? extent(this.x) : EMPTY[this.isMap ? "map" : "plane"].x;
    const [top, bottom] = this.x.length ? extent(this.y) : EMPTY[this.isMap ? "map" : "plane"].y;
    const [width, height] = [right - left || 1e-9, bottom - top || 1e-9];
    const most = this.isMap ? 620 : 560;
    const inner = MAP_WIDTH - 2 * MAP_MARGIN;
    this.scale = Math.min(inner / width, (most - 2 * MAP_MARGIN) / height);
    if (right === left && bottom === top) this.scale = this.isMap ? inner / LONE_DEGREES : 1;
    this.height = Math.round(Math.max(this.isMap ? 380 : 220, height * this.scale + 2 * MAP_MARGIN));
    this.origin = [
      MAP_WIDTH / 2 - ((left + right) / 2) * this.scale, this.height / 2 - ((top + bottom) / 2) * this.scale,
    ];
  }

  /** How far beside the line between its ends each link runs: on its right, parallel ones side by side. */
  lanesOfLinks() {
    const used = new Map();
    return this.widths.map((width, i) => {
      const key = this.from[i] * this.x.length + this.to[i];
      const beside = used.get(key) ?? 0.8;
      used.set(key, beside + width + 1);
      return beside + width / 2;
    });
  }

  build(container) {
    const { names } = this.network;
    this.world = h("g", { class: "world" });
    if (this.isMap && DATA.outlines) {
      const shapes = h("g", {},
        h("path", { class: "land", d: DATA.outlines.land }), h("path", { class: "border", d: DATA.outlines.borders }));
      this.world.append(shapes);
    }
    this.shapes = Array.from(this.from, (_, i) => h("polygon", {
      class: "link", "data-link": i, onclick: () => this.onChooseLink(i),
      onpointermove: (event) => this.showTip(event, this.linkText(i)), onpointerleave: () => this.hideTip(),
    }));
    const leaf = this.leaves();
    this.pull = this.sideways();
    this.dots = names.map((name, i) => h("circle", {
      class: "node", r: (leaf[i] ? 3.5 : 5) * (names.length > CROWDED_NODES ? 0.45 : 1), "data-node": i, onclick: () => this.onChooseNode(i),
      onpointermove: (event) => this.showTip(event, [name]), onpointerleave: () => this.hideTip(),
    }));
    this.labels = names.length <= LABELLED_NODES ? names.map((name) => h("text", { class: "label" }, name)) : [];
    this.shares = h("g", { class: "shares" });
    this.drawing = h(
      "g", {}, this.world, h("g", { class: "links" }, ...this.shapes), h("g", { class: "nodes" }, ...this.dots),
      h("g", { class: "labels" }, ...this.labels), this.shares,
    );
    this.svg = h(
      "svg",
      {
        viewBox: `0 0 ${MAP_WIDTH} ${this.height}`, class: this.isMap ? "geographic" : "abstract", tabindex: "0",
        role: "img", "aria-labelledby": "map-summary", onkeydown: (event) => this.key(event),
      },
      this.drawing,
    );
    this.tip = h("div", { class: "tip", hidden: true });
    const zoom = (factor, label, sign) => h(
      "button", { type: "button", "aria-label": label, onclick: () => this.zoom(factor) }, sign,
    );
    const tools = h("div", { class: "zoom" }, zoom(1.5, "Zoom in", "+"), zoom(1 / 1.5, "Zoom out", "−"),
      h("button", { type: "button", "aria-label": "Whole network", onclick: () => this.reset() }, "⤢"));
    this.tools = tools;
    container.replaceChildren(this.svg, tools, this.tip);
    this.container = container;
    this.drag();
    this.listen();
  }

  /** Whether another document has the same drawing, so that its colours alone are new. */
  isDrawingOf({ network, links }) {
    const same = (mine, theirs) => mine.base64 === theirs.base64;
    return this.network.layout === network.layout && same(this.network.x, network.x) && same(this.network.y, network.y)
      && same(this.network.widths, network.widths) && same(this.links.from, links.from) && same(this.links.to, links.to)
      && this.hasNamesOf(network);
  }

  hasNamesOf({ names }) {
    return names.length === this.network.names.length && names.every((name, i) => name === this.network.names[i]);
  }

  /** Shows another document with the same drawing. */
  take({ network, links }, onChooseNode, onChooseLink) {
    [this.network, this.links, this.onChooseNode, this.onChooseLink] = [network, links, onChooseNode, onChooseLink];
    this.capacities = numbersOf(links, "capacity_mbps") ?? new Float64Array(0);
    this.hideTip();
    this.highlight(null, null);
    this.select(-1);
    this.listen();
  }

  /** How far to the right the neighbours of each node are, in all. */
  sideways() {
    const offsets = new Float64Array(this.x.length);
    this.from.forEach((a, i) => { offsets[a] += Math.sign(this.x[this.to[i]] - this.x[a]); });
    return offsets;
  }

  /** Which nodes have one neighbour, in a network of some size: they are drawn smaller. */
  leaves() {
    const neighbours = new Map();
    this.from.forEach((a, i) => neighbours.set(a, (neighbours.get(a) ?? new Set()).add(this.to[i])));
    return this.network.names.map((_, i) => (neighbours.get(i)?.size ?? 0) <= 1 && this.network.names.length > 12);
  }

  // Where things are.

  at(node) {
    const { zoom, x, y } = this.view;
    return [
      (this.origin[0] + this.x[node] * this.scale) * zoom + x, (this.origin[1] + this.y[node] * this.scale) * zoom + y,
    ];
  }

  place() {
    clearTimeout(this.settling);
    this.shift = [0, 0];
    this.drawing.removeAttribute("transform");
    const points = this.network.names.map((_, i) => this.at(i));
    this.points = points;
    this.shapes.forEach((shape, i) => shape.setAttribute("points", this.arrow(i)));
    this.dots.forEach((dot, i) => {
      dot.setAttribute("cx", points[i][0]);
      dot.setAttribute("cy", points[i][1]);
    });
    const { zoom, x, y } = this.view;
    if (this.isMap && DATA.outlines) {
      // Units of the outlines to the drawing's, north upwards.
      const unit = (this.scale * zoom) / DATA.outlines.units;
      const left = this.origin[0] * zoom + x - this.network.longitude * this.network.stretch * this.scale * zoom;
      this.world.setAttribute(
        "transform", `matrix(${unit * this.network.stretch} 0 0 ${-unit} ${left} ${this.origin[1] * zoom + y})`,
      );
    }
    this.placeLabels();
    this.placeShares();
  }

  /** A link as a band with a tip at its end, on the right of the line between its nodes. */
  arrow(i) {
    const [a, b] = [this.points[this.from[i]], this.points[this.to[i]]];
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    const half = this.widths[i] / 2;
    const lane = this.lanes[i];
    const gap = Math.min(6, length / 5);
    const tip = Math.min(half * 2.2 + 2, (length - 2 * gap) / 2);
    const spot = (along, beside) => {
      const [px, py] = [a[0] + ux * along - uy * (lane + beside), a[1] + uy * along + ux * (lane + beside)];
      return `${px.toFixed(1)},${py.toFixed(1)}`;
    };
    const end = length - gap;
    return [spot(gap, -half), spot(end - tip, -half), spot(end, -half), spot(end - tip, half), spot(gap, half)].join(" ");
  }

  /** Labels where they cover neither each other nor a node; those that find no room are left to the pointer. */
  placeLabels() {
    // On a narrow screen the drawing is small, and its letters must not be.
    const unit = Math.max(1, MAP_WIDTH / (this.svg.clientWidth || MAP_WIDTH));
    this.svg.style.setProperty("--unit", unit);
    const taken = [...this.points.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]), this.underTools()];
    const free = (box) => box[0] > 2 && box[2] < MAP_WIDTH - 2 && box[1] > 2 && box[3] < this.height - 2
      && taken.every((other) => box[2] < other[0] || box[0] > other[2] || box[3] < other[1] || box[1] > other[3]);
    this.labels.forEach((label, i) => {
      const [x, y] = this.points[i];
      const width = (this.network.names[i].length * 6.6 + 4) * unit;
      const height = 11 * unit;
      const sides = [[x + 9, y + height * 0.4], [x - width - 7, y + height * 0.4]];
      // Away from the links, as far as that is one side.
      if (this.pull[i] > 0) sides.reverse();
      const choices = [...sides, [x - width / 2, y - 10], [x - width / 2, y + 8 + height]];
      const position = choices.find(([left, base]) => free([left, base - height, left + width, base + 3]));
      label.style.display = position ? "" : "none";
      if (!position) return;
      taken.push([position[0], position[1] - height, position[0] + width, position[1] + 3]);
      label.setAttribute("x", position[0]);
      label.setAttribute("y", position[1]);
    });
  }

  /** The part of the drawing that the buttons for zooming cover. */
  underTools() {
    const [drawing, tools] = [this.svg.getBoundingClientRect(), this.tools.getBoundingClientRect()];
    const ratio = MAP_WIDTH / (drawing.width || MAP_WIDTH);
    return [
      (tools.left - drawing.left) * ratio, (tools.top - drawing.top) * ratio,
      (tools.right - drawing.left) * ratio, (tools.bottom - drawing.top) * ratio,
    ];
  }

  // What is shown.

  /** Colours of all links by a scale: its full value, and the limit above which there is an overload, if there can be one. */
  color(values, { full, limit }, down, texts) {
    this.texts = texts;
    const { stops, overload } = linkColors();
    this.shapes.forEach((shape, i) => {
      const isOver = limit !== null && values[i] > limit;
      shape.style.fill = isOver ? overload : ramp(stops, values[i] > 0 ? values[i] / full : 0);
      shape.classList.toggle("over", isOver);
      shape.classList.toggle("down", down.has(i));
    });
  }

  /** The links of a pair's routes with the share of its packets on each, or none. */
  highlight(shares, ends) {
    this.svg.classList.toggle("has-route", shares !== null);
    this.shapes.forEach((shape, i) => shape.classList.toggle("route", Boolean(shares?.get(i))));
    this.dots.forEach((dot, i) => dot.classList.toggle("end", Boolean(ends?.includes(i))));
    this.routeShares = shares;
    this.placeShares();
  }

  placeShares() {
    const shares = this.routeShares;
    this.shares.replaceChildren();
    if (!shares || [...shares.values()].every((share) => share > 0.9999)) return;
    if (shares.size > 40) return;
    for (const [i, share] of shares) {
      const [a, b] = [this.points[this.from[i]], this.points[this.to[i]]];
      const at = (k) => a[k] + (b[k] - a[k]) * 0.45;
      this.shares.append(h("text", { class: "share", x: at(0), y: at(1) + 4 }, `${number(Math.round(share * 1000) / 10)} %`));
    }
  }

  select(link) {
    this.shapes.forEach((shape, i) => shape.classList.toggle("selected", i === link));
  }

  linkText(i) {
    return [textsOf(this.links, "name")(i), ...(this.texts ? this.texts(i) : [])];
  }

  showTip(event, lines) {
    const box = this.container.getBoundingClientRect();
    this.tip.replaceChildren(...lines.map((line, i) => h(i ? "div" : "strong", {}, line)));
    this.tip.hidden = false;
    const left = Math.min(event.clientX - box.left + 14, box.width - this.tip.offsetWidth - 4);
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${event.clientY - box.top + 16}px`;
  }

  hideTip() {
    this.tip.hidden = true;
  }

  // Moving about.

  zoom(factor, center = [MAP_WIDTH / 2, this.height / 2]) {
    const zoom = Math.min(Math.max(this.view.zoom * factor, 0.7), 40);
    const change = zoom / this.view.zoom;
    this.view = {
      zoom, x: center[0] - (center[0] - this.view.x) * change, y: center[1] - (center[1] - this.view.y) * change,
    };
    this.place();
  }

  move(x, y) {
    this.view = { ...this.view, x: this.view.x + x, y: this.view.y + y };
    // The drawing as a whole, until it stands still: to place hundreds of links anew takes longer than a frame.
    this.shift = [this.shift[0] + x, this.shift[1] + y];
    this.drawing.setAttribute("transform", `translate(${this.shift[0]} ${this.shift[1]})`);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.place(), SETTLES_MS);
  }

  reset() {
    this.view = { zoom: 1, x: 0, y: 0 };
    this.place();
  }

  key(event) {
    const step = 60;
    const actions = {
      "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.reset(),
      ArrowLeft: () => this.move(step, 0), ArrowRight: () => this.move(-step, 0),
      ArrowUp: () => this.move(0, step), ArrowDown: () => this.move(0, -step),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  }

  /** Listens to the window as long as its picture is there. */
  listen() {
    const ratio = () => MAP_WIDTH / this.svg.clientWidth;
    onPicture(window, "resize", () => this.place());
    onPicture(window, "pointerup", () => { this.grip = null; });
    onPicture(window, "pointermove", (event) => {
      if (!this.grip) return;
      const [x, y] = [event.clientX - this.grip[0], event.clientY - this.grip[1]];
      this.moved += Math.abs(x) + Math.abs(y);
      this.move(x * ratio(), y * ratio());
      this.grip = [event.clientX, event.clientY];
    });
  }

  drag() {
    this.grip = null;
    this.moved = 0;
    const ratio = () => MAP_WIDTH / this.svg.clientWidth;
    this.svg.addEventListener("pointerdown", (event) => {
      this.grip = [event.clientX, event.clientY];
      this.moved = 0;
    });
    // What is under the pointer has moved with it: dragging it is no click on it.
    this.svg.addEventListener("click", (event) => { if (this.moved > 4) event.stopPropagation(); }, true);
    this.svg.addEventListener("wheel", (event) => {
      // The wheel alone scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = this.svg.getBoundingClientRect();
      const center = [(event.clientX - box.left) * ratio(), (event.clientY - box.top) * ratio()];
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, center);
    }, { passive: false });
  }
}

/**
 * The map of a document in a container: the one before, where its drawing is the same, or a new one, of which the same
 * part is seen where it has the same nodes.
 * @param {NetworkMap} [before]
 */
function mapOf(container, data, onChooseNode, onChooseLink, before) {
  if (before?.isDrawingOf(data)) {
    before.take(data, onChooseNode, onChooseLink);
    return before;
  }
  const map = new NetworkMap(container, data, onChooseNode, onChooseLink);
  if (before?.hasNamesOf(data.network)) {
    map.view = before.view;
    map.place();
  }
  return map;
}

function extent(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}
