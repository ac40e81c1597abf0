// The text of the scenario with the numbers of its lines, and what is wrong with it.

import { byId, h } from "./page.js";

const LINE_HEIGHT = 19;

export class Editor {
  constructor(model) {
    this.model = model;
    this.area = /** @type {HTMLTextAreaElement} */ (byId("toml"));
    this.gutter = byId("gutter");
    this.area.addEventListener("input", () => { model.type(this.area.value); this.number(); });
    this.area.addEventListener("scroll", () => { this.gutter.scrollTop = this.area.scrollTop; });
    this.area.addEventListener("keydown", (event) => this.indent(event));
    model.on("text", () => this.refresh());
    model.on("answer", () => this.refresh());
  }

  /** Two blanks for Tab; Escape lets the keyboard leave, as everywhere else. */
  indent(event) {
    if (event.key === "Escape") this.leaves = true;
    if (event.key !== "Tab" || event.ctrlKey || event.altKey || event.shiftKey || this.leaves) {
      if (event.key === "Tab") this.leaves = false;
      return;
    }
    event.preventDefault();
    this.area.setRangeText("  ", this.area.selectionStart, this.area.selectionEnd, "end");
    this.model.type(this.area.value);
  }

  refresh() {
    if (this.area.value !== this.model.text) {
      const isSeen = !byId("panel-text").hidden;
      const { selectionStart, selectionEnd, scrollTop } = isSeen ? this.area : { selectionStart: 0, selectionEnd: 0, scrollTop: 0 };
      this.area.value = this.model.text;
      if (isSeen) this.area.setSelectionRange(selectionStart, selectionEnd);
      if (isSeen) this.area.scrollTop = scrollTop;
    }
    this.number();
  }

  number() {
    const wrong = new Map();
    for (const { line, message } of this.model.problems) if (line) wrong.set(line, `${wrong.get(line) ?? ""}${message}\n`);
    const lines = this.model.text.split("\n").length;
    const key = `${lines} ${[...wrong.keys()]}`;
    if (key === this.numbered) return;
    this.numbered = key;
    // Lines without a mistake are one text: a file may have thousands.
    const parts = [];
    let plain = "";
    for (let line = 1; line <= lines; line++) {
      if (!wrong.has(line)) { plain += `${line}\n`; continue; }
      parts.push(plain, h("span", { class: "bad", title: wrong.get(line) }, String(line)), "\n");
      plain = "";
    }
    this.gutter.replaceChildren(...parts, plain);
    if (!byId("panel-text").hidden) this.gutter.scrollTop = this.area.scrollTop;
  }

  /** Puts the cursor at a line and a column, both from 1 on. */
  goTo(line, column) {
    const lines = this.model.text.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    // Columns count characters, and a text of JavaScript counts in 16 bits.
    const at = before + [...(lines[line - 1] ?? "")].slice(0, (column ?? 1) - 1).join("").length;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 6) * LINE_HEIGHT);
  }
}
