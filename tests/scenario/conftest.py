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


@pytest.fixture
def abilene() -> Callable[..., Scenario]:
    """The small scenario above, with fields set as ``--set`` does."""

    def build(**fields: str) -> Scenario:
        overrides = {name.replace("__", "."): value for name, value in fields.items()}
        return Scenario.loads(BASE, overrides, origin="x.toml")

    return build
