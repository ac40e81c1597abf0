"""One live run: what is looked at before, and what was measured."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from anabranch import _core
from anabranch.errors import LiveError
from anabranch.live.against import compared, simulated_series, verdict
from anabranch.live.flows import check_transports, kernel_of
from anabranch.live.machine import check_machine
from anabranch.live.network import LiveHosts, Measured
from anabranch.live.programs import Asked, host_nodes, with_carriers
from anabranch.live.repeats import LIVE_RUNS, Repeats
from anabranch.live.routers import Between, OwnRouters
from anabranch.live.self_check import LATEST_US, flows_lateness, invalid, is_busy, realised_loss
from anabranch.live.tables import conversations, totals, with_kernel
from anabranch.live.traffic import Hearer
from anabranch.own.failure import failed
from anabranch.own.running import guarded
from anabranch.process.signals import Deferred
from anabranch.report.run_folder import page_writer
from anabranch.results.result import Result
from anabranch.routing import Planned
from anabranch.runs import runner
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup
from anabranch.setup.model import TransportSetup

_MOST_NAMED = 5
_LONGEST_PS = 30 * 86_400 * 10**12
"""The longest run that the engine takes."""


class Live:
    """A run on the wall clock."""

    def __init__(
        self,
        asked: Asked | None = None,
        between: Between | None = None,
        *,
        latest_us: float = LATEST_US,
        against_simulation: bool = False,
        runs: int = LIVE_RUNS,
        kernel_receivers: bool = False,
        simulated_receivers: bool = False,
        hearer: Hearer | None = None,
    ) -> None:
        """With programs in its hosts, if any are asked for; other arguments are as of :func:`run`.

        Args:
            asked: what is to run in hosts besides.
            between: what is between hosts; the engine's routers, if left out.
            latest_us: as of :func:`run`, and so are the others.
            against_simulation: see there.
            runs: see there.
            kernel_receivers: see there.
            simulated_receivers: see there.
            hearer: see there.
        """
        self._hearer = hearer
        self._between = between or OwnRouters()
        self._receives, self._only_sends = kernel_receivers, simulated_receivers
        self._asked = asked or Asked()
        self._latest_us = latest_us
        self._against, self._runs = against_simulation, runs
        self._own: Setup | None = None
        self._goes_on = False
        self._network: LiveHosts | None = None

    def prepared(self, scenario: Scenario, setup: Setup) -> Setup:
        """Looks whether scenario and machine can do it, before anything is made.

        Raises:
            ScenarioError: if the kernel must not be asked for what the scenario wants, or switches cannot.
            LiveError: if the machine cannot do it.
        """
        self._between.check(scenario, setup)
        check_transports(scenario, setup)
        used = sorted(set(setup.flows.transport.tolist()))
        spoken = [kernel_of(setup.transports[number], receives=self._receives) for number in used]
        if (self._receives or self._only_sends) and any(host.offload > 1 for host in setup.hosts):
            raise LiveError(
                "network.hosts.offload: a simulated end of a connection with a real one takes single "
                "segments, and no trains, whose checksums are not complete; leave one of the two out"
            )
        real = [kernel for kernel in spoken if kernel is not None]
        controls = [kernel.control for kernel in real if kernel.control is not None]
        nodes = host_nodes(setup, self._asked) if self._asked.anything else []
        check_machine(controls, mptcp=any(kernel.is_mptcp for kernel in real))
        # The engine does not see when a real flow is done.
        self._goes_on = setup.until == "done"
        setup = setup.replace(until="duration")
        self._own = carrying = setup
        if nodes:
            config = json.loads(_core.resolve_transport(_core.transport_preset("linux-cubic")))
            carrying = with_carriers(setup, nodes, TransportSetup("program", config))
            if self._asked.is_open:
                carrying = carrying.replace(duration=_LONGEST_PS)
        return carrying

    def measured(
        self,
        scenario: Scenario,
        setup: Setup,
        planned: Planned,
        signals: Deferred,
        progress: Callable[[float, int], None] | None,
    ) -> Result:
        """Runs it to its end, or until a signal has been heard.

        Raises:
            LiveError: if the system ends it.
        """
        own_setup = self._own or setup
        begin = time.perf_counter()
        load = os.getloadavg()
        try:
            routers = self._between.routers(scenario, own_setup, setup, planned)
            self._network = LiveHosts(
                own_setup, setup, routers, self._asked, receives=self._receives, only_sends=self._only_sends
            )
            with guarded(setup.agreement):
                records = self._network.run(scenario, signals, progress, self._hearer)
        except _core.OwnCodeError as error:
            raise failed(error) from None
        ended_s = float(str(records.outcome["summary"]["ended_s"]))

        def merged_tables(result: Result) -> dict[str, pl.DataFrame]:
            tables = with_kernel(result, records.records, records.samples, ended_s)
            tables["flows"] = tables["flows"].filter(pl.col("flow") < len(own_setup.flows))
            return routers.tables(tables)

        wall_s = time.perf_counter() - begin
        result = runner.measured(scenario, own_setup, planned, records.outcome, wall_s, merged_tables)
        tables = dict(result.tables)
        if self._asked.anything:
            names = [node.name for node in own_setup.nodes]
            tables["conversations"] = conversations(records.outcome["conversations"], names)
        live = self._told(records, load, realised_loss(tables["links"]))
        if self._against and signals.number is None:
            alone = own_setup.replace(captures=[])
            simulated = runner.Simulated().measured(scenario, alone, planned, signals, None)
            tables["against"] = compared(tables, simulated)
            tables |= simulated_series(simulated)
            if live["valid"]:
                tables["against"] = self._repeated(scenario, tables, simulated.flows, signals, progress)
            live["against"] = verdict(tables["against"], live["not_valid"])
        summary = {
            **result.summary,
            **totals(tables, ended_s),
            # A run that was to go on until its shell has ended is complete then.
            "interrupted": result.interrupted and signals.number is not None,
            "live": {
                **live,
                "flows_real": len(records.records),
                "flows_simulated": len(own_setup.flows) - len(records.records),
                "programs": self._network.running.ended if self._network.running else [],
            },
            "warnings": [*self._notes(live, records), *result.summary["warnings"]],
        }
        return Result(tables, summary)

    def _repeated(
        self,
        scenario: Scenario,
        tables: dict[str, pl.DataFrame],
        simulated: pl.DataFrame,
        signals: Deferred,
        progress: Callable[[float, int], None] | None,
    ) -> pl.DataFrame:
        """The comparison with further runs of both sides; programs in hosts run once."""

        def make_live(again: Scenario, setup: Setup, planned: Planned) -> Result:
            live = Live(
                between=self._between,
                latest_us=self._latest_us,
                kernel_receivers=self._receives,
                simulated_receivers=self._only_sends,
            )
            return live.measured(again, live.prepared(again, setup), planned, signals, progress)

        repeats = Repeats([tables["flows"]], [simulated])
        repeats.add(scenario, 1 if self._asked.anything else self._runs, make_live, signals)
        return repeats.beside(tables["against"])

    def _told(
        self, records: Measured, load: tuple[float, float, float], loss: float | None
    ) -> dict[str, Any]:
        """What the summary says of the machine, and of how well the clock was kept."""
        check = {
            **records.outcome["check"],
            **flows_lateness(records.flows_late_s),
            "device_drops": records.device_drops,
            "realised_loss": loss,
        }
        why = invalid(check, latest_us=self._latest_us)
        return {
            "kernel": platform.release(),
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
            "load_before": list(load),
            "load_after": list(os.getloadavg()),
            "real_time": records.real_time,
            "valid": why is None,
            "not_valid": why,
            "fallen_back": [record.plan.flow for record in records.records if record.fallen_back],
            "check": check,
        }

    def _notes(self, live: dict[str, Any], records: Measured) -> list[str]:
        why, check = live["not_valid"], live["check"]
        notes = [*([f"not valid: {why}"] if why else []), *records.warnings]
        if self._goes_on:
            notes.append(
                'run.until: a live run goes on for its whole duration, though "done" would end it when all '
                "flows are done; so does the simulation that it is held against"
            )
        if live["fallen_back"]:
            notes.append(
                f"{_numbered(live['fallen_back'])} fell back to plain TCP: no packet with MP_CAPABLE came to "
                "the receiver before other data (RFC 8684, section 3.7); where the first packets are lost, "
                "another run may have Multipath TCP"
            )
        if is_busy(check):
            notes.append(
                f"the network took {check['cpu_share_max']:.0%} of a core in its busiest second; a slower "
                "scenario leaves more room, and Linux holds up real-time threads from 95 % on"
            )
        return notes

    def add(self, folder: Path) -> None:
        """Writes what programs have said into a result folder."""
        if self._network is not None and self._network.running is not None:
            self._network.running.write(folder)


def run(
    scenario: Scenario,
    *,
    out: Path | str | None = None,
    page: bool = True,
    figures: Sequence[str] = (),
    replace: bool = False,
    progress: Callable[[float, int], None] | None = None,
    plan_progress: Callable[[int, int], None] | None = None,
    latest_us: float = LATEST_US,
    asked: Asked | None = None,
    against_simulation: bool = False,
    runs: int = LIVE_RUNS,
    kernel_receivers: bool = False,
    simulated_receivers: bool = False,
    switches: str | None = None,
    hearer: Hearer | None = None,
) -> Result:
    """Runs a scenario live; :func:`anabranch.runs.runner.run` has all arguments but these.

    - ``page``: whether the folder gets ``report.html`` as well;
    - ``figures``: forms in which it gets every figure for print, too;
    - ``latest_us``: lateness of the 99th percentile of packets, in microseconds, above which it is not valid;
    - ``asked``: what is to run in hosts besides the flows of the scenario;
    - ``against_simulation``: simulate the same scenario afterwards, and compare; the table ``against``;
    - ``runs``: live runs that such a comparison has, of further replications of the scenario;
    - ``kernel_receivers``: let the kernel receive the flows of TCP that it cannot send;
    - ``simulated_receivers``: simulate the receivers of the flows of TCP that the kernel sends;
    - ``switches``: ``ovs`` makes the routers real switches of Open vSwitch; left out, they are the engine's;
    - ``hearer``: told the samples of each instant as they are taken, in the thread that drives all flows;
      further runs of a comparison are not told.

    Returns:
        What was measured; ``summary["live"]`` says how well the clock was kept, and whether the run is valid.

    Raises:
        LiveError: if the machine cannot do it.
        ScenarioError: if the scenario cannot be run, or not live.
        ResultError: as for a simulated run.
    """
    between: Between = OwnRouters()
    if switches is not None:
        from anabranch.live.switches.run import between_of  # noqa: PLC0415 - only such runs have it

        between = between_of(switches)
    return runner.run(
        scenario,
        out=out,
        write=page_writer(page=page, figures=figures),
        replace=replace,
        progress=progress,
        plan_progress=plan_progress,
        kind=Live(
            asked,
            between,
            latest_us=latest_us,
            against_simulation=against_simulation,
            runs=runs,
            kernel_receivers=kernel_receivers,
            simulated_receivers=simulated_receivers,
            hearer=hearer,
        ),
    )


def _numbered(flows: Sequence[int]) -> str:
    """These flows in words; of many, the first and how many more."""
    named = ", ".join(map(str, flows[:_MOST_NAMED]))
    more = f" and {len(flows) - _MOST_NAMED} more" if len(flows) > _MOST_NAMED else ""
    return f"flow{'s' if len(flows) > 1 else ''} {named}{more}"
