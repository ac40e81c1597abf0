"""A file system that is mounted in a result is not the result's: all of it stays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lines import SIZED

from anabranch.errors import ResultError
from anabranch.results.folders import adding, mounts, replacing
from anabranch.results.folders.directory import Directory, opened
from anabranch.results.folders.mounts import mounts_below

PROGRAM = [sys.executable, "-m", "anabranch"]
MOUNTS = {
    "another file system": ("got/disk", "mount -t tmpfs none"),
    "a folder of the same": ("got/disk", "mount --bind ../precious"),
    "deep, with spaces": ("got/a b/c\\d", "mount --bind ../precious"),
}


def can_mount() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
    except FileNotFoundError:
        return False


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: to mount")
needs_mounts = pytest.mark.skipif(not can_mount(), reason="not here: a kernel that lets root mount")


def mounted(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of the shell in mounts of its own, which end with it."""
    command = ["unshare", "--mount", "sh", "-e", "-c", script, "sh", *arguments]
    return subprocess.run(  # noqa: S603 - our own
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "got").mkdir(parents=True)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("six years of work")
    (folder / "line.toml").write_text(SIZED)
    return folder


COMMANDS = {
    "run": "run line.toml --no-page --out got --replace",
    "export": "export line.toml --to csv --out got --replace",
    "capture": "capture one.pcapng --out got --replace",
}


@needs_root
@needs_mounts
@pytest.mark.parametrize("form", MOUNTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_mounted_in_a_result_stays(command: str, form: str, work: Path) -> None:
    name, mount = MOUNTS[form]
    script = f"""
    {" ".join(PROGRAM)} run line.toml --no-page --out got
    mkdir -p "$1"
    {mount} "$1"
    cp ../precious/thesis.tex "$1/own.tex"
    set +e
    {" ".join(PROGRAM)} {COMMANDS[command]}
    echo "status $?"
    cat "$1/own.tex"
    """
    (work / "one.pcapng").write_bytes(b"")
    done = mounted(work, script, name)
    assert done.stderr == (
        f"{name}: is a mount point, and what is mounted there would be written to or removed; unmount it, or "
        "choose another name\n"
    )
    assert done.stdout.endswith("status 2\nsix years of work")


@needs_root
@needs_mounts
@pytest.mark.parametrize("place", ["got", "got/report.html"])
def test_a_mount_at_the_place_or_at_a_file_of_the_result_is_told(place: str, work: Path) -> None:
    script = f"""
    {" ".join(PROGRAM)} run line.toml --out got
    {"mount --bind ../precious got" if place == "got" else "mount --bind ../precious/thesis.tex " + place}
    set +e
    {" ".join(PROGRAM)} {"run line.toml --out got --replace" if place == "got" else "report got --replace"}
    echo "status $?"
    """
    done = mounted(work, script)
    assert done.stderr.startswith(f"{place}: is a mount point")
    assert done.stdout.endswith("status 2\n")
    assert (work.parent / "precious" / "thesis.tex").read_text() == "six years of work"


MEANWHILE = """
import subprocess, sys
from pathlib import Path
from anabranch.results.folders import replacing
from anabranch.results.folders.directory import opened
with replacing(Path("got"), "run", replace=True) as place:
    place.write("new", b"")
    subprocess.run(["mount", "--bind", "../precious", "got/disk"], check=True)
    if sys.argv[1:]:
        with opened(Path.cwd()) as folder:
            folder.remove("got")
    place.put()
"""


@needs_root
@needs_mounts
@pytest.mark.parametrize("removed", ["", "removed"])
def test_what_is_mounted_meanwhile_stays(removed: str, work: Path) -> None:
    (work / "got" / "disk").mkdir()
    done = mounted(work, f"{sys.executable} -c '{MEANWHILE}' {removed}")
    said = "another file system is mounted there" if removed else "got/disk: is a mount point"
    assert said in done.stderr.splitlines()[-1]
    assert (work.parent / "precious" / "thesis.tex").read_text() == "six years of work"
    assert [path.name for path in work.iterdir() if path.name != "line.toml"] == ["got"]


def test_a_file_system_is_known_by_its_device_where_mounts_are_not_listed(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder on another device, as ``os.stat`` tells it, where there is no list."""
    monkeypatch.setattr(mounts, "_MOUNTS", work / "none")
    entry = Directory.entry

    def elsewhere(directory: Directory, name: str) -> os.stat_result | None:
        status = entry(directory, name)
        if status is None or name != "disk":
            return status
        return os.stat_result((*status[:2], status.st_dev + 1, *status[3:]))

    (work / "got" / "sub" / "disk").mkdir(parents=True)
    (work / "got" / "known").write_text("")
    with opened(work / "got") as directory:
        assert mounts_below(directory) == []
    monkeypatch.setattr(Directory, "entry", elsewhere)
    with opened(work / "got") as directory:
        assert mounts_below(directory) == ["sub/disk"]
    with (
        pytest.raises(ResultError, match="got/sub/disk: is a mount point"),
        replacing(work / "got", "run", replace=True),
    ):
        pytest.fail("it works")
    # A folder that keeps what it has is concerned only where it writes.
    for claims in (["sub/disk/a.png"], ["sub/"], ["sub/disk"]):
        with (
            pytest.raises(ResultError, match="got/sub/disk: is a mount point"),
            adding(work / "got", "pages", claims, replace=True),
        ):
            pytest.fail("it works")
    with adding(work / "got", "pages", ["sub/b.png"], replace=True) as place:
        (place.partial / "sub").mkdir()
        (place.partial / "sub" / "b.png").write_text("")
        place.put()
    assert (work / "got" / "sub" / "b.png").exists()
