// Pages of sections: tables that are there already become sortable, and some of them can be filtered.

class SiftedTable {
  constructor(container) {
    this.table = container.querySelector("table");
    this.body = this.table.tBodies[0];
    this.rows = [...this.body.rows];
    this.order = new Map(this.rows.map((row, i) => [row, i]));
    this.heads = [...this.table.tHead.rows[0].cells];
    this.heads.forEach((head, i) => this.makeSortable(head, i));
    if (container.dataset.sifter === "yes") this.addSifter(container);
  }

  makeSortable(head, column) {
    const button = h("button", { type: "button", onclick: () => this.sort(column) }, ...head.childNodes);
    button.append(h("span", { class: "arrow", "aria-hidden": "true" }));
    head.replaceChildren(button);
  }

  addSifter(container) {
    const caption = this.table.caption.textContent;
    this.text = h("input", { type: "search", placeholder: "Filter", "aria-label": `Filter: ${caption}`,
      spellcheck: "false", oninput: () => this.sift() });
    this.chosen = [];
    this.heads.forEach((head, column) => {
      if (!("choices" in head.dataset)) return;
      const found = [...new Set(this.rows.map((row) => row.cells[column].textContent.trim()))];
      const select = h("select", { onchange: () => this.sift() }, h("option", { value: "" }, "all"),
        ...found.map((value) => h("option", { value }, value)));
      this.chosen.push({ column, select, label: h("label", {}, `${head.textContent.trim()} `, select) });
    });
    this.count = h("span", { class: "count", role: "status" });
    container.prepend(h("div", { class: "sifter" }, this.text, ...this.chosen.map(({ label }) => label), this.count));
    this.sift();
  }

  sift() {
    const wanted = this.text.value.trim().toLowerCase();
    let shown = 0;
    for (const row of this.rows) {
      const fits = this.chosen.every(({ column, select }) => (
        select.value === "" || row.cells[column].textContent.trim() === select.value))
        && (wanted === "" || [...row.cells].some((cell) => cell.textContent.toLowerCase().includes(wanted)));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    const all = this.rows.length;
    this.count.textContent = rowCount(shown, all);
    this.count.classList.toggle("partly", shown < all);
  }

  sort(column) {
    const head = this.heads[column];
    const numeric = head.classList.contains("num");
    const before = head.getAttribute("aria-sort");
    const down = before === null ? numeric : before === "ascending";
    for (const other of this.heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const words = new Intl.Collator(undefined, { numeric: true });
    const key = (row) => {
      const cell = row.cells[column];
      return numeric ? Number(cell.dataset.value ?? NaN) : cell.textContent.trim();
    };
    const sign = down ? -1 : 1;
    const sorted = this.rows.map((row) => [key(row), row]).sort(([x, a], [y, b]) => {
      const later = this.order.get(a) - this.order.get(b);
      if (!numeric) return sign * words.compare(x, y) || later;
      // What is not there comes last, whichever way.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || later;
      return sign * (x - y) || later;
    });
    this.body.append(...sorted.map(([, row]) => row));
  }
}

setUpTheme();
setUpPrinting();
for (const container of document.querySelectorAll(".sifted")) new SiftedTable(container);
document.documentElement.dataset.ready = "true";
