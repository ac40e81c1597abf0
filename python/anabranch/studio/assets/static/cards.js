// The numbers at the top of a run, as report/views/cards.py has them, and what is said of unfinished flows.

import { mean, ranked } from "./frames.js";
import { causesOf } from "./runs.js";
import { NOTHING, count, measure, plain, quantity } from "./words.js";

/** The share of unfinished flows from which on it is told. */
const TOLD_FROM = 0.01;

/** Completion times of the flows that can complete: what each is, or is more than, and whether it is known. */
export function timesOf(flows) {
  const [times, bounds] = [flows.get("completion_s"), flows.get("completion_more_than_s")];
  const rows = Array.from(times, (_, row) => row).filter((row) => !Number.isNaN(times[row]) || !Number.isNaN(bounds[row]));
  const least = rows.map((row) => (Number.isNaN(times[row]) ? bounds[row] : times[row]));
  const most = rows.map((row) => (Number.isNaN(times[row]) ? Infinity : times[row]));
  return { least, most, count: rows.length, done: most.filter(Number.isFinite).length };
}

/** A percentile, linear between the two nearest ranks (type 7 of Hyndman and Fan 1996). */
function percentile(values, percent) {
  const ordered = Float64Array.from(values).sort();
  const position = ((ordered.length - 1) * percent) / 100;
  const below = Math.floor(position);
  const share = position - below;
  if (share === 0) return ordered[below];
  const above = ordered[below + 1];
  return above === Infinity ? Infinity : ordered[below] + share * (above - ordered[below]);
}

/** A percentile for people; where unfinished flows leave it open, what it is more than. */
function percentileText({ least, most, count: all }, percent) {
  if (!all) return NOTHING;
  const [low, high] = [percentile(least, percent), percentile(most, percent)];
  return `${low === high ? "" : "> "}${measure(low, "s")}`;
}

function shareText(part, whole) {
  return whole ? `${plain((100 * part) / whole, 3)} %` : NOTHING;
}

export function cards(run) {
  return [...ofFlows(run), ...ofCollectives(run), ...ofDatagrams(run), ...ofLinks(run)]
    .map(([label, value, note = ""]) => ({ label, value, note })).filter(({ value }) => value !== NOTHING);
}

function withoutConnection(flows) {
  const [failure, handshake, timeouts] = ["failure", "handshake_s", "timeouts"].map((name) => flows.get(name));
  if (!failure || !handshake || !timeouts) return 0;
  return Array.from(timeouts).filter((value, row) => failure[row] === null && Number.isNaN(handshake[row]) && value > 0).length;
}

function ofFlows({ frames, summary }) {
  const flows = frames.get("flows");
  const times = timesOf(flows);
  const failed = flows.has("failure") ? flows.get("failure").filter((reason) => reason !== null).length : 0;
  const [segments, again, received, reordered, timeouts] = ["segments_sent", "retransmissions", "packets_received", "reordered_packets", "timeouts"]
    .map((name) => flows.sum(name));
  const share = times.count ? [`${count(times.done)} of ${count(times.count)} done`] : [];
  if (times.done < times.count) share.push(`${quantity(times.count - times.done)} unfinished`);
  if (failed) share.push(`${quantity(failed)} given up`);
  const waiting = withoutConnection(flows);
  if (waiting) share.push(`${quantity(waiting)} without a connection`);
  const jain = flows.rows > 1 ? summary.jain_index : null;
  const of = frames.has("datagram_flows") ? "of all flows, pings and UDP" : "of all flows";
  return [
    ["Simulated", measure(summary.ended_s, "s"), summary.interrupted ? "stopped before its end" : ""],
    ["Flows", flows.rows ? quantity(flows.rows) : NOTHING, share.join(", ")],
    ["Delivered", measure(summary.delivered_mbps, "Mbps"), `${of}, over the whole run`],
    ["Completion time", percentileText(times, 50), `median of ${quantity(times.count)} flows; p99 ${percentileText(times, 99)}`],
    ["Jain index", Number.isFinite(jain) && jain !== null ? jain.toFixed(3) : NOTHING, "of the goodputs"],
    ["Mean RTT", measure(mean(flows.get("rtt_mean_ms")), "ms"), "mean of the flows' means"],
    ["Retransmitted", shareText(again, segments), `${quantity(again)} segments; ${quantity(timeouts)} timeouts`],
    ["Reordered", shareText(reordered, received), `${quantity(reordered)} packets`],
  ];
}

/** The flow of datagrams with the worst p99. */
/** The collective operation that took longest; one that was not complete, if there is one. */
function ofCollectives({ frames }) {
  const table = frames.get("collectives");
  if (!table?.rows) return [];
  const [times, unfinished, flows, hosts] = ["completion_s", "unfinished_flows", "flows", "hosts"].map((name) => table.get(name));
  const [first] = ranked(table.rows, (row) => (Number.isNaN(times[row]) ? -Infinity : -times[row]));
  const took = Number.isNaN(times[first]) ? "not complete" : measure(times[first], "s");
  const open = unfinished[first] ? `${quantity(unfinished[first])} of ${quantity(flows[first])} flows unfinished; ` : "";
  const [operation, name, chain] = ["operation", "name", "slowest_chain"].map((column) => table.get(column)[first]);
  const note = `${operation} ${name}, ${quantity(hosts[first])} nodes; ${open}slowest chain: ${chain}`;
  return [[table.rows === 1 ? "Collective" : "Slowest collective", took, note]];
}

function ofDatagrams({ frames }) {
  const table = frames.get("datagram_flows");
  if (!table) return [];
  const [name, middle, late] = ["name", "latency_p50_ms", "latency_p99_ms"].map((column) => table.get(column));
  const rows = ranked(table.rows, (row) => -late[row]).filter((row) => !Number.isNaN(late[row]));
  if (!rows.length) return [];
  const [worst] = rows;
  return [["Latency", measure(late[worst], "ms"), `p99 of ${name[worst]}; median ${measure(middle[worst], "ms")}`]];
}

function ofLinks({ views, frames }) {
  const links = frames.get("links");
  if (!links.rows) return [];
  const [name, utilization, queue] = ["name", "utilization", "queue_max_packets"].map((column) => links.get(column));
  const [busiest] = ranked(links.rows, (link) => (Number.isNaN(utilization[link]) ? Infinity : -utilization[link]));
  const [longest] = ranked(links.rows, (link) => -queue[link]);
  const drops = causesOf(views, links).map(([column, label]) => [links.sum(column), label]);
  const note = drops.filter(([packets]) => packets).map(([packets, label]) => `${quantity(packets)} ${label}`).join(", ");
  const busy = utilization[busiest];
  return [
    ["Busiest link", Number.isNaN(busy) ? NOTHING : `${plain(100 * busy, 3)} %`, name[busiest]],
    ["Longest queue", quantity(queue[longest], "packets"), name[longest]],
    ["Dropped", quantity(drops.reduce((all, [packets]) => all + packets, 0), "packets"), note],
  ];
}

/** A warning where more than 1 % of the flows that can complete have not. */
export function unfinishedNote({ frames, until }) {
  const { count: all, done } = timesOf(frames.get("flows"));
  const unfinished = all - done;
  if (!(unfinished > TOLD_FROM * all)) return [];
  const untilDone = until === "duration" ? ', with run.until = "done",' : "";
  return [`completion times: ${count(unfinished)} of ${count(all)} unfinished at the end of the run, and known only as more than what they `
    + "have had: means are bounds then, and so are percentiles that they could change; a longer run.duration"
    + `${untilDone} lets them end`];
}
