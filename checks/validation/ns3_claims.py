"""Printed claims of Chang 2024 in ns-3, which he simulated with, and in Anabranch.

    python checks/validation/ns3_claims.py --ns3 target/ns3/3.39.post2 --ns3 target/ns3/3.44.post0

Each `--ns3` is a folder with the PyPI package `ns3` of one version; its results go to
`checks/validation/claims/ns-VERSION.json`, and runs that are there already are not repeated. A folder without
ns-3 is skipped with a word. The page is written from all results that are there.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ns3_peer import find_wheel, simulate
from records import Results, describe_machine
from scenarios import MBPS, SEGMENT_BYTES, UNBOUNDED_QUEUE_PACKETS, Link, Scenario, Tcp, TransportName

from anabranch import Scenario as Run
from anabranch_publications.papers.mprc.network import DATA_LOSS
from anabranch_publications.papers.mprc.ns3 import ClaimInNs3, ClaimsInNs3

FOLDER = Path(__file__).parent / "claims"
PAGE = Path(__file__).parents[2] / "docs" / "reproductions" / "ns3.md"
AUTHOR = "3.39"
"""The newest version on PyPI before 3.41. The thesis is of 2024, and its author's public code is for ns-3.37
and 3.38."""
SEEDS = (1, 2, 3, 4, 5)
ON_THE_WIRE = 1500 / SEGMENT_BYTES
"""IP bytes over payload: the thesis plots what FlowMonitor counts."""
LOSS = 1e-4
AS_THERE = {
    "bbr": 'congestion_control = { algorithm = "bbr", delivery_rate = "ns-3.37" }',
    "cubic": 'congestion_control = { algorithm = "cubic", reno_friendly = false }',
}
"""Lines of a transport that make it what it is in ns-3 3.39: BBR with the wrong delivery rate, and CUBIC
without the region in which it is as fast as Reno (its header has no TcpFriendliness, that of 3.44 has)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a figure prints of one transport.

    Attributes:
        figure: of the thesis.
        setting: what the scenario has, in words.
        published: as printed.
        least: from which throughput in Mbps it holds; or from which ratio, where there are rivals.
        most: up to which it holds.
        scenario: what is run.
        rivals: other transports in the same set-up; the claim is on the ratio to the best of them.
    """

    figure: str
    setting: str
    published: str
    least: float
    most: float
    scenario: Scenario
    rivals: tuple[Scenario, ...] = ()

    @property
    def transport(self) -> str:
        """Of which something is printed."""
        return self.scenario.tcp.transport

    def holds(self, number: float) -> bool:
        """Whether a throughput, or a ratio of them, is as printed."""
        return self.least <= number <= self.most

    def numbers(self, goodputs_mbps: Callable[[Scenario], Sequence[float]]) -> list[float]:
        """What it is held to: for each seed the throughput in Mbps of IP bytes, or the ratio."""
        values = goodputs_mbps(self.scenario)
        if not self.rivals:
            return [value * ON_THE_WIRE for value in values]
        others = [goodputs_mbps(rival) for rival in self.rivals]
        return [value / max(best) for value, *best in zip(values, *others, strict=True)]

    def shown(self, numbers: Sequence[float]) -> str:
        """Median and range."""
        if not numbers:
            return ""
        digits = 3 if self.rivals else 2
        low, middle, high = (f"{f(numbers):.{digits}f}" for f in (min, statistics.median, max))
        return f"{middle} ({low} to {high})"


def _flow(
    name: str,
    links: tuple[Link, ...],
    transport: TransportName,
    *,
    spray: bool,
    seconds: tuple[int, int] = (5, 30),
) -> Scenario:
    access = tuple(
        Link(a, b, 100 * MBPS, 100, UNBOUNDED_QUEUE_PACKETS)
        for a, b in (("sender", "in"), ("out", "receiver"))
    )
    tcp = Tcp(transport, delayed_ack_timeout_ms=200)
    ends = (("sender", "receiver"),)
    begin_s, end_s = seconds
    return Scenario(name, "grid", (*access, *links), ends, tcp, end_s, begin_s, SEEDS, spray=spray)


def _paths(*halves_us: int) -> tuple[Link, ...]:
    """A path over two links for each delay of one of them."""
    return tuple(
        Link(a, b, 10 * MBPS, half_us, 100)
        for number, half_us in enumerate(halves_us)
        for a, b in (("in", f"middle{number}"), (f"middle{number}", "out"))
    )


def claims() -> Iterator[Claim]:
    """What the figures print of the transports that ns-3 has."""
    yield from _of_reordering()
    yield from _of_the_first_second()
    yield from _of_errors()


NAMES: tuple[TransportName, ...] = ("newreno", "cubic", "bbr")


def _of_the_first_second() -> Iterator[Claim]:
    for figure, half_us in (("5.3", 4_000), ("5.4", 11_968)):
        path = (
            Link("in", "middle0", 10 * MBPS, half_us, 100),
            Link("middle0", "out", 10 * MBPS, half_us, 100),
        )
        cubic, *rivals = (
            _flow(f"claims/{figure}/first/{name}", path, name, spray=False, seconds=(0, 1))
            for name in ("cubic", "newreno", "bbr")
        )
        yield Claim(
            figure,
            f"one path of {2 * half_us / 1000:g} ms, first second, over the best of the others",
            "a slight advantage",
            1.001,
            math.inf,
            cubic,
            tuple(rivals),
        )


def _of_errors() -> Iterator[Claim]:
    for name in NAMES:
        path = (
            Link("in", "middle0", 10 * MBPS, 14_500, 100, LOSS),
            Link("middle0", "out", 10 * MBPS, 14_500, 100),
        )
        lossy = _flow(f"claims/5.7/{name}", path, name, spray=False)
        yield Claim(
            "5.7", "one path of 29 ms, 0.01 % of packets lost", "well below the bandwidth", 0.0, 9.0, lossy
        )
    (near, *others) = _paths(4_000, 3_500)
    for name in NAMES[:2]:
        links = (replace(near, loss_a_to_b=DATA_LOSS), *others)
        sprayed = _flow(f"claims/5.8/{name}", links, name, spray=True)
        setting = f"two paths of 8 and 7 ms, {DATA_LOSS:.2%} of packets lost on the first"
        yield Claim("5.8", setting.replace("%", " %"), "below 2.5 Mbps", 0.0, 2.5, sprayed)


def _of_reordering() -> Iterator[Claim]:
    names = NAMES
    for name, text, low, high in zip(
        names,
        ("above 10 Mbps", "above 10 Mbps", "cannot transmit properly"),
        (10.0, 10.0, 0.0),
        (20.0, 20.0, 2.5),
        strict=True,
    ):
        grid = _flow(f"claims/2.4/{name}", _paths(10_000, 10_000), name, spray=True)
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
            abilene = _flow(f"claims/5.5/{halves[0]}/{name}", _paths(*halves), name, spray=True)
            yield Claim("5.5", setting, text, low, high, abilene)
    for name in names:
        attmpls = _flow(f"claims/5.6/{name}", _paths(11_381, 14_001, 12_792), name, spray=True)
        yield Claim("5.6", "three paths of 22.8, 28 and 25.6 ms", "below 5 Mbps", 0.0, 5.0, attmpls)


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
        for scenario in (each for claim in claims() for each in (claim.scenario, *claim.rivals)):
            for seed in SEEDS:
                if not results.has(scenario, seed):
                    results.put(simulate(program, scenario, seed, limit_s))
                    results.save(out)


def in_anabranch(scenario: Scenario, *, as_there: bool) -> list[float]:
    """Goodput in Mbps of each seed after the warm-up; `as_there` makes BBR and CUBIC those of ns-3 3.39."""
    rates_mbps = []
    for seed in scenario.seeds:
        until = [
            _bytes(scenario.toml(seed, seconds), as_there=as_there) if seconds else 0
            for seconds in (scenario.warmup_s, scenario.duration_s)
        ]
        rates_mbps.append((until[1] - until[0]) * 8 / (scenario.duration_s - scenario.warmup_s) / 1e6)
    return rates_mbps


def _bytes(text: str, *, as_there: bool) -> int:
    """Payload delivered in order by the end of a run."""
    for name, line in AS_THERE.items() if as_there else ():
        text = text.replace(f'preset = "{name}"', f'preset = "{name}"\n{line}')
    return int(Run.loads(text).run().flows["delivered_bytes"].sum())


def page(results: list[Results]) -> str:
    """The table of all claims, a column for each version of ns-3."""
    lines = [
        "# Claims of MPRC's thesis in its own simulator",
        "",
        "`make validate-ns3` runs what figures 2.4 and 5.3 to 5.8 of Chang 2024 print of NewReno, CUBIC and",
        "BBR in ns-3 itself, and in Anabranch. Throughput in Mbps of IP bytes from 5 to 30 s, median and",
        "range of five seeds; segments of 1448 bytes, SACK, initial window of ten, queues of 100 packets.",
        "",
        *(f"- ns-3 {peer.version} ({peer.source}), {peer.date}." for peer in results),
        f"- ns-3 {AUTHOR} has the delivery rate of the versions that the thesis can have had (issue 1026,",
        "  mended in 3.41).",
        f'- "as ns-3 {AUTHOR}": Anabranch with that BBR (`delivery_rate = "ns-3.37"`), and with that CUBIC,',
        "  slower than Reno where windows are small (`reno_friendly = false`: its header has no",
        "  TcpFriendliness, that of 3.44 has).",
        "",
        "A claim agrees if Anabranch gives it. It agrees as ns-3 does if Anabranch does with the BBR and",
        f"CUBIC of ns-3 {AUTHOR}. It is refuted if neither Anabranch nor any seed of ns-3 {AUTHOR} gives it",
        "in this set-up. Otherwise it differs: ns-3 gives it, and Anabranch does not.",
        "",
        "| figure | set-up | transport | printed |"
        + "".join(f" ns-3 {peer.version} |" for peer in results)
        + f" Anabranch | as ns-3 {AUTHOR} | verdict |",
        "| --- | --- | --- | --- |" + " --- |" * len(results) + " --- | --- | --- |",
    ]
    for claim in claims():
        there = {peer.version: claim.numbers(partial(in_peer, peer)) for peer in results}
        ours = claim.numbers(partial(in_anabranch, as_there=False))
        transports = {each.tcp.transport for each in (claim.scenario, *claim.rivals)}
        error = claim.numbers(partial(in_anabranch, as_there=True)) if transports & AS_THERE.keys() else []
        columns = [*there.values(), ours, error]
        lines.append(
            f"| {claim.figure} | {claim.setting} | {claim.transport} | {claim.published} | "
            + " | ".join(map(claim.shown, columns))
            + f" | {verdict(claim, there.get(AUTHOR, []), ours, error)} |"
        )
    return "\n".join(lines) + "\n"


def in_peer(peer: Results, scenario: Scenario) -> list[float]:
    """Goodput in Mbps of each seed that a version of ns-3 ran."""
    return [run.total_mbps for run in peer.of(scenario)]


def stored(peer: Results) -> ClaimsInNs3:
    """What the pages of the thesis are held against: the author's simulator alone."""
    rows = [
        ClaimInNs3(
            claim.figure, claim.setting, claim.transport, claim.published, claim.least,
            None if math.isinf(claim.most) else claim.most,
            tuple(round(number, 4) for number in claim.numbers(partial(in_peer, peer))),
        )
        for claim in claims()
    ]  # fmt: skip
    return ClaimsInNs3(peer.version, peer.source, peer.date, tuple(rows))


def verdict(claim: Claim, author: list[float], ours: list[float], error: list[float]) -> str:
    """What the medians of ours say of a claim, and all seeds of the author's simulator."""
    if claim.holds(statistics.median(ours)):
        return "agrees"
    if error and claim.holds(statistics.median(error)):
        return "agrees as ns-3 does"
    if not author:
        return "differs (no ns-3 of that version ran)"
    return "differs" if any(map(claim.holds, author)) else "refuted"


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
    for peer in results:
        if peer.version == AUTHOR:
            stored(peer).save()
    failed = [run for peer in results for run in peer.runs if run.error]
    for run in failed:
        sys.stderr.write(f"failed: {run.scenario} seed {run.seed}: {run.error}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
