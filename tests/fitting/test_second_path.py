"""A second path beside a fitted one: each alone, and both of them by Multipath TCP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch
from anabranch.errors import ScenarioError
from anabranch.fitting.path import PathModel, joined_data
from anabranch.fitting.predict import (
    ACROSS_ERRORS,
    SEEDS,
    PredictedNumber,
    TransportPrediction,
    answer,
    outcome_of,
    predict,
    simulated,
)
from anabranch.fitting.second_path import second_path
from anabranch.fitting.stored import Fitted

from .conftest import Captured

PAYLOAD = 1448 / 1500
"""Bytes of data for each byte of full packets."""


def goodput(one: TransportPrediction) -> PredictedNumber:
    """The predicted goodput, which there is."""
    outcome = one.answers["goodput_mbps"]
    assert outcome is not None
    return outcome


def by_path(predictions: list[TransportPrediction]) -> dict[tuple[str, str], TransportPrediction]:
    """Predictions by path and transport."""
    return {(one.path, one.transport): one for one in predictions}


def test_multipath_tcp_has_both_and_plain_tcp_one(captured: Captured) -> None:
    path_fit = anabranch.fit(captured(PathModel(8.0, 30.0, 60_000)), budget=12)
    second = "rate=4 Mbps, delay=20 ms, buffer=2 BDP"
    rows = by_path(predict(path_fit, transports=["linux-cubic"], second_paths=[second]))
    assert rows.keys() == {
        ("fitted", "linux-cubic"), ("second", "linux-cubic"), ("both", "linux-mptcp"),
    }  # fmt: skip
    assert goodput(rows["fitted", "linux-cubic"]).value == pytest.approx(8 * PAYLOAD, rel=0.03)
    assert goodput(rows["second", "linux-cubic"]).value == pytest.approx(4 * PAYLOAD, rel=0.04)
    both = goodput(rows["both", "linux-mptcp"])
    # Options of Multipath TCP take 20 bytes of a segment, and the start of both a second.
    assert both.value == pytest.approx(12 * PAYLOAD, rel=0.08)
    assert both.low < both.value < both.high


def test_what_is_open_of_both_is_carried_through(captured: Captured, tmp_path: Path) -> None:
    """A second path whose loss is open makes the range of both wider than one that is said."""
    file = captured(PathModel(8.0, 30.0, 60_000))
    lossy = captured(PathModel(8.0, 40.0, 60_000, loss=6e-3), name="b", seed=4)
    first = anabranch.fit(file, budget=12)
    anabranch.fit(lossy, budget=12, out=tmp_path / "second", page=False)
    expected = second_path(tmp_path / "second")
    assert expected.verdict
    assert len(expected.members) > 3
    open_, said = (
        goodput(
            by_path(predict(first, transports=["linux-mptcp"], second_paths=[each]))["both", "linux-mptcp"]
        )
        for each in (tmp_path / "second", "rate=8 Mbps, delay=20 ms, buffer=60 kB")
    )
    assert (open_.high - open_.low) / open_.value > (said.high - said.low) / said.value
    assert open_.value < said.value


def test_what_happens_on_each_path_stays_there() -> None:
    """Cross traffic has its own hosts at each bottleneck, and takes of that alone."""
    models = (
        PathModel(8.0, 30.0, 60_000, udp_mbps=4.0),
        PathModel(4.0, 30.0, 40_000, capacity_steps=((1.0, 2.0),)),
    )
    traffic: dict[str, Any] = {"name": "f", "from": "src", "to": "dst", "transport": "linux-mptcp"}
    tables = outcome_of(joined_data(models, [traffic], 6.0))["tables"]
    goodput_mbps = float(tables["flows"]["goodput_mbps"][0])
    assert goodput_mbps == pytest.approx((8 - 4 + 2) * PAYLOAD, rel=0.12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rate=6 Mbps", "has no delay"),
        ("rate=6 Mbps, delay=0 ms", "not above zero"),
        ("rate=6, delay=1 ms", "--second-path"),
        ("rate=6 Mbps, delay=1 ms, speed=2", "none of rate, delay, buffer, loss"),
        ("rate=6 Mbps, rate=7 Mbps, delay=1 ms", "given twice"),
        ("rate=6 Mbps, delay=1 ms, loss=2", "no share below 1"),
        ("rate=6 Mbps, delay=1 ms, loss=few", "is no number"),
        ("rate=6 Mbps, delay=1 ms, buffer=x BDP", "is no number"),
    ],
)
def test_a_text_that_says_no_path(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as error:
        second_path(text)
    assert words in error.value.report()


def test_a_text_has_usual_values() -> None:
    (model,) = second_path("rate=6 Mbps, delay=10 ms").members
    # One bandwidth-delay product: 6 Mbps for 20 ms there and back are 15 kB.
    assert (model.rate_mbps, model.rtt_ms, model.buffer_bytes, model.loss) == (6.0, 20.0, 15_000.0, None)
    (lossy,) = second_path("rate=6 Mbps, delay=10 ms, loss=0.1 %").members
    assert lossy.loss == pytest.approx(1e-3)


def test_beside_several_paths_there_is_no_second(captured: Captured, tmp_path: Path) -> None:
    from anabranch.fitting.path import BY_SUBFLOW, Sprayed  # noqa: PLC0415 - for this path alone

    paths = (Sprayed(6.0, 20.0, 30_000), Sprayed(3.0, 40.0, 30_000))
    truth = PathModel(6.0, 20.0, 30_000, paths=paths, balancing=BY_SUBFLOW)
    path_fit = anabranch.fit(captured(truth, transport="linux-mptcp"), budget=10)
    with pytest.raises(ScenarioError, match="is a fit of several paths"):
        predict(path_fit, second_paths=["rate=6 Mbps, delay=10 ms"])
    assert not list(tmp_path.glob("*.json"))


def test_beside_tcp_across_the_median_of_all_members_counts() -> None:
    """One of them alone is what chance made of it, whatever the seed is."""
    rates = (12.0, 11.9, 12.1)
    members = tuple(PathModel(rate_mbps, 30.0, 60_000, elastic_flows=2) for rate_mbps in rates)
    traffic = {"name": "f", "from": "src", "to": "dst", "transport": "linux-reno"}
    runs = [simulated(model, traffic, 6.0, 1)["goodput_mbps"] for model in members]
    runs_of_best = [simulated(members[0], traffic, 6.0, seed)["goodput_mbps"] for seed in SEEDS]
    goodput_mbps = answer(Fitted(members, 0.1, "", (), 6.0), traffic, 6.0)["goodput_mbps"]
    assert goodput_mbps is not None
    assert goodput_mbps.value == pytest.approx(sorted(runs)[1])
    low, high = np.percentile([*runs_of_best, *runs[1:]], (5, 95))
    assert goodput_mbps.low == pytest.approx(low * (1 - ACROSS_ERRORS["goodput_mbps"]))
    assert goodput_mbps.high == pytest.approx(high * (1 + ACROSS_ERRORS["goodput_mbps"]))


def test_beside_tcp_across_all_values_change_together(captured: Captured) -> None:
    """Ends of ranges one by one are a few draws of what the least change of any value decides."""
    fitted = anabranch.fit(captured(PathModel(12.0, 30.0, 60_000)), budget=10)
    crossed = replace(fitted, model=replace(fitted.model, elastic_flows=1))
    begin = len(fitted.ranges) * 2 + 1
    joint = crossed.members()[begin : begin + 20]
    assert all(member.elastic_flows == 1 for member in joint)
    for one in fitted.ranges:
        values = {member.value(one.name) for member in joint}
        assert len(values) == len(joint) == 20
        assert one.high is not None
        assert one.low <= min(values) < one.value < max(values) <= one.high
    assert len(crossed.members()) == len(fitted.members()) + 20
