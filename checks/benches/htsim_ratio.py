"""How many times faster than htsim: pairs of runs of the same scenario, one program after the other.

    python checks/benches/htsim_ratio.py CSG_HTSIM/sim [--only fat] [--pairs 5]

The folder is that of htsim's sources (github.com/Broadcom/csg-htsim), with libhtsim.a made in it; it cannot
be part of this repository. htsim_peer.cc is compiled against it with g++. The other program of a pair is the
engine's bench. Packet-hops per CPU-second and CPU seconds are medians of the pairs, the ratio is the median
of their ratios. Without a folder it says so and exits with 0.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from columns import aligned

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("htsim_peer.cc")
HEAD = (
    "scenario",
    "htsim, CPU s",
    "ours, CPU s",
    "htsim, M hops/s",
    "ours, M hops/s",
    "ratio",
    "htsim, Gbps",
    "ours, Gbps",
    "htsim, MB",
    "ours, MB",
)
SKIPPED = (
    "skipped: htsim was not named; to compare with it: make bench-htsim HTSIM=folder, the folder sim of "
    "csg-htsim with its headers and libhtsim.a"
)


class PeerError(Exception):
    """Why there is no comparison, in one line."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One network, as both programs name it.

    Attributes:
        name: in the engine's bench, without whatever follows.
        peer: arguments of htsim_peer.
    """

    name: str
    peer: str


def _many_flows(flows: int) -> Scenario:
    return Scenario(
        f"dumbbell, {flows} CUBIC, 10 Gbps, 10 ms, 2 s",
        f"dumbbell {flows} 10000000000 10000 10000 2000000",
    )


SCENARIOS = (
    Scenario("dumbbell, 10 CUBIC, 1 Gbps, 10 ms, 20 s", "dumbbell 10 1000000000 10000 1000 20000000"),
    Scenario("dumbbell, 10 CUBIC, 100 Mbps, 10 ms, 30 s", "dumbbell 10 100000000 10000 250 30000000"),
    *map(_many_flows, (1_000, 10_000, 100_000)),
    Scenario("leaf-spine 4x8x4, 10 Gbps, 32 CUBIC, 1 s", "leaf-spine 4 8 4 1000000"),
    Scenario("fat tree k = 8, 100 Gbps, 128 CUBIC, 3 ms", "fat-tree 8 100000000000 3000"),
    Scenario("38,612 flows of 20 kB, 197 nodes, 2 s", "all-pairs 2000000"),
)
"""The engine's bench has the same names; the numbers are those of its builders, times in microseconds."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one program needed for one scenario.

    Attributes:
        cpu_s: processor seconds, making the simulation's objects included.
        packet_hops: packets, of any kind, that have crossed a link.
        goodput_gbps: of all flows together.
        peak_bytes: most memory that the process had.
    """

    cpu_s: float
    packet_hops: float
    goodput_gbps: float
    peak_bytes: float

    @property
    def speed(self) -> float:
        """Million packet-hops per CPU-second."""
        return self.packet_hops / self.cpu_s / 1e6


def peer_run(line: str) -> Run:
    """What htsim_peer wrote.

    Raises:
        PeerError: if it is not such a line.
    """
    try:
        fields = json.loads(line)
        return Run(*(float(fields[name]) for name in Run.__slots__))
    except (ValueError, KeyError, TypeError) as error:
        raise PeerError(f"htsim_peer wrote {line.strip()[:80]!r}, not its line of JSON") from error


def bench_run(text: str, name: str, peak_bytes: float) -> Run:
    """What the engine's bench wrote about one scenario.

    Args:
        text: its output.
        name: of the scenario.
        peak_bytes: most memory of a run of the same scenario.

    Raises:
        PeerError: if the scenario is not there.
    """
    row = next((line for line in text.splitlines() if line.startswith(name)), None)
    if row is None:
        raise PeerError(f"the engine's bench has no scenario {name!r}")
    cpu_s, packet_hops, _, _, goodput_gbps = map(float, row[len(name) :].split())
    return Run(cpu_s, packet_hops, goodput_gbps, peak_bytes)


def table_row(scenario: Scenario, pairs: list[tuple[Run, Run]]) -> list[str]:
    """A row of the table from pairs of htsim's run and ours."""
    theirs, ours = zip(*pairs, strict=True)
    both = (theirs, ours)
    return [
        scenario.name,
        *(f"{median(run.cpu_s for run in of_one):.2f}" for of_one in both),
        *(f"{median(run.speed for run in of_one):.2f}" for of_one in both),
        f"{median(our.speed / their.speed for their, our in pairs):.2f}",
        *(f"{median(run.goodput_gbps for run in of_one):.3f}" for of_one in both),
        *(f"{median(run.peak_bytes for run in of_one) / 1e6:.1f}" for of_one in both),
    ]


def output(command: list[str], **environment: str) -> str:
    """What a program writes to standard output.

    Raises:
        PeerError: if it cannot be started or fails, with the first line that names an error.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own programs and the compilers
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise PeerError(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        wrong = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise PeerError(f"{command[0]}: {wrong[0] if wrong else f'exit status {done.returncode}'}")
    return done.stdout


def compile_peer(htsim: Path, program: Path) -> None:
    """Compiles htsim_peer against htsim.

    Args:
        htsim: folder with its headers and libhtsim.a.
        program: where the program goes.

    Raises:
        PeerError: if something is missing, or the compiler refuses it.
    """
    library = htsim / "libhtsim.a"
    for needed in (htsim / "eventlist.h", library):
        if not needed.is_file():
            remedy = "it must be csg-htsim's folder sim, after make libhtsim.a there"
            raise PeerError(f"HTSIM={htsim} has no {needed.name}; {remedy}")
    if shutil.which("g++") is None:
        raise PeerError(
            "g++ is missing, which compiles checks/benches/htsim_peer.cc (Debian: apt install g++)"
        )
    flags = ["-std=c++17", "-O3", f"-I{htsim.resolve()}"]
    output(["g++", *flags, str(SOURCE), str(library.resolve()), "-o", str(program)])


def engine_bench(**environment: str) -> Path:
    """The engine's bench, compiled.

    Args:
        environment: variables of the compiler's, beside those that are there.

    Raises:
        PeerError: if it cannot be.
    """
    words = ["cargo", "bench", "--locked", "--quiet", "--no-run", "--message-format=json"]
    command = [*words, "-p", "anabranch-engine", "--bench", "engine"]
    for line in output(command, **environment).splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "engine":
            return Path(message["executable"])
    raise PeerError("cargo names no program for the engine's bench")


def runs(scenario: Scenario, peer: Path, bench: Path, pairs: int) -> list[tuple[Run, Run]]:
    """Pairs of a run of htsim and one of ours, right behind it.

    Raises:
        PeerError: if a program fails.
    """
    # The bench measures its memory in a process that does nothing else, and prints it last.
    peak = output([str(bench), scenario.name], REPORT_PEAK="1").splitlines()[-1]
    both = []
    for _ in range(pairs):
        theirs = peer_run(output([str(peer), *scenario.peer.split()]))
        text = output([str(bench), scenario.name, "--runs=1"])
        both.append((theirs, bench_run(text, scenario.name, float(peak))))
    return both


def compare(peer: Path, bench: Path, only: str, pairs: int) -> str:
    """The table of the scenarios whose names contain a text.

    Args:
        peer: htsim_peer, compiled.
        bench: the engine's bench, compiled.
        only: the text; empty for all.
        pairs: of each scenario.

    Raises:
        PeerError: if a program fails or no scenario is left.
    """
    chosen = [scenario for scenario in SCENARIOS if only in scenario.name]
    if not chosen:
        names = "; ".join(scenario.name for scenario in SCENARIOS)
        raise PeerError(f"no scenario's name contains {only!r}: {names}")
    rows = [table_row(each, runs(each, peer, bench, pairs)) for each in chosen]
    return aligned([HEAD, *rows])


def main() -> int:
    """Prints the table; 0 if it is there or htsim is not, 1 with a line that says what failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("htsim", nargs="?", default="", help="folder sim of csg-htsim; empty: skip")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this")
    parser.add_argument("--pairs", type=int, default=3, help="pairs of each scenario (3)")
    options = parser.parse_args()
    if not options.htsim:
        sys.stdout.write(SKIPPED + "\n")
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="htsim-peer-") as folder:
            peer = Path(folder) / "htsim_peer"
            compile_peer(Path(options.htsim), peer)
            sys.stdout.write(compare(peer, engine_bench(), options.only, max(options.pairs, 1)))
    except PeerError as error:
        sys.stderr.write(f"htsim: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
