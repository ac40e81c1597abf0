"""The answers of solvers in this process, kept so that the same question is asked once.

The answer does not hang on who sends, so that flows that differ from replication to replication need no
other. A solver that ends by its time limit takes long: it is asked once for all runs of a study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Solved = tuple[str, Any]
"""A question, with all that its answer hangs on, and the answer."""
_MOST_KEPT = 8
_kept: dict[str, Any] = {}


def answer_to(question: str, solve: Callable[[], Any]) -> Any:
    """The answer to a question; it is solved only where it is not known."""
    if question not in _kept:
        answer = solve()
        while len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[question] = answer
    return _kept[question]


def solved() -> tuple[Solved, ...]:
    """The last solution of this process, for :func:`recall` in another one."""
    return tuple(_kept.items())


def recall(answers: Iterable[Solved]) -> None:
    """Takes answers of another process for known."""
    _kept.update(answers)
