"""The manual and the examples that come with an installation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from anabranch.errors import CommandError
from anabranch.text.suggest import nearest_remedy

_PACKAGE = Path(__file__).parents[1]
_SOURCES = _PACKAGE.parents[1]
"""Where the sources are, if this package is used in them."""
SHIPPED = _PACKAGE / "manual"
"""What a wheel has: the folders ``docs`` and ``examples`` (checks/release/backend.py puts them there)."""
_HEADING = re.compile(r"^(#{1,4}) +(.+?) *$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_MOST_MATCHES = 12


@dataclass(frozen=True, slots=True)
class Heading:
    """A section of a page."""

    page: str
    """The name of the page, such as ``routing``."""
    title: str
    level: int
    start: int
    """Where it begins in the text of the page."""


def _folder(name: str) -> Path:
    """The folder ``docs`` or ``examples``: of the sources where they are there, else of the installation.

    Raises:
        CommandError: if there is none.
    """
    if (_SOURCES / "Cargo.toml").is_file() and (_SOURCES / name).is_dir():
        return _SOURCES / name
    if (SHIPPED / name).is_dir():
        return SHIPPED / name
    raise CommandError(f"this installation has no {name}; they are in the folder {name}/ of the sources")


def pages() -> dict[str, Path]:
    """The pages of the manual by name: ``routing``, ``reproductions/mprc``."""
    folder = _folder("docs")
    files = sorted(folder.glob("*.md")) + sorted((folder / "reproductions").glob("*.md"))
    return {
        file.relative_to(folder).with_suffix("").as_posix(): file for file in files if file.stem != "index"
    }


def page_text(name: str) -> str:
    """The text of a page, in Markdown."""
    return pages()[name].read_text(encoding="utf-8")


def title_of(text: str) -> str:
    """The title of a page."""
    match = _HEADING.search(text)
    return _plain(match[2]) if match else ""


def headings() -> Iterator[Heading]:
    """Every section of every page."""
    for name in pages():
        # Comments of shell scripts begin like headings.
        text = _FENCE.sub(lambda fence: " " * len(fence.group()), page_text(name))
        for match in _HEADING.finditer(text):
            yield Heading(name, _plain(match[2]), len(match[1]), match.start())


def section_text(heading: Heading) -> str:
    """The text of a section, with the sections below it."""
    text = page_text(heading.page)
    following = (
        each.start
        for each in headings()
        if each.page == heading.page and each.start > heading.start and each.level <= heading.level
    )
    return text[heading.start : next(following, len(text))]


def find_topic(topic: str) -> str | list[Heading]:
    """The text of a page or of the only section with that title; else all sections that have the words.

    Raises:
        CommandError: if there is nothing of the kind, with the nearest name.
    """
    wanted = topic.removesuffix(".md").removeprefix("docs/").strip()
    if wanted in pages():
        return page_text(wanted)
    words = wanted.casefold().replace("-", " ").replace("_", " ").split()
    every = list(headings())
    equal = [each for each in every if _words(each.title) == words]
    if len(equal) == 1:
        return section_text(equal[0])
    alike = equal or [each for each in every if words and set(words) <= set(_words(each.title))]
    alike = alike or _sections_with(words, every)
    if alike:
        return alike[:_MOST_MATCHES]
    names = [*pages(), *(each.title for each in every)]
    remedy = nearest_remedy(wanted, names, "anabranch help lists the pages")
    raise CommandError(f'the manual has no page "{topic}"; {remedy}')


def _sections_with(words: list[str], every: list[Heading]) -> list[Heading]:
    """The sections that have the words, those first that have them most often."""
    counts: list[tuple[int, Heading]] = []
    for page in pages():
        text = page_text(page)
        inside = [each for each in every if each.page == page]
        ends = [*(each.start for each in inside[1:]), len(text)]
        for heading, end in zip(inside, ends, strict=bool(inside)):
            present = _words(text[heading.start : end])
            number = min(map(present.count, words), default=0)
            counts += [(number, heading)] if number else []
    counts.sort(key=lambda entry: -entry[0])
    return [heading for _, heading in counts]


def _words(title: str) -> list[str]:
    return re.findall(r"[\w.]+", title.casefold().replace("-", " ").replace("_", " "))


def _plain(title: str) -> str:
    return re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda match: match[1] or "", title)


def examples() -> dict[str, Path]:
    """The files of the examples by name: ``first.toml``, ``studies/queues.toml``."""
    folder = _folder("examples")
    files = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(folder).as_posix(): file for file in sorted(files)}


def example_title(file: Path) -> str:
    """The title of a scenario or a study, or the first line of code."""
    if file.suffix == ".py":
        text = file.read_text(encoding="utf-8")
        return text.lstrip('"').splitlines()[0].rstrip('."') if text.startswith('"""') else ""
    if file.suffix != ".toml":
        return ""
    return str(tomllib.loads(file.read_text(encoding="utf-8")).get("title", ""))


def example_name(name: str) -> str:
    """The full name of an example: ``classroom/bufferbloat.toml`` of ``bufferbloat``.

    Raises:
        CommandError: if there is no such example.
    """
    files = examples()
    for full in (name, f"{name}.toml"):
        if full in files:
            return full
    inner = [each for each in files if PurePosixPath(each).stem == name or each.endswith(f"/{name}")]
    if len(inner) == 1:
        return inner[0]
    stems = [each.removesuffix(".toml") for each in files]
    remedy = nearest_remedy(name, [*files, *stems], "anabranch examples lists them")
    raise CommandError(f'there is no example "{name}"; {remedy}')


def example_files(name: str) -> dict[str, Path]:
    """An example with the files that it names, by the names that they are written under.

    Raises:
        CommandError: if there is no such example.
    """
    files = examples()
    waiting, written = [example_name(name)], dict[str, Path]()
    while waiting:
        file = waiting.pop()
        written[file] = files[file]
        waiting += [each for each in _named_in(files[file], file, files) if each not in written]
    return dict(sorted(written.items()))


def _named_in(file: Path, name: str, files: dict[str, Path]) -> Iterator[str]:
    """The other examples that a file names, relative to its own folder; beside a matrix its nodes."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    depth = len(PurePosixPath(name).parts) - 1
    for other, path in files.items():
        beside = path.suffix == ".hosts" and path.stem == file.stem
        start = PurePosixPath(name).parent.as_posix()
        inner = other.removeprefix(f"{start}/") if depth else other
        relative = inner if inner != other or not depth else f"{'../' * depth}{other}"
        named = re.search(rf'["\' :=/]{re.escape(relative)}[":\']', text) if file.suffix == ".toml" else None
        if other != name and (beside or named):
            yield other
