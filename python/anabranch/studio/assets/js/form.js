// The form of the whole scenario, made of its JSON Schema: every field with its unit, its help and its mistakes.

import { byId, h } from "./page.js";
import { askText } from "./dialogs.js";
import { placeText } from "./schema.js";

/** What only TOML can be: a list, a table, a text in quotes. */
const IS_TOML = /^\s*[[{"']/;

/** A value as a field shows it: texts as they are, everything else as TOML writes it. */
function shownValue(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(tomlText).join(", ")}]`;
  return tomlText(value);
}

function tomlText(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(tomlText).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{ ${Object.entries(value).map(([key, entry]) => `${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)} = ${tomlText(entry)}`).join(", ")} }`;
  }
  return String(value);
}

export class Form {
  constructor(model, schema, transports) {
    this.model = model;
    this.schema = schema;
    this.transports = transports;
    this.panel = byId("panel-form");
    this.key = "";
    this.shape = "";
    this.open = new Set(["", "network", "traffic", "run"]);
    model.on("text", () => this.refresh());
    model.on("answer", () => this.refresh());
    this.panel.addEventListener("focusout", () => setTimeout(() => this.refresh()));
  }

  /** Only while it is seen: a scenario may have thousands of fields. */
  refresh() {
    if (this.panel.hidden) return;
    const { data, problems, text } = this.model;
    if (!data) {
      this.panel.replaceChildren(h("p", { class: "nothing" }, "The text is not TOML as it stands; mend it first."));
      this.key = "";
      return;
    }
    const key = `${text}\n${JSON.stringify(problems)}`;
    if (key === this.key) return;
    const focused = this.panel.contains(document.activeElement) ? document.activeElement : null;
    const typing = focused instanceof HTMLInputElement && focused.type === "text" ? focused : null;
    const shape = JSON.stringify(data, (_, value) => (value !== null && typeof value === "object" ? value : typeof value));
    if (typing && shape === this.shape) {
      // Whoever types keeps the field; only its mistakes are told anew.
      this.tellMistakes();
      return;
    }
    [this.key, this.shape] = [key, shape];
    const { scrollTop } = byId("edit");
    this.panel.replaceChildren(...this.fields([], this.schema.root, data));
    byId("edit").scrollTop = scrollTop;
    if (!focused?.id) return;
    const again = byId(focused.id);
    again?.focus();
    if (typing && again instanceof HTMLInputElement) {
      again.value = typing.value;
      again.setSelectionRange(typing.selectionStart, typing.selectionEnd);
    }
  }

  mistakesAt(place) {
    return this.model.problems.filter((each) => each.place === place || each.place.startsWith(`${place}.`) || each.place.startsWith(`${place}[`));
  }

  tellMistakes() {
    for (const element of this.panel.querySelectorAll("[id^='field-'][id$='-wrong']")) {
      const place = element.id.slice("field-".length, -"-wrong".length);
      const words = this.mistakesAt(place).map(({ message }) => message).join("\n");
      element.textContent = words;
      const input = byId(`field-${place}`);
      if (words) input?.setAttribute("aria-invalid", "true");
      else input?.removeAttribute("aria-invalid");
    }
  }

  /** The fields of a table that are set, and a list of those that are not. */
  fields(steps, table, value) {
    const properties = table.properties ?? {};
    const keys = [...Object.keys(properties).filter((key) => value?.[key] !== undefined), ...Object.keys(value ?? {}).filter((key) => !(key in properties))];
    const rest = Object.keys(properties).filter((key) => value?.[key] === undefined && properties[key].const === undefined);
    return [...keys.map((key) => this.field([...steps, key], properties[key] ?? table.additionalProperties ?? {}, value[key])), this.adder(steps, rest, properties),
      ...this.wrongHere(steps, keys)];
  }

  /** Mistakes of a table, and of what is missing in it. */
  wrongHere(steps, keys) {
    const prefix = placeText(steps);
    const shown = new Set(keys.map((key) => placeText([...steps, key])));
    return this.model.problems.filter(({ place }) => place !== "" && place.startsWith(prefix) && !shown.has(place)
      && !/[.[]/.test(place.slice(prefix.length).replace(/^\./, ""))).map(({ place, message }) => h("p", { class: "wrong" }, `${place}: ${message}`));
  }

  /** The schema of the entries of a table whose keys are names; null for others. */
  namedEntries(field) {
    const table = this.schema.forms(field).find(({ type }) => type === "object");
    return table && !table.properties && typeof table.additionalProperties === "object" ? table.additionalProperties : null;
  }

  adder(steps, keys, properties) {
    const named = steps.length ? this.namedEntries(this.schema.at(this.model.data, steps)) : null;
    if (named) return h("button", { type: "button", class: "small-button", id: `name-${placeText(steps)}`, onclick: () => this.addNamed(steps, named) }, "Add a name…");
    if (!keys.length) return "";
    const id = `add-${placeText(steps)}`;
    const select = /** @type {HTMLSelectElement} */ (h("select", { id, "aria-label": `Add to ${placeText(steps) || "the scenario"}` },
      h("option", { value: "" }, "Add…"),
      ...keys.map((key) => h("option", { value: key, title: this.schema.help(properties[key]) }, key))));
    select.addEventListener("change", () => this.add([...steps, select.value], properties[select.value]));
    return h("div", { class: "field" }, select);
  }

  /** A further entry of a table whose keys are names, such as a transport of one's own. */
  addNamed(steps, field) {
    const table = this.schema.table(field, {});
    const forms = this.schema.forms(field);
    const start = { ...("preset" in (table?.properties ?? {}) ? { preset: "linux-cubic" } : {}), ...(table ? this.startOfTable(field) : {}) };
    askText(`Add to ${placeText(steps)}`, "Name", "", (name) => {
      if (!name) throw new Error("give it a name");
      this.open.add(placeText(steps)).add(placeText([...steps, name]));
      this.model.change([{ place: [...steps, name], value: forms.length && forms[0].type === "object" ? start : "" }]);
    });
  }

  add(steps, field) {
    const { schema } = this;
    const named = this.namedEntries(field);
    if (named) {
      this.addNamed(steps, named);
      return;
    }
    const entries = schema.entries(field);
    this.open.add(placeText(steps));
    if (entries && schema.forms(entries).some(({ type }) => type === "object")) {
      this.model.change([{ place: steps, append: this.startOfTable(entries) }]);
      return;
    }
    const definition = schema.resolve(field);
    const [names, quantity, number] = [schema.names(field), schema.quantity(field), schema.number(field)];
    const forms = schema.forms(field);
    /** @type {any} */
    let value = "";
    if (["string", "number", "boolean"].includes(typeof definition.default)) value = definition.default;
    else if (quantity) value = quantity.example;
    else if (number) value = number.minimum ?? 0;
    else if (names.length) [value] = names;
    else if (entries) value = [];
    else if (forms.every(({ type }) => type === "object")) value = this.startOfTable(field);
    else if (forms.some(({ type }) => type === "boolean")) value = true;
    this.model.change([{ place: steps, value }]);
  }

  /** A table with what it must have. */
  startOfTable(field) {
    const table = this.schema.table(field, {});
    return Object.fromEntries((table?.required ?? []).map((key) => {
      const property = table.properties[key];
      const number = this.schema.number(property);
      const least = number ? number.minimum ?? 0 : "";
      return [key, property.const ?? this.schema.quantity(property)?.example ?? this.schema.names(property)[0] ?? least];
    }));
  }

  field(steps, field, value) {
    const isTable = value !== null && typeof value === "object" && !Array.isArray(value);
    const isList = Array.isArray(value) && value.length > 0 && value.every((entry) => entry !== null && typeof entry === "object" && !Array.isArray(entry));
    if (isTable) return this.group(steps, field, this.fields(steps, this.schema.table(field, value) ?? {}, value));
    if (isList) return this.list(steps, field, value);
    return this.single(steps, field, value);
  }

  group(steps, field, content, name = String(steps[steps.length - 1])) {
    const place = placeText(steps);
    const isWrong = this.model.problems.some((problem) => problem.place.startsWith(place) && problem.place !== "");
    const details = h("details", { open: this.open.has(place) || isWrong },
      h("summary", {}, name), h("p", { class: "help" }, this.schema.help(field)), ...content, this.remover(steps, name));
    details.addEventListener("toggle", () => { if (/** @type {HTMLDetailsElement} */ (details).open) this.open.add(place); else this.open.delete(place); });
    return details;
  }

  list(steps, field, value) {
    const items = this.schema.entries(field) ?? {};
    const entries = value.map((entry, i) => this.group([...steps, i], items, this.fields([...steps, i], this.schema.table(items, entry) ?? {}, entry),
      String(entry.name ?? entry.between?.join(" – ") ?? `${i + 1}`)));
    const key = String(steps[steps.length - 1]);
    const more = h("button", { type: "button", class: "small-button", id: `more-${placeText(steps)}`, onclick: () => {
      this.open.add(placeText([...steps, value.length]));
      this.model.change([{ place: steps, append: this.startOfTable(items) }]);
    } }, `Add ${key}`);
    return this.group(steps, field, [...entries, more]);
  }

  remover(steps, name) {
    return h("button", { type: "button", class: "small-button", "aria-label": `Remove ${placeText(steps)}`,
      onclick: () => this.model.change([{ place: steps, remove: true }]) }, `Remove ${name}`);
  }

  single(steps, field, value) {
    const { schema } = this;
    const place = placeText(steps);
    const id = `field-${place}`;
    const key = String(steps[steps.length - 1]);
    const wrong = this.mistakesAt(place);
    const about = { id, "aria-describedby": `${id}-help ${id}-wrong`, "aria-invalid": wrong.length ? "true" : null };
    const quantity = schema.quantity(field);
    const unit = quantity ? h("small", { class: "help" }, ` such as ${quantity.example}${quantity.units.length ? `; in ${quantity.units.join(", ")}` : ""}`) : null;
    return h("div", { class: "field" },
      h("label", { for: id }, h("span", {}, key.replaceAll("_", " "), unit)),
      h("div", { class: "row" }, this.input(about, steps, field, value),
        h("button", { type: "button", "aria-label": `Remove ${place}`, title: "Remove: the default holds then", onclick: () => this.model.change([{ place: steps, remove: true }]) }, "×")),
      h("p", { class: "help", id: `${id}-help` }, schema.help(field)),
      h("p", { class: "wrong", id: `${id}-wrong` }, wrong.map(({ message }) => message).join("\n")));
  }

  input(about, steps, field, value) {
    const { schema } = this;
    const key = String(steps[steps.length - 1]);
    const forms = schema.forms(field);
    const names = key === "transport" ? [...new Set([...Object.keys(this.model.data.transport ?? {}), ...this.transports])] : schema.names(field);
    const set = (change) => this.model.change([{ place: steps, ...change }]);
    if (typeof value === "boolean") {
      return h("input", { ...about, type: "checkbox", checked: value, onchange: (event) => set({ value: event.target.checked }) });
    }
    const onlyNames = names.length > 1 && forms.every((form) => form.enum || form.const !== undefined || form.type === "object" || key === "transport");
    if (onlyNames && typeof value === "string") {
      return h("select", { ...about, onchange: (event) => set({ value: event.target.value }) },
        ...[...new Set([...names, value])].map((name) => h("option", { value: name, selected: name === value }, name)));
    }
    // A plain text stays one, whatever it looks like; where numbers are allowed it is read as TOML.
    const isText = !schema.isOpen(field) && !forms.some(({ type }) => ["integer", "number", "boolean"].includes(type));
    const names_ = names.length ? { list: `${about.id}-names` } : {};
    const input = h("input", { ...about, ...names_, type: "text", value: shownValue(value) });
    let pause = 0;
    // As somebody types: mistakes appear at the field, and the picture follows.
    input.addEventListener("input", () => {
      const typed = /** @type {HTMLInputElement} */ (input).value;
      clearTimeout(pause);
      pause = setTimeout(() => this.model.change([isText && !IS_TOML.test(typed) ? { place: steps, value: typed } : { place: steps, typed }], placeText(steps)), 200);
    });
    input.addEventListener("change", () => { this.model.merging = null; });
    return h("span", { class: "wide" }, input, names.length ? h("datalist", { id: `${about.id}-names` }, ...names.map((name) => h("option", { value: name }))) : null);
  }
}
