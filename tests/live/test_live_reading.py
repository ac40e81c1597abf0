"""How a program of a live run reads, by the clock."""

from anabranch.live.reading import Reader, ReadingPlan
from anabranch.scenario.leaves import BlockSetup, ReadingSetup

PS = 10**12
"""Picoseconds of a second."""


def reader(**reads: int | None) -> Reader:
    """Blocks of 1000 bytes each 100 ms from 1 s on."""
    blocks = BlockSetup(bytes=1000, interval=PS // 10)
    setup = ReadingSetup(blocks=blocks, pause=None, resume=None).replace(**reads)
    reading = ReadingPlan.of(setup, PS)
    assert reading is not None
    return Reader(reading)


def test_a_block_each_interval_and_what_is_missing_of_it_as_it_comes() -> None:
    own_reader = reader()
    assert own_reader.may_read(1.0) == 1000
    own_reader.on_read(400)
    assert own_reader.may_read(1.05) == 600
    own_reader.on_read(600)
    assert own_reader.may_read(1.06) == 0
    assert own_reader.next_s() == 1.1
    # Late by more than an interval: the program would have read two blocks by then.
    assert own_reader.may_read(1.25) == 2000
    own_reader.on_read(2000)
    assert own_reader.may_read(1.26) == 0
    assert own_reader.next_s() == 1.3
    # Without anything to read, a block is not made up for.
    assert own_reader.may_read(1.31) == 1000
    assert own_reader.may_read(1.71) == 1000


def test_behind_a_pause_there_is_one_block() -> None:
    own_reader = reader(pause=2 * PS, resume=5 * PS)
    own_reader.may_read(1.95)
    own_reader.on_read(1000)
    assert own_reader.may_read(1.99) == 0
    assert own_reader.next_s() == 5.0
    assert own_reader.may_read(5.0) == 1000
    assert reader(pause=PS).may_read(3.0) == 0
    never = reader(pause=PS)
    assert never.may_read(1.0) == 0
    assert never.next_s() is None


def test_who_reads_at_once_has_no_reading() -> None:
    assert ReadingPlan.of(None, 0) is None
