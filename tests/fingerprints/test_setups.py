"""The setup of every scenario in ``cases.py``, and of every example, is what it was, to the last bit.

A difference is news, as one of the tables is: ``make fingerprints`` renews the file, if it is meant.
"""

import dataclasses
import json

import pytest
from setups import EXAMPLES, FILE, every_setup, hash_setup

from anabranch import Scenario
from anabranch.setup import resolve
from anabranch.setup.model import PARTS, LinkSetup

SCENARIOS = every_setup()
KEPT = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_setups_are_what_they_were(name: str) -> None:
    assert hash_setup(SCENARIOS[name]) == KEPT[name]


@pytest.mark.parametrize("name", SCENARIOS)
def test_tables_with_types_give_the_core_what_it_has(name: str) -> None:
    setup = resolve(SCENARIOS[name])
    given = {part: getattr(setup, part) for part in PARTS}
    again = setup.replace(**given)
    assert again.json() == setup.json()
    assert again == setup
    assert again.core().json() == setup.core().json()


def test_a_link_has_every_field_of_the_core() -> None:
    everything = {
        "shaper": {"rate": "5 Mbps", "burst": "20 kB"},
        "policer": {"rate": "5 Mbps", "burst": "20 kB"},
        "reorder": {"probability": 0.1},
        "duplicate": 0.1,
        "corrupt": 0.1,
    }
    scenario = SCENARIOS["examples/first.toml"]
    (link, *_) = resolve(
        scenario.replace({f"network.links.{name}": value for name, value in everything.items()})
    ).data()["links"]
    fields = [field.name for field in dataclasses.fields(LinkSetup)]
    assert set(link) == {"from" if name == "origin" else name for name in fields}


def test_there_is_a_hash_of_every_setup() -> None:
    assert set(SCENARIOS) == set(KEPT)
    assert sum(name.startswith("examples/") for name in KEPT) >= 25


def test_a_hash_sees_the_last_bit() -> None:
    scenario = Scenario.load(EXAMPLES / "first.toml")
    nudged = scenario.replace({"event[0].at": "10000000000001 ps"})
    assert hash_setup(nudged) != hash_setup(scenario)
