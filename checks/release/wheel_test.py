"""Tests the wheels in ``dist/`` as a user meets them: ``python checks/release/wheel_test.py dist``.

The library goes into an environment of its own, in a folder outside the repository, and the publications
follow it. Every program is called without a Rust toolchain on the path. Python's own tools and a registry of
packages are needed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ("abilene.toml", "lossy.toml", "ring.toml")
MISTAKE = 2
OWN_LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")

STUDY = """
scenario = "abilene.toml"
replications = 1
[[factor]]
field = "run.duration"
levels = ["1 s", "2 s"]
"""
IMPORT = """
import sys
from importlib.metadata import files, metadata
from pathlib import Path

import anabranch
from anabranch import Scenario, _core

for module in (anabranch, _core):
    assert Path(module.__file__).is_relative_to(sys.prefix), module.__file__
assert metadata("anabranch")["Version"] == anabranch.__version__ == sys.argv[1]
result = Scenario.load("abilene.toml", {"run.duration": "2 s"}).run()
assert result.flows.height == 1, result.flows
assert result.flows["goodput_mbps"].item() > 5, result.flows
"""


def main(folder: Path) -> None:
    """Tests the wheels in a folder.

    Raises:
        subprocess.CalledProcessError: if a program fails; its output stands above.
    """
    (wheel,) = folder.resolve().glob("anabranch-*.whl")
    (publications,) = folder.resolve().glob("anabranch_publications-*.whl")
    check_contents(wheel, ROOT / "python" / "anabranch")
    check_contents(publications, ROOT / "publications" / "anabranch_publications")
    require("-abi3-" in wheel.name, f"{wheel.name} is bound to one version of Python")
    with tempfile.TemporaryDirectory(prefix="anabranch-wheel-") as name:
        check_installed(wheel, publications, Path(name))
    for tested in (wheel, publications):
        sys.stdout.write(f"{tested.name}: installed and run without Rust\n")


def check_contents(wheel: Path, package: Path) -> None:
    """Everything that is not compiled is in the wheel: sources, types, data and licences."""
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        file.relative_to(package.parent).as_posix()
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith("_core.abi3")
    }
    if package.name == "anabranch":
        shipped = [*(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.toml")]
        wanted |= {f"anabranch/manual/{file.relative_to(ROOT).as_posix()}" for file in shipped}
    require(not wanted - names, f"not in {wheel.name}: {sorted(wanted - names)}")
    for licence in OWN_LICENCES:
        licences = [name for name in names if name.endswith(f".dist-info/licenses/{licence}")]
        require(len(licences) == 1, f"{licence} is not in {wheel.name}")


def check_installed(wheel: Path, publications: Path, folder: Path) -> None:
    """The wheels install into an empty environment, one after the other, and their programs run there."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PATH": path_without_rust(), "NO_COLOR": "1"}
    environment.pop("VIRTUAL_ENV", None)

    def call(*command: Path | str) -> str:
        words = [Path(command[0]).name, *(str(word).strip().partition("\n")[0] for word in command[1:])]
        sys.stdout.write(f"+ {' '.join(words)}\n")
        sys.stdout.flush()
        return subprocess.run(  # noqa: S603 - our own program
            command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True, timeout=600
        ).stdout

    for program in ("cargo", "rustc"):
        require(shutil.which(program, path=environment["PATH"]) is None, f"{program} is on the path")
    call(sys.executable, "-m", "venv", "environment")
    programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    call(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    for name in EXAMPLES:
        call(programs / "anabranch", "examples", name)
    require((folder / "ring.graphml").is_file(), "an example comes without the file that it names")
    require(call(programs / "anabranch", "help", "guide").startswith("# "), "there is no manual")
    version = wheel.name.split("-")[1]
    for command in ([programs / "anabranch"], [programs / "python", "-m", "anabranch"]):
        said = call(*command, "--version")
        require(said == f"anabranch {version}\n", f"the version is {said!r}")
    for name in EXAMPLES:
        call(programs / "anabranch", "run", name)
        require((folder / "results" / Path(name).stem / "report.html").is_file(), f"{name} left no page")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    call(programs / "anabranch", "study", "study.toml", "--jobs", "2")
    require((folder / "results" / "study" / "cells.csv").is_file(), "the study left no table")
    call(programs / "python", "-c", IMPORT, version)
    reproduce = (programs / "anabranch", "reproduce", "sdn", "4.13", "--quick")
    refused = subprocess.run(  # noqa: S603 - our own program
        reproduce, cwd=folder, env=environment, check=False, stderr=subprocess.PIPE, text=True, timeout=600
    )
    require(
        refused.returncode == MISTAKE and "the distribution anabranch-publications" in refused.stderr,
        f"without the publications, anabranch reproduce says {refused.stderr!r}",
    )
    call(programs / "python", "-m", "pip", "install", "--quiet", publications)
    call(*reproduce)
    page = folder / "results" / "reproduce" / "sdn" / "figure-4.13" / "report.html"
    require(page.is_file(), "the reproduction left no page")


def path_without_rust() -> str:
    """The folders of the path that hold neither cargo nor rustc."""
    folders = os.environ["PATH"].split(os.pathsep)
    rust = ("cargo", "rustc")
    return os.pathsep.join(
        folder for folder in folders if not any(shutil.which(name, path=folder) for name in rust)
    )


def require(holds: bool, complaint: str) -> None:
    """Ends the test with a complaint if something does not hold."""
    if not holds:
        sys.exit(f"wheel: {complaint}")


main(Path(sys.argv[1]))
