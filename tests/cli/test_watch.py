"""``anabranch watch`` as somebody uses it: a file that changes, breaks, goes and comes back."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SCENARIO = """
title = "Watched"
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
[[traffic]]
name = "web"
from = "left1"
to = "right1"
size = "100 kB"
[run]
duration = "1 s"
"""


class Watched:
    """A command that watches a file, and what it has written so far."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "watched.toml"
        self.file.write_text(SCENARIO)
        self.text = ""
        environment = os.environ | {"COLUMNS": "200", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "anabranch", "watch", self.file.name],
            cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.text += line

    def wait(self, words: str, times: int = 1) -> None:
        """Until something has been written so many times."""
        until = time.monotonic() + 60
        while self.text.count(words) < times:
            assert time.monotonic() < until, self.text
            assert self.process.poll() is None, self.text
            time.sleep(0.05)

    def write(self, text: str) -> None:
        """Saves the file as editors do: a new one takes its place."""
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.replace(self.file)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[[], Watched]]:
    started: list[Watched] = []

    def start() -> Watched:
        started.append(Watched(tmp_path))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()
        if each.process.stdout:
            each.process.stdout.close()


def test_each_state_of_the_file_is_simulated(watched: Callable[[], Watched]) -> None:
    one = watched()
    one.wait("waits for a change")
    assert "web.0" in one.text
    one.write(SCENARIO.replace('"web"', '"other"'))
    one.wait("other.0")
    one.write(SCENARIO.replace("10 Mbps", "10 Mbqs"))
    one.wait("watched.toml:6:12: network.links.capacity")
    one.file.unlink()
    one.wait("is not there")
    one.write(SCENARIO)
    one.wait("waits for a change", 3)
    assert [file.name for file in one.file.parent.iterdir()] == ["watched.toml"]
    one.process.send_signal(signal.SIGINT)
    assert one.process.wait(20) == 130
    assert "Traceback" not in one.text


def test_a_signal_ends_it(watched: Callable[[], Watched]) -> None:
    one = watched()
    one.wait("waits for a change")
    one.process.send_signal(signal.SIGTERM)
    assert one.process.wait(20) == 143


def test_the_studio_says_what_it_needs(tmp_path: Path) -> None:
    lacks = "import sys; sys.modules['uvicorn'] = None; sys.argv = ['anabranch', 'studio', '--no-browser']; "
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", f"{lacks}from anabranch.__main__ import main; main()"],
        cwd=tmp_path, text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert process.returncode == 2
    assert 'needs uvicorn; install it with: pip install "starlette>=' in process.stderr
    assert "Traceback" not in process.stderr


def test_ctrl_c_ends_the_studio_in_the_middle_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(
        SCENARIO.replace('"100 kB"', '"unlimited"').replace('"1 s"', '"90000 s"')
    )
    command = [sys.executable, "-m", "anabranch", "studio", "--no-browser"]
    process = subprocess.Popen(command, cwd=tmp_path, text=True, stderr=subprocess.PIPE)  # noqa: S603 - our own
    assert process.stderr
    try:
        match = re.search(
            r"(http://[\d.:]+/)#token=(\S+)", process.stderr.readline() + process.stderr.readline()
        )
        assert match
        question = {"what": "show", "tab": "a", "text": (tmp_path / "long.toml").read_text()}
        request = urllib.request.Request(  # noqa: S310 - the address is our own
            f"{match[1]}ask", json.dumps(question).encode(), {"x-studio-token": match[2]}
        )
        with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 - as above
            assert "edited" in response.readline().decode()
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert json.loads(response.read().splitlines()[-1])["answer"]["replaced"]
        assert process.wait(20) == 130
        said = process.stderr.read()
        assert "interrupted" in said
        assert "Traceback" not in said
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.parametrize("name", ["notes.txt", "nowhere/first.toml", "nowhere"])
def test_the_studio_takes_scenarios_and_folders(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("no scenario")
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "anabranch", "studio", name, "--no-browser"],
        cwd=tmp_path, text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert process.returncode == 2
    assert f"{name}: is neither a scenario (.toml) nor a folder" in process.stderr
