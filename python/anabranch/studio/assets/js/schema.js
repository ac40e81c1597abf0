// What a scenario may hold, by its JSON Schema: the field at a place, its names, its unit, its help.

const NUMBER = /^\s*([0-9.][0-9._]*(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9.]\S*)\s*$/;

/** A text such as "10 Mbps" as its number and unit; null for others. */
export function quantityOf(value) {
  const match = typeof value === "string" ? NUMBER.exec(value) : null;
  const number = match ? Number(match[1].replaceAll("_", "")) : NaN;
  return Number.isFinite(number) ? { number, unit: match[2] } : null;
}

/** A place as messages write it: `traffic[0].from`. */
export function placeText(steps) {
  return steps.map((step, i) => {
    if (typeof step === "number") return `[${step}]`;
    const key = /^[\w-]+$/.test(step) ? step : `"${step}"`;
    return i ? `.${key}` : key;
  }).join("");
}

export function valueAt(data, steps) {
  return steps.reduce((value, step) => (value === null || value === undefined ? undefined : value[step]), data);
}

export class Schema {
  constructor(root) {
    this.root = root;
  }

  /** The schema behind a reference, with the words of whoever refers to it. */
  resolve(schema) {
    if (!schema?.$ref) return schema ?? {};
    const { $ref, ...words } = schema;
    return { ...this.resolve(this.root.$defs[$ref.split("/").pop()]), ...words };
  }

  /** All forms that a value may have, each without further choices. */
  forms(schema) {
    const definition = this.resolve(schema);
    const choices = definition.oneOf ?? definition.anyOf;
    if (choices) return choices.flatMap((each) => this.forms(each));
    return definition.type === "null" ? [] : [definition];
  }

  /** The names that a value may be, in the order of the schema. */
  names(schema) {
    return this.forms(schema).flatMap((form) => form.enum ?? (typeof form.const === "string" ? [form.const] : []));
  }

  /** The table that a value is written as, among those that it may be. */
  table(schema, value) {
    const tables = this.forms(schema).filter((form) => form.type === "object");
    const fits = (table) => Object.entries(table.properties ?? {}).every(([key, { const: word }]) => word === undefined || value?.[key] === word);
    const has = (table) => Object.keys(value ?? {}).every((key) => key in (table.properties ?? {}) || table.additionalProperties);
    return tables.find((table) => fits(table) && has(table)) ?? tables.find(has) ?? tables[0] ?? null;
  }

  /** The names among which a key chooses that says which table its table is, such as `algorithm`; empty for others. */
  kinds(schema, key) {
    const tables = this.forms(schema).filter((form) => form.type === "object");
    return tables.flatMap(({ properties }) => (typeof properties?.[key]?.const === "string" ? [properties[key].const] : []));
  }

  /** What a field is where it becomes the table of this kind: its plain name where that will do, else what it must have. */
  ofKind(schema, key, name) {
    if (this.names(schema).includes(name)) return name;
    const table = this.forms(schema).find(({ properties }) => properties?.[key]?.const === name);
    const value = { [key]: name };
    for (const each of table?.required ?? []) value[each] ??= this.quantity(table.properties[each])?.example ?? this.names(table.properties[each])[0] ?? this.number(table.properties[each])?.minimum ?? 0;
    return value;
  }

  /** The schema of the entries of a list, or null where a value is no list. */
  entries(schema) {
    const list = this.forms(schema).find((form) => form.type === "array");
    return list ? list.items : null;
  }

  /** The schema of the field at a place of some data; null where there is none. */
  at(data, steps) {
    let schema = this.root;
    let value = data;
    for (const step of steps) {
      if (typeof step === "number") schema = this.entries(schema);
      else {
        const table = this.table(schema, value);
        schema = table?.properties?.[step] ?? (typeof table?.additionalProperties === "object" ? table.additionalProperties : null);
      }
      if (!schema) return null;
      value = value?.[step];
    }
    return schema;
  }

  help(schema) {
    return this.resolve(schema).description?.replaceAll("``", "") ?? "";
  }

  /** Whether the schema leaves open what a field holds, as parameters of generators. */
  isOpen(schema) {
    return this.forms(schema).every(({ type, enum: names, const: name }) => type === undefined && names === undefined && name === undefined);
  }

  /** An example of a quantity, such as "10 Mbps", and the units that it may have. */
  quantity(schema) {
    const form = this.forms(schema).find(({ examples, pattern }) => examples && pattern);
    if (!form) return null;
    const units = /\(([^()]*)\)\\s\*\$$/.exec(form.pattern)?.[1].split("|").map((unit) => unit.replaceAll("\\", "")) ?? [];
    return { example: form.examples[0], units };
  }

  /** The bounds of a number, if it is one. */
  number(schema) {
    return this.forms(schema).find(({ type }) => type === "number" || type === "integer") ?? null;
  }
}

/** The name of an entry of a list for people: its own, or its number. */
function entryName(entry, number) {
  const name = entry?.name ?? entry?.between?.join(" – ") ?? entry?.link?.join?.(" – ") ?? entry?.node;
  return name ? `“${name}”` : String(number + 1);
}

/** A place in words: "traffic “web” · size". */
export function placeWords(data, steps) {
  const words = [];
  steps.forEach((step, i) => {
    if (typeof step !== "number") words.push(String(step).replaceAll("_", " "));
    else words[words.length - 1] += ` ${entryName(valueAt(data, steps.slice(0, i + 1)), step)}`;
  });
  return words.join(" · ");
}
