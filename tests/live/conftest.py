"""Live runs, where the machine can do them: they are skipped with a word where it cannot."""

import sys
from pathlib import Path
from typing import Any

import pytest

# What the tests share besides fixtures lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from live_scenarios import LATEST_US, TRIES, LiveRun

from anabranch import Scenario
from anabranch.errors import LiveError
from anabranch.live import run
from anabranch.live.machine import check_machine
from anabranch.results.result import Result


@pytest.fixture(scope="session")
def can_run() -> None:
    """Skips where there may be no live run."""
    try:
        check_machine(["cubic", "reno"])
    except LiveError as error:
        pytest.skip(f"not here: live runs: {error}")


@pytest.fixture(scope="session")
def can_join(can_run: None) -> None:  # noqa: ARG001 - skips
    """Skips where the kernel has no Multipath TCP."""
    try:
        check_machine(mptcp=True)
    except LiveError as error:
        pytest.skip(f"not here: live runs of Multipath TCP: {error}")


@pytest.fixture(scope="session")
def live_run(can_run: None) -> LiveRun:  # noqa: ARG001 - skips
    """A live run, repeated where the machine was too busy to keep to the clock."""

    def valid(scenario: Scenario, **arguments: Any) -> Result:
        for _ in range(TRIES):
            result = run(scenario, latest_us=LATEST_US, **arguments)
            if result.summary["live"]["valid"]:
                return result
        pytest.skip(f"by chance: the machine is too busy: {result.summary['live']['not_valid']}")

    return valid
