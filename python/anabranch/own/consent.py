"""Whether code that a scenario names may run: it is asked here before any of it does, and nowhere else.

Code runs unasked where its user has written it: in a scenario that a program has built, and in a file of his
own below the current folder that is in no result. Everything else wants an answer once for each content of a
file: at a terminal (:func:`ask`), or by ``--trust`` and ``trust=True``. Root is never taken for the author.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from anabranch.errors import ConsentError, reason
from anabranch.own.code_files import CodeFile, code_files
from anabranch.own.kept_answers import AnswersError, keep_answers, read_answers
from anabranch.process.real_path import real_path
from anabranch.scenario.files import CodeReference
from anabranch.scenario.provenance import Agreement, Provenance

_MANIFESTS = {"manifest.json": b"anabranch-", "study.json": b"anabranch-", "summary.json": b"anabranch-"}
"""Files of folders that Anabranch writes, with what each of them has in it."""
_LARGEST_MANIFEST_BYTES = 50_000_000


def agreement_of(provenance: Provenance, references: Sequence[CodeReference], base: Path | None) -> Agreement:
    """The code of a scenario or a study that may run.

    What runs is noted in the user's list, so that the results of it need no question.

    Args:
        provenance: where it comes from.
        references: the classes that it names, and that are needed now.
        base: folder that their files are relative to; None for the current one.

    Raises:
        ConsentError: if nobody has agreed to it.
    """
    agreed = provenance.agreement or Agreement()
    if provenance.settled or (agreed.everything and not provenance.files):
        return agreed
    files = code_files(references, base)
    if provenance.agreement is not None and all(agreed.allows(file.digest) for file in files):
        return agreed
    try:
        digests, doubt = read_answers() | agreed.digests, ""
    except AnswersError as error:
        digests, doubt = agreed.digests, str(error)
    why = _why_ask(provenance, files)
    if why is None:
        if not doubt:
            # Whoever cannot keep a list is asked about his own results.
            with suppress(AnswersError):
                keep_answers(files, digests)
        return Agreement(everything=True)
    asked = [file for file in files if file.digest not in digests]
    if asked:
        raise ConsentError(_listed(provenance, references, asked, why, doubt), asked)
    return Agreement(digests=frozenset(file.digest for file in files))


class Source(Protocol):
    """A scenario or a study."""

    def agree(self, agreement: Agreement) -> None:
        """Notes what has been agreed to."""


def asked_about(source: Source, agree: Callable[[], object]) -> None:
    """Sees to it that a scenario or a study has its agreement, for which a terminal is asked.

    Args:
        source: gets the answer.
        agree: looks for an agreement; raises ConsentError if there is none.

    Raises:
        ConsentError: if there is no terminal, or the answer is no.
    """
    try:
        agree()
    except ConsentError as refused:
        source.agree(ask(refused))


def ask(refused: ConsentError) -> Agreement:
    """Asks the person at the terminal about code that may not run otherwise; the default is no.

    Args:
        refused: why, and what is to run.

    Returns:
        Agreement to these files, which is kept.

    Raises:
        ConsentError: the same, where there is no terminal; or after a no.
    """
    from anabranch.process.console import confirmed, say  # noqa: PLC0415 - only commands ask

    answer = confirmed(f"{refused.listing}\nRun this code? It can do whatever you can do.")
    if answer is None:
        raise refused
    if not answer:
        raise ConsentError("you have not agreed to its code, and nothing of it has run", refused.files)
    try:
        keep_answers(refused.files, frozenset())
    except AnswersError as error:
        say(f"the answer is not kept: {error}")
    return Agreement(digests=frozenset(file.digest for file in refused.files))


def _why_ask(provenance: Provenance, files: Iterable[CodeFile]) -> str | None:
    """Why code does not run unasked; None where it does."""
    if provenance.trust or not provenance.files:
        return None
    if _is_root():
        return "it would run as root"
    reasons = [_why_not_ones_own(file) for file in provenance.files]
    reasons += [_why_of_others(file.path, file.path, file.owner, "its code") for file in files]
    return next((why for why in reasons if why is not None), None)


def _why_not_ones_own(file: Path) -> str | None:
    """Why a scenario or a study may be somebody else's; None where its user has written it."""
    here, real = real_path(Path.cwd()), real_path(file)
    if here == Path(here.anchor) or not real.is_relative_to(here):
        return "it comes from outside the current folder"
    try:
        owner = real.stat().st_uid
    except OSError as error:
        return f"it cannot be looked at: {reason(error)}"
    return _why_of_others(file, real, owner, "it")


def _why_of_others(named: Path, real: Path, owner: int, what: str) -> str | None:
    if folder := _received(named) or _received(real):
        return f"{what} lies in {_shown(folder)}, a result that may be somebody else's"
    return f"{_shown(real)} belongs to another user" if _is_other(owner) else None


def _is_root() -> bool:
    return os.name == "posix" and os.geteuid() == 0


def _is_other(owner: int) -> bool:
    """Whether files of this user may have been written by somebody else; root could change any."""
    return os.name == "posix" and owner not in (os.geteuid(), 0)


def _received(file: Path) -> Path | None:
    """The folder of a run, study, plan or reproduction that a file lies in; None if it lies in none."""
    for folder in file.parents:
        if any(_is_written_by_us(folder / name, mark) for name, mark in _MANIFESTS.items()):
            return folder
    return None


def _is_written_by_us(file: Path, mark: bytes) -> bool:
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # What cannot be looked at is nobody's own.
        return True
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return True
    with open(descriptor, "rb") as opened:  # noqa: PTH123 - a descriptor
        return mark in opened.read(_LARGEST_MANIFEST_BYTES)


def _listed(
    provenance: Provenance,
    references: Sequence[CodeReference],
    files: Sequence[CodeFile],
    why: str,
    doubt: str,
) -> str:
    """What would run, and why it does not without an answer."""
    names = ", ".join(_shown(file) for file in provenance.files)
    lines = [f"{names}: names code in Python that nobody has agreed to, and {why}"]
    lines += [f"  {reference.place}: {_line(reference.python)}" for reference in references]
    lines.append("files that would run:")
    lines += [f"  {_shown(file.path)}, {file.size:,} bytes, SHA-256 {file.digest[:12]}" for file in files]
    return "\n".join([*lines, doubt] if doubt else lines)


def _shown(path: Path) -> str:
    """A path on one line, from the current folder on where it is below it."""
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    return _line(str(path))


def _line(text: str) -> str:
    """A text that makes no line of its own in a list."""
    return " ".join(text.splitlines())
