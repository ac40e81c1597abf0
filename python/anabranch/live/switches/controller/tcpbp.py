"""The application ``tcpbp``: routes by measured losses and delays (Vilela 2022, chapter 4)."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from anabranch import _core
from anabranch.live.switches.controller.forwarding import ForwardingController, KnownFlow
from anabranch.live.switches.controller.frames import LLDP, PROBE, ether_type, probe, read_probe
from anabranch.live.switches.controller.known import Path
from anabranch.live.switches.controller.meters import LinkMeter, Reading
from anabranch.live.switches.controller.switchboard import Switchboard
from anabranch.live.switches.controller.tell import tell

_PS_PER_S = 10**12
_PS_PER_NS = 1000
_PROBES_PER_S = 200
"""Over all links together; the quickest of each link in a round counts: others met a busy switch."""
_FEWEST_PROBES = 4
"""Of each link in a round."""
_ROUNDS_OF_LOOPS = 3
"""The way to a switch and back, and the trip over the cable, are means over so many rounds."""
_NO_LINK = -1
"""In place of a link: a frame that a switch sends up at once."""
_CABLES = (-2, -3, -4, -5)
"""In place of a link: frames over the cable of no length, in groups of as many as a link has. So the quickest
of a group has the luck of a link's quickest, and the mean over the groups is what such luck is worth."""
_UNTIL_FIRST_S = 0.5
"""From the beginning to the first round."""
_READING_SHARE = 0.45
"""Of a round, over which the counters are read: a switch that is asked for all at once answers late."""


class TcpbpController(ForwardingController):
    """Measures links, and routes by what it finds."""

    def __init__(self, board: Switchboard, configuration: Mapping[str, Any]) -> None:
        """With the setup of the run, ``[controller]`` and the addresses of hosts."""
        super().__init__(board, configuration)
        own = configuration["application"]
        self._own = own
        self._interval_s = configuration["controller"]["statistics_interval"] / _PS_PER_S
        self._meters = {link: LinkMeter(own["estimator"], own["sample_packets"]) for link in self.between}
        self._measuring = {(tuple(source), tuple(to)) for source, to in configuration["measuring"]}
        self._sent: dict[int, tuple[int, int]] = {}
        """When which probe went out, and over which link, or from which switch."""
        self._number = 0
        self._trips: dict[int, list[float]] = {}
        self._loops: dict[int, list[float]] = {}
        self._ways: dict[int, deque[float]] = {}
        self._cable = board.layout.cable()
        self._cabled: deque[float] = deque(maxlen=_ROUNDS_OF_LOOPS * len(_CABLES))
        """Quickest trips over the cable: what a frame costs at both ends of a link, whatever its length."""
        self._qualities: dict[int, tuple[float, int]] = {}
        self._has_losses = False
        self._moments = random.Random(configuration["setup"]["seed"])  # noqa: S311 - not for secrets

    # Paths.

    def best(
        self, pairs: Sequence[tuple[int, int]], metric: str | None = None
    ) -> dict[tuple[int, int], Path]:
        """The paths of least d sqrt(p), or by a flow's own metric, as measured; before, the shortest."""
        if not self._has_losses:
            return super().best(pairs, metric)
        dead = {link for link, (loss, _) in self._qualities.items() if loss >= 1.0}
        before = self.known.down
        self.known.down = before | dead
        try:
            found = self._search(pairs, metric)
        finally:
            self.known.down = before
        # Where every way leads over a dead link, one of them may come to life again.
        return {**self._search([pair for pair in pairs if pair not in found], metric), **found}

    def _search(self, pairs: Sequence[tuple[int, int]], metric: str | None) -> dict[tuple[int, int], Path]:
        if not pairs:
            return {}
        search = str(self._own["search"]) if metric is None else "exact"
        return self.known.paths(metric or "tcpbp", pairs, search, self._all_qualities())

    def _all_qualities(self) -> dict[int, tuple[float, int]]:
        """Of links without an estimate: free of loss, and as slow as configured."""
        return {
            number: self._qualities.get(number, self._in_steps(0.0, link.delay))
            for number, link in enumerate(self.known.links)
        }

    def _in_steps(self, loss: float, delay_ps: int) -> tuple[float, int]:
        return _core.in_steps(loss, delay_ps, self._own["loss_granularity"], self._own["delay_granularity"])

    def keeps(self, flow: KnownFlow, found: Path) -> bool:
        """Whether a flow is within its hold time, or the other path is not better by the threshold."""
        qualities = self._all_qualities()
        if any(qualities[link][0] >= 1.0 for link in flow.path):
            return False
        hold_ns = self._own["hold_time"] // _PS_PER_NS
        if flow.moved_ns is not None and time.monotonic_ns() < flow.moved_ns + hold_ns:
            return True
        if self.metric_of(flow) is not None:
            # The threshold is one of d sqrt(p).
            return False
        ours, theirs = ([qualities[link] for link in path] for path in (found, flow.path))
        return self._has_losses and not _core.tcpbp_beats(ours, theirs, self._own["threshold"])

    def own_path(self, flow: KnownFlow) -> Path | None:
        """The link between the ends of a flow that is there to measure it."""
        ends = (flow.ends.source, flow.ends.destination)
        if ends not in self._measuring and ends[::-1] not in self._measuring:
            return None
        for link in sorted(set(self.between) - self.known.down):
            if (self.known.links[link].origin, self.known.links[link].to) == flow.pair:
                return (link,)
        return None

    # Measurement.

    def control_types(self) -> Sequence[int]:
        """LLDP and probes."""
        return (LLDP, PROBE)

    def on_begin(self) -> None:
        """Looks for the links; the first time it begins to measure as well."""
        super().on_begin()
        if not self._number:
            self._number = 1
            self.board.after(min(_UNTIL_FIRST_S, self._interval_s / 2), self._first_round)

    def _first_round(self) -> None:
        """Links are found by now. Counters are read twice: samples begin with the second reading."""
        self.board.after(self._interval_s * _READING_SHARE, self._read_counters)
        self._round()

    def on_port(self, switch: int, port: int, *, up: bool) -> None:
        """A link has failed, or is back."""
        for link in set(self.between) & self.known.down:
            self._meters[link].on_down()
        super().on_port(switch, port, up=up)
        for link in set(self.between) & self.known.down:
            self._meters[link].on_down()

    def on_packet(self, switch: int, port: int, frame: bytes, at_ns: int) -> None:
        """A probe is back, or something else has come up."""
        if ether_type(frame) != PROBE:
            super().on_packet(switch, port, frame, at_ns)
            return
        link, number = read_probe(frame)
        what, sent_ns = self._sent.pop(number, (None, 0))
        if what is not None:
            trips = self._loops if link == _NO_LINK else self._trips
            trips.setdefault(what, []).append((at_ns - sent_ns) / 1e9)

    def _round(self) -> None:
        """Reads the counters of all links, and sends probes over them until the round is over."""
        self._number += 1
        self._read_counters()
        links = [link for link in sorted(self.between) if link not in self.known.down]
        cables = [] if self._cable is None else [(group, self._cable[0]) for group in _CABLES]
        starts = [*cables, *((link, self.between[link][0]) for link in links)]
        targets = [
            *(partial(self._send, switch, _NO_LINK, switch, None) for switch in self.board.layout.switches),
            *(partial(self._send, what, what, start.switch, start.number) for what, start in starts),
        ]
        each = int(_PROBES_PER_S * 0.8 * self._interval_s / len(targets))
        targets *= max(each, _FEWEST_PROBES)
        spacing = self._interval_s * 0.8 / len(targets)
        for number, target in enumerate(targets):
            # At random: where a link is about as long as probes are apart, each would come back while this
            # program sends the next one, and wait for it.
            self.board.after((number + self._moments.random()) * spacing, target)
        self.board.after(self._interval_s * 0.9, self._converge)
        self.board.after(self._interval_s, self._round)

    def _send(self, what: int, link: int, switch: int, port: int | None) -> None:
        """Sends a frame on its way, and notes when, under what it measures."""
        self._number += 1
        self._sent[self._number] = (what, self.board.send_stamped(switch, probe(link, self._number), port))

    def _read_counters(self) -> None:
        """Reads both ends of each link, one link after the other."""
        links = sorted(set(self.between) - self.known.down)
        spacing = self._interval_s * _READING_SHARE / max(len(links), 1)
        for number, link in enumerate(links):
            self.board.after(number * spacing, partial(self._read_link, link))

    def _read_link(self, link: int) -> None:
        """Reads both ends of a link, the one that receives later by the link's delay."""
        if link in self.known.down:
            return
        start, end = self.between[link]
        readings: list[Reading] = []

        def sent(counts: tuple[int, int], at_ns: int) -> None:
            readings.append(Reading(at_ns, counts[1]))

        def received(counts: tuple[int, int], at_ns: int) -> None:
            # A switch that did not answer in time has no say in this round.
            if readings:
                delay_ns = self._delay_ps(link) // _PS_PER_NS
                self._meters[link].on_counters(readings[0], Reading(at_ns, counts[0]), delay_ns)

        self.board.counter(start.switch, start.number, sent)
        later_s = self._delay_ps(link) / _PS_PER_S
        self.board.after(later_s, lambda: self.board.counter(end.switch, end.number, received))

    def _delay_ps(self, link: int) -> int:
        measured = self._meters[link].delay_s
        return self.known.links[link].delay if measured is None else round(measured * _PS_PER_S)

    def _handling(self) -> float:
        """Seconds that a frame takes to leave a switch and to enter one, beside the link between them."""
        if self._cable is None or not self._cabled:
            return 0.0
        way = self._ways.get(self._cable[0].switch)
        return max(fmean(self._cabled) - fmean(way), 0.0) if way else 0.0

    def _converge(self) -> None:
        """Takes what the round has shown, and routes by it."""
        for switch, trips in self._loops.items():
            self._ways.setdefault(switch, deque(maxlen=_ROUNDS_OF_LOOPS)).append(min(trips))
        self._cabled.extend(min(self._trips[group]) for group in _CABLES if group in self._trips)
        handling = self._handling()
        for link, (start, end) in sorted(self.between.items()):
            if link in self.known.down:
                continue
            meter = self._meters[link]
            ways = [self._ways.get(port.switch) for port in (start, end)]
            crossed = self._trips.get(link)
            if crossed and ways[0] and ways[1]:
                meter.on_delay(min(crossed) - (fmean(ways[0]) + fmean(ways[1])) / 2 - handling)
            measured = self._own["delay"] == "measured"
            delay = self._delay_ps(link) if measured else self.known.links[link].delay
            loss = meter.loss
            self._qualities[link] = self._in_steps(loss or 0.0, delay)
            self._has_losses |= loss is not None
            packets, lost = meter.counted
            known = None if loss is None else self._qualities[link][0]
            delay_ms = self._qualities[link][1] / 1e9
            seen = {"loss": known, "delay_ms": delay_ms, "packets": packets, "lost": lost}
            tell("estimate", link=link, window_ns=meter.window_ns, **seen)
        self._trips.clear()
        self._loops.clear()
        self._sent.clear()
        self.reroute(why="estimates")
