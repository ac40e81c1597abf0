"""A fitted path between real hosts, where the machine can do that; and a word where it cannot."""

from __future__ import annotations

import pytest

import anabranch
from anabranch.errors import LiveError
from anabranch.fitting.path import PathModel
from anabranch.live import machine

from .conftest import Captured

PATH = PathModel(10.0, 30.0, 40_000)


def test_without_root_it_is_refused_before_the_work(
    captured: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise LiveError("live runs need root")

    file = captured(PATH)
    monkeypatch.setattr(machine, "check_machine", refuse)
    with pytest.raises(LiveError, match="need root"):
        anabranch.fit(file, live=True)


def test_the_kernel_gets_what_was_measured(captured: Captured) -> None:
    """What was measured is simulated here, so that the simulator's own error is in the differences."""
    try:
        machine.check_machine(["cubic"])
    except LiveError as error:
        pytest.skip(f"not here: live runs: {error}")
    path_fit = anabranch.fit(captured(PATH, duration_s=5.0), budget=12, live=True)
    if not path_fit.live:
        pytest.skip(f"by chance: {path_fit.notes[-1]}")
    rows = {one.measure: one for one in path_fit.live}
    assert rows.keys() == {"goodput_mbps", "rtt_mean_ms", "retransmissions"}
    assert abs(rows["goodput_mbps"].difference_percent) < 5
    assert abs(rows["rtt_mean_ms"].difference_percent) < 15
    assert path_fit.data()["live"][0]["kernel"] == rows["goodput_mbps"].kernel


def test_a_transport_that_no_kernel_has_is_told(captured: Captured) -> None:
    try:
        machine.check_machine()
    except LiveError as error:
        pytest.skip(f"not here: live runs: {error}")
    path_fit = anabranch.fit(captured(PATH, transport="bbr3"), transport="bbr3", budget=10, live=True)
    assert path_fit.live == ()
    assert any("none of the kernel's transports" in note for note in path_fit.notes)
