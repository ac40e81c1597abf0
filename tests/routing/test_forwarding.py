"""Whether routers that forward hop by hop agree with a metric."""

from __future__ import annotations

from typing import Any

import pytest

from anabranch import Scenario, ScenarioError


def four_nodes(routing: dict[str, Any]) -> Scenario:
    """The network of crates/routing/tests/hop_by_hop.rs, where the published search loops."""
    links = [
        ("1", "2", 2, 0.05),
        ("1", "4", 100, 0.05),
        ("3", "4", 5, 0.3),
        ("2", "3", 100, 1e-4),
        ("2", "3", 20, 0.3),
    ]
    return Scenario.from_data(
        {
            "network": {
                "node": [{"name": name} for name in "1234"],
                "links": {"capacity": "1 Gbps"},
                "link": [
                    {"between": [a, b], "new": True, "delay": f"{delay} ms", "loss": loss}
                    for a, b, delay, loss in links
                ],
            },
            "routing": routing,
            "traffic": [{"from": "1", "to": "4"}],
            "run": {"duration": "1 s"},
        }
    )


def test_a_search_that_misses_the_best_path_can_loop() -> None:
    check = four_nodes({"scheme": "tcpbp"}).check_forwarding()
    assert (check.metric, check.search, check.agrees) == ("tcpbp", "published", False)
    circles = {
        (pair.source, pair.wanted, pair.walked, pair.loop) for pair in check.astray if pair.loop is not None
    }
    # By hand, where the network comes from: 1 has 1-2-3-4 in mind, and 2 has 2-1-4.
    to_4 = {circle for circle in circles if circle[1][-1] == "4"}
    assert to_4 == {
        ("1", ("1", "2", "3", "4"), ("1", "2", "1"), ("1", "2")),
        ("2", ("2", "1", "4"), ("2", "1", "2"), ("2", "1")),
    }
    assert check.loops == len(circles)


@pytest.mark.parametrize("metric", ["hops", "delay", "inverse-capacity", "loss", "smm"])
def test_sums_always_agree(metric: str) -> None:
    # Each rest of a least sum is a least sum.
    check = four_nodes({"metric": metric}).check_forwarding()
    assert (check.metric, check.search) == (metric, "exact")
    assert all(pair.wanted == pair.walked for pair in check.astray)
    assert check.loops == 0


def test_a_model_is_no_metric() -> None:
    with pytest.raises(ScenarioError) as caught:
        four_nodes({"scheme": {"algorithm": "tcpbp-exact", "model": "cubic"}}).check_forwarding()
    (problem,) = caught.value.problems
    assert problem.place == "routing.scheme.model"
    assert "leave model" in problem.message
