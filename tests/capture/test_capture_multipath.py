"""Captures of Multipath TCP: our own reader and Wireshark's dissector against the tables of the run."""

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from anabranch import Result, Scenario
from anabranch.runs.capture import analyze

BYTES = 3_000_000
SUBFLOWS = 4

SEMPER = f"""
[network]
topology = "parallel"
[network.parameters]
paths = [
    {{ capacity = "10 Mbps", delay = "3 ms" }},
    {{ capacity = "10 Mbps", delay = "5 ms" }},
    {{ capacity = "8 Mbps", delay = "3 ms" }},
]
[network.links]
queue = "40 packets"
loss = 0.002
[routing]
scheme = "semper"
load_balancing = "hash"
[transport.mptcp]
path_manager = {{ algorithm = "ndiffports", subflows = {SUBFLOWS} }}
[[traffic]]
from = "source"
to = "sink"
transport = "mptcp"
size = "{BYTES} B"
[[capture]]
file = "source.pcapng"
host = "source"
snap_length = "128 B"
[[capture]]
file = "sink.pcapng"
host = "sink"
[[capture]]
file = "link.pcapng"
link = ["LINK"]
[run]
duration = "30 s"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """A lossy transfer over four subflows, captured at both ends and on the first subflow's first link."""
    folder = tmp_path_factory.mktemp("multipath")
    before = SEMPER.split("[[capture]]", maxsplit=1)[0] + '[run]\nduration = "30 s"\n'
    # Captures move nothing: the path of the first subflow is the same in the run that has them.
    path = Scenario.loads(before).run().subflows["path"][0].split(" > ")
    text = SEMPER.replace('["LINK"]', f'["{path[0]}", "{path[1]}"]')
    return Scenario.loads(text).run(out=folder / "run"), folder / "run"


def test_the_connection_and_its_subflows_are_those_of_the_run(run: tuple[Result, Path]) -> None:
    result, folder = run
    analysis = analyze([folder / "source.pcapng"])
    assert analysis.connections["kind"].to_list() == ["mptcp"]
    assert analysis.connections["subflows"].to_list() == [SUBFLOWS]
    # Not by a guess: the tokens of the joins are those of the key that the first handshake showed.
    assert sorted(analysis.subflows["tie"]) == ["capable"] + ["key"] * (SUBFLOWS - 1)
    both = result.subflows.join(
        analysis.subflows, on=["client", "client_port", "server", "server_port"], suffix="_captured"
    )
    assert both.height == result.subflows.height == SUBFLOWS
    assert both["acked_bytes"].cast(pl.Int64).to_list() == both["acknowledged_bytes"].cast(pl.Int64).to_list()
    assert both["retransmissions_captured"].to_list() == both["retransmissions"].to_list()
    assert both["retransmissions"].sum() > 0
    (flow,) = result.flows.to_dicts()
    (connection,) = result.connections.to_dicts()
    assert flow["delivered_bytes"] == connection["acknowledged_bytes"] == BYTES
    # What is acknowledged on all subflows is the stream, and what was sent on two of them.
    assert analysis.connections["acked_bytes"][0] == result.subflows["acknowledged_bytes"].sum() >= BYTES


def test_arrivals_at_the_sink_are_those_of_the_run(run: tuple[Result, Path]) -> None:
    result, folder = run
    analysis = analyze([folder / "sink.pcapng"])
    both = result.subflows.join(analysis.subflows, on=["client", "client_port"], suffix="_captured")
    assert both.height == SUBFLOWS
    assert both["data_packets"].to_list() == both["packets_received"].to_list()
    # Each subflow stays on one path, where nothing overtakes.
    assert (
        both["reordered_packets"].to_list() == both["reordered_packets_captured"].to_list() == [0] * SUBFLOWS
    )
    assert result.subflows["path_changes"].to_list() == [0] * SUBFLOWS


def tshark(file: Path, *arguments: str) -> list[str]:
    command = ["tshark", "-r", str(file), *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return ran.stdout.splitlines()


@pytest.mark.skipif(shutil.which("tshark") is None, reason="not installed: tshark")
def test_wireshark_follows_the_connection(run: tuple[Result, Path]) -> None:
    result, folder = run
    for name in ("source", "sink", "link"):
        file = folder / f"{name}.pcapng"
        malformed = "_ws.malformed || mptcp.connection.echoed_key_mismatch || _ws.expert.severity==error"
        assert tshark(file, "-Y", malformed) == [], name
    options = ("-o", "mptcp.analyze_mappings:TRUE", "-o", "mptcp.relative_sequence_numbers:TRUE")
    fields = ("-T", "fields", "-e", "tcp.stream", "-e", "mptcp.stream", "-e", "tcp.len")
    lines = tshark(folder / "sink.pcapng", *options, "-Y", "tcp.len > 0", *fields)
    streams = {tuple(line.split("\t")[:2]) for line in lines}
    # One connection of as many TCP streams as there are subflows.
    assert {connection for _, connection in streams} == {"0"}
    assert len(streams) == SUBFLOWS
    assert len(lines) == result.flows["packets_received"][0]
    # The data ACK ends behind the last byte and the DATA_FIN, numbers being relative to the key's, from 1 on.
    acks = tshark(folder / "sink.pcapng", *options, "-Y", "mptcp.ack", "-T", "fields", "-e", "mptcp.ack")
    highest = max(int(ack.split(",")[0]) for ack in acks if ack)
    assert highest == BYTES + 2
