"""The flows that a run looks at closely, by name: ``run.sequences`` and ``run.log``."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from anabranch.scenario.quantity import quoted
from anabranch.scenario.run import FlowNames, Run
from anabranch.setup.flow_columns import FlowSetup
from anabranch.setup.model import DatagramSetup, TransportSetup
from anabranch.setup.problems import Problems
from anabranch.suggest import suggest

# Looking for the nearest among a million names would take minutes.
_MOST_NAMES_COMPARED = 10_000


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that names flows, and which flows it cannot name."""

    name: Literal["sequences", "log"]
    protocols: AbstractSet[str]
    """Those of the flows that it cannot name; ``"*"`` passes them over."""
    kind: str
    """What these flows are, for the message."""
    reason: str
    rows: str
    """What there is a row for."""
    most: int


# Of a flow of 1 MB a thousand segments and as many acknowledgments are noted. A multipath connection has a
# sequence for each subflow and none of its own.
SEQUENCES = _Field(
    name="sequences",
    protocols=frozenset({"mptcp"}),
    kind="multipath",
    reason="its subflows have sequence numbers of their own, and there is no table of them; write a "
    "[[capture]] of its host, and read it with anabranch capture or Wireshark",
    rows="segments",
    most=1000,
)
LOG = _Field(
    name="log",
    protocols=frozenset({"sdn-paced", "sliding-window"}),
    kind="without congestion control",
    reason="its sender decides nothing that a log could tell; name it in run.sequences",
    rows="ACKs",
    most=100,
)


class WatchedFlows:
    """Finds flows by name."""

    def __init__(
        self,
        flows: Sequence[FlowSetup],
        transports: list[TransportSetup],
        problems: Problems,
        datagrams: list[DatagramSetup],
    ) -> None:
        self._datagrams = datagrams
        self._flows = flows
        self._transports = transports
        self._problems = problems

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {flow.name: index for index, flow in enumerate(self._flows)}

    @cached_property
    def _protocols(self) -> list[str]:
        return [self._transports[flow.transport].config.algorithm for flow in self._flows]

    def chosen(self, run: Run, about: _Field) -> list[int]:
        """Ids of the flows that a field names, in order; what is wrong with a name is noted."""
        wanted: FlowNames = getattr(run, about.name)
        place = f"run.{about.name}"
        if not wanted:
            # Most runs: nobody need look at all their flows.
            return []
        if len(self._problems) > 0:
            # Flows may be missing for a reason that is noted already.
            return []
        unfit = {index for index, protocol in enumerate(self._protocols) if protocol in about.protocols}
        if isinstance(wanted, str):
            chosen = set(range(len(self._protocols))) - unfit
            if self._protocols and not chosen:
                self._problems.add(place, f"every flow is {about.kind}; {about.reason}")
        else:
            chosen = set()
            for number, name in enumerate(wanted):
                index = self._ids.get(name)
                if index is None:
                    self._problems.add(f"{place}[{number}]", self._no_such(name, about))
                elif index in unfit:
                    problem = f"{quoted(name)} is {about.kind}; {about.reason}"
                    self._problems.add(f"{place}[{number}]", problem)
                else:
                    chosen.add(index)
        if len(chosen) > about.most:
            self._problems.add(
                place,
                f"means {len(chosen):,} flows, and a row for each of their {about.rows}; name at most "
                f"{about.most:,} flows",
            )
        return sorted(chosen)

    def _no_such(self, name: str, about: _Field) -> str:
        if any(flow.name == name for flow in self._datagrams):
            return f"{quoted(name)} has no connection, of which there could be {about.rows}"
        near = suggest(name, list(self._ids)[:_MOST_NAMES_COMPARED])
        hint = f"nearest: {quoted(near)}" if near else 'they are named like "traffic[0].0"'
        if name == "*":
            hint = f'for all flows write {about.name} = "*"'
        return f"no flow {quoted(name)}; {hint}"
