"""The network of a live run: the engine in a thread of its own, its hosts, and what runs in them."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from anabranch import _core
from anabranch.errors import LiveError, reason
from anabranch.live.flows import Ends, Kernel, flow_plans, ignored_choices, kernel_of, real_flows
from anabranch.live.hosts import Host, HostPlan, hosts_of
from anabranch.live.path_manager import End
from anabranch.live.programs import Asked, Running
from anabranch.live.routers import Routers
from anabranch.live.traffic import FlowRecord, Hearer, KernelFlows, Sample
from anabranch.process.signals import Deferred
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Setup

_PRIORITY = 10
"""Of the network's thread, above all that is not real-time."""
_FLOWS_PRIORITY = 5
"""Of the thread that drives the flows, behind the network's."""
_BEGIN_NS = 50_000_000
"""From the last preparation to time zero."""
_BUFFER_BYTES = 4_194_304
"""The kernel's own largest send buffer."""
_RECEIVE_BUFFER_BYTES = 6_291_456
"""The kernel's own largest receive buffer."""
_PATIENCE_S = 1.0
"""For the network's thread to end, which takes less than a millisecond by itself."""
_ONE_BY_ONE_BPS = 500_000_000
"""Up to here hosts hand over packets one by one, and take them so."""
_FAST_BPS = 3_000_000_000
"""What a core is known to carry where they hand over segments together."""
_FAST_ONE_BY_ONE_BPS = 1_000_000_000
_PS_PER_S = 1e12


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements that a live network leaves behind."""

    outcome: _core.LiveOutcome
    records: list[FlowRecord]
    samples: list[Sample]
    device_drops: int
    flows_late_s: list[float]
    """How much later than due the thread that writes and reads for all flows came."""
    real_time: bool
    warnings: list[str]


class LiveHosts:
    """The engine, its hosts, and what runs in them."""

    def __init__(
        self,
        setup: Setup,
        carrying: Setup,
        routers: Routers,
        asked: Asked,
        *,
        receives: bool,
        only_sends: bool = False,
    ) -> None:
        """Of a run.

        Args:
            setup: that of the scenario.
            carrying: the same, with flows behind its own that carry what programs say.
            routers: what is between the hosts.
            asked: what is to run in hosts besides.
            receives: whether the kernel receives the flows of TCP that it cannot send.
            only_sends: whether receivers of TCP are simulated.
        """
        self._setup = setup
        self._asked = asked
        self._kernels = [
            kernel_of(transport, receives=receives, only_sends=only_sends) for transport in setup.transports
        ]
        self._real = real_flows(setup, self._kernels)
        self._routers = routers
        for flow in self._real.nonzero()[0].tolist():
            kernel = self._kernels[setup.flows.transport[flow]]
            assert kernel is not None  # noqa: S101 - it is real
            routers.flows.make_real(flow, kernel.control is not None, kernel.receives)
        self._carriers = {flow: carrying.flows[flow] for flow in range(len(setup.flows), len(carrying.flows))}
        for flow in self._carriers:
            routers.flows.make_carrier(flow)
        self._duration_s = carrying.duration / _PS_PER_S
        self._trains = {host.node: host.offload for host in setup.hosts if host.offload > 1}
        self._real_time = True
        self._failure: BaseException | None = None
        self.running: Running | None = None
        """The programs of the user."""

    def run(
        self,
        scenario: Scenario,
        signals: Deferred,
        progress: Callable[[float, int], None] | None,
        hearer: Hearer | None = None,
    ) -> Measured:
        """Makes the hosts, lets everything run, and removes them.

        Args:
            scenario: the run's.
            signals: what ends it.
            progress: told how far it is.
            hearer: as of :class:`KernelFlows`.

        Raises:
            LiveError: if the system ends it.
        """
        setup, ends = self._setup, self._ends()
        settings = scenario.run_settings
        interval_s = int(settings.sample_interval) / _PS_PER_S if settings.flow_series else None
        ignored = [*ignored_choices(setup, self._kernels), *self._processing()]
        warnings = [*self._simulated(), *ignored, *self._fast()]
        try:
            with hosts_of(self._host_plans(ends)) as hosts, self._routers.joined(hosts, self._framing):
                known = self._routers.flows
                anew = self._of_each_real(known.endpoints_anew)
                plans = flow_plans(setup, self._kernels, ends, anew, known.address_at)
                with closing(KernelFlows(plans, hosts, interval_s, hearer)) as flows:
                    records = self._go(flows, hosts, signals, progress)
                    drops = sum(host.dropped_packets() for host in hosts.values())
                    drops += self._routers.dropped_packets()
        except OSError as error:
            raise LiveError(
                f"the system ends the live run: {error.filename or ''} {reason(error)}"
            ) from error
        if not self._real_time:
            warnings.append(
                "the network's thread may not have a real-time policy, so that packets may be late on a busy "
                "machine; run it as root, or allow it (ulimit -r 10)"
            )
        if self.running is not None:
            warnings += self.running.failures()
        warnings += self._routers.warnings()
        outcome = self._routers.finish()
        return Measured(outcome, records, flows.samples, drops, flows.late_s, self._real_time, warnings)

    @property
    def _joins(self) -> bool:
        """Whether hosts hand over segments together, and take them together."""
        fast = self._fastest_bps() > _ONE_BY_ONE_BPS
        return fast and not self._trains and not self._routers.one_by_one

    @property
    def _framing(self) -> _core.Framing:
        # Where some host sends trains of segments, all receive them.
        if self._trains:
            return "trains"
        return "segments" if self._joins else "single"

    def _go(
        self,
        flows: KernelFlows,
        hosts: Mapping[int, Host],
        signals: Deferred,
        progress: Callable[[float, int], None] | None,
    ) -> list[FlowRecord]:
        begin_ns = time.monotonic_ns() + _BEGIN_NS
        thread = threading.Thread(target=self._relay, args=(begin_ns,), name="network")
        thread.start()
        running: Running | None = None
        complete = False

        def go_on() -> bool:
            if progress is not None:
                progress(*self._routers.packets.progress())
            alive = signals.number is None and thread.is_alive() and self._routers.are_sound()
            return alive and (running is None or running.go_on())

        self._routers.begin(begin_ns)
        try:
            self.running = running = Running(self._asked, hosts)
            with _before_others():
                records = flows.run(begin_ns, self._duration_s, go_on)
            complete = go_on()
        finally:
            if not complete:
                self._routers.packets.stop()
            if running is not None:
                running.end()
            _end(thread)
            if self._failure is not None:
                raise self._failure
        return records

    def _relay(self, begin_ns: int) -> None:
        try:
            # Programs that this thread starts do not inherit it.
            policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(0, policy, os.sched_param(_PRIORITY))
        except PermissionError:
            self._real_time = False
        try:
            self._routers.packets.run(begin_ns)
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            self._failure = error

    def _ends(self) -> list[Ends]:
        return self._of_each_real(self._routers.flows.endpoints)

    def _of_each_real(self, endpoints: Callable[[int], list[tuple[End, End]]]) -> list[Ends]:
        return [tuple(endpoints(flow)) if real else () for flow, real in enumerate(self._real.tolist())]

    def _host_plans(self, ends: Sequence[Ends]) -> list[HostPlan]:
        """A host for each node with a real flow, or that programs can reach."""
        wanted: dict[int, _Wanted] = {}
        for flow, addresses in zip(self._setup.flows, ends, strict=True):
            kernel = self._kernels[flow.transport]
            if kernel is None:
                continue
            for node, end, sends in ((flow.origin, 0, True), (flow.to, 1, False)):
                if not (kernel.control if sends else kernel.receives):
                    continue
                host = wanted.setdefault(node, _Wanted())
                host.addresses.update(dict.fromkeys(pair[end][0] for pair in addresses))
                host.flows.append((kernel, sends))
        for number, flow in self._carriers.items():
            ((source, destination),) = self._routers.flows.endpoints(number)
            wanted.setdefault(flow.origin, _Wanted()).addresses[source[0]] = None
            wanted.setdefault(flow.to, _Wanted()).addresses[destination[0]] = None
        trains = {node: self._trains.get(node, 1) if self._trains else None for node in wanted}
        return [
            host.plan(node, self._setup.nodes[node].name, trains[node], joins=self._joins)
            for node, host in sorted(wanted.items())
        ]

    def _simulated(self) -> list[str]:
        """Which flows the kernel does not speak."""
        simulated = self._setup.flows.transport[~self._real].tolist()
        counts = Counter(self._setup.transports[transport].name for transport in simulated)
        return [
            f"{count} {'flow' if count == 1 else 'flows'} of {name}: the kernel does not speak it; "
            "simulated, on the same links"
            for name, count in sorted(counts.items())
        ]

    def _processing(self) -> list[str]:
        """Whether the scenario has real hosts take time."""
        flows = self._setup.flows
        real = {*flows.origin[self._real].tolist(), *flows.to[self._real].tolist()}
        if not any(host.processing_delay is not None and host.node in real for host in self._setup.hosts):
            return []
        return ["processing_delay: real hosts take the time that they need, not that of the scenario"]

    def _fastest_bps(self) -> int:
        """The fastest link out of a real host, or that into the one it sends to if that is slower."""
        pairs = [(flow.origin, flow.to) for flow in self._carriers.values()]
        flows = self._setup.flows
        pairs += zip(flows.origin[self._real].tolist(), flows.to[self._real].tolist(), strict=True)
        out: dict[int, int] = {}
        into: dict[int, int] = {}
        for link in self._setup.links:
            out[link.origin] = max(out.get(link.origin, 0), link.capacity)
            into[link.to] = max(into.get(link.to, 0), link.capacity)
        return max((min(out.get(a, 0), into.get(b, 0)) for a, b in set(pairs)), default=0)

    def _fast(self) -> list[str]:
        """Whether hosts may send more than one thread is known to carry."""
        flows = self._setup.flows
        origins, ends = set(flows.origin[self._real].tolist()), set(flows.to[self._real].tolist())
        out = sum(link.capacity for link in self._setup.links if link.origin in origins)
        into = sum(link.capacity for link in self._setup.links if link.to in ends)
        rate = min(out, into)
        limit = _FAST_BPS if self._joins else _FAST_ONE_BY_ONE_BPS
        if rate <= limit:
            return []
        return [
            f"real hosts may send up to {rate / 1e9:g} Gbps through one thread, and {limit / 1e9:g} Gbps is "
            "what a core is known to carry; look at the self-check, or lower the capacities"
        ]


@dataclass(slots=True)
class _Wanted:
    """What the flows of a host want of it."""

    addresses: dict[str, None] = field(default_factory=dict)
    """In the order of their first use."""
    flows: list[tuple[Kernel, bool]] = field(default_factory=list)
    """How the kernel speaks each, and whether it sends the data."""

    def plan(self, node: int, name: str, train_segments: int | None, *, joins: bool) -> HostPlan:
        """The host; :class:`HostPlan` says what else it is told."""
        buffers = [kernel.receive_buffer_bytes for kernel, _ in self.flows]
        largest = max(buffers, default=_RECEIVE_BUFFER_BYTES)
        return HostPlan(
            node=node,
            name=name,
            addresses=tuple(self.addresses),
            receive_buffer_bytes=largest,
            send_buffer_bytes=max(largest, _BUFFER_BYTES),
            asks_for_ecn=any(kernel.asks_for_ecn and sends for kernel, sends in self.flows),
            path_manager=any(kernel.is_mptcp for kernel, _ in self.flows),
            train_segments=train_segments,
            hands_over_segments=joins,
        )


@contextmanager
def _before_others() -> Iterator[None]:
    """This thread, which writes and reads for all flows, waits for no other program, where that is permitted.

    A receiver that reads late acknowledges late, because its window stays shut until then, and its sender's
    bursts fill queues that they would not fill otherwise. Threads that it starts to open sockets in hosts are
    like it; programs of hosts have begun before.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_FLOWS_PRIORITY))
    except PermissionError:
        # The network's thread may not either, and the run says so.
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def _end(thread: threading.Thread) -> None:
    """Waits for the network's thread, and gets it out of code of the user's own that does not return."""
    thread.join(_PATIENCE_S)
    if thread.is_alive():
        # An exception that is raised in another thread, at its next line of Python.
        interrupt = ctypes.py_object(KeyboardInterrupt)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), interrupt)
        thread.join()
