"""Keeping of what is seen: as a result folder, a study, figures, or a command line to copy."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from anabranch.errors import ScenarioError, StudioError
from anabranch.report.run_folder import page_writer
from anabranch.results.folders import write_whole
from anabranch.results.result import Result
from anabranch.runs.runner import run
from anabranch.scenario.reading import parse_toml, value_of
from anabranch.studio.folder import Folder, text_of
from anabranch.studio.texts import ScenarioText, settings_between, toml_value

_COMMANDS = {"run": "run", "routes": "routes", "loads": "load", "none": "run"}
_NAME = re.compile(r"[\w][\w. -]*")
_DOTS_PER_INCH = 150


def write_new(file: Path, content: bytes) -> None:
    """Writes a file that must not be there with other content.

    Raises:
        StudioError: if it is.
        ResultError: if it cannot be written.
    """
    if file.exists() and (not file.is_file() or file.read_bytes() != content):
        raise StudioError(f'"{file.name}" is there already, with other content; rename one of both')
    write_whole(file, content)


def keep_run(source: ScenarioText, folder: Folder, name: str) -> str:
    """Runs a scenario into ``results/NAME`` with its page, and returns the folder.

    Raises:
        StudioError: if the name is none.
        AnabranchError: as :func:`anabranch.runs.runner.run`.
    """
    place = Path("results") / _plain(name)
    if (folder.root / place).exists():
        raise StudioError(f'"{place}" is there already; choose another name')
    run(source.scenario(), out=folder.root / place, write=page_writer())
    return place.as_posix()


def _plain(name: str) -> str:
    """A name without folders.

    Raises:
        StudioError: if it is none.
    """
    if not _NAME.fullmatch(name):
        raise StudioError(f"{name!r} is no name of a folder; take letters, digits, dots, dashes and blanks")
    return name


def write_study(
    source: ScenarioText, folder: Folder, factors: Sequence[Mapping[str, Any]], replications: int
) -> str:
    """Writes a study of fields and their levels beside the scenario, and returns its name.

    It names the scenario's file, or holds the scenario itself where the text is not saved.

    Raises:
        StudioError: if there is no factor, or a study of that name is there with other content.
        StudyError: if it cannot be run.
    """
    from anabranch.study import Study  # noqa: PLC0415 - few ask

    if not factors:
        raise StudioError("a study needs a factor: a slider, and the levels between its ends")
    source.scenario()
    saved = _saved(source)
    scenario = source.file.name if saved == source.text else source.data()
    data = {
        "title": f"{source.file.stem}: {' and '.join(str(factor['field']) for factor in factors)}",
        "replications": replications,
        "scenario": scenario,
        "factor": [{"field": factor["field"], "levels": list(factor["levels"])} for factor in factors],
    }
    Study.from_data(data, base=source.file.parent)
    place = source.file.with_name(f"{source.file.stem}-study.toml")
    write_new(place, tomli_w.dumps(data).encode())
    return folder.name(place)


def _saved(source: ScenarioText) -> str | None:
    try:
        return text_of(source.file)
    except ScenarioError:
        return None


def drawn_figures(result: Result) -> Iterator[tuple[str, bytes]]:
    """The name and the PNG of every figure that a run has something for."""
    from anabranch.report.plots.every import run_figures  # noqa: PLC0415 - imports what draws on paper

    for name, plot in run_figures(result):
        image = io.BytesIO()
        plot.figure.savefig(image, format="png", dpi=_DOTS_PER_INCH)
        yield name, image.getvalue()


def command_line(source: ScenarioText, mode: str) -> str:
    """The command that shows what the page shows: of the file, with the fields that differ from it.

    Raises:
        StudioError: if the text differs in more than that and must be saved first.
    """
    saved, data = _saved(source), source.data()
    start = ["anabranch", _COMMANDS[mode], source.file.name]
    if saved is None or data is None:
        raise StudioError("save the scenario first: a command reads it from its file")
    changes = settings_between(parse_toml(saved, source.file.name), data)
    if changes is None:
        raise StudioError("save the scenario first: it differs from its file in more than values of fields")
    return shlex.join(
        [*start, *(part for field, value in changes for part in ("--set", _setting(field, value)))]
    )


def _setting(field: str, value: Any) -> str:
    """``FIELD=VALUE``, without quotes where the text stands for itself."""
    plain = str(value)
    bare = isinstance(value, str) and value_of(plain) == value
    return f"{field}={plain if bare else toml_value(value)}"
