"""Addresses of live runs, without one: which events a connection heeds, and what the kernel is asked for."""

from errno import EPERM, ESRCH
from typing import Any

import pytest

from anabranch import Scenario, _core
from anabranch.live.addresses import Addresses, AddressEvent, address_events, apply
from anabranch.live.flows import flow_plans, kernel_of
from anabranch.plans.routes import plan
from anabranch.setup import Needed, resolve

ENDS = (
    (("10.0.0.1", 100), ("10.0.0.2", 80)),
    (("11.0.0.1", 101), ("10.0.0.2", 80)),
    (("11.0.0.1", 102), ("11.0.0.2", 80)),
)


ENDS_ANEW = tuple(((address, port - 50), there) for (address, port), there in ENDS)


class Manager:
    """Notes what it is asked for."""

    def __init__(self, fails: int | None = None) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.fails = fails

    def _note(self, *asked: Any) -> None:
        self.asked.append(asked)
        if self.fails is not None:
            raise OSError(self.fails, "no")

    def set_backup(self, token: int, source: Any, destination: Any, *, is_backup: bool) -> None:
        self._note("backup", token, source, destination, is_backup)

    def destroy_subflow(self, token: int, source: Any, destination: Any) -> None:
        self._note("destroy", token, source, destination)

    def remove_address(self, token: int, identifier: int) -> None:
        self._note("remove", token, identifier)


def asked(event: AddressEvent, manager: Manager | None = None) -> tuple[list[tuple[Any, ...]], list[int]]:
    """What a manager is asked for by an event, and which subflows are to be opened."""
    addresses, manager = Addresses(ENDS, ENDS_ANEW), manager or Manager()
    addresses.note(event)
    return manager.asked, apply(event, addresses, manager, 7)  # type: ignore[arg-type]


def test_a_backup_is_told_of_each_subflow_of_its_address() -> None:
    told, again = asked(AddressEvent(1.0, "11.0.0.1", True, is_backup=True))
    assert told == [("backup", 7, *ENDS[1], True), ("backup", 7, *ENDS[2], True)]
    assert again == []


def test_at_the_host_that_receives_the_ends_are_its_own() -> None:
    told, _ = asked(AddressEvent(1.0, "11.0.0.2", False, is_backup=False))
    assert told == [("backup", 7, ENDS[2][1], ENDS[2][0], False)]


def test_an_address_that_goes_is_announced_and_its_subflows_are_closed() -> None:
    told, again = asked(AddressEvent(1.0, "11.0.0.1", True, is_up=False))
    assert [one[0] for one in told] == ["remove", "destroy"] * 2
    assert again == []
    # Identifiers are those under which the subflows were opened.
    assert [one[2] for one in told if one[0] == "remove"] == [1, 2]


def test_an_address_that_comes_back_opens_its_subflows() -> None:
    assert asked(AddressEvent(1.0, "11.0.0.1", True, is_up=True)) == ([], [1, 2])


def test_the_address_that_a_connection_began_with_comes_back_as_another_one() -> None:
    """RFC 8684 section 3.1: identifier 0 is the first subflow's; one that joins in its place has another."""
    addresses, manager = Addresses(ENDS, ENDS_ANEW), Manager()
    gone = AddressEvent(1.0, "10.0.0.1", True, is_up=False)
    back = AddressEvent(2.0, "10.0.0.1", True, is_up=True)

    def follow(event: AddressEvent) -> list[int]:
        addresses.note(event)
        return apply(event, addresses, manager, 7)  # type: ignore[arg-type]

    assert follow(back) == [], "it is open"
    assert follow(gone) == []
    assert follow(back) == [0]
    assert (addresses.identifier(0), addresses.ends[0]) == (len(ENDS), ENDS_ANEW[0])
    assert addresses.ends[1:] == list(ENDS[1:])
    assert follow(gone) == []
    assert [one[2] for one in manager.asked if one[0] == "remove"] == [0, len(ENDS)]
    assert [addresses.identifier(number) for number in (1, 2)] == [1, 2]


def test_a_subflow_that_is_gone_needs_nothing_and_other_refusals_are_told() -> None:
    event = AddressEvent(1.0, "11.0.0.1", True, is_up=False)
    asked(event, Manager(ESRCH))
    with pytest.raises(OSError, match="no"):
        asked(event, Manager(EPERM))


def test_state_follows_events() -> None:
    addresses = Addresses(ENDS, ENDS_ANEW)
    assert [addresses.is_backup(number) for number in range(3)] == [False, False, False]
    addresses.note(AddressEvent(0.0, "11.0.0.2", False, is_backup=True))
    addresses.note(AddressEvent(0.0, "11.0.0.1", True, is_up=False))
    assert [addresses.is_backup(number) for number in range(3)] == [False, False, True]
    assert [addresses.may_open(number) for number in range(3)] == [True, False, False]
    addresses.note(AddressEvent(0.0, "11.0.0.1", True, is_up=True))
    addresses.note(AddressEvent(0.0, "11.0.0.2", False, is_backup=False))
    assert [addresses.may_open(number) for number in range(3)] == [True, True, True]
    assert not addresses.is_backup(2)


def test_a_plan_has_the_changes_of_addresses_where_its_path_manager_looks_at_them() -> None:
    ends = {"from": "source", "to": "sink"}
    data = {
        "network": {
            "topology": "parallel",
            "parameters": {"paths": 2},
            "links": {"capacity": "10 Mbps", "delay": "5 ms"},
        },
        "routing": {"scheme": "disjoint"},
        "traffic": [{**ends, "transport": "mesh"}, {**ends, "transport": "ports"}],
        "transport": {
            "mesh": {"preset": "linux-mptcp", "path_manager": "fullmesh"},
            "ports": {"preset": "linux-mptcp", "path_manager": "ndiffports"},
        },
        "event": [
            {"at": "0 s", "address": ["source", "path2"], "backup": True},
            {"at": "1 s", "link": ["source", "path1"], "state": "down"},
            {"at": "2 s", "address": ["sink", "path2"], "state": "down"},
        ],
        "run": {"duration": "3 s"},
    }
    setup = resolve(Scenario.from_data(data), Needed.ALL)
    names = [node.name for node in setup.nodes]

    def address_at(_flow: int, link: int) -> str | None:
        return f"{names[setup.links[link].origin]}-{names[setup.links[link].to]}"

    kernels = [kernel_of(transport, receives=False) for transport in setup.transports]
    planned = flow_plans(setup, kernels, [ENDS] * 2, [ENDS_ANEW] * 2, address_at)
    plans = {one.name: one.address_events for one in planned}
    assert plans == {
        "traffic[0].0": (
            AddressEvent(0.0, "source-path2", True, is_backup=True),
            AddressEvent(2.0, "sink-path2", False, is_up=False),
        ),
        "traffic[1].0": (),
    }
    assert address_events(setup, 0, lambda _flow, _link: None) == ()


def test_the_network_knows_the_address_of_each_link_of_a_host() -> None:
    """The addresses of a mesh are those that its subflows have over these links."""
    data = {
        "network": {
            "topology": "parallel",
            "parameters": {"paths": 2},
            "links": {"capacity": "10 Mbps", "delay": "5 ms"},
        },
        "routing": {"scheme": {"algorithm": "disjoint", "k": 2}},
        "traffic": [
            {"from": "source", "to": "sink", "transport": "linux-mptcp"},
            {"from": "source", "to": "sink", "transport": "linux-cubic"},
        ],
        "run": {"duration": "1 s"},
    }
    setup = resolve(Scenario.from_data(data), Needed.ALL)
    network = _core.LiveNetwork(setup.core(), plan(setup, None).plan)
    links = {
        (setup.nodes[link.origin].name, setup.nodes[link.to].name): number
        for number, link in enumerate(setup.links)
    }
    pairs = {(source[0], destination[0]) for source, destination in network.endpoints(0)}
    for path in ("path1", "path2"):
        here = network.address_at(0, links["source", path])
        there = network.address_at(0, links["sink", path])
        assert (here, there) in pairs
        assert network.address_at(0, links[path, "sink"]) is None
        # A connection of one path looks at no addresses.
        assert network.address_at(1, links["source", path]) is None
    # Another port, and nothing else, for a subflow that begins anew.
    both = zip(network.endpoints(0), network.endpoints_anew(0), strict=True)
    for (source, destination), (anew, destination_anew) in both:
        assert (source[0], destination) == (anew[0], destination_anew)
        assert 1024 <= anew[1] < 32_768 <= source[1]
    assert network.address_at(0, links["source", "path1"]) != network.address_at(0, links["source", "path2"])
