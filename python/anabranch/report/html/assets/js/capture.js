// The page of captures: lines of subflows over time, distributions of round-trip times, tables.

/** Lines over time in the places that the template has for the axes of a chart. */
function captureLines(key, data, onDraw) {
  new LineCharts(data, { legend: `${key}-legend`, charts: data.axes.map((_, i) => `${key}-chart-${i}`), offersAll: true, onDraw });
}

function capturePage() {
  setTimeUnit();
  timeMarks.events = DATA.marks;
  const drawn = {};
  const drawCurves = (shown) => drawDistribution("rtt-distribution", DATA.rtts, {
    xName: "at most", hint: "The share of data segments whose ACK came within x.", shown,
    nothing: "No round-trip time was measured.",
  }, drawn);
  if (DATA.lines) captureLines("series", DATA.lines, DATA.rtts ? drawCurves : undefined);
  if (DATA.against) {
    if (DATA.against.lines) captureLines("against", DATA.against.lines);
    shownTable("against-table", DATA.against.table);
  }
  shownTable("connection-table", DATA.connections);
  shownTable("subflow-table", DATA.subflows);
  if (DATA.protocols) shownTable("protocol-table", DATA.protocols);
}
