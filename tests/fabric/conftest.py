"""What the tests of fabrics share."""

import sys
from pathlib import Path

import pytest

import anabranch

sys.path.insert(0, str(Path(__file__).parent))

from fabric_runs import Fabric

HALF = """[network]
topology = "fat-tree"
parameters = {{ k = {k} }}
[network.links]
capacity = "{gbps} Gbps"
delay = "1 us"
queue = {queue}
[routing]
scheme = "ecmp"
[transport.x]
preset = "uet"
payload = "4086 B"
{transport}
{rest}
[run]
duration = "20 ms"
until = "done"
seed = {seed}
"""


@pytest.fixture
def fabric() -> Fabric:
    """A scenario over a fat tree."""

    def scenario(
        rest: str,
        *,
        k: int = 4,
        gbps: int = 100,
        transport: str = "",
        queue: str = '{ algorithm = "trim", limit = "42 packets" }',
        seed: int = 1,
    ) -> anabranch.Scenario:
        text = HALF.format(k=k, gbps=gbps, queue=queue, transport=transport, rest=rest, seed=seed)
        return anabranch.Scenario.loads(text)

    return scenario
