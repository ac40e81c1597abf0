"""Links, routes and weights as CSV, which a spreadsheet opens and a scenario reads."""

from __future__ import annotations

from typing import Final

from anabranch.export.emulated import mean_loss, not_in_a_network_file
from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import DeviceLayout
from anabranch.plans.named import NamedPlan
from anabranch.setup.route_csv import COLUMNS, PATH, path_names
from anabranch.text.csv_cells import csv_text

_README: Final = """
| file | has |
|---|---|
| `routes.csv` | each path of each pair with all digits of its share; each next hop, hop by hop |
| `rounded_routes.csv` | whole weights, as a device with so many buckets has them; next hops as paths |
| `links.csv` | a line for each direction of a link, with capacity, delay, mean loss and weight |
| `weights.csv` | weights of links, where there are some |

## To load

In a scenario, `scheme = "given"` with `paths = "file:routes.csv"`, and `network.weights =
"file:weights.csv"`; `topology = "file:links.csv"` is the network.

## To undo

Delete the files: they change nothing.
"""


def write(job: ExportJob) -> Export:
    """The tables."""
    layout = job.layout
    names = path_names(layout.names, layout.links)
    export = Export(shares=[job.rounded_shares()])
    export.files["routes.csv"] = NamedPlan(job.setup, job.plan.plan, job.metric).csv()
    whole = [
        (*map(names.node, pair), PATH, count, names.text(links))
        for pair in job.plan.pairs
        for links, count in job.ways(pair)
    ]
    export.files["rounded_routes.csv"] = csv_text(COLUMNS, whole)
    export.files["links.csv"] = _links(layout)
    weighted = [
        (layout.names[link.origin], layout.names[link.to], link.weight, index)
        for link, index in zip(layout.links, names.numbers, strict=True)
        if link.weight is not None
    ]
    if weighted:
        export.files["weights.csv"] = csv_text(("from", "to", "weight", "index"), weighted)
    alone = set(range(len(layout.names))) - {end for link in layout.links for end in (link.origin, link.to)}
    export.notes = [
        *not_in_a_network_file(layout),
        "`links.csv`: where nodes are, and which of them are hosts",
    ]
    if any("\0" in name for name in layout.names):
        export.notes.append("names with a character U+0000, for which a file is taken for binary data")
    if alone:
        export.notes.append(f"`links.csv`: nodes without links, {len(alone)} of them")
    return export.with_readme(layout, "CSV export", _README, interfaces=False)


def _links(layout: DeviceLayout) -> str:
    header = ("link", "from", "to", "capacity_bps", "delay_ms", "loss", "weight", "directed")
    rows = (
        (
            link.name,
            layout.names[link.origin],
            layout.names[link.to],
            link.capacity,
            link.delay / 1e9,
            mean_loss(link),
            "" if link.weight is None else link.weight,
            "true",
        )
        for link in layout.links
    )
    return csv_text(header, rows)
