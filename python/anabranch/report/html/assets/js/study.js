// The page of a study: its figures come drawn; here are the tables and which figure is shown.

function studyPage() {
  const { columns, rows } = DATA.cells;
  const decoded = columns.map((column) => (column.words
    ? { heading: column.heading, text: decodeWords(column) } : numberColumn(column)));
  new DataTable(byId("cell-table"), {
    caption: "Cells", rows, columns: decoded, search: (i) => decoded.map((column) => column.text(i)).join("\n"),
  });
  const figures = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("figure[data-metric]"))];
  const choose = /** @type {HTMLSelectElement} */ (byId("metric"));
  const show = () => {
    for (const figure of figures) figure.classList.toggle("elsewhere", choose.value !== "" && figure.dataset.metric !== choose.value);
  };
  choose?.addEventListener("change", show);
}
