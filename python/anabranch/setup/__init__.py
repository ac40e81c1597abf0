"""From a scenario to plain data for the engine: names resolved, numbers in base units, variates drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from anabranch.errors import ConsentError
from anabranch.scenario.algorithm import Own
from anabranch.scenario.algorithms.application import SubflowRoundRobinApplication
from anabranch.scenario.algorithms.load_balancing import AnyLoadBalancing, Flow
from anabranch.scenario.algorithms.path_manager import Fullmesh, Ndiffports
from anabranch.scenario.algorithms.protocol import MptcpProtocol
from anabranch.scenario.algorithms.scheme import AnyScheme, Semper, Shortest
from anabranch.scenario.choice import leaf
from anabranch.scenario.controller import BY_SUBFLOW, Controller
from anabranch.scenario.event import Event
from anabranch.scenario.leaves import (
    CapacityChange,
    CapturePoint,
    Change,
    DelayChange,
    HostCapturePoint,
    LinkCapturePoint,
    LinksChange,
    LossChange,
    NodeChange,
)
from anabranch.scenario.network import LinkSelector
from anabranch.scenario.provenance import Agreement
from anabranch.scenario.quantity import quoted
from anabranch.scenario.run import Capture, Run
from anabranch.scenario.scenario import Scenario
from anabranch.setup.addresses import Addresses, address_changes
from anabranch.setup.controller import ResolvedController
from anabranch.setup.demand import demand_setup, planner_setup, scheme_leaf
from anabranch.setup.flow_columns import FlowColumns
from anabranch.setup.given import given_routes
from anabranch.setup.model import (
    CaptureSetup,
    EventSetup,
    ProbeSetup,
    RoutingSetup,
    Setup,
    TransportSetup,
)
from anabranch.setup.network import ResolvedNetwork, host_setups, loss_setup, router_setups
from anabranch.setup.own import Needed, OwnCode
from anabranch.setup.own_routes import TrafficRoutes
from anabranch.setup.problems import Problems
from anabranch.setup.profile import profile_events
from anabranch.setup.queue import size_queues
from anabranch.setup.traffic import Flows
from anabranch.setup.transport import Transports
from anabranch.setup.watched import LOG, SEQUENCES, WatchedFlows

__all__ = ["Needed", "Setup", "agree", "resolve"]

# A series has a row for each flow and link and sample; beyond this the memory of a workstation ends.
_MOST_SERIES_ROWS = 500_000_000
# A segment numbers them in a byte.
_MOST_SUBFLOWS = 255


def resolve(scenario: Scenario, needed: Needed = Needed.NOTHING) -> Setup:
    """The scenario as the engine reads it.

    Args:
        scenario: the scenario.
        needed: which classes of the user's own are loaded; the others are placeholders, which cannot run.

    Raises:
        ScenarioError: with every name that is not there, every pair that is not connected, and whatever
            else can only be seen with the network at hand.
        ConsentError: if nobody has agreed to code that is needed.
    """
    return resolve_names(scenario, needed)[0]


def resolve_names(scenario: Scenario, needed: Needed = Needed.NOTHING) -> tuple[Setup, ResolvedNetwork]:
    """The same, and the network by whose names :func:`changes_of` goes.

    Raises:
        ScenarioError: as :func:`resolve`.
        ConsentError: as :func:`resolve`.
    """
    problems = Problems(scenario.origin)
    own = OwnCode(scenario.base, problems, needed, agree(scenario, needed))
    network = ResolvedNetwork(scenario, problems)
    transports = Transports(scenario, own, problems)
    controller = ResolvedController(scenario, network, own, problems)
    demand = demand_setup(scenario, network, problems)
    own_routes = TrafficRoutes(scenario, own, problems)
    flows = Flows(scenario, network, controller, (transports, own_routes), demand, problems)
    transports.check_unused()
    governed = scenario.controller is not None
    connections = flows.setups()
    size_queues(network.unsized_queues, network.links, (connections, flows.datagrams), problems, governed)
    events = [
        setup
        for number, event in enumerate(scenario.event)
        for setup in _event(event, f"event[{number}]", network)
    ]
    addresses = Addresses(network, connections, transports.setups, problems)
    for number, event in enumerate(scenario.event):
        addresses.check(event, f"event[{number}]")
    addresses.check_last(scenario.event)
    events += profile_events(scenario, network, problems)
    captures = _captures(scenario.capture, network, problems)
    hosts, routers = host_setups(scenario.network, network), router_setups(scenario.network, network)
    watched = WatchedFlows(connections, transports.setups, problems, flows.datagrams)
    sequences, log = (watched.chosen(scenario.run_settings, field) for field in (SEQUENCES, LOG))
    series = len(connections) + len(flows.datagrams) + _subflows(connections, transports.setups, network)
    _check_series(scenario.run_settings, series, len(network.links), problems)
    planner = planner_setup(scenario.routing, own)
    if planner is not None and (given := given_routes(scenario, network, problems)) is not None:
        planner = replace(planner, given=given)
    spread = _spread(scenario, own, network)
    _check_end(scenario.run_settings, connections, problems)
    problems.raise_if_any()
    setup = Setup(
        seed=scenario.run_settings.seed,
        replication=scenario.run_settings.replication,
        duration=int(scenario.run_settings.duration),
        until=scenario.run_settings.until,
        nodes=network.nodes,
        links=network.links,
        hosts=hosts,
        routers=routers,
        transports=transports.setups,
        flows=connections,
        datagrams=flows.datagrams,
        # Stable: events at the same time keep the order of the scenario.
        events=sorted(events, key=lambda event: event.at),
        routing=replace(_routing(scenario, spread), others=own_routes.schemes),
        probes=_probes(scenario.run_settings, sequences, log),
        captures=captures,
        controller=controller.setup,
        planner=planner,
        demand=demand,
        own_routes=tuple(own_routes.routes),
        never_begun=dict(flows.never_begun),
        provenance=tuple(network.provenance),
        own=own.makers,
        agreement=own.agreement if own.makers else None,
    )
    return setup, network


def agree(scenario: Scenario, needed: Needed) -> Agreement | None:
    """What may run of the code that is needed; None where none is. Nothing of it runs here.

    Raises:
        ConsentError: if nobody has agreed to it.
        ScenarioError: with what else is wrong then, in its place.
    """
    references = needed.of(scenario.code())
    if not references:
        return None
    from anabranch.own.consent import agreement_of  # noqa: PLC0415 - few scenarios have such code

    try:
        found = agreement_of(scenario.provenance, references, scenario.base)
    except ConsentError:
        # Nobody should be asked about what cannot run anyway.
        resolve_names(scenario)
        raise
    scenario.agree(found)
    return found


def _spread(scenario: Scenario, own: OwnCode, network: ResolvedNetwork) -> AnyLoadBalancing:
    """The load balancing, with its parameters or as a class of the user's own."""
    chosen = scenario.routing.load_balancing
    if isinstance(chosen, Own):
        # Where something is wrong with the class, which has been noted, another one stands in its place.
        return own.balancer(chosen, network.links) or Flow()
    # With a controller there is none of the scenario's.
    found: AnyLoadBalancing = leaf("load_balancing", "flow" if scenario.controller is not None else chosen)
    return found


def _routing(scenario: Scenario, spread: AnyLoadBalancing) -> RoutingSetup:
    routing = scenario.routing
    reaction = None if isinstance(routing.reaction, str) else int(routing.reaction)
    if scenario.controller is not None:
        return RoutingSetup(_found_by(scenario.controller), spread, reaction)
    return RoutingSetup(None if routing.planned else scheme_leaf(routing), spread, reaction)


def _found_by(controller: Controller) -> AnyScheme:
    """What a controller will find where no link is down; nobody forwards by it."""
    metric, application = controller.path_metric(), controller.application
    if controller.application_name != BY_SUBFLOW or isinstance(application, Own):
        return Shortest.filled({"metric": metric})
    k = application.k if isinstance(application, SubflowRoundRobinApplication) else None
    return Semper.filled({"metric": metric, "k": k})


def _probes(run: Run, sequences: list[int], log: list[int]) -> ProbeSetup:
    wanted = run.flow_series or run.link_series
    interval = int(run.sample_interval) if wanted else None
    return ProbeSetup(interval, run.flow_series, run.link_series, sequences, log)


def _check_end(run: Run, flows: FlowColumns, problems: Problems) -> None:
    """Notes a run that waits for flows to complete where none can."""
    if run.until == "done" and not flows.can_complete.any():
        problems.add(
            "run.until",
            '"done" waits for flows that complete, and there are none; give traffic a size or a stop, or '
            "leave it out",
        )


def _subflows(flows: FlowColumns, transports: list[TransportSetup], network: ResolvedNetwork) -> int:
    """Most subflows of all multipath flows together."""
    if not any(isinstance(transport.config, MptcpProtocol) for transport in transports):
        return 0
    outward = Counter(link.origin for link in network.links)
    inward = Counter(link.to for link in network.links)

    def most(origin: int, to: int, transport: int) -> int:
        config = transports[transport].config
        if not isinstance(config, MptcpProtocol):
            return 0
        pairs = min(outward[origin] * inward[to], _MOST_SUBFLOWS)
        match config.path_manager:
            case Fullmesh():
                return pairs
            case Ndiffports(subflows=subflows, by_interfaces=by_interfaces):
                return max(subflows, pairs if by_interfaces else 0)
            case _:
                return 1

    columns = (flows.origin.tolist(), flows.to.tolist(), flows.transport.tolist())
    return sum(map(most, *columns))


def _check_series(run: Run, flows: int, links: int, problems: Problems) -> None:
    """``flows`` counts subflows, too: each has a row in a table of its own."""
    samples = run.duration // run.sample_interval
    rows = samples * (flows * run.flow_series + links * run.link_series)
    if rows > _MOST_SERIES_ROWS:
        problems.add(
            "run.sample_interval",
            f"{quoted(run.sample_interval.text)} makes {rows:,} rows of series; at most "
            f"{_MOST_SERIES_ROWS:,} can "
            "be kept. Sample less often, or set flow_series or link_series to false",
        )


def changes_of(event: Event, place: str, network: ResolvedNetwork, setup: Setup) -> list[Change]:
    """What changes with an event, whenever it is, as the engine reads it.

    Args:
        event: the event; its time does not matter.
        place: where it stands, for messages.
        network: the network of the run.
        setup: what runs over it.

    Raises:
        ScenarioError: if the network has no such node or link, or a value does not hold there.
    """
    changes = [change.change for change in _event(event, place, network)]
    Addresses(network, setup.flows, setup.transports, network.problems).check(event, place)
    network.problems.raise_if_any()
    return changes


def _event(event: Event, place: str, network: ResolvedNetwork) -> list[EventSetup]:
    at = int(event.at)
    if event.node is not None:
        node = network.node(event.node, f"{place}.node")
        up = event.state == "up"
        return [] if node is None else [EventSetup(at, NodeChange(node=node, up=up))]
    if event.address is not None:
        return [EventSetup(at, change) for change in address_changes(event, place, network)]
    assert event.link is not None  # noqa: S101 - the event demands one of them
    links = network.links_between(event.link, event, f"{place}.link")
    changes: list[Change] = []
    if event.capacity is not None:
        network.check_capacity(event.capacity, f"{place}.capacity")
        changes.append(CapacityChange(links=links, capacity=int(event.capacity)))
    if event.delay is not None:
        changes.append(DelayChange(links=links, delay=int(event.delay)))
    if event.loss is not None:
        changes.append(LossChange(links=links, loss=loss_setup(event.loss)))
    if event.queue is not None:
        changes += network.queue_changes(links, event.queue, event.capacity, f"{place}.queue")
    if event.state is not None:
        # Last: a link that comes up comes up with its new capacity.
        changes.append(LinksChange(links=links, up=event.state == "up"))
    return [EventSetup(at, change) for change in changes]


def _captures(captures: list[Capture], network: ResolvedNetwork, problems: Problems) -> list[CaptureSetup]:
    setups = []
    files: dict[str, int] = {}
    for number, capture in enumerate(captures):
        place = f"capture[{number}]"
        if capture.file in files:
            problems.add(
                f"{place}.file",
                f"{quoted(capture.file)} is the file of capture[{files[capture.file]}] as well",
            )
        files[capture.file] = number
        at: CapturePoint | None = None
        if capture.link is not None:
            selector = LinkSelector(index=capture.index, direction="forward")
            found = network.links_between(capture.link, selector, f"{place}.link")
            at = LinkCapturePoint(link=found[0]) if found else None
        elif capture.host is not None:
            host = network.node(capture.host, f"{place}.host")
            at = None if host is None else HostCapturePoint(host=host)
        if at is not None:
            setups.append(CaptureSetup(capture.file, at, int(capture.snap_length or 0)))
    return setups
