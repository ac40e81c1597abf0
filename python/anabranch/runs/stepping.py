"""A run in steps: look at it, change its network, go on."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import polars as pl

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.own.failure import failed
from anabranch.own.running import guarded
from anabranch.plans.routes import plan, settled
from anabranch.process.signals import deferred
from anabranch.results.result import Result, frame
from anabranch.runs.runner import FolderWriter, capture_into, check_captures, keep, measured, opened
from anabranch.scenario.quantity import PS_PER_SECOND, Span
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.table import read
from anabranch.scenario.tables import Event
from anabranch.setup import Needed, resolve
from anabranch.setup.memory import check_memory
from anabranch.setup.problems import refused
from anabranch.text.suggest import nearest_remedy

_NO_LIMIT = 2.0**63
"""Windows and rates from here on are refused: the core counts in 64 bits."""


class HeldFlow(NamedTuple):
    """A flow whose window is set between steps, at one moment."""

    state: str
    """``waiting``, ``opening``, ``open``, ``complete`` or ``failed``."""
    mss_bytes: int
    """Payload of a full segment."""
    delivered_bytes: int
    """Acknowledged since the start, cumulatively or selectively."""
    lost_bytes: int
    """Judged lost since the start."""
    cwnd_bytes: int
    """Congestion window."""
    in_flight_bytes: int
    """Sent and not acknowledged, as the sender sees it."""
    srtt_s: float
    """Smoothed round-trip time; this and the next two are 0 before the first sample."""
    rtt_s: float
    """Latest sample."""
    min_rtt_s: float
    """Smallest sample."""


class Simulation:
    """A run that goes on when it is told to. ``Scenario.start`` makes one.

    Whatever its steps, it computes what ``Scenario.run`` does, to the last byte.
    """

    def __init__(self, scenario: Scenario) -> None:
        """Makes the routes, and stands at time zero, before the first event.

        Raises:
            ScenarioError: if the scenario cannot be run.
        """
        self._scenario = scenario
        setup = settled(resolve(scenario, Needed.ALL), scenario.origin)
        check_memory(setup, scenario.origin)
        self._captures: Path | None = None
        if setup.captures:
            self._captures = Path(tempfile.mkdtemp(prefix="anabranch-"))
            # Also where nobody finishes the run.
            weakref.finalize(self, shutil.rmtree, self._captures, ignore_errors=True)
            setup = capture_into(setup, self._captures)
        self._setup = setup
        self._planned = plan(setup, scenario.origin)
        self._numbers: dict[str, int] | None = None
        self._begin = time.perf_counter()
        try:
            with guarded(setup.agreement):
                self._core = setup.core().start(self._planned.plan)
        except _core.SetupError as error:
            raise refused(error, scenario.origin, setup) from None
        except _core.OwnCodeError as error:
            raise failed(error) from None

    @property
    def now(self) -> Span:
        """The simulated time."""
        return Span(self._core.now())

    @property
    def end(self) -> Span:
        """The duration of the scenario: no step goes beyond it."""
        return Span(self._core.end())

    @property
    def next_event(self) -> Span | None:
        """When something will happen next; None if nothing will before the end.

        A step that ends before that only lets time pass.
        """
        ps = self._core.next_event()
        return None if ps is None else Span(ps)

    def advance(
        self,
        span: Span | str | None = None,
        *,
        until: Span | str | None = None,
        progress: Callable[[float, int], object] | None = None,
    ) -> Self:
        """Goes on, at most to the end of the run; the events of the step's last instant are in it.

        Args:
            span: how far, such as ``"10 ms"``; zero works off what is due now.
            until: in its place, the time to go on to.
            progress: called now and then with the simulated seconds and the packet-hops so far.

        Returns:
            Itself.

        Raises:
            ValueError: if not one of both is given, it is no time, or ``until`` is past.
            OwnCodeError: if an algorithm of your own fails.
            KeyboardInterrupt: after Ctrl-C, between two events; another step goes on from there.
        """
        if (span is None) == (until is None):
            raise ValueError("give how far to go on, such as advance('10 ms'), or advance(until='1 s')")
        if span is not None:
            to = min(self._core.now() + int(Span.validate(span)), self._core.end())
        else:
            to = int(Span.validate(until))
        try:
            with guarded(self._setup.agreement):
                self._core.advance(to, progress)
        except _core.OwnCodeError as error:
            raise failed(error) from None
        return self

    @property
    def flows(self) -> pl.DataFrame:
        """A row for each flow: the table ``flows`` of a result so far, and the present state.

        The latter is ``state`` (``waiting``, ``opening``, ``open``, ``complete`` or ``failed``),
        ``cwnd_bytes``, ``ssthresh_bytes`` (null before the first loss), ``srtt_ms``, ``rtt_ms`` (the latest
        sample) and ``in_flight_bytes``.
        """
        return frame(self._core.flows())

    @property
    def datagram_flows(self) -> pl.DataFrame:
        """A row for each ping, and each flow of UDP: the table ``datagram_flows`` of a result so far."""
        return frame(self._core.datagram_flows())

    @property
    def links(self) -> pl.DataFrame:
        """A row for each directed link: the table ``links`` of a result so far, and the present state.

        The latter is ``state`` (``up`` or ``down``), ``queue_packets`` and ``queue_bytes`` (waiting now) and
        ``in_flight_packets``.
        """
        return frame(self._core.links())

    def set(self, **change: Any) -> None:
        """Changes the network now: the fields of an ``[[event]]`` of the scenario, but for ``at``.

        Args:
            change: such as ``link=["a", "b"], capacity="5 Mbps"`` or ``node="a", state="down"``.

        Raises:
            ScenarioError: if there is something wrong with it; nothing is changed then.
        """
        event = _event(change, self._core.now()).data(given_only=True)
        for changed in self._setup.changes_of(event, "set", self._scenario.origin):
            self._core.change(changed)

    def held(self, flow: str) -> HeldFlow:
        """A flow whose congestion control is ``held``, as it is now; costs a microsecond.

        Args:
            flow: its name, such as ``"agent.0"``.

        Raises:
            ValueError: if there is no such flow, or its congestion control is another one.
        """
        try:
            state, mss, delivered, lost, cwnd, in_flight, *times_ps = self._core.held(self._number(flow))
        except _core.SetupError as error:
            raise ValueError(f"held: flow {flow}: {error.args[1]}") from None
        srtt_s, rtt_s, min_rtt_s = (ps / PS_PER_SECOND for ps in times_ps)
        return HeldFlow(state, mss, delivered, lost, cwnd, in_flight, srtt_s, rtt_s, min_rtt_s)

    def hold(self, flow: str, cwnd_bytes: float, pacing_bps: float | None = None) -> None:
        """Sets the congestion window of a flow now, and sends at once what it allows.

        Losses leave the window as it is, until it is set again; a timeout leaves one segment, which grows
        back by what is delivered.

        Args:
            flow: its name; its congestion control is ``held``, and its connection open.
            cwnd_bytes: the window; less than a segment counts as one, a fraction falls away.
            pacing_bps: the rate at which segments leave, in bits of payload a second; None leaves it to the
                window and the transport.

        Raises:
            ValueError: if there is no such flow, it cannot be held, or a number is negative or none.
        """
        for name, value in (("cwnd_bytes", cwnd_bytes), ("pacing_bps", pacing_bps or 0)):
            if not 0 <= value < _NO_LIMIT:
                raise ValueError(f"hold: {name} is {value}; give a number from 0 to 2^63")
        try:
            self._core.hold(self._number(flow), int(cwnd_bytes), int(pacing_bps or 0))
        except _core.SetupError as error:
            raise ValueError(f"hold: flow {flow}: {error.args[1]}") from None

    def _number(self, flow: str) -> int:
        """The place of a flow among all.

        Raises:
            ValueError: if there is none of this name.
        """
        if self._numbers is None:
            self._numbers = {name: number for number, name in enumerate(self._core.flows()["name"])}
        if flow not in self._numbers:
            raise ValueError(f'no flow "{flow}"; {nearest_remedy(flow, self._numbers)}')
        return self._numbers[flow]

    def finish(
        self, out: Path | str | None = None, *, write: FolderWriter | None = None, replace: bool = False
    ) -> Result:
        """Ends the run where it is. It takes no further step.

        Args:
            out: folder to save the result in, as for ``Scenario.run``.
            write: writes what else the folder gets, such as its page; None for nothing.
            replace: go on though the folder has other files, which stay in it. Without ``out``, captures
                take the place of files of their names.

        Returns:
            What was measured; before the duration of the scenario, ``summary["interrupted"]`` is true.

        Raises:
            ResultError: if ``out`` has other files, is being written to, or cannot be written; without it,
                if there is a file with the name of a capture. The run can then be finished once more.
        """
        if out is None:
            check_captures(self._scenario, replace=replace)
        with opened(out, replace=replace) as place, deferred() as signals:
            outcome = self._core.finish()
            wall_s = time.perf_counter() - self._begin
            result = measured(self._scenario, self._setup, self._planned, outcome, wall_s)
            add = None if write is None else partial(write, result)
            keep(result, place, self._scenario, self._captures, signals, add)
        return result


def _event(change: Mapping[str, Any], now: int) -> Event:
    """The change as an event.

    Raises:
        ScenarioError: if it is none.
    """
    if "at" in change:
        raise ScenarioError([Problem("set.at", "a change is made now; leave at out, or write an [[event]]")])
    return read(Event, {**change, "at": Span(now)}, "set")
