"""Live runs in the studio: as they happen, beside their simulation, and nothing of them stays."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import children, namespaces, until
from running_studio import EXAMPLES, TOKEN, Running

from anabranch.errors import LiveError

Start = Callable[..., Running]
LIVE = (EXAMPLES / "live.toml").read_text()
SHORT = LIVE.replace('"10 s"', '"2 s"')
LONG = LIVE.replace('"10 s"', '"60 s"')
OWN = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
[[traffic]]
from = "left1"
to = "right1"
transport = "own"
[transport.own]
preset = "linux-cubic"
congestion_control = { python = "mine:Mine" }
[run]
duration = "1 s"
"""


def asking(running: Running, **question: Any) -> tuple[threading.Thread, list[dict[str, Any]]]:
    """A question that is asked meanwhile, and its lines once it is answered."""
    lines = list[dict[str, Any]]()
    asked = {"what": "live", "tab": "t", "file": "live.toml", **question}
    thread = threading.Thread(target=lambda: lines.extend(running.lines(asked)), daemon=True)
    thread.start()
    return thread, lines


def held() -> set[str]:
    """The namespaces of the live runs that this process has started."""
    return namespaces(children())


def column(table: dict[str, Any], key: str) -> dict[str, Any]:
    outcome: dict[str, Any] = next(each for each in table["columns"] if each["key"] == key)
    return outcome


@pytest.mark.usefixtures("can_run")
def test_a_live_run_is_told_as_it_happens_beside_its_simulation(studio: Start) -> None:
    running = studio()
    lines = running.lines({"what": "live", "tab": "t", "text": SHORT, "file": "live.toml"})
    assert lines[0]["edited"]["text"] == SHORT
    (simulation,) = [line["beside"] for line in lines if "beside" in line]
    assert simulation["kind"] == "run"
    pictures = [line["picture"] for line in lines if "picture" in line]
    assert {picture["kind"] for picture in pictures} == {"live"}
    assert pictures[0]["flow_series"] is None
    # Those of the kernel, and both together; MPRC is simulated.
    assert len(pictures[-1]["flow_series"]["lines"]) == 3
    assert len(pictures) >= 3
    assert [line["progress"]["unit"] for line in lines if "progress" in line][-1] == "s live"
    answer = lines[-1]["answer"]
    assert answer["problems"] == []
    assert answer["picture"]["kind"] == "run"
    assert answer["picture"]["against"]["rows"] == 2
    assert answer["picture"]["flows"]["rows"] == simulation["flows"]["rows"] == 3
    assert column(answer["picture"]["flows"], "simulated_goodput_mbps")
    assert held() == set()


@pytest.mark.usefixtures("can_run")
def test_stop_shows_what_was_measured_and_nothing_stays(studio: Start) -> None:
    running = studio()
    thread, lines = asking(running, text=LONG)
    until(held)
    until(lambda: running.ask("stop", tab="t")["stopped"])
    thread.join(20)
    assert not thread.is_alive()
    assert held() == set()
    answer = lines[-1]["answer"]
    # Stopped before it had begun, it has nothing to show.
    assert answer.get("stopped") or "stopped before its end" in str(answer["picture"]["cards"])


@pytest.mark.usefixtures("can_run")
def test_stop_at_once_is_heard_at_once(studio: Start) -> None:
    running = studio()
    thread, lines = asking(running, text=LONG)
    until(lambda: running.ask("stop", tab="t")["stopped"])
    thread.join(8)
    assert not thread.is_alive()
    assert lines[-1]["answer"]["stopped"]
    assert held() == set()


@pytest.mark.usefixtures("can_run")
def test_the_next_change_ends_a_live_run(studio: Start) -> None:
    running = studio()
    thread, lines = asking(running, text=LONG)
    until(held)
    assert running.ask("show", tab="t", text=SHORT, file="live.toml")["picture"]
    thread.join(10)
    until(lambda: not held(), 5)
    assert lines[-1]["answer"]["replaced"]


@pytest.mark.usefixtures("can_run")
def test_a_page_that_goes_away_takes_its_live_run_along(studio: Start) -> None:
    running = studio()
    content = json.dumps({"what": "live", "tab": "t", "text": LONG, "file": "live.toml"}).encode()
    with socket.create_connection(("127.0.0.1", running.port)) as page:
        page.sendall(
            f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nx-studio-token: {TOKEN}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        until(held)
    until(lambda: not held(), 10)


@pytest.mark.usefixtures("can_run")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_or_is_killed_takes_its_live_run_along(tmp_path: Path, number: int) -> None:
    (tmp_path / "live.toml").write_text(LONG)
    command = [sys.executable, "-m", "anabranch", "studio", str(tmp_path / "live.toml"), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
    assert server.stdout is not None
    try:
        port, token = "", ""
        for line in server.stdout:
            if match := re.search(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]+)", line):
                port, token = match.groups()
                break
        content = json.dumps({"what": "live", "tab": "t", "text": LONG, "file": "live.toml"}).encode()
        with socket.create_connection(("127.0.0.1", int(port))) as page:
            page.sendall(
                f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nx-studio-token: {token}\r\n"
                f"Content-Length: {len(content)}\r\n\r\n".encode()
                + content
            )
            until(lambda: namespaces(children(server.pid)))
            workers, there = children(server.pid), namespaces(children(server.pid))
            os.kill(server.pid, number)
            server.wait(20)
            until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), 10)
            assert not there & namespaces()
    finally:
        server.kill()
        server.communicate()


def test_a_machine_that_cannot_says_why(studio: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise LiveError("live runs need root")

    monkeypatch.setattr("anabranch.live.machine.check_machine", refused)
    running = studio()
    assert running.ask("machine")["live"] == "live runs need root"
    answer = running.ask("live", text=SHORT, file="live.toml")
    assert answer["problems"][0]["message"] == "live runs need root"
    assert answer["picture"] is None


@pytest.mark.usefixtures("can_run")
def test_mistakes_stand_at_their_places(studio: Start) -> None:
    running = studio()
    (problem,) = running.ask("live", text=SHORT.replace('"left1"', '"nobody"'), file="live.toml")["problems"]
    assert "nobody" in problem["message"]
    assert problem["line"] is not None


@pytest.mark.usefixtures("can_run")
def test_code_of_somebody_else_does_not_run_live_unasked(studio: Start, tmp_path: Path) -> None:
    running = studio()
    ran = tmp_path / "ran"
    (running.folder / "mine.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    (running.folder / "mine.py").chmod(0o666)
    answer = running.ask("live", text=OWN, file="own.toml")
    assert "--trust" in answer["problems"][0]["message"]
    assert not ran.exists()
