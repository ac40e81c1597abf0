"""The findings of a reproduction: a published number or statement beside ours, a verdict, a prediction."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, ParamSpec

from anabranch.results.stored import metric_value
from anabranch.text.units import plain

Verdict = Literal["agrees", "differs as predicted", "refuted", "differs"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "differs as predicted", "refuted", "differs")

Kind = Literal["printed", "fitted", "bound", "question"]
KINDS: Mapping[Kind, str] = {
    "printed": "printed claims",
    "fitted": "printed claims that hold by construction",
    "bound": "bounds of ours",
    "question": "questions of ours",
}
"""What a finding is held to, and its name for people: a number or statement of the publication; one that our
set-up was fitted to, or that follows from such a fit, so that its agreement shows nothing; a bound, closed
form or reference that we set; or a question that the publication leaves open, with what was expected."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Why ours differs, as a hypothesis that can turn out false: what it says our number must be.

    Only a function marked by :func:`predicts` makes one that a finding takes.
    """

    value: float
    """Our number by the hypothesis, in the unit of the finding."""
    width: float
    """How far ours may be from it, either way."""
    text: str
    """The hypothesis, and where the width comes from."""
    experiment: str = ""
    """What computed it, by its name in :data:`EXPERIMENTS`."""

    def __post_init__(self) -> None:
        """Refuses what no number could contradict.

        Raises:
            ValueError: if the value or the width is no number, or the hypothesis has no words.
        """
        if not (math.isfinite(self.value) and 0 <= self.width < math.inf and self.text):
            raise ValueError(f"not a prediction: {self.value} +- {self.width}, {self.text!r}")

    def holds(self, ours: float) -> bool:
        """Whether our number is as predicted; one on the edge is."""
        return abs(ours - self.value) <= self.width + 1e-9 * max(1.0, abs(self.value))

    @property
    def interval(self) -> str:
        """The predicted interval, as printed."""
        low, high = (plain(self.value + sign * self.width, 4) for sign in (-1, 1))
        return low if low == high else f"{low} to {high}"


EXPERIMENTS: dict[str, Callable[..., Prediction]] = {}
"""Experiments and calculations that predict our numbers, by module and name."""

P = ParamSpec("P")


def predicts(predict: Callable[P, Prediction]) -> Callable[P, Prediction]:
    """Marks a function that predicts one of our numbers from the same run of ``anabranch reproduce``.

    It computes or simulates what its hypothesis says, and never sees the number that it predicts.
    """
    name = _short_name(predict)

    @wraps(predict)
    def run(*args: P.args, **kwargs: P.kwargs) -> Prediction:
        return replace(predict(*args, **kwargs), experiment=name)

    EXPERIMENTS[name] = run
    return run


@dataclass(frozen=True, slots=True)
class Refutation:
    """Why a printed claim cannot be reproduced: what of its own publication contradicts it.

    That is another number that the publication prints, or what the simulator that its author used gives for
    the same set-up. Only a function marked by :func:`refutes` makes one that a finding takes.
    """

    holds: bool
    """Whether the evidence contradicts the claim."""
    text: str
    """The evidence, with its numbers."""
    source: str = ""
    """What computed it, by its name in :data:`REFUTATIONS`."""


REFUTATIONS: dict[str, Callable[..., Refutation]] = {}
"""Comparisons of a printed claim with other evidence of its publication, by module and name."""


def refutes(compare: Callable[P, Refutation]) -> Callable[P, Refutation]:
    """Marks a function that holds a printed claim against its own publication; it never sees our number."""
    name = _short_name(compare)

    @wraps(compare)
    def run(*args: P.args, **kwargs: P.kwargs) -> Refutation:
        return replace(compare(*args, **kwargs), source=name)

    REFUTATIONS[name] = run
    return run


def _short_name(function: Callable[..., object]) -> str:
    return f"{function.__module__.removeprefix('anabranch_publications.papers.')}.{function.__qualname__}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far ours may be from a published number."""

    width: float
    """Beyond rounding, in the unit of the number."""
    origin: str
    """Where that comes from: the publication, or what our own numbers scatter by; never our number itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One published number or statement, and what came out here."""

    what: str
    published: str
    ours: str
    agrees: bool
    judged: str = "as stated"
    """When it agrees: the tolerance and where it comes from, or how a loose statement was read."""
    kind: Kind = "printed"
    value: float | None = None
    """Our number, which a prediction is about."""
    prediction: Prediction | None = None
    remark: str = ""
    """What is suspected, or what a reader must know. It changes no verdict."""
    ratio: float | None = None
    """Ours over the published number, where both are numbers above zero; if it is not given, that of the two
    texts where both are a number with the same unit."""
    refutation: Refutation | None = None
    """What of the publication itself contradicts the claim."""

    def __post_init__(self) -> None:
        """Takes the ratio from the texts, where that is possible.

        Raises:
            ValueError: if it has a prediction that no experiment made, or none of our numbers to hold to it;
                or a refutation that no comparison made.
        """
        if self.ratio is None:
            object.__setattr__(self, "ratio", _printed_ratio(self.published, self.ours))
        if self.prediction is not None:
            if self.prediction.experiment not in EXPERIMENTS:
                raise ValueError(f'"{self.what}": no experiment makes its prediction')
            if self.value is None:
                raise ValueError(f'"{self.what}": a prediction without a number of ours')
        if self.refutation is not None and self.refutation.source not in REFUTATIONS:
            raise ValueError(f'"{self.what}": no comparison makes its refutation')

    @property
    def verdict(self) -> Verdict:
        """Whether it agrees; if not, whether our number is as predicted, or the claim is refuted."""
        if self.agrees:
            return "agrees"
        predicted = (
            self.prediction is not None and self.value is not None and self.prediction.holds(self.value)
        )
        if predicted:
            return "differs as predicted"
        return "refuted" if self.refutation is not None and self.refutation.holds else "differs"


def _printed_ratio(published: str, ours: str) -> float | None:
    """The ratio of two numbers as printed, if both have the same unit and are above zero."""
    there, here = (re.fullmatch(r"(\d+(?:\.\d+)?)(?: ([a-zA-Z%]+))?", text) for text in (published, ours))
    if there is None or here is None or there[2] != here[2] or not float(there[1]) or not float(here[1]):
        return None
    return float(here[1]) / float(there[1])


def number(
    what: str,
    published: float,
    ours: float,
    *,
    unit: str,
    digits: int,
    tolerance: Tolerance | None = None,
    kind: Kind = "printed",
    prediction: Prediction | None = None,
    refutation: Refutation | None = None,
    remark: str = "",
) -> Finding:
    """A published number beside ours; they agree if they are equal as printed, or within a tolerance.

    Args:
        what: what was measured.
        published: the number as printed.
        ours: the number here, in the same unit.
        unit: the unit of both.
        digits: decimals of the printed number.
        tolerance: how far ours may be from it beyond rounding.
        kind: whose number it is.
        prediction: why it differs, if it does.
        refutation: what of the publication itself contradicts it.
        remark: what is suspected.
    """
    half = 0.5 * 10.0**-digits
    width = 0.0 if tolerance is None else tolerance.width
    return Finding(
        what,
        f"{published:.{digits}f} {unit}".strip(),
        f"{ours:.{digits}f} {unit}".strip(),
        # A number that lies on the edge is printed either way.
        abs(ours - published) <= half * (1 + 1e-6) + width,
        "equal in every printed digit"
        if tolerance is None
        else f"within {plain(width, 3)} {unit}".strip() + f": {tolerance.origin}",
        kind,
        ours,
        prediction,
        remark,
        ours / published if published > 0 else None,
        refutation,
    )


Counts = Mapping[Kind, Mapping[Verdict, int]]
"""Findings by what they are held to, and by verdict."""


def count_findings(findings: Iterable[Finding]) -> Counts:
    """Findings by kind and verdict, in the order of :data:`KINDS` and :data:`VERDICTS`."""
    pairs = Counter((finding.kind, finding.verdict) for finding in findings)
    return {kind: {verdict: pairs[kind, verdict] for verdict in VERDICTS} for kind in KINDS}


def sentence(counts: Counts) -> str:
    """The counts in words, each kind apart."""
    parts = []
    for kind, name in KINDS.items():
        agree, predicted, refuted, differ = (counts[kind][verdict] for verdict in VERDICTS)
        total = agree + predicted + refuted + differ
        also = f", {refuted} are refuted" if refuted else ""
        parts.append(
            f"of {total} {name} {agree} agree, {predicted} differ as predicted{also} and {differ} differ"
        )
    return "; ".join(parts)


def verdict_text(finding: Finding) -> str:
    """The verdict, and where it does not agree its prediction, or what is suspected."""
    why = explained(finding)
    return f"{finding.verdict}: {why}" if why and finding.verdict != "agrees" else finding.verdict


def explained(finding: Finding) -> str:
    """The prediction with its source; what refutes the claim; then the remark."""
    parts = []
    if finding.prediction is not None:
        made = finding.prediction
        parts.append(f"{made.interval} predicted by {made.experiment}: {made.text}")
    if finding.refutation is not None and finding.refutation.holds:
        parts.append(f"by {finding.refutation.source}: {finding.refutation.text}")
    if finding.remark:
        parts.append(f"not tested: {finding.remark}" if finding.verdict == "differs" else finding.remark)
    return "; ".join(parts)


def finding_data(finding: Finding) -> dict[str, Any]:
    """Plain data for JSON."""
    made = finding.prediction
    return {
        "what": finding.what,
        "kind": finding.kind,
        "published": finding.published,
        "ours": finding.ours,
        "value": finding.value,
        "ratio": finding.ratio,
        "judged": finding.judged,
        "verdict": finding.verdict,
        "prediction": None
        if made is None
        else {"value": made.value, "width": made.width, "experiment": made.experiment, "text": made.text},
        "refutation": None
        if finding.refutation is None
        else {
            "holds": finding.refutation.holds,
            "source": finding.refutation.source,
            "text": finding.refutation.text,
        },
        "remark": finding.remark,
    }


def finding_of(row: Mapping[str, Any]) -> Finding:
    """A finding as its data say.

    Raises:
        KeyError: if something is missing.
        ValueError: if a value is of the wrong kind, the verdict is not what the numbers say, or there is no
            such experiment.
    """
    made = row["prediction"]
    if row["kind"] not in KINDS:
        raise ValueError(f'"{row["kind"]}" is no kind of finding')
    finding = Finding(
        text_of(row, "what"),
        text_of(row, "published"),
        text_of(row, "ours"),
        row["verdict"] == "agrees",
        text_of(row, "judged"),
        row["kind"],
        metric_value(row["value"]),
        None if made is None else _prediction_of(made),
        text_of(row, "remark"),
        metric_value(row["ratio"]),
        None if row["refutation"] is None else _refutation_of(row["refutation"]),
    )
    if finding.verdict != row["verdict"]:
        raise ValueError(f'"{row["verdict"]}" is no verdict of "{finding.what}"')
    return finding


def _prediction_of(made: Mapping[str, Any]) -> Prediction:
    value, width = metric_value(made["value"]), metric_value(made["width"])
    if value is None or width is None:
        raise ValueError("a prediction without a number")
    return Prediction(value, width, text_of(made, "text"), text_of(made, "experiment"))


def _refutation_of(made: Mapping[str, Any]) -> Refutation:
    if not isinstance(made["holds"], bool):
        raise ValueError("holds is neither true nor false")  # noqa: TRY004 - the file is wrong
    return Refutation(made["holds"], text_of(made, "text"), text_of(made, "source"))


def text_of(row: Mapping[str, Any], key: str) -> str:
    """Returns the text that a row has under a key.

    Raises:
        KeyError: if it has none.
        ValueError: if it is no text.
    """
    text = row[key]
    if not isinstance(text, str):
        raise ValueError(f"{key} is no text")  # noqa: TRY004 - the file is wrong, not the program
    return text
