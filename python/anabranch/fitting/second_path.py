"""A second path beside a fitted one: another fit, or a bottleneck whose parameters are said."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch import _core
from anabranch.errors import Problem, ScenarioError
from anabranch.fitting.outcome import Fit
from anabranch.fitting.path import PathModel
from anabranch.fitting.stored import Fitted, read_fitted

PLACE = "--second-path"
_FORM = 'give a folder of anabranch fit, or "rate=6 Mbps, delay=30 ms, buffer=1 BDP, loss=0.1 %"'
_USUAL_BUFFER = "1 BDP"
SHARED = (
    "whether the paths share a bottleneck: each has its own in these predictions; measure both at once with "
    "Multipath TCP"
)


@dataclass(frozen=True)
class SecondPath:
    """A path that Multipath TCP has beside the fitted one."""

    name: str
    """As it was given."""
    members: tuple[PathModel, ...]
    """Models that span what is open of it, the best one first."""
    score: float | None = None
    """The misfit of its fit; None of one that was said."""
    verdict: str = ""
    """That of its fit; empty of one that was said."""
    unknown: tuple[str, ...] = ()
    """What its measurement cannot tell."""


def second_path(given: SecondPath | Fit | Path | str) -> SecondPath:
    """A second path from a fit, the folder of one, or a text such as ``rate=6 Mbps, delay=30 ms``.

    ``rate`` is that of packets, ``delay`` one way, ``buffer`` a size or a multiple of the bandwidth-delay
    product (1 BDP, if left out), ``loss`` the share of packets that are lost by chance (none).

    Raises:
        ResultError: if there is no fit in the folder.
        ScenarioError: if the text says no path, or the fit is of several paths.
    """
    if isinstance(given, SecondPath):
        return given
    if isinstance(given, Fit):
        fitted = Fitted(tuple(given.members()), given.score, given.verdict, given.unknown, given.duration_s)
        return _of_fit(", ".join(given.names), fitted)
    if isinstance(given, str) and "=" in given and not Path(given).exists():
        return SecondPath(given, (_said(given),))
    return _of_fit(str(given), read_fitted(given))


def check_single(place: str, members: tuple[PathModel, ...]) -> None:
    """Makes sure that a path beside which another one is put is one path.

    Raises:
        ScenarioError: if it is several.
    """
    if any(model.paths for model in members):
        message = (
            "is a fit of several paths, and predictions over both have one bottleneck each; leave out "
            f"{PLACE}, or fit a measurement over one path"
        )
        raise ScenarioError([Problem(place, message)])


def _of_fit(name: str, fitted: Fitted) -> SecondPath:
    check_single(name, fitted.members)
    return SecondPath(name, fitted.members, fitted.score, fitted.verdict, fitted.unknown)


def _said(text: str) -> PathModel:
    """The bottleneck that a text says.

    Raises:
        ScenarioError: if it says none, with all that is wrong.
    """
    values: dict[str, str] = {}
    problems = []
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or key not in _KEYS:
            problems.append(Problem(PLACE, f'"{part.strip()}" is none of {", ".join(_KEYS)}; {_FORM}'))
        elif key in values:
            problems.append(Problem(PLACE, f"{key} is given twice"))
        else:
            values[key] = value
    problems += [Problem(PLACE, f"has no {key}; {_FORM}") for key in _NEEDED if key not in values]
    if problems:
        raise ScenarioError(problems)
    model = PathModel(1.0, 1.0, 0.0)
    try:
        model = replace(model, rate_mbps=_above_zero(_core.parse_rate(values["rate"]) / 1e6, values["rate"]))
        model = replace(model, rtt_ms=2e-9 * _above_zero(_core.parse_span(values["delay"]), values["delay"]))
        buffer_bytes = buffer_of(values.get("buffer", _USUAL_BUFFER), model.bdp_bytes)
        return replace(model, buffer_bytes=buffer_bytes, loss=_share(values.get("loss", "0")) or None)
    except ValueError as error:
        raise ScenarioError([Problem(PLACE, f"{error}; {_FORM}")]) from None


_NEEDED = ("rate", "delay")
_KEYS = (*_NEEDED, "buffer", "loss")


def buffer_of(text: str, bdp_bytes: float) -> float:
    """The bytes of a buffer that is said as a size or in bandwidth-delay products.

    Raises:
        ValueError: if it says none.
    """
    words = text.split()
    if len(words) == 2 and words[1] == "BDP":
        return _above_zero(_number(words[0]), text) * bdp_bytes
    return float(_core.parse_bytes(text))


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f'"{text}" is no number')
    return value


def _above_zero(value: float, text: str) -> float:
    if value > 0:
        return value
    raise ValueError(f'"{text}" is not above zero')


def _share(text: str) -> float:
    """A share of 1 or in percent."""
    number = text.removesuffix("%").strip()
    value = _number(number) / (100 if number != text else 1)
    if not 0 <= value < 1:
        raise ValueError(f'"{text}" is no share below 1')
    return value
