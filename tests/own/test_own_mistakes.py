"""Mistakes in congestion controls of the user's own: one message, with the place in the user's code."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from own_runs import DUMBBELL, SIMPLE, scenario

from anabranch import Scenario, ScenarioError, Study, StudyError
from anabranch.errors import OwnCodeError

MINE = '{ python = "mine:Simple" }'
PLACE = "s.toml: transport.mine.congestion_control: "

REFUSED = {
    "no class": (SIMPLE, '{ python = "mine" }', '"mine" names no class; write "module:Class"'),
    "no module": (
        SIMPLE,
        '{ python = "mien:Simple" }',
        'there is no module "mien": neither in {base}/ and {here}/ nor among installed packages',
    ),
    "no file": (SIMPLE, '{ python = "no/such.py:Simple" }', '"no/such.py" cannot be read: No such file'),
    "another class": (
        SIMPLE,
        '{ python = "mine:Simpel" }',
        '"mine" has no class "Simpel"; nearest: "Simple"',
    ),
    "no base": (
        SIMPLE.replace("(CongestionControl)", ""),
        MINE,
        "Simple is no congestion control; write class Simple(anabranch.own.CongestionControl)",
    ),
    "no hook of ACKs": (
        SIMPLE.replace("on_ack", "ack"),
        MINE,
        "Simple must have either on_ack(ack) or on_report(report)",
    ),
    "no hook of losses": (SIMPLE.replace("on_loss", "loss"), MINE, "Simple lacks on_loss(episode)"),
    "misspelled": (
        SIMPLE + "\n        def on_timeot(self, episode, first): ...",
        MINE,
        'Simple.on_timeot is no hook; nearest: "on_timeout"',
    ),
    "other arguments": (SIMPLE.replace("self, ack", "self"), MINE, "Simple.on_ack must take ack"),
    "unknown parameter": (
        SIMPLE,
        '{ python = "mine:Simple", gian = 2 }',
        'Simple has no parameter "gian"; nearest: "gain"',
    ),
    "text for a number": (
        SIMPLE,
        '{ python = "mine:Simple", gain = "2" }',
        'Simple.gain: "2" is not a number; write it without quotes (float)',
    ),
    "a bound": (
        SIMPLE.replace("gain: float", "gain: Annotated[float, Field(gt=0)]").replace(
            "from dataclasses",
            "from typing import Annotated\n    from pydantic import Field\n    from dataclasses",
        ),
        '{ python = "mine:Simple", gain = -1.0 }',
        "Simple.gain: -1.0 must be above 0",
    ),
    "a name that is no type": (
        SIMPLE.replace("gain: float", 'gain: "flaot"'),
        '{ python = "mine:Simple", gain = 2.0 }',
        "Simple: the types of gain cannot be read: NameError: name 'flaot' is not defined",
    ),
    "a type that cannot be checked": (
        SIMPLE.replace("gain: float = 1.0", "gain: type(iter([])) = 1.0"),
        '{ python = "mine:Simple", gain = 2.0 }',
        "Simple.gain: its type <class 'list_iterator'> is none that can be checked: Unable to generate",
    ),
    "an ability that is no truth value": (
        SIMPLE + "\n        measures_rate = 3",
        MINE,
        "Simple.measures_rate must be True or False",
    ),
    "a class that fails when it is looked at": (
        SIMPLE.replace(
            "    @dataclass\n",
            """
    class Shy(type):
        def __getattribute__(cls, name):
            if name == "on_ack":
                raise RuntimeError("do not look at me")
            return super().__getattribute__(name)


    @dataclass
""",
        ).replace("(CongestionControl)", "(CongestionControl, metaclass=Shy)"),
        MINE,
        "<class '",
    ),
    "no dataclass": (
        SIMPLE.replace("@dataclass", ""),
        '{ python = "mine:Simple", gain = 2 }',
        'Simple has no parameter "gain"; parameters are the fields of a dataclass',
    ),
    "refused by the class": (
        SIMPLE + '\n        def __post_init__(self):\n            raise ValueError("gain is odd")',
        MINE,
        "Simple: gain is odd",
    ),
    "no Python": (
        SIMPLE.replace("def on_ack", "def def"),
        MINE,
        '"mine" cannot be imported: mine.py, line 11: ',
    ),
    "another module is missing": (
        "\n    import no_such_module\n" + SIMPLE,
        MINE,
        "\"mine\" cannot be imported: ModuleNotFoundError: No module named 'no_such_module'\n"
        '  File "{base}/mine.py", line 2, in <module>',
    ),
    "an error in the module": (
        SIMPLE + "\n    1 / 0",
        MINE,
        '"mine" cannot be imported: ZeroDivisionError: division by zero\n  File "{base}/mine.py", line ',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_refused_before_the_run(case: str, module: Callable[[str], Path]) -> None:
    text, control, message = REFUSED[case]
    base = module(text)
    with pytest.raises(ScenarioError) as refused:
        scenario(control, base).run()
    expected = PLACE + message.format(base=base, here=Path.cwd())
    assert str(refused.value).startswith(expected), str(refused.value)
    assert "anabranch/own" not in str(refused.value)


FAILING = {
    "an exception": ("self.cwnd_bytes / 0", "ZeroDivisionError"),
    "one that is none of Exception": ("raise BaseException('none')", "BaseException: none"),
    "one that fails to say what it is": (
        "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})",
        "E: <its __str__ raises ZeroDivisionError>",
    ),
    "a negative window": ("self.cwnd_bytes = -1", "has set cwnd_bytes to -1; it must be a number of bytes"),
    "no number": ("self.cwnd_bytes = float('nan')", "has set cwnd_bytes to nan; it must be"),
    "a text": ("self.ssthresh_bytes = 'big'", "has set ssthresh_bytes to 'big'; it must be"),
    "no rate": (
        "self.pacing_bps = 0",
        "has set pacing_bps to 0; it must be None, or bits per second from 1 on",
    ),
    "an endless rate": ("self.pacing_bps = float('inf')", "has set pacing_bps to inf; it must be None"),
    "a panic": ("raise SystemExit(3)", "SystemExit: it would end the program that runs it, with status 3"),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failure_in_the_middle_names_its_line(case: str, module: Callable[[str], Path]) -> None:
    statement, message = FAILING[case]
    base = module(SIMPLE.replace("self.reduce(episode)", statement))
    with pytest.raises(OwnCodeError) as failed:
        scenario(MINE, base).run()
    text = str(failed.value)
    assert text.startswith("Simple.on_loss, at "), text
    assert message in text
    line = next(
        n for n, line in enumerate((base / "mine.py").read_text().splitlines(), 1) if "on_loss" in line
    )
    raised = not message.startswith("has set")
    assert f'File "{base}/mine.py", line {line + raised}, in on_loss' in text
    assert "site-packages" not in text
    assert "python/anabranch" not in text


def test_a_failure_at_the_start_is_told(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE + "\n        def start(self):\n            self.nothing\n")
    with pytest.raises(OwnCodeError, match=r"Simple.start, at 0 s of the run: AttributeError"):
        scenario(MINE, base).run()
    with pytest.raises(OwnCodeError, match=r"Simple.start"):
        scenario(MINE, base).start()


def test_a_step_fails_as_a_run_does(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE.replace("self.reduce(episode)", "raise KeyError('lost')"))
    stepped = scenario(MINE, base).start()
    with pytest.raises(OwnCodeError, match="KeyError: 'lost'"):
        stepped.advance("5 s")


def test_the_next_run_is_not_touched_by_a_failure(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE)
    before = scenario(MINE, base).run()
    module(SIMPLE.replace("self.reduce(episode)", "1 / 0"))
    with pytest.raises(OwnCodeError):
        scenario(MINE, base).run()
    module(SIMPLE)
    assert scenario(MINE, base).run().flows.equals(before.flows)


def command(base: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", *arguments],
        cwd=base,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def written(base: Path, control: str = MINE) -> None:
    mine = f'[transport.mine]\npreset = "newreno"\ncongestion_control = {control}\n'
    (base / "s.toml").write_text(DUMBBELL + mine)


def test_the_command_says_one_message_and_no_traceback_of_ours(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE.replace("self.reduce(episode)", "1 / 0"))
    written(base)
    process = command(base, "run", "s.toml", "--out", "r", "--trust")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Simple.on_loss, at " in said
    assert "ZeroDivisionError: division by zero" in said
    assert "Traceback" not in said
    assert not (base / "r").exists()


@pytest.mark.parametrize("steps", [1, 2])
def test_an_endless_loop_hears_ctrl_c(steps: int, module: Callable[[str], Path]) -> None:
    base = module(
        SIMPLE.replace("self.reduce(episode)", "open('here', 'w').close()\n            while True: pass")
    )
    written(base)
    process = command(base, "run", "s.toml", "--out", "r", "--trust")
    deadline = time.monotonic() + 30
    while not (base / "here").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    for _ in range(steps):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.2)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "interrupted; it was in mine.py, line 16, Simple.on_loss, at " in said
    assert "Traceback" not in said


def test_a_study_tells_a_failing_class_before_it_runs(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE + "\n        def start(self):\n            1 / 0\n")
    with pytest.raises(StudyError, match=r"Simple.start, at 0 s of the run: ZeroDivisionError"):
        study(base).run(1, trust=True)


def test_a_study_keeps_the_reason_of_a_failing_run(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE.replace("self.reduce(episode)", "1 / 0"))
    runs = study(base).run(1, trust=True).runs
    assert runs["status"].unique().to_list() == ["failed"]
    assert "Simple.on_loss, at " in runs["reason"][0]


def test_a_class_that_no_worker_can_import_is_refused(module: Callable[[str], Path]) -> None:
    base = module(SIMPLE)
    made = {}
    exec(textwrap.dedent(SIMPLE), {"__name__": "__main__"}, made)  # noqa: S102 - as a notebook does
    main = sys.modules["__main__"]
    main.Simple = made["Simple"]  # type: ignore[attr-defined]
    try:
        control = '{ python = "__main__:Simple" }'
        assert scenario(control, base).run().flows.height == 2
        with pytest.raises(StudyError, match="Simple cannot be sent to workers; put it into a file"):
            study(base, control).run(1, trust=True)
    finally:
        del main.Simple  # type: ignore[attr-defined]


def test_two_scenarios_with_the_same_name_of_a_module_have_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, factor in zip(folders, (0.5, 0.9), strict=True):
        folder.mkdir()
        changed = SIMPLE.replace("self.reduce(episode)", f"self.reduce(episode, {factor})")
        (folder / "mine.py").write_text(textwrap.dedent(changed))
    one, two = (scenario(MINE, folder).run().flows for folder in folders)
    assert not one.equals(two)


def study(base: Path, control: str = MINE) -> Study:
    written(base, control)
    return Study(
        title="",
        scenario=Scenario.load(base / "s.toml"),
        metrics=[{"name": "goodput", "table": "flows", "column": "goodput_mbps"}],
    )
