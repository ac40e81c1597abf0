"""The server of the studio: whom it answers, what it reads and writes, and what runs give."""

import base64
import re
import socket
import threading
import time
import tomllib
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import until
from running_studio import EXAMPLES, TOKEN, Running
from typer.testing import CliRunner

from anabranch import Result, Scenario
from anabranch.errors import ScenarioError, StudioError
from anabranch.studio.serving import bound, desk_of
from anabranch.studio.texts import edited, settings_between
from anabranch.terminal.cli import app

Start = Callable[..., Running]
FIRST = (EXAMPLES / "first.toml").read_text()
SLOW = FIRST.replace('duration = "30 s"', 'duration = "30000 s"')
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


def test_the_page_and_all_that_it_loads_come_from_here(studio: Start) -> None:
    running = studio()
    with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/", timeout=10) as response:
        page = response.read().decode()
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    loaded = re.findall(r'(?:src|href)="([^"#][^"]*)"', page)
    assert loaded
    assert not [name for name in loaded if name.startswith(("http", "//"))]
    for name in loaded:
        if not name.startswith("data:"):
            with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/{name}", timeout=10) as response:
                assert response.status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1:1"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"x-studio-token": "another"}, 401),
        ({"x-studio-token": ""}, 401),
    ],
)
def test_strangers_are_refused(studio: Start, headers: dict[str, str], status: int) -> None:
    running = studio()
    given = {name: value.format(port=running.port) for name, value in headers.items()}
    assert running.lines({"what": "welcome"}, given)[0]["status"] == status


def test_our_own_page_is_answered_by_both_of_our_names(studio: Start) -> None:
    running = studio()
    for name in ("127.0.0.1", "localhost"):
        headers = {"Host": f"{name}:{running.port}", "Origin": f"http://{name}:{running.port}"}
        assert "answer" in running.lines({"what": "welcome"}, headers)[0]


def test_what_is_no_question_is_told(studio: Start) -> None:
    running = studio()
    assert "no question" in running.refused("nothing")
    assert "lacks" in running.refused("open")
    assert "no mode" in running.refused("show", text=FIRST, mode="fly")


@pytest.mark.parametrize("name", ["../outside.toml", "/etc/passwd", ".", "a\0b.toml", "x/../../y.toml"])
def test_nothing_outside_of_the_folder_is_read_or_written(studio: Start, name: str) -> None:
    running = studio()
    (running.folder.parent / "outside.toml").write_text("title = 'secret'")
    for what in ("open", "save", "look", "describe", "show"):
        assert re.search("outside|no file name", running.refused(what, file=name, text="x = 1", stamp=""))
    assert (running.folder.parent / "outside.toml").read_text() == "title = 'secret'"


def test_links_out_of_the_folder_are_not_followed(studio: Start) -> None:
    running = studio()
    (running.folder.parent / "secret.toml").write_text("title = 'secret'")
    (running.folder / "link.toml").symlink_to(running.folder.parent / "secret.toml")
    assert "outside" in running.refused("open", file="link.toml")


def test_a_port_in_use_is_told_and_another_one_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(StudioError, match=f"port {number}: .*in use"):
            bound(number)
    with bound(None) as first, bound(None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        assert first.getsockname()[0] == "127.0.0.1"


def test_no_line_of_an_answer_waits_for_an_acknowledgment(studio: Start) -> None:
    """Nagle's algorithm (RFC 896) holds a second small line until the first one is acknowledged."""
    running = studio()
    with socket.create_connection(("127.0.0.1", running.port)):
        connections = running.connections
        until(lambda: connections)
        (accepted,) = [each.transport.get_extra_info("socket") for each in connections]
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_file_is_saved_unless_somebody_else_has_changed_it(studio: Start) -> None:
    running = studio()
    opened = running.ask("open", file="first.toml")
    assert opened["text"] == FIRST
    saved = running.ask("save", file="first.toml", text="title = 'a'\n", stamp=opened["stamp"])
    assert (running.folder / "first.toml").read_text() == "title = 'a'\n"
    assert running.ask("look", file="first.toml", stamp=saved["stamp"]) == {"state": "same"}
    (running.folder / "first.toml").write_text("title = 'elsewhere'\n")
    assert running.ask("look", file="first.toml", stamp=saved["stamp"])["text"] == "title = 'elsewhere'\n"
    assert "changed elsewhere" in running.refused("save", file="first.toml", text="x", stamp=saved["stamp"])
    assert (running.folder / "first.toml").read_text() == "title = 'elsewhere'\n"
    running.ask("save", file="first.toml", text="title = 'mine'\n", stamp=None)
    assert (running.folder / "first.toml").read_text() == "title = 'mine'\n"
    (running.folder / "first.toml").unlink()
    assert running.ask("look", file="first.toml", stamp="x") == {"state": "gone"}


def test_the_ends_of_lines_of_a_file_stay(studio: Start) -> None:
    running = studio()
    windows = FIRST.replace("\n", "\r\n").encode()
    (running.folder / "windows.toml").write_bytes(windows)
    opened = running.ask("open", file="windows.toml")
    assert opened["text"] == FIRST
    running.ask(
        "save", file="windows.toml", text=FIRST.replace("seed = 1", "seed = 2"), stamp=opened["stamp"]
    )
    assert (running.folder / "windows.toml").read_bytes() == windows.replace(b"seed = 1", b"seed = 2")
    asked = {"file": "windows.toml", "mode": "run"}
    command = running.ask("command", text=FIRST.replace("seed = 1", "seed = 2"), **asked)["command"]
    assert command == "anabranch run windows.toml"


def test_a_change_leaves_the_rest_of_the_text_as_it_stands() -> None:
    change = {"place": ["network", "links", "capacity"], "value": "20 Mbps"}
    assert edited(FIRST, [change]) == FIRST.replace('"10 Mbps"', '"20 Mbps"')
    typed = edited(FIRST, [{"place": "run.seed", "typed": "7"}, {"place": "run.until", "typed": "done"}])
    assert typed == FIRST.replace("seed = 1\n", 'seed = 7\nuntil = "done"\n')
    event = {"at": "3 s", "link": ["Denver", "Kansas City"], "state": "down"}
    more = tomllib.loads(edited(FIRST, [{"place": ["event"], "append": event}]))
    assert more["event"] == [*tomllib.loads(FIRST)["event"], event]
    assert (
        edited(
            edited(FIRST, [{"place": ["event"], "append": event}]), [{"place": ["event", 2], "remove": True}]
        )
        == FIRST
    )
    with pytest.raises(ScenarioError, match="leads to no place"):
        edited(FIRST, [{"place": "traffic[9].size", "value": "1 MB"}])


def test_every_example_takes_a_change_of_each_of_its_fields_in_place() -> None:
    def leaves(value: object, steps: list[str | int]) -> list[list[str | int]]:
        if isinstance(value, dict):
            return [each for key, entry in value.items() for each in leaves(entry, [*steps, key])]
        if isinstance(value, list):
            return [each for number, entry in enumerate(value) for each in leaves(entry, [*steps, number])]
        return [steps]

    changed = 0
    for file in sorted(EXAMPLES.rglob("*.toml")):
        text = file.read_text()
        data = tomllib.loads(text)
        for steps in leaves(data, []):
            now = edited(text, [{"place": steps, "value": 12345}])
            expected = tomllib.loads(text)
            node = expected
            for step in steps[:-1]:
                node = node[step]  # type: ignore[index]
            node[steps[-1]] = 12345  # type: ignore[index]
            assert tomllib.loads(now) == expected, (file, steps)
            # Nothing but the line of the value differs.
            lines, before = now.splitlines(), text.splitlines()
            assert sum(a != b for a, b in zip(lines, before, strict=False)) <= 1 or len(lines) != len(before)
            assert now.count("#") == text.count("#")
            changed += 1
    assert changed > 500


def test_mistakes_come_with_their_place_line_and_column(studio: Start) -> None:
    answer = studio().ask("show", text=FIRST.replace('"10 Mbps"', '"10 Mbqs"'), file="first.toml")
    (problem,) = answer["problems"]
    assert problem["place"] == "network.links.capacity"
    line = FIRST.splitlines().index('capacity = "10 Mbps"') + 1
    assert (problem["line"], problem["column"]) == (line, len("capacity = ") + 1)
    assert "Mbqs" in problem["message"]


def test_a_scenario_that_cannot_run_still_has_its_network(studio: Start) -> None:
    running = studio()
    answer = running.ask("show", text=FIRST.replace('from = "Seattle"', 'from = "Atlantis"'))
    assert "Atlantis" in answer["problems"][0]["message"]
    assert len(answer["picture"]["network"]["names"]) == 11
    lone = running.ask("show", text="[network]\n[[network.node]]\nname = 'a'\n")
    assert lone["problems"]
    assert running.ask("show", text="a = \n")["picture"] is None


def test_a_run_shows_what_the_command_line_measures(studio: Start) -> None:
    running = studio()
    change = [{"place": "run.duration", "value": "3 s"}]
    lines = running.lines(
        {"what": "show", "tab": "t", "text": FIRST, "file": "first.toml", "changes": change}
    )
    text = FIRST.replace('"30 s"', '"3 s"')
    assert lines[0]["edited"]["text"] == text
    picture = lines[-1]["answer"]["picture"]
    result = Scenario.loads(text).run()
    assert picture["flows"]["rows"] == result.flows.height == 2
    goodput = next(column for column in picture["flows"]["columns"] if column["key"] == "goodput_mbps")
    shown = np.frombuffer(base64.b64decode(goodput["data"]["base64"]), "<f8")
    assert shown.tolist() == result.flows["goodput_mbps"].to_list()


def test_a_stopped_run_shows_what_it_has_measured(studio: Start) -> None:
    running = studio()
    lines = list[dict[str, object]]()
    asking = threading.Thread(
        target=lambda: lines.extend(
            running.lines({"what": "show", "tab": "a", "text": SLOW, "file": "first.toml"})
        )
    )
    asking.start()
    until = time.monotonic() + 30
    while not running.ask("stop", tab="a")["stopped"]:
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.3)
    running.ask("stop", tab="a")
    asking.join(30)
    assert not asking.is_alive()
    answer = lines[-1]["answer"]
    assert isinstance(answer, dict)
    assert not answer["replaced"]


def test_the_next_run_of_a_tab_ends_the_one_before(studio: Start) -> None:
    running = studio()
    lines = list[dict[str, object]]()
    asking = threading.Thread(
        target=lambda: lines.extend(
            running.lines({"what": "show", "tab": "a", "text": SLOW, "file": "first.toml"})
        )
    )
    asking.start()
    time.sleep(0.5)
    short = FIRST.replace('"30 s"', '"1 s"')
    # Another tab is in nobody's way.
    assert running.ask("show", tab="b", text=short)["picture"]
    assert asking.is_alive()
    assert running.ask("show", tab="a", text=short)["picture"]
    asking.join(30)
    assert not asking.is_alive()
    answer = lines[-1]["answer"]
    assert isinstance(answer, dict)
    assert answer["replaced"]


def test_what_does_not_look_up_is_left_alone(studio: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr("anabranch.studio.drawing.run", lambda *_, **__: released.wait(30))
    running = studio()
    lines = list[dict[str, Any]]()
    question = {"what": "show", "tab": "a", "text": FIRST, "file": "first.toml"}
    asking = threading.Thread(target=lambda: lines.extend(running.lines(question)))
    asking.start()
    time.sleep(0.3)
    assert running.ask("stop", tab="a")["stopped"]
    asking.join(10)
    assert not asking.is_alive()
    assert lines[-1]["answer"]["stopped"]
    # Others go on meanwhile.
    assert running.ask("show", tab="b", text=FIRST, mode="routes")["picture"]
    (left,) = [thread for thread in threading.enumerate() if thread.name == "studio"]
    running.stop()
    # What fails in its thread, fails the test.
    released.set()
    left.join(10)
    assert not left.is_alive()


def test_a_mistake_of_ours_is_told_and_the_studio_goes_on(
    studio: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class PanicException(BaseException):
        pass

    def fails(*_: object, **__: object) -> None:
        raise PanicException("index out of bounds")

    running = studio()
    with monkeypatch.context() as patched:
        patched.setattr("anabranch.studio.drawing.run", fails)
        assert "index out of bounds" in running.refused("show", text=FIRST)
    assert "index out of bounds" in caplog.text
    assert running.ask("show", text=FIRST.replace('"30 s"', '"1 s"'))["picture"]


def test_text_of_toml_1_1_is_changed_in_place() -> None:
    text = "[network]\nx = {\n  a = 1, # one\n  b = 2,\n}\n"
    assert edited(text, [{"place": "network.x.b", "value": 3}]) == text.replace("b = 2", "b = 3")


def test_routes_and_loads_are_shown_in_the_same_way(studio: Start) -> None:
    running = studio()
    routes = running.ask("show", text=FIRST, mode="routes")["picture"]
    assert routes["kind"] == "routes"
    assert routes["tables"][0]["rows"] > 2
    run = running.ask("show", text=FIRST.replace('"30 s"', '"1 s"'))["picture"]
    assert sorted(routes["routes"]["pairs"]) == sorted(run["routes"]["pairs"])
    bounds = (EXAMPLES / "robust_nsfnet.toml").read_text()
    answer = running.ask("show", text=bounds, mode="loads")
    assert answer["problems"] == []
    assert answer["picture"]["kind"] == "loads"
    assert "load" in answer["picture"]
    assert "demand" in str(running.ask("show", text=FIRST, mode="loads")["problems"])


def test_captures_are_not_written_while_one_tries(studio: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    running = studio()
    monkeypatch.chdir(running.folder)
    text = FIRST.replace('"30 s"', '"1 s"') + '\n[[capture]]\nfile = "a.pcapng"\nhost = "Seattle"\n'
    assert running.ask("show", text=text)["problems"] == []
    assert [file.name for file in running.folder.iterdir()] == ["first.toml"]


def test_code_of_somebody_else_runs_only_where_it_is_trusted(studio: Start, tmp_path: Path) -> None:
    running = studio()
    ran = tmp_path / "ran"
    (running.folder / "mine.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    (running.folder / "mine.py").chmod(0o666)
    problems = running.ask("show", text=OWN, file="own.toml")["problems"]
    assert "--trust" in problems[0]["message"]
    assert not ran.exists()


def test_files_of_other_programs_are_imported(studio: Start) -> None:
    running = studio()
    ring = (EXAMPLES / "ring.graphml").read_bytes()
    sent = [{"name": "../ring.graphml", "base64": base64.b64encode(ring).decode()}]
    made = running.ask("import", files=sent)
    assert made["kept"] == ["ring.graphml"]
    assert (running.folder / "ring.graphml").read_bytes() == ring
    assert running.ask("show", text=made["text"], file="ring.toml")["problems"] == []
    named = running.ask("import", files=[], topology="zoo/Abilene")
    assert 'topology = "zoo/Abilene"' in named["text"]
    nothing = [{"name": "x.bin", "base64": base64.b64encode(b"\0\1\2 nothing").decode()}]
    assert "x.bin" in running.refused("import", files=nothing)
    assert "whole" in running.refused("import", files=[{"name": "x", "base64": "%"}])


def test_what_is_seen_is_kept_as_a_result_and_as_a_study(studio: Start) -> None:
    running = studio()
    short = FIRST.replace('"30 s"', '"2 s"')
    asked = {"text": short, "file": "first.toml"}
    assert running.ask("keep", name="tried", **asked)["folder"] == "results/tried"
    assert Result.load(running.folder / "results/tried").flows.height == 2
    assert (running.folder / "results/tried/report.html").is_file()
    assert "there already" in running.refused("keep", name="tried", **asked)
    for name in ("../x", "", "a/b", "."):
        assert "name" in running.refused("keep", name=name, **asked)
    factors = [{"field": "network.links.capacity", "levels": ["5 Mbps", "10 Mbps"]}]
    made = running.ask("study", factors=factors, **asked)
    assert made["file"] == "first-study.toml"
    study = tomllib.loads((running.folder / made["file"]).read_text())
    assert study["factor"] == factors
    assert study["scenario"]["run"]["duration"] == "2 s"
    (running.folder / "first-study.toml").unlink()
    assert running.ask("study", factors=factors, text=FIRST, file="first.toml")
    assert tomllib.loads((running.folder / made["file"]).read_text())["scenario"] == "first.toml"


@pytest.mark.parametrize(
    ("mode", "example", "arguments"),
    [
        ("routes", "first.toml", ["--out", "by_command/plan.json"]),
        ("loads", "robust_nsfnet.toml", ["--map", "by_command/loads.png"]),
    ],
)
def test_a_plan_is_kept_as_its_command_writes_it(
    studio: Start, monkeypatch: pytest.MonkeyPatch, mode: str, example: str, arguments: list[str]
) -> None:
    running = studio()
    text = (EXAMPLES / example).read_text()
    (running.folder / example).write_text(text)
    kept = running.ask("keep", name="kept", text=text, file=example, mode=mode)
    assert not kept["interrupted"]
    monkeypatch.chdir(running.folder)
    Path("by_command").mkdir()
    command = {"routes": "routes", "loads": "load"}[mode]
    done = CliRunner().invoke(app, [command, example, "--csv", "by_command", *arguments])
    assert done.exit_code == 0, done.output
    written = {file.name: file.read_bytes() for file in Path("by_command").iterdir()}
    contents = {name: (running.folder / kept["folder"] / name).read_bytes() for name in kept["files"]}
    if mode == "loads":
        assert b"Worst case" in contents.pop("loads.html")
    assert len(written) >= 3
    assert contents == written


def test_figures_are_those_of_what_is_shown(studio: Start) -> None:
    running = studio()
    bounds = (EXAMPLES / "robust_nsfnet.toml").read_text()
    short = FIRST.replace('"30 s"', '"1 s"')
    (loads,) = running.ask("figures", text=bounds, mode="loads")["figures"]
    assert loads["name"] == "loads"
    assert base64.b64decode(loads["base64"]).startswith(b"\x89PNG")
    assert "goodput" in {each["name"] for each in running.ask("figures", text=short)["figures"]}
    assert "routes have no figures" in running.refused("figures", text=short, mode="routes")
    assert "Atlantis" in running.refused("figures", text=short.replace('"Atlanta"', '"Atlantis"'))


def test_what_is_kept_says_how_far_it_is_and_can_be_stopped(studio: Start) -> None:
    running = studio()
    lines = list[dict[str, Any]]()
    question = {"what": "keep", "tab": "t-keep", "name": "long", "text": SLOW, "file": "first.toml"}
    keeping = threading.Thread(target=lambda: running.lines(question, heard=lines))
    keeping.start()
    # The picture of its tab is in nobody's way.
    assert running.ask("show", tab="t", text=FIRST.replace('"30 s"', '"1 s"'))["picture"]
    until(lambda: any("progress" in line for line in lines))
    assert running.ask("stop", tab="t-keep")["stopped"]
    keeping.join(20)
    assert not keeping.is_alive()
    assert lines[-1]["answer"]["interrupted"]
    assert Result.load(running.folder / "results/long").interrupted


def test_the_file_that_is_named_is_shown_however_many_there_are(tmp_path: Path) -> None:
    for number in range(501):
        (tmp_path / f"a{number}.toml").write_text("")
    (tmp_path / "z.toml").write_text(FIRST)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link.toml").symlink_to(tmp_path / "z.toml")
    for place in (tmp_path / "z.toml", tmp_path / "elsewhere" / "link.toml"):
        desk = desk_of(place, trust=False)
        welcome = desk.answer({"what": "welcome"})
        assert welcome["first"] in welcome["files"]
        assert desk.answer({"what": "open", "file": welcome["first"]})["text"] == FIRST


def test_the_command_line_sets_what_differs_from_the_file(studio: Start) -> None:
    running = studio()
    text = edited(FIRST, [
        {"place": "network.links.capacity", "value": "20 Mbps"},
        {"place": "traffic[1].transport", "value": "bbr"},
    ])  # fmt: skip
    command = running.ask("command", text=text, file="first.toml", mode="run")["command"]
    assert command == (
        "anabranch run first.toml --set 'network.links.capacity=20 Mbps' --set 'traffic[1].transport=bbr'"
    )
    assert (
        running.ask("command", text=FIRST, file="first.toml", mode="routes")["command"]
        == "anabranch routes first.toml"
    )
    other = FIRST.replace('load_balancing = "packet"', "")
    assert "save the scenario first" in running.refused("command", text=other, file="first.toml", mode="run")
    assert settings_between({"a": [1, 2]}, {"a": [1, 3]}) == [("a", [1, 3])]
    assert settings_between({"a": 1, "b": 2}, {"a": 1}) is None


def test_the_token_is_in_the_fragment_alone(studio: Start) -> None:
    running = studio()
    assert running.address.split("#")[1] == f"token={TOKEN}"
    with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/", timeout=10) as response:
        assert TOKEN not in response.read().decode()
