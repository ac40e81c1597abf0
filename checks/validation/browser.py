"""The core in a browser: examples run in headless Chromium, and each table is compared with the native one.

``make check-wasm`` builds the module, writes the networks and runs this. A page gets the text of a scenario
and the file of its network, and the core reads, resolves, plans and simulates. Every value of every table
must be the same, to the last bit, in one run and in steps.

Speed is that of the same calls on both sides, in turns, of which the fastest counts: from the first event to
the tables ("run": a step to the end, and what ends it), and from the text on ("whole": read, check, plan and
run).
"""

from __future__ import annotations

import gzip
import http.server
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from browser_api import api_failures
from browser_networks import ROOT
from browser_page import Page, differences
from playwright import sync_api as playwright

from anabranch import Scenario, _core
from anabranch.setup import resolve

EXAMPLES = (
    "first", "dumbbell", "ecn", "failure", "handover", "leaf_spine", "programs", "rrul", "sdn_incast",
    "semper", "slow_reader",
)  # fmt: skip
"""Generators, archives, controllers, Multipath TCP, pings and UDP, failures, queues, random variates."""
LARGEST_GZIP_BYTES = 1_500_000
LEAST_SPEED = 0.4
"""Of native, on the same machine."""
TURNS = 5
TURNS_S = 4.0
"""So many turns at least and so long: other work on the machine slows down whole seconds."""
END_PS = 2**63 - 1


def started(file: Path) -> _core.Simulation:
    """A native simulation before its first event."""
    setup = resolve(Scenario.load(file)).core()
    return setup.start(setup.plan())


def native(file: Path) -> tuple[dict[str, Any], float, float]:
    """The tables of a native run, and the milliseconds of the run and of the whole."""
    begin = time.perf_counter()
    simulation = started(file)
    ready = time.perf_counter()
    simulation.advance(END_PS)
    outcome = simulation.finish()
    end = time.perf_counter()
    return dict(outcome["tables"]), (end - ready) * 1000, (end - begin) * 1000


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The module and the networks as a page loads them: the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def compared(page: Page, name: str) -> bool:
    """Runs an example in both, in turns; says how they compare."""
    file = ROOT / "examples" / f"{name}.toml"
    arguments = page.example(name)
    tables, *_ = native(file)
    unlike = differences(tables, page.call("simulated", *arguments)["tables"])
    turns: list[tuple[float, float, float, float]] = []
    begin = time.perf_counter()
    while len(turns) < TURNS or time.perf_counter() - begin < TURNS_S:
        times = page.call("timed", *arguments)
        turns.append((*native(file)[1:], times["run_ms"], times["whole_ms"]))
    native_run, native_whole, page_run, page_whole = (min(times) for times in zip(*turns, strict=True))
    run, whole = native_run / page_run, native_whole / page_whole
    rows = sum(len(first) for columns in tables.values() for first in list(columns.values())[:1])
    said = f"other: {', '.join(unlike)}" if unlike else "the same"
    sys.stdout.write(
        f"{name}: {rows} rows, {said}; run {page_run:.0f} ms, {run:.2f} of native, whole {whole:.2f}\n"
    )
    return not unlike and run >= LEAST_SPEED


def main() -> None:
    """Compares all examples, checks what else the module offers, and its size."""
    folder = Path(sys.argv[1])
    size = len(gzip.compress((folder / "anabranch_wasm_bg.wasm").read_bytes(), 9))
    sys.stdout.write(f"module: {size / 1e6:.2f} MB by gzip; at most {LARGEST_GZIP_BYTES / 1e6:.1f}\n")
    shutil.copy(Path(__file__).with_name("browser_check.html"), folder)
    with served(folder) as address, playwright.sync_playwright() as programs:
        browser = programs.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = Page(browser.new_page(), address, folder)
        right = [compared(page, name) for name in EXAMPLES]
        failures = api_failures(page, started)
        browser.close()
    sys.stdout.writelines(f"fails: {failure}\n" for failure in failures)
    if not all(right) or failures or size > LARGEST_GZIP_BYTES:
        sys.exit(1)


if __name__ == "__main__":
    main()
