// From a place on the screen to one in the drawing, and on a map to degrees.

import { MAP_WIDTH } from "./page.js";

/** A column as the page decodes it. */
export function encode(values) {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { kind: "f4", base64: btoa(binary) };
}

/** The place in the drawing under the pointer, in the units of the network's own. */
export function drawnAt(map, event) {
  const box = map.svg.getBoundingClientRect();
  const ratio = MAP_WIDTH / (box.width || MAP_WIDTH);
  const { zoom, x, y } = map.view;
  const at = [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  return [((at[0] - x) / zoom - map.origin[0]) / map.scale, ((at[1] - y) / zoom - map.origin[1]) / map.scale];
}

/** Degrees of a place in the drawing of a map. */
export function degreesOf(map, [x, y]) {
  const { longitude, stretch } = map.network;
  const around = ((x / stretch + longitude + 540) % 360 + 360) % 360 - 180;
  const rounded = (value) => Math.round(value * 1000) / 1000;
  return { latitude: rounded(Math.min(Math.max(-y, -90), 90)), longitude: rounded(around) };
}

/** A drawing of nothing yet: the whole world, or a plane. */
export function blank(layout) {
  const isMap = layout === "map";
  return {
    kind: "network", cards: [], warnings: [], notes: [], marks: [], events: [], routes: null, link_series: null, ended_s: 0,
    network: {
      names: [], x: encode([]), y: encode([]), layout, longitude: 0, stretch: isMap ? 0.7 : 1, box: [-180, -60, 180, 80],
      widths: encode([]), width_words: "", scale: { full: 1, limit: null },
    },
    links: { caption: "Links", rows: 0, columns: [], from: { kind: "i4", base64: "" }, to: { kind: "i4", base64: "" } },
  };
}
