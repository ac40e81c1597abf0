"""Algorithms of the user's own in a live run: packets on the wire, and mistakes that end it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from live_scenarios import LiveRun

from anabranch import Scenario
from anabranch.errors import OwnCodeError

GALLERY = Path(__file__).parents[2] / "examples" / "own"

WINDOW = """
from anabranch.own import CongestionControl

class Window(CongestionControl):
    def on_ack(self, ack):
        self.cwnd_bytes = 20 * self.mss_bytes
        BODY

    def on_loss(self, episode):
        pass
"""


SCENARIO = """
[network]
topology = "parallel"
parameters = { paths = [{ capacity = "20 Mbps", delay = "5 ms" }] }
links = { queue = "60 packets" }
[transport.mine]
preset = "newreno"
congestion_control = { python = "CONTROL" }
[[traffic]]
from = "source"
to = "sink"
transport = "mine"
[run]
duration = "3 s"
"""


def own(python: str, base: Path) -> Scenario:
    """One flow over 20 Mbps and 10 ms under a class."""
    return Scenario.loads(SCENARIO.replace("CONTROL", python), origin="s.toml", base=base)


def test_a_control_of_ones_own_sends_to_a_receiver_of_the_kernel(live_run: LiveRun, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WINDOW.replace("BODY", "pass"), encoding="utf-8")
    (flow,) = live_run(own("mine:Window", tmp_path), kernel_receivers=True).flows.rows(named=True)
    assert flow["hosts"] == "kernel receives"
    # 20 segments in each round trip of 10.6 ms: the window, not the link, is the limit where it is slower.
    assert 16 < flow["goodput_mbps"] < 19.4
    assert flow["drops_data"] == 0


def test_vegas_keeps_the_queue_short_live(live_run: LiveRun) -> None:
    (flow,) = live_run(own("vegas:Vegas", GALLERY)).flows.rows(named=True)
    assert flow["hosts"] == "simulated"
    assert flow["goodput_mbps"] > 15
    assert flow["rtt_mean_ms"] < 10 + 5 * 1500 * 8 / 20e3


def test_a_mistake_ends_the_run(live_run: LiveRun, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WINDOW.replace("BODY", "1 / 0"), encoding="utf-8")
    begin = time.monotonic()
    with pytest.raises(OwnCodeError, match=r"Window\.on_ack, at .*ZeroDivisionError"):
        live_run(own("mine:Window", tmp_path), kernel_receivers=True)
    assert time.monotonic() - begin < 3


def test_ctrl_c_ends_an_endless_loop(live_run: LiveRun, tmp_path: Path) -> None:  # noqa: ARG001 - skips
    body = "open('looping', 'w').close()\n        while True: pass"
    (tmp_path / "mine.py").write_text(WINDOW.replace("BODY", body), encoding="utf-8")
    (tmp_path / "s.toml").write_text(SCENARIO.replace("CONTROL", "mine:Window"), encoding="utf-8")
    command = [sys.executable, "-m", "anabranch", "live", "s.toml", "--trust"]
    with subprocess.Popen(  # noqa: S603 - a program of ours
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as program:
        while not (tmp_path / "looping").exists():
            assert program.poll() is None
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        _, message = program.communicate(timeout=20)
    assert program.returncode == 130
    assert "Traceback" not in message
    assert "mine.py, line " in message
    assert "Window.on_ack" in message
