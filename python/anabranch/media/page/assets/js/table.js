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
    /** What the lines in sight stand for: which rows there are. */
    this.sight = "";
    /** The lines in sight, whose elements other rows take over. */
    this.lines = [];
    /** How far it is scrolled: to ask the element would lay out the whole page. */
    this.top = 0;
    this.build(container);
    this.refresh();
    printListeners.push(() => this.render(true));
  }

  /** Whether other rows may take the place of these, with the same columns. */
  suits(container, options) {
    const kind = ({ caption, filtered, columns }) => JSON.stringify([caption, filtered, columns.map(({ heading, unit, value, cell, choices }) => [
      heading, unit, Boolean(value), Boolean(cell), Boolean(choices)])]);
    return !this.whole && !options.table && !this.choices.length && this.view.parentNode === container && kind(this.options) === kind(options);
  }

  /** Other rows: how they are sorted, what is looked for and how far the reader has scrolled stays. */
  take(options) {
    clearTimeout(this.pending);
    this.options = options;
    this.size();
    this.refresh(true);
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
    this.body = h("tbody", { onclick: (event) => this.click(event) });
    this.columns = options.columns.map(() => h("col"));
    this.table = h(
      "table", { class: "data" }, h("caption", { class: "unseen" }, options.caption), h("colgroup", {}, ...this.columns),
      h("thead", {}, h("tr", {}, ...this.heads)), this.body,
    );
    this.size();
    this.view = h(
      "div", { class: "viewport", tabindex: "0", role: "region", "aria-label": options.caption,
        onscroll: () => { this.top = this.view.scrollTop; this.render(false); }, onkeydown: (event) => this.key(event) },
      this.table,
    );
    return this.view;
  }

  /** As wide as its texts, and how many rows it has in all. */
  size() {
    const { columns, rows } = this.options;
    const widths = columns.map((column) => this.widthOf(column));
    widths.forEach((width, i) => { this.columns[i].style.width = `${width}px`; });
    this.table.style.width = `${widths.reduce((sum, width) => sum + width, 0)}px`;
    this.table.setAttribute("aria-rowcount", String(rows + 1));
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

  refresh(keepsPlace = false) {
    const { rows, search, keeps, columns } = this.options;
    const wanted = this.filter.value.trim().toLowerCase();
    const kept = this.choices.filter(({ select }) => select.value !== "");
    const order = [];
    for (let i = 0; i < rows; i++) {
      if ((!keeps || keeps(i)) && kept.every(({ column, select }) => column.text(i) === select.value)
        && (!wanted || search(i).toLowerCase().includes(wanted))) order.push(i);
    }
    const column = columns[this.sorting.column];
    if (column) {
      const sign = this.sorting.down ? -1 : 1;
      if (column.value) {
        // What is not there comes last, whichever way.
        const key = (i) => { const value = column.value(i); return Number.isNaN(value) ? null : value; };
        order.sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
          return sign * (x - y) || a - b;
        });
      } else {
        const words = new Intl.Collator(undefined, { numeric: true });
        order.sort((a, b) => sign * words.compare(column.text(a), column.text(b)) || a - b);
      }
    }
    this.order = order;
    this.count.textContent = rowCount(order.length, rows);
    this.count.classList.toggle("partly", order.length < rows);
    if (this.top && !keepsPlace) this.view.scrollTop = this.top = 0;
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
    const sight = [first, last, order.length, printing].join();
    if (!always && sight === this.sight) return;
    while (this.lines.length < last - first) this.lines.push(this.line());
    for (let place = first; place < last; place++) this.fill(this.lines[place - first], order[place], place);
    if (sight === this.sight) return;
    this.sight = sight;
    this.lines.length = last - first;
    const spacer = (count) => {
      const cell = h("td", { colspan: this.options.columns.length });
      cell.style.height = `${printing ? 0 : count * ROW_HEIGHT}px`;
      return h("tr", { class: "spacer", "aria-hidden": "true" }, cell);
    };
    const more = printing && order.length > last
      ? [h("tr", {}, h("td", { colspan: this.options.columns.length }, `and ${number(order.length - last)} more rows`))]
      : [];
    this.body.replaceChildren(spacer(first), ...this.lines.map(({ element }) => element), ...more, spacer(order.length - last));
  }

  /** A line for whatever row. */
  line() {
    const cells = this.options.columns.map((column) => h("td", { class: column.value ? "num" : "" }));
    return { element: h("tr", {}, ...cells), cells, row: -1, texts: [] };
  }

  /** A row in a line, of which the texts are written that are others. */
  fill(line, row, place) {
    const { columns, chosen } = this.options;
    line.row = row;
    line.element.setAttribute("aria-rowindex", String(place + 2));
    line.element.className = chosen?.(row) ? "chosen" : "";
    columns.forEach((column, i) => {
      const text = column.text(row);
      if (column.cell) line.cells[i].replaceChildren(column.cell(row));
      else if (line.texts[i] !== text) line.cells[i].textContent = text;
      else return;
      line.texts[i] = text;
      if (!column.value) line.cells[i].title = text;
    });
  }

  click(event) {
    const { onChoose } = this.options;
    const element = event.target.closest("tr");
    const line = this.lines.find((each) => each.element === element);
    if (line && onChoose && event.target.tagName !== "INPUT") onChoose(line.row);
  }

  key(event) {
    if (event.target !== this.view) return;
    const jump = { Home: 0, End: this.order.length * ROW_HEIGHT }[event.key];
    if (jump === undefined) return;
    this.view.scrollTop = jump;
    event.preventDefault();
  }
}

const tableIn = new WeakMap();

/** A table in a container, of the elements that are there already where their columns are the same. */
function dataTable(container, options) {
  const before = tableIn.get(container);
  if (before?.suits(container, options)) {
    before.take(options);
    return before;
  }
  const table = new DataTable(container, options);
  tableIn.set(container, table);
  return table;
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
  return dataTable(byId(id), {
    caption: table.caption, rows: table.rows, search: (i) => named.map((column) => column.text(i)).join("\n"),
    columns: [...before, ...columns.map((column) => ({ ...column, cell: cells[column.key] }))], ...options,
  });
}
