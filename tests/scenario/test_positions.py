"""A mistake is told with the line and column where it stands, at whatever stage it is found."""

import pickle
from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError, Study, StudyError
from anabranch.errors import Origin, ProblemsError
from anabranch.setup import resolve

TEXT = """\
[run]
duration = "1 s"
seed = 1
[network]
[[network.node]]
name = "a"
[[network.node]]
name = "b"
[[network.link]]
between = ["a", "b"]
capacity = "10 Mbps"
delay = "5 ms"
new = true
[[traffic]]
from = "a"
to = "b"
transport = "cubic"
"""


def first_line(error: ProblemsError) -> str:
    return error.report().splitlines()[0]


@pytest.mark.parametrize(
    ("old", "new", "begin"),
    [
        ('capacity = "10 Mbps"', 'capacity = "10"', "x.toml:11:12: network.link[0].capacity: "),
        ('transport = "cubic"', 'transport = "cubik"', "x.toml:17:13: traffic[0].transport: transport "),
        ('to = "b"', 'to = "c"', 'x.toml:16:6: traffic[0].to: no node "c"'),
        ('delay = "5 ms"\n', "", "x.toml:4:1: network.links.delay: is missing"),
        ("seed = 1", "seed = 1 2", "x.toml:3:8: not valid TOML"),
        # A tab and a letter of four bytes are a column each.
        ("seed = 1", '\tseed = "🦀"', "x.toml:3:9: run.seed: "),
    ],
)  # fmt: skip
def test_reading_and_resolving_tell_line_and_column(old: str, new: str, begin: str) -> None:
    assert old in TEXT
    with pytest.raises(ScenarioError) as caught:
        resolve(Scenario.loads(TEXT.replace(old, new), origin="x.toml"))
    assert first_line(caught.value).startswith(begin)


@pytest.mark.parametrize("field", ["run.duration", "run"])
def test_a_value_set_from_outside_has_no_line(field: str) -> None:
    value = "-1 s" if field == "run.duration" else '{ duration = "-1 s" }'
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(TEXT, {field: value}, origin="x.toml")
    assert first_line(caught.value).startswith('x.toml: run.duration: "-1 s" is below zero')


def test_what_a_program_has_changed_has_no_line_and_the_rest_keeps_its_own(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(TEXT.replace('to = "b"', 'to = "c"'))
    given = Scenario.load(file)
    changed = given.replace({"traffic[0].from": "q"})
    copied = given.model_copy(update={"traffic": [{"from": "q", "to": "c"}]})
    for scenario, lines in ((changed, ["x.toml:", "x.toml:16:6:"]), (copied, ["x.toml:", "x.toml:"])):
        with pytest.raises(ScenarioError) as caught:
            resolve(pickle.loads(pickle.dumps(scenario)))
        assert [line.split(" ")[0] for line in caught.value.report().splitlines()] == lines
    assert [problem.line for problem in caught.value.problems] == [None, None]


def test_a_study_tells_lines_of_its_own_file_only(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(TEXT)
    study = tmp_path / "s.toml"
    study.write_text('scenario = "x.toml"\n[[factor]]\nfield = "run.seed"\nlevel = [1]\n')
    with pytest.raises(StudyError) as caught:
        Study.load(study)
    assert "s.toml:4:10: " in caught.value.report()


def test_an_origin_is_a_name() -> None:
    scenario = Scenario.loads(TEXT, origin="x.toml")
    assert isinstance(scenario.origin, Origin)
    assert scenario.origin == "x.toml"
    assert Scenario.loads(TEXT).origin is None
