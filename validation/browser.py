"""The core in a browser: examples run in headless Chromium, and each table is compared with the native one.

``make check-wasm`` builds the module and runs this. A page gets the text of a scenario and the network of its
topology, and the core reads, resolves, plans and simulates. Every value of every table must be the same, to
the last bit. The speed is that of a second run in the same page, beside a second native run.
"""

from __future__ import annotations

import gzip
import http.server
import json
import math
import shutil
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from playwright import sync_api as playwright

from anabranch import Scenario
from anabranch.setup import resolve
from anabranch.setup.topologies import plain_network

ROOT = Path(__file__).parents[1]
EXAMPLES = (
    "first", "dumbbell", "ecn", "failure", "handover", "leaf_spine", "programs", "rrul", "sdn_incast",
    "semper", "slow_reader",
)  # fmt: skip
"""Generators, archives, controllers, Multipath TCP, pings and UDP, failures, queues, random variates."""
LARGEST_GZIP_BYTES = 1_500_000
PAGE = """
<!doctype html><script type="module">
import start, {run} from "./anabranch_wasm.js";
await start();
window.simulated = (text, network) => {
  const begin = performance.now();
  try { return [performance.now() - begin, run(text, network), performance.now() - begin]; }
  catch (error) { return [0, JSON.stringify({error: String(error)}), 0]; }
};
window.ready = true;
</script>
"""


def native(scenario: Scenario) -> tuple[dict[str, Any], float]:
    """The tables of a native run, and its time in milliseconds."""
    setup = resolve(scenario).core()
    routes = setup.plan()
    setup.simulate(routes)
    begin = time.perf_counter()
    outcome = setup.simulate(routes)
    return dict(outcome["tables"]), (time.perf_counter() - begin) * 1000


def values(column: Any) -> list[Any]:
    """A column as JSON has it."""
    if isinstance(column, tuple):
        names, places = column
        return [names[place] for place in places.tolist()]
    entries = column if isinstance(column, list) else column.tolist()
    return [None if isinstance(entry, float) and math.isnan(entry) else entry for entry in entries]


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The columns that are not the same in both."""
    names = sorted({(table, name) for tables in (ours, theirs) for table in tables for name in tables[table]})
    return [
        f"{table}.{name}"
        for table, name in names
        if values(ours[table][name]) != theirs.get(table, {}).get(name)
    ]


def served(folder: Path) -> http.server.ThreadingHTTPServer:
    """The module as a page loads it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def compared(page: playwright.Page, name: str) -> bool:
    """Runs an example in both; says how they compare."""
    file = ROOT / "examples" / f"{name}.toml"
    scenario = Scenario.load(file)
    tables, native_ms = native(scenario)
    arguments = [file.read_text(encoding="utf-8"), plain_network(scenario)]
    call = "([text, network]) => window.simulated(text, network)"
    page.evaluate(call, arguments)
    _, text, browser_ms = page.evaluate(call, arguments)
    answer = json.loads(text)
    if "error" in answer:
        sys.stdout.write(f"{name}: {answer['error']}\n")
        return False
    unlike = differences(tables, answer["tables"])
    rows = sum(len(values(next(iter(columns.values())))) for columns in tables.values() if columns)
    speed = native_ms / browser_ms
    said = f"other: {', '.join(unlike)}" if unlike else "the same"
    sys.stdout.write(f"{name}: {rows} rows, {said}, speed {speed:.2f}\n")
    return not unlike


def main() -> None:
    """Compares all examples, and the size of the module."""
    folder = Path(sys.argv[1])
    size = len(gzip.compress((folder / "anabranch_wasm_bg.wasm").read_bytes(), 9))
    sys.stdout.write(f"module: {size / 1e6:.2f} MB by gzip; at most {LARGEST_GZIP_BYTES / 1e6:.1f}\n")
    (folder / "check.html").write_text(PAGE, encoding="utf-8")
    server = served(folder)
    try:
        with playwright.sync_playwright() as programs:
            browser = programs.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_address[1]}/check.html")
            page.wait_for_function("window.ready === true")
            right = [compared(page, name) for name in EXAMPLES]
            browser.close()
    finally:
        server.shutdown()
    if not all(right) or size > LARGEST_GZIP_BYTES:
        sys.exit(1)


if __name__ == "__main__":
    main()
