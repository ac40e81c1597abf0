// Controls: a slider for each number, a choice for each name; the scenario runs again as they move.

import { byId, h } from "./page.js";
import { placeText, placeWords, quantityOf, valueAt } from "./schema.js";

const STEPS = 400;
const TYPING_PAUSE_MS = 200;
const MOST_SHOWN = 24;
/** Fields that say who or where something is, and not how much. */
const NOT_MOVED = new Set(["name", "latitude", "longitude", "index", "title", "new"]);

/** The words of an element, which is laid out anew only where they are others. */
function setWords(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** A number in three digits, as somebody would type it. */
export function typedNumber(value, isWhole) {
  return isWhole ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** Where the ends of a slider lie for a value: a tenth of it and ten times it, within the bounds of its schema. */
function rangeOf(value, bounds) {
  const least = bounds?.minimum ?? bounds?.exclusiveMinimum ?? -Infinity;
  const most = bounds?.maximum ?? bounds?.exclusiveMaximum ?? Infinity;
  if (value === 0) return { low: 0, high: Math.min(most, bounds?.type === "number" ? 0.1 : 10), isLog: false };
  if (bounds?.type === "number" && least >= 0 && most <= 1) return { low: Math.max(least, value / 10), high: Math.min(most, value * 10), isLog: true };
  return { low: Math.max(least, value / 10), high: Math.min(most, value * 10), isLog: value > 0 };
}

/** Every field of some data that a control can move, as places. */
export function movable(data, schema, transports) {
  const fields = [];
  const walk = (value, steps) => {
    if (Array.isArray(value)) value.forEach((entry, i) => walk(entry, [...steps, i]));
    else if (value !== null && typeof value === "object") Object.entries(value).forEach(([key, entry]) => walk(entry, [...steps, key]));
    else {
      const about = aboutField(data, schema, steps, transports);
      if (about) fields.push(about);
    }
  };
  walk(data, []);
  // What is turned most: transports, schemes and quantities of links; ends of runs last.
  const rank = ({ steps }) => ["traffic", "network", "routing", "transport", "event", "run"].indexOf(String(steps[0])) + 1 || 9;
  return fields.sort((a, b) => rank(a) - rank(b));
}

/** What a control must know of a field; null for one that is not moved. */
export function aboutField(data, schema, steps, transports) {
  const value = valueAt(data, steps);
  const key = steps[steps.length - 1];
  if (NOT_MOVED.has(String(key)) || value === undefined) return null;
  const field = schema.at(data, steps);
  const words = placeWords(data, steps);
  const about = { steps, words, value, help: field ? schema.help(field) : "" };
  const quantity = quantityOf(value);
  if (typeof value === "number") {
    const bounds = field ? schema.number(field) : null;
    const isWhole = bounds ? bounds.type === "integer" : Number.isInteger(value);
    return { ...about, kind: "number", number: value, unit: "", isWhole, bounds };
  }
  if (quantity && (!field || schema.isOpen(field) || schema.quantity(field))) {
    const isWhole = /^(packets?|B|bytes?|segments?)$/.test(quantity.unit);
    return { ...about, kind: "number", ...quantity, isWhole, bounds: { minimum: 0 } };
  }
  if (!field) return null;
  const around = schema.at(data, steps.slice(0, -1));
  const kinds = around ? schema.kinds(around, key) : [];
  // Another kind of table has other keys: it takes the place of the whole.
  if (kinds.length > 1) return { ...about, kind: "choice", names: kinds, setting: (name) => ({ place: steps.slice(0, -1), value: schema.ofKind(around, key, name) }) };
  const names = key === "transport" ? [...new Set([...Object.keys(data.transport ?? {}), ...transports])] : schema.names(field);
  if (names.length > 1 && (names.includes(value) || key === "transport")) return { ...about, kind: "choice", names };
  if (typeof value === "boolean") return { ...about, kind: "switch" };
  return null;
}

export class Controls {
  constructor(model, schema, transports) {
    this.model = model;
    this.schema = schema;
    this.transports = transports;
    this.panel = byId("panel-controls");
    this.ranges = new Map();
    this.factors = new Set();
    this.controls = new Map();
    this.showsAll = false;
    /** The data of the file before, whose values say nothing of this one. */
    this.former = null;
    model.on("load", () => { this.ranges.clear(); this.factors.clear(); this.showsAll = false; this.key = ""; this.former = model.data; });
    model.on("text", () => this.refresh());
    model.on("answer", () => this.refresh());
    model.on("state", () => this.refresh());
    this.panel.addEventListener("focusout", () => setTimeout(() => this.refresh()));
  }

  /** Made anew where other fields are there; else their values are taken over, and whoever drags one goes on. */
  refresh() {
    const { data } = this.model;
    if (!data || data === this.former) return;
    const fields = this.fields(data);
    const shown = this.showsAll ? fields : fields.slice(0, MOST_SHOWN);
    const key = JSON.stringify([shown.map(({ steps, kind, unit, words, names }) => [steps, kind, unit, words, names]), fields.length]);
    const typing = document.activeElement;
    // Whoever types keeps the box, whatever the text is for the moment.
    const isTyping = this.panel.contains(typing) && typing instanceof HTMLInputElement && typing.type === "text";
    if (key !== this.key && !isTyping) {
      this.key = key;
      this.build(shown, fields.length);
    }
    for (const about of shown) this.controls.get(placeText(about.steps))?.take(about);
    this.tellProblems();
  }

  /** What can be moved in some data: each change is told three times, of the same data. */
  fields(data) {
    if (this.walked?.data !== data) this.walked = { data, fields: movable(data, this.schema, this.transports) };
    return this.walked.fields;
  }

  build(shown, all) {
    const focused = this.panel.contains(document.activeElement) ? document.activeElement.id : "";
    this.controls.clear();
    const elements = shown.map((about) => {
      const control = about.kind === "number" ? this.slider(about) : this.choice(about);
      this.controls.set(placeText(about.steps), control);
      return control.element;
    });
    const more = all > shown.length
      ? [h("button", { type: "button", onclick: () => { this.showsAll = true; this.refresh(); } }, `Show all ${all} fields`)] : [];
    const nothing = all ? [] : [h("p", { class: "nothing" }, "The scenario sets no field that has a number or a name to choose.")];
    this.panel.replaceChildren(...nothing, ...elements, ...more, this.adder());
    if (focused) byId(focused)?.focus();
  }

  /** A field that the scenario does not set yet, from its default. */
  adder() {
    const choices = unset(this.model.data, this.schema);
    const select = /** @type {HTMLSelectElement} */ (h("select", { id: "add-control" }, h("option", { value: "" }, "Add a field…"),
      ...choices.map(({ words }, i) => h("option", { value: i }, words))));
    select.addEventListener("change", () => {
      const { steps, start } = choices[Number(select.value)];
      this.model.change([{ place: steps, value: start }]);
    });
    return h("label", {}, h("span", { class: "unseen" }, "Add a field"), select);
  }

  frame(about, ...row) {
    const id = `control-${placeText(about.steps)}`;
    const wrong = h("p", { class: "wrong", id: `${id}-wrong` });
    const isFactor = this.factors.has(id);
    const factor = h("label", { class: "factor", title: "The levels of this field become a factor of a study" },
      h("input", { type: "checkbox", checked: isFactor, onchange: (event) => {
        if (event.target.checked) this.factors.add(id); else this.factors.delete(id);
      } }), "factor");
    const element = h("div", { class: "control", title: about.help },
      h("div", { class: "name" }, h("span", {}, about.words), factor), h("div", { class: "row" }, ...row), wrong);
    return { element, id, wrong };
  }

  slider(about) {
    const name = placeText(about.steps);
    const id = `control-${name}`;
    const range = () => this.ranges.get(name);
    if (!range() || range().unit !== about.unit) this.ranges.set(name, { ...rangeOf(about.number, about.bounds), unit: about.unit });
    const input = /** @type {HTMLInputElement} */ (h("input", { type: "range", id, min: 0, max: STEPS, step: 1, "aria-label": about.words,
      "aria-describedby": `${id}-wrong` }));
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "text", class: "value", "aria-label": `${about.words}, typed`,
      "aria-describedby": `${id}-wrong` }));
    const [low, high] = [h("span", { class: "end" }), h("span", { class: "end" })];
    const text = (number) => `${typedNumber(number, about.isWhole)}${about.unit ? ` ${about.unit}` : ""}`;
    const valueOf = (number) => (about.unit ? text(number) : Number(typedNumber(number, about.isWhole)));
    const numberAt = (place) => {
      const { low: from, high: to, isLog } = range();
      return isLog ? from * (to / from) ** (place / STEPS) : from + (to - from) * (place / STEPS);
    };
    const placeOf = (number) => {
      const { low: from, high: to, isLog } = range();
      return Math.round(STEPS * (isLog ? Math.log(number / from) / Math.log(to / from) : (number - from) / (to - from)));
    };
    input.addEventListener("input", () => {
      const number = numberAt(Number(input.value));
      box.value = text(number);
      input.setAttribute("aria-valuetext", box.value);
      this.model.change([{ place: about.steps, value: valueOf(number) }], name);
    });
    input.addEventListener("change", () => { this.model.merging = null; });
    let pause = 0;
    // As it is typed: a mistake appears at once, and the picture follows.
    box.addEventListener("input", () => {
      clearTimeout(pause);
      pause = setTimeout(() => this.model.change([{ place: about.steps, typed: box.value }], `${name} typed`), TYPING_PAUSE_MS);
    });
    box.addEventListener("change", () => { this.model.merging = null; });
    const parts = this.frame(about, low, input, high, box);
    const take = (now) => {
      const { low: from, high: to } = range();
      if (now.number < from || now.number > to) this.ranges.set(name, { ...rangeOf(now.number, now.bounds), unit: now.unit });
      setWords(low, text(range().low));
      setWords(high, text(range().high));
      // Whoever drags is ahead of what has been answered.
      if (this.model.pending.length && document.activeElement === input) return;
      if (document.activeElement !== input || Number(input.value) !== placeOf(now.number)) input.value = String(placeOf(now.number));
      const typed = now.unit ? String(now.value) : String(now.number);
      if (document.activeElement !== box && box.value !== typed) box.value = typed;
      if (input.getAttribute("aria-valuetext") !== box.value) input.setAttribute("aria-valuetext", box.value);
    };
    const levels = (count) => [...new Set(Array.from({ length: count }, (_, i) => valueOf(numberAt((STEPS * i) / (count - 1)))))];
    return { ...parts, take, inputs: [input, box], steps: about.steps, levels };
  }

  choice(about) {
    const id = `control-${placeText(about.steps)}`;
    const names = about.kind === "switch" ? ["true", "false"] : about.names;
    const select = /** @type {HTMLSelectElement} */ (h("select", { id, "aria-label": about.words, "aria-describedby": `${id}-wrong` },
      ...names.map((name) => h("option", { value: name }, name))));
    select.addEventListener("change", () => {
      const value = about.kind === "switch" ? select.value === "true" : select.value;
      this.model.change([about.setting ? about.setting(select.value) : { place: about.steps, value }]);
    });
    const parts = this.frame(about, select);
    const take = (now) => {
      const value = String(now.value);
      if (![...select.options].some((option) => option.value === value)) select.append(h("option", { value }, value));
      select.value = value;
    };
    const levels = () => (about.kind === "switch" ? [true, false] : names);
    return { ...parts, take, inputs: [select], steps: about.steps, levels };
  }

  tellProblems() {
    for (const [name, { wrong, inputs }] of this.controls) {
      const problems = this.model.problems.filter(({ place }) => place === name || place.startsWith(`${name}.`));
      const words = problems.map(({ message }) => message).join("\n");
      setWords(wrong, words);
      for (const input of inputs) {
        if (words) input.setAttribute("aria-invalid", "true");
        else input.removeAttribute("aria-invalid");
      }
    }
  }

  /** The fields that are to be factors of a study, with levels between the ends of their sliders. */
  studyFactors(count = 5) {
    return [...this.controls.values()].filter(({ id }) => this.factors.has(id))
      .map(({ steps, levels }) => ({ field: placeText(steps), levels: levels(count) }));
  }
}

/** Tables of which fields are offered, also where the scenario does not have them. */
const ALWAYS_OFFERED = [["network", "links"], ["network", "access"], ["routing"], ["run"]];
/** Entries of a list whose fields are offered: a list of thousands of links has more than somebody would look through. */
const MOST_ENTRIES = 12;

/** The places of all tables of some data. */
function tablesIn(value, steps = []) {
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).flatMap((entry, i) => tablesIn(entry, [...steps, i]));
  if (value === null || typeof value !== "object") return [];
  return [steps, ...Object.entries(value).flatMap(([key, entry]) => tablesIn(entry, [...steps, key]))];
}

/** Fields with a number or a name that tables of the scenario could set and do not. */
export function unset(data, schema) {
  const tables = new Map([...ALWAYS_OFFERED, ...tablesIn(data)].map((steps) => [placeText(steps), steps]));
  return [...tables.values()].flatMap((steps) => {
    const table = schema.table(schema.at(data, steps), valueAt(data, steps) ?? {});
    return Object.entries(table?.properties ?? {}).flatMap(([key, field]) => {
      const place = [...steps, key];
      if (NOT_MOVED.has(key) || valueAt(data, place) !== undefined) return [];
      const start = startValue(schema, field);
      return start === null ? [] : [{ steps: place, words: placeWords(data, place), start }];
    });
  });
}

/** The value from which a field that is not set begins: its default, an example, or the least that it may be. */
function startValue(schema, field) {
  const definition = schema.resolve(field);
  const names = schema.names(field);
  const quantity = schema.quantity(field);
  const number = schema.number(field);
  if (["string", "number", "boolean"].includes(typeof definition.default) && definition.default !== "") return definition.default;
  if (quantity) return quantity.example;
  if (number) return Math.max(number.minimum ?? 0, number.exclusiveMinimum !== undefined ? number.exclusiveMinimum + 1 : 0);
  return names.length > 1 ? names[0] : null;
}
