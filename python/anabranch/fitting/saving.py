"""The folder of a fit: the scenario, everything as JSON, the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from anabranch.errors import ResultError
from anabranch.fitting.outcome import Fit
from anabranch.fitting.writing import DOCUMENT, SCENARIO, scenario_text
from anabranch.results.folders import write_whole
from anabranch.results.result import json_ready


def save(fit: Fit, folder: Path | str, *, page: bool = True, replace: bool = False) -> list[Path]:
    """Writes ``fitted.toml``, ``fit.json`` and ``report.html`` into a folder.

    Raises:
        ResultError: if one of them is there, without ``replace``, or cannot be written.
    """
    folder = Path(folder)
    check_folder(folder, replace=replace)
    files = [
        write_whole(folder / SCENARIO, scenario_text(fit).encode()),
        write_whole(folder / DOCUMENT, (json.dumps(json_ready(fit.data()), indent=1) + "\n").encode()),
    ]
    if page:
        from anabranch.fitting.page import save_fit_page  # noqa: PLC0415 - imports matplotlib

        files.append(save_fit_page(fit, folder))
    return files


def check_folder(folder: Path, *, replace: bool) -> None:
    """Makes sure that nothing would be written over.

    Raises:
        ResultError: if there is a fit, without ``replace``.
    """
    there: Sequence[str] = [name for name in (SCENARIO, DOCUMENT, "report.html") if (folder / name).exists()]
    if there and not replace:
        raise ResultError(f"{folder / there[0]}: exists; choose another folder with --out, or give --replace")
