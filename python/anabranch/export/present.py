"""The costs that links have now, by a file of weights, a table of interfaces, FRR's files or a scenario."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from anabranch import _core
from anabranch.errors import ExportError, Problem, ScenarioError
from anabranch.export.placed_ports import placed_ports
from anabranch.plans.switch_rules import edges_of
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch.setup.files import text_of
from anabranch.setup.model import Setup
from anabranch.setup.problems import Problems
from anabranch.setup.table_file import header_of, table_rows
from anabranch.text.suggest import nearest_remedy

_OPTION: Final = "--present"
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class PresentCosts:
    """The cost of each link now."""

    source: str
    by_link: tuple[int, ...]


def present_costs(path: Path, setup: Setup, *, isis: bool) -> PresentCosts:
    """Reads the costs that links have now.

    Args:
        path: a scenario (TOML) of the same network, a CSV with the columns ``from,to,weight`` (and
            ``index``), or whatever has interfaces with costs (:func:`~anabranch.export.ports.read_ports`).
        setup: whose links.
        isis: metrics of IS-IS come before costs of OSPF where an interface has both.

    Raises:
        ExportError: if it cannot be read.
        ScenarioError: with every row that is wrong, or the links without a cost.
    """
    if path.suffix == ".toml":
        costs = _of_scenario(path, setup)
    elif path.is_file() and {"from", "to", "weight"} <= set(header_of(_text(path))):
        costs = _of_weights(path, setup)
    else:
        costs = _of_interfaces(path, setup, isis=isis)
    missing = [link.name for number, link in enumerate(setup.links) if costs.get(number) is None]
    if missing:
        more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        message = f"has no cost of these links: {', '.join(missing[:_MOST_NAMED])}{more}; add them"
        raise ScenarioError([Problem(f"{_OPTION} {path}", message)])
    return PresentCosts(str(path), tuple(costs[number] or 1 for number in range(len(setup.links))))


def _text(path: Path) -> str:
    try:
        return text_of(str(path), None)
    except _core.ProblemError as error:
        raise ExportError(f"{_OPTION}: {error}") from None


def _of_scenario(path: Path, setup: Setup) -> dict[int, int | None]:
    present = resolve(Scenario.load(path), Needed.ROUTES)
    weight = {link.name: link.weight for link in present.links}
    names = {link.name for link in setup.links}
    if other := sorted(names ^ weight.keys()):
        where = "the scenario" if other[0] in names else "it"
        message = f'is of another network: only {where} has the link "{other[0]}"'
        raise ScenarioError([Problem(f"{_OPTION} {path}", message)])
    return {number: weight[link.name] for number, link in enumerate(setup.links)}


def _of_weights(path: Path, setup: Setup) -> dict[int, int | None]:
    problems = Problems(None)
    names = [node.name for node in setup.nodes]
    count = Counter[tuple[str, str]]()
    number = dict[tuple[str, str, int], int]()
    for place, link in enumerate(setup.links):
        ends = (names[link.origin], names[link.to])
        count[ends] += 1
        number[*ends, count[ends]] = place
    costs = dict[int, int | None]()
    out_of_service = {link.partition("#")[0] for link in setup.outages.links_out}
    for row in table_rows(path.name, _text(path), ("from", "to", "weight"), problems):
        ends = (row.cells["from"], row.cells["to"])
        weight, index = row.cells["weight"], row.cells.get("index", "")
        unknown = [name for name in ends if name not in names]
        if unknown:
            remedy = nearest_remedy(unknown[0], names)
            problems.add(row.place, f"the network has no node {quoted(unknown[0])}; {remedy}")
        elif not (weight.isascii() and weight.isdigit() and 1 <= int(weight) < 2**32):
            problems.add(row.place, f"the weight is {quoted(weight)}; it is a whole number from 1 on")
        elif index and not (index.isascii() and index.isdigit() and (*ends, int(index)) in number):
            problems.add(row.place, f"no link {quoted(index)} from {quoted(ends[0])} to {quoted(ends[1])}")
        elif not count[ends] and "->".join(ends) in out_of_service:
            # A link that is out of service has a weight, and nothing goes by it.
            continue
        elif not count[ends]:
            problems.add(row.place, f"no link from {quoted(ends[0])} to {quoted(ends[1])}")
        else:
            which = [int(index)] if index else range(1, count[ends] + 1)
            costs |= {number[*ends, each]: int(weight) for each in which}
    problems.raise_if_any()
    return costs


def _of_interfaces(path: Path, setup: Setup, *, isis: bool) -> dict[int, int | None]:
    costs = placed_ports(path, setup, _OPTION).costs(isis=isis)
    by_link = dict[int, int | None]()
    for edge, (forth, back) in enumerate(edges_of(setup.links)):
        by_link[forth] = costs[2 * edge]
        if back is not None:
            by_link[back] = costs[2 * edge + 1]
    return by_link
