"""From a scenario to what the core makes of it: names resolved, numbers in base units, variates drawn."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch import _core
from anabranch.errors import ConsentError
from anabranch.scenario.algorithms.scheme import Shortest
from anabranch.scenario.declarations import PYTHON
from anabranch.scenario.provenance import Agreement
from anabranch.scenario.scenario import Scenario
from anabranch.setup.files import ScenarioFiles
from anabranch.setup.model import OwnRoutes, PlannerSetup, Setup
from anabranch.setup.network import NamedNetwork
from anabranch.setup.own import Needed, OwnCode
from anabranch.setup.problems import Problems
from anabranch.setup.topologies import is_generated, load_topology
from anabranch.setup.typed import reader_of

if TYPE_CHECKING:
    from anabranch.setup.given import GivenRoutes

__all__ = ["Needed", "Setup", "agree", "resolve"]


def resolve(scenario: Scenario, needed: Needed = Needed.NOTHING, files: ScenarioFiles | None = None) -> Setup:
    """The scenario as the engine reads it.

    Args:
        scenario: the scenario.
        needed: which classes of the user's own are loaded; the others are placeholders, which cannot run.
        files: those of the scenario, where some have been read already.

    Raises:
        ScenarioError: with every name that is not there, every pair that is not connected, and whatever
            else can only be seen with the network at hand.
        ConsentError: if nobody has agreed to code that is needed.
    """
    problems = Problems(scenario.origin)
    code = OwnCode(scenario.base, needed, agree(scenario, needed))
    topology = load_topology(scenario, problems)
    read = _read(scenario, problems, for_run=needed is Needed.ALL)
    files = ScenarioFiles(scenario.base) if files is None else files
    named, resolved, core_problems = read.resolve(
        topology, is_generated(scenario.network), files, code.algorithm
    )
    for problem in core_problems:
        problems.add(*problem)
    network = NamedNetwork(named)
    given = _given(scenario, network, problems)
    problems.raise_if_any()
    assert resolved is not None  # noqa: S101 - the core tells why there is none
    planner = _planner(resolved.planner(), code)
    return Setup(
        resolved,
        network,
        planner=planner and replace(planner, given=given),
        own_routes=tuple(
            OwnRoutes(place, tuple(traffic), scheme or PYTHON, metric, _planner(planned, code))
            for place, traffic, scheme, metric, planned in resolved.own_routes()
        ),
        provenance=(*topology.provenance, *files.notes(scenario)),
        own_code=code.makers,
        agreement=code.agreement if code.makers else None,
    )


def _given(scenario: Scenario, network: NamedNetwork, problems: Problems) -> GivenRoutes | None:
    """The routes that the scenario brings along; most bring none, and import no reader of them."""
    if scenario.routing.paths is None:
        return None
    from anabranch.setup.given import given_routes  # noqa: PLC0415 - see above

    return given_routes(scenario, network, problems)


def _read(scenario: Scenario, problems: Problems, *, for_run: bool) -> _core.Scenario:
    """The scenario as the core reads it.

    Args:
        scenario: the scenario.
        problems: takes what is wrong.
        for_run: whether it is to run; routes and loads need neither traffic nor ``[run]``.

    Raises:
        ScenarioError: if the core finds something wrong with it, or something lacks.
    """
    read = scenario.core()
    for problem in [*read.problems, *(read.lacks_for_run() if for_run else ())]:
        problems.add(*problem)
    problems.raise_if_any()
    return read


def _planner(text: str | None, code: OwnCode) -> PlannerSetup | None:
    """The planner of a scheme that the core gives as JSON; None where the core plans."""
    if text is None:
        return None
    config = json.loads(text)
    if config["algorithm"] == PYTHON:
        return PlannerSetup(code.scheme(config["code"]))
    return PlannerSetup(reader_of(Shortest)(config))


def agree(scenario: Scenario, needed: Needed) -> Agreement | None:
    """The agreement to the code that is needed; None where none is. Nothing of it runs here.

    Raises:
        ConsentError: if nobody has agreed to it.
        ScenarioError: with what else is wrong then, in its place.
    """
    references = needed.of(scenario.code())
    if not references:
        return None
    from anabranch.own.consent import agreement_of  # noqa: PLC0415 - few scenarios have such code

    try:
        agreement = agreement_of(scenario.provenance, references, scenario.base)
    except ConsentError:
        # Nobody should be asked about what cannot run anyway.
        resolve(scenario)
        raise
    scenario.agree(agreement)
    return agreement
