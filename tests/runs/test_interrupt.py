"""Long calls of the core: they hear Ctrl-C, let other threads run, and say how far they are."""

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from anabranch import Scenario, _core
from anabranch.setup import resolve

AFTER_S = 0.3
"""When Ctrl-C comes."""
SOON_S = 2.0
"""A person waits so long; each call here would take minutes."""

NODES = [f"router{row}.{column}" for row in range(1, 41) for column in range(1, 41)]

GRID = f"""
[network]
topology = "grid"
[network.parameters]
rows = 40
columns = 40
[network.links]
capacity = "1 Gbps"
delay = "1 ms"
loss = 1e-4
[routing]
scheme = {{ algorithm = "k-shortest", k = 64 }}
metric = "tcpbp"
[[traffic]]
from = {NODES[:40]}
to = {NODES[-40:]}
pairs = "all"
[run]
duration = "1000 s"
"""


@pytest.fixture(scope="module")
def grid() -> _core.Setup:
    return resolve(Scenario.loads(GRID)).core()


def interrupted(call: Callable[[], object]) -> None:
    """Calls, and asserts that Ctrl-C from another thread, which must come to run, ends the call soon."""
    sent: list[float] = []

    def press() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(AFTER_S, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    assert time.perf_counter() - sent[0] < SOON_S


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda setup: setup.plan(), id="plan"),
        pytest.param(lambda setup: setup.candidate_paths(10**8, "hops", [(0, 1599)]), id="paths of one pair"),
        pytest.param(lambda setup: setup.candidate_paths(4, "tcpbp"), id="paths by a metric of whole paths"),
        pytest.param(lambda setup: setup.candidate_paths(1, "delay"), id="shortest paths of all pairs"),
        pytest.param(lambda setup: setup.pareto_paths(), id="Pareto-optimal paths"),
        pytest.param(lambda setup: setup.check_hop_by_hop("tcpbp"), id="hop by hop"),
    ],
)
def test_ctrl_c_ends_a_search(grid: _core.Setup, call: Callable[[_core.Setup], object]) -> None:
    interrupted(lambda: call(grid))


def test_what_progress_raises_ends_a_search(grid: _core.Setup) -> None:
    entries: list[tuple[int, int]] = []
    pairs = [(origin, to) for origin in range(40) for to in range(40, 1600)]

    def report(done: int, pairs: int) -> None:
        entries.append((done, pairs))
        if done > 0:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        grid.candidate_paths(1, "delay", pairs, progress=report)
    assert entries[0] == (0, len(pairs))
    assert 0 < entries[-1][0] < len(pairs)


def test_ctrl_c_keeps_what_a_run_has_measured() -> None:
    text = GRID.replace('{ algorithm = "k-shortest", k = 64 }\nmetric = "tcpbp"', '"shortest"')
    setup = resolve(Scenario.loads(text)).core()
    plan = setup.plan()
    delivering = threading.Event()

    def press() -> None:
        if delivering.wait(60):
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    # The first flow has its first bytes after two round trips over 39 links of 1 ms.
    outcome = setup.simulate(plan, lambda now_s, _: delivering.set() if now_s > 0.25 else None)
    assert outcome["summary"]["interrupted"] is True
    assert outcome["tables"]["flows"]["delivered_bytes"][0] > 0
