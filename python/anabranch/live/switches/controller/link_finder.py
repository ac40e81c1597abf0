"""Discovery of links: those between switches by LLDP, those of hosts by the light of their ports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anabranch.live.switches.controller.frames import lldp, read_lldp
from anabranch.live.switches.controller.switchboard import Switchboard
from anabranch.live.switches.controller.tell import tell
from anabranch.live.switches.layout import Port, SwitchLayout

_UNTIL_FOUND_S = 0.1
"""Between two rounds of LLDP while links are missing."""
_ROUND_S = 5.0
"""Between two rounds afterwards."""


class LinkFinder:
    """Finds links, and hears of those that fail."""

    def __init__(
        self,
        board: Switchboard,
        layout: SwitchLayout,
        origins: Sequence[int],
        on_change: Callable[[], None],
    ) -> None:
        """Among the links of a layout.

        Args:
            board: the switches.
            layout: their ports.
            origins: node that each link leaves.
            on_change: called when other links are down than before.
        """
        self._board, self._names, self._on_change = board, layout.names, on_change
        self._ports = layout.by_number()
        self._datapath = {node: number for number, node in enumerate(layout.switches, 1)}
        self._node = dict(enumerate(layout.switches, 1))
        self._unused = set(range(len(origins))) - layout.used_links()
        starts = {port.link_out: port for port in layout.ports if port.link_out is not None}
        self.between: dict[int, tuple[Port, Port]] = {
            port.link_in: (starts[port.link_in], port)
            for port in layout.ports
            if port.link_in in starts and origins[port.link_in] in self._datapath
        }
        """Links between switches, with the ports at their beginnings and ends."""
        self._found: set[int] = set()
        self._dark: set[tuple[int, int]] = set()

    @property
    def down(self) -> set[int]:
        """Links that carry nothing, as far as is known."""
        dark = {
            link
            for end in self._dark
            for link in (self._ports[end].link_out, self._ports[end].link_in)
            if link is not None
        }
        return self._unused | (set(self.between) - self._found) | dark

    @property
    def is_complete(self) -> bool:
        """Whether all links between switches have been found but for those whose ports are dark."""
        return all(
            link in self._found or self._dark & {(end.switch, end.number) for end in ends}
            for link, ends in self.between.items()
        )

    def look(self) -> None:
        """Looks for links from now on."""
        self._send()
        self._board.after(_ROUND_S if self.is_complete else _UNTIL_FOUND_S, self.look)

    def _send(self) -> None:
        for port, _ in self.between.values():
            if (port.switch, port.number) not in self._dark:
                frame = lldp(self._datapath[port.switch], port.number)
                self._board.send_packet(port.switch, frame, port.number)

    def on_lldp(self, switch: int, port: int, frame: bytes) -> None:
        """A frame of LLDP has come in at a port."""
        said = read_lldp(frame)
        if said is None:
            return
        start = self._ports.get((self._node.get(said[0], -1), said[1]))
        end = self._ports[switch, port]
        if start is None or start.link_out is None or start.link_out != end.link_in:
            tell("trouble", text=f"LLDP leads from {said} to port {port} of {self._names[switch]}")
        elif start.link_out not in self._found:
            self._found.add(start.link_out)
            self._on_change()

    def on_port(self, switch: int, port: int, *, up: bool) -> None:
        """A port has light, or none."""
        before = self.down
        port_of_switch = self._ports[switch, port]
        (self._dark.discard if up else self._dark.add)((switch, port))
        # LLDP says whether a link is there again.
        self._found -= {
            link for link in (port_of_switch.link_out, port_of_switch.link_in) if link is not None
        }
        if up:
            self._send()
        if self.down != before:
            self._on_change()
