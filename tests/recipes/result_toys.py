"""Toys of what comes out of a run: figures, statistics, warnings, publications; and of pages and archives."""

from __future__ import annotations

from toy import Toy

PACKAGE = "python/anabranch"
PAPERS = "publications/anabranch_publications/papers"
FIGURE = '''\
"""A toy: the goodput of all flows together."""

from __future__ import annotations

import polars as pl

from anabranch.media.charts import Line, LineChart
from anabranch.media.palette import look_at
from anabranch.report.views.choice import table_of
from anabranch.report.views.over_time import GOODPUT, chart_of
from anabranch.results.result import Result


def toy_chart(result: Result) -> LineChart:
    """The sum of the goodputs at each instant.

    Raises:
        ResultError: if no flow was sampled.
    """
    samples = table_of(result, "flow_series", "plot.toy")
    sums = samples.group_by("time_s").agg(pl.col(GOODPUT.name).sum()).sort("time_s")
    return chart_of(result, "toy", [GOODPUT], [Line("all", look_at(0))], sums.with_columns(line=pl.lit(0)))
'''
PAPER = '''\
"""A toy of a publication."""

from __future__ import annotations

from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult, FigureSpec, Paper


def sums(context: Context) -> FigureResult:
    """The figure of the toy, which has no other."""
    del context
    return FigureResult("1", "A sum", (Finding("one and one", "2", str(1 + 1), agrees=True),))


PAPER = Paper("toy", "Sums", "A. Toy, 2026", (FigureSpec("1", "A sum", sums),))
"""The publication, figure by figure."""
'''
ARCHIVE = '''\
"""`toys/NAME`: networks of two nodes."""

from anabranch.topology.error import TopologyError
from anabranch.topology.generators import GENERATORS
from anabranch.topology.model import Topology

NAMES = ("pair",)
"""What the archive has."""


def load_toy(name: str) -> Topology:
    """The network of this name.

    Raises TopologyError if there is none.
    """
    if name.lower() not in NAMES:
        raise TopologyError(f"toys/{name}", "no such network", f'the archive has "{NAMES[0]}"')
    return GENERATORS["line"].build({})
'''
WARNING_TEST = '''\
"""The toy's warning."""

from anabranch import Scenario

TEXT = """
title = "a toy"
network = { topology = "dumbbell", links = { capacity = "10 Mbps", delay = "1 ms" } }
traffic = [{ from = "left1", to = "right1" }]
run = { duration = "100 ms" }
"""


def test_a_toy_is_told() -> None:
    (said,) = Scenario.loads(TEXT).run().summary["warnings"]
    assert "is a toy, and says nothing of a network" in said
'''
RESULTS: dict[str, Toy] = {
    "a figure of a run": Toy(
        files={f"{PACKAGE}/report/views/toy.py": FIGURE},
        insertions={
            f"{PACKAGE}/report/plots/run_plots.py": [
                (
                    "from anabranch.report.views.choice import Names, TimeRange, chosen_flows, "
                    "recorded_flow, table_of\n",
                    "from anabranch.report.views.toy import toy_chart\n",
                ),
                (
                    "    def __init__(self, result: Result) -> None:\n        self._result = result\n",
                    '\n    def toy(self, *, width: Width = "double", title: bool | str = False) -> Plot:\n'
                    '        """The goodput of all flows together."""\n'
                    "        return line_plot(toy_chart(self._result), Layout(width, title))\n",
                ),
            ],
            f"{PACKAGE}/report/views/charts.py": [
                (
                    "SHOWS: Mapping[str, Callable[[Result], bool]] = {\n",
                    '    "toy": lambda result: _sampled(result, "flow_series", "goodput_mbps"),\n',
                )
            ],
            "docs/figures.md": [
                (
                    "result.plot.drops()  # packets since the start\n",
                    "result.plot.toy()  # all flows together\n",
                )
            ],
        },
        run="""
import pathlib, tempfile
from anabranch.report.plots.every import save_run_figures
result = scenario({}).run()
assert "toy" in result.plot.names()
with tempfile.TemporaryDirectory() as folder:
    names = [file.name for file in save_run_figures(result, folder)]
assert "toy.pdf" in names, names
""",
    ),
    "a statistic of a metric": Toy(
        insertions={
            f"{PACKAGE}/results/censored.py": [
                ('    "max": max,\n', '    "range": lambda values: max(values) - min(values),\n')
            ],
            "crates/scenario/src/study.rs": [('"count", "jain", "first"', ', "range"')],
            "docs/studies.md": [('`"jain"`, `"first"`', ', `"range"`')],
        },
        run="""
from anabranch.results.censored import statistic
assert statistic("range", [1.0, 4.0]) == 3.0
""",
    ),
    "a warning": Toy(
        files={"tests/runs/test_toy.py": WARNING_TEST},
        insertions={
            f"{PACKAGE}/runs/cautions.py": [
                ("        *_unused_transports(scenario, setup),\n", "        *_toys(scenario),\n"),
                (
                    "        *_phases(setup.of_routing(0), plan),\n    ]\n",
                    "\n\ndef _toys(scenario: Scenario) -> Iterator[str]:\n"
                    '    if scenario.title == "a toy":\n'
                    '        yield "title: it is a toy, and says nothing of a network that anybody has"\n',
                ),
            ],
            "docs/warnings.md": [
                (
                    "## Settings that do nothing\n\n| warning | when | what helps |\n|---|---|---|\n",
                    "| `is a toy, and says nothing of a network` | the title says so | another title |\n",
                )
            ],
        },
        run="""
warnings = scenario({"title": "a toy"}).run().summary["warnings"]
assert any("is a toy" in warning for warning in warnings), warnings
""",
    ),
    "a publication": Toy(
        files={f"{PAPERS}/toy/__init__.py": PAPER},
        insertions={
            f"{PAPERS}/__init__.py": [
                (
                    "from anabranch_publications.papers.tcpbp.live import LIVE as TCPBP_LIVE\n",
                    "from anabranch_publications.papers.toy import PAPER as TOY\n",
                ),
                ("for paper in (TCPBP, SDN, ROBUST, SEMPER, MPRC", ", TOY"),
            ],
            "docs/index.md": [
                ("  pages of [tcpbp](reproductions/tcpbp.md)", ", [toy](reproductions/toy.md)")
            ],
        },
        run="""
import pathlib, tempfile
from anabranch_publications.papers import PAPERS, Context, reproduce
with tempfile.TemporaryDirectory() as folder:
    outcome = reproduce(PAPERS["toy"], None, Context(pathlib.Path(folder), quick=True))
assert [finding.verdict for figure in outcome.figures for finding in figure.findings] == ["agrees"]
# As `make reproduce` writes it.
pathlib.Path("docs/reproductions/toy.md").write_text("# Sums\\n")
""",
    ),
    "a page of the manual": Toy(
        files={"docs/toy.md": "# A toy\n\nThis page has nothing to say.\n"},
        insertions={
            "docs/index.md": [("## Guide\n\n", "- [toy.md](toy.md): a toy\n")],
            "docs/site/front.txt": [("docs/questions\n", "docs/toy\n")],
        },
    ),
    "an archive of topologies": Toy(
        files={f"{PACKAGE}/topology/sources/toys.py": ARCHIVE},
        insertions={
            f"{PACKAGE}/topology/load.py": [
                ('SourceName = Literal["zoo", "topohub", "sndlib", "generator"', ', "toys"'),
                (
                    'that it reads, not the formats of all of them."""\n',
                    '    if kind == "toys":\n'
                    "        from .sources.toys import load_toy  # noqa: PLC0415 - see above\n\n"
                    "        return load_toy\n",
                ),
                (
                    "    from .sources.zoo import zoo_graphs  # noqa: PLC0415 - for names alone\n",
                    "    from .sources.toys import NAMES  # noqa: PLC0415 - for names alone\n",
                ),
                (
                    '        every_name += [TopologyName(g.name, "generator", g.summary) for g in '
                    "GENERATORS.values()]\n",
                    '    if source in (None, "toys"):\n'
                    '        every_name += [TopologyName(f"toys/{name}", "toys", "two nodes") for name in '
                    "NAMES]\n",
                ),
            ],
            "docs/topologies.md": [("# Topologies\n", "\n`toys/NAME` is a toy.\n")],
        },
        run="""
from anabranch.topology import load, names
assert [name.spec for name in names("toys")] == ["toys/pair"]
assert load("toys/pair").nodes
""",
    ),
}
"""By what they add."""
