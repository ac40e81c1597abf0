"""What the tests of own algorithms share: a dumbbell, and a module beside a scenario."""

from pathlib import Path

from anabranch import Scenario

DUMBBELL = """
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
bottleneck_delay = "10 ms"
[network.links]
capacity = "100 Mbps"
delay = "100 us"
queue = "30 packets"
[[traffic]]
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
transport = "mine"
[run]
duration = "5 s"
"""

SIMPLE = """
    from dataclasses import dataclass

    from anabranch.own import CongestionControl


    @dataclass
    class Simple(CongestionControl):
        gain: float = 1.0

        def on_ack(self, ack):
            self.cwnd_bytes += self.gain * self.mss_bytes * ack.delivered_bytes / self.cwnd_bytes

        def on_loss(self, episode):
            self.reduce(episode)
"""


def scenario(control: str, base: Path, text: str = DUMBBELL, **transport: str) -> Scenario:
    """The dumbbell with a congestion control, as TOML; its modules are in ``base``."""
    fields = "".join(f"{name} = {value}\n" for name, value in transport.items())
    mine = f'[transport.mine]\npreset = "newreno"\ncongestion_control = {control}\n{fields}'
    return Scenario.loads(text + mine, origin="s.toml", base=base)
