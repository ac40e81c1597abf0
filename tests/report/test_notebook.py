"""What notebooks show, and the short ways to a run in them."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import anabranch
from anabranch import Routing, Scenario, ScenarioError, Study
from anabranch.process import progress

SCENARIO = """
title = "two <hosts>"
[network]
topology = "dumbbell"
parameters = { bottleneck_capacity = "10 Mbps" }
links = { capacity = "100 Mbps", delay = "1 ms" }
[[traffic]]
from = "left1"
to = "right1"
transport = "cubic"
[run]
duration = "1 s"
"""
STUDY = """
scenario = "two.toml"
replications = 1
[[factor]]
field = "traffic[0].transport"
levels = ["newreno", "cubic"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The scenario in a file."""
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO)
    return path


def html(shown: object) -> str:
    """What a notebook gets."""
    return str(shown._repr_html_())  # type: ignore[attr-defined]


def test_a_run_takes_a_file(file: Path) -> None:
    assert anabranch.run(file).flows["transport"].to_list() == ["cubic"]
    assert anabranch.run(str(file)).flows.equals(anabranch.run(file).flows)


def test_fields_are_replaced_and_the_old_scenario_stays(file: Path) -> None:
    scenario = Scenario.load(file)
    other = scenario.replace(
        {"traffic[0].transport": "mprc", "routing": Routing(scheme="disjoint"), "run.seed": 2}
    )
    assert isinstance(other, Scenario)
    assert (other.traffic[0].transport, other.routing.scheme_name, other.run_settings.seed) == (
        "mprc",
        "disjoint",
        2,
    )
    assert other.base == scenario.base
    assert scenario == Scenario.load(file)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("traffic[0].transport", "cubik", "cubic"),
        ("traffic[1].transport", "cubic", "leads to no place"),
        ("run.duration", "5", "has no unit"),
    ],
)
def test_a_replaced_field_is_checked(file: Path, field: str, value: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario.load(file).replace({field: value})


def test_notebooks_show_tables_and_figures(file: Path) -> None:
    scenario = Scenario.load(file)
    shown = html(scenario)
    assert "two &lt;hosts&gt;" in shown
    assert "handshake_timeout" not in shown
    assert "left1" in html(scenario.routes())
    result = html(scenario.run())
    assert "two &lt;hosts&gt;" in result
    assert "<svg" in result
    assert "results in" not in result
    (file.parent / "study.toml").write_text(STUDY)
    study = html(Study.load(file.parent / "study.toml").run())
    assert "newreno" in study
    assert "<svg" in study


def test_a_figure_in_a_notebook_has_its_caption() -> None:
    assert "so that a sample may exceed the rate of a link" in html(
        Scenario.load("examples/first.toml").run()
    )


def test_a_notebook_sees_the_progress_of_a_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []
    ours = progress.run_progress

    def watched(title: str, duration_s: float) -> AbstractContextManager[progress.RunProgress]:
        titles.append(f"{title}: {duration_s:g} s")
        return ours(title, duration_s)

    monkeypatch.setattr(progress, "run_progress", watched)
    anabranch.run(file)
    assert titles == []
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    anabranch.run(file)
    assert titles == ["two <hosts>: 1 s"]


def test_a_study_shows_what_it_sets_and_tables_have_letters_of_one_width(file: Path) -> None:
    (file.parent / "study.toml").write_text(STUDY)
    study = Study.load(file.parent / "study.toml")
    shown = study._repr_html_()  # type: ignore[attr-defined]
    assert "scenario = &quot;two.toml&quot;" in shown
    assert all("monospace" in text for text in (shown, Scenario.load(file).run()._repr_html_()))


def test_a_notebook_without_ipywidgets_is_not_warned_at_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(progress, "find_spec", lambda _: None)
    with progress.study_progress("a study") as update:
        assert update is None


def test_warnings_stand_above_what_they_are_about(file: Path) -> None:
    late = SCENARIO.replace(
        "[run]",
        """[[traffic]]
name = "late"
from = "left1"
to = "right1"
size = "1 kB"
start = "1 h"
[run]""",
    )
    assert late != SCENARIO
    file.write_text(late)
    shown = html(anabranch.run(file))
    assert 0 < shown.index("late: 1 of 1 flows begins after the end") < shown.index("<pre")
    (file.parent / "study.toml").write_text(STUDY)
    result = Study.load(file.parent / "study.toml").run(jobs=1)
    shown = html(result)
    assert 0 < shown.index("begins after the end") < shown.index("<pre")
    # Names of a scenario are no markup.
    file.write_text(late.replace('"late"', '"<b>late"'))
    shown = html(anabranch.run(file))
    assert "&lt;b&gt;late: 1 of 1" in shown
    file.write_text(SCENARIO)
    assert "Warnings" not in html(anabranch.run(file))
