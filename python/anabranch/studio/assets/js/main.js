// The studio: a scenario on the left, what becomes of it on the right.

import { byId, h, keepListeners, number, setUpCharts, setUpPrinting, setUpTheme } from "./page.js";
import { Compare } from "./compare.js";
import { Controls } from "./controls.js";
import { banner } from "./dialogs.js";
import { Draw } from "./draw.js";
import { Editor } from "./editor.js";
import { Form } from "./form.js";
import { Keep, NEW } from "./keep.js";
import { Live } from "./live.js";
import { Model } from "./model.js";
import { Picture } from "./picture.js";
import { Schema } from "./schema.js";
import { Server } from "./server.js";

/** A run that takes longer shows how far it is, and can be stopped. */
const SHORT_MS = 300;

class Studio {
  constructor(answerer, schema, welcome) {
    this.answerer = answerer;
    this.model = new Model(answerer);
    const { transports } = welcome;
    this.editor = new Editor(this.model);
    this.controls = new Controls(this.model, schema, transports);
    this.form = new Form(this.model, schema, transports);
    this.picture = new Picture((question) => answerer.ask(question));
    this.draw = new Draw(this.model, this.picture, schema);
    this.draw.onLink = () => this.tabs.network?.click();
    this.draw.onGround = () => this.show(this.draw.empty());
    this.compare = new Compare(this.model, this.picture, schema, transports);
    this.keep = new Keep(this.model, this.controls);
    this.live = new Live(this.model, this.picture);
    this.shown = 0;
    this.waiting = 0;
    /** The latest network, of a scenario that runs or not; null where there is none. */
    this.latest = null;
    this.model.on("load", () => this.picture.clear());
    this.model.on("answer", (answer, took) => this.take(answer, took));
    this.model.on("progress", (progress) => this.tellProgress(progress));
    this.setUpTabs();
    this.setUpBar();
    this.setUpKeys();
    answerer.onGone = (isGone) => this.gone(isGone);
    this.keep.list(welcome.files);
  }

  /** @param {Record<string, any>} welcome */
  async start({ first, files, text = null, mode = "run", said: message = "" }) {
    banner(message, [{ label: "OK" }]);
    this.model.mode = mode;
    /** @type {HTMLInputElement} */ (document.querySelector(`input[name=mode][value="${mode}"]`)).checked = true;
    const file = first ?? files[0];
    if (text !== null) this.model.load({ file, text, stamp: "" });
    else if (file && files.includes(file)) this.model.load(await this.answerer.ask({ what: "open", file }));
    else if (file) {
      this.model.load({ file, text: NEW, stamp: "" });
      this.model.saved = "";
    } else byId("state-words").textContent = "There is no scenario here yet: New or Import begins one.";
    if (file) this.keep.list(files);
    document.documentElement.dataset.ready = "true";
  }

  // What comes back.

  async take(answer, took) {
    byId("progress").hidden = true;
    byId("stop").hidden = true;
    this.tellProblems(answer.problems);
    if (answer.replaced) return;
    if (answer.stopped) {
      this.picture.setStale(true);
      byId("state-words").textContent = "stopped before there was anything to show";
      document.documentElement.dataset.shown = String(++this.shown);
      return;
    }
    if (answer.mode === "live" && "against" in (answer.picture ?? {})) this.compare.pinned = this.live.simulation;
    const isWrong = answer.problems.length > 0;
    this.latest = answer.picture?.network.names.length ? answer.picture : null;
    const network = this.latest ?? (this.draw.isOpen ? this.draw.empty() : null);
    // A scenario that cannot run keeps the last good picture; whoever draws its network wants to see that.
    const isDrawn = !isWrong || this.draw.isOpen || this.picture.document === null;
    const since = performance.now();
    if (network && isDrawn) await this.show(network);
    this.picture.setStale(isWrong && !isDrawn);
    const drawn = performance.now() - since;
    const words = { run: "simulated", routes: "routed", loads: "computed", live: "simulated and run live" }[answer.mode];
    byId("state-words").textContent = isWrong
      ? `${answer.problems.length} ${answer.problems.length === 1 ? "mistake" : "mistakes"}` : `${words} in ${number(Math.round(took))} ms, drawn in ${number(Math.round(drawn))} ms`;
    document.documentElement.dataset.shown = String(++this.shown);
  }

  show(picture) {
    return this.picture.draw(picture, this.compare.besideOf(picture));
  }

  /** What is drawn on is the network as it stands, whether it can run or not. */
  async showNetwork() {
    if (this.picture.document !== null && !this.picture.isStale) return;
    await this.show(this.latest ?? this.draw.empty());
    this.picture.setStale(false);
  }

  tellProblems(problems) {
    const items = problems.slice(0, 20).map(({ place, message, line, column }) => h("li", {}, h("button", {
      type: "button", onclick: () => { if (line) { this.tabs.text.click(); this.editor.goTo(line, column); } },
    }, `${line ? `line ${line}: ` : ""}${place ? `${place}: ` : ""}${message}`)));
    const more = problems.length > 20 ? [h("li", {}, `and ${problems.length - 20} more`)] : [];
    const key = JSON.stringify(problems);
    if (key === this.told) return;
    this.told = key;
    byId("problems").replaceChildren(...(items.length ? [h("ul", {}, ...items, ...more)] : []));
  }

  /** @param {Record<string, any> | null} progress null where nothing is known but that it takes long */
  tellProgress(progress) {
    const bar = /** @type {HTMLProgressElement} */ (byId("progress"));
    if (!this.model.flying || (progress && performance.now() - this.model.flying.since < SHORT_MS)) return;
    if (bar.hidden) {
      bar.removeAttribute("value");
      byId("state-words").textContent = "works…";
    }
    bar.hidden = false;
    byId("stop").hidden = false;
    clearInterval(this.waiting);
    if (!progress) {
      this.waiting = setInterval(() => this.tellWaiting(), 1000);
      return;
    }
    const { done, all, unit } = progress;
    bar.value = all ? done / all : 0;
    byId("state-words").textContent = `${number(done)} of ${number(all)} ${unit}`;
  }

  /** Of a solver nobody knows how far it is, but for how long it has worked. */
  tellWaiting() {
    const { flying } = this.model;
    if (!flying || byId("progress").hidden) clearInterval(this.waiting);
    else byId("state-words").textContent = `works for ${number(Math.round((performance.now() - flying.since) / 1000))} s`;
  }

  gone(isGone) {
    if (isGone) banner("The server does not answer: it has ended, or the computer slept. The text is kept here; this page tries again.");
    else {
      banner("");
      this.model.show();
    }
  }

  // What the reader does.

  setUpTabs() {
    const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[role=tab]")]);
    this.tabs = { controls: tabs[0], form: tabs[1], network: tabs[2], text: tabs[3] };
    const choose = (tab) => {
      for (const each of tabs) {
        const isChosen = each === tab;
        each.setAttribute("aria-selected", String(isChosen));
        each.tabIndex = isChosen ? 0 : -1;
        byId(each.getAttribute("aria-controls")).hidden = !isChosen;
      }
      this.form.refresh();
      this.draw.setOpen(tab === this.tabs.network);
      if (tab === this.tabs.text) this.editor.refresh();
      if (tab === this.tabs.network) this.showNetwork();
    };
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(i + step + tabs.length) % tabs.length];
        next.focus();
        choose(next);
      });
    });
  }

  setUpBar() {
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=mode]"))) {
      input.addEventListener("change", () => this.model.setMode(input.value));
    }
    byId("stop").addEventListener("click", () => this.answerer.ask({ what: "stop", tab: this.model.tab }).catch(() => {}));
    byId("undo").addEventListener("click", () => this.model.undo());
    byId("redo").addEventListener("click", () => this.model.redo());
  }

  setUpKeys() {
    addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || byId("dialog").open) return;
      const key = event.key.toLowerCase();
      const act = { s: () => byId("save").click(), z: () => (event.shiftKey ? this.model.redo() : this.model.undo()), y: () => this.model.redo() }[key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }
}

async function begin() {
  setUpTheme();
  setUpPrinting();
  setUpCharts();
  keepListeners();
  const asked = new URLSearchParams(location.hash.slice(1));
  const token = asked.get("token") ?? "";
  // In the frame of a notebook there are no other files.
  if (asked.has("widget")) document.documentElement.dataset.widget = "true";
  const answerer = new Server(token);
  try {
    const [schema, welcome] = await Promise.all([fetch("schema.json").then((response) => response.json()), answerer.ask({ what: "welcome" })]);
    const studio = new Studio(answerer, new Schema(schema), welcome);
    await studio.start(welcome);
  } catch (error) {
    banner(error.message);
    throw error;
  }
}

begin();
