"""The commands ``anabranch reproduce`` and ``anabranch compare``, which the library finds as entry points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anabranch.errors import Problem
from anabranch.media.terminal import show as show_pieces
from anabranch.process.console import (
    EXIT_INCOMPLETE,
    JobsOption,
    JsonOption,
    ReplaceOption,
    console,
    print_json,
    say,
)
from anabranch.process.progress import study_progress
from anabranch.process.signals import exit_status
from anabranch.results.folders import adding
from anabranch.results.result import json_ready
from anabranch.terminal.command_options import TrustOption
from anabranch_publications.errors import ReproductionError

if TYPE_CHECKING:
    from anabranch_publications.papers import Context, Paper, Reproduction

LiveOption = Annotated[
    bool,
    typer.Option(
        "--live",
        help="tcpbp or semper by real kernels over Open vSwitch, in real time; needs Linux and root.",
    ),
]


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Which paper; all of them if left out.")
    ] = None,
    figure: Annotated[
        str | None, typer.Argument(metavar="FIGURE", help="One figure or table of it, such as A.3.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer levels and replications.")] = False,
    jobs: JobsOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder; each paper has one in it.")] = Path(
        "results/reproduce"
    ),
    live: LiveOption = False,
    replace: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Reproduce the publications behind Anabranch: what they print, and what comes out here."""
    if live:
        _reproduce_live(paper, figure, out, quick=quick, replace=replace, as_json=as_json)
        return
    from anabranch_publications.papers.overview import (  # noqa: PLC0415 - slow to import
        FILES,
        FOLDER_KIND,
        Overview,
        reproduce_all,
    )
    from anabranch_publications.papers.reproduce import reproduce as reproduce_paper  # noqa: PLC0415
    from anabranch_publications.papers.terminal import overview_pieces, reproduction_pieces  # noqa: PLC0415

    documents: list[dict[str, Any]] = []
    announce = None if as_json else say

    def show(outcome: Reproduction, folder: Path) -> None:
        if as_json:
            documents.append(outcome.data())
        else:
            show_pieces(console(), reproduction_pieces(outcome, folder))

    def context(folder: Path) -> Context:
        return _context(folder, quick=quick, jobs=jobs, replace=replace)

    papers = _papers(paper)
    overview = None
    try:
        if paper is None:
            overview = reproduce_all(
                papers, out, context, announce=announce, complain=say, show=show, replace=replace
            )
        else:
            (chosen,) = papers
            folder = out / chosen.key
            with adding(out, FOLDER_KIND, FILES, replace=replace) as place:
                outcome = reproduce_paper(chosen, figure, context(folder), announce=announce)
                show(outcome, folder if figure is None else folder / f"figure-{figure}")
                if figure is None:
                    Overview.read(_papers(None), out).save(place.partial)
                    place.put()
    except KeyboardInterrupt:
        say(f"interrupted; finished runs are kept in {out}, and the same command goes on from there")
        raise typer.Exit(exit_status()) from None
    if overview is not None:
        if as_json:
            documents += [failed.data() for failed in overview.failed()]
            documents.append(overview.data())
        else:
            show_pieces(console(), overview_pieces(overview, out))
    if as_json:
        print_json(documents)
    if overview is not None and overview.failed():
        raise typer.Exit(EXIT_INCOMPLETE)


def _papers(key: str | None) -> list[Paper]:
    """The papers that a key means.

    Raises:
        ReproductionError: if there is no such paper.
    """
    from anabranch.scenario.unknown import unknown_choice  # noqa: PLC0415 - slow to import
    from anabranch_publications.papers import PAPERS  # noqa: PLC0415 - slow to import

    if key is None:
        return list(PAPERS.values())
    if key not in PAPERS:
        raise ReproductionError([Problem("paper", unknown_choice(key, list(PAPERS)))])
    return [PAPERS[key]]


def _reproduce_live(
    paper: str | None, figure: str | None, out: Path, *, quick: bool, replace: bool, as_json: bool
) -> None:
    """Reproduces what runs live, each paper in a folder of its own, and shows it."""
    from anabranch_publications.papers.reproduce import reproduce as reproduce_paper  # noqa: PLC0415
    from anabranch_publications.papers.terminal import reproduction_pieces  # noqa: PLC0415

    documents = []
    try:
        for live_paper in _live_papers(paper):
            folder = out / live_paper.key
            context = _context(folder, quick=quick, jobs=None, replace=replace)
            outcome = reproduce_paper(live_paper, figure, context, announce=None if as_json else say)
            documents.append(outcome.data())
            if not as_json:
                place = folder if figure is None else folder / f"figure-{figure}"
                show_pieces(console(), reproduction_pieces(outcome, place))
    except KeyboardInterrupt:
        say("interrupted; a live run is in real time and has nothing to go on from")
        raise typer.Exit(exit_status()) from None
    if as_json:
        print_json(documents)


def _live_papers(key: str | None) -> list[Paper]:
    """What of a paper is reproduced live; of all that have it if none is named.

    Raises:
        ReproductionError: if nothing of the paper is.
        LiveError: if the machine cannot do it.
    """
    from anabranch_publications.papers import LIVE_PAPERS  # noqa: PLC0415 - slow to import
    from anabranch_publications.papers.live_runs import check_live  # noqa: PLC0415 - as the others

    if key is not None and key not in LIVE_PAPERS:
        _papers(key)
        raise ReproductionError(
            [Problem("paper", f'nothing of "{key}" runs live; there are {", ".join(LIVE_PAPERS)}')]
        )
    check_live()
    return [ours for name, ours in LIVE_PAPERS.items() if key in (None, name)]


def _context(folder: Path, *, quick: bool, jobs: int | None, replace: bool) -> Context:
    """Where a paper is reproduced, with a line of progress for each of its studies on a terminal."""
    from anabranch_publications.papers import Context  # noqa: PLC0415 - slow to import

    return Context(folder, quick=quick, jobs=jobs, progress=study_progress, replace=replace)


def compare(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NETWORK|SCENARIO]...",
            help="Networks, such as zoo/Abilene, or scenario files; NSFNET, zoo/Abilene, zoo/AttMpls and "
            "sndlib/germany50 if left out.",
        ),
    ] = None,
    systems: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Only these systems, such as hops,semper-mptcp; all if left out."
        ),
    ] = None,
    add: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SCENARIO",
            help="A system of your own: the routing, transport and controller of this scenario.",
        ),
    ] = None,
    replications: Annotated[
        int | None, typer.Option(metavar="N", help="Runs of each; 5, or 3 with --quick.", min=1)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter and fewer runs, for a first look.")] = False,
    jobs: JobsOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for tables, figures and runs.")] = Path(
        "results/compare"
    ),
    replace: ReplaceOption = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compare systems on one network and workload: routing, transport and control together."""
    from anabranch_publications import comparison  # noqa: PLC0415 - slow to import
    from anabranch_publications.comparison.output import (  # noqa: PLC0415 - slow to import
        FILES,
        FOLDER_KIND,
        write_comparison,
    )
    from anabranch_publications.comparison.view import comparison_pieces  # noqa: PLC0415 - as the others

    chosen = comparison.chosen_systems(
        None if systems is None else [name.strip() for name in systems.split(",") if name.strip()],
        comparison.added_systems(add or [], trust=trust),
    )
    compared = comparison.subjects(what or [], quick=quick)
    try:
        with adding(out, FOLDER_KIND, FILES, replace=replace) as place:
            outcome = comparison.compare(
                compared,
                chosen,
                out,
                replications=replications,
                quick=quick,
                jobs=jobs,
                progress=study_progress,
                announce=None if as_json else say,
                replace=replace,
            )
            write_comparison(outcome, place.partial)
            place.put()
    except KeyboardInterrupt:
        say(f"interrupted; finished runs are kept in {out}, and the same command goes on from there")
        raise typer.Exit(exit_status()) from None
    if as_json:
        print_json(json_ready({"folder": str(out), **outcome.data()}))
    else:
        show_pieces(console(), comparison_pieces(outcome, out))
