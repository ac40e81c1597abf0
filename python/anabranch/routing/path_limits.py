"""Limits on the delay and loss of paths: what is said of pairs that no path within them connects."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal

from anabranch.errors import Problem
from anabranch.routing.path_throughput import path_loss
from anabranch.routing.planned import Pair
from anabranch.scenario.algorithms.scheme import AnyScheme
from anabranch.scenario.leaves import PathLimitsSetup
from anabranch.scenario.quantity import Span, quoted
from anabranch.setup.model import Setup


def limits_of(scheme: AnyScheme | None) -> PathLimitsSetup | None:
    """The limits of a scheme; None where it has none."""
    limits: PathLimitsSetup | None = getattr(scheme, "limits", None)
    return limits


def without_path(setup: Setup, limits: PathLimitsSetup, pairs: Sequence[Pair]) -> list[Problem]:
    """A problem for each limit that leaves some of these pairs no path, with the pair that needs most.

    Args:
        setup: whose links.
        limits: those that no path of the pairs keeps.
        pairs: at least one.
    """
    delay, loss = limits.max_delay, limits.max_loss
    problems = []
    if delay is not None and (beyond := _without(setup, pairs, max_delay=delay)):
        of_pairs = [(_delay(setup, path), pair) for pair, path in _best(setup, beyond, "delay")]
        problems.append(_problem(setup, "max_delay", Span(delay).text, of_pairs))
    if loss is not None and (beyond := _without(setup, pairs, max_loss=loss)):
        of_pairs = [(_loss(setup, path), pair) for pair, path in _best(setup, beyond, "loss")]
        problems.append(_problem(setup, "max_loss", f"{loss:g}", of_pairs))
    if delay is not None and not problems:
        within = _best(setup, pairs, "delay", max_loss=loss)
        of_pairs = [(_delay(setup, path), pair) for pair, path in within]
        problems.append(
            _problem(setup, "max_delay", Span(delay).text, of_pairs, f" that keeps max_loss = {loss:g}, too")
        )
    return problems


def _problem(
    setup: Setup, limit: str, value: str, of_pairs: Sequence[tuple[Decimal, Pair]], which: str = ""
) -> Problem:
    """What is said of a limit, given the least that each pair without a path needs."""
    least, pair = max(of_pairs, key=lambda of_pair: of_pair[0])
    ends = " to ".join(quoted(setup.nodes[node].name) for node in pair)
    others = len(of_pairs) - 1
    more = f", and {others:,} other pair{'s have' if others > 1 else ' has'} none" if others else ""
    unit = " ms" if limit == "max_delay" else ""
    problem = f"leaves no path from {ends}{which}: the least is {_up(least)}{unit}{more}"
    return Problem(f"routing.{limit}", f"{value} {problem}; allow more, or leave it out")


def _without(setup: Setup, pairs: Sequence[Pair], **limit: float) -> list[Pair]:
    """The pairs that have no path within one limit."""
    candidates = setup.core().candidate_paths(1, "delay", pairs, **limit)  # type: ignore[arg-type]
    return [(origin, to) for origin, to, paths in candidates if not paths]


def _best(
    setup: Setup, pairs: Sequence[Pair], metric: str, max_loss: float | None = None
) -> list[tuple[Pair, tuple[int, ...]]]:
    """The best path of each pair by a metric."""
    candidates = setup.core().candidate_paths(1, metric, pairs, max_loss=max_loss)
    return [((origin, to), paths[0]) for origin, to, paths in candidates]


def _delay(setup: Setup, path: Sequence[int]) -> Decimal:
    """In milliseconds."""
    return Decimal(sum(setup.links[link].delay for link in path)) / 10**9


def _loss(setup: Setup, path: Sequence[int]) -> Decimal:
    return Decimal(f"{path_loss([setup.links[link] for link in path]):.9g}")


def _up(number: Decimal) -> str:
    """A number to six digits, rounded up: a limit of it leaves a path."""
    return f"{Context(prec=6, rounding=ROUND_CEILING).create_decimal(number).normalize():f}"
