"""The data tool of Garcia-Aviles 2017 (sections IV-C, V-C): from captures of the paths to each R_i."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

import polars as pl

from anabranch import Scenario
from anabranch.runs import capture
from anabranch_publications.papers.findings import Finding, Tolerance, number
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.semper.network import EDGES, SUBFLOWS, hosts, scenario
from anabranch_publications.papers.semper.studies import jain_index

PATHS: Final = 4
SENDERS: Final = 2
SNAP: Final = "140 B"
"""Headers with their options: what the tool needs of a packet."""
APART: Final = 0.01
"""Of a rate, between the window that ends with the first FIN and that of whole seconds, up to 0.1 s apart."""


def _document(duration_s: int) -> dict[str, Any]:
    """Hosts that send over captured paths until they close their connections, all at once."""
    document = scenario(PATHS, SENDERS, SUBFLOWS, duration_s=duration_s + 4)
    document["traffic"][0]["stop"] = f"{duration_s} s"
    document["capture"] = [
        {"file": f"{direction}{path}.pcapng", "link": list(ends), "index": path, "snap_length": SNAP}
        for direction, ends in (("there", EDGES), ("back", EDGES[::-1]))
        for path in range(1, PATHS + 1)
    ]
    return document


def from_captures(context: Context) -> FigureResult:
    """R_i of every host from the captures of all paths, beside what the run's own tables say."""
    duration_s, window_s = (12, 6) if context.quick else (40, 20)
    with tempfile.TemporaryDirectory(prefix="anabranch-captures-") as place:
        run = Scenario.from_data(_document(duration_s)).run(out=Path(place) / "run")
        read = capture.analyze(sorted((Path(place) / "run").glob("*.pcapng")), window=f"{window_s} s")
    series = run.subflow_series.filter(
        (pl.col("time_s") > duration_s - window_s + 1e-6) & (pl.col("time_s") <= duration_s + 1e-6)
    )
    rates = series.group_by("flow").agg(pl.col("throughput_mbps").sum() / window_s).sort("flow")
    # Hosts have their addresses in the order of their names.
    seen = read.connections.sort("client")
    table = pl.DataFrame(
        {
            "host": hosts(SENDERS),
            "subflows": seen["subflows"],
            "captured_mbps": seen["window_throughput_mbps"],
            "run_mbps": rates["throughput_mbps"],
        }
    )
    fair = {
        name: float(table.select(jain_index(pl.col(f"{name}_mbps"))).item()) for name in ("captured", "run")
    }
    findings = [
        number(
            f"R_i of {row['host']}, from the captures of {PATHS} paths",
            row["run_mbps"],
            row["captured_mbps"],
            unit="Mbps",
            digits=1,
            tolerance=Tolerance(APART * row["run_mbps"], "the windows are up to 0.1 s apart at either end"),
            kind="bound",
        )
        for row in table.to_dicts()
    ]
    findings += [
        number("Jain's index over the R_i", fair["run"], fair["captured"], unit="", digits=2, kind="bound"),
        Finding(
            "subflows that the captures tie to each host",
            f"{SUBFLOWS}",
            ", ".join(str(count) for count in table["subflows"].to_list()),
            set(table["subflows"].to_list()) == {SUBFLOWS},
            "all of them",
            "bound",
        ),
    ]
    return FigureResult(
        "captures",
        "From captures of the paths to R_i",
        tuple(findings),
        {"rates": table},
        shown={f"Throughput over the last {window_s} s before the first FIN": table},
        note="The same chain as for captures of tcpdump: `anabranch capture` reads the packets of all paths, "
        "ties subflows to connections, finds the first FIN, and measures what is acknowledged in the window "
        "before it.",
    )
