"""TCP over one path and over several: the demonstration that ``make demo`` runs, and an example of the API.

On Abilene (Seattle to Atlanta) and AttMpls (ORLD to SNFN), one transfer each with NewReno, CUBIC and BBR:
over the shortest path, and sprayed packet by packet over link-disjoint paths. Prints one table, and leaves a
result folder for each run and a figure of all of them in results/demo.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from anabranch import AnabranchError, Result, Routing, Scenario, run
from anabranch.process.progress import run_progress
from anabranch.report.figures import compare_goodput, save_figure

EXAMPLES = Path(__file__).parent
NETWORKS = {"Abilene": EXAMPLES / "abilene.toml", "AttMpls": EXAMPLES / "attmpls.toml"}
ROUTINGS = {
    "shortest": Routing(scheme="shortest"),
    "sprayed": Routing(scheme="disjoint", load_balancing="packet"),
}
TRANSPORTS = ("newreno", "cubic", "bbr")

COLUMNS = {
    "goodput_mbps": ("goodput\nMbps", ".2f"),
    "retransmissions": ("retrans-\nmitted", ",d"),
    "spurious_retransmissions": ("spurious", ",d"),
    "reordering_ratio": ("re-\nordered", ".1%"),
    "reordering_extent_mean": ("mean\nextent", ".1f"),
    "reordering_extent_max": ("max\nextent", ",d"),
}


def scenarios() -> Iterator[tuple[str, str, str, Scenario]]:
    """Network, routing, transport, and the scenario that combines them."""
    for network, file in NETWORKS.items():
        base = Scenario.load(file)
        for how, routing in ROUTINGS.items():
            for transport in TRANSPORTS:
                traffic = [entry.model_copy(update={"transport": transport}) for entry in base.traffic]
                title = f"{network}, {how}, {transport}"
                changes = {"title": title, "routing": routing, "traffic": traffic}
                yield network, how, transport, base.model_copy(update=changes)


def main(out: Path) -> int:
    """Runs all of it; returns the exit status."""
    panels: dict[str, dict[str, Result]] = {}
    rows: list[dict[str, object]] = []
    for network, how, transport, scenario in scenarios():
        folder = out / f"{network}-{how}-{transport}".lower().replace(" ", "-")
        with run_progress(scenario.title, scenario.run_settings.duration.seconds) as progress:
            result = run(scenario, out=folder, progress=progress.run)
        if result.interrupted:
            return 130
        panels.setdefault(f"{network}, {how}", {})[transport] = result
        measured = result.flows.select(COLUMNS.keys()).row(0, named=True)
        rows.append({"network": network, "routing": how, "transport": transport, **measured})
    show(rows)
    pl.DataFrame(rows).write_csv(out / "demo.csv")
    save_figure(compare_goodput(panels), out / "goodput.png")
    print(f"results in {out}, figure in {out / 'goodput.png'}")
    return 0


def show(rows: list[dict[str, object]]) -> None:
    """The one table."""
    table = Table(title="One transfer, 10 Mbps links, 30 s", title_justify="left", box=None, pad_edge=False)
    for heading in ("network", "routing", "TCP"):
        table.add_column(heading, vertical="bottom")
    for heading, _ in COLUMNS.values():
        table.add_column(heading, justify="right", vertical="bottom")
    for row in rows:
        names = [str(row[key]) for key in ("network", "routing", "transport")]
        table.add_row(*names, *(format(row[key], form) for key, (_, form) in COLUMNS.items()))
    console = Console()
    (console if console.is_terminal else Console(width=140)).print(table)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results/demo")))
    except AnabranchError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
