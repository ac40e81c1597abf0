"""The scheme of routes as plain numbers: for the core, or for the planner that makes the plan."""

from __future__ import annotations

from anabranch import _core
from anabranch.scenario.algorithm import Own
from anabranch.scenario.routing import RouteChoice
from anabranch.setup.model import Tagged
from anabranch.setup.own import OwnCode
from anabranch.setup.problems import Problems


def scheme_setup(
    routing: RouteChoice, own: OwnCode, problems: Problems, place: str = "routing"
) -> tuple[Tagged | None, Tagged | None]:
    """The scheme with all its parameters in base units.

    Returns:
        What the core reads, and what the planner reads. One of them is None; both are where something is
        wrong, which is noted.
    """
    if isinstance(routing.scheme, Own):
        return None, own.scheme(routing.scheme, f"{place}.scheme")
    try:
        scheme = routing.core_scheme
    except _core.SetupError as error:
        # A table that was made without checks (`model_construct`) may hold anything.
        problems.add(f"{place}.scheme", error.args[1])
        return None, None
    return scheme, None if scheme is not None else {"algorithm": routing.scheme_name, **routing.parameters}
