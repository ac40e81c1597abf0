// Pages of sections: the tables that they have already become sortable, and some of them can be filtered.

function adoptTable(container) {
  const table = container.querySelector("table");
  const rows = [...table.tBodies[0].rows];
  const columns = [...table.tHead.rows[0].cells].map((head, i) => ({
    heading: head.firstChild.textContent.trim(), unit: head.querySelector("small")?.textContent.trim(),
    choices: "choices" in head.dataset, text: (row) => rows[row].cells[i].textContent.trim(),
    value: head.classList.contains("num") ? (row) => Number(rows[row].cells[i].dataset.value ?? NaN) : undefined,
  }));
  const filtered = container.dataset.filtered === "yes";
  return new DataTable(container, { caption: table.caption.textContent, rows: rows.length, columns, table, filtered,
    search: (row) => [...rows[row].cells].map((cell) => cell.textContent).join("\n") });
}

setUpTheme();
setUpPrinting();
for (const container of document.querySelectorAll(".adopted")) adoptTable(container);
document.documentElement.dataset.ready = "true";
