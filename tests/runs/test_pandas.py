"""Tables as frames of pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

from anabranch import Result, ResultError, Scenario, Study, StudyError

SCENARIO = """
[network]
topology = "dumbbell"
links = { capacity = "10 Mbps", delay = "5 ms" }
[[traffic]]
from = "left1"
to = "right1"
[run]
duration = "1 s"
"""


@pytest.fixture(scope="module")
def result() -> Result:
    """A flow that does not end, so that it has no completion time."""
    return Scenario.loads(SCENARIO).run()


def test_a_table_has_the_same_names_and_numbers(result: Result) -> None:
    frame = result.to_pandas()
    assert list(frame.columns) == result.flows.columns
    assert frame["goodput_mbps"].tolist() == result.flows["goodput_mbps"].to_list()
    assert frame["name"].tolist() == ["traffic[0].0"]
    assert frame["completion_s"].isna().all()
    assert len(result.to_pandas("links")) == result.links.height > 1
    with pytest.raises(ResultError, match="no table flow; it has flows, links"):
        result.to_pandas("flow")


def test_a_study_has_its_cells_its_runs_and_what_it_kept() -> None:
    study = Study.from_data(
        {
            "scenario": Scenario.loads(SCENARIO).data(),
            "factor": [{"field": "network.links.capacity", "levels": ["5 Mbps", "10 Mbps"]}],
            "keep": "tables",
        }
    ).run()
    cells = study.to_pandas()
    assert cells["delivered_mbps"].tolist() == study.cells["delivered_mbps"].to_list()
    assert len(study.to_pandas("runs")) == 2
    assert set(study.to_pandas("flows")["run"]) == {0, 1}
    with pytest.raises(StudyError, match=r"no table flow; it has cells, runs, .*flows"):
        study.to_pandas("flow")


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_without_the_package_the_message_names_what_to_install(
    result: Result, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "anabranch.results.result.find_spec", lambda name: None if name == package else object()
    )
    with pytest.raises(ResultError, match=rf'{package} is not installed; .*"pandas>=.*" "pyarrow>='):
        result.to_pandas()


def test_nobody_else_imports_pandas() -> None:
    program = (
        "import sys, anabranch\n"
        f"result = anabranch.Scenario.loads({SCENARIO!r}).run()\n"
        "assert not {'pandas', 'pyarrow'} & set(sys.modules), 'before'\n"
        "result.to_pandas()\n"
        "assert {'pandas', 'pyarrow'} <= set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)  # noqa: S603 - our own program
