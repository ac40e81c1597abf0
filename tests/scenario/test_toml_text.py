"""What TOML text costs is bounded before it is parsed, and a mistake shows the line as it should be."""

import time
from pathlib import Path

import pytest

from anabranch import Scenario, ScenarioError, Study, StudyError, _core

from .conftest import BASE

MOST_STEPS = 64
MOST_VALUES = 500_000
DEEP = ".".join(["a"] * (MOST_STEPS + 1))
HOSTILE = {
    "long keys": "a." * 15_000 + "a = 1\n" + "b." * 14_000 + "b = 1\n",
    "blanks": "a . " * 15_000 + "a = 1\n",
    "quoted": '"a".' * 15_000 + "a = 1\n",
    "in a table": "x = { " + "a." * 15_000 + "a = 1 }",
    "header": "[" + "a." * 15_000 + "a]",
    "behind a comment": "# '\n" + "a." * 15_000 + "a = 1\n",
    "behind an open string": 'x = "\n' + "a." * 15_000 + "a = 1\n",
    "tables": "[[traffic]]\n" * (MOST_VALUES + 1),
    "empty tables": "traffic = [" + "{}," * MOST_VALUES + "]",
}
HARMLESS = {
    "a long letter": "a" * 3_000_000,
    "quotes": '"' * 3_000_000,
    "escapes": '"\\' * 2_000_000,
    "dots in a string": f'title = "{DEEP}"',
    "dots in a comment": f"# {DEEP}",
    "dots in a block": f'title = """\n{DEEP}"""\n',
    "quotes in a block": "title = '''\"\n" + DEEP + "'''\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_costly_text_is_refused_in_a_moment(name: str) -> None:
    begin = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(HOSTILE[name], origin="x.toml")
    # The keys took 19 s and 3.4 GB before, half a million empty tables 3 s to refuse one by one.
    assert time.process_time() - begin < 10
    (line,) = caught.value.lines()
    assert line in (
        "x.toml: a dotted key, or tables inside of each other, have more than 64 parts, so it is not a "
        "scenario",
        "x.toml: has more than 500,000 values, so it is not a scenario",
    )


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_like_it_is_parsed(name: str) -> None:
    begin = time.process_time()
    try:
        _core.Document(HARMLESS[name])
    except ValueError as error:
        assert "parts" not in str(error)
    assert time.process_time() - begin < 10


def test_studies_and_fields_on_the_command_line_have_the_same_bounds(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(HOSTILE["long keys"])
    with pytest.raises(StudyError, match="more than 64 parts"):
        Study.load(tmp_path / "s.toml")
    with pytest.raises(ScenarioError, match="more than 64 parts"):
        Scenario.loads(BASE, {f"network.{DEEP}": "1"})
    begin = time.process_time()
    # Text that is no TOML stands for itself.
    assert Scenario.loads(BASE, {"title": "{" + "a." * 15_000 + "a = 1}"}).title.startswith("{a.a.")
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("duration = 1 s", 'duration = "1 s"'),
        ("topology = zoo/Abilene  # a map", 'topology = "zoo/Abilene"  # a map'),
        ("delay = { from = distance, plus = '1 ms' }", "delay = { from = \"distance\", plus = '1 ms' }"),
        ('x = { from = "a", to = b }', 'x = { from = "a", to = "b" }'),
        ('to = ["a", b c]', 'to = ["a", "b c"]'),
        ("flow_series = True", "flow_series = true"),
    ],
)
def test_forgotten_quotes_are_shown_in_their_line(line: str, written: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads(f"x = 1\n{line}\ny = 2\n", origin="x.toml")
    (message,) = caught.value.lines()
    assert message.startswith("x.toml: line 2, column ")
    assert message.endswith(f"; write {written}")


def test_a_quote_without_an_end_is_told() -> None:
    with pytest.raises(ScenarioError, match=r"line 1, .*: the text in quotes does not end on its line$"):
        Scenario.loads('title = "x\ny = 1\n')
    with pytest.raises(ScenarioError) as caught:
        Scenario.loads('title = "\\x"\n')
    assert "write" not in str(caught.value)
