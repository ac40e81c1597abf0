"""Runs the scenarios in Anabranch, through its command line, and keeps what they measured as JSON.

    python checks/validation/anabranch_peer.py --out checks/validation/anabranch_results.json

Goodput after the warm-up is the difference of two runs with one seed, of which the shorter ends with the
warm-up: a run's start does not depend on its end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from records import Results, RunRecord, describe_machine, goodput_mbps
from scenarios import Scenario, all_scenarios


class PeerError(Exception):
    """Anabranch did not do what was asked; the message is its own."""


def call(command: list[str], *arguments: str) -> str:
    """Standard output of one call of Anabranch.

    Raises:
        PeerError: if it is not there, or ends with another status than 0.
    """
    try:
        done = subprocess.run(  # noqa: S603 - the command that the caller chose
            [*command, *arguments], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise PeerError(f"{command[0]}: {error.strerror}; install Anabranch or give --command") from None
    if done.returncode != 0:
        raise PeerError(
            f"{' '.join(command)} {arguments[0]}: exit status {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout


def run_once(command: list[str], scenario: Scenario, seed: int, duration_s: int) -> dict[str, Any]:
    """The JSON document of one run."""
    with tempfile.TemporaryDirectory(prefix="anabranch-peer-") as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(scenario.toml(seed, duration_s), encoding="utf-8")
        document = json.loads(
            call(command, "run", str(file), "--json", "--out", str(Path(folder) / "result"))
        )
    if not isinstance(document, dict) or len(document.get("flows", [])) != len(scenario.flows):
        raise PeerError(f"{scenario.name}: the result has not one row for each flow")
    return document


def simulate(command: list[str], scenario: Scenario, seed: int) -> RunRecord:
    """One run, measured like ns-3's."""
    whole = run_once(command, scenario, seed, scenario.duration_s)
    at_end = [int(flow["delivered_bytes"]) for flow in whole["flows"]]
    at_warmup = [0] * len(at_end)
    if scenario.warmup_s:
        start = run_once(command, scenario, seed, scenario.warmup_s)
        at_warmup = [int(flow["delivered_bytes"]) for flow in start["flows"]]
    summary = whole["summary"]
    return RunRecord(
        scenario.name,
        seed,
        scenario.fingerprint(),
        tuple(goodput_mbps(a, b, scenario) for a, b in zip(at_warmup, at_end, strict=True)),
        int(summary["packet_hops"]),
        # The engine has one thread and neither sleeps nor waits, so that on a machine with a free core its
        # wall time is its processor time.
        float(summary["wall_s"]),
    )


def run_all(command: list[str], out: Path, only: str) -> Results:
    """Every scenario whose name contains `only`, saved after each run; none is kept from before."""
    version = call(command, "--version").split()[-1]
    results = Results("Anabranch", version, "this repository", describe_machine())
    for scenario in all_scenarios():
        if only not in scenario.name or not scenario.for_anabranch:
            continue
        for seed in scenario.seeds:
            run = simulate(command, scenario, seed)
            results.put(run)
            results.save(out)
            sys.stderr.write(
                f"Anabranch {scenario.name} seed {seed}: {run.total_mbps:.2f} Mbps, Jain {run.jain:.3f}, "
                f"{run.cpu_s:.2f} s\n"
            )
    return results


def main() -> int:
    """Runs what is wanted; 0 if all went well, 2 if Anabranch refused."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="results file (JSON)")
    parser.add_argument("--only", default="", help="only scenarios whose name contains this")
    parser.add_argument("--command", default="anabranch", help="how to call Anabranch")
    options = parser.parse_args()
    try:
        run_all(options.command.split(), options.out, options.only)
    except PeerError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
