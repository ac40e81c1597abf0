// The routes of the pairs that send, without a run, as `anabranch routes` has them.

import { Frame, tableData } from "./frames.js";
import { routesData } from "./runs.js";

/** Pairs whose routes are listed. */
const MOST_LISTED = 400;

/**
 * @param {any} run as of `runDocument`, without tables
 * @param {any} simulation at its start
 * @param {any} picture of the network
 * @param {{ delay: number[], capacity: number[] }} links in ms and Mbps
 */
export function routesDocument(run, simulation, picture, links) {
  const flows = Frame.of(simulation.flows());
  const datagrams = Frame.of(simulation.datagramFlows());
  const senders = ["from", "to"].map((end) => [...flows.get(end), ...datagrams.get(end)]);
  const frame = new Frame(new Map(Object.entries({ from: senders[0], to: senders[1], delivered_bytes: new Float64Array(senders[0].length) })));
  const notes = [];
  const number = new Map(run.nodes.map(([name], place) => [name, place]));
  const routes = routesData({ ...run, frames: new Map([["flows", frame]]) }, number, notes);
  const listed = routes.pairs.slice(0, MOST_LISTED);
  if (listed.length < routes.pairs.length) notes.push(`The table has ${listed.length} of ${routes.pairs.length} pairs; a pair is chosen above.`);
  const { delay, capacity } = links;
  const rows = listed.flatMap(([from, to, , count, paths]) => (count ? paths : [[NaN, [], "hop by hop"]]).map(([weight, path, text]) => ({
    from: run.nodes[from][0], to: run.nodes[to][0], path: text, weight, hops: path.length || NaN,
    delay_ms: path.length ? path.reduce((all, link) => all + delay[link], 0) : NaN, bottleneck_mbps: Math.min(...path.map((link) => capacity[link])),
  })));
  /** @type {Map<string, any>} */
  const columns = new Map(["from", "to", "path"].map((name) => [name, rows.map((row) => row[name])]));
  for (const name of ["weight", "hops", "delay_ms", "bottleneck_mbps"]) columns.set(name, Float64Array.from(rows, (row) => (Number.isFinite(row[name]) ? row[name] : NaN)));
  const table = new Frame(columns, new Set(["hops"]));
  return { ...picture, kind: "routes", routes, notes: [...notes, ...run.left], tables: [tableData(run.views, "Routes", table, [...columns.keys()], "routes")] };
}
