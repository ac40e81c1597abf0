// Connections of Multipath TCP and their subflows, as report/html/multipath_data.py has them.

import { Instants, chartData, lookAt, mergeNote, stepsOf, wideLine } from "./charts.js";
import { column, declared, ranked, tableData } from "./frames.js";
import { NOTHING } from "./words.js";

/** Stands for all connections together. */
const ALL = -1;
const OTHERS = "other paths";
const UNKNOWN = "path not known";
const NO_PATHS = "all subflows";
/** Columns that a connection takes from the table of flows. */
const OF_FLOWS = [
  "name", "from", "to", "transport", "delivered_bytes", "goodput_mbps", "completion_s", "completion_more_than_s", "rtt_mean_ms",
  "retransmissions", "timeouts",
];

export function multipathData(run, notes) {
  const { views, frames } = run;
  const [flows, subflows] = [frames.get("flows"), frames.get("subflows")];
  if (!subflows || !frames.get("connections").rows) return null;
  const rowOfFlow = new Map(Array.from(flows.get("flow"), (id, row) => [id, row]));
  let connections = frames.get("connections");
  const rows = Array.from(connections.get("flow"), (id) => rowOfFlow.get(id));
  const joined = flows.at(rows);
  for (const name of OF_FLOWS) connections = connections.with(name, joined.get(name), joined.whole.has(name));
  const ids = connections.get("flow");
  const order = ranked(connections.rows, (row) => -connections.get("delivered_bytes")[row], (row) => ids[row]).map((row) => ids[row]);
  const pathNames = waysOf(run, subflows, connections);
  const rowOf = new Map(Array.from(ids, (id, row) => [id, row]));
  const kept = bounded(subflows, order, views.most.subflows, notes);
  const shown = subflows.at(kept);
  const names = Array.from(shown.get("flow"), (id) => connections.get("name")[rowOf.get(id)]);
  let named = shown.with("connection", names);
  if (named.has("path") && named.get("path").some((path) => path !== null)) named = named.with("path", named.get("path").map((path) => path ?? NOTHING));
  return {
    connections: tableData(views, "Connections", connections, views.tables.connections, "connections"),
    subflows: {
      connection: column(Array.from(shown.get("flow"), (id) => rowOf.get(id)), "i4"),
      ...tableData(views, "Subflows", named, views.tables.subflows, "subflows"),
    },
    series: seriesOf(run, subflows, pathNames, order, rowOf, notes),
  };
}

/** As many rows as there may be, of whole connections, those that delivered most first. */
function bounded(subflows, order, most, notes) {
  const every = Array.from({ length: subflows.rows }, (_, row) => row);
  if (subflows.rows <= most) return every;
  const counts = new Map();
  for (const flow of subflows.get("flow")) counts.set(flow, (counts.get(flow) ?? 0) + 1);
  const kept = new Set();
  let sum = 0;
  for (const flow of order) {
    sum += counts.get(flow) ?? 0;
    if (sum > most) break;
    kept.add(flow);
  }
  notes.push(`The table of subflows has those of ${kept.size} of ${order.length} connections, which delivered most.`);
  return every.filter((row) => kept.has(subflows.get("flow")[row]));
}

/** The name of the path of each subflow: the nodes that not every path has; all nodes where that does not tell them apart. */
function waysOf({ pathNodes }, subflows, connections) {
  const to = new Map(Array.from(connections.get("flow"), (id, row) => [id, connections.get("to")[row]]));
  const texts = subflows.get("path") ?? Array.from({ length: subflows.rows }, () => null);
  const paths = texts.map((text, row) => {
    const nodes = text ? pathNodes(text).map(([name, number]) => (number > 1 ? `${name}#${number}` : name)) : [];
    const inner = nodes.at(-1) === to.get(subflows.get("flow")[row]) ? nodes.slice(1, -1) : nodes.slice(1);
    return inner.length ? inner : nodes;
  });
  const distinct = new Map(paths.filter((path) => path.length).map((path) => [JSON.stringify(path), path]));
  const sets = [...distinct.values()].map((path) => new Set(path));
  const isEverywhere = (node) => sets.every((set) => set.has(node));
  const short = new Map([...distinct].map(([key, path]) => [key, path.filter((node) => !isEverywhere(node)).join(", ")]));
  const used = [...short.values()];
  const name = (path) => {
    const key = JSON.stringify(path);
    const text = short.get(key);
    return text && used.indexOf(text) === used.lastIndexOf(text) ? text : path.join(" > ");
  };
  const unknown = distinct.size ? UNKNOWN : NO_PATHS;
  return paths.map((path) => (path.length ? name(path) : unknown));
}

/** What has a line: the group (a flow, or all), the path and how many subflows, in the order of the lines; and the line of each path. */
function pathLines(subflows, pathNames, kept, most) {
  const groups = new Map([ALL, ...[...kept].sort((a, b) => a - b)].map((group) => [group, new Map()]));
  const delivered = subflows.get("delivered_bytes");
  pathNames.forEach((pathName, row) => {
    for (const group of [ALL, subflows.get("flow")[row]]) {
      const of = groups.get(group);
      if (!of) continue;
      const before = of.get(pathName) ?? { pathName, subflows: 0, delivered: 0 };
      of.set(pathName, { pathName, subflows: before.subflows + 1, delivered: before.delivered + delivered[row] });
    }
  });
  const lines = [];
  const lineOf = new Map();
  for (const [group, of] of groups) {
    const every = [...of.values()].sort((a, b) => b.delivered - a.delivered || (a.pathName < b.pathName ? -1 : 1));
    const merged = new Map();
    every.forEach(({ pathName, subflows: count }, place) => {
      // One more than there is room for is shown in place of a line for a single other one.
      const name = place < most || every.length <= most + 1 ? pathName : OTHERS;
      const before = merged.get(name) ?? { name, count: 0, pathNames: [] };
      merged.set(name, { name, count: before.count + count, pathNames: [...before.pathNames, pathName] });
    });
    const isLast = (name) => Number(name === OTHERS || name === UNKNOWN);
    const ordered = [...merged.values()].sort((a, b) => isLast(a.name) - isLast(b.name) || (a.name < b.name ? -1 : 1));
    ordered.forEach(({ name, count, pathNames: merges }, place) => {
      for (const pathName of merges) lineOf.set(`${group} ${pathName}`, lines.length);
      lines.push({ group, name, count, place });
    });
  }
  return { lines, lineOf };
}

/** Throughput and round-trip time by path, of all connections and of those that delivered most. */
function seriesOf({ views, frames }, subflows, pathNames, order, rowOf, notes) {
  const samples = frames.get("subflow_series");
  if (!samples?.rows) return null;
  const { most } = views;
  const kept = new Set(order.slice(0, most.connections));
  const { lines, lineOf } = pathLines(subflows, pathNames, kept, most.paths);
  const pathNameOf = new Map(pathNames.map((pathName, row) => [`${subflows.get("flow")[row]} ${subflows.get("subflow")[row]}`, pathName]));
  const axes = ["throughput_mbps", "srtt_ms"].map((name) => ({ name, quantity: `${declared(views, name).label} by path`, unit: declared(views, name).unit, merge: "mean" }));
  const [flow, subflow, times, ...given] = ["flow", "subflow", "time_s", "throughput_mbps", "srtt_ms"].map((name) => samples.get(name));
  const instants = new Instants(times);
  const sums = new Map();
  for (let row = 0; row < samples.rows; row++) {
    const pathName = pathNameOf.get(`${flow[row]} ${subflow[row]}`);
    for (const group of kept.has(flow[row]) ? [ALL, flow[row]] : [ALL]) {
      const place = lineOf.get(`${group} ${pathName}`) * instants.times.length + instants.place.get(times[row]);
      const sum = sums.get(place) ?? { throughput: 0, rtt: 0, rttCount: 0 };
      if (!Number.isNaN(given[0][row])) sum.throughput += given[0][row];
      if (!Number.isNaN(given[1][row])) {
        sum.rtt += given[1][row];
        sum.rttCount++;
      }
      sums.set(place, sum);
    }
  }
  const chart = {
    axes, instants, line: [], at: [], values: [[], []], total: "paths", joined: false,
    lines: lines.map(({ name, place, count, group }) => ({ ...wideLine(name, count, lookAt(views, place), group === ALL ? null : rowOf.get(group)), wide: false })),
    shown: lines.flatMap(({ group }, line) => (group === ALL ? [line] : [])),
  };
  for (const [place, { throughput, rtt, rttCount }] of sums) {
    chart.line.push(Math.floor(place / instants.times.length));
    chart.at.push(place % instants.times.length);
    chart.values[0].push(throughput);
    chart.values[1].push(rttCount ? rtt / rttCount : NaN);
  }
  const steps = stepsOf(views, chart, most.path_values);
  notes.push(...mergeNote("Paths over time", chart, steps));
  if (order.length > most.connections) {
    notes.push(`${most.connections} of ${order.length} connections have lines by path of their own, those that delivered most; lines of all connections count every one.`);
  }
  return chartData(chart, steps);
}
