"""Small networks whose exports are known by hand, and machines in namespaces that load them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from anabranch import Scenario

EDGES = (("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("b", "c"))


def diamond(routing: str, *, more: str = "", loss: str = "0.001") -> Scenario:
    """Routers a, b, c, d: a - b - d, a - c - d and a cross link b - c; a sends to d, b sends to d."""
    nodes = "".join(f'[[network.node]]\nname = "{name}"\n' for name in "abcd")
    links = "".join(f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\n' for a, b in EDGES)
    return Scenario.loads(
        f"""
title = "Diamond"
{nodes}{links}
[network.links]
capacity = "10 Mbps"
delay = "1.25 ms"
loss = {loss}
weight = 4
[[traffic]]
from = "a"
to = "d"
size = "10 kB"
[[traffic]]
from = "b"
to = "d"
size = "10 kB"
{more}
[run]
duration = "1 s"
[routing]
{routing}
"""
    )


def given(*paths: tuple[str, float]) -> str:
    """The scheme of these paths, each as letters of nodes with a weight."""
    tables = "".join(
        f"[[routing.paths]]\nnodes = [{', '.join(f'{chr(34)}{node}{chr(34)}' for node in nodes)}]\n"
        f"weight = {weight}\n"
        for nodes, weight in paths
    )
    return f'scheme = "given"\n{tables}'


SPLIT = given(("abd", 3), ("acd", 1), ("bd", 1))
"""By destination: a splits 3 to 1, and b sends on directly."""
CROSSED = given(("abd", 1), ("abcd", 1), ("acd", 2), ("bd", 1))
"""Not by destination: at b, half of what comes from a goes to c, and of b's own nothing."""


def needs(*programs: str, root: bool = True) -> None:
    """Skips where a program is missing, or namespaces may not be made."""
    for program in programs:
        if shutil.which(program) is None and not Path(program).exists():
            pytest.skip(f"not installed: {program}")
    if root and os.geteuid() != 0:
        pytest.skip("needs root: for network namespaces")


def sh(*command: str, check: bool = True, cwd: Path | None = None) -> str:
    """What a command writes.

    Raises:
        AssertionError: if it fails, with what it says.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd, check=False)
    assert not check or done.returncode == 0, f"{' '.join(command)}: {done.stderr}{done.stdout}"
    return done.stdout


@contextmanager
def namespaces(*names: str) -> Iterator[None]:
    """Network namespaces of these names, which are gone afterwards."""
    try:
        for name in names:
            sh("ip", "netns", "add", name)
            sh("ip", "-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in names:
            sh("ip", "netns", "del", name, check=False)


def inside(name: str, *command: str, check: bool = True, cwd: Path | None = None) -> str:
    """What a command writes in a namespace."""
    return sh("ip", "netns", "exec", name, *command, check=check, cwd=cwd)
