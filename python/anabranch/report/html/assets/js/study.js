// The page of a study: its figures come drawn; here are the table and which figure is shown.

function studyPage() {
  shownTable("cell-table", DATA.cells);
  const figures = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("figure[data-metric]"))];
  const choose = /** @type {HTMLSelectElement} */ (byId("metric"));
  const show = () => {
    for (const figure of figures) figure.classList.toggle("elsewhere", choose.value !== "" && figure.dataset.metric !== choose.value);
  };
  choose?.addEventListener("change", show);
}
