"""Runs the scenarios in ns-3 and keeps what they measured as JSON.

    python checks/validation/ns3_peer.py --out checks/validation/ns3_results.json

ns-3 is taken from PyPI (`pip install ns3`) or from Debian (`libns3-dev`); ns3/peer.cc is compiled against it
with g++. Runs that are in the file already are not repeated. Without ns-3 or g++ it says so and exits with 0.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from records import Results, RunRecord, describe_machine, goodput_mbps
from scenarios import Scenario, all_scenarios

SOURCE = Path(__file__).parent / "ns3" / "peer.cc"
MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")


@dataclass(frozen=True, slots=True)
class Installation:
    """An ns-3 to compile against.

    Attributes:
        version: such as `3.44`.
        source: where it comes from, for the results.
        include: folder that holds `ns3/core-module.h`.
        libraries: folder of the shared libraries.
        prefix: what stands between `lib` and a module's name.
    """

    version: str
    source: str
    include: Path
    libraries: Path
    prefix: str

    def compile(self, target: Path) -> None:
        """Builds the peer program.

        Raises:
            subprocess.CalledProcessError: if the compiler refuses it.
        """
        # ns-3.37's headers are no valid C++20 (CWG 2237); from 3.42 they need it.
        minor = int(self.version.split(".")[1])
        command = [
            "g++",
            "-std=c++20" if minor >= 42 else "-std=c++17",
            "-O3",
            f"-DNS3_MINOR={minor}",
            f"-I{self.include}",
            str(SOURCE),
        ]
        command += [f"-L{self.libraries}", f"-Wl,-rpath,{self.libraries}"]
        command += [f"-l{self.prefix}{module}" for module in MODULES]
        subprocess.run([*command, "-o", str(target)], check=True)  # noqa: S603 - fixed words and found folders


def find_wheel(site: Path | None = None) -> Installation | None:
    """The PyPI package in a folder, else in this interpreter's environment; its bindings are not loaded."""
    places = sys.path if site is None else [str(site)]
    for package in importlib.metadata.distributions(name="ns3", path=places):
        root, release = Path(str(package.locate_file("ns3"))), package.version
        for library in sorted((root / "lib64").glob("libns3*-core.so")):
            prefix = library.name.removeprefix("lib").removesuffix("core.so")
            # Not every library's name has the version: that of 3.39 is `libns3-dev-core.so`.
            version = re.match(r"\d+\.\d+", release)
            if version and (root / "include" / "ns3" / "core-module.h").is_file():
                return Installation(
                    version[0], f"PyPI ns3 {release}", root / "include", library.parent, prefix
                )
    return None


def find_system() -> Installation | None:
    """The distribution's development package, through pkg-config."""
    if shutil.which("pkg-config") is None:
        return None

    def ask(question: str) -> str:
        answer = subprocess.run(  # noqa: S603 - fixed words
            ["pkg-config", question, "ns3-core"],  # noqa: S607 - found on the path above
            capture_output=True,
            text=True,
            check=False,
        )
        return answer.stdout.strip() if answer.returncode == 0 else ""

    version, include, libraries = (
        ask(question) for question in ("--modversion", "--variable=includedir", "--variable=libdir")
    )
    if not version:
        return None
    return Installation(version, f"libns3-dev {version}", Path(include), Path(libraries), "ns3-")


def simulate(program: Path, scenario: Scenario, seed: int, limit_s: float) -> RunRecord:
    """One run; one that fails or takes too long becomes a record with its reason."""
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [str(program), *scenario.ns3_options(seed)],
            input=scenario.ns3_input(seed),
            capture_output=True,
            text=True,
            check=True,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired:
        return _failed(scenario, seed, f"stopped after {limit_s:.0f} s")
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or ["no message"])[-1]
        return _failed(scenario, seed, f"exit status {error.returncode}: {reason}")
    measured = json.loads(done.stdout)
    counts = zip(measured["bytes_at_warmup"], measured["bytes_at_end"], strict=True)
    return RunRecord(
        scenario.name,
        seed,
        scenario.fingerprint(),
        tuple(goodput_mbps(before, after, scenario) for before, after in counts),
        measured["packet_hops"],
        measured["cpu_s"],
        measured["queue_drops"],
        measured["random_losses"],
    )


def _failed(scenario: Scenario, seed: int, reason: str) -> RunRecord:
    return RunRecord(scenario.name, seed, scenario.fingerprint(), error=reason)


def run_all(installation: Installation, out: Path, only: str, limit_s: float) -> Results:
    """Every scenario whose name contains `only`, saved after each run."""
    results = Results("ns-3", installation.version, installation.source)
    if out.exists():
        earlier = Results.load(out)
        if earlier.source == installation.source:
            results = earlier
    results.machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="ns3-peer-") as folder:
        program = Path(folder) / "peer"
        installation.compile(program)
        for scenario in all_scenarios():
            for seed in scenario.seeds:
                if only not in scenario.name or results.has(scenario, seed):
                    continue
                run = simulate(program, scenario, seed, limit_s)
                results.put(run)
                results.save(out)
                outcome = (
                    run.error or f"{run.total_mbps:.2f} Mbps, Jain {run.jain:.3f}, {run.cpu_s:.1f} CPU s"
                )
                sys.stderr.write(f"ns-3 {scenario.name} seed {seed}: {outcome}\n")
    return results


def main() -> int:
    """Runs what is wanted; 0 if all went well or there is no ns-3, 1 if a run failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="results file (JSON)")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this")
    parser.add_argument("--from", dest="origin", choices=("pypi", "system", "any"), default="any")
    parser.add_argument("--limit-s", type=float, default=600.0, help="most seconds for one run")
    options = parser.parse_args()
    finders = {"pypi": (find_wheel,), "system": (find_system,), "any": (find_wheel, find_system)}
    installation = next(
        (outcome for find in finders[options.origin] if (outcome := find()) is not None), None
    )
    if installation is None:
        sys.stdout.write("skipped: ns-3 is not installed here (pip install ns3, or apt install libns3-dev)\n")
        return 0
    if shutil.which("g++") is None:
        sys.stdout.write("skipped: ns-3 is here, but no g++ to compile checks/validation/ns3/peer.cc with\n")
        return 0
    results = run_all(installation, options.out, options.only, options.limit_s)
    failed = [run for run in results.runs if run.error]
    for run in failed:
        sys.stderr.write(f"failed: {run.scenario} seed {run.seed}: {run.error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
