"""One live run: hosts, the network on the wall clock, the flows, and what was measured."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from anabranch import _core, runner
from anabranch.errors import LiveError, reason
from anabranch.live.flows import Kernel, check_transports, flow_plans, ignored_choices, kernel_of, real_flows
from anabranch.live.hosts import HostPlan, hosts_of
from anabranch.live.machine import check_machine
from anabranch.live.self_check import LATEST_US, invalid, is_busy, realised_loss
from anabranch.live.tables import totals, with_kernel
from anabranch.live.traffic import FlowRecord, KernelFlows
from anabranch.result import Result
from anabranch.routing import Planned
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup
from anabranch.signals import Deferred

_PRIORITY = 10
"""Of the network's thread, above all that is not real-time."""
_BEGIN_NS = 50_000_000
"""From the last preparation to time zero."""
_BUFFER_BYTES = 4_194_304
"""The kernel's own largest send buffer."""
_FAST_BPS = 1_000_000_000
_PS_PER_S = 1e12

Ends = tuple[tuple[tuple[str, int], tuple[str, int]], ...]


class Live(runner.Simulated):
    """A run on the wall clock."""

    def __init__(self, *, latest_us: float = LATEST_US) -> None:
        """Later packets than ``latest_us``, at the 99th percentile, make a run not valid."""
        self._latest_us = latest_us

    def prepared(self, scenario: Scenario, setup: Setup) -> Setup:
        """Looks whether scenario and machine can do it, before anything is made.

        Raises:
            ScenarioError: if the kernel must not be asked for what the scenario wants.
            LiveError: if the machine cannot do it.
        """
        check_transports(scenario, setup)
        used = {int(transport) for transport in setup.flows.transport}
        kernels = [kernel_of(setup.transports[transport]) for transport in sorted(used)]
        real = [kernel for kernel in kernels if kernel is not None]
        check_machine([kernel.control for kernel in real], mptcp=any(kernel.is_mptcp for kernel in real))
        return setup

    def measured(
        self,
        scenario: Scenario,
        setup: Setup,
        planned: Planned,
        heard: Deferred,
        progress: Callable[[float, int], None] | None,
    ) -> Result:
        """Runs it to its end, or until a signal has been heard.

        Raises:
            LiveError: if the system ends it.
        """
        begin = time.perf_counter()
        network = _Network(setup, planned)
        load = os.getloadavg()
        outcome, records, samples, warnings = network.run(scenario, heard, progress)
        result = runner.measured(scenario, setup, planned, outcome, time.perf_counter() - begin)
        ended_s = float(result.summary["ended_s"])
        tables = with_kernel(result, records, samples, ended_s)
        check = {**outcome["check"], "device_drops": network.device_drops}
        check["realised_loss"] = realised_loss(tables["links"])
        why = invalid(check, latest_us=self._latest_us)
        notes = [*([f"not valid: {why}"] if why else []), *warnings]
        if is_busy(check):
            notes.append(
                f"the network took {check['cpu_share_max']:.0%} of a core in its busiest second; a slower "
                "scenario leaves more room, and Linux holds up real-time threads from 95 % on"
            )
        live = {
            "kernel": platform.release(),
            "machine": platform.machine(),
            "cpus": os.cpu_count(),
            "load_before": list(load),
            "load_after": list(os.getloadavg()),
            "real_time": network.real_time,
            "flows_real": len(records),
            "flows_simulated": len(setup.flows) - len(records),
            "valid": why is None,
            "not_valid": why,
            "check": check,
        }
        summary = {
            **result.summary,
            **totals(tables["flows"], ended_s),
            "live": live,
            "warnings": [*notes, *result.summary["warnings"]],
        }
        return Result(tables, summary)


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
) -> Result:
    """Runs a scenario live; :func:`anabranch.runner.run` has the arguments.

    Args:
        scenario: what to run.
        out: folder to save the result in.
        page: whether the folder gets ``report.html`` as well.
        figures: forms of figures for print.
        replace: go on though ``out`` has other files.
        progress: called now and then with the seconds of the run and the packet-hops so far.
        plan_progress: called before that with the pairs that have routes and all pairs.
        latest_us: lateness of the 99th percentile of packets, in microseconds, above which it is not valid.

    Returns:
        What was measured; ``summary["live"]`` says how well the clock was kept, and whether the run is valid.

    Raises:
        LiveError: if the machine cannot do it.
        ScenarioError: if the scenario cannot be run, or not live.
        ResultError: as for a simulated run.
    """
    return runner.run(
        scenario,
        out=out,
        page=page,
        figures=figures,
        replace=replace,
        progress=progress,
        plan_progress=plan_progress,
        way=Live(latest_us=latest_us),
    )


class _Network:
    """The engine, its hosts and their flows."""

    def __init__(self, setup: Setup, planned: Planned) -> None:
        self._setup = setup
        self._kernels = [kernel_of(transport) for transport in setup.transports]
        self._real = real_flows(setup, self._kernels)
        self._core = _core.LiveNetwork(setup.core(), planned.plan)
        for flow in self._real.nonzero()[0].tolist():
            self._core.make_real(flow, True, True)
        self.real_time = True
        self.device_drops = 0
        self._failure: BaseException | None = None

    def run(
        self, scenario: Scenario, heard: Deferred, progress: Callable[[float, int], None] | None
    ) -> tuple[_core.LiveOutcome, list[FlowRecord], list[Any], list[str]]:
        """Makes the hosts, lets everything run, and removes them."""
        setup = self._setup
        ends = self._ends()
        settings = scenario.run_settings
        interval_s = int(settings.sample_interval) / _PS_PER_S if settings.flow_series else None
        warnings = [*self._simulated(), *ignored_choices(setup, self._kernels), *self._fast()]
        try:
            with hosts_of(self._host_plans(ends)) as hosts:
                for node, host in hosts.items():
                    self._core.attach(node, host.device, host.plan.addresses)
                plans = flow_plans(setup, self._kernels, ends)
                with closing(KernelFlows(plans, hosts, interval_s)) as traffic:
                    records = self._go(traffic, heard, progress)
                    self.device_drops = sum(host.dropped_packets() for host in hosts.values())
        except OSError as error:
            raise LiveError(
                f"the system ends the live run: {error.filename or ''} {reason(error)}"
            ) from error
        if not self.real_time:
            warnings.append(
                "the network's thread may not have a real-time policy, so that packets may be late on a busy "
                "machine; run it as root, or allow it (ulimit -r 10)"
            )
        return self._core.finish(), records, traffic.samples, warnings

    def _go(
        self, traffic: KernelFlows, heard: Deferred, progress: Callable[[float, int], None] | None
    ) -> list[FlowRecord]:
        begin_ns = time.monotonic_ns() + _BEGIN_NS
        thread = threading.Thread(target=self._relay, args=(begin_ns,), name="network")
        thread.start()

        def go_on() -> bool:
            if progress is not None:
                progress(*self._core.progress())
            return heard.number is None and thread.is_alive()

        try:
            return traffic.run(begin_ns, self._setup.duration / _PS_PER_S, go_on)
        finally:
            if heard.number is not None or self._failure is not None:
                self._core.stop()
            thread.join()
            if self._failure is not None:
                raise self._failure

    def _relay(self, begin_ns: int) -> None:
        try:
            # Programs that this thread starts do not inherit it.
            policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(0, policy, os.sched_param(_PRIORITY))
        except PermissionError:
            self.real_time = False
        try:
            self._core.run(begin_ns)
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self._failure = error

    def _ends(self) -> list[Ends]:
        return [
            tuple(self._core.endpoints(flow)) if real else () for flow, real in enumerate(self._real.tolist())
        ]

    def _host_plans(self, ends: Sequence[Ends]) -> list[HostPlan]:
        """A host for each node with a real flow."""
        addresses: dict[int, dict[str, None]] = {}
        kernels: dict[int, list[tuple[Kernel, bool]]] = {}
        for flow, own in zip(self._setup.flows, ends, strict=True):
            kernel = self._kernels[flow.transport]
            if kernel is None:
                continue
            for node, end, sends in ((flow.origin, 0, True), (flow.to, 1, False)):
                addresses.setdefault(node, {}).update(dict.fromkeys(pair[end][0] for pair in own))
                kernels.setdefault(node, []).append((kernel, sends))
        plans = []
        for node in sorted(addresses):
            largest = max(kernel.receive_buffer_bytes for kernel, _ in kernels[node])
            plans.append(
                HostPlan(
                    node=node,
                    name=self._setup.nodes[node].name,
                    addresses=tuple(addresses[node]),
                    receive_buffer_bytes=largest,
                    send_buffer_bytes=max(largest, _BUFFER_BYTES),
                    asks_for_ecn=any(kernel.asks_for_ecn and sends for kernel, sends in kernels[node]),
                    path_manager=any(kernel.is_mptcp for kernel, _ in kernels[node]),
                )
            )
        return plans

    def _simulated(self) -> list[str]:
        """Which flows the kernel does not speak."""
        counts: dict[str, int] = {}
        for transport, real in zip(self._setup.flows.transport.tolist(), self._real.tolist(), strict=True):
            if not real:
                name = self._setup.transports[transport].name
                counts[name] = counts.get(name, 0) + 1
        return [
            f"{count} {'flow' if count == 1 else 'flows'} of {name}: the kernel does not speak it; "
            "simulated, on the same links"
            for name, count in sorted(counts.items())
        ]

    def _fast(self) -> list[str]:
        """Whether hosts may send more than one thread is known to carry."""
        origins = {flow.origin for flow in self._setup.flows if self._kernels[flow.transport] is not None}
        ends = {flow.to for flow in self._setup.flows if self._kernels[flow.transport] is not None}
        out = sum(link.capacity for link in self._setup.links if link.origin in origins)
        into = sum(link.capacity for link in self._setup.links if link.to in ends)
        rate = min(out, into)
        if rate <= _FAST_BPS:
            return []
        return [
            f"real hosts may send up to {rate / 1e9:g} Gbps through one thread, and 1 Gbps is what a core is "
            "known to carry; look at the self-check, or lower the capacities"
        ]
