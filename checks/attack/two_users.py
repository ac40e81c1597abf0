"""A second user of the machine who may write where root does: nothing of root's is touched.

Root (this process) runs commands in a folder that everybody may write to, with and without the sticky bit,
while a process of the user nobody looks for what appears there and puts links, folders and files of its own
under those names, before and during the commands. A precious file in a folder that only root may enter must
stay as it is. A round in which he could plant nothing shows nothing, and counts as wrong. Needs root. A test
tries some.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

NOBODY = 65534
_PATIENCE_S = 600.0
"""Real time, of which a loaded machine may need much: a command takes a second."""
PRECIOUS = "root's own\n"
COMMANDS = {
    "run": ("run", "plain.toml", "--out", "{shared}/res"),
    "run --replace": ("run", "plain.toml", "--no-page", "--out", "{shared}/res", "--replace"),
    "study": ("study", "study.toml", "--jobs", "1", "--out", "{shared}/res", "--replace"),
    "export": ("export", "plain.toml", "--to", "csv", "--out", "{shared}/res", "--replace"),
    "routes": ("routes", "plain.toml", "--csv", "{shared}/res"),
    "in a folder of the other's": ("run", "plain.toml", "--no-page", "--out", "{shared}/sub/res"),
    "through the other's link": ("run", "plain.toml", "--no-page", "--out", "{shared}/way/res"),
}
NAMES = (
    "summary.json", "flows.parquet", "scenario.toml", "manifest.json", "report.html", "ticket.json", "new",
    "runs.csv", "journal.jsonl", "study.json", "x.csv",
)  # fmt: skip
"""Files that commands write."""


WAYS = ("plants", "takes the place", "renames")
"""What the other user does: plants names beforehand, the place itself, or takes what appears."""


def plant(shared: Path, precious: Path, begun: int, trick: str) -> None:
    """Does what the other user does, until somebody ends it: links to root's file above all.

    Args:
        shared: the folder that everybody may write to.
        precious: root's file.
        begun: descriptor of a pipe, which gets a byte as soon as something is planted.
        trick: one of ``WAYS``.
    """
    names = [".res.partial", ".res.old", ".anabranch-0123456789abcdef", ".res.lock"]
    if trick == "takes the place":
        names.append("res")
    with suppress(OSError):
        (shared / "sub").mkdir(mode=0o777)
        (shared / "way").symlink_to(precious.parent)
    planted = False
    while True:
        seen = [entry for where in (shared, shared / "sub") for entry in _entries(where)]
        for place in (shared, shared / "sub"):
            for name in names:
                with suppress(OSError):
                    (place / name).mkdir(mode=0o777)
                for file in NAMES:
                    with suppress(OSError):
                        (place / name / file).symlink_to(precious)
                        if not planted:
                            planted = os.write(begun, b".") == 1
        for entry in seen if trick == "renames" else ():
            # Where nothing forbids it, what root has just made gets another name, and a link its name.
            with suppress(OSError):
                entry.rename(entry.with_name(f"{entry.name}.taken"))
                entry.symlink_to(precious.parent)


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [entry for entry in folder.iterdir() if entry.name.startswith((".", "res"))]
    return []


def attack(
    rounds: int, root: Path, inputs: Mapping[str, str], chosen: Sequence[str] = tuple(COMMANDS)
) -> list[str]:
    """Runs commands so many times beside the other user, who goes through his ways; what is wrong."""
    if why := hindrance():
        return [f"not tried: {why}"]
    wrong = []
    for mode in (0o1777, 0o777):
        for command in chosen:
            for number in range(rounds):
                wrong += _round(root / "work", mode, (command, number), inputs)
    return wrong


def _round(work: Path, mode: int, drawn: tuple[str, int], inputs: Mapping[str, str]) -> list[str]:
    command, number = drawn
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o755)
    shared, private = work / "shared", work / "root-only"
    shared.mkdir()
    shared.chmod(mode)
    private.mkdir(mode=0o700)
    (private / "precious").write_text(PRECIOUS)
    (private / "kept").mkdir()
    for name, text in inputs.items():
        (work / name).write_text(text)
    begun, planter = _planter(shared, private / "precious", WAYS[number % len(WAYS)])
    try:
        ready, _, _ = select.select([begun], [], [], _PATIENCE_S)
        planted = bool(ready) and os.read(begun, 1) == b"."
        filled = [argument.format(shared=shared) for argument in COMMANDS[command]]
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "anabranch", *filled], cwd=work, capture_output=True, text=True,
            check=False, timeout=_PATIENCE_S,
        )  # fmt: skip
    finally:
        os.kill(planter, signal.SIGKILL)
        os.waitpid(planter, 0)
        os.close(begun)
    round_wrong = [] if planted else [f"{command}, {oct(mode)}: the other user could plant nothing"]
    return round_wrong + _judged(private, f"{command}, {oct(mode)}", done)


def _planter(shared: Path, precious: Path, trick: str) -> tuple[int, int]:
    """Starts the other user; where he says that something is planted, and his process."""
    begun, report = os.pipe()
    planter = os.fork()
    if planter == 0:
        # Whatever happens, nothing of this program's goes on twice.
        try:
            _become_nobody()
            plant(shared, precious, report, trick)
        finally:
            os._exit(1)
    os.close(report)
    return begun, planter


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def hindrance() -> str:
    """Why no process of this one's can be another user's; empty if one can."""
    reading, report = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become_nobody()
        except OSError as error:
            os.write(report, str(error).encode())
        finally:
            os._exit(0)
    os.close(report)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as stream:
        return stream.read().decode()


def _judged(private: Path, place: str, done: subprocess.CompletedProcess[str]) -> list[str]:
    """What is wrong after a command."""
    wrong = []
    if done.returncode not in (0, 2) or "Traceback" in done.stderr:
        wrong.append(f"{place}: status {done.returncode}: {done.stderr[-600:]}")
    names = sorted(path.name for path in private.iterdir())
    if (private / "precious").read_text() != PRECIOUS or names != ["kept", "precious"]:
        wrong.append(f"{place}: root's own folder has {names}, or another file")
    if (private / "precious").stat().st_uid != 0:
        wrong.append(f"{place}: the precious file changed its owner")
    return wrong
