"""The documents against the program: every column, parameter and example is explained."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch.topology.generators import GENERATORS, Generator

ROOT = Path(__file__).parents[2]
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


def columns(markdown: str) -> dict[str, set[str]]:
    """The columns that docs/results.md explains, by table: rows of a table under a heading in code."""
    entries = {}
    for name, section in re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", markdown, re.MULTILINE | re.DOTALL):
        first_cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
        entries[name] = {column for cell in first_cells for column in re.findall(r"`(\w+)`", cell)}
    return entries


def test_every_column_is_explained(tmp_path: Path) -> None:
    explained = columns((ROOT / "docs" / "results.md").read_text(encoding="utf-8"))
    measured = {}
    extras = {"run.sequences": '"*"', "controller.statistics_interval": "1 ms", "run.duration": "2 ms"}
    sdn = Scenario.load(ROOT / "examples" / "sdn_incast.toml", extras)
    links = '[controller.links]\ncapacity = "10 Mbps"\ndelay = "1 ms"\n'
    tcpbp = Scenario.loads(TINY + '[controller]\napplication = "tcpbp"\n' + links)
    mptcp = Scenario.loads(TINY.replace("size =", 'transport = "mptcp"\nsize ='))
    hop_by_hop = Scenario.loads(TINY + '[routing]\nscheme = "ecmp"\n')
    log = Scenario.loads(TINY + 'log = "*"\n')
    ping = Scenario.loads(re.sub("size = .*", 'application = { kind = "ping" }', TINY))
    spray = 'from = ["left1", "right1"]\ntransport = "uet"\n'
    spray += 'collective = { operation = "all-gather", bytes = "10 kB" }\n'
    trims = TINY.replace('delay = "1 ms"\n', 'delay = "1 ms"\nqueue = "20 packets"\n', 1)
    trims = trims.replace('queue = "20 packets"', 'queue = { algorithm = "trim", limit = "20 packets" }')
    fabric = Scenario.loads(re.sub('from = "left1"\nto = .*\nsize = .*\n', spray, trims))
    for scenario in (Scenario.loads(TINY), hop_by_hop, sdn, tcpbp, mptcp, log, ping, fabric):
        tables = scenario.run(out=tmp_path / "out").tables
        measured |= {name: set(table.columns) for name, table in tables.items()}
    assert len(measured) == 26
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


def ratios(rows: str) -> list[float]:
    """The ratios to ns-3 of the rows of docs/validation.md whose scenario matches."""
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    total = text[: text.index("## The same: Jain")] + text[text.index("## One flow over a path") :]
    cells = re.findall(rf"^\| {rows} \|[^|]+\|[^|]+\| ([\d.]+) \|", total, re.MULTILINE)
    return [float(cell) for cell in cells]


def test_the_ratios_to_ns3_are_those_of_the_validation() -> None:
    newreno, cubic, bbr, deep = (
        ratios(f"dumbbell/{name}")[0] for name in ("newreno", "cubic", "bbr", "bbr-deep-queue")
    )
    quoted = f"{newreno} NewReno, {cubic} CUBIC, {deep} BBR ({bbr} with a short queue)"
    trust = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    assert quoted in trust
    for name, places, rows in (
        ("CUBIC", 3, "lossy/[^/]+/cubic[a-z-]*"),
        ("BBR", 3, "lossy/[^/]+/bbr"),
        ("NewReno", 2, "lossy/[^/]+/newreno(?:-ack-each)?"),
        ("of ns-3 without", 2, "lossy/[^/]+/newreno-repaired[a-z-]*"),
    ):
        outcome = ratios(rows)
        assert len(outcome) >= 3
        assert f"{min(outcome):.{places}f} to {max(outcome):.{places}f} {name}" in trust


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages and tables that follow from the program."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, str(ROOT / "docs" / "generate"), str(folder)]
    subprocess.run(command, check=True, timeout=120)  # noqa: S603
    return folder


def test_generated_pages_are_those_of_the_program(generated: Path) -> None:
    pages = sorted(generated.glob("*.md"))
    assert len(pages) >= 6
    stale = [page.name for page in pages if page.read_bytes() != (ROOT / "docs" / page.name).read_bytes()]
    assert stale == [], "make reference writes them anew"


def cut_tables(markdown: str) -> list[str]:
    """The rows behind a blank line that begin no table of their own: GitHub shows them as text."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^\|.*\|\n\n+(\|.*)\n(?!\|[ :|-]+\|$)", text, re.MULTILINE)


def test_no_table_is_cut_by_a_blank_line() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert len(pages) > 50
    cut = {page.name: rows for page in pages if (rows := cut_tables(page.read_text(encoding="utf-8")))}
    assert cut == {}


def test_a_cut_table_is_found() -> None:
    assert cut_tables("| a |\n|---|\n| 1 |\n\n| 2 |\n\ntext\n") == ["| 2 |"]
    assert cut_tables("| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |\n") == []
