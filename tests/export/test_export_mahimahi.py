"""Traces for Mahimahi: as many opportunities as the profile has capacity for, to one packet, at any time."""

import bisect
from pathlib import Path

import pytest

from anabranch import Scenario
from anabranch.errors import ExportError
from anabranch.export.mahimahi import opportunities
from anabranch.export.write import export
from anabranch.setup import resolve

PACKET_BITS = 1500 * 8
MS = 10**9
SECOND = 10**12
STEPS = [(0.0, 8.9), (0.35, 1.0), (1.0, 47.3), (2.25, 0.004)]
"""From which second on there are how many Mbps."""
DURATION_S = 3.0


def scenario(folder: Path, text: str, profile: str = "", duration: str = "3 s") -> Scenario:
    (folder / "measured").write_text(text, encoding="utf-8")
    return Scenario.loads(
        f"""
        [[network.node]]
        name = "left"
        kind = "host"
        [[network.node]]
        name = "right"
        kind = "host"
        [[network.link]]
        between = ["left", "right"]
        new = true
        capacity = "12 Mbps"
        delay = "5 ms"
        [[profile]]
        link = ["left", "right"]
        direction = "forward"
        from = "file:measured"
        {profile}
        [[traffic]]
        from = "left"
        to = "right"
        [run]
        duration = "{duration}"
        """,
        base=folder,
    )


def table(steps: list[tuple[float, float]]) -> str:
    return "time_s,capacity_mbps\n" + "".join(f"{at},{mbps}\n" for at, mbps in steps)


def carried_bits(at_s: float) -> float:
    """The integral of the steps until then."""
    ends = [*(begin for begin, _ in STEPS[1:]), DURATION_S]
    return sum(
        max(0.0, min(at_s, end) - begin) * mbps * 1e6 for (begin, mbps), end in zip(STEPS, ends, strict=True)
    )


def trace(folder: Path, name: str) -> list[int]:
    (file,) = folder.glob(f"*-{name}.trace")
    return [int(line) for line in file.read_text().splitlines()]


def test_opportunities_are_the_capacity_to_one_packet_at_every_millisecond(tmp_path: Path) -> None:
    made = export(scenario(tmp_path, table(STEPS)), "mahimahi", tmp_path / "out")
    lines = trace(tmp_path / "out", "n1-n2")
    assert lines == sorted(lines)
    # The last line is the end of the run, as Mahimahi begins anew there.
    assert lines[-1] == 3000
    for at_ms in range(3000):
        count = bisect.bisect_right(lines, at_ms)
        assert abs(count - carried_bits(at_ms / 1000) / PACKET_BITS) <= 1, at_ms
    assert 0 <= len(lines) - carried_bits(3.0) / PACKET_BITS <= 1
    # The other direction has no profile: 12 Mbps are a packet each millisecond.
    assert trace(tmp_path / "out", "n2-n1") == list(range(1, 3001))
    assert "routes, transports and traffic of the scenario: a trace is of one link" in made.notes


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    """Out, in as a profile, and out again: the same number of packets, to one.

    Within, the profile counts those of the millisecond at the end of an interval in the next one: 4 here.
    """
    export(scenario(tmp_path, table(STEPS)), "mahimahi", tmp_path / "out")
    first = trace(tmp_path / "out", "n1-n2")
    text = "".join(f"{line}\n" for line in first)
    again = scenario(tmp_path, text, 'format = "mahimahi"\ninterval = "50 ms"')
    export(again, "mahimahi", tmp_path / "again")
    second = trace(tmp_path / "again", "n1-n2")
    assert abs(len(second) - len(first)) <= 1
    for at_ms in range(0, 3001, 50):
        before, after = (bisect.bisect_left(lines, at_ms) for lines in (first, second))
        assert abs(before - after) <= 1 + 47.3e3 / PACKET_BITS, at_ms


def test_a_link_that_is_down_has_no_opportunity() -> None:
    """1 s at 12 Mbps, 1 s without, 1 s at 12 Mbps."""
    steps = [(0, 12_000_000), (SECOND, 0), (2 * SECOND, 12_000_000)]
    assert list(opportunities(steps, 3 * SECOND)) == [*range(1, 1001), *range(2001, 3001)]
    # What was begun before an outage goes on after it: 0.5 packets, then the other half.
    assert list(opportunities([(0, 12_000_000), (MS // 2, 0), (2 * MS, 12_000_000)], 4 * MS)) == [3, 4]


def test_events_are_in_the_trace(tmp_path: Path) -> None:
    text = scenario(tmp_path, table([(0, 12)]))
    data = text.data()
    data["event"] = [
        {"at": "1 s", "link": ["left", "right"], "state": "down"},
        {"at": "2 s", "link": ["left", "right"], "state": "up"},
    ]
    export(Scenario.from_data(data, base=tmp_path), "mahimahi", tmp_path / "out")
    for name in ("n1-n2", "n2-n1"):
        assert trace(tmp_path / "out", name) == [*range(1, 1001), *range(2001, 3001)]


def test_what_a_trace_cannot_say_is_told(tmp_path: Path) -> None:
    text = "time_s,capacity_mbps,delay_ms,loss\n0,1,1,0\n1,2,2,0.1\n"
    notes = "\n".join(export(scenario(tmp_path, text), "mahimahi", tmp_path / "out").notes)
    assert "a delay that changes: mm-delay has one" in notes
    assert "a loss that changes: mm-loss has one" in notes


def test_too_long_a_trace_is_refused(tmp_path: Path) -> None:
    fast = scenario(tmp_path, table([(0, 1), (1, 100_000)]), duration="100 s")
    assert resolve(fast).duration == 100 * SECOND
    with pytest.raises(ExportError, match=r"at most 10,000,000 are written; shorten run\.duration"):
        export(fast, "mahimahi", tmp_path / "out")
    assert not (tmp_path / "out").exists()
