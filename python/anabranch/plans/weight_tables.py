"""Weights of all links of a scenario, as the file ``network.weights`` has them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import tomli_w

from anabranch.errors import Problem, ResultError, ScenarioError, reason
from anabranch.results.folders import write_whole
from anabranch.routing.router_network import RouterNetwork
from anabranch.routing.weights import EQUAL_WEIGHT, Weights
from anabranch.scenario.quantity import quoted
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, Setup, resolve
from anabranch.setup.files import ScenarioFiles
from anabranch.text.csv_cells import csv_text

FILE_NAME: Final = "weights.csv"


@dataclass(frozen=True, slots=True)
class LinkWeight:
    """A row of the file."""

    link: str
    """Name of the directed link."""
    source: str
    destination: str
    index: int | None
    """Which of several parallel links, from 1 on; None for the only one."""
    weight: int


@dataclass(frozen=True)
class WeightTable:
    """The weights of all links of a network, those that are out of service among them."""

    rows: tuple[LinkWeight, ...]

    @classmethod
    def present(cls, scenario: Scenario) -> tuple[WeightTable, tuple[str, ...]]:
        """The weights that a scenario has, and what is to be said of them.

        A network without any weight gets the same for all links.

        Raises:
            ScenarioError: if the scenario cannot be read, or some links have a weight and others none.
        """
        whole = scenario
        if scenario.network.out_of_service is not None:
            whole = scenario.replace({"network.out_of_service": {"links": [], "nodes": []}})
        setup = resolve(whole, Needed.ROUTES)
        without = [link.name for link in setup.links if link.weight is None]
        has_none = len(without) == len(setup.links)
        if without and not has_none:
            more = f" and {len(without) - 1:,} more" if len(without) > 1 else ""
            message = f"{quoted(without[0])}{more} has no weight, and other links have one; give one to each"
            raise ScenarioError([Problem("network.weights", message)], scenario.origin)
        return cls(_rows(setup)), tuple(_notes(scenario, has_none=has_none))

    def changed(self, routers: RouterNetwork, weights: Weights) -> WeightTable:
        """The table with these weights of the links between routers."""
        names = [routers.setup.links[link].name for link in routers.links]
        new = dict(zip(names, weights.tolist(), strict=True))
        return WeightTable(tuple(replace(row, weight=new.get(row.link, row.weight)) for row in self.rows))

    def csv(self) -> str:
        """The table as ``network.weights`` reads it."""
        has_parallels = any(row.index is not None for row in self.rows)
        header = ("from", "to", "weight", *(("index",) if has_parallels else ()))
        return csv_text(
            header,
            (
                (row.source, row.destination, row.weight, *((row.index or "",) if has_parallels else ()))
                for row in self.rows
            ),
        )

    def scenario(self, scenario: Scenario) -> Scenario:
        """The scenario with ECMP by these weights, which it names as a file beside it.

        Weights of single links that it gives itself would take precedence, and are left out.
        """
        given = scenario.data(given_only=True)
        changes: dict[str, Any] = {
            "network.weights": f"file:{FILE_NAME}",
            "routing": {
                **{key: value for key, value in given.get("routing", {}).items() if key != "paths"},
                "scheme": "ecmp",
                "metric": "weight",
            },
        }
        if links := given.get("network", {}).get("link"):
            changes["network.link"] = [
                {key: value for key, value in link.items() if key != "weight"} for link in links
            ]
        return scenario.replace(changes)

    def files(self, scenario: Scenario) -> ScenarioFiles:
        """The files of that scenario, this table among them, which nobody needs to have saved."""
        return ScenarioFiles(scenario.base, made={FILE_NAME: self.csv()})

    def save(self, scenario: Scenario, folder: Path, *, replace_files: bool = False) -> list[Path]:
        """Writes the weights, and a scenario of ECMP by them with the files that it names; returns the paths.

        Raises:
            ResultError: if one of both is there already, without ``replace_files``, or cannot be written.
        """
        files = {FILE_NAME: self.csv()}
        targets = [folder / FILE_NAME, folder / "scenario.toml"]
        if not replace_files and (there := [path for path in targets if path.exists()]):
            raise ResultError(f"{there[0]}: exists; choose another folder, or give --replace")
        unweighted = dict(scenario.data(given_only=True))
        unweighted["network"] = {
            key: value for key, value in unweighted["network"].items() if key != "weights"
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            kept = scenario.replace({"network": unweighted["network"]}).kept_in(folder)
        except OSError as error:
            raise ResultError(f"{folder}: cannot be written: {reason(error)}") from None
        files["scenario.toml"] = tomli_w.dumps(self.scenario(kept).data(given_only=True))
        for path in targets:
            write_whole(path, files[path.name].encode())
        return targets


def _notes(scenario: Scenario, *, has_none: bool) -> list[str]:
    """What is to be known of where a search begins."""
    notes = []
    if has_none:
        notes.append(
            f"network: its links have no weights; the search begins with {EQUAL_WEIGHT} for all, so that the "
            "routes before are those of fewest hops"
        )
    scheme, metric = scenario.routing.scheme_name, scenario.routing.metric
    if (scheme, metric) != ("ecmp", "weight") and scenario.controller is None:
        notes.append(
            f"routing: {scheme} by {metric} does not go by weights; before and after are ECMP by weight"
        )
    return notes


def _rows(setup: Setup) -> tuple[LinkWeight, ...]:
    """All links in their order."""
    ends = [(link.origin, link.to) for link in setup.links]
    counts, laid = Counter(ends), Counter[tuple[int, int]]()
    rows = []
    for link, pair in zip(setup.links, ends, strict=True):
        laid[pair] += 1
        source, destination = (setup.nodes[node].name for node in pair)
        index = laid[pair] if counts[pair] > 1 else None
        weight = EQUAL_WEIGHT if link.weight is None else link.weight
        rows.append(LinkWeight(link.name, source, destination, index, weight))
    return tuple(rows)
