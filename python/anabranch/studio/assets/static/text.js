// The text of a scenario: plain data as TOML, and changes as the core takes them, which keeps everything else as it stands.

const BARE_KEY = /^[\w-]+$/;
/** A path as `--set` takes it: keys, and numbers of entries. */
const IS_PATH = /^[\w-]+(\[\d+\])*(\.[\w-]+(\[\d+\])*)*$/;

/** Plain data as a value of TOML in one line. */
export function tomlValue(value) {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (typeof value === "boolean") return String(value);
  // TOML has no exponent without digits behind a point or none; "1e21" is a number of both.
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  if (value && typeof value === "object") {
    const entries = Object.entries(value).map(([key, entry]) => `${BARE_KEY.test(key) ? key : tomlValue(key)} = ${tomlValue(entry)}`);
    return entries.length ? `{ ${entries.join(", ")} }` : "{}";
  }
  throw new Error(`${value} is no value of a scenario`);
}

/** Whether two values of TOML are the same. */
function isSame(one, other) {
  return tomlValue(one) === tomlValue(other);
}

function isTable(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * The fields to set to get from one plain data to another, each with its value; null where `--set` cannot do that.
 * @returns {[string, any][] | null}
 */
export function settingsBetween(before, after, place = "") {
  if (before !== undefined && isSame(before, after)) return [];
  const all = (parts) => (parts.includes(null) ? null : parts.flat());
  if (isTable(before) && isTable(after)) {
    if (Object.keys(before).some((key) => !(key in after))) return null;
    return all(Object.entries(after).map(([key, value]) => settingsBetween(before[key], value, place ? `${place}.${key}` : key)));
  }
  const areTables = (values) => Array.isArray(values) && values.every(isTable);
  if (areTables(before) && areTables(after) && before.length === after.length) {
    return all(after.map((value, i) => settingsBetween(before[i], value, `${place}[${i}]`)));
  }
  return IS_PATH.test(place) ? [[place, after]] : null;
}

/** `FIELD=VALUE`, without quotes where the text stands for itself. */
export function settingOf(core, field, value) {
  const isPlain = typeof value === "string" && typedValue(core, value) === value;
  return `${field}=${isPlain ? value : tomlValue(value)}`;
}

/** A value as TOML writes it; text that is not TOML stands for itself, so that quotes can be left out. */
export function typedValue(core, text) {
  const data = core.tomlData(`value = ${text}`);
  // A line break in the text could smuggle in other keys.
  return data && Object.keys(data).length === 1 && "value" in data ? data.value : text;
}

/**
 * The text with changes in place.
 * @param {any} core the module of the core
 * @param {Record<string, any>[]} changes as the page makes them: `place`, and `value`, `typed`, `append` or `remove`
 */
export function edited(core, text, changes) {
  if (!changes?.length) return text;
  const plain = changes.map((change) => {
    if (change.remove) return { place: change.place, remove: true };
    if ("append" in change) return { place: change.place, append: tomlValue(change.append) };
    return { place: change.place, set: tomlValue("typed" in change ? typedValue(core, change.typed) : change.value) };
  });
  return core.editedToml(text, JSON.stringify(plain));
}
