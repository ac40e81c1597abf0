// A table of any length, sorted by its headings and filtered. One made of columns has only the rows in sight as
// elements; one that the page has already keeps its rows, which may be of any height.

const ROW_HEIGHT = 30;
/** As high as a viewport is at most (page.css). */
const VIEWPORT_HEIGHT = 446;
const PRINTED_ROWS = 200;

/**
 * options: caption, rows (how many), columns ({heading, unit, text(row), value(row)?, cell(row)?,
 * most (letters)?, choices?}), search(row), keeps(row)?, chosen(row)?, onChoose(row)?, table? (an element with all
 * rows), filtered (true if left out).
 */
class DataTable {
  constructor(container, options) {
    this.options = options;
    this.whole = options.table ? [...options.table.tBodies[0].rows] : null;
    this.order = Array.from({ length: options.rows }, (_, i) => i);
    this.sorting = { column: -1, down: false };
    this.first = 0;
    this.last = 0;
    /** How far it is scrolled: to ask the element would lay out the whole page. */
    this.top = 0;
    this.build(container);
    this.refresh();
    printListeners.push(() => this.render(true));
  }

  build(container) {
    const { options } = this;
    this.filter = h("input", {
      type: "search", placeholder: "Filter", "aria-label": `Filter: ${options.caption}`, spellcheck: "false",
      oninput: () => {
        clearTimeout(this.pending);
        if (this.whole) this.refresh();
        else this.pending = setTimeout(() => this.refresh(), 120);
      },
    });
    this.count = h("span", { class: "count", role: "status" });
    this.choices = options.columns.filter((column) => column.choices).map((column) => this.choice(column));
    const tools = h("div", { class: "tools" }, this.filter, ...this.choices.map(({ label }) => label), this.count);
    const adopted = options.table;
    this.heads = options.columns.map((column, i) => {
      const head = adopted?.tHead.rows[0].cells[i] ?? h("th", { scope: "col", class: column.value ? "num" : "" });
      head.replaceChildren(h(
        "button", { type: "button", onclick: () => this.sort(i) }, column.heading,
        column.unit ? h("small", {}, ` ${column.unit}`) : null, h("span", { class: "arrow", "aria-hidden": "true" }),
      ));
      return head;
    });
    if (adopted) [this.body] = adopted.tBodies;
    if (!adopted) container.replaceChildren(this.made());
    if (options.filtered !== false) container.prepend(tools);
  }

  /** The table in a viewport of its own. */
  made() {
    const { options } = this;
    this.body = h("tbody");
    const columns = h("colgroup", {}, ...options.columns.map((column) => {
      const element = h("col");
      element.style.width = `${this.widthOf(column)}px`;
      return element;
    }));
    const table = h(
      "table", { class: "data", "aria-rowcount": options.rows + 1 },
      h("caption", { class: "unseen" }, options.caption), columns, h("thead", {}, h("tr", {}, ...this.heads)), this.body,
    );
    table.style.width = `${options.columns.reduce((sum, column) => sum + this.widthOf(column), 0)}px`;
    this.view = h(
      "div", { class: "viewport", tabindex: "0", role: "region", "aria-label": options.caption,
        onscroll: () => { this.top = this.view.scrollTop; this.render(false); }, onkeydown: (event) => this.key(event) },
      table,
    );
    return this.view;
  }

  /** A list of the values of a column, of which the reader may keep one. */
  choice(column) {
    const values = [...new Set(this.order.map((row) => column.text(row)))];
    const select = h("select", { onchange: () => this.refresh() }, h("option", { value: "" }, "all"),
      ...values.map((value) => h("option", { value }, value)));
    return { column, select, label: h("label", {}, `${column.heading} `, select) };
  }

  /** Wide enough for the longest of its texts; of very many rows some are looked at. */
  widthOf(column) {
    if (column.width) return column.width;
    const { rows } = this.options;
    let longest = `${column.heading} ${column.unit ?? ""}`.length + 2;
    const step = Math.max(1, Math.floor(rows / 300));
    for (let i = 0; i < rows; i += step) longest = Math.max(longest, column.text(i).length);
    column.width = Math.round(Math.min(longest, column.most ?? 42) * 7.8 + 26);
    return column.width;
  }

  sort(column) {
    const down = this.sorting.column === column ? !this.sorting.down : Boolean(this.options.columns[column].value);
    this.sorting = { column, down };
    this.heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.refresh();
  }

  refresh() {
    const { rows, search, keeps, columns } = this.options;
    const wanted = this.filter.value.trim().toLowerCase();
    const kept = this.choices.filter(({ select }) => select.value !== "");
    const found = [];
    for (let i = 0; i < rows; i++) {
      if ((!keeps || keeps(i)) && kept.every(({ column, select }) => column.text(i) === select.value)
        && (!wanted || search(i).toLowerCase().includes(wanted))) found.push(i);
    }
    const column = columns[this.sorting.column];
    if (column) {
      const sign = this.sorting.down ? -1 : 1;
      if (column.value) {
        // What is not there comes last, whichever way.
        const key = (i) => { const value = column.value(i); return Number.isNaN(value) ? null : value; };
        found.sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
          return sign * (x - y) || a - b;
        });
      } else {
        const words = new Intl.Collator(undefined, { numeric: true });
        found.sort((a, b) => sign * words.compare(column.text(a), column.text(b)) || a - b);
      }
    }
    this.order = found;
    this.count.textContent = rowCount(found.length, rows);
    this.count.classList.toggle("partly", found.length < rows);
    if (this.top) this.view.scrollTop = this.top = 0;
    this.render(true);
  }

  render(always) {
    const { order } = this;
    if (this.whole) {
      if (always) this.body.replaceChildren(...order.map((row) => this.whole[row]));
      return;
    }
    let first = Math.max(0, Math.floor(this.top / ROW_HEIGHT) - 8);
    let last = Math.min(order.length, first + Math.ceil(VIEWPORT_HEIGHT / ROW_HEIGHT) + 16);
    if (printing) [first, last] = [0, Math.min(order.length, PRINTED_ROWS)];
    if (!always && first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    const rows = [];
    for (let place = first; place < last; place++) rows.push(this.line(order[place], place));
    const spacer = (count) => {
      const cell = h("td", { colspan: this.options.columns.length });
      cell.style.height = `${printing ? 0 : count * ROW_HEIGHT}px`;
      return h("tr", { class: "spacer", "aria-hidden": "true" }, cell);
    };
    const more = printing && order.length > last
      ? [h("tr", {}, h("td", { colspan: this.options.columns.length }, `and ${number(order.length - last)} more rows`))]
      : [];
    this.body.replaceChildren(spacer(first), ...rows, ...more, spacer(order.length - last));
  }

  line(index, place) {
    const { columns, chosen, onChoose } = this.options;
    return h(
      "tr",
      {
        "aria-rowindex": place + 2, class: chosen?.(index) ? "chosen" : "",
        onclick: onChoose ? (event) => { if (event.target.tagName !== "INPUT") onChoose(index); } : undefined,
      },
      ...columns.map((column) => h(
        "td", { class: column.value ? "num" : "", title: column.value ? null : column.text(index) },
        column.cell ? column.cell(index) : column.text(index),
      )),
    );
  }

  key(event) {
    if (event.target !== this.view) return;
    const jump = { Home: 0, End: this.order.length * ROW_HEIGHT }[event.key];
    if (jump === undefined) return;
    this.view.scrollTop = jump;
    event.preventDefault();
  }
}

const decodedTables = new WeakMap();

/** The columns of a table of the document by their keys, decoded once: heading, text(row), and value(row) of numbers. */
function columnsOf(table) {
  if (!decodedTables.has(table)) {
    decodedTables.set(table, new Map(table.columns.map((column) => [column.key, shownColumn(column)])));
  }
  return decodedTables.get(table);
}

function shownColumn({ key, heading, unit, factor, data, plain, text, wide }) {
  if (text) return { key, heading, text: decodeWords(text), most: wide ? 64 : undefined };
  const values = decode(data);
  // Numbers that are names, such as ports, have no thousands.
  const shown = plain ? (i) => (Number.isNaN(values[i]) ? "–" : String(values[i])) : (i) => number(values[i] * factor);
  return { key, heading, unit, values, plain, value: (i) => values[i], text: shown };
}

/** The numbers of a column of a table of the document, or null where it does not have it. */
function numbersOf(table, key) {
  return columnsOf(table).get(key)?.values ?? null;
}

/** The texts of a column as a function of the row; empty where there is no such column. */
function textsOf(table, key) {
  return columnsOf(table).get(key)?.text ?? (() => "");
}

/**
 * A table of the document in a container. options: before (further columns in front), cells (functions that make the
 * elements of a column, by its key), and those of DataTable.
 */
function shownTable(id, table, /** @type {Record<string, any>} */ given = {}) {
  const { before = [], cells = {}, ...options } = given;
  const columns = [...columnsOf(table).values()];
  const named = columns.filter((column) => !column.value || column.plain);
  return new DataTable(byId(id), {
    caption: table.caption, rows: table.rows, search: (i) => named.map((column) => column.text(i)).join("\n"),
    columns: [...before, ...columns.map((column) => ({ ...column, cell: cells[column.key] }))], ...options,
  });
}
