"""Mutants of code that a scenario names: the five kinds of classes, with and without consent.

The code leaves a canary, a file ``ran``, as soon as it runs. A received folder asks for consent whoever
calls, so that without ``--trust`` there must be none.
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import mutation

CANARY = "ran"
RECEIVED = "received"
_LEAVE = "open({canary!r}, 'w').close()\n"
_ENDS = (
    "import sys; sys.exit(0)",
    "import sys; sys.exit('\\x1b[2J' * 3)",
    "raise SystemExit(1)",
    "import os; os._exit(0)",
    "import os; os._exit(7)",
    "import os; os.abort()",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "import os, signal; os.killpg(0, signal.SIGKILL)",
    "import signal; signal.raise_signal(signal.SIGABRT)",
    "import os, sys; os.execv(sys.executable, [sys.executable, '--version'])",
    "exit()",
)
"""What would end the program."""
_RAISES = (
    "raise ValueError('\\x1b]0;title\\x07 \\u202e')",
    "raise Exception",
    "raise KeyboardInterrupt",
    "raise BaseException('none of ours')",
    "raise GeneratorExit",
    "raise StopIteration",
    "raise RecursionError",
    "raise MemoryError",
    "raise BrokenPipeError(32, 'x')",
    "raise ExceptionGroup('several', [ValueError(1), OSError(2)])",
    "class E(Exception):\n    def __str__(self): raise ValueError('of its own words')\nraise E",
    "assert False",
    "1 / 0",
    "undefined",
    "import no_such_module",
    "def f(): f()\nf()",
)
_PRINTS = (
    "while True: print('\\x1b[2J\\x9b31m', flush=True)",
    "import sys\nwhile True: sys.stderr.write('\\x1b]0;title\\x07')",
    "print('\\x1b[31mred\\x1b[0m \\u202e \\x00')",
    "import sys; sys.stdout.buffer.write(b'\\x1b[2J\\xff')",
    "import sys; sys.stdout.close()",
    "import sys; sys.stderr = None",
    "import warnings; warnings.warn('\\x1b[2J')",
    "import sys; sys.stdout = sys.__stdout__",
    "import sys; print('\\x1b[2J', file=sys.__stdout__, flush=True)",
    "import sys; sys.__stderr__.write('\\x1b]0;title\\x07')",
)
_VALUES = (
    "None", "-1", "0", "2**70", "float('nan')", "float('inf')", "'text'", "b'x'", "[]", "[None]", "{}",
    "object()", "lambda: 0", "iter(())", "(1, 2, 3)", "[[]] * 9", "['a', 'b']", "type('X', (), {})()",
    "NotImplemented", "True",
)  # fmt: skip
"""What a hook may return in place of what is asked for."""


def write_seeds(folder: Path) -> None:
    """The files that ``anabranch new`` writes, for each kind, with shorter runs."""
    from anabranch.own.kinds import KINDS  # noqa: PLC0415 - the worker limits its memory after it is imported
    from anabranch.own.new import new  # noqa: PLC0415

    for kind in KINDS:
        new(kind, "mine", folder / kind)
        for name, field, value in (("mine", "duration", '"300 ms"'), ("mine_study", "replications", "1")):
            file = folder / kind / f"{name}.toml"
            text = file.read_text(encoding="utf-8")
            file.write_text(re.sub(rf"^{field} = .*$", f"{field} = {value}", text, flags=re.MULTILINE))


def mutant(draw: random.Random, folder: Path, seeds: Path) -> list[str]:
    """A received scenario with a class of the sender's own that is not what it should be."""
    kind = draw.choice(sorted(place.name for place in seeds.iterdir()))
    trusted = draw.random() < 0.75
    place = folder / RECEIVED
    shutil.copytree(seeds / kind, place)
    (place / "manifest.json").write_text('{"format": "anabranch-manifest", "format_version": 2, "files": {}}')
    file = place / "mine.py"
    source = file.read_text(encoding="utf-8")
    others = [
        (seeds / other / "mine.py").read_bytes() for other in sorted(place.name for place in seeds.iterdir())
    ]
    file.write_bytes(_leaving(folder) + _changed(draw, source, draw.choice(others)))
    command = draw.choice(("run", "run", "run", "routes", "study"))
    arguments = {
        "run": ["run", f"{RECEIVED}/mine.toml", "--no-page", "--out", "out"],
        "routes": ["routes", f"{RECEIVED}/mine.toml"],
        "study": ["study", f"{RECEIVED}/mine_study.toml", "--jobs", "1", "--out", "out"],
    }[command]
    return arguments + ["--json"] * (draw.random() < 0.2) + ["--trust"] * trusted


def _leaving(folder: Path) -> bytes:
    return _LEAVE.format(canary=str(folder / CANARY)).encode()


def _changed(draw: random.Random, source: str, other: bytes) -> bytes:
    kind = draw.randrange(6)
    if kind == 0:
        return mutation.of_bytes(draw, source.encode(), other)
    if kind == 1:
        return mutation.of_words(draw, source.encode(), other)
    if kind == 2:
        return _with_value(draw, source).encode()
    statement = draw.choice((_ENDS, _RAISES, _PRINTS)[kind - 3])
    return _with_statement(draw, source, statement).encode()


def _with_statement(draw: random.Random, source: str, statement: str) -> str:
    """A statement at the top, or at the beginning of a method."""
    lines = source.splitlines()
    places = [
        number for number, line in enumerate(lines) if line.startswith("    def ") and line.endswith(":")
    ]
    if not places or draw.random() < 0.3:
        return f"{source}\n{statement}\n"
    at = draw.choice(places) + 1
    lines[at:at] = [f"        {part}" for part in statement.splitlines()]
    return "\n".join(lines) + "\n"


def _with_value(draw: random.Random, source: str) -> str:
    """Another value in an assignment or in what a method returns; or a class that is none."""
    if draw.random() < 0.15:
        return f"{source}\nMine = {draw.choice(_VALUES)}\n"
    lines = source.splitlines()
    places = [
        number
        for number, line in enumerate(lines)
        if line.startswith("        ") and (line.lstrip().startswith("return ") or " = " in line)
    ]
    value = draw.choice(_VALUES)
    if not places:
        return _with_statement(draw, source, f"return {value}")
    at = draw.choice(places)
    head = (
        "return"
        if lines[at].lstrip().startswith("return ")
        else lines[at].lstrip().partition(" = ")[0] + " ="
    )
    indent = len(lines[at]) - len(lines[at].lstrip())
    lines[at] = f"{' ' * indent}{head} {value}"
    return "\n".join(lines) + "\n"
