"""The runs by which wheels are compiled a second time."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "checks" / "release"))

# ruff: noqa: E402 - the checks are scripts in a folder, no package
from profile_runs import EXAMPLES, RUNS

from anabranch import Scenario
from anabranch.setup import Needed, resolve


def test_every_run_can_be_made() -> None:
    for _, example, fields in RUNS:
        setup = resolve(Scenario.load(EXAMPLES / example, fields), Needed.ALL)
        assert len(setup.flows.origin) > 0


def test_the_wheel_is_built_by_them() -> None:
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    assert maturin["pgo-command"] == "python checks/release/profile_runs.py"
