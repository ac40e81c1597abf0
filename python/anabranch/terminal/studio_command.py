"""``anabranch studio`` and ``anabranch watch``: a scenario that runs again with each change."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from anabranch.errors import AnabranchError, StudioError, installation
from anabranch.process.console import console, say
from anabranch.terminal.command_options import SetOption, TrustOption, load_scenario

_BETWEEN_LOOKS_S = 0.2


def studio(
    place: Annotated[
        Path, typer.Argument(metavar="[FILE | FOLDER]", help="A scenario file (TOML), or a folder of them.")
    ] = Path(),
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=65535, help="Port of this machine; a free one if left out."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser; the address is shown in any case.")
    ] = False,
    trust: TrustOption = False,
) -> None:
    """Show a scenario in a browser, where it is changed by forms and sliders and runs again at once."""
    try:
        from anabranch.studio.serving import desk_of, serve  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise StudioError(
            f"the studio needs {error.name}; install it with: {installation('studio')}"
        ) from None
    serve(desk_of(place, trust=trust), port=port, browser=not no_browser, say=say)


def watch(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file (TOML).")],
    set_: SetOption = None,
    trust: TrustOption = False,
) -> None:
    """Simulate a scenario again each time that its file is saved, until Ctrl-C; nothing is written."""
    from anabranch.results.folders.stamp import stamp  # noqa: PLC0415 - as every command, when it is used

    seen: str | None = ""
    while True:
        now = stamp(file)
        if now != seen:
            seen = now
            if now is None:
                say(f"{file}: is not there; it is simulated as soon as it is")
            else:
                _run_once(file, set_, trust=trust)
        time.sleep(_BETWEEN_LOOKS_S)


def _run_once(file: Path, settings: list[str] | None, *, trust: bool) -> None:
    """Simulates a file and shows it; what is wrong with it is said, and the next change is waited for."""
    from anabranch.media.terminal import show  # noqa: PLC0415 - as every command, when it is used
    from anabranch.process.progress import run_progress  # noqa: PLC0415 - as above
    from anabranch.report.views.run import run_pieces  # noqa: PLC0415 - as above
    from anabranch.runs.runner import run  # noqa: PLC0415 - as above

    try:
        scenario = load_scenario(file, settings, None, routes_only=False, trust=trust)
        # A capture would be written into the current folder at each change.
        scenario = scenario.model_copy(update={"capture": []}) if scenario.capture else scenario
        title = scenario.title or file.stem
        with run_progress(title, scenario.run_settings.duration.seconds) as progress:
            result = run(scenario, progress=progress.run, plan_progress=progress.plan)
    except AnabranchError as error:
        say(error.report())
        return
    if result.interrupted:
        raise KeyboardInterrupt
    for warning in result.summary["warnings"]:
        say(f"warning: {warning}")
    show(console(), run_pieces(title, result))
    say(f"{file}: simulated in {result.summary['wall_s']:.2f} s; waits for a change, Ctrl-C ends it")
