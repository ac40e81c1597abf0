"""A scenario with more links and nodes out of service than it says."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.errors import Problem, ScenarioError
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup.problems import Problems
from anabranch.setup.topologies import load_topology
from anabranch.text.suggest import nearest_remedy


def without(scenario: Scenario, names: Sequence[str], windows: Sequence[str] = ()) -> Scenario:
    """The scenario with these out of service as well.

    Args:
        scenario: a scenario.
        names: links, such as ``Oslo->Bergen`` or ``Oslo-Bergen``, and nodes.
        windows: names of windows of ``network.maintenance``.

    Raises:
        ScenarioError: there is no window of a name. Links and nodes are looked for when the network is made.
    """
    if not names and not windows:
        return scenario
    out = scenario.network.out_of_service
    links, nodes = (list(out.links), list(out.nodes)) if out is not None else ([], [])
    node_names = _node_names(scenario) if names else set()
    for name in names:
        # What is neither is told as a node, unless it looks like a link.
        (nodes if name in node_names or "-" not in name else links).append(name)
    for name in windows:
        window = next((one for one in scenario.network.maintenance if one.name == name), None)
        if window is None:
            remedy = nearest_remedy(name, [one.name for one in scenario.network.maintenance])
            message = f"no window of network.maintenance is named {quoted(name)}"
            raise ScenarioError([Problem("--during", f"{message}; {remedy}" if remedy else message)])
        links += window.links
        nodes += window.nodes
    return scenario.replace({"network.out_of_service": {"links": links, "nodes": nodes}})


def _node_names(scenario: Scenario) -> set[str]:
    """All names of nodes, further ones of the topology among them."""
    problems = Problems(scenario.origin)
    topology = load_topology(scenario, problems)
    of_topology = {name for node in topology.nodes for name in (node.name, *node.aliases)}
    return of_topology | {node.name for node in scenario.network.node}
