"""``anabranch capture``: what it prints, where it writes, and how it refuses."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anabranch import Result
from anabranch.errors import ResultError
from anabranch.results.result import json_ready
from anabranch.runs.capture import CaptureResult, analyze

from .conftest import Anabranch


def test_tables_for_people(run_with_captures: tuple[Result, Path], anabranch: Anabranch) -> None:
    _, folder = run_with_captures
    done = anabranch("capture", folder / "left1.pcapng", folder / "left2.pcapng")
    assert (done.returncode, done.stderr) == (0, "")
    assert "10.0.0.0" in done.stdout
    assert "Jain index" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 120


def test_a_folder_and_json(
    run_with_captures: tuple[Result, Path], anabranch: Anabranch, tmp_path: Path
) -> None:
    _, folder = run_with_captures
    arguments = ("--window", "2 s", "--interval", "500 ms", "--out", "tables", "--json", "--subflows", "3")
    done = anabranch("capture", folder / "left1.pcapng", *arguments)
    assert done.returncode == 0, done.stderr
    assert "warning: 1 subflow connected, not 3" in done.stderr
    document = json.loads(done.stdout)
    assert document["summary"]["interval_s"] == 0.5
    assert document["subflows"][0]["acked_bytes"] == 2_000_000
    saved = CaptureResult.load(tmp_path / "tables")
    assert saved.capture_series["time_s"][0] == 0.5
    # A folder that is no result is left alone.
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = anabranch("capture", folder / "left1.pcapng", "--out", "mine")
    assert done.returncode == 2
    assert "has what Anabranch did not write there: letter.txt" in done.stderr


def test_a_run_and_its_captures_are_not_replaced(
    run_with_captures: tuple[Result, Path], anabranch: Anabranch, tmp_path: Path
) -> None:
    """``--out`` replaces what is in a folder, which must not be the capture that is being read."""
    _, folder = run_with_captures
    before = sorted(folder.iterdir())
    done = anabranch("capture", folder / "left1.pcapng", "--out", folder)
    assert done.returncode == 2
    assert "has a result of another kind" in done.stderr
    with pytest.raises(ResultError, match="another kind"):
        analyze([folder / "left1.pcapng"]).save(folder)
    assert sorted(folder.iterdir()) == before
    # Tables of captures may be replaced, unless a capture that is to be read was put beside them.
    command = ("capture", folder / "left1.pcapng", "--out", "tables")
    assert [anabranch(*command).returncode for _ in range(2)] == [0, 0]
    shutil.copy(folder / "left1.pcapng", tmp_path / "tables" / "again.pcapng")
    done = anabranch("capture", "tables/again.pcapng", "--out", "tables", "--replace")
    assert done.returncode == 2
    assert "tables/again.pcapng is in it" in done.stderr
    assert (tmp_path / "tables" / "again.pcapng").exists()


def test_a_file_given_twice_is_a_message(
    run_with_captures: tuple[Result, Path], anabranch: Anabranch, tmp_path: Path
) -> None:
    _, folder = run_with_captures
    (tmp_path / "same.pcapng").symlink_to(folder / "left1.pcapng")
    shutil.copy(folder / "left2.pcapng", tmp_path / "other.pcapng")
    done = anabranch("capture", "other.pcapng", "same.pcapng", "other.pcapng", folder / "left1.pcapng")
    assert done.returncode == 2
    assert "other.pcapng: is given twice\n" in done.stderr
    assert "left1.pcapng: is given twice, also as same.pcapng\n" in done.stderr


def test_packed_captures_and_standard_input(run_with_captures: tuple[Result, Path], tmp_path: Path) -> None:
    _, folder = run_with_captures
    whole = (folder / "left1.pcapng").read_bytes()
    (tmp_path / "packed.gz").write_bytes(gzip.compress(whole))
    expected = analyze([folder / "left1.pcapng"])
    for name, table in analyze([tmp_path / "packed.gz"]).tables.items():
        assert table.equals(expected.tables[name])
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for sent in (whole, gzip.compress(whole)):
        done = with_input(sent, "--json", folder=temporary)
        assert (done.returncode, done.stderr) == (0, b"")
        document = json.loads(done.stdout)
        assert document["subflows"] == json_ready(expected.subflows.to_dicts())
        assert document["summary"]["captures"] == ["standard input"]
    # Cut, it is one warning.
    done = with_input(gzip.compress(whole)[:-40_000], folder=temporary)
    assert done.returncode == 0
    (warning,) = [
        line for line in done.stderr.decode().splitlines() if line.startswith("warning: standard input")
    ]
    assert "the gzip file is cut after " in warning
    assert not list(temporary.iterdir())


def test_bad_standard_input_is_a_message(run_with_captures: tuple[Result, Path], tmp_path: Path) -> None:
    _, folder = run_with_captures
    for sent, arguments, message in (
        (b"", (), "standard input: is empty"),
        (b"<html>", (), "standard input: is neither pcap nor pcapng"),
        (b"", ("-",), "-: standard input is given twice"),
        (b"", ("missing.pcap",), "missing.pcap: there is no such file"),
    ):
        done = with_input(sent, *arguments, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()
    # With a folder that takes no file.
    done = with_input((folder / "left1.pcapng").read_bytes(), folder=tmp_path / "missing")
    assert done.returncode == 2
    assert "TMPDIR chooses another folder" in done.stderr.decode()


def test_ctrl_c_ends_the_wait_for_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "anabranch", "capture", "-"]
    waiting = subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    with waiting:
        deadline = time.monotonic() + 60
        # Its file is open once it reads.
        while kept_bytes(waiting.pid) < 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(20) == 130
    assert not list(tmp_path.iterdir())


FEEDER = """
import sys, time
capture = open(sys.argv[1], "rb").read()
def send(some):
    sys.stdout.buffer.write(some)
    sys.stdout.buffer.flush()
try:
    send(capture[:60_000])
    time.sleep(60)
except KeyboardInterrupt:
    send(capture[60_000:100_000])
"""


def test_ctrl_c_of_a_pipeline_keeps_what_has_come(
    run_with_captures: tuple[Result, Path], tmp_path: Path
) -> None:
    """As ``tcpdump -w - | anabranch capture -``: both hear Ctrl-C, and tcpdump sends what it still has."""
    (tmp_path / "whole.pcapng").write_bytes((run_with_captures[1] / "left1.pcapng").read_bytes())
    (tmp_path / "part.pcapng").write_bytes((tmp_path / "whole.pcapng").read_bytes()[:100_000])
    expected = analyze([tmp_path / "part.pcapng"])
    feeder = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", FEEDER, str(tmp_path / "whole.pcapng")],
        stdout=subprocess.PIPE,
        process_group=0,
    )
    command = [sys.executable, "-m", "anabranch", "capture", "-", "--json", "--out", str(tmp_path / "tables")]
    reader = subprocess.Popen(  # noqa: S603 - our own program
        command,
        stdin=feeder.stdout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=feeder.pid,
    )
    with feeder, reader:
        deadline = time.monotonic() + 60
        while kept_bytes(reader.pid) < 60_000:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(feeder.pid, signal.SIGINT)
        out, err = reader.communicate(timeout=30)
    assert reader.returncode == 130, err
    assert b"warning: interrupted: what came through standard input until then is measured" in err
    document = json.loads(out)
    assert document["summary"]["interrupted"]
    assert document["summary"]["packets"] == expected.summary["packets"]
    assert document["subflows"] == json_ready(expected.subflows.to_dicts())
    saved = CaptureResult.load(tmp_path / "tables")
    assert saved.interrupted
    assert saved.subflows.equals(expected.subflows)


def kept_bytes(pid: int) -> int:
    """How much of its input a process has kept; -1 where it keeps none."""
    try:
        links = [
            link for link in Path(f"/proc/{pid}/fd").iterdir() if "anabranch-input" in str(link.readlink())
        ]
        return max((link.stat().st_size for link in links), default=-1)
    except FileNotFoundError:
        # One was closed meanwhile.
        return -1


def with_input(sent: bytes, *arguments: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Captures of standard input, with the folder for temporary files."""
    command = [sys.executable, "-m", "anabranch", "capture", "-", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "TMPDIR": str(folder)}
    return subprocess.run(  # noqa: S603 - our own program
        command, input=sent, capture_output=True, timeout=120, check=False, env=environment
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"", "is empty"),
        (b"\x1f\x8b\x08\x00", "the gzip file is cut after 4 bytes, before the first packet"),
        (b"<html>", "it seems to be a web page (HTML): fetch the file itself"),
        (b"\0\1\2\3 snoop", "is neither pcap nor pcapng: it begins with the bytes 00 01 02 03"),
    ],
)
def test_a_bad_file_is_a_message(
    content: bytes | None, message: str, anabranch: Anabranch, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "bad.pcap").write_bytes(content)
    done = anabranch("capture", "bad.pcap")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("bad.pcap: ")
    assert message in done.stderr


def test_bad_options_are_messages(run_with_captures: tuple[Result, Path], anabranch: Anabranch) -> None:
    _, folder = run_with_captures
    done = anabranch("capture", folder / "left1.pcapng", "--window", "0 s", "--interval", "5", "--port", "0")
    assert done.returncode == 2
    assert '--window: "0 s" is not between 1 ns and 30 days' in done.stderr
    assert "--interval: " in done.stderr
    assert "--port: 0 is no TCP port" in done.stderr
    done = anabranch("capture", folder / "left1.pcapng", "--port", "9999")
    assert done.returncode == 2
    assert "TCP packets has port 9999" in done.stderr
    done = anabranch("capture", folder / "left1.pcapng", "--interval", "100 ns")
    assert done.returncode == 2
    assert "take an interval of at least" in done.stderr
    assert anabranch("capture", folder).returncode == 2


@pytest.fixture(scope="module")
def can_capture() -> None:
    """Skips where packets cannot be captured."""
    for program in ("tcpdump", "unshare", "ip"):
        if shutil.which(program) is None:
            pytest.skip(f"not installed: {program}")
    command = ["unshare", "--net", "tcpdump", "--list-interfaces"]
    if subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        pytest.skip("not here: the right to capture in a network namespace")


TRANSFER = """
import socket, threading
server = socket.create_server(("127.0.0.1", 5001))
def serve():
    peer, _ = server.accept()
    with peer:
        while peer.recv(65536):
            pass
thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(("127.0.0.1", 5001)) as client:
    client.sendall(bytes(5_000_000))
thread.join()
"""


@pytest.mark.usefixtures("can_capture")
@pytest.mark.parametrize("interface", ["lo", "any"])
def test_a_capture_of_tcpdump(interface: str, anabranch: Anabranch, tmp_path: Path) -> None:
    (tmp_path / "transfer.py").write_text(TRANSFER)
    dump = f"tcpdump -i {interface} -s 128 -B 65536 -w lo.pcap"
    script = (
        f"ip link set lo up; {dump} 2> log & "
        "until grep -q listening log 2> /dev/null; do sleep 0.1; done; "
        "python3 transfer.py; sleep 1; kill %1; wait"
    )
    command = ["unshare", "--net", "bash", "-m", "-c", script]
    begin = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)  # noqa: S603
    assert time.monotonic() - begin < 60
    if re.search(r"[1-9]\d* packets dropped by kernel", (tmp_path / "log").read_text()):
        pytest.skip("by chance: the kernel dropped packets of the capture")
    done = anabranch("capture", "lo.pcap", "--json")
    assert done.returncode == 0, done.stderr
    (subflow,) = json.loads(done.stdout)["subflows"]
    assert (subflow["acked_bytes"], subflow["missing_bytes"]) == (5_000_000, 0)
    assert subflow["established_s"] < subflow["fin_s"]


def test_a_loop_of_links_is_answered_as_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.log").symlink_to("x.log")
    command = [sys.executable, "-m", "anabranch", "capture", "x.log", "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "x.log" in done.stderr
