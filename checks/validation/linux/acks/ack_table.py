"""Makes the table of a trace from what sender.bt printed: ``ack_table.py sender.txt table.csv ACKS``."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

COLUMNS = (
    *("event", "at_ns", "ack_bytes", "window", "timestamp", "echo_ms", "sack_bytes"),
    *("una_bytes", "nxt_bytes", "cwnd_segments", "sacked", "lost", "retransmitted", "srtt_us"),
)
SECOND_NS = 10**9
MILLISECOND_NS = 10**6
TURN = 1 << 32
#: What is sent so shortly after a timer expired, or an ACK came, was sent because of it.
AT_ONCE_NS = 500_000
#: Length of the header in words, and how many SACK blocks it holds behind timestamps.
BLOCKS = {8: 0, 11: 1, 13: 2, 15: 3}

Event = tuple[str, list[int]]


def events(path: Path) -> list[Event]:
    """What was printed, in the order of time: the kind, and numbers of which the first is the time in ns."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    rows = [line for line in lines if line and line[0] in ("ACK", "TIMER", "SEND")]
    events = [(kind, [int(cell) for cell in cells]) for kind, *cells in rows]
    return sorted(events, key=lambda event: event[1][0])


def rows(events: list[Event], acks: int) -> Iterator[list[object]]:
    """The rows of the table, from the handshake on; a timer on which nothing was sent is left out.

    What was sent with neither a timer nor an ACK before it was sent because the application wrote.
    """
    first, second = [cells for kind, cells in events if kind == "ACK"][:2]
    base_ns = (first[0] // SECOND_NS - 1) * SECOND_NS
    established_ns = first[0] - base_ns - second[14] * 1000
    empty = [""] * (len(COLUMNS) - 2)
    yield ["syn", established_ns - first[13] * 1000, *empty]
    yield ["established", established_ns, *empty]
    done = 0
    for number, (kind, cells) in enumerate(events):
        if kind == "TIMER" and done and _sends(events, number):
            yield ["timer", cells[0] - base_ns, *empty]
        if kind == "SEND" and done and _written(events, number):
            yield ["write", cells[0] - base_ns, *empty]
        if kind == "ACK" and done < acks:
            done += 1
            yield _ack(cells, first, base_ns)
        if done == acks:
            return


def _sends(events: list[Event], number: int) -> bool:
    expired_ns = events[number][1][0]
    behind = events[number + 1 : number + 3]
    return any(kind == "SEND" and cells[0] - expired_ns < AT_ONCE_NS for kind, cells in behind)


def _written(events: list[Event], number: int) -> bool:
    sent_ns = events[number][1][0]
    before = (cells[0] for kind, cells in reversed(events[:number]) if kind != "SEND")
    return sent_ns - next(before) > AT_ONCE_NS


def _ack(cells: list[int], first: list[int], base_ns: int) -> list[object]:
    at_ns, ack, window, timestamp, echo, offset, words, una, nxt, *state = cells
    zero = first[7]
    edges = [(edge - zero) % TURN for edge in state[6 : 6 + 2 * BLOCKS.get(words, 0)]]
    blocks = " ".join(f"{left}-{right}" for left, right in zip(edges[::2], edges[1::2], strict=True))
    echo_ms = (echo - offset) % TURN - base_ns // MILLISECOND_NS
    header = [(ack - zero) % TURN, window, (timestamp - first[3]) % TURN, echo_ms, blocks]
    return ["ack", at_ns - base_ns, *header, (una - zero) % TURN, (nxt - zero) % TURN, *state[:5]]


if __name__ == "__main__":
    source, target, acks = sys.argv[1:]
    with Path(target).open("w", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows(events(Path(source)), int(acks)))
