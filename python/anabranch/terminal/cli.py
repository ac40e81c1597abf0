"""The command line: its commands, and what each of them does first."""

from __future__ import annotations

import dataclasses
import os
import sys
from copy import copy
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

from anabranch import _core
from anabranch.errors import LiveError, Problem, ScenarioError
from anabranch.process.console import (
    EXIT_INCOMPLETE,
    JobsOption,
    JsonOption,
    ReplaceOption,
    console,
    print_json,
    say,
    write,
)
from anabranch.process.signals import ending, exit_status
from anabranch.terminal.brief_command import brief
from anabranch.terminal.capacity_command import capacity
from anabranch.terminal.capture_command import capture
from anabranch.terminal.command_group import CommandGroup
from anabranch.terminal.command_options import (
    AgainstOption,
    AgainstSimulationOption,
    CsvOption,
    DaskOption,
    DuringOption,
    FailuresOption,
    FiguresOption,
    GrowthOption,
    KernelReceiversOption,
    LiveRunsOption,
    MapOption,
    OptionalValues,
    PageOption,
    ScenarioArgument,
    SetOption,
    SimulatedReceiversOption,
    TrustOption,
    WithoutOption,
    XlsxOption,
    load_study,
)
from anabranch.terminal.command_options import load_scenario as _load
from anabranch.terminal.evaluate_command import evaluate
from anabranch.terminal.export_command import export
from anabranch.terminal.fit_command import fit, predict
from anabranch.terminal.import_command import import_
from anabranch.terminal.manual_commands import examples, help_
from anabranch.terminal.new_command import new
from anabranch.terminal.report_command import report
from anabranch.terminal.studio_command import studio, watch
from anabranch.terminal.topology_command import topology_app
from anabranch.terminal.transfers_command import transfers
from anabranch.terminal.weights_command import weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from anabranch.plans.worst_loads import WorstLoads
    from anabranch.results.result import Result
    from anabranch.scenario.scenario import Scenario

# A name, as JSON Schema 2020-12 wants it (section 8.2.1): nothing is fetched from there.
_SCHEMAS = "https://github.com/anabranch/anabranch/schema"

app = typer.Typer(
    cls=CommandGroup,
    name="anabranch",
    help="Simulate TCP over one or many paths, packet by packet.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(topology_app, name="topology")
app.command(cls=OptionalValues)(brief)
app.command()(capture)
app.command()(evaluate)
app.command()(export)
app.command()(fit)
app.command()(predict)
app.command(cls=OptionalValues)(weights)
app.command(cls=OptionalValues)(capacity)
app.command(cls=OptionalValues)(transfers)
app.command("import")(import_)
app.command()(studio)
app.command()(watch)
app.command()(examples)
app.command("help")(help_)
app.command()(new)
app.command()(report)

SeedOption = Annotated[int | None, typer.Option(help="Seed of every random stream, in place of run.seed.")]
NoPageOption = Annotated[bool, typer.Option("--no-page", help="Write the tables alone, without report.html.")]


def _version(wanted: bool) -> None:
    if wanted:
        write(f"anabranch {_core.version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    seed: SeedOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Result folder; results/ and the scenario's name if left out."),
    ] = None,
    replace: ReplaceOption = False,
    no_page: NoPageOption = False,
    figures: FiguresOption = None,
    cores: Annotated[
        str,
        typer.Option(metavar="N|all", help="Divide the network between so many cores, or all of them."),
    ] = "1",
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate a scenario and keep what was measured."""
    from anabranch.process.progress import run_progress
    from anabranch.report.run_folder import page_writer
    from anabranch.runs.runner import run as run_scenario

    loaded = _load(scenario, set_, seed, routes_only=False, trust=trust, without=without, during=during)
    folder = out if out is not None else Path("results") / scenario.stem
    title = loaded.title or scenario.stem
    with run_progress(title, loaded.run_settings.duration.seconds) as progress:
        result = run_scenario(
            loaded,
            out=folder,
            write=page_writer(page=not no_page, figures=figures or ()),
            replace=replace,
            progress=progress.run,
            plan_progress=progress.plan,
            cores=_cores(cores),
        )
    _show_run(title, result, folder, as_json=as_json)


@app.command()
def live(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    seed: SeedOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Result folder; results/ and the scenario's name, -live, if left out."
        ),
    ] = None,
    replace: ReplaceOption = False,
    no_page: NoPageOption = False,
    figures: FiguresOption = None,
    exec_: Annotated[
        list[str] | None,
        typer.Option("--exec", metavar="HOST=COMMAND", help="Run a command in a host; may be repeated."),
    ] = None,
    shell: Annotated[
        str | None, typer.Option(metavar="HOST", help="Work in a host; the run lasts until its shell ends.")
    ] = None,
    against: AgainstSimulationOption = None,
    runs: LiveRunsOption = None,
    kernel_receivers: KernelReceiversOption = False,
    simulated_receivers: SimulatedReceiversOption = False,
    hold: Annotated[bool, typer.Option("--hold", help="Keep the network up until Ctrl-C.")] = False,
    switches: Annotated[
        str | None,
        typer.Option(
            metavar="ovs",
            help="Let real switches forward: each router is a bridge of Open vSwitch.",
            autocompletion=lambda: ["ovs"],
        ),
    ] = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario between real Linux hosts, over simulated links (Linux, root)."""
    from anabranch.live import LIVE_RUNS, Asked, HostProgram
    from anabranch.live import run as run_live
    from anabranch.media.terminal import show
    from anabranch.process.progress import run_progress
    from anabranch.report.views.run import against_pieces

    _check_against(against, runs)
    asked = Asked(tuple(HostProgram.read(text) for text in exec_ or ()), shell, hold)
    loaded = _load(scenario, set_, seed, routes_only=False, trust=trust)
    folder = out if out is not None else Path("results") / f"{scenario.stem}-live"
    title = loaded.title or scenario.stem
    with run_progress(title, loaded.run_settings.duration.seconds) as progress:
        result = run_live(
            loaded,
            asked=asked,
            against_simulation=against is not None,
            runs=runs or LIVE_RUNS,
            kernel_receivers=kernel_receivers,
            simulated_receivers=simulated_receivers,
            switches=switches,
            out=folder,
            page=not no_page,
            figures=figures or (),
            replace=replace,
            progress=progress.run,
            plan_progress=progress.plan,
        )
    _show_run(title, result, folder, as_json=as_json)
    if "against" in result.tables and not as_json:
        show(console(), against_pieces(result))
    if any(program["status"] for program in result.summary["live"]["programs"]):
        raise typer.Exit(EXIT_INCOMPLETE)


def _cores(text: str) -> int | Literal["all"]:
    """A number of cores as it is written."""
    if text == "all":
        return "all"
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f'{text} is no number, and not "all"', param_hint="--cores") from None


def _check_against(against: str | None, runs: int | None = None) -> None:
    if runs is not None and against is None:
        raise LiveError("--runs: is of a comparison; give --against simulation as well")
    if against not in (None, "simulation"):
        raise LiveError(f'--against: "{against}" is not known; there is "simulation"')


def _show_run(title: str, result: Result, folder: Path, *, as_json: bool) -> None:
    """Tells what a run has measured; after a signal, the program ends."""
    from anabranch.media.terminal import show
    from anabranch.report.views.run import run_pieces
    from anabranch.results.result import json_ready

    for warning in result.summary["warnings"]:
        say(f"warning: {warning}")
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "summary": json_ready(dict(result.summary)),
                **{
                    name: json_ready(result.tables[name].to_dicts())
                    for name in ("flows", "datagram_flows")
                    if name in result.tables
                },
            }
        )
    else:
        show(console(), run_pieces(title, result, folder))
    if result.interrupted:
        say(f"interrupted; what was measured until then is in {folder}")
        raise typer.Exit(exit_status())


@app.command()
def routes(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check-forwarding",
            help="Say whether routers that each forward by the metric agree, and where packets loop.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the plan to a file (JSON), for routing.paths."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write over a plan that is there.")] = False,
    csv: CsvOption = None,
    xlsx: XlsxOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the routes of a scenario; nothing is simulated."""
    from anabranch.media.terminal import show
    from anabranch.plans.forwarding import check_forwarding
    from anabranch.plans.routes import routes as routes_of
    from anabranch.process.progress import plan_progress
    from anabranch.report.plan_files import PlanFiles
    from anabranch.report.views.routes import forwarding_pieces, route_pieces

    files = PlanFiles(csv, xlsx)
    loaded = _load(scenario, set_, None, routes_only=True, trust=trust, without=without, during=during)
    with plan_progress(loaded.title or scenario.stem) as progress:
        table = routes_of(loaded, progress)
    forwarding = check_forwarding(loaded) if check else None
    if out is not None:
        from anabranch.plans.saved import save_plan

        save_plan(loaded, out, replace=replace)
    for warning in table.warnings:
        say(f"warning: {warning}")
    if as_json:
        print_json(table.data() | ({} if forwarding is None else {"forwarding": forwarding.data()}))
    else:
        checked = [] if forwarding is None else forwarding_pieces(forwarding)
        show(console(), [*route_pieces(table), *checked])
        if out is not None:
            write(f"plan in {out}")
    written = files.write_routes(loaded.title or scenario.stem, table)
    if written and not as_json:
        write("\n".join(written))


@app.command(cls=OptionalValues)
def load(
    scenario: ScenarioArgument,
    set_: SetOption = None,
    without: WithoutOption = None,
    during: DuringOption = None,
    failures: FailuresOption = None,
    growth: GrowthOption = None,
    series: Annotated[
        bool, typer.Option("--series", help="Look at each matrix of a file of several, such as of a day.")
    ] = False,
    link: Annotated[
        str | None, typer.Option(metavar="FROM->TO", help="Show this link's matrix, not the worst one's.")
    ] = None,
    map_: MapOption = None,
    against: AgainstOption = None,
    csv: CsvOption = None,
    xlsx: XlsxOption = None,
    page: PageOption = None,
    jobs: JobsOption = None,
    dask: DaskOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep failures there once they are looked at: the same command then goes on."
        ),
    ] = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show how far a matrix, or any traffic within bounds, loads each link; nothing is simulated."""
    from anabranch.media.terminal import show
    from anabranch.plans.load_series import busiest_of_series
    from anabranch.plans.worst_loads import compare_scenarios, worst_loads
    from anabranch.process.progress import counted_progress
    from anabranch.report.plan_files import PlanFiles, chosen_link
    from anabranch.report.views.loads import load_document, load_pieces

    files = PlanFiles(csv, xlsx, page, map_)
    failures = failures or ("links" if page is not None else None)
    loaded = _load(scenario, set_, None, routes_only=True, trust=trust, without=without, during=during)
    with counted_progress(loaded.title or scenario.stem, "{done:,} of {of:,} looked at") as progress:
        if out is not None or dask is not None:
            loads = _kept_loads(loaded, failures, (out, dask, series), jobs, progress)
        else:
            made = busiest_of_series if series else worst_loads
            loads = made(loaded, failures=failures, jobs=jobs, progress=progress)
    if growth is not None:
        loads = dataclasses.replace(loads, growth_a_year=growth / 100)
    chosen, changes, warnings = chosen_link(loads, link), None, list(loads.warnings)
    if against is not None:
        other = _load(against, None, None, routes_only=True, trust=trust, without=without, during=during)
        changes, cautions = compare_scenarios(loaded, loads, other, failures=failures, jobs=jobs)
        warnings += cautions
    for warning in warnings:
        say(f"warning: {warning}")
    if as_json:
        print_json(load_document(loads, changes))
    else:
        show(console(), load_pieces(loads, chosen, changes))
    lines = files.write_loads(loaded.title or scenario.stem, loads, chosen, changes, warnings)
    if lines and not as_json:
        write("\n".join(lines))


def _kept_loads(
    scenario: Scenario,
    failures: str | None,
    where: tuple[Path | None, str | None, bool],
    jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> WorstLoads:
    """Loads whose failures a folder keeps, or a cluster looks at."""
    from anabranch.study.failure_pieces import kept_loads

    out, dask, series = where
    if failures is None or series:
        option = "--out" if out is not None else "--dask"
        message = "is for one matrix" if series else "is for failures; give --failures as well"
        raise ScenarioError([Problem(option, message)], scenario.origin)
    try:
        return kept_loads(scenario, failures, out=out, dask=dask, jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        if out is not None:
            say(f"interrupted; what is done is kept in {out}, and the same command goes on from there")
            raise typer.Exit(exit_status()) from None
        raise


@app.command()
def study(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A study file (TOML).")],
    jobs: JobsOption = None,
    dask: DaskOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Study folder; results/ and the study's name, -live, if left out."),
    ] = None,
    replace: ReplaceOption = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Make live runs, one at a time: between real Linux hosts (Linux, root)."),
    ] = False,
    against: AgainstSimulationOption = None,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario over all levels of its factors; started again, it goes on where it stopped."""
    from anabranch.media.terminal import show
    from anabranch.process.progress import study_progress
    from anabranch.report.views.study import study_pieces
    from anabranch.results.result import json_ready
    from anabranch.study.journal import NAME as JOURNAL

    _check_against(against)
    loaded = load_study(study, trust=trust)
    folder = out if out is not None else Path("results") / f"{study.stem}{'-live' if live else ''}"
    title = loaded.title or study.stem
    try:
        with study_progress(title) as progress:
            result = loaded.run(
                jobs=jobs,
                dask=dask,
                out=folder,
                replace=replace,
                progress=progress,
                live=live,
                against_simulation=against is not None,
            )
    except KeyboardInterrupt:
        kept = f"; what is done is kept in {folder}, and the same command goes on from there"
        say(f"interrupted{kept if folder.is_dir() else ''}")
        raise typer.Exit(exit_status()) from None
    for why in result.repeated:
        say(f"warning: {folder / JOURNAL}, {why}; the run was done again")
    if result.replications < loaded.replications:
        say(
            f"replications: nothing in this study is random, so that {loaded.replications} runs of a cell "
            "would be the same; each cell ran once"
        )
    for warning in result.warnings:
        say(f"warning: {warning}")
    if as_json:
        document = {"folder": str(folder), "warnings": result.warnings, "cells": result.cells.to_dicts()}
        print_json(json_ready(document))
    else:
        show(console(), study_pieces(title, result, folder))


@app.command()
def schema(
    of_study: Annotated[bool, typer.Option("--study", help="Of a study in place of a scenario.")] = False,
) -> None:
    """Print the JSON Schema of a scenario, or of a study."""
    from anabranch.scenario.scenario import Scenario
    from anabranch.scenario.schema import DIALECT, json_schema
    from anabranch.study.model import Study

    table = Study if of_study else Scenario
    head = {"$schema": DIALECT, "$id": f"{_SCHEMAS}/{_core.version()}/{table.__name__.lower()}.json"}
    print_json(head | json_schema(table))


_OVER_ALL = ["help"]
"""The first argument of the command that looks at all others."""


def _with_one(first: list[str]) -> typer.Typer:
    """The application with the command of the arguments alone: to make all is a tenth of a short run."""
    asked = [info for info in app.registered_commands if [_name_of(info)] == first]
    if not asked or first == _OVER_ALL:
        return app
    lean = copy(app)
    lean.registered_commands, lean.registered_groups = asked, []
    return lean


def _name_of(info: CommandInfo) -> str:
    return info.name or get_command_name(getattr(info.callback, "__name__", ""))


def main() -> None:
    """Runs the command line and exits: 0, 2 for a mistake of the user's, 130 after Ctrl-C."""
    if sys.stdout is None:
        # Whoever closes it wants nothing of it.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Names may have letters that the encoding of a terminal lacks.
            stream.reconfigure(errors="backslashreplace")
    try:
        with ending():
            _with_one(sys.argv[1:2])(prog_name="anabranch")
    except KeyboardInterrupt:
        # Another one, while the first is answered.
        sys.exit(exit_status())
