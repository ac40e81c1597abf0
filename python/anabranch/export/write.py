"""Writes the network and the routes of a scenario in one of the formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import ExportError, writing
from anabranch.export.added_load import AddedLoad, added_loads
from anabranch.export.formats import FORMATS
from anabranch.export.job import ExportJob
from anabranch.export.layout import DeviceLayout
from anabranch.export.own_flows import own_plans
from anabranch.export.placed_ports import placed_ports
from anabranch.export.present import present_costs
from anabranch.media.json import records
from anabranch.media.pieces import DataTable
from anabranch.plans.paths import PlanPaths
from anabranch.plans.routes import settled
from anabranch.plans.saved import plan_of_scenario, plans_by_flow
from anabranch.results.folders import replacing
from anabranch.scenario.scenario import Scenario
from anabranch.scenario.unknown import unknown_choice
from anabranch.setup import Needed, Setup, resolve
from anabranch.text.suggest import listed

DEFAULT_BUCKETS = 64
"""Buckets of a group where nobody says: a share is then missed by less than 0.8 %."""
MOST_BUCKETS = 1024


@dataclass(frozen=True)
class Exported:
    """The files that were written, and what rounding costs."""

    format: str
    files: tuple[str, ...]
    """Relative to the folder."""
    notes: tuple[str, ...]
    """What the format cannot express."""
    what: str
    """What the loads are: ``worst-case load`` or ``flows``."""
    loads: tuple[AddedLoad, ...]
    """Each link before and after rounding, the one to which it adds most first; none without weights."""
    changed_by: str
    """What makes the loads differ, in words."""
    tables: tuple[DataTable, ...]
    remarks: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "format": self.format,
            "files": list(self.files),
            "notes": list(self.notes),
            "loads_are": self.what,
            "loads": [{**asdict(entry), "added": entry.added} for entry in self.loads],
            "remarks": list(self.remarks),
            **{table.name: records(table) for table in self.tables},
        }


def export(
    scenario: Scenario,
    to: str,
    folder: Path,
    *,
    buckets: int = DEFAULT_BUCKETS,
    resilient: bool = False,
    replace: bool = False,
    interfaces: Path | None = None,
    present: Path | None = None,
) -> Exported:
    """Writes the network and the routes of a scenario in another program's form.

    Args:
        scenario: whose network and routes.
        to: name of a format (:data:`~anabranch.export.formats.FORMATS`).
        folder: to write to.
        buckets: most buckets of a group: shares are rounded to whole ones.
        resilient: a group has all of its buckets, so that flows keep theirs when a path goes.
        replace: write though the folder has other files; they stay in it.
        interfaces: the operator's own interfaces, for formats of FRR: a CSV, a file of containerlab, or
            configurations of FRR (:func:`~anabranch.export.ports.read_ports`).
        present: the costs that links have now, for OSPF and IS-IS, of which changes lead to the scenario's
            in a safe order (:func:`~anabranch.export.present.present_costs`).

    Raises:
        ExportError: if there is no such format, or it cannot express the plan.
        ScenarioError: if the scenario cannot be run, or leaves its routes to a controller.
        ResultError: if the folder has something else, or cannot be written.
    """
    if to not in FORMATS:
        raise ExportError(f"--to: format {unknown_choice(to, list(FORMATS))}")
    _check_use("--interfaces", interfaces, to, {name: one.has_interfaces for name, one in FORMATS.items()})
    _check_use("--present", present, to, {name: one.has_costs for name, one in FORMATS.items()})
    if not 1 <= buckets <= MOST_BUCKETS:
        raise ExportError(f"--buckets {buckets}: a group has 1 to {MOST_BUCKETS:,} of them")
    with replacing(folder, "export", replace=replace) as place:
        setup = settled(resolve(scenario, Needed.ROUTES), scenario.origin)
        layout = DeviceLayout.of(
            scenario.title, setup, None if interfaces is None else placed_ports(interfaces, setup)
        )
        job = dataclasses.replace(
            _job(scenario, setup, layout, by_flow=FORMATS[to].by_flow),
            buckets=buckets,
            resilient=resilient,
            present=None if present is None else present_costs(present, setup, isis=to == "frr-isis"),
        )
        exported = FORMATS[to].write(job)
        what, loads = "", list[AddedLoad]()
        if exported.shares is not None:
            before = [one.plan.shares() for one in job.jobs()]
            what, loads = added_loads(setup, before, exported.shares)
        for name, text in exported.files.items():
            place.write(name, text.encode(), executable=name.endswith(".sh"))
        with writing(folder):
            place.put()
    changed_by = exported.changed_by or f"shares in at most {buckets} buckets"
    remarks = (*exported.remarks, *(() if layout.ports is None else layout.ports.notes))
    return Exported(
        to, tuple(sorted(exported.files)), tuple(exported.notes), what, tuple(loads), changed_by,
        tuple(exported.tables), remarks,
    )  # fmt: skip


def _job(scenario: Scenario, setup: Setup, layout: DeviceLayout, *, by_flow: bool) -> ExportJob:
    """The network and its plan, with routes of their own for formats that tell flows apart."""
    if by_flow and setup.own_routes:
        made, (first, *others) = plans_by_flow(scenario, setup)
        others_planned = own_plans(layout, setup, made, others)
    else:
        first, others_planned = plan_of_scenario(scenario, setup), ()
    return ExportJob(
        setup,
        layout,
        PlanPaths.of(first, setup.links),
        scenario.routing.metric,
        DEFAULT_BUCKETS,
        own_plans=others_planned,
        balancing=setup.routing.load_balancing.algorithm,
        has_events=bool(setup.events),
        scheme=scenario.routing.scheme_name,
    )


def _check_use(option: str, given: Path | None, to: str, has_it: Mapping[str, bool]) -> None:
    """Raises ExportError for an option that changes nothing of a format."""
    if given is not None and not has_it[to]:
        those = listed(name for name, has in has_it.items() if has)
        raise ExportError(f"{option}: changes nothing with --to {to}; it is for {those}")
