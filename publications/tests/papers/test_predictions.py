"""Each prediction can turn out false: our number moved outside of it, and the verdict is another one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from anabranch_publications.papers import PAPERS
from anabranch_publications.papers.findings import (
    EXPERIMENTS,
    REFUTATIONS,
    Finding,
    Prediction,
    Refutation,
    Tolerance,
    finding_data,
    finding_of,
    number,
)
from anabranch_publications.papers.tcpbp.network import PAIRS
from anabranch_publications.papers.tcpbp.stability import weather
from anabranch_publications.papers.tcpbp.throughput import printed_law

COUNTED = tuple((link, 3000) for link in ("1-5", "5-1", "5-10", "10-5"))
"""Packets that estimates of the links of 1-5-10 have counted."""

ARGUMENTS: dict[str, tuple[object, ...]] = {
    "tcpbp.live.links.largest_draw": (COUNTED,),
    "tcpbp.live.links.drawn_inverse": (COUNTED, "hop count"),
    "tcpbp.live.throughput.by_simulation": ("hop count", 1, 2, 3),
    "tcpbp.live.throughput.fairness_by_simulation": ("hop count", 1, 2, 3),
    "semper.live.uncoupled_total": (3, 2, 3),
    "semper.live.uncoupled_share_left": ("stateful", 6, 3, 2),
    "semper.live.uncoupled_fairness": ("stateful", 6, 3, 2),
    "tcpbp.tables.by_algorithm_1": ("delay",),
    "tcpbp.throughput.capped_law": (10, "delay"),
    "tcpbp.stability.noisy_estimates": (weather(12), 2600.0),
    "sdn.figures.idle_between": ((1000.0, 2000.0),),
    "sdn.figures.flows_that_fit": (1.0,),
    "sdn.figures.more_flows": (54.0, 81.0),
    "sdn.figures.by_capacity": (),
    "sdn.figures.by_whole_segments": ((1.0, 20.0, 40.0, 54.0), 1.0),
    "sdn.figures.single_flow_gain": ("fct_us", (1.0, 200.0), 920.54),
    "semper.figures.as_covered": (2, 8),
    "semper.figures.equal_parts": (16, 2),
    "semper.figures.more_headers": (),
    "semper.figures.no_path_empty": (),
    "semper.fairness.two_paths_each": (32,),
    "semper.recovery.next_timeout": (50.0, (0.22, 0.27)),
    "robust.nsfnet.between_plans": ((7.5, 9.84), (1.0, 1.0)),
    "robust.parallel_paths.total_in_ns2": ("SSLL", 1.3),
    "robust.parallel_paths.fall_in_ns2": ("SSSL", 1.1, 1.3),
    "robust.parallel_paths.recoveries_in_ns2": ("SSSL",),
    "mprc.figures.by_the_law_of_loss": ("disjoint", 20.0),
}
"""One call of every experiment; a new one that is not here fails the first test."""


def registered() -> dict[str, Callable[..., Prediction]]:
    """The experiments of the papers, and not those of other tests."""
    return {name: run for name, run in EXPERIMENTS.items() if name.split(".")[0] in PAPERS}


def test_every_experiment_is_tried() -> None:
    assert set(registered()) == set(ARGUMENTS)


@pytest.mark.parametrize("name", sorted(ARGUMENTS))
def test_our_number_outside_of_a_prediction_differs(name: str) -> None:
    made = registered()[name](*ARGUMENTS[name])
    assert made.experiment == name
    inside = Finding("x", "another number", "ours", agrees=False, value=made.value, prediction=made)
    assert inside.verdict == "differs as predicted"
    for side in (-1, 1):
        outside = made.value + side * (made.width + 1e-6 * max(1.0, abs(made.value)))
        assert replace(inside, value=outside).verdict == "differs"
    # What agrees needs no prediction.
    assert replace(inside, agrees=True).verdict == "agrees"


def test_a_text_alone_changes_no_verdict() -> None:
    finding = number("x", 1.0, 2.0, unit="", digits=1, remark="a good reason")
    assert finding.verdict == "differs"
    assert (
        number("x", 1.0, 2.0, unit="", digits=1, tolerance=Tolerance(1.0, "as printed")).verdict == "agrees"
    )


@pytest.mark.parametrize("experiment", ["", "tcpbp.tables.nothing"])
def test_a_prediction_without_an_experiment_is_refused(experiment: str) -> None:
    by_hand = Prediction(2.0, 0.5, "because", experiment)
    with pytest.raises(ValueError, match='"x": no experiment makes its prediction'):
        Finding("x", "1", "2", agrees=False, value=2.0, prediction=by_hand)


def test_what_contradicts_a_claim_decides_where_nothing_else_does() -> None:
    made = REFUTATIONS["robust.nsfnet.own_numbers"]()
    assert (made.holds, made.source) == (True, "robust.nsfnet.own_numbers")
    finding = Finding("x", "for each", "for some", agrees=False, refutation=made)
    assert finding.verdict == "refuted"
    assert finding_of(finding_data(finding)) == finding
    assert replace(finding, agrees=True).verdict == "agrees"
    assert replace(finding, refutation=replace(made, holds=False)).verdict == "differs"


def test_a_refutation_without_a_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match='"x": no comparison makes its refutation'):
        Finding("x", "1", "2", agrees=False, refutation=Refutation(holds=True, text="because"))


def test_a_prediction_needs_a_number_of_ours() -> None:
    made = registered()["semper.figures.more_headers"]()
    with pytest.raises(ValueError, match="a prediction without a number of ours"):
        Finding("x", "above 1", "0.99", agrees=False, prediction=made)


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [(math.nan, 1.0, "x"), (1.0, math.inf, "x"), (1.0, -0.1, "x"), (1.0, 1.0, "")],
)
def test_what_nothing_could_contradict_is_no_prediction(value: float, width: float, text: str) -> None:
    with pytest.raises(ValueError, match="not a prediction"):
        Prediction(value, width, text)


def test_predictions_by_hand() -> None:
    # 43.328 us of 10 Gbps are 54.16 segments of 1000 bytes.
    assert registered()["sdn.figures.flows_that_fit"](1.0).value == 54
    # 800 us of link for each flow beyond; before, from ceil(1000 / 53) to 1000 intervals over 53 flows.
    assert registered()["sdn.figures.by_capacity"]().value == pytest.approx(
        800 / (981 * 43.328 / 53), abs=1e-9
    )
    # Ten flows of 0.8 ms in 9 x 1 and 9 x 2 ms and 0.92054 ms.
    idle = registered()["sdn.figures.idle_between"]((1000.0, 2000.0))
    assert idle.value == pytest.approx(800 / 9.92054 - 800 / 18.92054, abs=1e-6)
    # 16 subflows of 8 paths: 1 - (7/8)^16.
    assert registered()["semper.figures.as_covered"](2, 8).value == pytest.approx(
        (1 - (7 / 8) ** 16) * 1428 / 1448, abs=1e-6
    )
    # 0.22 s doubled until 50 s are over: tries end 0.22 (2^n - 1) s after the failure, the eighth 56.1 s.
    low, high = (
        float(end)
        for end in registered()["semper.recovery.next_timeout"](50.0, (0.22, 0.22)).interval.split(" to ")
    )
    assert (low, high) == pytest.approx((6.1, 9.1), abs=0.01)


def test_draws_by_hand() -> None:
    """1.81 % of 3,000 packets have a standard deviation of 0.243 %."""
    one = registered()["tcpbp.live.links.largest_draw"]((("1-5", 3000),))
    # The mean of |x| of a normal variate is sqrt(2 / pi) of its standard deviation.
    assert one.value == pytest.approx(math.sqrt(2 / math.pi) * 0.2434, rel=0.1)
    many = tuple((link, 10**8) for link, _ in COUNTED)
    sure = registered()["tcpbp.live.links.drawn_inverse"](many, "hop count")
    # 9 ms one way, and 1 - (0.9819 * 0.9961)^2 of the packets lost on both ways.
    assert sure.value == pytest.approx(266.74, abs=0.2)


def test_the_law_with_capacities_is_near_one_where_one_pair_outweighs_all() -> None:
    made = registered()["tcpbp.throughput.capped_law"](10, "delay")
    assert len(PAIRS) == 45
    assert 1.0 < made.value < 1.1


def test_the_law_has_the_constant_of_the_printed_table_4_and_none_of_ours() -> None:
    # 17.1 / 324.09, 13.3 / 265.18 and 16.8 / 321.99: 0.05276, 0.05015 and 0.05218.
    constant, error = printed_law()
    assert constant == pytest.approx((0.052763 + 0.050155) / 2, abs=2e-6)
    assert error == pytest.approx(0.02534, abs=1e-5)
