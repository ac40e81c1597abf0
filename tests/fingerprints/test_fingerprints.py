"""Every table of every scenario in ``cases.py`` is what it was, to the last bit of each number.

A difference is news: if it is meant, ``make fingerprints`` renews the file, and CHANGELOG.md says which
results moved and why. A column that is new since then is not looked at until the file is renewed.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cases import PLAIN_PRESETS, every_scenario
from hashing import FILE, hashes_of, simulated

from anabranch import _core

SCENARIOS = every_scenario()
KEPT = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_tables_are_what_they_were(name: str, tmp_path: Path) -> None:
    hashes = hashes_of(simulated(SCENARIOS[name], tmp_path), KEPT["columns"])
    assert hashes == KEPT["scenarios"][name]


@pytest.mark.parametrize("cores", [2, 3, 8])
@pytest.mark.parametrize("name", SCENARIOS)
def test_so_are_those_of_several_cores(name: str, cores: int, tmp_path: Path) -> None:
    hashes = hashes_of(simulated(SCENARIOS[name], tmp_path, cores=cores), KEPT["columns"])
    assert hashes == KEPT["scenarios"][name]


def trims(flows: pl.DataFrame, sprayed: object) -> pl.Series:
    """Packets of each flow whose payload was cut off: the receiver has seen them, and counts none of them."""
    if not isinstance(sprayed, pl.DataFrame):
        return pl.zeros(flows.height, pl.UInt64, eager=True)
    return flows.join(sprayed, on="flow", how="left")["trims"].fill_null(0)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_books_of_every_flow_close_from_its_table(name: str, tmp_path: Path) -> None:
    tables = simulated(SCENARIOS[name], tmp_path)
    flows = tables["flows"]
    assert isinstance(flows, pl.DataFrame)
    assert flows.height >= 1
    arrived = (
        flows["packets_received"] + flows["duplicates_received"] + trims(flows, tables.get("spray_flows"))
    )
    accounted = arrived + flows["drops_data"] + flows["packets_in_flight"]
    sent = flows["segments_sent"] + flows["duplicated_packets"]
    assert sent.to_list() == accounted.to_list()
    ways = ("drops_data", "drops_without_data", "drops_acks")
    causes = ["drops_unreachable", "drops_corrupted", *(cause for cause, _ in _core.drop_causes())]
    by_way, by_cause = (flows.select(pl.sum_horizontal(names)).to_series() for names in (ways, causes))
    assert by_way.to_list() == by_cause.to_list()


def test_there_is_a_fingerprint_of_everything() -> None:
    assert len(SCENARIOS) >= 60
    assert len(PLAIN_PRESETS) >= 15
    assert set(SCENARIOS) == set(KEPT["scenarios"])


def test_a_hash_sees_the_last_bit_and_the_order(tmp_path: Path) -> None:
    data: dict[str, Any] = SCENARIOS["transport/newreno"]
    tables = simulated(data, tmp_path)
    links = tables["links"]
    assert not isinstance(links, bytes)
    before = hashes_of({"links": links}, KEPT["columns"])
    assert before == {"links": KEPT["scenarios"]["transport/newreno"]["links"]}
    nudged = (
        links.with_columns(links["utilisation"] * (1 + 2**-52))
        if "utilisation" in links.columns
        else links[::-1]
    )
    assert hashes_of({"links": nudged}, KEPT["columns"]) != before
    assert hashes_of({"links": links[::-1]}, KEPT["columns"]) != before
