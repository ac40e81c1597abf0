"""Printed claims of Chang 2024 in ns-3, which he simulated with, and in Anabranch.

    python checks/validation/ns3_claims.py --ns3 target/ns3/3.39.post2 --ns3 target/ns3/3.44.post0

Each `--ns3` is a folder with the PyPI package `ns3` of one version; its results go to
`checks/validation/claims/ns-VERSION.json`, and runs that are there already are not repeated. A folder without
ns-3 is skipped with a word. The page is written from all results that are there.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ns3_peer import find_wheel, simulate
from records import Results, describe_machine
from scenarios import MBPS, SEGMENT_BYTES, UNBOUNDED_QUEUE_PACKETS, Link, Scenario, Tcp, TransportName

from anabranch import Scenario as Run

FOLDER = Path(__file__).parent / "claims"
PAGE = Path(__file__).parents[2] / "docs" / "reproductions" / "ns3.md"
AUTHOR = "3.39"
"""The newest version on PyPI before 3.41. The thesis is of 2024, and its author's public code is for ns-3.37
and 3.38."""
SEEDS = (1, 2, 3, 4, 5)
ON_THE_WIRE = 1500 / SEGMENT_BYTES
"""IP bytes over payload: the thesis plots what FlowMonitor counts."""
LOSS = 1e-4
MISTAKEN = '\ncongestion_control = { algorithm = "bbr", delivery_rate = "ns-3.37" }'


@dataclass(frozen=True, slots=True)
class Claim:
    """What a figure prints of one transport.

    Attributes:
        figure: of the thesis.
        setting: what the scenario has, in words.
        published: as printed.
        least: from which throughput in Mbps it holds.
        most: up to which it holds.
        scenario: what is run.
    """

    figure: str
    setting: str
    published: str
    least: float
    most: float
    scenario: Scenario

    def holds(self, mbps: float) -> bool:
        """Whether a throughput is as printed."""
        return self.least <= mbps <= self.most


def _flow(name: str, links: tuple[Link, ...], transport: TransportName, *, spray: bool) -> Scenario:
    access = tuple(
        Link(a, b, 100 * MBPS, 100, UNBOUNDED_QUEUE_PACKETS)
        for a, b in (("sender", "in"), ("out", "receiver"))
    )
    tcp = Tcp(transport, delayed_ack_timeout_ms=200)
    ends = (("sender", "receiver"),)
    return Scenario(name, "grid", (*access, *links), ends, tcp, 30, 5, SEEDS, spray=spray)


def _two_paths(*halves_us: int) -> tuple[Link, ...]:
    """A path over two links for each delay of one of them."""
    return tuple(
        Link(a, b, 10 * MBPS, half_us, 100)
        for number, half_us in enumerate(halves_us)
        for a, b in (("in", f"middle{number}"), (f"middle{number}", "out"))
    )


def claims() -> Iterator[Claim]:
    """The claims that set the verdicts of figures 2.4, 5.5 and 5.7."""
    names: tuple[TransportName, ...] = ("newreno", "cubic", "bbr")
    for name, text, low, high in zip(
        names,
        ("above 10 Mbps", "above 10 Mbps", "cannot transmit properly"),
        (10.0, 10.0, 0.0),
        (20.0, 20.0, 2.5),
        strict=True,
    ):
        grid = _flow(f"claims/2.4/{name}", _two_paths(10_000, 10_000), name, spray=True)
        yield Claim("2.4", "grid, two paths of 20 ms", text, low, high, grid)
    for setting, halves in (
        ("two paths of 23 and 29 ms, as its text", (11_500, 14_500)),
        ("two paths of 7 and 8 ms", (3_500, 4_000)),
    ):
        for name, text, low, high in zip(
            names,
            ("about 10 Mbps", "lower than 10 Mbps", "below 2.5 Mbps"),
            (8.0, 5.0, 0.0),
            (12.0, 10.0, 2.5),
            strict=True,
        ):
            abilene = _flow(f"claims/5.5/{halves[0]}/{name}", _two_paths(*halves), name, spray=True)
            yield Claim("5.5", setting, text, low, high, abilene)
    for name in names:
        path = (
            Link("in", "middle0", 10 * MBPS, 14_500, 100, LOSS),
            Link("middle0", "out", 10 * MBPS, 14_500, 100),
        )
        lossy = _flow(f"claims/5.7/{name}", path, name, spray=False)
        yield Claim(
            "5.7", "one path of 29 ms, 0.01 % of packets lost", "well below the bandwidth", 0.0, 9.0, lossy
        )


def in_ns3(site: Path, limit_s: float) -> None:
    """Runs what is missing in the ns-3 of a folder, or says why not."""
    installation = find_wheel(site)
    if installation is None:
        sys.stdout.write(f"skipped: no ns-3 in {site} (pip install --target {site} --no-deps ns3==VERSION)\n")
        return
    if shutil.which("g++") is None:
        sys.stdout.write("skipped: ns-3 is here, but no g++ to compile checks/validation/ns3/peer.cc with\n")
        return
    out = FOLDER / f"ns-{installation.version}.json"
    results = (
        Results.load(out) if out.exists() else Results("ns-3", installation.version, installation.source)
    )
    results.machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="ns3-claims-") as folder:
        program = Path(folder) / "peer"
        try:
            installation.compile(program)
        except subprocess.CalledProcessError:
            sys.stdout.write(f"skipped: g++ does not compile the peer against ns-3 {installation.version}\n")
            return
        for claim in claims():
            for seed in SEEDS:
                if not results.has(claim.scenario, seed):
                    results.put(simulate(program, claim.scenario, seed, limit_s))
                    results.save(out)


def in_anabranch(scenario: Scenario, *, mistaken: bool) -> list[float]:
    """Goodput in Mbps of each seed after the warm-up; `mistaken` puts ns-3's error into BBR."""
    rates_mbps = []
    for seed in scenario.seeds:
        until = [
            _bytes(scenario.toml(seed, seconds), mistaken)
            for seconds in (scenario.warmup_s, scenario.duration_s)
        ]
        rates_mbps.append((until[1] - until[0]) * 8 / (scenario.duration_s - scenario.warmup_s) / 1e6)
    return rates_mbps


def _bytes(text: str, mistaken: bool) -> int:
    """Payload delivered in order by the end of a run."""
    text = text.replace('preset = "bbr"', f'preset = "bbr"{MISTAKEN}') if mistaken else text
    return int(Run.loads(text).run().flows["delivered_bytes"].sum())


def page(results: list[Results]) -> str:
    """The table of all claims, a column for each version of ns-3."""
    lines = [
        "# Claims of MPRC's thesis in its own simulator",
        "",
        "`make validate-ns3` runs what figures 2.4, 5.5 and 5.7 of Chang 2024 print of NewReno, CUBIC and",
        "BBR in ns-3 itself, and in Anabranch. Throughput in Mbps of IP bytes from 5 to 30 s, median and",
        "range of five seeds; segments of 1448 bytes, SACK, initial window of ten, queues of 100 packets.",
        "",
        *(f"- ns-3 {peer.version} ({peer.source}), {peer.date}." for peer in results),
        f"- ns-3 {AUTHOR} has the delivery rate of the versions that the thesis can have had (issue 1026,",
        "  mended in 3.41).",
        '- "with the error": Anabranch with `delivery_rate = "ns-3.37"`.',
        "",
        "A claim agrees if Anabranch gives it. It agrees with the error if Anabranch does once its BBR has",
        f"that error. It is refuted if neither Anabranch nor any seed of ns-3 {AUTHOR} gives it in this",
        "set-up. Otherwise it differs: ns-3 gives it, and Anabranch does not.",
        "",
        "| figure | set-up | transport | printed |"
        + "".join(f" ns-3 {peer.version} |" for peer in results)
        + " Anabranch | with the error | verdict |",
        "| --- | --- | --- | --- |" + " --- |" * len(results) + " --- | --- | --- |",
    ]
    for claim in claims():
        transport = claim.scenario.tcp.transport
        there = {peer.version: [run.total_mbps for run in peer.of(claim.scenario)] for peer in results}
        ours = in_anabranch(claim.scenario, mistaken=False)
        error = in_anabranch(claim.scenario, mistaken=True) if transport == "bbr" else []
        columns = [*there.values(), ours, error]
        lines.append(
            f"| {claim.figure} | {claim.setting} | {transport} | {claim.published} | "
            + " | ".join(map(_shown, columns))
            + f" | {verdict(claim, there.get(AUTHOR, []), ours, error)} |"
        )
    return "\n".join(lines) + "\n"


def verdict(claim: Claim, author: list[float], ours: list[float], error: list[float]) -> str:
    """What the medians of ours say of a claim, and all seeds of the author's simulator."""
    if claim.holds(_wire(ours)):
        return "agrees"
    if error and claim.holds(_wire(error)):
        return "agrees with the error"
    if not author:
        return "differs (no ns-3 of that version ran)"
    given = any(claim.holds(goodput * ON_THE_WIRE) for goodput in author)
    return "differs" if given else "refuted"


def _wire(goodputs: list[float]) -> float:
    return statistics.median(goodputs) * ON_THE_WIRE


def _shown(goodputs: list[float]) -> str:
    if not goodputs:
        return ""
    low, high = (edge(goodputs) * ON_THE_WIRE for edge in (min, max))
    return f"{_wire(goodputs):.2f} ({low:.2f} to {high:.2f})"


def main() -> int:
    """Runs what is missing, and writes the page; 1 if a run failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ns3", type=Path, action="append", default=[], help="folder with the package ns3")
    parser.add_argument("--limit-s", type=float, default=600.0, help="most seconds for one run")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table goes")
    options = parser.parse_args()
    for site in options.ns3:
        in_ns3(site, options.limit_s)
    results = [Results.load(path) for path in sorted(FOLDER.glob("ns-*.json"))]
    options.page.write_text(page(results), encoding="utf-8")
    failed = [run for peer in results for run in peer.runs if run.error]
    for run in failed:
        sys.stderr.write(f"failed: {run.scenario} seed {run.seed}: {run.error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
