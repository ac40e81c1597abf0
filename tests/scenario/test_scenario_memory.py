"""Runs that no memory holds, said before any of it is taken."""

import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError
from anabranch.setup import memory, resolve

TEXT = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Gbps"
delay = "1 ms"
queue = "1000 packets"
[[traffic]]
from = "left1"
to = "right1"
flows = {flows}
start = {{ distribution = "uniform", low = "0 s", high = "10 ms" }}
[run]
duration = "{duration}"
{more}
"""


def scenario(flows: int, duration: str = "10 ms", more: str = "flow_series = false") -> Scenario:
    return Scenario.loads(TEXT.format(flows=flows, duration=duration, more=more), origin="big.toml")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            scenario(200_000),
            "big.toml: traffic: 200,000 flows need about 360 MB of memory, and 300 MB are free; simulate "
            "fewer flows, or take a machine with more memory",
        ),
        (
            scenario(10, "2000 s", 'sample_interval = "1 ms"'),
            "big.toml: run.sample_interval: 32,000,000 rows of series need about 3.5 GB of memory, and "
            "300 MB are free; sample less often, or set flow_series to false",
        ),
    ],
)
def test_a_run_that_no_memory_holds_is_refused_before_it_begins(
    made: Scenario, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 300_000_000)
    monkeypatch.setattr("anabranch.runs.runner.plan", None)
    for begin in (lambda: made.run(out=tmp_path / "out"), made.start):
        with pytest.raises(ScenarioError) as refused:
            begin()
        assert str(refused.value) == message
    assert not (tmp_path / "out").exists()


def test_a_run_that_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = 40_000
    made = resolve(scenario(flows))
    # It ends before the first sample of its links.
    monkeypatch.setattr(memory, "free_bytes", lambda: flows * memory.FLOW_BYTES)
    memory.check_memory(made, None)
    monkeypatch.setattr(memory, "free_bytes", lambda: flows * memory.FLOW_BYTES - 1)
    with pytest.raises(ScenarioError):
        memory.check_memory(made, None)
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    memory.check_memory(made, None)


def test_the_least_of_what_the_system_says_is_free(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:   2000 kB\n")
    (tmp_path / "used").write_text("500000\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_LIMIT", tmp_path / "limit")
    monkeypatch.setattr(memory, "_USED", tmp_path / "used")
    assert memory.free_bytes() == 2_048_000
    (tmp_path / "limit").write_text("max\n")
    assert memory.free_bytes() == 2_048_000
    (tmp_path / "limit").write_text("1500000\n")
    assert memory.free_bytes() == 1_000_000
    (tmp_path / "limits").write_text("Max address space         900000      unlimited   bytes\n")
    (tmp_path / "status").write_text("VmPeak:\t    300 kB\nVmSize:\t    200 kB\n")
    monkeypatch.setattr(memory, "_PROCESS_LIMITS", tmp_path / "limits")
    monkeypatch.setattr(memory, "_PROCESS", tmp_path / "status")
    assert memory.free_bytes() == 900_000 - 204_800
    (tmp_path / "limits").write_text("Max address space         unlimited   unlimited   bytes\n")
    assert memory.free_bytes() == 1_000_000
    (tmp_path / "meminfo").unlink()
    (tmp_path / "limit").unlink()
    assert memory.free_bytes() is None


# Not getrusage, whose peak goes on from the process that started this one.
PEAK = """
import sys
from anabranch import Scenario
Scenario.loads(sys.argv[1]).run()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def peak_bytes(made: Scenario) -> int:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PEAK, made.toml()], capture_output=True, text=True, check=True, timeout=120
    )
    return int(done.stdout) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="not here: Linux, whose peak it is")
def test_the_estimate_of_a_flow_is_near_its_peak() -> None:
    few, many = 5_000, 45_000
    a_flow = (peak_bytes(scenario(many)) - peak_bytes(scenario(few))) / (many - few)
    assert 0.4 * memory.FLOW_BYTES < a_flow < 2.5 * memory.FLOW_BYTES
