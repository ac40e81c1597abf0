"""What the core's reader refuses of plain data that no text holds."""

from typing import Any

import pytest

from anabranch import _core


def test_data_that_hold_themselves_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["network"] = endless
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for data in (endless, {"traffic": deep}):
        with pytest.raises(ValueError, match="nested too deeply"):
            _core.Scenario(data)


def test_what_is_none_counts_as_left_out_and_what_is_no_data_is_told() -> None:
    problems = _core.Scenario({"network": None, "traffic": object, "run": {"duration": "1 s"}}).problems
    assert [place for place, _ in problems] == ["network", "traffic"]
