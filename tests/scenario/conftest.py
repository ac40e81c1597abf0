"""What the tests of scenarios share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from anabranch import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"

BASE = """
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
[[traffic]]
from = "Seattle"
to = "Atlanta"
[run]
duration = "1 s"
"""

CONTROLLED = """
[network]
topology = "dumbbell"
delay_class = "LAN"
[network.parameters]
left_hosts = 2
middle = 1
[network.links]
capacity = "10 Gbps"
[network.access]
delay = { distribution = "uniform", mean = "5 us", standard_deviation = "1 us" }
[controller]
application = { algorithm = "sdn-paced", alpha = 0.9, beta = 1.5, gamma = 2, schedule = "published" }
metric = "hops"
linger = "0 s"
processing_delay = "20 us"
statistics_interval = "10 ms"
[controller.links]
capacity = "8 Gbps"
delay = "1 us"
[[controller.link]]
switch = "router-middle1"
delay = "3 us"
loss = 0.01
queue = "10 packets"
[controller.table]
size = 1000
when_full = "evict"
idle_timeout = "5 s"
hard_timeout = "30 s"
[[traffic]]
name = "web"
from = "*"
to = "right1"
size = "1 MB"
transport = "mine"
[transport.mine]
preset = "sdn-paced"
segment = "1000 B"
[[event]]
at = "20 ms"
link = ["controller", "router-left"]
state = "down"
[run]
duration = "50 ms"
sequences = ["web.1"]
"""
"""Two senders and a receiver that a controller apart paces; every table of it is there."""

IN_BAND = """
[network]
[network.links]
capacity = "1 Gbps"
delay = "1 us"
[[network.node]]
name = "h1"
kind = "host"
[[network.node]]
name = "h2"
kind = "host"
[[network.node]]
name = "s1"
kind = "switch"
[[network.node]]
name = "s2"
kind = "switch"
[[network.link]]
between = ["h1", "s1"]
new = true
[[network.link]]
between = ["s1", "s2"]
new = true
[[network.link]]
between = ["s2", "h2"]
new = true
[controller]
application = { algorithm = "window-clamp", share = 0.5 }
channel = "in-band"
at = "s2"
[controller.links]
capacity = "100 Mbps"
delay = "2 us"
[[traffic]]
from = "*"
to = "*"
transport = "newreno"
[[event]]
at = "20 ms"
node = "controller"
state = "down"
[run]
duration = "50 ms"
"""
"""Two hosts, two switches, and a controller that hangs at one of them."""


@pytest.fixture
def abilene() -> Callable[..., Scenario]:
    """The small scenario above, with fields set as ``--set`` does."""

    def build(**fields: str) -> Scenario:
        overrides = {name.replace("__", "."): value for name, value in fields.items()}
        return Scenario.loads(BASE, overrides, origin="x.toml")

    return build
