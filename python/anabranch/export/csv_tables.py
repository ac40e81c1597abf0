"""Links, routes and weights as CSV, which a spreadsheet opens and a scenario reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from anabranch.export.emulated import mean_loss, not_in_a_network_file
from anabranch.export.job import Export, ExportJob, csv_text
from anabranch.export.layout import DeviceLayout

_ARROW: Final = "->"

_README: Final = """
| file | has |
|---|---|
| `routes.csv` | each path of each pair with all digits of its share; hop-by-hop forwarding as paths |
| `rounded_routes.csv` | the same with whole weights, as a device with so many buckets has them |
| `next_hops.csv` | where there is hop-by-hop forwarding: next links by destination and node |
| `links.csv` | links with capacity, delay, mean loss and weight |
| `weights.csv` | weights of links, where there are some |

## To load

In a scenario, `scheme = "given"` with `paths = "file:routes.csv"`, and `network.weights =
"file:weights.csv"`.

## To undo

Delete the files: they change nothing.
"""


def write(job: ExportJob) -> Export:
    """The tables."""
    layout = job.layout
    exact, whole = _routes(job)
    export = Export(shares=[job.rounded_shares()])
    export.files["routes.csv"] = csv_text(("from", "to", "weight", "path"), exact)
    export.files["rounded_routes.csv"] = csv_text(("from", "to", "weight", "path"), whole)
    hops = [
        (layout.names[to], layout.names[node], layout.links[link].name, 1)
        for to, table in sorted(job.plan.tables.items())
        for node, links in sorted(table.items())
        for link in links
    ]
    if hops:
        export.files["next_hops.csv"] = csv_text(("to", "node", "link", "weight"), hops)
    export.files["links.csv"] = _links(layout)
    weighted = [
        (layout.names[link.origin], layout.names[link.to], link.weight, _index(link.name))
        for link in layout.links
        if link.weight is not None
    ]
    if weighted:
        export.files["weights.csv"] = csv_text(("from", "to", "weight", "index"), weighted)
    export.notes = not_in_a_network_file(layout)
    return export.with_readme(layout, "CSV export", _README, interfaces=False)


def _routes(job: ExportJob) -> tuple[list[Sequence[object]], list[Sequence[object]]]:
    """Each path of each pair: with its share, and with its whole weight."""
    layout = job.layout
    exact: list[Sequence[object]] = []
    whole: list[Sequence[object]] = []
    for pair in job.plan.pairs:
        names = layout.names[pair[0]], layout.names[pair[1]]
        exact += [(*names, repr(share), _path(layout, links)) for links, share in job.exact_ways(pair)]
        whole += [(*names, count, _path(layout, links)) for links, count in job.ways(pair)]
    return exact, whole


def _links(layout: DeviceLayout) -> str:
    header = ("link", "from", "to", "capacity_bps", "delay_ms", "loss", "weight")
    rows = (
        (
            link.name,
            layout.names[link.origin],
            layout.names[link.to],
            link.capacity,
            link.delay / 1e9,
            mean_loss(link),
            "" if link.weight is None else link.weight,
        )
        for link in layout.links
    )
    return csv_text(header, rows)


def _path(layout: DeviceLayout, links: Sequence[int]) -> str:
    """The nodes of a path; one that the second of parallel links leads to has its number."""
    taken = [layout.links[link] for link in links]
    reached = (link.name.removeprefix(f"{layout.names[link.origin]}{_ARROW}") for link in taken)
    return _ARROW.join([layout.names[taken[0].origin], *reached])


def _index(name: str) -> int:
    """The number of a link among parallel ones."""
    number = name.rpartition("#")[2]
    return int(number) if "#" in name and number.isdigit() else 1
