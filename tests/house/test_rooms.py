"""A newcomer finds the room of a feature from the folder tree: few rooms, and what each stands on."""

from functools import cache

import pytest

from .test_crate_graph import PART_PREFIX, package_of, python_edges, python_parts

MOST_ROOMS = 24
MOST_FLOORS = 12


@pytest.fixture(scope="module")
def uses() -> dict[str, set[str]]:
    """By room of the library what it imports, in functions, too."""
    parts = python_parts()
    rooms = {part: set[str]() for part in parts if not part.startswith(PART_PREFIX["anabranch_publications"])}
    for room in rooms:
        for file in parts[room]:
            edges = python_edges(room, file.read_text(encoding="utf-8"), package_of(file), set(parts))
            rooms[room] |= {edge.used for edge in edges}
    return rooms


def test_the_package_has_few_rooms(uses: dict[str, set[str]]) -> None:
    assert {"scenario", "plans", "runs", "errors", "_core"} < uses.keys()
    assert len(uses) <= MOST_ROOMS


def test_the_rooms_stand_on_few_floors(uses: dict[str, set[str]]) -> None:
    @cache
    def floor(room: str) -> int:
        return 1 + max((floor(below) for below in uses[room]), default=0)

    assert 9 <= max(map(floor, uses)) <= MOST_FLOORS
