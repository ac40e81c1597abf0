"""Files to start an algorithm of one's own from: a class with its hooks, a scenario and a study."""

from __future__ import annotations

import keyword
from pathlib import Path

from anabranch.errors import Problem, ScenarioError
from anabranch.own.kinds import KINDS, TEMPLATES
from anabranch.results.folders import write_folder
from anabranch.scenario.quantity import quoted
from anabranch.scenario.unknown import unknown_choice

_FILES = ("mine.py", "mine.toml", "mine_study.toml")
"""Named after the algorithm, as are their results: one algorithm's do not replace another's."""
_STUDY = "_study"
"""End of the name of an algorithm's study, and of the folder of its results."""


def new(kind: str, name: str, folder: Path | None = None) -> list[Path]:
    """Writes the files into a new folder.

    Args:
        kind: one of :data:`~anabranch.own.kinds.KINDS`.
        name: the module's name; a hyphen becomes an underscore.
        folder: where to; a folder of that name, if left out.

    Returns:
        The files.

    Raises:
        ScenarioError: if there is no such kind, or the name is none of Python's.
        ResultError: if the folder is there already, or cannot be made.
    """
    module = name.replace("-", "_")
    if kind not in KINDS:
        raise ScenarioError([Problem("", f"kind {unknown_choice(kind, KINDS)}")])
    if not module.isidentifier() or keyword.iskeyword(module) or not module.islower():
        message = f"{quoted(name)} is no name of a module; write lower-case letters, digits and underscores"
        raise ScenarioError([Problem("", message)])
    if module.endswith(_STUDY):
        message = (
            f"{quoted(name)} ends in {_STUDY}, as the study of {quoted(module.removesuffix(_STUDY))} does: "
            "their results would take each other's folder; give another name"
        )
        raise ScenarioError([Problem("", message)])
    class_name = "".join(part.capitalize() for part in module.split("_"))
    files = {}
    for file in _FILES:
        text = (TEMPLATES / kind.replace("-", "_") / file).read_text(encoding="utf-8")
        named = text.replace("Mine", class_name).replace("mine", module)
        files[file.replace("mine", module)] = named.encode()
    return write_folder(Path(module) if folder is None else folder, files)
