"""What the module offers besides whole runs: steps, states, cancelling, and what is said of bad input."""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from browser_networks import ROOT
from browser_page import Page, differences

STEPPED = ("first", "handover", "sdn_incast", "failure")
"""Packets over queues, Multipath TCP, a controller's timers, new routes in the middle of a run."""
MOST_MS = 3000
"""Within this time a mistake is told."""

Started = Callable[[Path], Any]
_HTML = re.compile(r"^```html\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def api_failures(page: Page, started: Started) -> list[str]:
    """What is not as it should be, a sentence each."""
    failures: list[str] = []
    for name in STEPPED:
        failures += _steps(page, started, name)
        failures += _cancelled(page, started, name)
    failures += _misuse(page, started)
    failures += _bad_input(page)
    failures += _documented_page(page, started)
    return failures


def _whole(started: Started, name: str) -> dict[str, Any]:
    simulation = started(ROOT / "examples" / f"{name}.toml")
    simulation.advance(2**63 - 1)
    return dict(simulation.finish()["tables"])


def _steps(page: Page, started: Started, name: str) -> Iterator[str]:
    """Steps of each kind lead to what one run gives, and progress never goes back."""
    tables = _whole(started, name)
    for kind in ("time", "packet-hops", "watch"):
        answer = page.call("stepped", *page.example(name), kind)
        if unlike := differences(tables, answer["tables"]):
            yield f"{name} in steps of {kind}: other {', '.join(unlike)}"
        log = answer["log"]
        for key in ("now_ps", "share", "packet_hops", "events"):
            if any(before[key] > after[key] for before, after in pairwise(log)):
                yield f"{name} in steps of {kind}: {key} goes back"
        if log[0]["share"] != 0 or log[-1]["share"] != 1 or not log[-1]["done"]:
            yield f"{name} in steps of {kind}: does not go from 0 to 1"


def _cancelled(page: Page, started: Started, name: str) -> Iterator[str]:
    """A run that is ended in the middle has the tables, and showed the states, of a native one."""
    simulation = started(ROOT / "examples" / f"{name}.toml")
    half = simulation.end() // 2
    answer = page.call("cancelled", *page.example(name), f"{half // 1000} ns")
    simulation.advance(half // 1000 * 1000)
    states = {
        "flows": simulation.flows(),
        "links": simulation.links(),
        "datagram_flows": simulation.datagram_flows(),
    }
    if unlike := differences(states, answer["states"]):
        yield f"{name}, states at its half: other {', '.join(unlike)}"
    outcome = simulation.finish()
    if unlike := differences(dict(outcome["tables"]), answer["tables"]):
        yield f"{name}, ended at its half: other {', '.join(unlike)}"
    if not answer["interrupted"] or answer["ended_s"] != outcome["summary"]["ended_s"]:
        yield f"{name}, ended at its half: not told"


def _misuse(page: Page, started: Started) -> Iterator[str]:
    """Calls that make no sense throw a sentence, and leave the run as it is."""
    expected = {
        "span": "Error: ",
        "past": "Error: the run is at 1 s and cannot go back to 0.001 s",
        "count": "Error: give a number of packet-hops of at least 1",
        "watch": "RangeError: of the watch",
        "number": "Error: a scenario is text, or the bytes of a file",
        "files": 'Error: the file "a.csv" is no text',
        "finished": "Error: the simulation is finished; start another one",
    }
    answer = page.call("misused", *page.example("first"))
    for call, sentence in expected.items():
        said = answer["answers"][call]
        if said is None or not said.startswith(sentence) or "unreachable" in said:
            yield f"misuse {call}: said {said!r}, not {sentence!r}"
    if unlike := differences(_whole(started, "first"), answer["tables"]):
        yield f"misuse changes {', '.join(unlike)}"


def _bad_input(page: Page) -> Iterator[str]:
    """Texts that are no scenario are told quickly, with line and column; the page lives on."""
    text, network = page.example("first")
    toml_1_1 = '{\n  distribution = "constant",\n  value = "1 us",\n}'
    utf16 = base64.b64encode(text.encode("utf-16")).decode()
    latin = base64.b64encode(text.replace("title", "# Köln\ntitle", 1).encode("latin-1")).decode()
    cases: list[tuple[str, Any, str | None]] = [
        ("a dotted key of 60 kB", ".".join(["a"] * 30_000) + " = 1", "more than 64 parts"),
        ("a table of 60 kB", "[" + ".".join(["a"] * 30_000) + "]", "more than 64 parts"),
        ("a dotted key of 70 parts", ".".join(["a"] * 70) + " = 1", "more than 64 parts"),
        ("a million keys", "".join(f"k{number} = 1\n" for number in range(1_000_000)), ""),
        ("a million keys in a table", "x = {" + ", ".join(f"k{i} = 1" for i in range(700_000)) + "}", ""),
        ("a million wrong lines", "wrong\n" * 1_000_000, "not valid TOML"),
        ("100,000 brackets", "a = " + "[" * 100_000, "more than 64 parts"),
        ("100,000 braces", "a = " + "{a=" * 100_000, "more than 64 parts"),
        ("100,000 brackets in front", "[" * 100_000, "not valid TOML"),
        ("UTF-16 as bytes", {"base64": utf16}, "UTF-16"),
        ("UTF-16 as text", text.encode("utf-16-le").decode("utf-8", "replace"), "UTF-16"),
        ("Latin-1", {"base64": latin}, "line 1: not UTF-8 text (byte 0xf6)"),
        ("a byte order mark", "\ufeff" + text, None),
        ("TOML 1.1", text + f"\n[network.hosts]\nprocessing_delay = {toml_1_1}\n", None),
        ("nothing", "", "network"),
        ("11 MB", "#" * 11_000_000, "larger than 10 MB"),
        ("a lone surrogate", text.replace("title =", 'title = "\ud800" #', 1), None),
        ("no network", text, None),
    ]
    for name, source, message in cases:
        answer = page.call("problems", source, network)
        problems = answer["problems"]
        messages = "; ".join(f"{problem['place']}: {problem['message']}" for problem in problems)
        if (message is None) != (not problems) or (message is not None and message not in messages):
            yield f"{name}: said {messages[:300]!r}"
        if len(messages) > 60_000 or answer["ms"] > MOST_MS:
            yield f"{name}: {len(messages)} characters after {answer['ms']:.0f} ms"
    misspelt = text.replace("duration", "duratoin", 1)
    line = misspelt[: misspelt.index("duratoin")].count("\n") + 1
    messages = page.call("problems", misspelt, network)["problems"]
    if not any(problem["place"] == "run.duratoin" and problem.get("line") == line for problem in messages):
        yield f"a misspelt key on line {line}: said {messages}"
    if page.call("problems", text, network)["problems"]:
        yield "the page is broken after bad input"


def _documented_page(page: Page, started: Started) -> Iterator[str]:
    """The page of docs/browser.md, as it stands there, shows what native flows have got."""
    (html,) = _HTML.findall((ROOT / "docs" / "browser.md").read_text(encoding="utf-8"))
    (page.folder / "documented.html").write_text(html, encoding="utf-8")
    shutil.copy(ROOT / "examples" / "first.toml", page.folder)
    flows = _whole(started, "first")["flows"]
    expected = [
        [name, f"{mbps:.3f}", str(delivered)]
        for name, mbps, delivered in zip(
            flows["name"], flows["goodput_mbps"].tolist(), flows["delivered_bytes"].tolist(), strict=True
        )
    ]
    page.page.goto(f"{page.address}/documented.html")
    page.page.wait_for_function("document.getElementById('state').textContent.startsWith('done: ')")
    rows = "[...document.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    if (shown := page.page.evaluate(rows)[1:]) != expected:
        yield f"the page of docs/browser.md shows {shown}, not {expected}"
