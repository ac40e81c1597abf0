"""Every example in the documents, and every example file, does what it is there for."""

import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest
import typer.main
from documents import DOCUMENTS, ROOT, Block, blocks, file_of
from typer.testing import CliRunner

from anabranch import AnabranchError, Scenario, Study
from anabranch.scenario import Span
from anabranch.setup import Needed, agree, resolve
from anabranch.study.check import design
from anabranch.terminal.cli import app

EXAMPLES = sorted((ROOT / "examples").rglob("*.toml"))
SHORT = "100 ms"
WHOLE = [block for block in blocks("toml") if "[run]" in block.text and "[[traffic]]" in block.text]
EXCERPTS = [block for block in blocks("toml") if block not in WHOLE]
STUDY_KEYS = {"scenario", "factor", "metric", "output", "replications"}

# What excerpts leave out.
LINKS = {"capacity": "10 Mbps", "delay": "1 ms"}
REST: dict[str, Any] = {
    "network": {"topology": "zoo/Abilene", "links": LINKS},
    "traffic": [{"name": "web", "from": "Denver", "to": "Atlanta"}],
    "run": {"duration": "1 s"},
}
ANYWHERE = {"from": "*", "pairs": "permutation"}
STUDIED = {
    "network": {"topology": "dumbbell", "links": LINKS},
    "traffic": [ANYWHERE],
    "run": {"duration": "1 s"},
}
NODES_ELSEWHERE = {"semper.md"}
"""Documents with an excerpt that names nodes of an example file."""


def joined(rest: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Both together; where both say something, the part is right."""
    both = dict(rest)
    for key, value in part.items():
        inner = both.get(key)
        both[key] = joined(inner, value) if isinstance(value, dict) and isinstance(inner, dict) else value
    return both


def commands(text: str) -> list[list[str]]:
    """The calls of the program in a shell's commands, as a shell would split them."""
    whole = text.replace("\\\n", " ").splitlines()
    lines = [shlex.split(line.removeprefix("sudo "), comments=True) for line in whole if "anabranch" in line]
    return [words[1:] for words in lines if words and words[0].rsplit("/", 1)[-1] == "anabranch"]


COMMANDS = [(block, words) for block in blocks("sh") for words in commands(block.text)]


def test_the_examples_are_found() -> None:
    assert len(DOCUMENTS) > 20
    assert len(WHOLE) >= 5
    assert len(EXCERPTS) >= 40
    assert len(COMMANDS) >= 15
    assert len(blocks("python")) >= 8
    assert len(EXAMPLES) >= 16


@pytest.mark.parametrize("block", WHOLE, ids=str)
def test_a_scenario_in_a_document_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Captures go into the folder where one is.
    monkeypatch.chdir(tmp_path)
    result = Scenario.loads(block.text, {"run.duration": SHORT}, origin=str(block)).run()
    assert not result.interrupted
    assert result.flows.height >= 1


@pytest.mark.parametrize("block", EXCERPTS, ids=str)
def test_an_excerpt_fits_into_a_scenario_or_a_study(block: Block) -> None:
    part = tomllib.loads(block.text)
    if part.keys() & STUDY_KEYS:
        whole = {"scenario": STUDIED} | part
        assert file_of(block) or design(Study.from_data(whole, base=ROOT / "examples")).runs >= 1
        return
    rest = dict(REST)
    if "topology" in part.get("network", {}):
        rest["traffic"] = [ANYWHERE]
    if "controller" in part:
        rest["controller"] = {"links": LINKS}
    if any(scheme in block.text for scheme in ('"robust', '"hybrid')):
        rest["routing"] = {"demand": {"pair": "50 Mbps"}}
    scenario = Scenario.from_data(joined(rest, part), origin=str(block), base=ROOT / "examples")
    if block.document not in NODES_ELSEWHERE:
        setup = resolve(scenario)
        assert setup.flows or setup.datagrams


def test_a_wrong_excerpt_is_found() -> None:
    block = Block("x.md", 1, "toml", '[[event]]\nat = "1 s"\nlink = ["Denver", "Berlin"]\nstate = "down"\n')
    with pytest.raises(AnabranchError, match="Berlin"):
        test_an_excerpt_fits_into_a_scenario_or_a_study(block)


def test_the_scenario_of_the_readme_is_an_example() -> None:
    (scenario,) = [block for block in blocks("toml") if block.document == "README.md"]
    assert scenario.text == (ROOT / "examples" / "first.toml").read_text(encoding="utf-8")


def test_the_mistake_that_is_shown_is_answered_so() -> None:
    text = (ROOT / "examples" / "first.toml").read_text(encoding="utf-8").replace('"Seattle"', '"Seatle"')
    with pytest.raises(AnabranchError) as caught:
        resolve(Scenario.loads(text))
    for page in ("README.md", "docs/guide.md"):
        (shown,) = re.findall(r'`(traffic[^`]*"Seatle"[^`]*)`', (ROOT / page).read_text(encoding="utf-8"))
        assert shown == str(caught.value)


@pytest.mark.parametrize("file", [file for file in EXAMPLES if file.parent.name == "examples"], ids=str)
def test_an_example_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = Scenario.load(file).run_settings.duration
    changes = {"run.duration": min(whole, Span("1 s")).text}
    if "time_limit" in file.read_text(encoding="utf-8"):
        changes["routing.scheme.time_limit"] = "3 s"
    result = Scenario.load(file, changes).run()
    assert not result.interrupted
    assert result.summary["packet_hops"] > 0


@pytest.mark.parametrize("file", [file for file in EXAMPLES if file.parent.name == "studies"], ids=str)
def test_an_example_of_a_study_runs(file: Path) -> None:
    """The first level of each factor, once, and short."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    for factor in data["factor"]:
        if "range" in factor:
            factor["levels"] = [factor.pop("range")["from"]]
        elif "levels" in factor:
            factor["levels"] = factor["levels"][:1]
        else:
            factor["level"] = factor["level"][:1]
            times = {"run.duration": SHORT, "run.sample_interval": "10 ms"}
            settings = factor["level"][0]["set"]
            settings |= {field: value for field, value in times.items() if field in settings}
    if isinstance(data["scenario"], str):
        data["scenario"] = tomllib.loads((file.parent / data["scenario"]).read_text(encoding="utf-8"))
    data["scenario"]["run"] |= {"duration": SHORT, "sample_interval": "10 ms"}
    study = Study.from_data(data | {"replications": 1}, base=file.parent)
    (run,) = study.run(jobs=1).runs.to_dicts()
    assert run["status"] == "ok", run


WRITTEN_BY_NEW = {"gentle.toml", "gentle_study.toml"}
"""What ``anabranch new`` writes; tests/own runs the commands that follow it."""


def parse(words: list[str]) -> None:
    """Reads a command line as the program does, and runs nothing.

    Raises:
        typer.Exit: never.
        Exception: an unknown command or option, or an argument too many or too few.
    """
    group = typer.main.get_command(app)
    parent = None
    while hasattr(group, "commands"):
        assert words, "names no command"
        if words[0].startswith("--"):
            assert words[0] in {name for known in group.params for name in known.opts}, (
                f"no option {words[0]}"
            )
            return
        command = group.get_command(None, words[0])
        assert command is not None, f"no command {words[0]}"
        group, words = command, words[1:]
    group.make_context("anabranch", list(words), parent=parent)


@pytest.mark.parametrize(("block", "words"), COMMANDS, ids=str)
def test_a_command_in_a_document_is_one(block: Block, words: list[str]) -> None:
    assert words, block
    parse(words)
    written = {name for known in blocks("toml") if (name := file_of(known))}
    for word in words:
        if word.endswith(".toml") and word not in written | WRITTEN_BY_NEW:
            folder = ROOT / "examples" if words[0] == "examples" else ROOT
            assert (folder / word).is_file(), word


def test_a_wrong_command_is_found() -> None:
    for words in (["run", "x.toml", "--sed", "1"], ["routes"], ["topology", "shew", "x"], ["--verzion"]):
        with pytest.raises(Exception, match=r"(?i)no such option|missing|no command|no option"):
            parse(words)


def test_the_commands_of_the_prose_are_right() -> None:
    """Commands within a line, and those that are set off by an indent, with placeholders in capitals."""
    problems = []
    for file in DOCUMENTS:
        text = re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        spans = re.findall(r"`anabranch ([^`\n]+)`", text) + re.findall(
            r"^ {4}anabranch (.+)$", text, re.MULTILINE
        )
        problems += [(file.name, shlex.split(re.sub(r" \[.*", "", span), comments=True)) for span in spans]
    assert len(problems) > 20
    read = 0
    for document, words in problems:
        if "--help" in words or words == ["topology"]:
            continue
        try:
            parse(words)
            read += 1
        except Exception as error:
            # "`anabranch load --map` draws a map" leaves out what does not matter there.
            if type(error).__name__ not in ("MissingParameter", "BadOptionUsage"):
                error.add_note(f"{document}: anabranch {' '.join(words)}")
                raise
    assert read > 10


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to work in, with the examples."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("elsewhere")
def test_cheap_commands_run_as_written() -> None:
    cheap = [
        (block, words)
        for block, words in COMMANDS
        if words[0] in ("routes", "topology", "schema") and block.document != "guide.md"
    ]
    assert len(cheap) >= 4
    for block, words in cheap:
        answer = CliRunner().invoke(app, words)
        assert answer.exit_code == 0, f"{block}: {answer.output}"


def begins(written: str, printed: str) -> bool:
    """Whether a printed line begins with what a document shows of it, word by word: runs repeat exactly."""
    words, all_words = written.split(), printed.split()
    return words == all_words[: len(words)]


def test_shown_output_is_compared() -> None:
    assert begins("cubic 9.592 54", "cubic  9.592  54  0")
    assert not begins("cubic 9.59 54", "cubic  9.592  54  0")
    assert not begins("cubic 9.59", "bbr  9.59")
    assert not begins("a b", "a")


@pytest.mark.usefixtures("elsewhere")
def test_the_guide_works_from_top_to_bottom() -> None:
    """Its files are written, its commands run in order, and what it shows of their output is there."""
    output: list[str] = []
    counts = {"files": 0, "commands": 0, "lines": 0}
    for block in [block for block in blocks("toml", "sh", "text", "python") if block.document == "guide.md"]:
        if block.language == "toml" and (name := file_of(block)):
            Path(name).write_text(block.text, encoding="utf-8")
            counts["files"] += 1
        elif block.language == "sh":
            output = []
            for words in commands(block.text):
                answer = CliRunner().invoke(app, words)
                assert answer.exit_code == 0, f"{block}: {answer.output}"
                output += answer.stdout.splitlines()
                counts["commands"] += 1
        elif block.language == "text" and output:
            for line in block.text.splitlines():
                assert any(begins(line, printed) for printed in output), f"{block}: {line}\n" + "\n".join(
                    output
                )
                counts["lines"] += 1
            output = []
    assert counts["files"] == 3
    assert counts["commands"] >= 9
    assert counts["lines"] >= 25
    for file in (
        "results/abilene/report.html",
        "results/abilene/flows.parquet",
        "results/reaction/study.xlsx",
    ):
        assert Path(file).is_file()


@pytest.mark.usefixtures("elsewhere")
def test_what_other_pages_show_of_their_commands_comes_out() -> None:
    """Behind commands their output, or a file that they have written."""
    shown = [block for block in blocks("sh", "text") if block.document != "guide.md"]
    counted = 0
    for command, text in pairwise(shown):
        output_commands = (
            commands(command.text) if (command.language, text.language) == ("sh", "text") else []
        )
        if not output_commands or command.document != text.document:
            continue
        printed: list[str] = []
        for words in output_commands:
            answer = CliRunner().invoke(app, words)
            assert answer.exit_code == 0, f"{command}: {answer.output}"
            printed += answer.stdout.splitlines()
            if "--out" in words:
                files = Path(words[words.index("--out") + 1]).rglob("*.txt")
                printed += [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        missing = [line for line in text.text.splitlines() if not any(begins(line, one) for one in printed)]
        assert missing == [], f"{text}: {missing}\n" + "\n".join(printed)
        counted += 1
    assert counted >= 2


def test_the_table_of_the_demonstration_is_what_comes_out() -> None:
    (table,) = [block for block in blocks("text") if block.text.startswith("One transfer")]
    demo = runpy.run_path(str(ROOT / "examples" / "demo.py"))
    rows = []
    for network, how, transport, scenario in demo["scenarios"]():
        flow = scenario.run().flows.row(0, named=True)
        numbers = (format(flow[column], form) for column, (_, form) in demo["COLUMNS"].items())
        rows.append(" ".join([network, how, transport, *numbers]))
    assert len(rows) == 12
    shown = table.text.splitlines()[-len(rows) :]
    assert [line for line in shown if not any(begins(line, row) for row in rows)] == []


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of results that examples in Python read, as the command line names them."""
    folder = tmp_path_factory.mktemp("python")
    # Root is asked about what he has written himself, too: this is the answer.
    agree(Scenario.load(ROOT / "examples" / "learning" / "lossy.toml").trusted(), Needed.ALL)
    (folder / "examples").symlink_to(ROOT / "examples")
    Scenario.load(ROOT / "examples" / "sdn_incast.toml").run(out=folder / "results/sdn_incast")
    Scenario.load(ROOT / "examples" / "abilene.toml", {"run.duration": "1 s"}).run(
        out=folder / "results/abilene"
    )
    queues = tomllib.loads((ROOT / "examples" / "studies" / "queues.toml").read_text(encoding="utf-8"))
    dumbbell = Scenario.load(ROOT / "examples" / "dumbbell.toml", {"run.duration": "2 s"})
    small = {"replications": 2, "scenario": dumbbell.data(), "output": {"figures": []}}
    Study.from_data(queues | small).run(out=folder / "results/queues")
    return folder


@pytest.mark.parametrize("document", dict.fromkeys(block.document for block in blocks("python")))
def test_python_in_a_document_runs(document: str, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(results)
    # What a page has defined once it goes on with.
    names: dict[str, object] = {}
    for block in [block for block in blocks("python") if block.document == document]:
        exec(compile(block.text, str(block), "exec"), names)  # noqa: S102 - our own example
        plt.close("all")
        written = re.findall(r'(?:Path|\.save)\("([\w./-]+\.\w+)"\)|out="([\w./-]+)"', block.text)
        for name in map("".join, written):
            assert (results / name).exists(), f"{block}: {name}"


def test_the_python_of_the_readme_prints_what_it_says(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = [block for block in blocks("python") if block.document == "README.md"]
    monkeypatch.chdir(results)
    exec(compile(block.text, "README.md", "exec"), {})  # noqa: S102 - our own example
    assert capsys.readouterr().out.count("Mbps") == 2


def test_the_mistake_in_python_is_told_as_the_guide_shows(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guide = [block for block in blocks("python", "text") if block.document == "guide.md"]
    ((code, shown),) = [pair for pair in pairwise(guide) if "except ScenarioError" in pair[0].text]
    monkeypatch.chdir(results)
    exec(compile(code.text, "guide.md", "exec"), {})  # noqa: S102 - our own example
    assert shown.text.splitlines() == capsys.readouterr().out.splitlines()[-2:]


def test_the_written_pages_are_what_the_program_says(tmp_path: Path) -> None:
    """The reference, the commands, and the columns of tables: "make reference" writes them."""
    command = [sys.executable, str(ROOT / "docs" / "generate"), str(tmp_path)]
    subprocess.run(command, check=True, timeout=60)  # noqa: S603 - our own program
    for name in ("reference.md", "commands.md", "results.md", "capture.md"):
        fresh, kept = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, ROOT / "docs"))
        assert fresh == kept, f"docs/{name} is stale: make reference"


def test_every_field_has_a_description() -> None:
    counted = 0
    for model in (Scenario, Study):
        schema = model.model_json_schema()
        for name, table in {**schema["$defs"], model.__name__: schema}.items():
            for field, node in table.get("properties", {}).items():
                counted += 1
                described = node.get("description") or schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
                assert described, f"{name}.{field}"
    assert counted > 200


def test_the_picture_is_light() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(pictures) == 1
    assert 20_000 < (ROOT / pictures[0]).stat().st_size < 300_000
