"""What tests of several folders share: a run with captures, whose tables are the oracle; the attack."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from anabranch import Result, Scenario

ATTACK = Path(__file__).parents[1] / "checks" / "attack"

DUMBBELL = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "5 ms"
queue = "20 packets"
[[traffic]]
from = "left1"
to = "right1"
transport = "cubic"
size = "2 MB"
[[traffic]]
from = "left2"
to = "right2"
transport = "newreno"
size = "2 MB"
[[capture]]
file = "left1.pcapng"
host = "left1"
snap_length = "128 B"
[[capture]]
file = "left2.pcapng"
host = "left2"
[[capture]]
file = "right1.pcapng"
host = "right1"
[[capture]]
file = "right2.pcapng"
host = "right2"
[run]
duration = "20 s"
"""


@pytest.fixture(scope="session")
def run_with_captures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Two lossy transfers, captured at both ends of each."""
    folder = tmp_path_factory.mktemp("captures") / "run"
    return Scenario.loads(DUMBBELL).run(out=folder), folder


@pytest.fixture(scope="module")
def attack() -> Iterator[Callable[[str], ModuleType]]:
    """The modules of ``checks/attack``, by name."""
    sys.path.insert(0, str(ATTACK))
    yield importlib.import_module
    sys.path.remove(str(ATTACK))
