"""Programs of the user in hosts."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from live_scenarios import LiveRun, paths

from anabranch.errors import LiveError
from anabranch.live import Asked, HostProgram
from anabranch.live.hosts import Host, HostPlan
from anabranch.live.programs import hosts_file
from anabranch.scenario.scenario import Scenario

SERVER = """
import socket
server = socket.create_server(("", 80))
while True:
    connection, _ = server.accept()
    connection.sendall(bytes(200000))
    connection.close()
"""
CLIENT = """
import socket, time
while True:
    try:
        connection = socket.create_connection(("sink", 80))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
length = 0
while data := connection.recv(65536):
    length += len(data)
print("got", length)
"""


def python(code: str) -> str:
    """A command that runs code."""
    return f"exec {sys.executable} -c '{code}'"


def quiet(duration: str = "3 s") -> Scenario:
    """A flow that is over before anything else begins."""
    return paths("20 Mbps", [5], [{"transport": "linux-cubic", "size": "1 kB"}], run={"duration": duration})


def test_programs_find_each_other_by_name_and_are_counted(live_run: LiveRun, tmp_path: Path) -> None:
    asked = Asked((HostProgram("sink", python(SERVER)), HostProgram("source", python(CLIENT))))
    result = live_run(quiet("6 s"), asked=asked, out=tmp_path / "out", page=False, replace=True)
    programs = result.summary["live"]["programs"]
    assert [program["status"] for program in programs] == [None, 0]
    assert (tmp_path / "out" / programs[1]["output"]).read_text() == "got 200000\n"
    # The last one: those before were refused.
    tried = result.tables["conversations"].filter(pl.col("destination_port") == 80)
    row = tried.row(-1, named=True)
    assert (row["protocol"], row["from"], row["to"]) == ("tcp", "source", "sink")
    assert 0 < row["begin_s"] < row["end_s"] < 6
    # 139 packets of 1448 bytes, and their headers.
    assert 200_000 + 139 * 52 <= row["back_bytes_received"] <= 215_000
    assert row["bytes_received"] > 0
    assert result.flows["name"].to_list() == ["traffic[0].0"]
    assert result.links["bytes"].sum() > 2 * 200_000


def test_a_host_sees_nothing_but_its_network(live_run: LiveRun, tmp_path: Path) -> None:
    command = "cat /etc/hosts; ls /proc | grep -c '^[0-9]'; grep -c : /proc/net/dev"
    asked = Asked((HostProgram("source", command),))
    result = live_run(quiet("2 s"), asked=asked, out=tmp_path / "out", page=False, replace=True)
    said = (tmp_path / "out" / result.summary["live"]["programs"][0]["output"]).read_text().splitlines()
    assert "127.0.0.1 localhost" in said
    assert any(line.endswith(" sink") for line in said)
    # Its own processes, and of devices lo and its own.
    assert int(said[-2]) < 8
    assert int(said[-1]) == 2


def live(tmp_path: Path, duration: str, *options: str) -> list[str]:
    """The command of a live run of a quiet scenario."""
    file = tmp_path / "scenario.toml"
    file.write_text(quiet(duration).toml())
    command = [sys.executable, "-m", "anabranch", "live", str(file), "--no-page"]
    return [*command, "--out", str(tmp_path / "out"), *options]


@pytest.mark.usefixtures("can_run")
def test_a_program_that_fails_is_told(tmp_path: Path) -> None:
    command = live(tmp_path, "1 s", "--json", "--exec", "source=echo no >&2; exit 3")
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert ended.returncode == 1
    message = (
        "--exec: source: echo no >&2; exit 3: ended with status 3; its output is in programs/1-source.txt"
    )
    assert message in ended.stderr
    (program,) = json.loads(ended.stdout)["summary"]["live"]["programs"]
    assert program["status"] == 3
    assert (tmp_path / "out" / "programs" / "1-source.txt").read_text() == "no\n"


@pytest.mark.usefixtures("can_run")
def test_programs_of_a_killed_run_are_gone(tmp_path: Path) -> None:
    mark = f"3{os.getpid()}"

    def sleeping() -> int:
        outcome = 0
        for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                outcome += cmdline.read_bytes() == f"sleep\0{mark}\0".encode()
            except OSError:
                continue
        return outcome

    def wait_for(count: int) -> None:
        deadline = time.monotonic() + 15
        while sleeping() != count and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sleeping() == count

    command = live(tmp_path, "30 s", "--exec", f"source=sleep {mark} & sleep {mark}")
    process = subprocess.Popen(command)  # noqa: S603 - our own
    wait_for(2)
    process.kill()
    process.wait()
    wait_for(0)


def test_names_are_those_that_a_host_may_have() -> None:
    def host(node: int, name: str) -> Host:
        made = Host.__new__(Host)
        made.plan = HostPlan(node, name, (f"10.0.0.{node}",), 1, 1, asks_for_ecn=False, path_manager=False)
        return made

    named = {1: host(1, "New York"), 2: host(2, "new-york"), 3: host(3, "?")}
    assert hosts_file(named).splitlines() == [
        "127.0.0.1 localhost",
        "10.0.0.1 new-york",
        "10.0.0.2 new-york-2",
        "10.0.0.3 host",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source", "'source' is not HOST=COMMAND"),
        ("=ls", "'=ls' is not HOST=COMMAND"),
        ("source=nosuchcommand -x", "there is no command nosuchcommand; install it"),
    ],
)
def test_what_cannot_be_run_is_said_before(text: str, message: str) -> None:
    with pytest.raises(LiveError, match=message):
        HostProgram.read(text)


def test_an_unknown_host_is_said_before(live_run: LiveRun) -> None:
    with pytest.raises(LiveError, match='--exec: sourc: there is no such node; nearest: "source"'):
        live_run(quiet(), asked=Asked((HostProgram("sourc", "true"),)))
