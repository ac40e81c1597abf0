"""Great-circle distances, against geometry and against path delays that were checked elsewhere."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.topology import MEAN_EARTH_RADIUS_KM, Topology, great_circle_km, load

latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180)

# One-way delays at 5 us/km and 1 ms a link, computed independently for paths in Chang 2024 (MPRC).
PATH_DELAYS_MS = [
    ("Abilene", ["Seattle", "Denver", "Kansas City", "Indianapolis", "Atlanta"], 23.76),
    ("Abilene", ["Seattle", "Sunnyvale", "Los Angeles", "Houston", "Atlanta"], 28.88),
    ("AttMpls", ["ORLD", "NWOR", "DLLS", "SNFN"], 22.76),
]


def path_delay_ms(topology: Topology, path: list[str]) -> float:
    total = 0.0
    for a, b in pairwise(path):
        lengths = [link.length_km for link in topology.links if {link.a, link.b} == {a, b}]
        assert lengths, f"{topology.name} has no link {a}-{b}"
        assert lengths[0] is not None
        total += lengths[0] * 0.005 + 1.0
    return total


@pytest.mark.parametrize(("graph", "path", "delay_ms"), PATH_DELAYS_MS)
def test_published_paths_as_topohub_has_them(graph: str, path: list[str], delay_ms: float) -> None:
    assert round(path_delay_ms(load(f"topohub/{graph}"), path), 2) == delay_ms


@pytest.mark.parametrize(("graph", "path", "delay_ms"), PATH_DELAYS_MS)
def test_published_paths_from_the_zoo(graph: str, path: list[str], delay_ms: float) -> None:
    topology = load(f"zoo/{graph}")
    # topohub rounds places to 0.01 degrees, which is up to 0.8 km an end: 0.01 ms a link at most.
    assert path_delay_ms(topology, path) == pytest.approx(delay_ms, abs=0.01 * (len(path) - 1))


def test_geometry() -> None:
    radius = MEAN_EARTH_RADIUS_KM
    assert great_circle_km(0, 0, 0, 1) == pytest.approx(radius * math.pi / 180)
    assert great_circle_km(90, 0, -90, 0) == pytest.approx(radius * math.pi)
    assert great_circle_km(0, 0, 0, 180) == pytest.approx(radius * math.pi)
    assert great_circle_km(10, 179.5, 10, -179.5) == pytest.approx(great_circle_km(10, 0, 10, 1))
    assert great_circle_km(60, 0, 60, 180) == pytest.approx(radius * math.pi / 3)  # over the pole


@given(latitudes, longitudes, latitudes, longitudes)
def test_symmetric_and_bounded(lat_a: float, lon_a: float, lat_b: float, lon_b: float) -> None:
    there = great_circle_km(lat_a, lon_a, lat_b, lon_b)
    assert there == pytest.approx(great_circle_km(lat_b, lon_b, lat_a, lon_a), abs=1e-6)
    assert 0.0 <= there <= MEAN_EARTH_RADIUS_KM * math.pi * (1 + 1e-12)


@given(latitudes, longitudes, latitudes, longitudes)
def test_agrees_with_the_angle_between_vectors(
    lat_a: float, lon_a: float, lat_b: float, lon_b: float
) -> None:
    def vector(lat: float, lon: float) -> tuple[float, float, float]:
        phi, lam = math.radians(lat), math.radians(lon)
        return math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi)

    chord = math.dist(vector(lat_a, lon_a), vector(lat_b, lon_b))
    angle = 2 * math.asin(min(1.0, chord / 2))
    # Near antipodes asin magnifies the last bit of the chord to about 1e-8 of a radian.
    assert great_circle_km(lat_a, lon_a, lat_b, lon_b) == pytest.approx(
        MEAN_EARTH_RADIUS_KM * angle, abs=1e-3
    )
