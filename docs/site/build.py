"""Builds the manual as a site: ``python docs/site/build.py FOLDER [--live]``; a warning of Sphinx fails it.

The pages are those of ``docs/``. They are laid out in ``FOLDER/source`` as in the repository, so that their
links hold; links to files that are no pages lead to the repository. The front page is ``front.txt``, and the
reference of the Python package comes from its docstrings. With ``--live``, figures and commands have the
studio below them (``live.py``), which lies in ``html/studio``.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from live import SCRIPT, STYLE, block, fragment, with_live
from studio import EXAMPLES

import anabranch

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
REPOSITORY = "https://github.com/anabranch/anabranch/blob/main"
AT_TOP = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
FIRST = "docs/figures/report.png)\n"
"""The end of the picture of the front page, which the first example shows."""
IMAGES = (".png", ".svg")
_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Every page, relative to the repository."""
    entries = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "reproductions").glob("*.md")]
    return [Path(name) for name in AT_TOP] + sorted(file.relative_to(ROOT) for file in entries)


def laid_out(page: Path, there: set[Path]) -> str:
    """The text of a page, with links to what is no page made links to the repository.

    Raises:
        FileNotFoundError: for a link to a file that is not there.
    """

    def link(match: re.Match[str]) -> str:
        target, anchor = match[2], match[3] or ""
        if re.match(r"[a-z]+:", target):
            return match[0]
        file = (ROOT / page.parent / target).resolve()
        if not file.exists():
            raise FileNotFoundError(f"{page}: {target} is not there")
        place = file.relative_to(ROOT)
        if place in there or place.suffix in IMAGES:
            return match[0]
        return f"{match[1]}{REPOSITORY}/{place.as_posix()}{anchor})"

    parts = _CODE.split((ROOT / page).read_text(encoding="utf-8"))
    return "".join(part if part.startswith("`") else _LINK.sub(link, part) for part in parts)


def reference() -> str:
    """The page of the Python package: every public name with its docstring."""
    lines = ["# Python", "", "Every name that `import anabranch` gives.", ""]
    for name in anabranch.__all__:
        if name.startswith("_"):
            continue
        kind = "autofunction" if name == "run" else "autoclass"
        lines += [f"## {name}", "", "```{eval-rst}", f".. {kind}:: anabranch.{name}"]
        lines += (
            ["   :members:", "   :inherited-members: BaseException, Exception, Record, Table, object"]
            if kind == "autoclass"
            else []
        )
        lines += ["```", ""]
    return "\n".join(lines)


def lay_out(source: Path, *, is_live: bool) -> None:
    """Puts everything that Sphinx reads into a folder."""
    shutil.rmtree(source, ignore_errors=True)
    there = set(pages())
    for page in sorted(there):
        target = source / page
        target.parent.mkdir(parents=True, exist_ok=True)
        text = laid_out(page, there)
        target.write_text(with_live(page, text) if is_live else text, encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "figures", source / "docs" / "figures")
    shutil.copyfile(HERE / "conf.py", source / "conf.py")
    front = (HERE / "front.txt").read_text(encoding="utf-8")
    if is_live:
        front = front.replace(
            FIRST, f"{FIRST}{block(Path('index.md'), EXAMPLES[0], fragment(EXAMPLES[0], []))}"
        )
    (source / "index.md").write_text(front, encoding="utf-8")
    # Without them the settings of Sphinx do not name them either.
    (source / "_static").mkdir(exist_ok=True)
    for name, content in (("live.js", SCRIPT), ("live.css", STYLE)):
        (source / "_static" / name).write_text(content, encoding="utf-8")
    (source / "python.md").write_text(reference(), encoding="utf-8")


def main(folder: Path, *, is_live: bool) -> int:
    """Builds the site into ``FOLDER/html``."""
    lay_out(folder / "source", is_live=is_live)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-j", "auto"]
    return subprocess.run([*command, folder / "source", folder / "html"], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), is_live="--live" in sys.argv[2:]))
