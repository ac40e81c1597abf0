"""Measurement of links of real switches: the delay by probes, its packets by the counters of both ends.

Probes go from the controller over the link and back. Half of the quickest ways to both switches and back is
taken off, and what a frame takes to leave a switch and to enter one, whatever the length of the link. The
ways are measured by frames that a switch sends up at once; the rest by frames over a cable of no length.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import NamedTuple

from anabranch.live.switches.controller.frames import probe, read_probe
from anabranch.live.switches.controller.switchboard import Switchboard
from anabranch.live.switches.layout import Port, SwitchLayout

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
_MOST_BETWEEN = 1.0
"""So many packets may have been sent between the two readings of a round, beyond those on their way."""
_MOST_SHARE_BETWEEN = 5e-4
"""The same as a share of the round's packets."""
_ENDS_OF_LINK = 2
_LAST_PROBES_S = 0.01
"""Beyond the longest link, until the last probes are back."""


class Reading(NamedTuple):
    """A counter of packets, and when it was read."""

    at_ns: int
    packets: int


class SeenLink(NamedTuple):
    """The results of a round of probes on a link, times on the monotonic clock."""

    link: int
    number: int
    queued_ns: int
    received_ns: int
    sent: int
    """Packets since the counting began: those that were sent before the probe."""
    received: int


class LinkCounts:
    """Packets sent into a link and received from it, by the counters of both ends.

    The end that receives is read so much later as the link is long. What was sent in between, beyond that, is
    taken from the rate since the last reading; a reading for which this is much does not count.
    """

    def __init__(self, sent: Reading, received: Reading) -> None:
        """From the first reading of both ends, before anything is on its way."""
        self._last_sent = sent
        self._base: tuple[float, int] | None = (sent.packets, received.packets)
        self.counted = (0, 0)
        """Packets sent and received, but for those while the link had failed."""
        self.since_ns = self.until_ns = sent.at_ns
        """From when to when these packets were sent."""

    def read(self, sent: Reading, received: Reading, delay_ns: int) -> None:
        """Takes the counters of both ends, read once more, of a link of this delay."""
        before, self._last_sent = self._last_sent, sent
        if sent.at_ns <= before.at_ns:
            return
        new = sent.packets - before.packets
        between = new / (sent.at_ns - before.at_ns) * (received.at_ns - delay_ns - sent.at_ns)
        if abs(between) > max(_MOST_BETWEEN, _MOST_SHARE_BETWEEN * new):
            # The rate of the round is not that of a moment.
            return
        # Of what was sent until then, all that is not lost has arrived when the other end was read.
        due = sent.packets + between
        if self._base is None:
            self._base = (due - self.counted[0], received.packets - self.counted[1])
        self.counted = (max(round(due - self._base[0]), 0), max(received.packets - self._base[1], 0))
        self.until_ns = received.at_ns - delay_ns

    def on_down(self) -> None:
        """The link has failed: what is lost until it is back is not counted."""
        self._base = None


@dataclass(eq=False, slots=True)
class _Round:
    """Probes that are under way together."""

    numbers: Mapping[int, int]
    """Of the links, as they were given."""
    trips: dict[int, list[float]] = field(default_factory=dict)
    """Seconds from the controller over a link, or the cable, and back."""
    loops: dict[int, list[float]] = field(default_factory=dict)
    """Seconds to a switch and back."""
    readings: dict[int, tuple[Reading, Reading]] = field(default_factory=dict)
    """Of both ends of a link."""
    failed: set[int] = field(default_factory=set)
    """Links that went down meanwhile."""


class LinkProber:
    """Measures links between switches."""

    def __init__(
        self,
        board: Switchboard,
        layout: SwitchLayout,
        between: Mapping[int, tuple[Port, Port]],
        delays_ns: Mapping[int, int],
        report: Callable[[SeenLink], None],
        seed: int,
    ) -> None:
        """Of a layout.

        Args:
            board: the switches.
            layout: their ports.
            between: links between switches, with the ports at both ends.
            delays_ns: of each link, as it is taken to be before it is measured.
            report: hears of each link that a probe has come back over.
            seed: of the moments of probes.
        """
        self._board, self._between, self._report = board, between, report
        self._delays_ns = dict(delays_ns)
        self._sent: dict[int, tuple[_Round, int, int]] = {}
        """Of each probe under way: its round, its link or switch, and when it left."""
        self._number = 0
        self._rounds: list[_Round] = []
        self._ways: dict[int, deque[float]] = {}
        self._cable = layout.cable()
        self._cabled: deque[float] = deque(maxlen=_ROUNDS_OF_LOOPS * len(_CABLES))
        """Quickest trips over the cable: what a frame costs at both ends of a link, whatever its length."""
        self.counts: dict[int, LinkCounts] = {}
        self._moments = random.Random(seed)  # noqa: S311 - not for secrets

    def begin(self) -> None:
        """Reads the counters of all links at once: nothing has crossed them yet."""
        for link in self._between:
            self._read(link, 0, partial(self._begin_counts, link))

    def _begin_counts(self, link: int, sent: Reading, received: Reading) -> None:
        self.counts[link] = LinkCounts(sent, received)

    def on_down(self, links: Collection[int]) -> None:
        """Forgets the rounds of these links, which are down."""
        for probing in self._rounds:
            probing.failed.update(links)
        for link in links:
            if link in self.counts:
                self.counts[link].on_down()

    def probe(self, numbers: Mapping[int, int], spread_s: float, patience_s: float | None = None) -> None:
        """Measures links, and reports each with its number.

        Args:
            numbers: of each link, what it is reported with.
            spread_s: over which probes are spread.
            patience_s: for the last ones to come back; left out, what the longest link needs.
        """
        probing = _Round(numbers)
        self._rounds.append(probing)
        links = sorted(numbers)
        switches = sorted({port.switch for link in links for port in self._between[link]})
        cables = [] if self._cable is None else [(group, self._cable[0]) for group in _CABLES]
        starts = [*cables, *((link, self._between[link][0]) for link in links)]
        if self._cable is not None and self._cable[0].switch not in switches:
            switches.append(self._cable[0].switch)
        targets = [
            *(partial(self._send, probing, switch, _NO_LINK, switch, None) for switch in switches),
            *(partial(self._send, probing, what, what, start.switch, start.number) for what, start in starts),
        ]
        targets *= max(int(_PROBES_PER_S * spread_s / len(targets)), _FEWEST_PROBES)
        spacing = spread_s / len(targets)
        for number, target in enumerate(targets):
            # At random: where a link is about as long as probes are apart, each would come back while this
            # program sends the next one, and wait for it.
            self._board.after((number + self._moments.random()) * spacing, target)
        # One link after the other: a switch that is asked for all at once answers late.
        for number, link in enumerate(links):
            pause_s = number * spread_s / len(links)
            noted = partial(self._note, probing, link)
            self._board.after(pause_s, partial(self._read, link, self._delays_ns[link], noted))
        longest_s = max(self._delays_ns[link] for link in links) / 1e9 + _LAST_PROBES_S
        end_s = longest_s if patience_s is None else min(longest_s, patience_s)
        self._board.after(spread_s + end_s, partial(self._finish, probing))

    def _send(self, probing: _Round, what: int, link: int, switch: int, port: int | None) -> None:
        """Sends a frame on its way, and notes when, under what it measures."""
        self._number += 1
        left_ns = self._board.send_stamped(switch, probe(link, self._number), port)
        self._sent[self._number] = (probing, what, left_ns)

    def on_frame(self, frame: bytes, at_ns: int) -> None:
        """A probe is back."""
        link, number = read_probe(frame)
        if number not in self._sent:
            return
        probing, what, sent_ns = self._sent.pop(number)
        trips = probing.loops if link == _NO_LINK else probing.trips
        trips.setdefault(what, []).append((at_ns - sent_ns) / 1e9)

    def _read(self, link: int, delay_ns: int, then: Callable[[Reading, Reading], None]) -> None:
        """Reads both ends of a link, the one that receives later by the link's delay."""
        start, end = self._between[link]
        readings: dict[str, Reading] = {}

        def noted(side: str, counts: tuple[int, int], at_ns: int) -> None:
            received, sent = counts
            readings[side] = Reading(at_ns, sent if side == "start" else received)
            # Switches answer in any order.
            if len(readings) == _ENDS_OF_LINK:
                then(readings["start"], readings["end"])

        def read_end() -> None:
            self._board.counter(end.switch, end.number, partial(noted, "end"))

        self._board.counter(start.switch, start.number, partial(noted, "start"))
        if delay_ns:
            self._board.after(delay_ns / 1e9, read_end)
        else:
            read_end()

    @staticmethod
    def _note(probing: _Round, link: int, sent: Reading, received: Reading) -> None:
        probing.readings[link] = (sent, received)

    def _handling_s(self) -> float:
        """What a frame takes to leave a switch and to enter one, beside the link between them."""
        delays = None if self._cable is None else self._ways.get(self._cable[0].switch)
        return max(fmean(self._cabled) - fmean(delays), 0.0) if self._cabled and delays else 0.0

    def _finish(self, probing: _Round) -> None:
        """Takes what a round has shown."""
        self._rounds.remove(probing)
        for number in [number for number, (of, _, _) in self._sent.items() if of is probing]:
            del self._sent[number]
        for switch, trips in probing.loops.items():
            self._ways.setdefault(switch, deque(maxlen=_ROUNDS_OF_LOOPS)).append(min(trips))
        self._cabled.extend(min(probing.trips[group]) for group in _CABLES if group in probing.trips)
        handling_s = self._handling_s()
        for link, number in sorted(probing.numbers.items()):
            ways = [self._ways.get(port.switch) for port in self._between[link]]
            seen = link in probing.trips and link not in probing.failed and link in self.counts
            if not seen or not ways[0] or not ways[1]:
                # Nothing has come back.
                continue
            half_ways_s = (fmean(ways[0]) + fmean(ways[1])) / 2
            delay_s = max(min(probing.trips[link]) - half_ways_s - handling_s, 0.0)
            delay_ns = self._delays_ns[link] = round(delay_s * 1e9)
            counts = self.counts[link]
            received_ns = self._board.now_ns()
            if link in probing.readings:
                sent, received = probing.readings[link]
                counts.read(sent, received, delay_ns)
                received_ns = received.at_ns
            self._report(SeenLink(link, number, received_ns - delay_ns, received_ns, *counts.counted))
