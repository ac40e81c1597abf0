"""What runs and can hardly be meant."""

import pytest
from fabric_runs import Fabric

FLOW = """[[traffic]]
from = "host1.1.1"
to = "host3.1.1"
size = "100 kB"
transport = "x"
"""


def warned(fabric: Fabric, **changes: str) -> str:
    scenario = fabric(FLOW, **{name: value for name, value in changes.items() if name != "balancing"})
    if "balancing" in changes:
        scenario = scenario.replace({"routing.load_balancing": changes["balancing"]})
    return " ".join(scenario.run().summary["warnings"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queue": '"64 packets"'}, "no queue trims, so that a lost packet waits for its timeout"),
        (
            {"transport": 'path_selector = "mrc"'},
            "spreads over the planes of a host, and each host has one link",
        ),
        (
            {"balancing": "entropy"},
            "entropy names whole paths, and these routes are tables of next hops",
        ),
    ],
)
def test_what_spraying_counts_on_is_missed(fabric: Fabric, changes: dict[str, str], words: str) -> None:
    assert words in warned(fabric, **changes)
    assert words not in warned(fabric, transport='path_selector = "reps"')
