"""Entries of flows as applications give them, and as switches of OpenFlow 1.3 have them.

The first table of each switch is the controller's: it hands up LLDP and probes, delivers to the switch's own
host, and notes in the metadata of a packet where it comes from and whether it opens or ends a connection.
TCP flags are matched by ONF extension 109, which Open vSwitch has. The second table is the application's, so
that each of its entries is one of the switch's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from anabranch import _core
from anabranch.live.switches.controller.flow_numbers import Direction, FlowNumbers
from anabranch.live.switches.controller.frames import LLDP, PROBE
from anabranch.live.switches.controller.switchboard import FLOW_TABLE, Switchboard
from anabranch.live.switches.layout import SwitchLayout
from anabranch.plans.switch_rules import IPV4, TCP, Action, Entry

_FROM_HOST, _SYN_OR_FIN = 1, 2
"""Bits of the metadata."""
_CONTROL, _LOCAL, _OPENING, _ENDS, _OTHERS = 100, 90, 30, 20, 10
"""Priorities in the first table."""
_SYN, _FIN, _SYN_ACK = 0x02, 0x01, 0x12
_UP: Action = ("output", "controller")
_DRAIN_S = 1.0
"""From a move to the removal of the old path's entries: packets are still on it."""
_LARGEST_PRIORITY = 65534
"""The lowest of the switch's is that of packets that no entry matches."""


class UnsupportedOrderError(Exception):
    """An order of an application that OpenFlow cannot carry."""


@dataclass(frozen=True, slots=True)
class MadeEntry:
    """An entry at a switch. Its number is its cookie."""

    number: int
    switch: int
    entry: _core.FlowEntry

    @property
    def group(self) -> tuple[int, int, Direction]:
        """Entries that go idle together: those of a flow one way at a switch."""
        return (self.switch, self.entry.flow, self.entry.direction)

    @property
    def match(self) -> tuple[bool, bool | None, int]:
        """The difference between entries of a group. Only one of them has this match."""
        return (self.entry.syn_or_fin, self.entry.from_host, self.entry.priority)

    @property
    def matches_all(self) -> bool:
        """Whether it matches all packets of its group."""
        return not self.entry.syn_or_fin and self.entry.from_host is None


def make_first_table(
    board: Switchboard, layout: SwitchLayout, hosts: Iterable[tuple[int, int]], owners: Mapping[str, int]
) -> None:
    """Makes the first table of each switch, and the entry for what no entry of the second one matches.

    Args:
        board: the switches.
        layout: their ports.
        hosts: switch and port of all ports that lead to hosts.
        owners: nodes of hosts, by their addresses.
    """
    from_hosts = set(hosts)
    for switch in layout.switches:
        for kind in (LLDP, PROBE):
            board.entry(Entry(switch, _CONTROL, {"eth_type": kind}, (_UP,)))
        board.entry(Entry(switch, 0, {}, (_UP,)), table=FLOW_TABLE)
    for port in layout.ports:
        switch, number = port.switch, port.number
        if port.is_local:
            for address in (address for address, node in owners.items() if node == switch):
                match = {"eth_type": IPV4, "ipv4_dst": address}
                board.entry(Entry(switch, _LOCAL, match, (("output", number),)))
        is_host = _FROM_HOST if (switch, number) in from_hosts else 0
        board.entry(Entry(switch, _OTHERS, {"in_port": number}, ()), goes_on=is_host)
        segments = {"in_port": number, "eth_type": IPV4, "ip_proto": TCP}
        # The controller reads in a SYN-ACK what the windows of its sender mean.
        opening: tuple[Action, ...] = (_UP,) if is_host else ()
        for priority, flags, actions in ((_OPENING, _SYN_ACK, opening), (_ENDS, _SYN, ()), (_ENDS, _FIN, ())):
            match = {**segments, "tcp_flags": (flags, flags)}
            board.entry(Entry(switch, priority, match, actions), goes_on=is_host | _SYN_OR_FIN)


class FlowEntries:
    """The second tables of all switches."""

    def __init__(
        self,
        board: Switchboard,
        layout: SwitchLayout,
        ends: Sequence[tuple[int, int]],
        flows: FlowNumbers,
        timeouts_s: tuple[int, int],
    ) -> None:
        """Without any entries.

        Args:
            board: the switches.
            layout: their ports.
            ends: of each link, the nodes where it begins and ends.
            flows: those that there are.
            timeouts_s: idle and hard time-out of entries; 0 for never.
        """
        self._board, self._names, self._flows = board, layout.names, flows
        self._out, self._ends = layout.openflow_ports().out, ends
        self._idle_s, self._hard_s = timeouts_s
        self._numbers = count(1)
        self._made: dict[int, MadeEntry] = {}
        self._current: dict[tuple[int, int, Direction], dict[object, MadeEntry]] = defaultdict(dict)

    def of_cookie(self, cookie: int) -> MadeEntry | None:
        """The entry that has sent up a packet."""
        return self._made.get(cookie)

    def port_of(self, link: int) -> tuple[int, int]:
        """The switch that a link leaves, and its port.

        Raises:
            UnsupportedOrderError: if the link has none.
        """
        if link not in self._out:
            a, b = (self._names[node] for node in self._ends[link])
            raise UnsupportedOrderError(
                f"link {link} ({a} to {b}) has no port: a host sends over its first link"
            )
        return self._out[link]

    def note(self, switch: int, entry: _core.FlowEntry) -> list[MadeEntry]:
        """An entry takes the place of the one with its match, from the next :meth:`lay` on.

        Returns:
            The entry; none where nothing would match it.
        """
        ends = self._flows.ends(entry.flow, entry.direction)
        if entry.syn_or_fin and ends is not None and ends.protocol != TCP:
            return []
        made = MadeEntry(next(self._numbers), switch, entry)
        self._forget(self._current[made.group].get(made.match))
        self._made[made.number] = self._current[made.group][made.match] = made
        return [made]

    def lay(self, entries: Iterable[MadeEntry], then: Callable[[], None]) -> None:
        """Makes entries at switches, each when that of the next switch on the way is there; then goes on."""
        batch: dict[tuple[int, int, Direction], list[MadeEntry]] = defaultdict(list)
        for made in entries:
            batch[made.group].append(made)
        self._lay_stages(self._stages(batch), then)

    def check(self, switch: int, entry: _core.FlowEntry) -> None:
        """Makes sure that real switches can have an entry.

        Raises:
            UnsupportedOrderError: if they cannot.
        """
        where = f"add_entries({switch}, [...]) for switch {self._names[switch]}"
        if self._flows.ends(entry.flow, entry.direction) is None:
            raise UnsupportedOrderError(
                f"{where}: OpenFlow matches addresses and ports, and flow {entry.flow} has none; "
                "the scenario has no such flow, and no packet of it has come up"
            )
        if entry.priority > _LARGEST_PRIORITY:
            raise UnsupportedOrderError(
                f"{where}: priority is {entry.priority}; real switches have room up to {_LARGEST_PRIORITY}"
            )
        if entry.link is not None:
            try:
                self.port_of(entry.link)
            except UnsupportedOrderError as error:
                raise UnsupportedOrderError(f"{where}: {error}") from None

    def _stages(
        self, batch: Mapping[tuple[int, int, Direction], Sequence[MadeEntry]]
    ) -> list[list[MadeEntry]]:
        """Entries by how many switches with new entries of the same flow are behind them."""
        stages: dict[int, list[MadeEntry]] = defaultdict(list)
        for (switch, flow, direction), entries in batch.items():
            behind, at, seen = 0, entries, {switch}
            while (
                link := next((made.entry.link for made in at if made.entry.link is not None), None)
            ) is not None:
                following = self._ends[link][1]
                if following in seen or (following, flow, direction) not in batch:
                    break
                seen.add(following)
                behind, at = behind + 1, batch[following, flow, direction]
            stages[behind] += entries
        return [stages[behind] for behind in sorted(stages)]

    def _lay_stages(self, stages: list[list[MadeEntry]], then: Callable[[], None]) -> None:
        if not stages:
            then()
            return
        # What has been replaced or removed meanwhile is not made.
        current = [made for made in stages[0] if self._current[made.group].get(made.match) is made]
        for made in current:
            self._send(made)
        switches = sorted({made.switch for made in current})
        self._board.barrier(switches, lambda: self._lay_stages(stages[1:], then))

    def _send(self, made: MadeEntry) -> None:
        entry, ends = made.entry, self._flows.ends(made.entry.flow, made.entry.direction)
        assert ends is not None  # noqa: S101 - it has been checked
        actions: tuple[Action, ...] = (_UP,)
        # OpenFlow has no action that changes a window: the controller does it, and sends the packet on.
        if entry.link is not None and (entry.window_bytes is None or ends.protocol != TCP):
            actions = (("output", self.port_of(entry.link)[1]), *((_UP,) if entry.tell else ()))
        is_of_host = entry.from_host is not None
        metadata = _SYN_OR_FIN * entry.syn_or_fin | _FROM_HOST * bool(entry.from_host)
        mask = _SYN_OR_FIN * entry.syn_or_fin | _FROM_HOST * is_of_host
        match = {**ends.match(), **({"metadata": (metadata, mask)} if mask else {})}
        # One for the ends of a connection would go idle in the middle of it.
        is_covered = not made.matches_all and any(
            other.matches_all for other in self._current[made.group].values()
        )
        self._board.entry(
            Entry(made.switch, entry.priority + 1, match, actions),
            table=FLOW_TABLE,
            idle_s=0 if is_covered else self._idle_s,
            hard_s=self._hard_s,
            cookie=made.number,
            tells=bool(self._idle_s or self._hard_s),
        )

    def remove(self, switch: int, flow: int, *, is_move: bool) -> None:
        """The entries that a switch has of a flow go: at once, or after a move when packets have passed."""
        gone = [
            made
            for direction in ("forward", "backward")
            for made in self._current.pop((switch, flow, direction), {}).values()
        ]

        def remove() -> None:
            for made in gone:
                self._board.remove(switch, cookie=made.number)
                self._drop(made.number)

        if is_move:
            self._board.after(_DRAIN_S, remove)
        else:
            remove()

    def on_removed(self, cookie: int, *, is_idle: bool) -> list[MadeEntry]:
        """An entry has gone by itself; the entries that are gone with it.

        Once nothing has matched the last of those of a flow one way that match all, the others are idle, too.
        """
        made = self._made.get(cookie)
        if made is None or self._current.get(made.group, {}).get(made.match) is not made:
            return []
        group = self._current[made.group]
        del group[made.match]
        gone = [made]
        if is_idle and made.matches_all and not any(other.matches_all for other in group.values()):
            gone += group.values()
            for other in group.values():
                self._board.remove(other.switch, cookie=other.number)
            del self._current[made.group]
        for one in gone:
            self._forget(one)
        return gone

    def _forget(self, made: MadeEntry | None) -> None:
        if made is not None:
            # Packets that it has sent up may be on their way.
            self._board.after(_DRAIN_S, partial(self._drop, made.number))

    def _drop(self, number: int) -> None:
        self._made.pop(number, None)
