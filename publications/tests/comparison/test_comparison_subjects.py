"""What is made of a user's scenario before anything runs."""

from pathlib import Path

import pytest

from anabranch_publications.comparison.runs import compare
from anabranch_publications.comparison.statics import statics
from anabranch_publications.comparison.subjects import Subject, subjects
from anabranch_publications.comparison.systems import SYSTEMS
from anabranch_publications.comparison.workload import described
from anabranch_publications.errors import ComparisonError

from .conftest import Write

DOWN = """
[[event]]
at = "{at}"
link = ["a", "b"]
state = "down"
"""
PAIR = """
[network]
[network.links]
capacity = "4 Mbps"
delay = "1 ms"
[[network.node]]
name = "a"
[[network.node]]
name = "b"
[[network.link]]
between = ["a", "b"]
new = true
{more}
[[traffic]]
from = "a"
to = "b"
transport = "cubic"
{traffic}
[run]
duration = "2 s"
"""
APART = """
[[network.node]]
name = "c"
[[network.node]]
name = "d"
[[network.link]]
between = ["c", "d"]
new = true
"""


def only(path: Path) -> Subject:
    """The subject of a scenario file."""
    (subject,) = subjects([str(path)], quick=False)
    return subject


def pair(folder: Path, *, more: str = "", traffic: str = "") -> Path:
    """Two routers with a link, as a scenario."""
    path = folder / "pair.toml"
    path.write_text(PAIR.format(more=more, traffic=traffic))
    return path


def test_what_fails_within_the_run_is_the_failure_and_later_events_are_none(write: Write) -> None:
    (part,) = only(write(more=DOWN.format(at="500 ms"), name="early.toml")).parts
    assert part.failure is not None
    assert part.failure.at_s == 0.5
    late = only(write(more=DOWN.format(at="5 s"), name="late.toml"))
    # The run ends at 2 s: the failure after that costs nothing, and the busiest edge fails halfway instead.
    assert [part.failure and part.failure.at_s for part in late.parts] == [None, 1.0]
    assert late.failed.startswith("a - b goes down at 1 s")


def test_transfers_have_a_quarter_of_the_run_to_end(write: Write) -> None:
    part = only(write()).parts[0]
    assert (part.transfers, part.counted_until_s) == (("short",), 1.5)


def test_a_controller_is_replaced_and_so_nothing_can_happen_to_it(tmp_path: Path) -> None:
    controller = """
[controller]
application = "forwarding"
[controller.links]
capacity = "10 Mbps"
delay = "1 ms"
"""
    event = '[[event]]\nat = "1 s"\nlink = ["controller", "a"]\nstate = "down"\n'
    assert only(pair(tmp_path, more=controller)).demand is not None
    with pytest.raises(ComparisonError, match=r"event\[0\]: is about the controller"):
        only(pair(tmp_path, more=controller, traffic=event))


def test_routers_without_a_way_between_them_have_no_worst_case(tmp_path: Path) -> None:
    subject = only(pair(tmp_path, more=APART))
    assert subject.demand is None
    assert "no path over routers" in subject.unbounded
    # Their queues are measured all the same.
    assert subject.links == {"a->b", "b->a", "c->d", "d->c"}
    assert subject.size == "4 routers, 2 edges of 1 to 1 ms"
    outcome = compare([subject], [SYSTEMS["robust"]], tmp_path / "out", replications=1)
    # Nothing was run, and every dash says why.
    assert not (tmp_path / "out").exists()
    assert "no path over routers" in outcome.missing[subject.name, "robust", "goodput_mbps"]
    assert "no path over routers" in outcome.missing[subject.name, "robust", "worst_load"]


def test_a_failure_that_leaves_no_route_has_no_load(tmp_path: Path) -> None:
    subject = only(pair(tmp_path))
    hops = SYSTEMS["hops"]
    loads = statics(hops, subject, hops.routing, failures=True)
    # Half of a link's capacity each way is the bound; without the link neither of both pairs has a route.
    assert (loads.load, loads.failure_load, loads.stranded_percent) == (0.5, None, 100.0)


def test_the_workload_is_told_in_full() -> None:
    message = " ".join(described())
    for word in (
        "20 Mbps",
        "100 packets",
        "1e-05 and 0.001",
        "150 kB",
        "15%",
        "8 to 20 s",
        "Seed 1",
        "study.toml",
    ):
        assert word in message
