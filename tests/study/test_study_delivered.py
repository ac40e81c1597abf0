"""What a study says was delivered in all is what a run of the same scenario says."""

import io
import random
import re
from pathlib import Path

import pytest
from rich.console import Console

from anabranch import Scenario, Study
from anabranch.media.terminal import show
from anabranch.report.views.run import run_pieces

TEXT = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "{delay} ms"
[[traffic]]
from = "left1"
to = "right1"
flows = "unlimited"
inter_arrival = {{ distribution = "exponential", mean = "{gap} ms" }}
size = {{ distribution = "exponential", mean = "{size} kB" }}
transport = "{transport}"
[[traffic]]
from = "left2"
to = "right2"
start = "100 ms"
[run]
duration = "2 s"
seed = {seed}
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_study_and_a_run_agree_on_what_was_delivered(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a test
    text = TEXT.format(
        delay=draw.randint(1, 20),
        gap=draw.randint(20, 400),
        size=draw.randint(10, 300),
        transport=draw.choice(["newreno", "cubic", "bbr", "mptcp"]),
        seed=seed,
    )
    result = Scenario.loads(text).run()
    outcome = Study(scenario=Scenario.loads(text)).run(jobs=1).runs["delivered_mbps"].item()
    # By definition: bits over the time of the run.
    assert outcome == pytest.approx(int(result.flows["delivered_bytes"].sum()) * 8 / 2 / 1e6, rel=1e-12)
    assert 0 < outcome <= 10, "the bottleneck has 10 Mbps"
    terminal = Console(file=io.StringIO(), width=200)
    show(terminal, run_pieces("a run", result, Path("out")))
    assert isinstance(terminal.file, io.StringIO)
    said = re.search(r"delivered in all ([0-9.]+) Mbps", terminal.file.getvalue())
    assert said is not None
    assert float(said.group(1)) == pytest.approx(outcome, abs=5e-4)
