"""What the tests of comparisons share: a ring of four routers, small enough to reckon by hand."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

RING = """
title = "a ring of four"
[network]
[network.links]
capacity = "4 Mbps"
delay = "1 ms"
[network.access]
capacity = "100 Mbps"
delay = "0.1 ms"
{nodes}
[[network.link]]
between = ["a", "b"]
new = true
[[network.link]]
between = ["b", "c"]
new = true
[[network.link]]
between = ["c", "d"]
new = true
[[network.link]]
between = ["d", "a"]
new = true
[[network.link]]
between = ["host a", "a"]
new = true
[[network.link]]
between = ["host b", "b"]
new = true
{demand}
[[traffic]]
name = "long"
from = "host a"
to = "host b"
transport = "cubic"
[[traffic]]
name = "short"
from = "host b"
to = "host a"
flows = 3
inter_arrival = "300 ms"
size = "20 kB"
transport = "cubic"
{more}
[run]
duration = "2 s"
"""
"""Between neighbours a and b there is one hop, and the way round over d and c with three."""

NODES = "".join(f'[[network.node]]\nname = "{name}"\n' for name in "abcd") + "".join(
    f'[[network.node]]\nname = "host {name}"\nkind = "host"\n' for name in "ab"
)

Write = Callable[..., Path]
Anabranch = Callable[..., subprocess.CompletedProcess[str]]

_PROGRAM = [sys.executable, "-c", "from anabranch.terminal.cli import app; app()"]
_ENVIRONMENT = {**os.environ, "NO_COLOR": "1"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the ring as a scenario into the test's folder."""

    def do(*, demand: str = "", more: str = "", name: str = "ring.toml") -> Path:
        (tmp_path / name).write_text(RING.format(nodes=NODES, demand=demand, more=more))
        return tmp_path / name

    return do


@pytest.fixture
def interrupted(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Starts the command line, presses Ctrl-C when a run is done, and gives its status and what it said."""

    def call(*arguments: str | Path) -> tuple[int, str]:
        with subprocess.Popen(  # noqa: S603 - our own program
            [*_PROGRAM, *map(str, arguments)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=_ENVIRONMENT,
        ) as process:  # fmt: skip
            deadline = time.monotonic() + 120
            while not any(file.stat().st_size for file in tmp_path.glob("*/studies/*/journal.jsonl")):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline, "no run was done in two minutes"
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
            return process.returncode, said

    return call
