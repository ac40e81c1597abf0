// Links that carry a scenario behind the `#`, which a browser sends nowhere.
//
// `#example=first.toml` names an example; `#file=NAME&scenario=TEXT` has the text itself, deflated (RFC 1951) and in the
// alphabet of RFC 4648 section 5.

/** Bytes of a text at most: one that a few hundred bytes stand for might have no end. */
const MOST_BYTES = 1_000_000;
const MODES = ["run", "routes", "loads"];

async function through(bytes, stream) {
  const chunks = [];
  let length = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_BYTES) throw new Error("the scenario in this link is too long");
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** The fragment of a link that shows a scenario; without a text an example. */
export async function fragmentOf(file, text, mode) {
  const shown = mode && mode !== "run" ? { mode } : {};
  if (text === null) return new URLSearchParams({ example: file, ...shown }).toString().replaceAll("%2F", "/");
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const parts = new URLSearchParams({ file: file ?? "scenario.toml", ...shown });
  return `${parts}&scenario=${base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** What a fragment asks for: a file, and its text where the link carries it; null where it asks for nothing. */
export async function openedFragment(fragment) {
  const parts = new URLSearchParams(fragment);
  const example = parts.get("example");
  const mode = MODES.find((each) => each === parts.get("mode"));
  if (example) return { file: example, mode };
  const base64 = parts.get("scenario");
  if (!base64) return null;
  try {
    const bytes = Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw")));
    return { file: parts.get("file") ?? "scenario.toml", text, mode };
  } catch {
    throw new Error("the scenario in this link has not come whole");
  }
}
