"""Keeping of what is seen: as a result folder, a study, figures, or a command line to copy."""

from __future__ import annotations

import base64
import io
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli_w

from anabranch.errors import ScenarioError, StudioError
from anabranch.results.folders import replacing, write_whole
from anabranch.results.result import Result
from anabranch.scenario.reading import parse_toml, value_of
from anabranch.scenario.scenario import Scenario
from anabranch.studio.drawing import simulated
from anabranch.studio.folder import Folder, text_of
from anabranch.studio.texts import ScenarioText, settings_between, toml_value
from anabranch.studio.work import Data, Teller

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


def place_of(folder: Folder, name: str) -> Path:
    """The folder of a result of this name, in that of the studio: ``results/NAME``.

    Raises:
        StudioError: if the name is none, or something is there.
    """
    place = Path("results") / _plain(name)
    if (folder.root / place).exists():
        raise StudioError(f'"{place}" is there already; choose another name')
    return place


def keep(scenario: Scenario, mode: str, place: Path, tell: Teller) -> Data:
    """Writes what a mode shows of a scenario into a folder: a run with its page, or what a plan leaves.

    Args:
        scenario: the scenario.
        mode: one of :data:`anabranch.studio.drawing.MODES`.
        place: the folder, which is not there.
        tell: told how far it is.

    Returns:
        ``files`` of the folder for people, and ``interrupted`` where a run has not come to its end.

    Raises:
        AnabranchError: as the command that shows the same.
    """
    if mode not in _PLANS:
        result = simulated(scenario, lambda: None, tell, out=place)
        return {"files": ["report.html"], "interrupted": result.interrupted}
    with replacing(place, "plan") as made:
        _PLANS[mode](scenario, made.partial)
        names = sorted(file.name for file in made.partial.iterdir())
        made.put()
    return {"files": names, "interrupted": False}


def _keep_routes(scenario: Scenario, folder: Path) -> None:
    """The routes as ``anabranch routes --out plan.json --csv`` writes them."""
    from anabranch.plans.routes import routes  # noqa: PLC0415 - few ask
    from anabranch.plans.saved import save_plan  # noqa: PLC0415 - as above
    from anabranch.report.plan_files import PlanFiles  # noqa: PLC0415 - as above

    PlanFiles(csv=folder).write_routes(scenario.title or "routes", routes(scenario))
    save_plan(scenario, folder / "plan.json")


def _keep_loads(scenario: Scenario, folder: Path) -> None:
    """The loads as ``anabranch load --page --map --csv`` writes them."""
    from anabranch.plans.worst_loads import worst_loads  # noqa: PLC0415 - imports solvers
    from anabranch.report.plan_files import PlanFiles  # noqa: PLC0415 - few ask

    loads = worst_loads(scenario)
    files = PlanFiles(csv=folder, page=folder / "loads.html", map=folder / "loads.png")
    files.write_loads(scenario.title or "loads", loads, loads.worst.link, None, loads.warnings)


_PLANS = {"routes": _keep_routes, "loads": _keep_loads}
"""What is kept of a plan, by mode."""


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


def figures(scenario: Scenario, mode: str, tell: Teller) -> Data:
    """Figures of what a mode shows, as PNG: ``figures``, each with its ``name`` and its bytes in ``base64``.

    Raises:
        StudioError: routes have none.
        AnabranchError: as the command that shows the same.
    """
    if mode == "routes":
        raise StudioError("routes have no figures; Keep result writes their tables, and a run has figures")
    if mode == "loads":
        from anabranch.plans.worst_loads import worst_loads  # noqa: PLC0415 - imports solvers
        from anabranch.report.load_map import load_map  # noqa: PLC0415 - imports what draws on paper

        drawn: Iterator[tuple[str, Any]] = iter([("loads", load_map(worst_loads(scenario)))])
    else:
        drawn = _of_run(simulated(scenario, lambda: None, tell))
    return {"figures": [{"name": name, "base64": _png(figure)} for name, figure in drawn]}


def _of_run(result: Result) -> Iterator[tuple[str, Any]]:
    """The name and the drawing of every figure that a run has something for."""
    from anabranch.report.plots.every import run_figures  # noqa: PLC0415 - imports what draws on paper

    for name, plot in run_figures(result):
        yield name, plot.figure


def _png(figure: Any) -> str:
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=_DOTS_PER_INCH)
    return base64.b64encode(image.getvalue()).decode("ascii")


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
