// Answers the questions of the page by the core in this page: the counterpart of studio/answers.py, without a server.

import { Frame, tableData } from "./frames.js";
import { networkDocument } from "./network.js";
import { outlines, worldLines } from "./outlines.js";
import { routesDocument } from "./routes.js";
import { runDocument } from "./runs.js";
import { edited, settingOf, settingsBetween } from "./text.js";

/** Packets over links in a step: a few hundredths of a second, so that Stop is heard. */
const STEP_PACKET_HOPS = 150_000;
const PS_PER_S = 1e12;
const NOT_TOLD = "Warnings about settings that can hardly be meant are told by the program alone: anabranch run FILE.";

/** What a page cannot do, and the command that does. */
const COMMANDS = {
  keep: (file, { name }) => ["A page writes no result folders.", `anabranch run ${file} --out results/${name}`],
  figures: (file, _, stem) => ["A page draws no figures for print.", `anabranch run ${file} --out results/${stem} --figures png`],
  study: (file) => ["A page runs no studies.", `anabranch studio ${file}`],
};

/** A command for a shell. */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export class Desk {
  /**
   * @param {any} core the module of the core
   * @param {any} views what the program declares of columns, tables and looks
   * @param {(name: string) => Promise<Response>} fetched a file of this page
   */
  constructor(core, views, fetched) {
    this.core = core;
    this.views = views;
    this.fetched = fetched;
    /** The latest work of each tab. */
    this.latest = new Map();
    this.networks = new Map();
    this.world = null;
    /** @type {any[] | null} */
    this.entries = null;
    /** Texts of files that scenarios name, which the reader gave, by name. */
    this.files = {};
  }

  /** @param {Record<string, any>} question @param {(part: any) => void} tell */
  async answer(question, tell) {
    const { what } = question;
    if (what === "show") return this.show(question, tell);
    if (what === "machine") return { live: "A page has no real hosts. Save the scenario, and: sudo anabranch live FILE --against simulation" };
    if (what === "stop") return { stopped: this.stop(question.tab) };
    if (what === "land") return this.land(question.box);
    if (what === "topologies") return { names: (await this.catalogue()).map(({ topology, nodes, links }) => ({ name: topology, note: `${nodes} nodes, ${links} links` })) };
    if (what === "import") return this.imported(question);
    if (what === "command") return { command: this.command(question) };
    const file = quoted(question.file ?? "scenario.toml");
    const lacking = COMMANDS[what]?.(file, question, quoted((question.file ?? "run").split("/").pop().replace(/\.toml$/, "")));
    if (lacking) throw new Error(`${lacking[0]} Save the scenario, and: ${lacking[1]}`);
    throw new Error(`"${what}" is no question that this page answers`);
  }

  stop(tab) {
    const work = this.latest.get(tab);
    if (work) work.isStopped = true;
    return Boolean(work);
  }

  /** @param {any} question @param {(part: any) => void} tell */
  async show({ tab, text: given, changes, mode, file }, tell) {
    const text = edited(this.core, given, changes);
    const about = { text, data: this.core.tomlData(text) ?? null, mode };
    const before = this.latest.get(tab);
    if (before) {
      before.isReplaced = true;
      before.isStopped = true;
    }
    const work = { isStopped: false, isReplaced: false };
    this.latest.set(tab, work);
    tell({ edited: about });
    try {
      const picture = await this.picture(text, about.data, mode, work, tell, file);
      return { ...about, problems: [], picture, replaced: work.isReplaced };
    } catch (error) {
      if (!error.problems) throw error;
      const mistakes = error.problems.map(({ place, message, line = null, column = null }) => ({ place, message, line, column }));
      return { ...about, problems: mistakes, picture: await this.networkAlone(text), replaced: work.isReplaced };
    } finally {
      if (this.latest.get(tab) === work) this.latest.delete(tab);
    }
  }

  async picture(text, data, mode, work, tell, file) {
    const scenario = new this.core.Scenario(text);
    try {
      if (scenario.problems.length) throw refusal(...scenario.problems);
      const network = await this.networkOf(scenario);
      if (mode === "none") return this.drawn(scenario.network(network, this.files));
      if (mode === "loads") {
        throw refusal({ place: "", message: `the highest loads over all traffic within bounds are computed by a solver, which a page has not; save the scenario, and: anabranch load ${quoted(file ?? "scenario.toml")}` });
      }
      const simulation = scenario.start(network, this.files);
      try {
        const run = {
          views: this.views, title: scenario.title, until: data?.run?.until ?? this.views.until, nodes: scenario.network(network, this.files).nodes,
          provenance: network ? JSON.parse(network).provenance : [], hasOwnRoutes: simulation.hasOwnRoutes, left: [NOT_TOLD],
          routes: (pairs) => simulation.routes(pairs), pathNodes: this.core.pathNodes,
        };
        if (mode === "routes") {
          const drawn = scenario.network(network, this.files);
          const links = { capacity: drawn.links.map(([, , , bps]) => bps / 1e6), delay: drawn.links.map(([, , , , ps]) => ps / 1e9) };
          return routesDocument(run, simulation, this.drawn(drawn), links);
        }
        await simulated(simulation, work, tell);
        if (work.isReplaced) return null;
        const { summary, tables } = simulation.finish();
        const frames = new Map(Object.entries(tables).map(([name, table]) => [name, Frame.of(table)]));
        return runDocument({ ...run, frames, summary });
      } finally {
        simulation.free();
      }
    } finally {
      scenario.free();
    }
  }

  /** The network of a scenario that cannot run, for those who draw it; null where there is none. */
  async networkAlone(text) {
    const scenario = this.core.Scenario.ofNetwork(text);
    try {
      return this.drawn(scenario.network(await this.networkOf(scenario), this.files));
    } catch (error) {
      if (error.problems) return null;
      throw error;
    } finally {
      scenario.free();
    }
  }

  /** A network that has not run. */
  drawn({ nodes, links }) {
    const capacities = links.map(([, , , capacity]) => capacity / 1e6);
    const table = new Frame(new Map(Object.entries({
      name: links.map(([name]) => name), capacity_mbps: Float64Array.from(capacities), delay_ms: Float64Array.from(links, ([, , , , delay]) => delay / 1e9),
    })));
    const shown = tableData(this.views, "Links", table, [...table.columns.keys()], "");
    return {
      kind: "network", title: "", cards: [], warnings: [], notes: [], marks: [], events: [], routes: null, link_series: null, flow_series: null,
      ended_s: 0, tables: [], texts: [], ...networkDocument(nodes, links.map(([, from, to]) => [from, to]), capacities, shown),
    };
  }

  /** The text of the file of a scenario's network; undefined where it lists its nodes itself. */
  async networkOf(scenario) {
    const file = scenario.networkFile;
    if (!file) return undefined;
    if (!this.networks.has(file)) {
      const response = await this.fetched(`networks/${file}`);
      if (!response.ok) throw refusal({ place: "network.topology", message: await this.unknown(scenario.topology) });
      this.networks.set(file, await response.text());
    }
    return this.networks.get(file);
  }

  /** Why there is no network of this topology with these parameters. */
  async unknown(topology) {
    const topologies = (await this.catalogue()).map((entry) => entry.topology.toLowerCase());
    if (topology.startsWith("file:")) return `"${topology}" is read by the program, which a page has not: anabranch studio FILE`;
    if (topologies.includes(topology.toLowerCase())) {
      return `"${topology}" is generated by the program, and this page has it with other parameters alone: anabranch studio FILE`;
    }
    return `no network "${topology}" in this page; Import lists those that there are`;
  }

  async catalogue() {
    this.entries ??= await (await this.fetched("networks/index.json")).json();
    return this.entries;
  }

  async land(box) {
    this.world ??= worldLines(await (await this.fetched("world.json")).json());
    return outlines(this.world, box);
  }

  /** @param {any} question */
  async imported({ files, topology }) {
    if (topology) {
      const entry = (await this.catalogue()).find((each) => each.topology.toLowerCase() === topology.toLowerCase() && each.scenario);
      if (!entry) throw new Error(`no network "${topology}" in this page`);
      return { text: entry.scenario, taken: [], assumed: entry.assumed, kept: [] };
    }
    const texts = files.map(({ name, base64 }) => [name, new TextDecoder().decode(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)))]);
    const scenarios = texts.filter(([name]) => name.endsWith(".toml"));
    if (scenarios.length !== 1) {
      const names = texts.map(([name]) => quoted(name)).join(" ");
      throw new Error(`A page takes one scenario (.toml) and files that it names. Networks and traffic of other programs are read by: anabranch import ${names}`);
    }
    for (const [name, text] of texts) if (!name.endsWith(".toml")) this.files[name] = text;
    return { text: scenarios[0][1], taken: texts.map(([name]) => ({ file: name, holds: name.endsWith(".toml") ? "a scenario" : "a file beside it", notes: [] })), assumed: [], kept: [] };
  }

  /**
   * The command that shows the same of the file, with the fields that differ from it.
   * @param {any} question `saved` is the text of the file, null where there is none
   */
  command({ file, mode, text, saved }) {
    const command = { run: "run", routes: "routes", loads: "load" }[mode] ?? "run";
    if (saved === null) throw new Error("Save the scenario first: a command reads it from its file.");
    const [before, after] = [this.core.tomlData(saved), this.core.tomlData(text)];
    const changes = before && after ? settingsBetween(before, after) : null;
    if (changes === null && saved !== text) throw new Error("Save the scenario first: it differs from its file in more than values of fields.");
    const settings = (changes ?? []).map(([field, value]) => ` --set ${quoted(settingOf(this.core, field, value))}`);
    return `anabranch ${command} ${quoted(file)}${settings.join("")}`;
  }
}

/** What is wrong with a scenario, to be thrown. @param {...Record<string, any>} list */
function refusal(...list) {
  return Object.assign(new Error(list.map(({ message }) => message).join("\n")), { problems: list });
}

/** Goes on to the end, and hears in between whether somebody wants to stop. */
async function simulated(simulation, work, tell) {
  for (;;) {
    const { done, now_ps: now, end_ps: end } = simulation.advancePacketHops(STEP_PACKET_HOPS);
    if (done) return;
    tell({ progress: { done: Number(now) / PS_PER_S, all: Number(end) / PS_PER_S, unit: "s simulated" } });
    await heard();
    if (work.isStopped) return;
  }
}

const channel = new MessageChannel();
/** Runs that wait for their turn: one that stands beside another one goes on in between. */
const turns = [];
channel.port1.onmessage = () => turns.shift()();

/** Lets messages that have come be heard; a timer would wait for four milliseconds. */
function heard() {
  return new Promise((done) => {
    turns.push(done);
    channel.port2.postMessage(null);
  });
}
