// A run as the document that the page draws: the counterpart of report/html/run_data.py, over the tables of the core.

import { cards, unfinishedNote } from "./cards.js";
import {
  Instants, TOGETHER, chartData, distribution, distributionData, lookAt, mergeNote, seriesData, stepsOf, transportLooks, wideLine,
} from "./charts.js";
import { Frame, column, declared, isNone, mean, ranked, sum, tableData } from "./frames.js";
import { latencyData } from "./latency.js";
import { multipathData } from "./multipath.js";
import { networkDocument } from "./network.js";
import { count, counted } from "./words.js";

const GOODPUT_NOTE = "Goodput counts bytes when the application can read them. A retransmission that fills a gap frees all "
  + "bytes behind it at once, and several paths add up, so that a sample may exceed the rate of a link.";
const TOLERANCE = 1.001;
const IMPAIRMENTS = ["duplicated_packets", "corrupted_packets", "reordered_packets"];
/** Causes of drops that any link may have; the others belong to a queue discipline. */
const EVERYWHERE = 3;
const DIGITS = 1e6;

/**
 * A run that is over.
 * @typedef {{ views: any, frames: Map<string, import("./frames.js").Frame>, summary: any, title: string, until: string,
 *   provenance: string[], nodes: [string, [number, number] | null][], routes: (pairs: Uint32Array) => any[], hasOwnRoutes: boolean,
 *   left: string[] }} Run
 */

/** @param {Run} run */
export function runDocument(run) {
  const { views, frames, summary } = run;
  const [flows, links] = [frames.get("flows"), frames.get("links")];
  const number = new Map(run.nodes.map(([name], place) => [name, place]));
  const ends = links.get("from").map((from, link) => [number.get(from), number.get(links.get("to")[link])]);
  const notes = [];
  const events = frames.get("events");
  return {
    kind: "run",
    title: run.title || "A run",
    cards: cards(run),
    warnings: [...waitingNotes(run), ...unfinishedNote(run), ...summary.warnings],
    network_source: run.provenance,
    ...networkDocument(run.nodes, ends, links.get("capacity_mbps"), linkTable(views, links)),
    drops: column(allDrops(links)),
    flows: tableData(views, "Flows", flows, views.tables.flows, "flows"),
    flow_series: flowSeries(run, notes),
    ...linkSeries(run, notes),
    ...distributions(run),
    multipath: frames.has("connections") ? multipathData(run, notes) : null,
    latency: frames.has("datagram_flows") ? latencyData(run, notes) : null,
    collectives: collectiveTables(views, frames),
    marks: changes(events, views.most.marks),
    events: events ? Array.from({ length: events.rows }, (_, row) => Object.fromEntries([...events.columns].map(([name, values]) => [name, values[row]]))) : [],
    routes: routesData(run, number, notes),
    ended_s: summary.ended_s,
    notes: [...goodputNotes(frames), ...notes, ...run.left],
    event_table: events?.rows ? eventTable(views, events) : null,
    reordering_table: reorderingTable(views, flows),
  };
}

// Tables.

/** The causes of drops that are told: those of any link, and others that dropped something. */
export function causesOf(views, links) {
  return views.causes.filter(([name]) => links.has(name)).filter(([name], place) => place < EVERYWHERE || links.get(name).some((value) => value > 0));
}

function linkTable(views, links) {
  // Of a mean queue, millionths of a packet say nothing.
  const rounded = links.has("queue_mean_packets")
    ? links.with("queue_mean_packets", links.get("queue_mean_packets").map((value) => Math.round(value * 1e4) / 1e4)) : links;
  const names = [
    ...views.tables.links.filter((name) => name !== "from" && name !== "to"), ...causesOf(views, links).map(([name]) => name),
    ...IMPAIRMENTS.filter((name) => links.has(name) && links.get(name).some((value) => value > 0)),
  ];
  return tableData(views, "Links", rounded, names, "links");
}

/** Collective operations and their steps; null where a run has none. */
function collectiveTables(views, frames) {
  const shown = views.collectives.filter(([name]) => frames.has(name));
  return shown.length ? shown.map(([name, title, names]) => tableData(views, title, frames.get(name), names, name)) : null;
}

function allDrops(links) {
  const columns = [...links.columns.keys()].filter((name) => name.startsWith("drops_")).map((name) => links.get(name));
  return Float64Array.from({ length: links.rows }, (_, link) => sum(columns.map((values) => values[link])));
}

function eventTable(views, events) {
  const first = events.at(Array.from({ length: Math.min(events.rows, views.most.events) }, (_, row) => row));
  return tableData(views, "Changes of the network and its routes", first, ["time_s", "kind", "subject"], "events");
}

/** Reordering (RFC 4737) over all flows of each transport; null where nobody counted it. */
function reorderingTable(views, flows) {
  if (!flows.has("packets_received") || !flows.has("reordered_packets")) return null;
  const transport = flows.get("transport");
  const names = [...new Set(transport)].sort();
  const of = names.map((name) => flows.at(Array.from(transport, (each, row) => (each === name ? row : -1)).filter((row) => row >= 0)));
  let sums = new Frame(new Map([["transport", names]]));
  const set = (name, value, isWhole = true) => {
    if (name === "flows" || name === "reordering_ratio" || flows.has(name)) sums = sums.with(name, Float64Array.from(of, value), isWhole);
  };
  set("flows", (each) => each.rows);
  for (const name of ["packets_received", "reordered_packets", "spurious_retransmissions"]) set(name, (each) => each.sum(name));
  set("reordering_extent_max", (each) => each.get("reordering_extent_max").reduce((a, b) => (Number.isNaN(b) || a >= b ? a : b), NaN), flows.whole.has("reordering_extent_max"));
  set("reordering_ratio", (each) => (each.sum("packets_received") > 0 ? each.sum("reordered_packets") / each.sum("packets_received") : NaN), false);
  return tableData(views, "Reordering", sums, views.tables.reordering, "reordering");
}

// Over time.

function axisOf(views, name, merge = "mean", given = {}) {
  const about = declared(views, name);
  return { name, quantity: about.label, unit: about.unit, merge, ...given };
}

/** Sum of what adds up and mean of all else, of each line at each instant that has a sample. */
export function together(samples, lineOf, lines, instants, axes) {
  const size = lines * instants.times.length;
  const present = new Uint8Array(size);
  const sums = axes.map(() => new Float64Array(size));
  const counts = axes.map(() => new Uint32Array(size));
  const times = samples.get("time_s");
  const given = axes.map(({ name }) => samples.get(name));
  for (let row = 0; row < times.length; row++) {
    const line = lineOf(row);
    if (line < 0) continue;
    const place = line * instants.times.length + instants.place.get(times[row]);
    present[place] = 1;
    given.forEach((values, axis) => {
      if (Number.isNaN(values[row])) return;
      sums[axis][place] += values[row];
      counts[axis][place]++;
    });
  }
  const rows = { line: [], at: [], values: axes.map(() => []) };
  for (let place = 0; place < size; place++) {
    if (!present[place]) continue;
    rows.line.push(Math.floor(place / instants.times.length));
    rows.at.push(place % instants.times.length);
    axes.forEach(({ adds }, axis) => {
      const some = counts[axis][place];
      rows.values[axis].push(adds ? sums[axis][place] : some ? sums[axis][place] / some : NaN);
    });
  }
  return rows;
}

/** One set of samples behind the other, with the numbers of their lines counted on. */
function append(to, rows, offset) {
  for (let row = 0; row < rows.line.length; row++) {
    to.line.push(rows.line[row] + offset);
    to.at.push(rows.at[row]);
    rows.values.forEach((values, axis) => to.values[axis].push(values[row]));
  }
}

/** Lines of all flows together, of each transport and of the flows that delivered most. */
function flowSeries({ views, frames }, notes) {
  const samples = frames.get("flow_series");
  if (!samples?.rows) return null;
  const flows = frames.get("flows");
  const { most } = views;
  const axes = [axisOf(views, "goodput_mbps", "mean", { adds: true }), axisOf(views, "srtt_ms"), axisOf(views, "cwnd_bytes")];
  const [ids, names, transports, delivered] = ["flow", "name", "transport", "delivered_bytes"].map((name) => flows.get(name));
  const looks = transportLooks(views, [...new Set(transports)].sort());
  const instants = new Instants(samples.get("time_s"));
  const flow = samples.get("flow");
  const isFew = flows.rows <= most.few_flows;
  const chart = { axes, lines: [], instants, line: [], at: [], values: axes.map(() => []), shown: null, total: "", joined: false, notes: [] };
  const add = (lines, lineOf) => {
    append(chart, together(samples, lineOf, lines.length, instants, axes), chart.lines.length);
    chart.lines.push(...lines);
  };
  if (flows.rows > 1) add([wideLine(`all ${counted(flows.rows, "flow")}`, null, TOGETHER)], () => 0);
  const rowOf = new Map(Array.from(ids, (id, row) => [id, row]));
  if (!isFew && looks.size > 1) {
    const groups = [...looks.keys()];
    const place = new Map(groups.map((name, number) => [name, number]));
    add(groups.map((name) => wideLine(`all ${name}`, transports.filter((each) => each === name).length, screenLook(looks.get(name), views))),
      (row) => place.get(transports[rowOf.get(flow[row])]) ?? -1);
  }
  const first = chart.lines.length;
  const listed = ranked(flows.rows, (row) => -delivered[row], (row) => ids[row]).slice(0, most.flows).sort((a, b) => ids[a] - ids[b]);
  const lineOf = new Map(listed.map((row, line) => [ids[row], line]));
  add(eachLine(views, listed.map((row) => [ids[row], names[row], transports[row]]), looks), (row) => lineOf.get(flow[row]) ?? -1);
  chart.shown = isFew ? null : chart.lines.slice(0, first).map((_, place) => place);
  if (listed.length < flows.rows) {
    chart.notes.push(`${listed.length} of ${flows.rows} flows have lines of their own, those that delivered most; sums and means count every flow.`);
  }
  const steps = stepsOf(views, chart);
  notes.push(...mergeNote("Lines over time", chart, steps), ...chart.notes);
  return chartData(chart, steps);
}

/** The look of a transport's line that has markers in print. */
function screenLook({ color, hollow }, views) {
  return { color, dash: hollow ? views.patterns[1] : [] };
}

/** A line for each flow; several transports have colours of their own, else lines go by place. */
function eachLine(views, flows, looks) {
  const several = looks.size > 1;
  const ofFlows = flowLooks(views, flows.map(([, , transport]) => transport), looks);
  return flows.map(([id, name, transport], place) => (
    { label: several ? `${name} (${transport})` : name, row: id, wide: false, look: ofFlows[place] }
  ));
}

/** A look for each flow, as the views of a run have them: no two with one colour and dash as long as there are enough. */
function flowLooks(views, transports, looks) {
  if (looks.size < 2) return transports.map((_, place) => lookAt(views, place));
  const { colors, patterns } = views;
  const key = ({ color, dash }) => `${color} ${dash}`;
  const ownLooks = new Map([...looks].map(([name, { color, hollow }]) => (
    [name, patterns.map((_, step) => ({ color, dash: patterns[(Number(hollow) + step) % patterns.length] }))]
  )));
  const usual = new Set([...ownLooks.values()].map(([first]) => key(first)));
  const isTaken = Array.from({ length: colors }, (_, color) => [...looks.values()].some((look) => look.color === color));
  const every = Array.from({ length: colors * patterns.length }, (_, place) => lookAt(views, place));
  const spare = [...every.filter(({ color }) => !isTaken[color]), ...every.filter(({ color }) => isTaken[color])];
  const taken = new Set();
  const alike = new Map();
  return transports.map((transport) => {
    const place = alike.get(transport) ?? 0;
    alike.set(transport, place + 1);
    const [first, ...more] = ownLooks.get(transport);
    const others = [first, ...more, ...spare].filter((look) => !usual.has(key(look)));
    const look = [first, ...others].find((each) => !taken.has(key(each))) ?? [first, ...more][place % patterns.length];
    taken.add(key(look));
    return look;
  });
}

/** The values of every link for the map, step by step, and the lines of the longest queues. */
function linkSeries({ views, frames }, notes) {
  const series = frames.get("link_series");
  if (!series?.rows) return { link_series: null, queues: null };
  const links = frames.get("links");
  const capacity = new Map(Array.from(links.get("link"), (link, row) => [link, links.get("capacity_mbps")[row]]));
  const [times, link, throughput, queue, drops] = ["time_s", "link", "throughput_mbps", "queue_packets", "drops"].map((name) => series.get(name));
  const instants = new Instants(times);
  const before = new Map();
  const news = drops.map((value, row) => {
    const added = value - (before.get(link[row]) ?? 0);
    before.set(link[row], value);
    return added;
  });
  // A packet counts where its transmission begins, and may end in the time of the next sample.
  const share = throughput.map((value, row) => Math.min(value / capacity.get(link[row]), 1));
  const names = links.get("name");
  const axes = [
    axisOf(views, "utilization", "mean", { unit: "" }), axisOf(views, "queue_packets", "max"),
    axisOf(views, "drops", "sum", { quantity: "drops", unit: "" }),
  ];
  const at = Array.from(times, (time) => instants.place.get(time));
  const chart = { axes, lines: names, instants, line: link, at, values: [share, queue, news] };
  const steps = stepsOf(views, chart, views.most.link_steps);
  notes.push(...mergeNote("Links over time", chart, steps));
  const events = frames.get("events");
  if (events?.get("kind").includes("capacity")) notes.push("Utilization over time is relative to the capacity at the end of the run.");
  const foremost = longestQueues(link, queue, views.most.links);
  const place = new Map(foremost.map((number, line) => [number, line]));
  const rows = Array.from(link, (_, row) => row).filter((row) => place.has(link[row]));
  const queues = {
    axes: [axes[1]], lines: foremost.map((number, line) => ({ label: names[number], row: number, wide: false, look: lookAt(views, line) })),
    instants, line: rows.map((row) => place.get(link[row])), at: rows.map((row) => at[row]), values: [rows.map((row) => queue[row])],
    shown: null, total: "", joined: false,
  };
  return { link_series: seriesData(chart, steps), queues: chartData(queues, steps) };
}

/** The links whose queues were longest, and at least one. */
function longestQueues(link, queue, most) {
  const peak = new Map();
  for (let row = 0; row < link.length; row++) peak.set(link[row], Math.max(peak.get(link[row]) ?? -Infinity, queue[row]));
  const order = [...peak].sort(([a, one], [b, other]) => other - one || a - b);
  const some = order.filter(([, value]) => value > 0).slice(0, most);
  return (some.length ? some : order.slice(0, 1)).map(([number]) => number);
}

function changes(events, most) {
  if (!events) return [];
  const [times, kinds] = [events.get("time_s"), events.get("kind")];
  const marks = new Map();
  for (let row = 0; row < events.rows; row++) {
    if (kinds[row] !== "new routes") marks.set(`${times[row]} ${kinds[row]}`, { time_s: times[row], bad: kinds[row].endsWith("down") });
  }
  return [...marks.values()].slice(0, most);
}

// Distributions, routes, notes.

function distributions({ views, frames }) {
  const flows = frames.get("flows");
  const transports = flows.get("transport");
  const looks = transportLooks(views, [...new Set(transports)].sort());
  const [completion, reordering] = [declared(views, "completion_s"), declared(views, "reordering_ratio")];
  const [times, bounds, ratios] = ["completion_s", "completion_more_than_s", "reordering_ratio"].map((name) => flows.get(name));
  const shown = { completion: [], reordering: [] };
  let left = 0;
  for (const [name, look] of looks) {
    const rows = Array.from(transports, (each, row) => (each === name ? row : -1)).filter((row) => row >= 0);
    const done = rows.map((row) => times[row]).filter((value) => !Number.isNaN(value));
    const can = rows.filter((row) => !Number.isNaN(times[row]) || !Number.isNaN(bounds[row])).length;
    left += can - done.length;
    const screen = screenLook(look, views);
    if (done.length) {
      const share = done.length === can ? String(can) : `${done.length} of ${can}`;
      shown.completion.push({ label: `${name} (${share} done)`, look: screen, ...distribution(done, can) });
    }
    const flowRatios = ratios ? rows.map((row) => ratios[row]).filter((value) => !Number.isNaN(value)) : [];
    if (flowRatios.length) {
      const curve = distribution(flowRatios.map((value) => value * reordering.factor));
      shown.reordering.push({ label: `${name} (${flowRatios.length})`, look: screen, ...curve });
    }
  }
  const of = "flows";
  return {
    completion: distributionData(views, { quantity: "completion time", unit: completion.unit, of, log: null, left, curves: shown.completion }, "No flow was completed."),
    reordering: distributionData(views, { quantity: "reordered packets of a flow", unit: reordering.unit, of, log: false, left: 0, curves: shown.reordering },
      "No flow received packets.", "No packet was reordered."),
  };
}

/** Routes of the pairs that flows send between, as they were at the start of the run. */
export function routesData(run, number, notes) {
  const { views, frames } = run;
  const flows = frames.get("flows");
  const pairs = new Map();
  for (let row = 0; row < flows.rows; row++) {
    const [from, to] = [flows.get("from")[row], flows.get("to")[row]];
    const key = JSON.stringify([from, to]);
    const pair = pairs.get(key) ?? { ends: [number.get(from), number.get(to)], flows: 0, delivered: 0 };
    pair.flows++;
    pair.delivered += flows.get("delivered_bytes")[row];
    pairs.set(key, pair);
  }
  const every = [...pairs.values()];
  const kept = ranked(every.length, (place) => -every[place].delivered).slice(0, views.most.pairs).map((place) => every[place]);
  const routes = run.routes(Uint32Array.from(kept.flatMap(({ ends }) => ends)));
  let room = views.most.shares;
  const listed = [];
  kept.forEach(({ ends, flows: sent }, place) => {
    const routed = routes[place];
    if (!routed) return;
    room -= routed.shares.length;
    if (room < 0) return;
    listed.push([...ends, sent, routed.count, routed.paths, routed.shares.map(([link, share]) => [link, Math.round(share * DIGITS) / DIGITS])]);
  });
  if (listed.length < every.length) notes.push(`Routes are shown for ${listed.length} of ${every.length} pairs, those that delivered most.`);
  if (run.hasOwnRoutes) notes.push("Some traffic has routes of its own; a pair is shown with the routes of all its traffic.");
  const renewed = frames.get("events")?.get("kind").includes("new routes") ?? false;
  return { pairs: listed, moved: frames.has("route_changes") || renewed };
}

/** A sentence where a flow has a sample above the capacity of each link at its source. */
function goodputNotes(frames) {
  const series = frames.get("flow_series");
  if (!series?.rows) return [];
  const [flows, links] = [frames.get("flows"), frames.get("links")];
  const most = new Map();
  links.get("from").forEach((from, link) => most.set(from, Math.max(most.get(from) ?? 0, links.get("capacity_mbps")[link])));
  const limit = new Map(Array.from(flows.get("flow"), (id, row) => [id, most.get(flows.get("from")[row]) * TOLERANCE]));
  const [flow, goodput] = [series.get("flow"), series.get("goodput_mbps")];
  return goodput.some((value, row) => value > limit.get(flow[row])) ? [GOODPUT_NOTE] : [];
}

/** Which multipath connections had no answer on any path when the run ended. */
function waitingNotes({ frames }) {
  const connections = frames.get("connections");
  const since = connections?.get("stalled_since_s");
  const waiting = since ? Array.from(since, (_, row) => row).filter((row) => !isNone(since[row])) : [];
  if (!waiting.length) return [];
  const first = waiting.reduce((a, b) => (since[b] < since[a] ? b : a));
  const name = frames.get("flows").get("name")[connections.get("flow")[first]];
  const others = waiting.length > 1 ? ` (and ${count(waiting.length - 1)} more)` : "";
  return [`${name}${others}: no subflow has had an answer since ${Number(since[first].toPrecision(6))} s; the connection waits for a path to come back`];
}

export { axisOf, mean };
