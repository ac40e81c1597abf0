"""Faults at random times: full disks, signals, kills, readers that go away, under every command that writes.

After each of them the user's files and earlier results are there to the last byte, the result is the earlier
or the new one as a whole, nothing is left lying about, and nobody has seen a traceback. After a kill, that
holds once the command has been given again. A test runs a few.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import dumbbells

SCENARIO = (
    dumbbells.dumbbell()
    + """[[traffic]]
name = "pair"
from = ["left1", "left2"]
to = ["right1", "right2"]
pairs = "in-order"
start = { distribution = "uniform", low = "0 s", high = "10 ms" }
[run]
duration = "20 s"
"""
)
METRIC = """
[[metric]]
name = "delivered"
table = "summary"
column = "delivered_mbps"
"""
GRID = """
[network]
topology = "grid"
[network.parameters]
rows = 2
columns = 2
[network.links]
capacity = "4 Mbps"
delay = "1 ms"
[[traffic]]
from = "router1.1"
to = "router2.2"
[run]
duration = "2 s"
"""
USERS = {"notes.txt": "mine", "out/notes.txt": "mine", "out/own/data.csv": "1,2,3"}
"""Files that are the user's, in the folder of the command and in that of its result."""
TIMEOUT_S = 120.0
"""Real time; a command takes a few seconds. What has not ended then is tried again alone, with more time."""
ALONE_S = 600.0
HUNG = -1000
"""In place of a status: it did not end."""
SIGNALS = {
    "SIGINT": (signal.SIGINT,),
    "SIGINT twice": (signal.SIGINT, signal.SIGINT),
    "SIGTERM": (signal.SIGTERM,),
    "SIGHUP": (signal.SIGHUP,),
    "SIGKILL": (signal.SIGKILL,),
}
FAULTS = (*SIGNALS, "full disk", "closed stdout", "closed stderr")
STARTING = ("Python runtime state", "<frozen site>", "_get_module_details", "import runpy module")
"""Where a signal meets Python before it has begun with a program; how that ends is Python's own."""
_BEGINNING = re.compile(r"anabranch/__main__\.py\", line \d+, in (<module>|main)$")
STATUSES = {0, 1, 2, 129, 130, 143, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGKILL}
VOLATILE = ("journal.jsonl", "summary.json", "manifest.json")
"""Files that tell the time, or have the hash of one that does."""


@dataclass(frozen=True)
class Command:
    """A command, and one that makes an earlier result in the same folder."""

    name: str
    arguments: tuple[str, ...]
    earlier: tuple[tuple[str, ...], ...]
    weight: int = 1
    """How often it is drawn."""


COMMANDS = (
    Command("run", ("run", "plain.toml", "--seed", "2", "--no-page", "--out", "out", "--replace"),
            (("run", "plain.toml", "--no-page", "--out", "out"),), 5),
    Command("run with a page", ("run", "captured.toml", "--seed", "2", "--out", "out", "--replace"),
            (("run", "captured.toml", "--out", "out"),), 3),
    Command("capture", ("capture", "left1.pcapng", "--interval", "2 s", "--out", "out", "--replace"),
            (("capture", "left1.pcapng", "--out", "out"),), 3),
    Command("study", ("study", "study.toml", "--jobs", "2", "--out", "out"),
            (("study", "study.toml", "--jobs", "2", "--out", "out"),), 4),
    Command("report", ("report", "out", "--figures", "svg"),
            (("run", "plain.toml", "--out", "out"),), 3),
    Command("routes", ("routes", "plain.toml"), (("run", "plain.toml", "--no-page", "--out", "out"),), 2),
    Command("compare", ("compare", "grid.toml", "--quick", "--systems", "hops,delay", "--out", "out"),
            (("compare", "grid.toml", "--quick", "--systems", "hops", "--out", "out"),)),
    Command("evaluate", ("evaluate", "cubic", "--only", "7.7", "--replications", "1", "--out", "out"),
            (("evaluate", "newreno", "--only", "7.7", "--replications", "1", "--out", "out"),)),
    Command("reproduce", ("reproduce", "sdn", "4.11", "--quick", "--out", "out"),
            (("reproduce", "sdn", "4.11", "--quick", "--out", "out"),)),
)  # fmt: skip


@dataclass
class Ground:
    """A command with what it starts from, what it leads to, and how long that takes."""

    command: Command
    template: Path
    before: Mapping[str, str]
    after: Mapping[str, str]
    duration_s: float
    new_bytes: int


@dataclass
class Outcome:
    """What a fault did."""

    command: str
    fault: str
    status: int
    complaints: list[str] = field(default_factory=list)


def anabranch(*arguments: str) -> list[str]:
    """The command line as a program and its arguments."""
    return [sys.executable, "-m", "anabranch", *arguments]


def environment(folder: Path) -> dict[str, str]:
    """With a folder of its own for temporary files."""
    # Limits of files cut bytecode, too.
    further = {"NO_COLOR": "1", "TMPDIR": str(folder / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **further}


def call(folder: Path, arguments: Sequence[str]) -> None:
    """Runs a command that must succeed."""
    done = subprocess.run(  # noqa: S603 - our own program
        anabranch(*arguments), cwd=folder, env=environment(folder), capture_output=True, text=True,
        check=False, timeout=ALONE_S,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr}")


def contents(folder: Path) -> dict[str, str]:
    """Hashes of all files of a folder but those that tell the time."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.name not in VOLATILE:
            digests[name] = hashlib.sha256(timeless(path)).hexdigest()
    return digests


def timeless(path: Path) -> bytes:
    """What is in a file, but for the origin in a manifest, which tells the time."""
    content = path.read_bytes()
    if path.name == "manifest.json":
        with suppress(ValueError):
            manifest = json.loads(content)
            manifest.pop("origin", None)
            content = json.dumps(manifest).encode()
    return content


def prepared(command: Command, folder: Path) -> Ground:
    """Makes what a command starts from, and runs it once undisturbed."""
    template = folder / command.name.replace(" ", "-")
    (template / "temporary").mkdir(parents=True)
    files = {
        "plain.toml": SCENARIO,
        "captured.toml": SCENARIO + dumbbells.CAPTURE,
        "study.toml": dumbbells.study(6) + METRIC,
        "grid.toml": GRID,
    }
    for name, text in files.items():
        (template / name).write_text(text, encoding="utf-8")
    if command.name == "capture":
        call(template, ("run", "captured.toml", "--no-page", "--out", "captured"))
        shutil.copy2(template / "captured" / "left1.pcapng", template)
    for arguments in command.earlier:
        call(template, arguments)
    if command.name == "study":
        dumbbells.make_begun(template / "out", lambda run: run % 5 > 0)
    for name, text in USERS.items():
        (template / name).parent.mkdir(exist_ok=True)
        (template / name).write_text(text, encoding="utf-8")
    whole = folder / f"{template.name}-after"
    shutil.copytree(template, whole, symlinks=True)
    begin = time.monotonic()
    call(whole, command.arguments)
    duration_s = time.monotonic() - begin
    new_bytes = sum(file.stat().st_size for file in (whole / "out").rglob("*") if file.is_file())
    return Ground(command, template, contents(template), contents(whole), duration_s, new_bytes)


def inject(
    ground: Ground, fault: str, draw: random.Random, folder: Path, timeout_s: float = TIMEOUT_S
) -> Outcome:
    """One fault under a command, and what is found after it."""
    try:
        return _injected(ground, fault, draw, folder, timeout_s)
    except subprocess.TimeoutExpired as late:
        return Outcome(ground.command.name, fault, HUNG, [f"does not end: {late}"])


def _injected(ground: Ground, fault: str, draw: random.Random, folder: Path, timeout_s: float) -> Outcome:
    work = folder / f"{draw.getrandbits(48):x}"
    at_s = draw.uniform(0, ground.duration_s)
    room = int(draw.uniform(0, 1.2) * ground.new_bytes)
    if fault == "full disk" and can_mount():
        status, said = _full_disk(ground, work, room, timeout_s)
    else:
        shutil.copytree(ground.template, work, symlinks=True)
        status, said = _disturbed(ground, work, fault, (at_s, timeout_s), max(room // 4, 1))
    outcome = Outcome(ground.command.name, fault, status)
    outcome.complaints += judged(ground, work, fault, status, said)
    if not outcome.complaints:
        shutil.rmtree(work)
    return outcome


def can_mount() -> bool:
    """Whether a small disk can be made: that takes the rights of root, and a mount namespace."""
    return os.geteuid() == 0 and shutil.which("unshare") is not None and _mounts()


def _mounts() -> bool:
    if not _MOUNTS:
        tried = subprocess.run(  # noqa: S603
            ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()],  # noqa: S607
            capture_output=True, check=False,
        )  # fmt: skip
        _MOUNTS.append(tried.returncode == 0)
    return _MOUNTS[0]


_MOUNTS: list[bool] = []


def _full_disk(ground: Ground, work: Path, room: int, timeout_s: float) -> tuple[int, str]:
    """The command on a disk that has only so much room. What it leaves is copied from there."""
    work.mkdir()
    used = sum(file.stat().st_size + 4096 for file in ground.template.rglob("*"))
    script = (
        'set -e; disk="$1"; from="$2"; size="$3"; shift 3; mkdir "$disk/d" "$disk/kept"\n'
        'mount -t tmpfs -o "size=$size" tmpfs "$disk/d"; cp -a "$from/." "$disk/d"; cd "$disk/d"\n'
        'set +e; TMPDIR="$disk/d/temporary" "$@"; status=$?; cp -a "$disk/d/." "$disk/kept"; exit $status'
    )
    done = subprocess.run(  # noqa: S603
        ["unshare", "-m", "bash", "-c", script, "full", str(work), str(ground.template), f"{used + room}",  # noqa: S607
         *anabranch(*ground.command.arguments)],
        env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False, timeout=timeout_s,
    )  # fmt: skip
    (work / "d").rmdir()
    for path in (work / "kept").iterdir():
        path.rename(work / path.name)
    (work / "kept").rmdir()
    return done.returncode, done.stderr


def _disturbed(
    ground: Ground, work: Path, fault: str, times_s: tuple[float, float], most: int
) -> tuple[int, str]:
    """The command with a signal at a time, a limit to its files, or without a reader."""
    streams = {name: (work.parent / f"{work.name}.{name}").open("w+b") for name in ("stdout", "stderr")}
    handles: dict[str, int] = {name: stream.fileno() for name, stream in streams.items()}
    closed = fault.removeprefix("closed ")
    if closed in streams:
        reader, handles[closed] = os.pipe()
        os.close(reader)

    def limited() -> None:
        if fault == "full disk":
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    process = subprocess.Popen(  # noqa: S603 - our own program
        anabranch(*ground.command.arguments), cwd=work, env=environment(work), preexec_fn=limited,  # noqa: PLW1509
        start_new_session=True, stdout=handles["stdout"], stderr=handles["stderr"],
    )  # fmt: skip
    if closed in streams:
        os.close(handles[closed])
    status = _ended(process, fault, *times_s)
    streams["stderr"].seek(0)
    said = streams["stderr"].read().decode(errors="replace")
    for stream in streams.values():
        stream.close()
        Path(stream.name).unlink()
    return status, said


def _ended(process: subprocess.Popen[bytes], fault: str, at_s: float, timeout_s: float) -> int:
    """Sends what is to be sent at a time, and waits so long for the end."""
    for number in SIGNALS.get(fault, ()):
        try:
            return process.wait(at_s)
        except subprocess.TimeoutExpired:
            # Ctrl-C and a terminal that closes reach all processes of the group.
            os.killpg(process.pid, number)
        at_s = 0.02
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return HUNG


def is_starting(said: str) -> bool:
    """Whether a traceback comes from where Python has not begun with the program yet, or just begins."""
    frames = [line.strip() for line in said.splitlines() if line.startswith('  File "')]
    while frames and _BEGINNING.search(frames[-1]):
        frames.pop()
    of_python = bool(frames) and all(frame.startswith('File "<frozen ') for frame in frames)
    return of_python or any(place in said for place in STARTING)


def judged(ground: Ground, work: Path, fault: str, status: int, said: str) -> list[str]:
    """What is wrong after a fault; nothing, if all is as promised."""
    complaints = []
    if status not in STATUSES:
        complaints.append("does not end" if status == HUNG else f"ends with status {status}: {said[-2000:]}")
    if "Traceback" in said and not is_starting(said):
        complaints.append(f"a traceback: {said}")
    complaints += _lost(ground, work)
    if fault == "SIGKILL":
        # Its rest goes with the next command.
        again = subprocess.run(  # noqa: S603 - our own program
            anabranch(*ground.command.arguments), cwd=work, env=environment(work), capture_output=True,
            text=True, check=False, timeout=ALONE_S,
        )  # fmt: skip
        if again.returncode != 0:
            complaints.append(f"the next command ends with status {again.returncode}: {again.stderr}")
        complaints += _lost(ground, work)
    elif fault != "full disk":
        # A result that found no room is in a folder that the message names.
        complaints += [f"left lying: {path.name}" for path in (work / "temporary").iterdir()]
    return complaints + left_lying(work, fault) + _neither(ground, work, fault)


def left_lying(work: Path, fault: str) -> list[str]:
    """What hidden files and folders a command has left.

    After a kill, the folder of a process that had not written its ticket stays: nobody knows that it is its.
    """
    hidden = work.rglob(".*")
    return [
        f"left lying: {path.relative_to(work)}"
        for path in hidden
        if fault != "SIGKILL" or not _is_unknown(path)
    ]


def _is_unknown(folder: Path) -> bool:
    return folder.name.startswith(".anabranch-") and folder.is_dir() and not list(folder.iterdir())


def _lost(ground: Ground, work: Path) -> list[str]:
    """What is not there any more, or not as it was: the user's files, and the runs of a study."""
    now = contents(work)
    kept = [name for name in ground.before if name in USERS or not name.startswith("out/")]
    kept += [name for name in ground.before if name.startswith("out/tables/")]
    # The page of a run is added to what was measured.
    if ground.command.name == "report":
        kept += [name for name in ground.before if name.endswith(".parquet")]
    lost = [name for name in kept if now.get(name) != ground.before[name]]
    if ground.command.name == "study" and not _journal(work).startswith(_journal(ground.template)):
        lost.append("out/journal.jsonl")
    return [f"lost: {name}" for name in lost]


def _journal(folder: Path) -> bytes:
    """What a study's journal has; nothing where there is none."""
    file = folder / "out" / "journal.jsonl"
    return file.read_bytes() if file.is_file() else b""


def _neither(ground: Ground, work: Path, fault: str) -> list[str]:
    """Whether the result is neither the earlier one nor the new one."""
    now = contents(work)
    ours = {name: text for name, text in now.items() if _is_result(name)}
    wholes = [
        {name: text for name, text in state.items() if _is_result(name)}
        for state in (ground.before, ground.after)
    ]
    if ours in wholes:
        return []
    if ground.command.name == "evaluate":
        # Runs of the new one stay, from which the same command goes on.
        new_runs = {name for name in ours if name.startswith("out/study/") and name not in ground.before}
        if {name: text for name, text in ours.items() if name not in new_runs} == wholes[0]:
            return []
    summary = _summary(work / "out")
    if ground.command.name.startswith("run") and summary.get("interrupted"):
        # A part of the new run, with all files of a whole one.
        missing = wholes[1].keys() - ours.keys()
        return [f"a part lacks {', '.join(sorted(missing))}"] if missing else []
    if summary.get("warnings") and fault == "full disk":
        # A capture that found no room.
        wholes = [{name: text for name, text in whole.items() if _besides_captures(name)} for whole in wholes]
        if {name: text for name, text in ours.items() if _besides_captures(name)} in wholes:
            return []
    differing = sorted(
        name for name in ours.keys() | wholes[1].keys() if ours.get(name) != wholes[1].get(name)
    )
    return [f"neither the earlier nor the new result: {', '.join(differing[:9])}"]


def _is_result(name: str) -> bool:
    """Whether a file is made at the end; the runs of studies come one by one."""
    return name.startswith("out/") and not name.startswith("out/tables/") and "/studies/" not in name


def _besides_captures(name: str) -> bool:
    """Whether a file says nothing of captures: they are listed in the manifest and on the page."""
    return not name.endswith((".pcapng", "manifest.json", "report.html"))


def _summary(folder: Path) -> dict[str, object]:
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return summary if isinstance(summary, dict) else {}


def killed_studies(count: int, draw: random.Random, folder: Path) -> list[Outcome]:
    """Studies that are killed at random times and go on: they end with the bytes of an undisturbed one."""
    template = folder / "killed"
    (template / "temporary").mkdir(parents=True)
    (template / "plain.toml").write_text(SCENARIO, encoding="utf-8")
    (template / "study.toml").write_text(dumbbells.study(20) + METRIC, encoding="utf-8")
    whole = folder / "killed-after"
    shutil.copytree(template, whole)
    arguments = ("study", "study.toml", "--jobs", "2", "--out", "out")
    begin = time.monotonic()
    call(whole, arguments)
    duration_s = time.monotonic() - begin
    expected = contents(whole / "out")
    outcomes = []
    for number in range(count):
        work = folder / f"killed-{number}"
        shutil.copytree(template, work)
        process = subprocess.Popen(  # noqa: S603 - our own program
            anabranch(*arguments), cwd=work, env=environment(work), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(draw.uniform(0, duration_s))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        outcome = Outcome("killed study", "SIGKILL", process.wait())
        try:
            call(work, arguments)
        except RuntimeError as error:
            outcome.complaints.append(f"the next command fails: {error}")
        else:
            if contents(work / "out") != expected:
                outcome.complaints.append("ends with other bytes")
        outcomes.append(outcome)
    return outcomes


def attack(
    faults: int, kills: int, seed: str, *, workers: int = 2, chosen: Sequence[str] = (),
    say: Callable[[str], object] = lambda _: None,
) -> list[Outcome]:  # fmt: skip
    """Injects faults at random times.

    Args:
        faults: how many.
        kills: how many studies are killed and go on.
        seed: of what is drawn; when a signal meets a process still differs from call to call.
        workers: processes at once.
        chosen: names of commands; all of them if empty.
        say: hears of each complaint, and how far it is.
    """
    draw = random.Random(f"{seed} faults")  # noqa: S311 - nothing secret
    commands = [command for command in COMMANDS if not chosen or command.name in chosen]
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        grounds = [prepared(command, folder) for command in commands]
        say(", ".join(f"{ground.command.name} {ground.duration_s:.1f} s" for ground in grounds))
        weights = [ground.command.weight for ground in grounds]
        jobs = [
            (draw.choices(grounds, weights)[0], FAULTS[number % len(FAULTS)], draw.getrandbits(32))
            for number in range(faults)
        ]

        def attempt(job: tuple[Ground, str, int], timeout_s: float = TIMEOUT_S) -> Outcome:
            ground, fault, seed = job
            return inject(ground, fault, random.Random(seed), folder, timeout_s)  # noqa: S311 - nothing secret

        outcomes = []
        with ThreadPoolExecutor(workers) as pool:
            for outcome in pool.map(attempt, jobs):
                outcomes.append(outcome)
                if len(outcomes) % 20 == 0:
                    say(f"{len(outcomes)} of {faults}")
        for place, outcome in enumerate(outcomes):
            # A machine that others use may just have been slow.
            if outcome.status == HUNG:
                outcomes[place] = attempt(jobs[place], ALONE_S)
        outcomes += killed_studies(kills, draw, folder)
        for met in outcomes:
            for complaint in met.complaints:
                say(f"{met.command}, {met.fault}, status {met.status}, seed {seed}: {complaint}")
        return outcomes


def counts(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """How many faults there were, by command and by kind, and what was wrong after them."""
    wrong = [outcome for outcome in outcomes if outcome.complaints]
    complaints = [complaint for outcome in wrong for complaint in outcome.complaints]
    return {
        "faults": len(outcomes),
        "by command": dict(Counter(outcome.command for outcome in outcomes)),
        "by fault": dict(Counter(outcome.fault for outcome in outcomes)),
        "met before the end": sum(outcome.status != 0 for outcome in outcomes),
        "lost files": sum(complaint.startswith("lost") for complaint in complaints),
        "left lying": sum(complaint.startswith("left") for complaint in complaints),
        "tracebacks": sum(complaint.startswith("a traceback") for complaint in complaints),
        "neither the earlier nor the new result": sum("neither" in complaint for complaint in complaints),
        "wrong": len(wrong),
    }
