"""The subjects of a comparison: a network with the standard workload, or a scenario of the user's."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anabranch.errors import Problem, ScenarioError
from anabranch.routing.router_network import RouterNetwork
from anabranch.scenario.leaves import AddressChange, LinksChange, NodeChange
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.reading import parse_toml, read_text
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup, resolve
from anabranch.setup.model import LinkSetup
from anabranch.text.suggest import suggest
from anabranch.text.units import plain
from anabranch.topology import TopologyError
from anabranch_publications.comparison.victim import Edge, busiest_edge
from anabranch_publications.comparison.workload import (
    FULL,
    NETWORKS,
    QUICK,
    SAMPLE_INTERVAL_S,
    Times,
    long_flows,
    standard_network,
    transfers,
)
from anabranch_publications.errors import ComparisonError

SENDER = "sender"
"""Name of the transport of all flows, which each system sets."""
_PS_PER_S = 1e12
_PS_PER_MS = 1e9
COUNTED_SHARE = 0.75
"""Transfers of a user's scenario count that begin in this part of it: the rest is for them to end."""
_DRAWS_LOOKED_AT = 10
"""Replications whose flows are counted: full and quick comparisons break the same edge."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A link that goes down, and the times between which its cost is looked for, in seconds."""

    link: str
    before_s: float
    at_s: float
    lasting_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a system and replication: what it does, and when it is measured."""

    name: str
    """``flows``, ``failure`` or ``transfers``."""
    settings: Mapping[str, Any]
    """Fields of the scenario."""
    duration_s: float
    window_s: tuple[float, float] | None = None
    """When goodput and queues are measured; None if they are not."""
    counted_until_s: float | None = None
    """Transfers that begin before that count; None if none do."""
    transfers: tuple[str, ...] = ()
    """Traffic entries whose flows are transfers: those of a size."""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A network with its traffic, as plain data without routing, controller and transport."""

    name: str
    title: str
    data: Mapping[str, Any]
    base: Path | None
    origin: str | None
    demand: Mapping[str, Any] | None
    """Bounds of the traffic for worst-case loads; None where there can be none."""
    parts: tuple[Part, ...]
    failed: str
    """The link that fails, or why none does."""
    links: frozenset[str] = frozenset()
    """Names of the links between routers."""
    unbounded: str = ""
    """Why there are no bounds."""
    size: str = ""
    """Routers, edges and their delays, in words."""
    reaction: Any = None
    """``routing.reaction`` of the user's scenario."""

    @property
    def standard(self) -> bool:
        """Whether it has the standard workload, and not a user's."""
        return self.origin is None

    @property
    def slug(self) -> str:
        """A name for files."""
        return re.sub(
            r"[^a-z0-9]+", "-", self.name.lower().removeprefix("zoo/").removeprefix("sndlib/")
        ).strip("-")

    def scenario(
        self, part: Part | None, fields: Mapping[str, Any], provenance: Provenance | None = None
    ) -> Scenario:
        """The scenario of a part, or of the first one, with further fields and where these come from.

        Raises:
            ScenarioError: with everything that is wrong with it.
        """
        settings = {**self.data, **(part or self.parts[0]).settings, **fields}
        return Scenario.from_data(settings, origin=self.origin, base=self.base, provenance=provenance)


def subjects(arguments: list[str], *, quick: bool) -> tuple[Subject, ...]:
    """The subjects that the arguments of a comparison name; the four networks if there are none.

    Raises:
        ComparisonError: if two have one name.
        ScenarioError: a scenario file that cannot be run.
        TopologyError: a network that is not there.
    """
    subjects = tuple(_subject(argument, quick) for argument in arguments or NETWORKS)
    slugs = [subject.slug for subject in subjects]
    for number, slug in enumerate(slugs):
        if slug in slugs[:number]:
            names = f"{subjects[slugs.index(slug)].name!r} and {subjects[number].name!r}"
            raise ComparisonError(
                [Problem("arguments", f"{names} would have one name in the results; rename one")]
            )
    return subjects


def _subject(argument: str, quick: bool) -> Subject:
    # Unlike Path.is_file, it says no to a name that no file can have.
    is_file = os.path.isfile(argument)  # noqa: PTH113 - see above
    if argument.endswith(".toml") or (is_file and not argument.startswith("file:")):
        return from_scenario(Path(argument))
    aliases = {alias.casefold(): alias for alias in NETWORKS}
    name = aliases.get(argument.casefold(), argument)
    try:
        return from_network(name, NETWORKS.get(name, name), QUICK if quick else FULL)
    except TopologyError as error:
        near = suggest(argument, NETWORKS)
        if near is None or "no topology" not in str(error):
            raise
        message = (
            f'no network "{argument}"; nearest: "{near}"; a scenario is given by its file, such as a.toml'
        )
        raise ComparisonError([Problem("", message)]) from None


def from_network(name: str, spec: str, times: Times) -> Subject:
    """A network by name with the standard workload.

    Raises:
        TopologyError: if there is no such topology.
        ScenarioError: if it lacks what the workload needs, such as places.
    """
    data = {"network": standard_network(spec)}
    flows = {"traffic": [{**long_flows(), "transport": SENDER}], "event": []}
    end_s = times.long_s + times.after_s
    subject = Subject(name, name, data, None, None, None, (_part("flows", flows, times.long_s),), "")
    bare = _checked(subject)
    subject = _bounded(subject, bare, None)
    edge = busiest_edge(_replications(bare, _DRAWS_LOOKED_AT))
    parts = [replace(subject.parts[0], window_s=(times.warm_s, times.long_s))]
    if edge is not None:
        failure = Failure(edge.name, times.warm_s, times.long_s, end_s - times.lasting_s, end_s)
        parts.append(_failing("failure", flows, edge, failure, end_s))
    sent = {"traffic": [{**transfers(), "transport": SENDER}], "event": []}
    last_s = times.transfers_s + times.grace_s
    part = _part("transfers", sent, last_s, series=False)
    parts.append(replace(part, counted_until_s=times.transfers_s, transfers=("transfers",)))
    return replace(subject, parts=tuple(parts), failed=_failed(edge, times.long_s))


def from_scenario(path: Path) -> Subject:
    """A user's scenario: its network, traffic, events and demand.

    One run as it is, and one more in which the edge that most of its flows cross fails halfway, unless the
    scenario has a failure itself: that one counts then.

    Raises:
        ScenarioError: if the scenario cannot be run.
        ComparisonError: if something happens to its controller.
    """
    scenario = Scenario.load(path)
    setup = resolve(scenario)
    if lacks := [Problem(*problem) for problem in scenario.core().lacks_for_run()]:
        raise ScenarioError(lacks, scenario.origin)
    data = parse_toml(read_text(path), path.name)
    _check_controller(scenario, path)
    routing = data.get("routing", {})
    duration_s = scenario.run_settings.duration.seconds
    # Systems bring the routes.
    unrouted = ({key: entry[key] for key in entry if key != "routing"} for entry in data["traffic"])
    traffic = [{**entry, "transport": SENDER} for entry in unrouted]
    kept: dict[str, Any] = {key: data[key] for key in ("title", "network") if key in data}
    scenario_data = {"traffic": traffic, "event": data.get("event", [])}
    run = {key: data["run"][key] for key in ("seed", "replication") if key in data["run"]}
    subject = Subject(
        path.stem, scenario.title or path.stem, kept, scenario.base, scenario.origin, None,
        (_part("flows", scenario_data, duration_s, run=run),), "", reaction=routing.get("reaction"),
    )  # fmt: skip
    bare = _checked(subject)
    subject = _bounded(subject, bare, routing.get("demand"))
    downs = (
        event.at / _PS_PER_S
        for event in setup.events
        if isinstance(event.change, LinksChange | NodeChange | AddressChange) and not event.change.up
    )
    down = [at_s for at_s in downs if at_s < duration_s]
    sized = tuple(
        entry.name or f"traffic[{number}]"
        for number, entry in enumerate(scenario.traffic)
        if entry.size not in (None, "unlimited")
    )
    whole = replace(
        subject.parts[0],
        window_s=(duration_s / 4, duration_s),
        counted_until_s=COUNTED_SHARE * duration_s if sized else None,
        transfers=sized,
    )
    if down:
        at_s = min(down)
        if not at_s > 0:
            return replace(subject, parts=(whole,), failed="the scenario begins with a link that is down")
        failure = Failure("the scenario's own", at_s / 4, at_s, (at_s + duration_s) / 2, duration_s)
        part = replace(whole, failure=failure, window_s=(at_s / 4, at_s))
        return replace(subject, parts=(part,), failed=f"what the scenario takes down at {at_s:g} s")
    edge = busiest_edge(_replications(bare, _DRAWS_LOOKED_AT))
    half_s = duration_s / 2
    parts = [whole]
    if edge is not None:
        failure = Failure(edge.name, half_s / 2, half_s, 1.5 * half_s, duration_s)
        parts.append(_failing("failure", scenario_data, edge, failure, duration_s, run))
    return replace(subject, parts=tuple(parts), failed=_failed(edge, half_s))


def _check_controller(scenario: Scenario, path: Path) -> None:
    """Each system has its own controller or none, so that nothing can happen to the user's.

    Raises:
        ComparisonError: for each event at it.
    """
    if scenario.controller is None or scenario.controller.node is not None:
        return
    problems = [
        Problem(
            f"event[{number}]",
            "is about the controller, and a comparison replaces that of the scenario; leave the event out",
        )
        for number, event in enumerate(scenario.event)
        if "controller" in (event.node, *(event.link or ()))
    ]
    if problems:
        raise ComparisonError(problems, path.name)


def _part(
    name: str,
    fields: Mapping[str, Any],
    duration_s: float,
    *,
    series: bool = True,
    run: Mapping[str, Any] | None = None,
) -> Part:
    settings = {
        **(run or {"seed": 1}),
        "duration": f"{duration_s:g} s",
        "sample_interval": f"{min(SAMPLE_INTERVAL_S, duration_s / 20) * 1e6:.0f} us",
        "flow_series": series,
        "link_series": series and name == "flows",
    }
    return Part(name, {**fields, "run": settings}, duration_s)


def _failing(
    name: str,
    fields: Mapping[str, Any],
    edge: Edge,
    failure: Failure,
    duration_s: float,
    run: Mapping[str, Any] | None = None,
) -> Part:
    event = {"at": f"{failure.at_s * 1e6:.0f} us", "link": list(edge.ends), "state": "down"}
    part = _part(name, {**fields, "event": [*fields["event"], event]}, duration_s, run=run)
    return replace(part, failure=failure)


def _failed(edge: Edge | None, at_s: float) -> str:
    if edge is None:
        return "no edge can fail without cutting somebody off"
    return f"{edge.name} goes down at {at_s:g} s; {edge.flows:g} flows a run cross it by fewest hops"


def _checked(subject: Subject) -> Scenario:
    """The subject with routes of fewest hops: what is wrong with it is no system's fault.

    Raises:
        ScenarioError: with everything that is wrong with it.
    """
    fields = {"transport": {SENDER: {"preset": "cubic"}}}
    scenario = subject.scenario(None, fields)
    resolve(scenario)
    return scenario


def _replications(scenario: Scenario, count: int) -> list[Setup]:
    """The setups of the first replications."""
    run = scenario.run_settings
    return [
        resolve(scenario.model_copy(update={"run_settings": run.model_copy(update={"replication": number})}))
        for number in range(count)
    ]


def _bounded(subject: Subject, scenario: Scenario, given: Mapping[str, Any] | None) -> Subject:
    """With its links between routers, and bounds or why there are none.

    These are the user's, or half of the median capacity of these links, in and out of each router.
    """
    setup = resolve(scenario)
    links = [link for link in setup.links if not (setup.is_host(link.origin) or setup.is_host(link.to))]
    subject = replace(subject, links=frozenset(link.name for link in links), size=_size(setup, links))
    if given is None and not links:
        return replace(subject, unbounded="there are no two routers with a link, and so no worst case")
    capacities = sorted(link.capacity for link in links)
    if given is None:
        rate = f"{capacities[len(capacities) // 2] // 2} bps"
    demand = given or {"ingress": rate, "egress": rate}
    data = {**scenario.data(), "routing": {"demand": demand}}
    try:
        RouterNetwork.of(resolve(Scenario.from_data(data, origin=scenario.origin, base=scenario.base)))
    except ScenarioError as error:
        if given is not None:
            raise
        # Nothing else is new here than the bounds: there is no way between two of the routers.
        return replace(subject, unbounded="; ".join(problem.message for problem in error.problems))
    return replace(subject, demand=demand)


def _size(setup: Setup, between: Sequence[LinkSetup]) -> str:
    """How large a network is, in words: routers, edges, delays one way."""
    routers = sum(not setup.is_host(node) for node in range(len(setup.nodes)))
    edges = len({frozenset((link.origin, link.to)) for link in between})
    delays = sorted(link.delay / _PS_PER_MS for link in between)
    counts = f"{_counted(routers, 'router')}, {_counted(edges, 'edge')}"
    return f"{counts} of {plain(delays[0], 2)} to {plain(delays[-1], 2)} ms" if delays else counts


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
