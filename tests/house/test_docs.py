"""The documents against the program: scenarios in them run, and every column and field is explained."""

import re
from pathlib import Path

import pytest

from anabranch import Scenario, Study
from anabranch.topology.generators import GENERATORS, Generator

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").rglob("*.toml"))

TINY = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
from = "left1"
to = "right1"
size = "10 kB"
[[event]]
at = "500 ms"
link = ["router-left", "router-right"]
delay = "2 ms"
[run]
duration = "1 s"
"""


def blocks(file: Path, language: str) -> list[str]:
    """The fenced blocks of a language in a document."""
    text = file.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def scenarios() -> list[tuple[str, str]]:
    """Every whole scenario in the documents; the other blocks are excerpts."""
    found = [(file.name, text) for file in DOCUMENTS for text in blocks(file, "toml")]
    return [(name, text) for name, text in found if "[run]" in text and "[network]" in text]


def columns(markdown: str) -> dict[str, set[str]]:
    """The columns that docs/results.md explains, by table: rows of a table under a heading in code."""
    found = {}
    for name, section in re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", markdown, re.MULTILINE | re.DOTALL):
        first_cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
        found[name] = {column for cell in first_cells for column in re.findall(r"`(\w+)`", cell)}
    return found


def test_the_documents_have_scenarios() -> None:
    assert len(scenarios()) >= 2


@pytest.mark.parametrize(("name", "text"), scenarios())
def test_a_scenario_in_a_document_has_routes(name: str, text: str) -> None:
    assert Scenario.loads(text, origin=name).routes().pairs


def test_excerpts_of_the_scenario_page_name_fields_that_exist() -> None:
    schema = str(Scenario.model_json_schema()) + str(Study.model_json_schema())
    excerpts = "\n".join(text for file in DOCUMENTS for text in blocks(file, "toml"))
    fields = set(re.findall(r"^(\w+) = ", excerpts, re.MULTILINE))
    assert len(fields) > 20
    parameters = set(re.findall(r"^(\w+) = ", "\n".join(
        re.findall(r"\[network\.parameters\]\n(.*?)(?=^\[|\Z)", excerpts, re.MULTILINE | re.DOTALL)
    ), re.MULTILINE))  # fmt: skip
    assert {field for field in fields - parameters if f"'{field}'" not in schema} == set()


def test_the_python_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = blocks(ROOT / "README.md", "python")
    assert len(examples) == 1
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(examples[0], "README.md", "exec"), {})  # noqa: S102 - our own example
    assert capsys.readouterr().out.count("Mbps") >= 2


def test_the_python_examples_of_the_manual_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    # The folders of results that the examples read, as the command line names them.
    Scenario.load("examples/sdn_incast.toml").run(out="results/sdn_incast")
    queues = Study.load("examples/studies/queues.toml").model_dump(by_alias=True)
    small = {
        "replications": 2,
        "scenario": str(ROOT / "examples" / "dumbbell.toml"),
        "output": {"figures": []},
    }
    Study.from_data(queues | small).run(out="results/queues")
    names = ("studies.md", "outputs.md", "report.md")
    Scenario.load("examples/abilene.toml", {"run.duration": "1 s"}).run(out="results/abilene")
    examples = [(name, text) for name in names for text in blocks(ROOT / "docs" / name, "python")]
    assert len(examples) == 5
    for name, text in examples:
        exec(compile(text, name, "exec"), {})  # noqa: S102 - our own example
    for file in (
        "results/transports/study.xlsx",
        "again/study.xlsx",
        "completion.pdf",
        "incast.pdf",
        "results/links/report.html",
    ):
        assert (tmp_path / file).is_file(), file


def test_every_column_is_explained(tmp_path: Path) -> None:
    explained = columns((ROOT / "docs" / "results.md").read_text(encoding="utf-8"))
    measured = {}
    extras = {"run.sequences": '"*"', "controller.statistics_interval": "1 ms", "run.duration": "2 ms"}
    sdn = Scenario.load(ROOT / "examples" / "sdn_incast.toml", extras)
    links = '[controller.links]\ncapacity = "10 Mbps"\ndelay = "1 ms"\n'
    tcpbp = Scenario.loads(TINY + '[controller]\napplication = "tcpbp"\n' + links)
    mptcp = Scenario.loads(TINY.replace("size =", 'transport = "mptcp"\nsize ='))
    hop_by_hop = Scenario.loads(TINY + '[routing]\nscheme = "ecmp"\n')
    for scenario in (Scenario.loads(TINY), hop_by_hop, sdn, tcpbp, mptcp):
        tables = scenario.run(out=tmp_path / "out").tables
        measured |= {name: set(table.columns) for name, table in tables.items()}
    assert len(measured) == 18
    assert explained == measured


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=lambda generator: generator.name)
def test_every_parameter_of_a_generator_is_listed(generator: Generator) -> None:
    text = (ROOT / "docs" / "topologies.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{generator.name}` \| [^|]* \| ([^|]*) \|$", text, re.MULTILINE)
    words = re.findall(r"`(\w+)`", row)
    prefixes = [word for word in words if word.endswith("_")] or [""]
    quantities = {"capacity", "delay", "loss"}
    listed = {word for word in words if not word.endswith("_")} - quantities
    listed |= {prefix + quantity for prefix in prefixes for quantity in quantities & set(words)}
    assert listed == {re.sub("_(bps|ps)$", "", parameter.name) for parameter in generator.parameters}
    for parameter in generator.parameters:
        if parameter.default is not None:
            assert f"`{parameter.name}` ({parameter.default}" in row


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_listed(file: Path) -> None:
    assert len(EXAMPLES) >= 4
    assert file.relative_to(ROOT).as_posix() in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
