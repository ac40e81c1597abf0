"""Whatever a scenario can name is on the page that owns it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import pytest
from documents import ROOT

from anabranch import Scenario, _core
from anabranch.export.formats import FORMATS
from anabranch.models import MODELS
from anabranch.results.censored import STATISTICS
from anabranch.scenario import BandwidthDelay, LinkSettings
from anabranch.scenario.algorithms.scheme import Metric
from anabranch.scenario.declarations import declarations, parameters_of
from anabranch.scenario.tables import Demand, Event, Routing
from anabranch.scenario.variate import Distribution
from anabranch.topology.generators import GENERATORS
from anabranch.topology.readers.registry import READERS
from anabranch_publications.papers import PAPERS


def choices(table: str, field: str) -> list[str]:
    """The names that a field of a scenario's table can have, from its JSON Schema."""
    node: dict[str, Any] = Scenario.model_json_schema()["$defs"][table]["properties"][field]
    for option in node.get("anyOf", [node]):
        if "enum" in option:
            return list(option["enum"])
    raise AssertionError(f"{table}.{field} has no names to choose from")


def names_of(kind: str, algorithm: str, parameter: str) -> list[str]:
    """The names that a parameter of an algorithm can have."""
    (declared,) = (p for p in declarations()[kind][algorithm]["parameters"] if p["name"] == parameter)
    return [choice["name"] for choice in declared["choices"]]


# What there is, the page that owns it, and how many there are at least.
REGISTRIES: dict[str, tuple[Iterable[str], str, int]] = {
    "transport preset": (_core.transport_preset_names(), "transports.md", 16),
    "scheme": (declarations()["scheme"], "routing.md", 13),
    "metric": (get_args(Metric), "routing.md", 10),
    "metric of the core": ([name for name, _ in _core.metrics()], "routing.md", 10),
    "load balancing": (declarations()["load_balancing"], "routing.md", 8),
    "balancer with its cost": (
        [name for name in declarations()["load_balancing"] if not name.startswith("packet")],
        "semper_balancers.md",
        6,
    ),
    "field of routing": (Routing.model_fields, "routing.md", 5),
    "bound of the traffic": (Demand.model_fields, "robust.md", 3),
    "parameter of robust routing": (
        {
            name
            for scheme in ("robust", "hybrid-hop", "robust-optimal")
            for name in parameters_of("scheme", scheme)
        },
        "robust.md",
        6,
    ),
    "sharing": (names_of("scheme", "tcpbp-exact", "sharing"), "tcpbp.md", 3),
    "objective": (names_of("scheme", "tcpbp-exact", "objective"), "tcpbp.md", 2),
    "setting of a link": (LinkSettings.model_fields, "links.md", 5),
    "room of a queue": (BandwidthDelay.model_fields, "links.md", 2),
    "queue discipline": (declarations()["queue"], "links.md", 6),
    "parameter of a queue discipline": (
        {name for expected in declarations()["queue"] for name in parameters_of("queue", expected)},
        "links.md",
        16,
    ),
    "change of a link": ({"capacity", "delay", "loss", "queue"} & set(Event.model_fields), "links.md", 4),
    "application of the controller": (declarations()["application"], "sdn.md", 4),
    "parameter of an application": (
        {
            name
            for expected in declarations()["application"]
            for name in parameters_of("application", expected)
        },
        "sdn.md",
        13,
    ),
    "estimator": (declarations()["estimator"], "sdn.md", 3),
    "parameter of an estimator": (
        {name for expected in declarations()["estimator"] for name in parameters_of("estimator", expected)},
        "sdn.md",
        3,
    ),
    "loss model": (declarations()["loss"], "links.md", 3),
    "export format": (FORMATS, "export.md", 8),
    "generator": (GENERATORS, "topologies.md", 7),
    "throughput model": (MODELS, "models.md", 4),
    "distribution": (
        [(table.form().tag or {})["word"] for table in Distribution.__subclasses__()],
        "scenario.md",
        7,
    ),
    "kind of an application": (
        [*choices("RateApplication", "kind"), "messages", "ping", "udp"],
        "scenario.md",
        5,
    ),
    "pairs": (choices("Traffic", "pairs"), "scenario.md", 4),
    "statistic": (STATISTICS, "studies.md", 8),
}


# Every algorithm and parameter that the core declares stands in the reference, which is generated.
DECLARED = {
    kind: {*algorithms, *(name for algorithm in algorithms for name in parameters_of(kind, algorithm))}
    for kind, algorithms in declarations().items()
}


def words(page: str) -> set[str]:
    """Every name that a page has in code, blocks included."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    code = re.findall(r"^```.*?^```|`[^`\n]+`", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"[\w-]+", "\n".join(code)))


@pytest.mark.parametrize("kind", REGISTRIES)
def test_everything_registered_is_on_its_page(kind: str) -> None:
    names, page, least = REGISTRIES[kind]
    wanted = set(names)
    assert len(wanted) >= least
    assert wanted - words(page) == set(), f"a {kind} is not in docs/{page}"


def test_everything_declared_is_in_the_reference() -> None:
    assert len(DECLARED) >= 6
    assert sum(map(len, DECLARED.values())) >= 60
    # What the core keeps in a table of its own, the scenario has beside the rest.
    inner = {"tcp"}
    wanted = set().union(*DECLARED.values()) - inner
    assert wanted - words("reference.md") == set()


def test_every_format_of_a_topology_is_named() -> None:
    text = (ROOT / "docs" / "topologies.md").read_text(encoding="utf-8")
    formats = {name.split()[0].lower() for name in READERS}
    assert formats >= {"graphml", "gml", "sndlib"}
    assert {name for name in formats if name not in text.lower()} == set()


def test_every_publication_has_its_page_in_the_contents() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert len(PAPERS) >= 5
    assert [name for name in PAPERS if f"(reproductions/{name}.md)" not in text] == []


def test_a_name_that_is_missing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('plain cubic, `newreno` and\n```toml\nscheme = "k-shortest"\n```\n')
    assert words(str(page)) & {"cubic", "newreno", "k-shortest"} == {"newreno", "k-shortest"}
