"""Metrics of a path, by hand."""

import math
from dataclasses import dataclass
from typing import get_args

import pytest

from anabranch.routing.path_metrics import PATH_METRICS
from anabranch.scenario.algorithms.scheme import Metric


@dataclass(frozen=True)
class Path:
    """The numbers of a path."""

    hops: int = 2
    delay_ms: float = 20.0
    bottleneck_mbps: float = 10.0
    capacities_mbps: tuple[float, ...] = (10.0, 40.0)
    loss: float = 0.04
    igp_cost: int | None = 7


# Definitions: Vilela 2022, chapter 3 (tcpbp) and section 5.4.1 (smm, argaq, b-over-dl). sqrt(0.04) = 0.2;
# 1 / (10 Mbps) + 1 / (40 Mbps) = 0.125 s/Mb; 20 / 0.96 = 20.8333; 10 / (0.02 * 0.04) = 12500.
BY_HAND = {
    "hops": 2,
    "hops-then-delay": 2,
    "delay": 20,
    "inverse-capacity": 125_000,
    "loss": -math.log(0.96),
    "weight": 7,
    "capacity": 10,
    "tcpbp": 0.004,
    "smm": -math.log(0.96) + 0.02,
    "argaq": 20.833333333,
    "b-over-dl": 12_500,
}


@pytest.mark.parametrize("name", PATH_METRICS)
def test_a_metric_is_what_its_source_says(name: str) -> None:
    assert PATH_METRICS[name].of(Path()) == pytest.approx(BY_HAND[name])


def test_every_metric_of_a_scenario_has_a_value() -> None:
    names = set(get_args(Metric))
    assert len(names) >= 3
    assert names <= PATH_METRICS.keys()


@pytest.mark.parametrize(
    ("name", "loss", "value"),
    [
        ("loss", 1.0, math.inf),
        ("smm", 1.0, math.inf),
        ("argaq", 1.0, math.inf),
        ("tcpbp", 1.0, math.inf),
        ("b-over-dl", 1.0, 0.0),
        ("tcpbp", 0.0, 0.0),
        ("loss", 0.0, 0.0),
        ("b-over-dl", 0.0, math.inf),
    ],
)
def test_without_loss_and_with_nothing_but_loss(name: str, loss: float, value: float) -> None:
    assert PATH_METRICS[name].of(Path(loss=loss)) == pytest.approx(value)
