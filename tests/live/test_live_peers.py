"""What a real peer does that a simulated one never does: it refuses, resets and shuts its window."""

import select
import socket
import struct

import pytest
from live_scenarios import LiveRun, paths

from anabranch.live.traffic import KernelFlows

pytestmark = pytest.mark.usefixtures("can_run")

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def test_an_rst_of_the_kernel_ends_a_simulated_sender(
    live_run: LiveRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset(_: KernelFlows, __: int, listener: socket.socket, ___: int) -> None:
        connection, _peer = listener.accept()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        connection.close()

    monkeypatch.setattr(KernelFlows, "_accept", reset)
    result = live_run(paths("20 Mbps", [5], [{"transport": "mprc"}]), kernel_receivers=True)
    (flow,) = result.flows.rows(named=True)
    assert flow["failure"] == "the other host ended it by an RST"
    # What was under way by then, and nothing else.
    assert flow["packets_received"] < 100


def test_a_window_that_opens_unheard_is_asked_for(live_run: LiveRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The receiver reads from 1 s on; the link is down then, and takes the update of the window with it."""

    def accept_and_wait(flows: KernelFlows, node: int, listener: socket.socket, _: int) -> None:
        connection, peer = listener.accept()
        connection.setblocking(False)
        flow = flows._by_peer[(node, *peer)]
        flow.receiver = connection
        flows._at(1.0, lambda: flows._watch(connection, select.EPOLLIN, lambda _: flows._read(flow)))

    monkeypatch.setattr(KernelFlows, "_accept", accept_and_wait)
    down = {"at": "900 ms", "link": ["source", "path1"], "state": "down"}
    up = {"at": "1.2 s", "link": ["source", "path1"], "state": "up"}
    scenario = paths(
        "20 Mbps",
        [5],
        [{"transport": "small", "size": "500 kB"}],
        transport={"small": {"preset": "mprc", "receive_buffer": "64 kB"}},
        event=[down, up],
        run={"duration": "4 s"},
    )
    (flow,) = live_run(scenario, kernel_receivers=True).flows.rows(named=True)
    assert flow["delivered_bytes"] == 500_000
    assert flow["completion_s"] > 1.2
    # A shut window is no loss.
    assert (flow["timeouts"], flow["failure"]) == (0, None)


SLOW = {"rate": "4 Mbps", "block": "32 kB", "pause": "1 s", "resume": "2 s"}
"""In 4 s: 3 s of reading."""


@pytest.mark.parametrize("ends", ["kernel", "kernel receives", "kernel sends"])
def test_a_program_reads_slowly(live_run: LiveRun, ends: str) -> None:
    """Whoever sends and whoever receives: what is read is what the scenario says."""
    preset = "mprc" if ends == "kernel receives" else "linux-cubic"
    scenario = paths(
        "20 Mbps",
        [5],
        [{"transport": "small", "reads": SLOW}],
        transport={"small": {"preset": preset, "receive_buffer": "64 kB"}},
        run={"duration": "4 s"},
    )
    result = live_run(
        scenario,
        kernel_receivers=ends == "kernel receives",
        simulated_receivers=ends == "kernel sends",
    )
    (flow,) = result.flows.rows(named=True)
    (simulated,) = scenario.run().flows.rows(named=True)
    assert flow["hosts"] == ends
    # Blocks of 32 kB each 64 ms, 3 s long: 47 of them, and what the pause cuts off.
    assert flow["delivered_bytes"] == pytest.approx(47 * 32_000, abs=2 * 32_000)
    assert flow["delivered_bytes"] == pytest.approx(simulated["delivered_bytes"], abs=2 * 32_000)
    if ends == "kernel sends":
        # Probes of the pause alone; a kernel that receives may drop what does not fit its memory, too.
        assert flow["retransmissions"] <= simulated["tail_loss_probes"] == 2


@pytest.mark.parametrize(("preset", "window_bytes"), [("linux-cubic", 125_000), ("mprc", 200_000)])
def test_the_kernels_buffer_holds_the_window_of_the_simulation(
    live_run: LiveRun, preset: str, window_bytes: int
) -> None:
    """A kernel counts the memory of segments, and announces 160 of 256 parts of 200 kB.

    So does the autotuned receiver of the simulation. Where that has a fixed window, a kernel's buffer has it.
    """
    scenario = paths(
        "100 Mbps",
        [50],
        [{"transport": "small"}],
        transport={"small": {"preset": preset, "receive_buffer": "200 kB"}},
        run={"duration": "3 s"},
    )
    (simulated,) = scenario.run().flows.rows(named=True)
    (flow,) = live_run(scenario, kernel_receivers=preset == "mprc").flows.rows(named=True)
    assert flow["goodput_mbps"] == pytest.approx(simulated["goodput_mbps"], rel=0.03)
    # Slow start takes its part of 3 s.
    assert 0.8 < simulated["goodput_mbps"] / (window_bytes * 8e-6 / 0.1) < 1.0
