"""Both readers of a scenario side by side: scenarios of the tests are read by the core, too, and compared.

Until Python reads scenarios by the core, pydantic's models and the core say the same: the same problems. The
fixture wraps the door of the library, ``Scenario.from_data``, and fails the test in which they differ. It is
part of the tests of scenarios and of fingerprints; ``pytest -p both_readers``, with tests/ on the path, has
it in all tests. ``BOTH_READERS=FILE`` writes the differences to a file instead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from anabranch import ScenarioError, _core
from anabranch.scenario.scenario import Scenario

_LOG = os.environ.get("BOTH_READERS")
_BETTER = (
    # The core says where in the parameters of a generator a date stands, and that it is none of them.
    "input was not a valid JSON value",
    # Syntax that no released version had.
    "names its model by algorithm now",
    "belongs to the queue now",
    "is a queue discipline now",
    "several bounds are a list now",
    "stands with its algorithm",
    "is now called",
)
"""Of pydantic's messages those that the core has others for."""


def _differ(kind: str, source: object, ours: object, theirs: object) -> None:
    if not _LOG:
        pytest.fail(f"the readers differ in {kind}: core {ours}, Python {theirs}, of {str(source)[:2000]}")
    with Path(_LOG).open("a", encoding="utf-8") as log:
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        log.write(json.dumps([kind, test, repr(source)[:3000], ours, theirs], default=str) + "\n")


def _is_plain(data: Any) -> bool:
    """Whether data is what TOML can say: no None, no tables of Python's."""
    if isinstance(data, dict):
        return all(isinstance(key, str) and _is_plain(entry) for key, entry in data.items())
    if isinstance(data, list):
        return all(map(_is_plain, data))
    return type(data) in (bool, int, float, str)


def _compare_reading(data: Any, problems: list[Any]) -> None:
    if not isinstance(data, dict) or not _is_plain(data) or hypothesis.currently_in_test_context():
        return
    theirs = sorted({str(problem) for problem in problems if not problem.message.startswith("transport ")})
    if any(better in line for line in theirs for better in _BETTER):
        return
    ours = sorted(
        {f"{place}: {message}" if place else message for place, message in _core.Scenario(data).problems}
    )
    if ours != theirs:
        _differ("problems", data, ours, theirs)


@pytest.fixture(autouse=True, scope="module")
def both_readers() -> Iterator[None]:
    """Compares the readers in all tests of a run."""
    read = Scenario.from_data.__func__

    def from_data(cls: type[Scenario], data: object, **keywords: Any) -> Scenario:
        try:
            scenario: Scenario = read(cls, data, **keywords)
        except ScenarioError as error:
            _compare_reading(data, error.problems)
            raise
        _compare_reading(data, [])
        return scenario

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scenario, "from_data", classmethod(from_data))
        yield
