"""A live run beside its simulation, in a process of its own (``worker.py``), which tells it as it happens."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anabranch.live import run
from anabranch.live.against import compared, simulated_series, verdict
from anabranch.live.tables import series_rows
from anabranch.live.traffic import Sample
from anabranch.media.page.data import table_data
from anabranch.media.pieces import DataTable, Text
from anabranch.report.html.run_data import run_document
from anabranch.report.views.over_time import changes
from anabranch.report.views.run import against_pieces
from anabranch.results.result import Result
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch.studio.drawing import simulated, without_captures
from anabranch.studio.pictures import network_picture
from anabranch.studio.work import Data, Teller

_BETWEEN_TELLS_S = 0.2


def live_picture(scenario: Scenario, tell: Teller) -> Data:
    """Simulates a scenario, runs it live, and draws both.

    Told on the way: ``progress``, ``beside`` (the picture of the simulation), ``begun`` (what is drawn before
    there are samples), and ``samples`` (rows of the table ``flow_series``).

    Args:
        scenario: the scenario.
        tell: told that.

    Returns:
        ``picture`` of the live run, with the table ``against`` where it came to its end.

    Raises:
        AnabranchError: if it cannot be run, or not live.
        KeyboardInterrupt: if it is to end before there is something to show.
    """
    # The kernel's flows do not tell the engine that they are done: both go on to the end.
    scenario = without_captures(scenario.replace({"run.until": "duration"}))
    beside = simulated(scenario, lambda: None, tell)
    if beside.interrupted:
        raise KeyboardInterrupt
    tell({"beside": run_document(beside)})
    setup = resolve(scenario, Needed.ROUTES)
    duration_s = scenario.run_settings.duration.seconds
    tell({"begun": _begun(beside, network_picture(setup), duration_s)})
    reporter = _Reporter(tell, duration_s)
    try:
        result = run(scenario, hearer=reporter.hear)
    finally:
        reporter.close()
    return {"picture": run_document(result)} if result.interrupted else {"picture": _against(result, beside)}


def _begun(beside: Result, network: Data, duration_s: float) -> Data:
    """What is known of a live run before it begins."""
    flows = beside.flows.select("flow", "name", "transport")
    return {
        "network": {name: network[name] for name in ("network", "links")},
        "flows": flows.to_dict(as_series=False),
        "title": str(beside.summary.get("title") or "A live run"),
        "duration_s": duration_s,
        "marks": [{"time_s": mark.time_s, "bad": mark.is_bad} for mark in changes(beside)],
    }


def _against(live: Result, beside: Result) -> Data:
    """The picture of a live run with its simulation: lines, and the flows of both."""
    table = compared(live.tables, beside)
    summary = {**live.summary["live"], "against": verdict(table, live.summary["live"]["not_valid"])}
    both = replace(
        live,
        tables={**live.tables, **simulated_series(beside), "against": table},
        summary={**live.summary, "live": summary},
    )
    pieces = against_pieces(both)
    words = ["".join(map(str, piece.words)) for piece in pieces if isinstance(piece, Text)]
    tables = [table_data(piece) for piece in pieces if isinstance(piece, DataTable)]
    return {**run_document(both), "texts": words, "against": tables[0] if table.height else None}


class _Reporter:
    """Tells samples, and how far the run is, in a thread that its flows do not wait for."""

    def __init__(self, tell: Teller, duration_s: float) -> None:
        self._tell = tell
        self._duration_s = duration_s
        self._samples: queue.SimpleQueue[Sequence[Sample]] = queue.SimpleQueue()
        self._before: dict[int, int] = {}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._report, name="reporter", daemon=True)
        self._thread.start()

    def hear(self, samples: Sequence[Sample]) -> None:
        """Takes samples of an instant."""
        self._samples.put(samples)

    def close(self) -> None:
        """Tells what is left."""
        self._closed.set()
        self._thread.join()

    def _report(self) -> None:
        while not self._closed.is_set():
            time.sleep(_BETWEEN_TELLS_S)
            self._tell_new()

    def _tell_new(self) -> None:
        rows: list[dict[str, Any]] = []
        while not self._samples.empty():
            rows += series_rows(self._samples.get(), self._before)
        if rows:
            at_s = rows[-1]["time_s"]
            self._tell({"progress": {"done": at_s, "all": self._duration_s, "unit": "s live"}})
            self._tell({"samples": rows})
