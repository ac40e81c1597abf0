setUpTheme();
setUpPrinting();
setUpCharts();
if (DATA.kind === "run") runPage();
else if (DATA.kind === "capture") capturePage();
else studyPage();
document.documentElement.dataset.ready = "true";
