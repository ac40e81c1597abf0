"""Runs what a release needs besides ``make test``: ``python checks/release/check.py docs/release_checks.md``.

Each check is a command. One whose tool is missing is not run, and says so. The page that is written has the
outcome of each, its CPU time and the version of its tool. The exit status is 1 if a check failed.
"""

import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable

OTHER_SYSTEMS = {
    "Windows": "x86_64-pc-windows-msvc",
    "macOS": "aarch64-apple-darwin",
    "Linux on ARM": "aarch64-unknown-linux-gnu",
}
"""Systems whose wheels are built elsewhere, as the compiler calls them; a check needs no linker."""
PASSED, FAILED, NOT_RUN = "passed", "**failed**", "not run"


@dataclass(frozen=True)
class Check:
    """A command that must succeed."""

    name: str
    """What is checked."""
    command: list[str]
    version: list[str]
    """A command whose output names the tool's version."""
    environment: dict[str, str] = field(default_factory=dict)
    missing: Callable[[], str] = lambda: ""
    """Why it cannot be run here; empty if it can."""
    unreachable: str = ""
    """A line of its output which says that a service it needs does not answer: then it has not run."""


@dataclass(frozen=True)
class Outcome:
    """How a check ended."""

    check: Check
    verdict: str
    cpu_s: float = 0.0
    wall_s: float = 0.0
    reason: str = ""


def rust_version() -> str:
    """The oldest compiler that the manifest promises."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    match = re.search(r'^rust-version = "(.*)"', text, re.MULTILINE)
    if not match:
        sys.exit("Cargo.toml: no rust-version")
    return match.group(1)


def without(program: str, remedy: str) -> Callable[[], str]:
    """Says that a program is missing, and where it comes from."""
    return lambda: "" if shutil.which(program) else f"there is no {program}; {remedy}"


def without_compiler(version: str) -> str:
    """Says that the oldest compiler is missing."""
    toolchain = subprocess.run(["rustc", f"+{version}", "--version"], capture_output=True, check=False)  # noqa: S603, S607
    return "" if toolchain.returncode == 0 else f"rustup toolchain install {version}"


def without_target(target: str) -> str:
    """Says that the standard library of another system is missing."""
    command = ["rustup", "target", "list", "--installed"]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the user's own
    return "" if target in installed.stdout.split() else f"rustup target add {target}"


def checks() -> list[Check]:
    """Every check, the quick ones first."""
    oldest = rust_version()
    cargo = ["cargo", "--version"]
    deny = ["cargo", "deny", "--locked", "check"]
    deny_version = ["cargo", "deny", "--version"]
    no_deny = without("cargo-deny", "cargo install --locked cargo-deny")
    stubs = ["anabranch._core", "--allowlist", "checks/release/stubs.allow"]
    workspace = ["--locked", "--quiet", "--workspace"]
    return [
        Check("the stub of the core has what the core has", [PYTHON, "-m", "mypy.stubtest", *stubs],
            [PYTHON, "-m", "mypy", "--version"]),
        Check("scripts of the page: lint and types", ["make", "lint-js"], ["node", "--version"],
            missing=without("npm", "Debian: apt install npm")),
        Check("dependencies: licences, versions, sources", [*deny, "bans", "licenses", "sources"],
            deny_version, missing=no_deny),
        Check("dependencies: advisories", [*deny, "advisories"], deny_version, missing=no_deny,
            unreachable="failed to fetch advisory database"),
        Check(f"no dependency needs a Rust newer than {oldest}",
            [PYTHON, "checks/release/check.py", "--oldest-rust"], cargo),
        Check("documentation of the crates",
            ["cargo", "doc", *workspace, "--no-deps", "--document-private-items"], ["rustdoc", "--version"],
            environment={"RUSTDOCFLAGS": "--deny warnings"}),
        Check(f"everything compiles with Rust {oldest}",
            ["cargo", f"+{oldest}", "check", *workspace, "--all-targets"],
            ["cargo", f"+{oldest}", "--version"],
            missing=lambda: without_compiler(oldest)),
        *(
            Check(f"the core compiles for {system}",
                ["cargo", "check", "--locked", "--quiet", "-p", "anabranch-python", "--target", target],
                cargo,
                environment={"PYO3_CROSS": "1", "PYO3_CROSS_PYTHON_VERSION": "3.11"},
                missing=partial(without_target, target))
            for system, target in OTHER_SYSTEMS.items()
        ),
        Check("sdist and wheel, installed and run without Rust", ["make", "wheel"],
            [PYTHON, "-m", "maturin", "--version"]),
        Check("fuzzing, half a minute for each target", ["make", "fuzz"], ["c++", "--version"],
            missing=without("c++", "Debian: apt install g++")),
    ]  # fmt: skip


def check_rust_versions() -> None:
    """Ends with a complaint if a locked dependency promises less than the manifest does."""
    said = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],  # noqa: S607 - the user's own toolchain
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip

    def parts(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    oldest = rust_version()
    packages = [package for package in json.loads(said.stdout)["packages"] if package["rust_version"]]
    newer = [
        f"{package['name']} {package['version']} needs {package['rust_version']}"
        for package in packages
        if parts(package["rust_version"]) > parts(oldest)
    ]
    sys.stdout.write(f"{len(packages)} packages say which Rust they need\n")
    if newer:
        sys.exit("\n".join(newer))


def cpu_s() -> float:
    """CPU time of all processes that have been waited for, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(check: Check) -> Outcome:
    """Runs a check; what it prints goes to the terminal."""
    sys.stdout.write(f"\n== {check.name}\n")
    sys.stdout.flush()
    if reason := check.missing():
        return Outcome(check, NOT_RUN, reason=reason)
    cpu, wall, seen = cpu_s(), time.monotonic(), False
    with subprocess.Popen(  # noqa: S603 - our own commands
        check.command, cwd=ROOT, env={**os.environ, **check.environment}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as process:  # fmt: skip
        assert process.stdout is not None  # noqa: S101 - for the type checker
        for line in process.stdout:
            sys.stdout.write(line)
            seen = seen or bool(check.unreachable and check.unreachable in line)
    used = (cpu_s() - cpu, time.monotonic() - wall)
    if process.returncode == 0:
        return Outcome(check, PASSED, *used)
    return Outcome(check, NOT_RUN, *used, check.unreachable) if seen else Outcome(check, FAILED, *used)


def version_of(check: Check) -> str:
    """The first line that the tool says about itself."""
    said = subprocess.run(check.version, capture_output=True, text=True, check=False)  # noqa: S603 - our own commands
    return said.stdout.partition("\n")[0] if said.returncode == 0 else ""


def page(outcomes: list[Outcome]) -> str:
    """The outcomes as a page."""
    lines = [
        "# The last checks of a release",
        "",
        f"Written by `make check-release` on {datetime.now(UTC):%Y-%m-%d}, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}. What each is says "
        "[release.md](release.md).",
        "",
        "| check | outcome | CPU s | wall s | with |",
        "|---|---|---:|---:|---|",
    ]
    for outcome in outcomes:
        verdict = f"{outcome.verdict}: {outcome.reason}" if outcome.reason else outcome.verdict
        version = version_of(outcome.check) if outcome.verdict != NOT_RUN else ""
        lines.append(
            f"| {outcome.check.name} | {verdict} | {outcome.cpu_s:.0f} | {outcome.wall_s:.0f} | {version} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Runs all checks, or the one of the dependencies alone."""
    if arguments == ["--oldest-rust"]:
        check_rust_versions()
        return
    outcomes = [run(check) for check in checks()]
    (ROOT / arguments[0]).write_text(page(outcomes), encoding="utf-8")
    sys.stdout.write(f"\n{page(outcomes)}")
    if any(outcome.verdict == FAILED for outcome in outcomes):
        sys.exit(1)


main(sys.argv[1:])
