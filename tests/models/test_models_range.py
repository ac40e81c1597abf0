"""Ranges, limits, bad input and the properties that every model has."""

import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import _core
from anabranch.errors import AnabranchError
from anabranch.models import (
    MODELS,
    TRANSPORT_MODELS,
    ModelError,
    PathConditions,
    bbr,
    configured_model,
    cubic,
    model_named,
    transport_model,
    window,
)
from anabranch.scenario.choice import leaf_of_core

names = st.sampled_from(sorted(MODELS))
losses = st.one_of(st.floats(0, 1), st.floats(-20, 0).map(lambda exponent: 10**exponent))
rtts = st.floats(1e-5, 10)
capacities = st.one_of(st.none(), st.floats(0.01, 1e6))


@given(names, rtts, losses, losses, capacities)
def test_more_loss_never_helps(name: str, rtt: float, one: float, two: float, capacity: float | None) -> None:
    less, more = (PathConditions(rtt, loss, capacity_mbps=capacity) for loss in sorted((one, two)))
    assert MODELS[name].predict(less).mbps >= MODELS[name].predict(more).mbps * (1 - 1e-9)


@given(names, rtts, rtts, losses, capacities)
def test_a_longer_way_never_helps(
    name: str, one: float, two: float, loss: float, capacity: float | None
) -> None:
    short, long = (PathConditions(rtt, loss, capacity_mbps=capacity) for rtt in sorted((one, two)))
    assert MODELS[name].predict(short).mbps >= MODELS[name].predict(long).mbps * (1 - 1e-9)


@given(names, rtts, losses, st.floats(0.01, 1e6), st.integers(1, 1000), st.floats(1448, 1e8))
def test_bounds_hold(
    name: str, rtt: float, loss: float, capacity: float, flows: int, window_bytes: float
) -> None:
    path = PathConditions(rtt, loss, capacity_mbps=capacity, flows=flows, window_bytes=window_bytes)
    mbps = MODELS[name].predict(path).mbps
    assert 0 <= mbps <= capacity / flows * (1 + 1e-9)
    assert mbps <= window_bytes * 8e-6 / rtt * (1 + 1e-9)


@given(names, losses, st.floats(100, 9000))
def test_twice_the_segment_twice_the_rate(name: str, loss: float, mss: float) -> None:
    one, two = (
        MODELS[name].predict(PathConditions(0.05, loss, mss_bytes=size)).mbps for size in (mss, 2 * mss)
    )
    assert two == one * 2 or two == pytest.approx(2 * one)


@pytest.mark.parametrize("name", MODELS)
def test_without_loss_the_capacity_or_nothing_bounds(name: str) -> None:
    prediction = MODELS[name].predict(PathConditions(0.1, 0, capacity_mbps=30, flows=3))
    assert (prediction.mbps, prediction.model, prediction.warnings) == (10.0, name, ())
    unknown = MODELS[name].predict(PathConditions(0.1, 0))
    assert math.isinf(unknown.mbps)
    assert len(unknown.warnings) == 1
    assert str(MODELS[name].valid) in unknown.warnings[0]
    assert "capacity_mbps" in unknown.warnings[0]


@pytest.mark.parametrize("name", MODELS)
def test_where_everything_is_lost_nothing_arrives(name: str) -> None:
    for capacity in (30, None):
        prediction = MODELS[name].predict(PathConditions(0.1, 1, capacity_mbps=capacity))
        assert prediction.mbps == 0
        assert any("loss 1 is outside its range" in warning for warning in prediction.warnings)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_out_of_its_range_says_so(name: str) -> None:
    valid = MODELS[name].valid
    # Without bound by the capacity, and with it: 12 Mbps are a hundred segments in a round trip.
    for loss in (valid.most_loss * 1.01, valid.least_loss * 0.99):
        if loss > 0:
            prediction = MODELS[name].predict(PathConditions(0.1, loss)).warnings
            assert any(f"loss {loss:g}" in warning and str(valid) in warning for warning in prediction), loss
    loss = max(valid.least_loss, 1e-8) * 1.01 if valid.most_loss > 0 else 0
    assert MODELS[name].predict(PathConditions(0.1, loss, capacity_mbps=12)).warnings == ()


@pytest.mark.parametrize("name", ["mathis", "cubic", "bbr"])
def test_a_window_too_small_for_the_model_says_so(name: str) -> None:
    # 0.1 Mbps are 0.86 segments of 1448 B in 100 ms.
    (warning,) = MODELS[name].predict(PathConditions(0.1, 1e-3, capacity_mbps=0.1)).warnings
    assert "window of 0.86 segments" in warning
    assert str(MODELS[name].valid) in warning


def test_little_loss_below_the_capacity_is_no_matter() -> None:
    path = PathConditions(0.1, 1e-6, capacity_mbps=10)
    assert MODELS["mathis"].predict(path).warnings == ()
    assert MODELS["mathis"].predict(PathConditions(0.1, 1e-6, capacity_mbps=1e4)).warnings != ()


@pytest.mark.parametrize(
    ("field", "value", "remedy"),
    [
        *(("rtt_s", value, "seconds above 0") for value in (0, -1, math.nan, math.inf)),
        *(("loss", value, "from 0 to 1") for value in (-0.1, 1.1, math.nan)),
        *(("mss_bytes", value, "above 0") for value in (0, math.nan)),
        *(("capacity_mbps", value, "or None") for value in (0, -1, math.nan, math.inf)),
        *(("flows", value, "a number from 1") for value in (0, 0.5, math.nan, math.inf)),
        *(("window_bytes", value, "one MSS (1448 bytes)") for value in (1447, math.nan)),
        *(("timeout_s", value, "the RTT (0.1 s)") for value in (0.05, math.nan)),
        *(("segments_per_increase", value, "from 1") for value in (0, math.nan)),
    ],
)
def test_what_cannot_be_is_refused_with_place_and_remedy(field: str, value: float, remedy: str) -> None:
    with pytest.raises(ModelError) as caught:
        PathConditions(**{"rtt_s": 0.1, "loss": 0.01, field: value})
    assert isinstance(caught.value, AnabranchError)
    assert caught.value.problem.place == field
    assert repr(value) in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_parameters_that_cannot_be_are_refused(value: float) -> None:
    path = PathConditions(0.1, 0.01)
    for place, call in (
        ("c", lambda: cubic(path, c=value)),
        ("beta", lambda: cubic(path, beta=value)),
        ("probe_gain", lambda: bbr(path, probe_gain=value)),
    ):
        with pytest.raises(ModelError, match=rf"^{place}: "):
            call()


def test_a_fixed_window_is_sent_in_each_round_trip() -> None:
    # Five segments of 960 bytes in 10 ms: 3.84 Mbps. With a loss of 0.1 no more than 0.9 of it arrives.
    path = {"rtt_s": 0.01, "mss_bytes": 960, "window_bytes": 4800, "capacity_mbps": 10}
    assert window(PathConditions(loss=0, **path)).mbps == pytest.approx(3.84)
    lossy = window(PathConditions(loss=0.1, **path))
    assert lossy.mbps == pytest.approx(3.456)
    assert lossy.warnings == ("window: loss 0.1 is outside its range (no loss): an upper bound",)


@pytest.mark.parametrize("name", TRANSPORT_MODELS)
def test_a_preset_has_the_same_model_by_name_and_by_configuration(name: str) -> None:
    config = leaf_of_core("protocol", json.loads(_core.transport_preset(name)))
    assert configured_model(config).name == TRANSPORT_MODELS[name]


def test_cubic_is_predicted_with_its_own_parameters() -> None:
    config = json.loads(_core.transport_preset("cubic"))
    config["congestion_control"] |= {"c": 6.4, "beta": 0.7}
    path = PathConditions(rtt_s=1, loss=1e-4)
    # The curve goes with the fourth root of C (RFC 9438 section 5, figure 8): 16 times C, twice the window.
    assert configured_model(leaf_of_core("protocol", config)).predict(path).mbps == pytest.approx(
        2 * cubic(path).mbps
    )


def test_what_its_controller_paces_has_no_model() -> None:
    with pytest.raises(ModelError, match="sdn-paced sends what its controller says"):
        configured_model(leaf_of_core("protocol", json.loads(_core.transport_preset("sdn-paced"))))


def test_several_paths_have_no_model() -> None:
    with pytest.raises(ModelError, match="mptcp sends over several paths, and a model is of one"):
        configured_model(leaf_of_core("protocol", json.loads(_core.transport_preset("mptcp"))))


def test_every_transport_has_a_model_or_is_no_tcp_of_one_path() -> None:
    without = {
        "sdn-paced",
        "bbr3",
        "ns2-newreno",
        "mptcp",
        "mptcp-olia",
        "mptcp-balia",
        "mptcp-cubic",
        "linux-mptcp",
        "dctcp-fabric",
        "mprc-fabric",
        "uet",
        "uet-reps",
        "mrc",
    }
    assert TRANSPORT_MODELS.keys() | without == set(_core.transport_preset_names())
    assert not TRANSPORT_MODELS.keys() & without
    expected = {"newreno": "mathis", "linux-reno": "mathis", "mprc": "mathis"}
    expected |= {"cubic": "cubic", "linux-cubic": "cubic", "bbr": "bbr"}
    assert {name: transport_model(name).name for name in expected} == expected


def test_names_that_are_not_there() -> None:
    assert model_named("pftk") is MODELS["pftk"]
    with pytest.raises(ModelError, match="'reno' is not a throughput model: one of mathis, pftk, cubic, bbr"):
        model_named("reno")
    with pytest.raises(ModelError, match="no throughput model for 'sdn-paced'"):
        transport_model("sdn-paced")


def test_the_example_of_the_manual_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(example, "models.md", "exec"), {})  # noqa: S102 - our own example
    # A tenth of 100 Mbps, below what CUBIC could have: 22 Mbps.
    assert capsys.readouterr().out == "10.0 ()\n"
    for name, model in MODELS.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*\|$", text, re.MULTILINE)
        assert f"{model.valid.most_loss:g}, W" in row
        used_by = {transport for transport, used in TRANSPORT_MODELS.items() if used == name}
        assert set(re.findall(r"`([\w-]+)`", row)) == {name} | used_by
