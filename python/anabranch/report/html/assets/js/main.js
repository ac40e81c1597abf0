setUpTheme();
setUpPrinting();
setUpCharts();
if (DATA.kind === "run") runPage();
else studyPage();
document.documentElement.dataset.ready = "true";
