"""Folders, links and names that somebody has put where a command writes or reads: nothing outside is touched.

Each case plants something beside or in the place of a command, such as a link to a folder of the user's under
a name that Anabranch uses or used, or a forged manifest. After the command, whatever it answers, the victim
has its bytes, names and rights, nothing of the user's in the place is lost, and the answer is a result or one
message. All pairs of cases and commands are tried; a test tries some.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbells
import worker

HERE = Path(__file__).resolve().parent
SCENARIO = (
    dumbbells.dumbbell()
    + """[[traffic]]
name = "pair"
from = "left1"
to = "right1"
size = "20 kB"
[run]
duration = "1 s"
"""
)
LOADS = (
    dumbbells.dumbbell()
    + """[routing.demand]
ingress = "5 Mbps"
egress = "5 Mbps"
[[traffic]]
from = "left1"
to = "right1"
[run]
duration = "1 s"
"""
)
INPUTS = {
    "plain.toml": SCENARIO,
    "captured.toml": SCENARIO + dumbbells.CAPTURE,
    "long.toml": SCENARIO.replace("20 kB", "1 MB") + dumbbells.CAPTURE,
    "study.toml": dumbbells.study(2),
    "loads.toml": LOADS,
}
FORGED = "0123456789abcdef"
"""Token of forged staging folders."""
_PATIENCE_S = 20.0
"""A command is interrupted after so much processor time, or five times as much real time, as on a pipe."""
THESIS = "six years of work\n"
FILES = (
    "manifest.json", "summary.json", "flows.parquet", "report.html", "scenario.toml", "left1.pcapng",
    "study.json", "study.toml", "journal.jsonl", "runs.csv", "runs.parquet", "cells.csv", "study.xlsx",
    "mininet.py", "x.csv", "fitted.toml", "fit.json", "weights.csv",
)  # fmt: skip
FOLDERS = ("figures", "tables", "tables/flows", "topologies", "inputs", "logs", "sequences", "captures")


@dataclass(frozen=True)
class Command:
    """A command that writes into ``out`` in its folder, and what makes an earlier result there."""

    name: str
    arguments: tuple[str, ...]
    earlier: tuple[str, ...] = ()


_RUN = ("run", "captured.toml", "--no-page", "--out", "out")
_FIT = ("fit", "long.pcapng", "--budget", "10", "--no-page", "--out", "out")
COMMANDS = (
    Command("run", _RUN, _RUN),
    Command("run --replace", (*_RUN, "--replace"), _RUN),
    Command("run with a page", ("run", "plain.toml", "--out", "out"), ("run", "plain.toml", "--out", "out")),
    Command("study", ("study", "study.toml", "--jobs", "1", "--out", "out"),
            ("study", "study.toml", "--jobs", "1", "--out", "out")),
    Command("study --replace", ("study", "study.toml", "--jobs", "1", "--out", "out", "--replace"),
            ("study", "study.toml", "--jobs", "1", "--out", "out")),
    Command("report", ("report", "out"), _RUN),
    Command("report --figures", ("report", "out", "--figures", "svg", "--replace"), _RUN),
    Command("report of a study", ("report", "out"), ("study", "study.toml", "--jobs", "1", "--out", "out")),
    Command("report elsewhere", ("report", "result", "--out", "out"), ("report", "result", "--out", "out")),
    Command("capture", ("capture", "given.pcapng", "--out", "out"),
            ("capture", "given.pcapng", "--out", "out")),
    Command("export", ("export", "plain.toml", "--to", "mininet", "--out", "out"),
            ("export", "plain.toml", "--to", "mininet", "--out", "out")),
    Command("export --replace", ("export", "plain.toml", "--to", "csv", "--out", "out", "--replace"),
            ("export", "plain.toml", "--to", "csv", "--out", "out")),
    Command("new", ("new", "congestion-control", "mine", "--out", "out")),
    Command("routes", ("routes", "plain.toml", "--out", "out/plan.json", "--csv", "out/x.csv")),
    Command("brief", ("brief", "loads.toml", "--csv", "out/x.csv", "--page", "out/report.html")),
    Command("load", ("load", "loads.toml", "--csv", "out/x.csv", "--page", "out/report.html")),
    Command("weights", ("weights", "loads.toml", "--time-limit", "0.05", "--jobs", "1", "--out", "out")),
    Command("capacity", ("capacity", "loads.toml", "--module", "10 Mbps", "--csv", "out/x.csv")),
    Command("transfers", ("transfers", "loads.toml", "--csv", "out/x.csv")),
    Command("fit", _FIT, _FIT),
)  # fmt: skip


@dataclass(frozen=True)
class Ground:
    """Where a case is tried: a folder to work in, the place in it, and what must not be touched."""

    work: Path
    place: Path
    victim: Path

    @property
    def thesis(self) -> Path:
        """A file of the user's outside."""
        return self.victim / "thesis.tex"


@dataclass(frozen=True)
class Case:
    """Something in the way of a command."""

    name: str
    plant: Callable[[Ground], None]
    ours: bool = False
    """Whether all signs say that it is a staging folder of a process that was killed here: it is tidied."""


def _link(name: str, to: Callable[[Ground], Path], *, beside: bool = False) -> Callable[[Ground], None]:
    def plant(ground: Ground) -> None:
        file = (ground.work if beside else ground.place) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        _clear(file)
        file.symlink_to(to(ground))

    return plant


def _empty(mode: int, *, beside: bool = False) -> Callable[[Ground], None]:
    """An empty folder of the user's own under a name like one of ours."""

    def plant(ground: Ground) -> None:
        folder = (ground.work if beside else ground.place) / f".anabranch-{FORGED}"
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(mode)

    return plant


def _hard_link(name: str) -> Callable[[Ground], None]:
    def plant(ground: Ground) -> None:
        ground.place.mkdir(exist_ok=True)
        _clear(ground.place / name)
        (ground.place / name).hardlink_to(ground.thesis)

    return plant


def _users(name: str) -> Callable[[Ground], None]:
    """A folder of the user's own under a name that was ours."""

    def plant(ground: Ground) -> None:
        folder = ground.work / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mine.txt").write_text(THESIS)

    return plant


def _forged(
    *, inside: bool, ready: bool, inode: bool = True, mode: int = 0o700, links: bool = False
) -> Callable[[Ground], None]:
    """A folder that looks like one of ours in the middle of its work."""

    def plant(ground: Ground) -> None:
        around = ground.place if inside else ground.work
        around.mkdir(exist_ok=True)
        folder = around / f".anabranch-{FORGED}"
        folder.mkdir(mode=0o700)
        content = THESIS.encode()
        entry = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        ticket = {
            "format": "anabranch-staging",
            "token": FORGED,
            "inode": folder.stat().st_ino + (0 if inode else 1),
            "place": "." if inside else ground.place.name,
            "ready": ready,
            "files": {"thesis.tex": entry, "../victim/new.txt": entry},
            "before": {"flows.parquet": entry},
        }
        (folder / "ticket.json").write_text(json.dumps(ticket))
        if links:
            (folder / "new").symlink_to(ground.victim)
            (folder / "old").symlink_to(ground.victim)
        else:
            (folder / "new").mkdir()
            (folder / "new" / "thesis.tex").write_text(THESIS)
        folder.chmod(mode)

    return plant


def _manifest(files: object, **further: object) -> Callable[[Ground], None]:
    """A manifest that claims files, beside the user's own thesis."""

    def plant(ground: Ground) -> None:
        ground.place.mkdir(exist_ok=True)
        (ground.place / "thesis.tex").write_text(THESIS)
        data: dict[str, Any] = {"format": "anabranch-manifest", "format_version": 2, "kind": "run"}
        with suppress(OSError, ValueError):
            data |= json.loads((ground.place / "manifest.json").read_text(encoding="utf-8"))
        present = data.get("files", {})
        data["files"] = (
            {**present, **files} if isinstance(files, dict) and isinstance(present, dict) else files
        )
        _clear(ground.place / "manifest.json")
        (ground.place / "manifest.json").write_text(json.dumps({**data, **further}))

    return plant


def _growing(*names: str, without: Sequence[str] = ()) -> Callable[[Ground], None]:
    """A manifest says of names that they grow, which the user's own files have; some others are not there."""

    def plant(ground: Ground) -> None:
        _manifest({}, growing=[*names, *_GROWING])(ground)
        for name in without:
            _clear(ground.place / name)
        for name in names:
            file = ground.place / (f"{name}mine.txt" if name.endswith("/") else name)
            file.parent.mkdir(parents=True, exist_ok=True)
            _clear(file)
            file.write_text(THESIS)

    return plant


def _special(name: str) -> Callable[[Ground], None]:
    """A pipe, which nobody writes to, under a name of ours."""

    def plant(ground: Ground) -> None:
        ground.place.mkdir(exist_ok=True)
        _clear(ground.place / name)
        os.mkfifo(ground.place / name)

    return plant


def _anothers(ground: Ground) -> None:
    """The place belongs to another user, in a folder of this one."""
    ground.place.mkdir(exist_ok=True)
    (ground.place / "mine.txt").write_text(THESIS)
    if os.geteuid() == 0:
        os.chown(ground.place, 65534, 65534)


def _clear(file: Path) -> None:
    with suppress(FileNotFoundError):
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        else:
            file.unlink()


def _victim(ground: Ground) -> Path:
    return ground.victim


def _thesis(ground: Ground) -> Path:
    return ground.thesis


_GROWING = ("journal.jsonl", "tables/")
"""What grows in the folder of a study."""
_OLD_NAMES = (".anabranch-partial", ".anabranch-ready", f".anabranch-{FORGED}")
_ENTRY = {"bytes": len(THESIS), "sha256": "0" * 64}
CASES = (
    *(Case(f"{name} beside is a link to a folder", _link(name, _victim, beside=True))
      for name in (".out.partial", ".out.old", ".out.lock", f".anabranch-{FORGED}", ".partial-out")),
    *(Case(f"{name} beside is the user's folder", _users(name)) for name in (".out.partial", ".out.old",
                                                                            f".anabranch-{FORGED}")),
    *(Case(f"{name} in the place is a link to a folder", _link(name, _victim))
      for name in (".anabranch-partial", ".anabranch-ready", f".anabranch-{FORGED}")),
    *(Case(f"{name} in the place is a link to a file", _link(name, _thesis))
      for name in (".manifest.json.tmp", ".study.json.tmp", ".report.html.partial", f".anabranch-{FORGED}")),
    *(Case(f"{name} is a link to a file", _link(name, _thesis)) for name in FILES),
    *(Case(f"{name} is a link to a folder", _link(name, _victim)) for name in FOLDERS),
    *(Case(f"{name} is another name of a file", _hard_link(name)) for name in FILES),
    *(Case(f"{name} is a pipe", _special(name)) for name in ("manifest.json", "summary.json", "journal.jsonl",
                                                             "flows.parquet", "scenario.toml")),
    Case("the place is a link to a folder", _link("out", _victim, beside=True)),
    Case("the place is a link to a file", _link("out", _thesis, beside=True)),
    Case("the place is a link to nothing", _link("out", lambda ground: ground.victim / "none", beside=True)),
    Case("the place is another user's", _anothers),
    Case("an empty folder beside", _empty(0o755, beside=True)),
    Case("an empty folder beside for this user alone", _empty(0o700, beside=True)),
    Case("an empty folder in the place for this user alone", _empty(0o700)),
    Case("a copy of a staging folder beside", _forged(inside=False, ready=False, inode=False)),
    Case("a staging folder beside that others can read", _forged(inside=False, ready=True, mode=0o755)),
    Case("a staging folder beside with links", _forged(inside=False, ready=False, links=True),
         ours=True),
    Case("a copy of a staging folder in the place", _forged(inside=True, ready=True, inode=False)),
    Case("a staging folder in the place that others can read", _forged(inside=True, ready=True, mode=0o755)),
    Case("a staging folder in the place with links", _forged(inside=True, ready=True, links=True),
         ours=True),
    Case("a manifest claims the user's file", _manifest({"thesis.tex": _ENTRY})),
    Case("a manifest claims it by name alone", _manifest(["thesis.tex", "manifest.json"], format_version=1)),
    Case("a manifest claims files outside",
         _manifest({"../victim/thesis.tex": _ENTRY, "/etc/hostname": _ENTRY})),
    Case("a manifest says that what is outside grows",
         _manifest({}, growing=["thesis.tex", "../victim/", "tables/../../victim/"])),
    Case("a manifest says that the user's file grows", _growing("thesis.tex")),
    Case("a manifest says that the user's folder grows", _growing("notes/", "notes/further/")),
    Case("a manifest says that tables grow, beside the user's file", _growing("tables/", "tables/flows/")),
    Case("the user's table has the name of a run's, and the journal is gone",
         _growing("tables/flows/000000.parquet", without=("journal.jsonl", "runs.csv"))),
    *(Case(f"a manifest says that the user's {name} grows", _growing(name)) for name in FILES
      if name != "manifest.json"),
    Case("a manifest says that figures grow, beside the user's", _growing("figures/", "figures/goodput.svg")),
    Case("a manifest of other types", _manifest([[["thesis.tex"]]], kind=7, origin="here")),
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What came of a command in a case."""

    command: str
    case: str
    answer: str
    wrong: tuple[str, ...]


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """What a folder holds: rights and contents by name; a link is where it leads."""
    held: dict[str, tuple[int, bytes]] = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content = b""
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        held[path.relative_to(folder).as_posix()] = (status.st_mode, content)
    return held


def templates(folder: Path) -> dict[str, Path]:
    """For each command a folder with its inputs and an earlier result, from which its cases start."""
    from worker import call  # noqa: PLC0415 - found once HERE is in the path

    base = folder / "base"
    base.mkdir(parents=True)
    for name, text in INPUTS.items():
        (base / name).write_text(text)
    for scenario, out, capture in (("captured", "result", "given"), ("long", "transfer", "long")):
        _made(call(("run", f"{scenario}.toml", "--no-page", "--out", out), base, _PATIENCE_S))
        shutil.copy2(base / out / "left1.pcapng", base / f"{capture}.pcapng")
    made = {}
    for command in COMMANDS:
        made[command.name] = folder / hashlib.sha256(command.name.encode()).hexdigest()[:12]
        shutil.copytree(base, made[command.name])
        if command.earlier:
            _made(call(command.earlier, made[command.name], _PATIENCE_S))
    return made


def _made(answer: tuple[str, str]) -> None:
    if answer[0] != "done":
        raise RuntimeError(f"a template cannot be made: {answer}")


def attempt(command: Command, case: Case, template: Path, scratch: Path) -> Outcome:
    """Tries one command in one case."""
    from worker import call  # noqa: PLC0415 - found once HERE is in the path

    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        ground = Ground(folder / "work", folder / "work" / "out", folder / "victim")
        shutil.copytree(template, ground.work, symlinks=True)
        (ground.victim / "sub").mkdir(parents=True)
        ground.thesis.write_text(THESIS)
        (ground.victim / "sub" / "notes").write_text(THESIS)
        case.plant(ground)
        before, mine = tree(ground.victim), _users_entries(ground.work)
        answer, detail = call(command.arguments, ground.work, _PATIENCE_S)
        # Whatever has to be interrupted waits for what is in its way, such as a pipe.
        wrong = [] if answer in ("done", "refused") else [f"{answer}: {detail[-600:]}"]
        after = tree(ground.victim)
        wrong += [f"outside: {name}" for name in sorted(before.keys() | after.keys())
                  if before.get(name) != after.get(name)]  # fmt: skip
        kept = _users_entries(ground.work)
        if kept["texts"] < mine["texts"] or (kept["forged"] < mine["forged"] and not case.ours):
            wrong.append("a file or folder of the user's is gone")
        wrong += [
            f"left: {path.name}" for path in ground.work.rglob(".anabranch-*") if path.name not in _OLD_NAMES
        ]
        return Outcome(command.name, case.name, answer, tuple(wrong))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fits(command: Command, case: Case) -> bool:
    """Whether a case is one for a command.

    Files alone may be written through a link of the user's own, and take the place of a file that is named.
    """
    alone = (
        "the place is a link to a folder",
        "report.html is another name of a file",
        "a manifest says that the user's report.html grows",
    )
    return command.name.partition(" ")[0] not in _WRITE_FILES or case.name not in alone


_WRITE_FILES = ("routes", "load", "brief", "weights", "capacity", "transfers", "fit")
"""Commands that write files one by one, and no folder of ours."""


def _users_entries(work: Path) -> Counter[str]:
    """How many entries below are the user's.

    Counted are files with the user's text, once however many names they have, and entries with a name like
    ours. Where they are matters not: what was in the place may be kept elsewhere.
    """
    texts, forged = set(), 0
    for path in work.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.read_bytes() == THESIS.encode():
            texts.add(path.stat().st_ino)
        forged += path.name == f".anabranch-{FORGED}"
    return Counter(texts=len(texts), forged=forged)


def _tried(work: tuple[int, str]) -> list[Outcome]:
    """All cases of one command, in a process of its own."""
    sys.path.insert(0, str(HERE))
    index, scratch = work
    for module in worker.MODULES:
        importlib.import_module(f"anabranch.{module}")
    command = COMMANDS[index]
    made = json.loads((Path(scratch) / "templates.json").read_text(encoding="utf-8"))
    return [
        attempt(command, case, Path(made[command.name]), Path(scratch))
        for case in CASES
        if fits(command, case)
    ]


def check_all(jobs: int, chosen: Sequence[str] = ()) -> Iterator[Outcome]:
    """Tries commands in every case: all, if none is chosen."""
    with tempfile.TemporaryDirectory(prefix="places-", ignore_cleanup_errors=True) as name:
        sys.path.insert(0, str(HERE))
        scratch = Path(name)
        made = {command: str(folder) for command, folder in templates(scratch / "templates").items()}
        (scratch / "templates.json").write_text(json.dumps(made), encoding="utf-8")
        order = [index for index, command in enumerate(COMMANDS) if not chosen or command.name in chosen]
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            for outcomes in pool.map(_tried, [(index, name) for index in order]):
                yield from outcomes


def counts(outcomes: Sequence[Outcome]) -> Mapping[str, object]:
    """How many pairs were tried and how they were answered."""
    return {
        "pairs": len(outcomes),
        "wrong": sum(bool(outcome.wrong) for outcome in outcomes),
        "answers": Counter(outcome.answer for outcome in outcomes),
    }
