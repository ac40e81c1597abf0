// Latencies of pings and UDP, as report/html/latency_data.py has them.

import { Instants, chartData, distributionData, lookAt, mergeNote, stepsOf } from "./charts.js";
import { declared, tableData } from "./frames.js";

const MEASURES = { ping: "RTT", udp: "one way" };

export function latencyData({ views, frames }, notes) {
  const table = frames.get("datagram_flows");
  if (!table.rows) return null;
  const measured = table.with("measures", table.get("kind").map((kind) => MEASURES[kind]));
  const count = Math.min(table.rows, views.most.latency_lines);
  if (count < table.rows) notes.push(`Latency: ${count} of ${table.rows} flows have lines and curves, the first ones.`);
  const shown = Array.from({ length: Math.min(views.most.few_flows, count) }, (_, place) => place);
  const lines = shown.length ? Array.from({ length: count }, (_, place) => ({
    label: `${table.get("name")[place]} (${measured.get("measures")[place]})`, row: table.get("flow")[place], wide: false, look: lookAt(views, place),
  })) : [];
  const curves = distributionOf(views, frames.get("latencies"), table, lines);
  const series = seriesOf(views, frames.get("datagram_series"), lines, shown, notes);
  return {
    table: tableData(views, "Latency", measured, views.tables.latencies, "datagram_flows"),
    series,
    distribution: distributionData(views, curves, "No packet of these flows arrived."),
    shown,
  };
}

/** The share of the packets of each flow that took no longer than a latency. */
function distributionOf(views, latencies, table, lines) {
  if (!latencies?.rows) return null;
  const [flow, values, packets] = ["flow", "latency_ms", "packets"].map((name) => latencies.get(name));
  const rows = new Map();
  flow.forEach((id, row) => rows.set(id, [...(rows.get(id) ?? []), row]));
  const curves = lines.map(({ label, look, row: id }, place) => {
    const flowRows = rows.get(id) ?? [];
    const all = flowRows.reduce((sum, row) => sum + packets[row], 0);
    let sum = 0;
    const shares = flowRows.map((row) => (sum += packets[row]) / all);
    // The first step is as wide as its bucket.
    const least = table.get("latency_min_ms")[place];
    return {
      label, look, values: flowRows.length ? [least, ...flowRows.map((row) => values[row])] : [], shares: flowRows.length ? [0, ...shares] : [],
      sample: [],
    };
  });
  if (!curves.some((curve) => curve.values.length)) return null;
  const about = declared(views, "latency_ms");
  return { quantity: about.label, unit: about.unit, of: "packets", log: false, left: 0, curves };
}

/** Means of the samples of each flow. */
function seriesOf(views, samples, lines, shown, notes) {
  if (!samples?.rows) return null;
  const place = new Map(lines.map(({ row }, line) => [row, line]));
  const [flow, times, values] = ["flow", "time_s", "latency_mean_ms"].map((name) => samples.get(name));
  const rows = Array.from(flow, (_, row) => row).filter((row) => place.has(flow[row]) && !Number.isNaN(values[row]));
  if (!rows.length) return null;
  const instants = new Instants(rows.map((row) => times[row]));
  const axes = [{ name: "latency_mean_ms", quantity: declared(views, "latency_ms").label, unit: declared(views, "latency_mean_ms").unit, merge: "mean" }];
  const chart = {
    axes, lines, instants, line: rows.map((row) => place.get(flow[row])), at: rows.map((row) => instants.place.get(times[row])),
    values: [rows.map((row) => values[row])], shown, total: "", joined: true,
  };
  const steps = stepsOf(views, chart);
  notes.push(...mergeNote("Latency over time", chart, steps));
  return chartData(chart, steps);
}
