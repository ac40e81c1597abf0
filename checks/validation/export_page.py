"""Loads each export into the program that it is for, and writes what came out: ``make validate-export``.

The checks are those of tests/export. A check that cannot be made here is on the page with its reason.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
FILES = ("test_export_live.py", "test_export_frr.py", "test_export_files.py", "test_export_igp.py")
VERSIONS = {
    "Open vSwitch": ["ovs-vsctl", "--version"],
    "iproute2": ["ip", "-V"],
    "FRR": ["/usr/lib/frr/zebra", "--version"],
}


def version(command: list[str]) -> str:
    """The first number that a program says of itself."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - our own
    except FileNotFoundError:
        return "not installed"
    match = re.search(r"\d+(\.\d+)+", said)
    return match[0] if match else said.strip()


def rows(report: Path) -> list[tuple[str, str, str, str]]:
    """File, check, outcome and what it printed or why it was not made."""
    cases = []
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - pytest's own
        said = (case.findtext("system-out") or "").splitlines()
        printed = _rounded(" ".join(line for line in said if not line.startswith("---")).strip())
        outcome, why = "passes", printed
        for kind in ("skipped", "failure", "error"):
            if (element := case.find(kind)) is not None:
                outcome = "not made here" if kind == "skipped" else "fails"
                why = (element.get("message") or "").split("\n")[0]
        name = case.get("name", "").removeprefix("test_").replace("_", " ")
        cases.append((case.get("classname", "").rsplit(".", 1)[-1], name, outcome, why.replace("|", "\\|")))
    return cases


def _rounded(text: str) -> str:
    """With three decimals, which is what 6,000 flows tell."""
    return re.sub(r"\d+\.\d{4,}", lambda match: f"{float(match[0]):.3f}", text)


def page(checks: list[tuple[str, str, str, str]]) -> str:
    """The page in Markdown."""
    counts = {word: sum(row[2] == word for row in checks) for word in ("passes", "not made here", "fails")}
    versions = ", ".join(f"{name} {version(command)}" for name, command in VERSIONS.items())
    lines = [
        "# Exports in the programs that they are for",
        "",
        "Each check of `tests/export` loads an export into the real program, or reads its files as that "
        "program does ([export.md](export.md)). This page is written by `make validate-export`. The file of "
        "containerlab is held against our own description of the format, and against containerlab's schema "
        "where Go's module proxy has it.",
        "",
        f"{datetime.now(UTC).date().isoformat()}, Linux {platform.release().split('-')[0]}, {versions}: "
        f"{counts['passes']} checks pass, {counts['fails']} fail, "
        f"{counts['not made here']} could not be made here.",
        "",
        "| by | check | outcome | measured, or why not |",
        "|---|---|---|---|",
    ]
    by = {name[:-3]: "the program" if name in FILES[:2] else "files" for name in FILES}
    lines += [f"| {by.get(file, file)} | {name} | {outcome} | {why} |" for file, name, outcome, why in checks]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the checks and writes the page; exit status 1 if one fails."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "checks.xml"
        tests = [str(ROOT / "tests" / "export" / name) for name in FILES]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", f"--junit-xml={report}"]
        command += ["-o", "junit_logging=system-out", *tests]
        environment = {**os.environ, "ANABRANCH_VALIDATE_EXPORT": "1"}
        subprocess.run(command, cwd=ROOT, check=False, env=environment)  # noqa: S603 - our own
        checks = rows(report)
    Path(sys.argv[1]).write_text(page(checks), encoding="utf-8")
    sys.exit(any(row[2] == "fails" for row in checks))


if __name__ == "__main__":
    main()
