"""The systems that are compared: each one's routing, transport and controller, one entry each.

What is the same for all is the network, the traffic and the failure. A system that has several paths for a
pair has four at most, so that none wins by being given more of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from anabranch.errors import Problem
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.quantity import quoted
from anabranch.scenario.routing import declared_scheme
from anabranch.text.suggest import nearest_remedy
from anabranch_publications.errors import ComparisonError

PATHS = 4
"""Most paths of a pair; candidates of the robust schemes."""
SUBFLOWS = 16
"""K of SEMPER: at random over four paths they leave 1 % of the paths empty, (1 - 1/4)^16 (Garcia-Aviles
2017)."""
LOAD_MARGIN = 1.5
"""Worst-case load that ``robust-optimal`` may have, over the least that four paths a pair allow. A selection
that is proved to be the best is found in seconds then, on all four networks; closer to the least load the
solver ends with its time, and where depends on the machine."""
OPTIMAL_TIME_S = 120
"""Wall time of the solver of ``robust-optimal``, at the most."""

Entries = Literal["destination", "path", "flow"]
"""What a router must know: the next hop of each destination, that of each path through it, or of each
flow."""

_LINUX: Mapping[str, Any] = {"preset": "linux-cubic"}
_DISJOINT: Mapping[str, Any] = {"scheme": {"algorithm": "semper", "k": PATHS}}
"""Link-disjoint paths between the edge routers: ``disjoint`` itself would find one only, since a host has a
single access link."""


@dataclass(frozen=True, slots=True)
class System:
    """One way to choose routes and to send."""

    name: str
    label: str
    what: str
    source: str
    entries: Entries
    transport: Mapping[str, Any]
    """Fields of the transport of every flow."""
    routing: Mapping[str, Any] = field(default_factory=dict)
    """Fields of ``[routing]``; with a controller, the scheme that gives the paths which it gives to flows."""
    controller: Mapping[str, Any] | None = None
    """Fields of ``[controller]``, where one sets up every flow."""
    provenance: Provenance = field(default_factory=Provenance)
    """Where it comes from, and what has been agreed to of the code that it names."""

    @property
    def scheme(self) -> str:
        """Name of the routing scheme."""
        chosen = self.routing["scheme"]
        return chosen if isinstance(chosen, str) else str(chosen.get("algorithm", PYTHON))

    @property
    def chooses_in_run(self) -> bool:
        """Whether a class of the user's own chooses the paths, so that nobody knows them before a run."""
        application = (self.controller or {}).get("application")
        return isinstance(application, Mapping) and PYTHON in application

    @property
    def needs_demand(self) -> bool:
        """Whether its routes are for the traffic that is allowed."""
        return self.scheme != PYTHON and bool(declared_scheme(self.scheme).get("demand"))


_ALL = (
    System(
        "hops",
        "fewest hops",
        "one path of fewest hops, of equal ones the first by node numbers, CUBIC",
        "OSPF with equal costs (RFC 2328)",
        "destination",
        _LINUX,
        {"scheme": "shortest", "metric": "hops"},
    ),
    System(
        "delay",
        "least delay",
        "one path of least delay, CUBIC",
        "OSPF with delays for costs (RFC 2328)",
        "destination",
        _LINUX,
        {"scheme": "shortest", "metric": "delay"},
    ),
    System(
        "tcpbp",
        "TCPBP",
        "one path of least d sqrt(p), found exactly, CUBIC",
        "Vilela 2022",
        "path",
        _LINUX,
        {"scheme": "tcpbp-exact"},
    ),
    System(
        "robust",
        "robust multipath",
        "four paths of fewest hops, fractions of least worst-case load, each flow on one at random "
        "(the paper: each packet), CUBIC",
        "Fukushima et al. 2016, section 3",
        "path",
        _LINUX,
        {"scheme": {"algorithm": "robust", "k": PATHS}, "load_balancing": "flow"},
    ),
    System(
        "robust-optimal",
        "robust, least spreading",
        "the same, with as many pairs on one path as a half higher worst-case load allows, CUBIC",
        "Fukushima et al. 2016, section 5, by optimisation",
        "path",
        _LINUX,
        {"scheme": {"algorithm": "robust-optimal", "k": PATHS}, "load_balancing": "flow"},
    ),
    System(
        "semper-mptcp",
        "SEMPER, MPTCP",
        "up to four link-disjoint paths, 16 subflows of MPTCP (LIA; the paper has 32) spread by a hash; "
        "routers do not react to failures",
        "Garcia-Aviles 2017",
        "path",
        {"preset": "mptcp", "path_manager": {"algorithm": "ndiffports", "subflows": SUBFLOWS}},
        {**_DISJOINT, "load_balancing": "hash", "reaction": "never"},
    ),
    System(
        "sprayed-mprc",
        "sprayed, MPRC",
        "the same paths, every packet on one at random, MPRC",
        "Chang 2024",
        "path",
        {"preset": "mprc"},
        {**_DISJOINT, "load_balancing": "packet"},
    ),
    System(
        "sprayed-cubic",
        "sprayed, CUBIC",
        "the same with Linux's CUBIC and RACK",
        "Chang 2024, RFC 8985",
        "path",
        _LINUX,
        {**_DISJOINT, "load_balancing": "packet"},
    ),
    System(
        "sdn-paced",
        "SDN, paced",
        "a controller gives every flow the path of least delay and its senders their time slots; the "
        "schedule for whole networks is Anabranch's",
        "after Gholizadeh 2019, chapter 4 (one access network)",
        "flow",
        {"preset": "sdn-paced"},
        {"scheme": "shortest", "metric": "delay"},
        {"application": {"algorithm": "sdn-paced", "schedule": "stretched"}},
    ),
)

SYSTEMS: Mapping[str, System] = {system.name: system for system in _ALL}
"""The systems by name, in the order of tables and figures."""


def chosen_systems(names: Sequence[str] | None, added: Sequence[System] = ()) -> tuple[System, ...]:
    """The systems of these names, in their own order; all of them for None.

    Args:
        names: the names.
        added: systems of the user's own, which come last and are always chosen.

    Raises:
        ComparisonError: if there is no such system, with the nearest, or none is named.
    """
    if names is None:
        return (*_ALL, *added)
    every_name = ", ".join(SYSTEMS)
    unknown = [
        Problem(
            "--systems", f"no system {quoted(name)}; {nearest_remedy(name, SYSTEMS)}; there are {every_name}"
        )
        for name in names
        if name not in SYSTEMS and name not in {system.name for system in added}
    ]
    if unknown:
        raise ComparisonError(unknown)
    if not (names or added):
        raise ComparisonError([Problem("--systems", f"names none; there are {every_name}")])
    return (*(system for system in _ALL if system.name in names), *added)
