// What is seen is kept: a result folder, a study, pictures, a command to copy; and files come in.

import { byId, h, number } from "./page.js";
import { askText, banner, showDialog, showText, showWork } from "./dialogs.js";

const LOOK_MS = 1000;
/** The text of a scenario that runs and has little in it. */
export const NEW = `title = "A new scenario"

[network]
[[network.node]]
name = "a"
kind = "host"
[[network.node]]
name = "b"
kind = "host"
[[network.link]]
between = ["a", "b"]
new = true

[network.links]
capacity = "10 Mbps"
delay = "10 ms"
queue = "50 packets"

[[traffic]]
name = "transfer"
from = "a"
to = "b"
size = "unlimited"
transport = "linux-cubic"

[run]
duration = "10 s"
`;

export class Keep {
  constructor(model, controls) {
    this.model = model;
    this.controls = controls;
    this.files = [];
    this.select = /** @type {HTMLSelectElement} */ (byId("file"));
    this.select.addEventListener("change", () => this.open(this.select.value));
    const on = (id, act) => byId(id).addEventListener("click", () => Promise.resolve(act()).catch((error) => this.say(error.message)));
    on("new", () => this.create());
    on("save", () => this.save());
    on("import", () => this.importDialog());
    on("keep-run", () => this.keepRun());
    on("keep-study", () => this.keepStudy());
    on("keep-png", () => this.keepPng());
    on("keep-command", () => this.showCommand());
    // A page without a server has a link that carries the scenario.
    if (byId("keep-link")) on("keep-link", () => this.showLink());
    model.on("change", () => this.say(""));
    model.on("state", () => this.refresh());
    model.on("text", () => this.refresh());
    addEventListener("beforeunload", (event) => { if (model.isChanged) event.preventDefault(); });
    setInterval(() => this.look(), LOOK_MS);
  }

  /** A word on what was done, until the next change. */
  say(words) {
    byId("said").textContent = words;
  }

  ask(what, more = {}, listener = undefined) {
    const { file, text, mode } = this.model;
    return this.model.answerer.ask({ what, file, text, mode, ...more }, listener);
  }

  /** What takes long, with all changes in it; it is a tab of its own, so that the next picture leaves it alone. */
  async work(what, tell, more = {}) {
    await this.model.settled();
    const answer = await this.ask(what, { tab: this.tab, ...more }, ({ progress }) => {
      if (progress) tell(`${number(progress.done)} of ${number(progress.all)} ${progress.unit}`);
    });
    if (answer.stopped) throw new Error("Stopped before there was anything to keep.");
    return answer;
  }

  get tab() {
    return `${this.model.tab}-keep`;
  }

  stopWork() {
    this.ask("stop", { tab: this.tab }).catch(() => {});
  }

  list(files) {
    this.files = files;
    const { file } = this.model;
    const all = file && !files.includes(file) ? [file, ...files] : files;
    this.select.replaceChildren(...all.map((name) => h("option", { value: name, selected: name === file }, name)));
    if (!all.length) this.select.replaceChildren(h("option", { value: "" }, "no scenario yet"));
  }

  refresh() {
    const { model } = this;
    byId("save").textContent = model.isChanged ? "Save •" : "Save";
    byId("save").title = model.isChanged ? "The text differs from its file" : "Saved";
    byId("undo").disabled = !model.back.length;
    byId("redo").disabled = !model.forth.length;
    document.title = `${model.isChanged ? "• " : ""}${model.file ?? "Studio"} – Anabranch`;
  }

  async open(file) {
    const opened = () => this.model.answerer.ask({ what: "open", file }).then((answer) => { this.model.load(answer); this.list(this.files); });
    if (!this.model.isChanged) return opened();
    this.select.value = this.model.file;
    showDialog("Not saved", [h("p", {}, `${this.model.file} has changes that are not saved.`)], [
      { label: "Save and go on", act: async () => { await this.save(); await opened(); } },
      { label: "Throw them away", act: opened },
    ]);
    return undefined;
  }

  create() {
    askText("New scenario", "Name of its file", this.freeName("new"), (name) => {
      const file = name.endsWith(".toml") ? name : `${name}.toml`;
      if (this.files.includes(file)) throw new Error(`${file} is there already`);
      this.model.load({ file, text: NEW, stamp: "" });
      this.model.saved = "";
      this.list(this.files);
      this.refresh();
    });
  }

  freeName(start) {
    let name = `${start}.toml`;
    for (let i = 2; this.files.includes(name); i++) name = `${start}-${i}.toml`;
    return name;
  }

  async save(stamp = this.model.stamp) {
    const { model } = this;
    await model.settled();
    const { text } = model;
    try {
      const saved = await this.ask("save", { stamp });
      model.stamp = saved.stamp;
      model.saved = text;
      model.isGone = false;
      banner("");
      this.list(saved.files);
      this.refresh();
      this.say(`saved ${model.file}`);
    } catch (error) {
      if (!/changed elsewhere/.test(error.message)) throw error;
      banner(error.message, [
        { label: "Save over it", act: () => this.save(null).catch((again) => this.say(again.message)) },
        { label: "Take the file", act: () => this.take() },
      ]);
    }
  }

  async take() {
    const answer = await this.model.answerer.ask({ what: "open", file: this.model.file });
    this.model.load(answer, { keepsHistory: true });
  }

  /** Follows a file that is edited elsewhere. */
  async look() {
    const { model } = this;
    if (!model.file || !model.stamp || document.hidden || model.answerer.isGone) return;
    const { file, stamp } = model;
    const answer = await model.answerer.ask({ what: "look", file, stamp }).catch(() => ({ state: "same" }));
    if (model.file !== file || model.stamp !== stamp) return;
    if (answer.state === "gone") {
      if (model.isGone) return;
      model.isGone = true;
      this.refresh();
      banner(`${file} has been deleted or moved. Its text is kept here; Save writes it anew.`, [{ label: "OK" }]);
    } else if (answer.state === "same" && model.isGone) {
      model.isGone = false;
      banner("");
      this.refresh();
    } else if (answer.state === "changed" && model.text === model.saved) {
      banner("");
      model.load(answer, { keepsHistory: true });
      this.say(`${file} was changed elsewhere and is shown as it is now`);
    } else if (answer.state === "changed") {
      model.stamp = answer.stamp;
      banner(`${file} was changed elsewhere, and here.`, [
        { label: "Take the file", act: () => model.load(answer, { keepsHistory: true }) },
        { label: "Keep mine" },
      ]);
    }
  }

  async importDialog() {
    const { names } = await this.ask("topologies");
    const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", multiple: true, id: "import-files" }));
    const topology = /** @type {HTMLInputElement} */ (h("input", { type: "text", list: "import-names", id: "import-topology", placeholder: "zoo/Abilene" }));
    showDialog("Import", [
      h("p", {}, "Files of other programs: a network, traffic matrices, flows, sizes of flows. Every format that the command line reads."),
      h("div", { class: "form-line" }, h("label", {}, "Files", input)),
      h("div", { class: "form-line" }, h("label", {}, "or a network by its name", topology)),
      h("datalist", { id: "import-names" }, ...names.map(({ name, note }) => h("option", { value: name }, note))),
    ], [{ label: "Import", act: async () => this.imported([...input.files], topology.value.trim()) }]);
  }

  async imported(chosen, topology) {
    if (!chosen.length && !topology) throw new Error("choose a file, or name a network");
    const files = await Promise.all(chosen.map(async (file) => ({ name: file.name, base64: await base64Of(file) })));
    const made = await this.ask("import", { files, topology: topology || null });
    const stem = (chosen[0]?.name ?? topology.split("/").pop()).replace(/\..*$/, "") || "imported";
    this.model.load({ file: this.freeName(stem), text: made.text, stamp: "" });
    this.model.saved = "";
    this.list(this.files);
    const lines = made.taken.flatMap(({ file, holds, notes }) => [`${file}: ${holds}`, ...notes.map((note) => `  ${note}`)]);
    showDialog("Imported", [h("pre", {}, [...lines, ...made.assumed].join("\n"))]);
    return false;
  }

  keepRun() {
    const stem = (this.model.file ?? "run").split("/").pop().replace(/\.toml$/, "");
    askText("Keep as a result folder", "Name in results/", `${stem}-studio`, async (name, tell) => {
      const { folder, files, interrupted } = await this.work("keep", tell, { name });
      const isRun = this.model.mode === "run";
      const words = isRun ? `The result, with its page, is in ${folder}.` : `${folder} has ${files.join(", ")}.`;
      showDialog("Kept", [
        h("p", {}, words), ...(interrupted ? [h("p", {}, "It was stopped: the folder has what was measured until then.")] : []),
        ...(isRun ? [h("pre", {}, `anabranch report ${folder} --figures png`)] : []),
      ]);
      return false;
    }, () => this.stopWork());
  }

  async keepStudy() {
    const factors = this.controls.studyFactors();
    if (!factors.length) throw new Error("mark one or two controls as a factor first: the box beside their names");
    await this.model.settled();
    const { file, command } = await this.ask("study", { factors });
    const words = `${file} has these factors: ${factors.map(({ field, levels }) => `${field} (${levels.join(", ")})`).join("; ")}.`;
    showText("Study", [h("p", {}, words)], command);
  }

  keepPng() {
    showWork("Figures", "Figures for print, of what is shown.", async (tell) => {
      tell("draws…");
      const { figures } = await this.work("figures", tell);
      const links = figures.map(({ name, base64 }) => h("p", {}, h("a", { href: `data:image/png;base64,${base64}`, download: `${name}.png` }, `${name}.png`)));
      showDialog("Figures", figures.length ? links : [h("p", {}, "This run has nothing to draw.")]);
      return false;
    }, () => this.stopWork());
  }

  async showLink() {
    await this.model.settled();
    const { link } = await this.ask("link");
    showText("Link", [h("p", {}, "It has the scenario behind the #, which a browser sends nowhere. Whoever opens it sees this page with it.")], link);
  }

  async showCommand() {
    await this.model.settled();
    const { command } = await this.ask("command");
    showText("Command", [], command);
  }
}

function base64Of(file) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onerror = () => fail(new Error(`${file.name} cannot be read`));
    reader.onload = () => done(String(reader.result).split(",")[1] ?? "");
    reader.readAsDataURL(file);
  });
}
