"""Pictures of solvers are made in processes of their own, which end where nobody waits for them."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from processes import children, until
from running_studio import EXAMPLES, Running

Start = Callable[..., Running]
BOUNDS = (EXAMPLES / "robust_nsfnet.toml").read_text()
# All paths of a larger network: minutes of work.
SLOW = """
[network]
topology = "sndlib/germany50"
[network.links]
capacity = "10 Gbps"
[routing]
scheme = { algorithm = "robust", time_limit = "600 s" }
[routing.demand]
pair = "50 Mbps"
"""


def asking(running: Running, **question: Any) -> tuple[threading.Thread, list[dict[str, Any]]]:
    lines = list[dict[str, Any]]()
    asked = {"what": "show", "tab": "t", "file": "slow.toml", "text": SLOW, "mode": "loads", **question}
    thread = threading.Thread(target=lambda: lines.extend(running.lines(asked)), daemon=True)
    thread.start()
    return thread, lines


def at_work(thread: threading.Thread, others: set[int]) -> set[int]:
    """The processes of a studio, without others that were there before, once its solver works."""
    until(lambda: len(children() - others) > 1)
    # The solver is imported by then, and has begun.
    time.sleep(4)
    assert thread.is_alive()
    return children() - others


def test_a_solver_ends_where_somebody_stops_it(studio: Start) -> None:
    others = children()
    running = studio()
    thread, lines = asking(running)
    there = at_work(thread, others)
    begin = time.monotonic()
    assert running.ask("stop", tab="t")["stopped"]
    thread.join(15)
    assert time.monotonic() - begin < 8
    answer = lines[-1]["answer"]
    assert answer["stopped"]
    # The one that waits for the next question is left.
    until(lambda: len(there & children()) == 1, 10)


def test_a_solver_ends_where_the_next_change_comes(studio: Start) -> None:
    others = children()
    running = studio()
    thread, lines = asking(running)
    there = at_work(thread, others)
    answer = running.ask("show", tab="t", text=BOUNDS, file="nsfnet.toml", mode="loads")
    assert answer["picture"]["kind"] == "loads"
    thread.join(10)
    assert lines[-1]["answer"]["replaced"]
    until(lambda: len(there & children()) == 1, 10)


@pytest.mark.parametrize("mode", ["run", "routes", "loads"])
def test_a_planner_gives_what_it_gives_here(studio: Start, mode: str) -> None:
    running = studio()
    answer = running.ask("show", text=BOUNDS, file="nsfnet.toml", mode=mode)
    assert answer["problems"] == []
    assert answer["picture"]["kind"] == mode
    wrong = running.ask("show", text=BOUNDS.replace("robust", "robusst"), file="nsfnet.toml", mode=mode)
    assert "robusst" in wrong["problems"][0]["message"]


def test_the_end_of_the_studio_leaves_no_process(studio: Start) -> None:
    before = children()
    running = studio()
    asking(running)
    until(lambda: children() - before)
    running.stop()
    until(lambda: not children() - before, 10)
