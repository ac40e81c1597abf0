"""What a command imports before it does anything, and how long that takes."""

import json
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import anabranch
from anabranch.terminal import cli

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "examples" / "first.toml"
# With what each version of typer stands on.
COMMAND_LINE = {
    "anabranch", "annotated_doc", "click", "markdown_it", "mdurl", "pygments", "rich", "shellingham", "typer",
}  # fmt: skip
RUN = COMMAND_LINE | {
    "numpy", "polars", "tomli_w", "topohub", "typing_extensions",
}  # fmt: skip
# Prints what is imported when the program ends and was not there when it began.
PROBE = """
import sys
before = set(sys.modules)
try:
    {action}
finally:
    import json
    new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
    parts = {{name for name in sys.modules if name.startswith("anabranch")}}
    print(json.dumps([sorted(new - sys.stdlib_module_names), sorted(parts)]))
"""


def imported(action: str, *arguments: str) -> tuple[set[str], set[str]]:
    """The packages and the parts of ours that a Python statement imports, with these arguments."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROBE.format(action=action), *arguments],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    packages, parts = json.loads(done.stdout.splitlines()[-1])
    # A leading underscore is a package's compiled half, or what the environment puts in every process.
    return {name for name in packages if not name.startswith("_")}, set(parts)


def command(*arguments: str) -> tuple[set[str], set[str]]:
    """The same of a command."""
    return imported("from anabranch.terminal.cli import main; main()", *arguments)


def cpu_seconds(*arguments: str) -> float:
    """Processor time of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True, timeout=120)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def times_as_long(arguments: list[str], unit: list[str], most: float) -> float:
    """How many times the processor time of one process another takes, by the least of both, measured in turn.

    Three rounds, and up to nine while it is above ``most``: a shared machine is half as fast for seconds.
    """
    ours: list[float] = []
    units: list[float] = []
    while len(ours) < 3 or (len(ours) < 9 and min(ours) >= most * min(units)):
        units.append(cpu_seconds(*unit))
        ours.append(cpu_seconds(*arguments))
    return min(ours) / min(units)


def test_the_package_alone_imports_nothing_else() -> None:
    # Not even the core: until the next module decides what Ctrl-C does, Python answers it with a traceback.
    assert imported("import anabranch") == ({"anabranch"}, {"anabranch"})


def test_the_version_needs_the_command_line_alone() -> None:
    packages, parts = command("--version")
    assert {"typer"} < packages <= COMMAND_LINE
    assert parts == {
        "anabranch", "anabranch._core", "anabranch.errors", "anabranch.process", "anabranch.process.console",
        "anabranch.process.foreign", "anabranch.process.real_path", "anabranch.process.signals",
        "anabranch.terminal", "anabranch.terminal.cli", "anabranch.terminal.command_group",
        "anabranch.terminal.command_options",
        "anabranch.terminal.brief_command", "anabranch.terminal.capacity_command",
        "anabranch.terminal.capture_command", "anabranch.terminal.evaluate_command",
        "anabranch.terminal.export_command", "anabranch.terminal.fit_command",
        "anabranch.terminal.given_files", "anabranch.terminal.import_command",
        "anabranch.terminal.transfers_command", "anabranch.terminal.weights_command",
        "anabranch.terminal.manual_commands", "anabranch.terminal.new_command",
        "anabranch.terminal.report_command", "anabranch.terminal.values",
        "anabranch.terminal.start_up", "anabranch.terminal.studio_command",
        "anabranch.terminal.topology_command", "anabranch.text",
        "anabranch.text.suggest",
        # Names that the help lists.
        "anabranch.export", "anabranch.export.formats", "anabranch.own", "anabranch.own.kinds",
        "anabranch.report", "anabranch.report.looks", "anabranch.media", "anabranch.media.palette",
    }  # fmt: skip


def test_a_run_without_its_page_imports_neither_solvers_nor_figures(tmp_path: Path) -> None:
    packages, parts = command(
        "run", str(FIRST), "--no-page", "--set", "run.duration=1 s", "--out", f"{tmp_path}/out"
    )
    # The core reads scenarios: pydantic checks parameters of the user's own code alone.
    assert {"numpy", "polars", "typer"} < packages <= RUN
    others = ("models", "plans.forwarding", "plans.predictions", "plans.worst_loads", "report.html",
              "report.plots", "routing.robust", "routing.tcpbp_exact", "runs.capture", "setup.given", "study",
              "topology.describe", "topology.sources.hub_zoo", "topology.sources.sndlib",
              "topology.traffic")  # fmt: skip
    assert not {part for part in parts if part.removeprefix("anabranch.").startswith(others)}
    assert not (tmp_path / "out" / "report.html").exists()
    assert (tmp_path / "out" / "flows.parquet").is_file()


def test_a_run_with_its_page_imports_no_figures(tmp_path: Path) -> None:
    packages, parts = command("run", str(FIRST), "--set", "run.duration=1 s", "--out", f"{tmp_path}/out")
    # jinja2 fills the page's template.
    assert {"jinja2"} < packages <= RUN | {"jinja2", "markupsafe"}
    assert not {"anabranch.report.style", "anabranch.report.plots"} & parts
    assert (tmp_path / "out" / "report.html").is_file()


def test_the_page_of_a_study_waits_for_its_own_figures() -> None:
    """The list above can tell: a study's page is drawn by matplotlib."""
    packages, _ = imported("import anabranch.report.html.study_data")
    assert "matplotlib" in packages


def test_a_scenario_imports_neither_what_runs_it_nor_arrays() -> None:
    packages, parts = imported("import anabranch; anabranch.Scenario, anabranch.Traffic")
    assert packages <= RUN - {"numpy", "polars", "topohub"} - COMMAND_LINE | {"anabranch"}
    parts = {part for part in parts if not part.startswith("anabranch.scenario")}
    assert parts == {
        "anabranch", "anabranch._core", "anabranch.api", "anabranch.api.scenario", "anabranch.errors",
        "anabranch.text", "anabranch.text.suggest",
    }  # fmt: skip


def test_a_scenario_that_wants_a_solver_imports_it() -> None:
    """The list above can tell: what the run did without is there where a scheme needs it."""
    packages, _ = command("routes", str(ROOT / "examples" / "robust_nsfnet.toml"))
    assert {"scipy", "highspy"} <= packages


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        # Seen: 0.7, 3.0, 3.8 and 0.6 times, in CPU time on a busy machine.
        (["-m", "anabranch", "--version"], 1.5),
        (["-m", "anabranch", "run", str(FIRST), "--no-page", "--out", "OUT"], 5.0),
        (["-m", "anabranch", "run", str(FIRST), "--out", "OUT"], 6.5),
        (["-c", "import anabranch; anabranch.Scenario"], 2.0),
    ],
)
def test_the_start_takes_little_more_than_what_it_stands_on(
    tmp_path: Path, arguments: list[str], most: float
) -> None:
    """In units of what numpy takes to import, because machines differ."""
    given = [str(tmp_path / "out") if word == "OUT" else word for word in arguments]
    assert times_as_long(given, ["-c", "import numpy"], most) < most


def test_a_command_makes_no_options_of_others() -> None:
    """Nor does it change the application, which other programs may call several times in one process."""
    before = len(cli.app.registered_commands)
    lean = cli._with_one(["run"])
    assert [info.callback for info in lean.registered_commands] == [cli.run]
    assert cli._with_one(["topology"]) is cli._with_one([]) is cli.app
    assert len(cli.app.registered_commands) == before > 10


def ended(program: str, *arguments: str) -> str:
    """The last line that a Python program prints."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=120
    )  # fmt: skip
    return done.stdout.splitlines()[-1]


def test_a_short_command_does_not_look_for_garbage(tmp_path: Path) -> None:
    program = """
import atexit, gc
atexit.register(lambda: print(sum(each["collections"] for each in gc.get_stats()) - before))
from anabranch.__main__ import main
before = sum(each["collections"] for each in gc.get_stats())
main()
"""
    assert ended(program, "run", str(FIRST), "--out", str(tmp_path / "out")) == "0"


def test_a_long_command_looks_for_garbage_as_usual() -> None:
    program = """
import gc, sys
usual = gc.get_threshold()
from anabranch.terminal import cli
from anabranch.__main__ import main
cli.main = lambda: None
main()
class Circle:
    def __init__(self): self.own = self
delayed, most = gc.get_threshold() != usual, 0
for _ in range(400_000):
    Circle()
    most = max(most, gc.get_count()[0])
again, last = gc.get_threshold() == usual, gc.get_count()[0]
print(delayed, again, most < 300_000, last < 1000, gc.get_freeze_count() > 0)
"""
    assert ended(program) == "True True True True True"


def test_every_public_name_is_there() -> None:
    for name in anabranch.__all__:
        assert getattr(anabranch, name) is not None
    assert anabranch.__version__ == version("anabranch")
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        anabranch.runn  # noqa: B018


def test_nothing_is_imported_before_ctrl_c_is_quiet() -> None:
    """Ctrl-C meets any import before that as a traceback, also of what Python has built in."""
    program = """
import sys, anabranch
before = set(sys.modules)
import anabranch.__main__
print(sorted(set(sys.modules) - before))
"""
    assert ended(program) == "['anabranch.__main__']"
    foreign, parts = imported("import anabranch.__main__")
    assert foreign == {"anabranch"}
    assert parts == {"anabranch", "anabranch.__main__"}
