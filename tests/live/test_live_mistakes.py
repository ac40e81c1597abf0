"""What a machine or a scenario lacks is told before anything is made."""

import subprocess
import sys
from pathlib import Path

import pytest
from live_scenarios import paths

from anabranch.errors import LiveError, ScenarioError
from anabranch.live import machine, run
from anabranch.live.self_check import invalid

CHECK = {
    "lateness_p99_us": 40.0,
    "lateness_max_us": 900.0,
    "flows_lateness_p99_us": 1100.0,
    "device_drops": 0,
    "packets_read": 10_000,
    "packets_refused": 0,
    "packets_delivered": 10_000,
}


@pytest.fixture
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a device has gone too far."""

    def refuse(*_: object) -> None:
        raise AssertionError("a host is made")

    monkeypatch.setattr("anabranch.live.hosts.Host.__init__", refuse)


@pytest.mark.usefixtures("no_device")
@pytest.mark.parametrize("control", ["lia", "olia", "balia"])
def test_coupled_subflows_are_refused(control: str) -> None:
    transport = {"preset": "mptcp", "congestion_control": control}
    scenario = paths("10 Mbps", [1], [{"transport": "m"}], transport={"m": transport})
    with pytest.raises(
        ScenarioError, match=rf"transport\.m\.congestion_control: {control} couples the subflows"
    ):
        run(scenario)


@pytest.mark.usefixtures("no_device")
def test_another_scheduler_is_refused() -> None:
    transport = {"preset": "mptcp-cubic", "scheduler": "round-robin"}
    scenario = paths("10 Mbps", [1], [{"transport": "m"}], transport={"m": transport})
    with pytest.raises(ScenarioError, match=r"transport\.m\.scheduler: Linux has only its default"):
        run(scenario)


@pytest.mark.parametrize(
    ("target", "value", "message"),
    [
        ("sys.platform", "darwin", "live runs need Linux, and this is darwin"),
        ("importlib.util.find_spec", lambda _: None, 'with: pip install "pyroute2>='),
        (
            "anabranch.live.machine._TUN",
            Path("/nowhere/tun"),
            "live runs need /nowhere/tun, which is not there",
        ),
    ],
)
def test_what_a_machine_lacks_is_said(
    monkeypatch: pytest.MonkeyPatch, target: str, value: object, message: str
) -> None:
    monkeypatch.setattr(target, value)
    with pytest.raises(LiveError, match=message):
        machine.check_machine()


@pytest.mark.usefixtures("can_run")
def test_a_control_that_the_kernel_lacks_is_not_loaded() -> None:
    with pytest.raises(
        LiveError, match=r"lacks the congestion control vegas_of_old; it has .*reno.*modprobe"
    ):
        machine.check_machine(["vegas_of_old"])


@pytest.mark.usefixtures("can_run")
def test_a_kernel_without_multipath_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_MPTCP", Path("/nowhere"))
    with pytest.raises(LiveError, match="the kernel has no Multipath TCP"):
        machine.check_machine(mptcp=True)


@pytest.mark.usefixtures("can_run")
def test_without_root_it_says_what_to_do() -> None:
    code = "from anabranch.live.machine import check_machine; check_machine()"
    # Root without any capability may still read the package.
    command = [
        "setpriv",
        "--bounding-set=-all",
        "--inh-caps=-all",
        "--no-new-privs",
        sys.executable,
        "-c",
        code,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert "live runs need root, or a user namespace of your own" in ended.stderr


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lateness_p99_us": 1001.0}, "1 % of the packets came more than 1 ms late"),
        ({"lateness_max_us": 200_000.0}, "fell behind the clock by 200 ms"),
        ({"flows_lateness_p99_us": 5100.0}, "hosts read and wrote up to 5.1 ms late"),
        ({"device_drops": 2}, "devices of hosts lost 2 packets"),
        ({"packets_refused": 2}, "hosts could not take 2 packets"),
    ],
)
def test_a_run_is_not_valid_for_a_reason(change: dict[str, float], reason: str) -> None:
    assert invalid(CHECK) is None
    problems = invalid({**CHECK, **change})
    assert problems is not None
    assert reason in problems
