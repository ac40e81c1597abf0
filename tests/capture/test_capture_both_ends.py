"""Captures of a run at both ends: whatever the sender's file gives alone, both files together give."""

from pathlib import Path

import polars as pl
import pytest

from anabranch import Scenario
from anabranch.runs.capture import CaptureResult, analyze

TWO_PATHS = """
[network]
topology = "parallel"
[network.parameters]
paths = 2
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "30 packets"
[[traffic]]
from = "source"
to = "sink"
size = "600 kB"
[[capture]]
file = "sender.pcapng"
host = "source"
[[capture]]
file = "receiver.pcapng"
host = "sink"
[run]
duration = "60 s"
seed = 3
"""
TRANSPORTS = ("linux-cubic", "newreno", "tcp-pr", "bbr3", "linux-mptcp", "mptcp")
SHARES = ((0.97, 1), (0.6, 1), (0.2, 1), (1, 0.97), (1, 0.3), (0.5, 0.5))
"""What the files of sender and receiver have of what was captured."""
NOT_MORE = ("missing_bytes", "reordered_packets", "three_reordered_packets", "reordering_extent_max")
"""What was not seen or not in order: less of it is more."""


def check(alone: CaptureResult, both: CaptureResult) -> None:
    """Nothing that was there is gone, and no count is smaller; round-trip times are the sender's own."""
    for table in ("connections", "subflows"):
        first, second = alone.tables[table], both.tables[table]
        assert first.height <= second.height
        for column in first.columns:
            pairs = list(zip(first[column].to_list(), second[column].to_list(), strict=False))
            lost = [pair for pair in pairs if pair[0] is not None and pair[1] is None]
            assert not lost, f"{table}.{column}"
            if column.startswith("rtt_") and column != "rtt_at":
                # Of what the sender's file has none, the receiver's times of a part of the way are shown.
                samples = first["rtt_samples"].to_list()
                names = [pair for pair, count in zip(pairs, samples, strict=True) if count > 0]
                assert all(before == pytest.approx(after) for before, after in names), f"{table}.{column}"
            elif first[column].dtype == pl.Int64 and column not in NOT_MORE:
                assert all(before <= after for before, after in pairs), f"{table}.{column}: {pairs}"
    assert both.rtt_distribution["samples"].sum() >= alone.rtt_distribution["samples"].sum()


@pytest.mark.parametrize("loss", [0.0, 0.001, 0.02])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_both_ends_give_what_the_sender_gives(transport: str, loss: float, tmp_path: Path) -> None:
    changes = {"traffic[0].transport": transport, "network.links.loss": loss}
    Scenario.loads(TWO_PATHS).replace(changes).run(out=tmp_path / "run")
    sender, receiver = (tmp_path / "run" / f"{end}.pcapng" for end in ("sender", "receiver"))
    alone = analyze([sender])
    assert alone.connections["rtt_samples"].min() > 10
    assert alone.connections["rtt_min_ms"].min() >= 20
    for files in ([sender, receiver], [receiver, sender]):
        check(alone, analyze(files))
    for share_of_sender, share_of_receiver in SHARES:
        cut = []
        for file, share in ((sender, share_of_sender), (receiver, share_of_receiver)):
            content = file.read_bytes()
            cut.append(tmp_path / f"{file.stem}-{share}.pcapng")
            cut[-1].write_bytes(content[: int(len(content) * share)])
        check(analyze(cut[:1]), analyze(cut))
