"""Lines of all that shows results, now and at the audit of the house, and which work added them since.

Each commit since the audit is counted by what it added less what it removed in these files, and stands for
the work that it belongs to: the order of the house itself, or a feature that another work brought. It needs
the history: ``python checks/house/view_lines.py`` in a clone that is not shallow.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
AUDIT = "fd2e4f89"
"""The state that was audited."""
SHOWS_RESULTS = re.compile(
    r"(python/anabranch/(views/|media/|report/|columns/|display\.py|capture_display\.py|plan_files\.py|notebook\.py"
    r"|console\.py|process/console\.py|export_command\.py|terminal/export_command\.py)"
    r"|publications/.*/(comparison/(output|page|tables|terminal|view)"
    r"|markdown|papers/(terminal|paper_page|overview|reproduce))\.py).*"
)
"""Views, media, figures and pages, with the output of commands and publications, under all names since."""
ENDINGS = (".py", ".js", ".j2", ".css")
AUDITED = (
    ("terminal", 1070, ("display", "capture_display", "plan_files", "notebook", "console", "export_command")),
    ("pages and maps of loads", 644, ("report/load_page", "report/load_tables", "report/load_map")),
    (
        "workbooks and CSV", 754,
        ("report/spreadsheet", "report/charts", "report/table_files", "report/table_workbook"),
    ),
    (
        "studies", 847,
        (
            "report/html/study_svg", "report/html/study_data", "report/study_table", "report/study_figures",
            "report/study",
        ),
    ),
    (
        "data of pages", 1327,
        (
            "report/html/run_data", "report/html/multipath_data", "report/html/capture_data",
            "report/html/cards", "report/html/encode", "report/html/latency_data", "report/html/page",
            "report/html/routes_data",
        ),
    ),
    ("maps in print", 365, ("report/plots/network", "report/plots/pair_routes")),
)  # fmt: skip
"""Files of the library whose lines the audit counted, by its groups; without those of page sections."""
HOUSE = (
    "7c968b3b", "f22e94fe", "59ed4ac5", "56e6c394", "d4d1f7c5", "1b5a6850", "4a018065", "9e6cf4df",
    "2aadd6bd", "de5e9396", "6470bfb2", "2b93c5ce", "80c42567", "938961ff", "3ace290c", "e60289e5",
    "00f9f809", "202c348e", "0c6c25df", "6dad8661", "4d681ea6", "a1004efe", "24865802", "46257b45",
    "d695e355", "275ecce5",
)  # fmt: skip
"""Commits of the order of the house, which brought no feature; all others brought some, or mended them."""
HOUSE_SUBJECTS = (
    "Stand folders with results", "Variables and fields of", "Variables of ", "Captures are pieces",
    "What stands twice of loads", "A map at an instant takes its values", "Tables of two rows have no filter",
    "What nothing uses of pages",
)  # fmt: skip
"""How the subjects of further ones begin."""


def git(*words: str) -> str:
    """The output of a command of git."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603, S607


def shows_results(file: str) -> bool:
    """Whether a file belongs to what is counted."""
    is_ours = SHOWS_RESULTS.fullmatch(file) is not None and file.endswith(ENDINGS)
    return is_ours and "uplot" not in file.lower()


def lines_at(state: str) -> dict[str, int]:
    """The lines of each file that is counted, in a state of the repository."""
    files = filter(shows_results, git("ls-tree", "-r", "--name-only", state).splitlines())
    return {file: git("show", f"{state}:{file}").count("\n") for file in files}


def changes() -> dict[str, tuple[str, int]]:
    """By commit since the audit its subject, and the lines that it added less those that it removed."""
    text = git("log", "--no-renames", "--no-merges", "--numstat", "--format=commit %h %s", f"{AUDIT}..HEAD")
    counts: dict[str, int] = defaultdict(int)
    subjects, commit = dict[str, str](), ""
    for line in text.splitlines():
        if line.startswith("commit "):
            _, commit, subject = line.split(" ", 2)
            commit = commit[:8]
            subjects[commit] = subject
        elif (cells := line.split("\t"))[0].isdigit() and shows_results(cells[2]):
            counts[commit] += int(cells[0]) - int(cells[1])
    return {commit: (subjects[commit], count) for commit, count in counts.items()}


def main() -> None:
    """Prints the account."""
    before, now = lines_at(AUDIT), lines_at("HEAD")
    for what, audited, names in AUDITED:
        count = sum(before[f"python/anabranch/{name}.py"] for name in names)
        print(f"{count:7,} lines at the audit: {what}{'' if count == audited else f' ({audited} were said)'}")
    print(f"{sum(before.values()):7,} lines of all that shows results at the audit")
    house, features = 0, list[tuple[int, str]]()
    for commit, (subject, count) in changes().items():
        if commit in HOUSE or subject.startswith(HOUSE_SUBJECTS):
            house += count
        else:
            features.append((count, f"{commit} {subject}"))
    print(f"{house:+7,} by the order of the house")
    print(f"{sum(count for count, _ in features):+7,} by features that others brought:")
    for count, subject in sorted(features, reverse=True):
        if count >= 10:
            print(f"    {count:+5,} {subject[:100]}")
    merged = sum(now.values()) - sum(before.values()) - house - sum(count for count, _ in features)
    print(f"{merged:+7,} in merges")
    declared = sum(count for file, count in now.items() if "/columns/" in file)
    print(f"{sum(now.values()):7,} now, of which {declared:,} declare columns and say what they mean")


if __name__ == "__main__":
    main()
