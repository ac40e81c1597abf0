"""The studio in headless Chromium: how soon its pictures are there.

``python checks/benches/studio_page.py FOLDER`` serves the folder of ``make site``, the studio without an
installation. It measures from an empty cache to the first picture, and from a slider to its picture.
``python checks/benches/studio_page.py FILE...`` measures the latter in ``anabranch studio FILE``, of each
file. The load of the machine stands beside them: other work on it makes them longer.
"""

import functools
import http.server
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright import sync_api as playwright

TURNS = 20
FIRST_TURNS = 5
MOST_FIRST_S, MOST_SLIDER_MS = 3.0, 250.0
MOST_INSTALLED_MS = 150.0
"""From a slider to its picture in the studio that is installed."""
_ADDRESS = re.compile(r"http://\S+")
_SLIDE = """(value) => new Promise((done) => {
  const root = document.documentElement;
  const slider = [...document.querySelectorAll("#panel-controls input[type=range]")][0];
  const before = root.dataset.shown;
  const since = performance.now();
  new MutationObserver((_, observer) => {
    if (root.dataset.shown === before) return;
    observer.disconnect();
    // A message comes as soon as the frame is painted. A timer would wait for the next frame too, in which
    // Chromium lays out what is out of sight.
    requestAnimationFrame(() => {
      const painted = new MessageChannel();
      painted.port1.onmessage = () => done(performance.now() - since);
      painted.port2.postMessage(null);
    });
  }).observe(root, { attributes: true });
  slider.value = String(Number(slider.min) + (Number(slider.max) - Number(slider.min)) * value);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
})"""


@contextmanager
def served(folder: str) -> Iterator[str]:
    """A folder over HTTP: the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()


def first_picture_s(browser: playwright.Browser, address: str) -> float:
    """Seconds from an empty cache until the first simulated picture is there."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    begin = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("html[data-shown]", state="attached")
    taken = time.perf_counter() - begin
    context.close()
    return taken


def processor_ms() -> float:
    """Processor time of everything that this program has started, by Linux's /proc."""
    parents: dict[int, int] = {}
    times: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(") ")[2].split()
                parents[int(entry.name)], times[int(entry.name)] = (
                    int(fields[1]),
                    sum(map(int, fields[11:13])),
                )

    def is_ours(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    ticks = sum(time for process, time in times.items() if process != os.getpid() and is_ours(process))
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def slider_ms(browser: playwright.Browser, address: str) -> tuple[list[float], float]:
    """Milliseconds from each of some changes of a slider until its picture, and processor time of one."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.wait_for_selector("html[data-shown]", state="attached")
    # The first change waits for code to be compiled.
    page.evaluate(_SLIDE, 0.3)
    before = processor_ms()
    taken = [float(page.evaluate(_SLIDE, 0.32 + 0.02 * turn)) for turn in range(TURNS)]
    processor = (processor_ms() - before) / TURNS
    page.close()
    return taken, processor


@contextmanager
def studio(file: str) -> Iterator[str]:
    """The installed studio of a scenario: its address."""
    command = [sys.executable, "-m", "anabranch", "studio", file, "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
    try:
        lines = iter(process.stdout or ())
        yield next(address[0] for line in lines if (address := _ADDRESS.search(line)))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)


def site_lines(browser: playwright.Browser, folder: str) -> Iterator[tuple[str, bool]]:
    """Each number of the studio without an installation, and whether it is small enough."""
    with served(folder) as address:
        first = statistics.median(first_picture_s(browser, address) for _ in range(FIRST_TURNS))
        slides, processor = slider_ms(browser, address)
    words = f"first picture: {first:.2f} s (median of {FIRST_TURNS}, at most {MOST_FIRST_S:g})"
    yield words, first <= MOST_FIRST_S
    yield slider_line("slider to picture", slides, MOST_SLIDER_MS)
    yield f"processor time of a change: {processor:.0f} ms, all processes of the browser", True


def slider_line(title: str, slides: list[float], most_ms: float) -> tuple[str, bool]:
    """The time from a slider to its picture, and whether it is short enough."""
    median = statistics.median(slides)
    spread = f"median of {TURNS}, {min(slides):.0f} to {max(slides):.0f}"
    return f"{title}: {median:.0f} ms ({spread}, at most {most_ms:g})", median <= most_ms


def main() -> None:
    """Prints the numbers; fails where one is too large."""
    places = sys.argv[1:]
    with playwright.sync_playwright() as programs:
        browser = programs.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        lines: list[tuple[str, bool]] = []
        for place in places:
            if Path(place).is_dir():
                lines += site_lines(browser, place)
            else:
                with studio(place) as address:
                    lines.append(slider_line(place, slider_ms(browser, address)[0], MOST_INSTALLED_MS))
        browser.close()
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    lines.append((f"load of the machine: {load} on {os.cpu_count()} cores", True))
    sys.stdout.writelines(f"{line}\n" for line, _ in lines)
    if not all(is_small for _, is_small in lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
