"""Numbers for people: a unit that suits a whole column or axis, no more digits than are known, no exponents.

Tables of results keep the units of their columns (``_mbps``, ``_ms``); what is here is for eyes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

NOTHING = "\N{EN DASH}"
"""Stands where there is no number."""

_KINDS = (
    ("bps", "kbps", "Mbps", "Gbps", "Tbps"),
    ("ns", "us", "ms", "s"),
    ("bytes", "kB", "MB", "GB", "TB"),
)
"""Units of a kind, each a thousand of the one before."""
UNITS = frozenset(unit for kind in _KINDS for unit in kind)
"""Units in whose place another one may be chosen."""
_MOST_DIGITS = 6
"""Significant digits of the largest number of a column."""
# "goodput in Mbps", "goodput (Mbps)", "goodput [Mbps]", and the name of a column where there is no label.
_LABEL = re.compile(rf"^(.*?)(?: in |\s?[(\[]|_)({'|'.join(sorted(UNITS))}|mbps|kb|mb)[)\]]?$")
_AS_WRITTEN = {"mbps": "Mbps", "kb": "kB", "mb": "MB"}


def suited(most: float, unit: str) -> tuple[float, str]:
    """The factor by which the largest of the values reads well, and the unit that they are then in.

    Args:
        most: the largest magnitude.
        unit: of the values; one that is not in :data:`UNITS` stays.
    """
    kind = next((kind for kind in _KINDS if unit in kind), (unit,))
    if not 0 < most < math.inf:
        return 1.0, unit
    # A hair of tolerance: 999.9996 is printed as 1000.
    thousands = math.floor(math.log10(most * 1.000001) / 3)
    place_of_unit = kind.index(unit)
    place = min(max(place_of_unit + thousands, 0), len(kind) - 1)
    return float(f"1e{3 * (place_of_unit - place)}"), kind[place]


def suited_label(label: str, most: float) -> tuple[float, str]:
    """The factor and label that suit a label that ends with a unit, such as ``goodput (Mbps)``."""
    if (match := _LABEL.match(label)) is None:
        return 1.0, label
    unit_of_label = _AS_WRITTEN.get(match[2], match[2])
    factor, unit = suited(most, unit_of_label)
    if unit == unit_of_label:
        return 1.0, label
    if label[match.end(1)] == "_":
        return factor, f"{match[1].replace('_', ' ')} ({unit})"
    return factor, label[: match.start(2)] + unit + label[match.end(2) :]


def plain(value: float, digits: int = 5) -> str:
    """A number in at most so many significant digits, whole numbers in full, never with an exponent."""
    if not math.isfinite(value):
        return NOTHING
    if value == 0 or float(value).is_integer():
        return f"{value:.0f}"
    decimals = max(0, digits - 1 - _exponent(value))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_unit(value: float, unit: str, digits: int = 6) -> str:
    """A single value in the unit that suits it, such as ``1.544 Gbps``."""
    factor, shown = suited(abs(value), unit)
    return f"{plain(value * factor, digits)} {shown}"


def fixed(values: Iterable[float | None]) -> list[str]:
    """The numbers of a column with the same decimals; a dash for None.

    The middle one has four significant digits, the smallest at least one, the largest six at most.
    """
    column = [value if value is None or math.isfinite(value) else None for value in values]
    sizes = sorted(abs(value) for value in column if value)
    decimals = 0
    if any(not size.is_integer() for size in map(float, sizes)):
        wanted = max(3 - _exponent(sizes[len(sizes) // 2]), -_exponent(sizes[0]))
        decimals = max(0, min(wanted, _MOST_DIGITS - 1 - _exponent(sizes[-1])))
    texts = ["-" if value is None else f"{value:.{decimals}f}" for value in column]
    # Zeros that all of them end with say nothing.
    while decimals and all(text[-1] in "0-" for text in texts):
        texts = [text if text == "-" else text[:-1].removesuffix(".") for text in texts]
        decimals -= 1
    return texts


def in_unit(
    values: Sequence[float | None], unit: str, more_than: Sequence[float | None] = ()
) -> tuple[list[str], str]:
    """The numbers of a column in the unit that suits the largest of them, and that unit.

    ``more_than`` has, for those that are None, what they are more than where that is known: ``> x``.
    """
    bounds = more_than or [None] * len(values)
    least = [bound if value is None else value for value, bound in zip(values, bounds, strict=True)]
    factor, shown = suited(_most(least), unit)
    texts = fixed(None if value is None else value * factor for value in least)
    return [
        f"> {text}" if value is None and bound is not None else text
        for text, value, bound in zip(texts, values, bounds, strict=True)
    ], shown


def estimates(
    label: str,
    means: Sequence[float | None],
    half_widths: Sequence[float | None],
    more_than: Sequence[float | None] | None = None,
) -> tuple[list[str], str]:
    """Means with the half widths of their intervals, aligned on the decimal points, and the label.

    A mean and its half width end at the same place, the second digit of the half width: ``1500 ± 4300``. One
    that is None has ``> x`` where ``more_than`` has what it is more than.
    """
    bounds = more_than or [None] * len(means)
    least = [bound if mean is None else mean for mean, bound in zip(means, bounds, strict=True)]
    factor, label = suited_label(label, _most(least))
    pairs = [
        _estimate(None if mean is None else mean * factor, None if half is None else half * factor)
        for mean, half in zip(least, half_widths, strict=True)
    ]
    is_open = [mean is None and bound is not None for mean, bound in zip(means, bounds, strict=True)]
    left = aligned(
        [f"> {mean}" if opened else mean for (mean, _), opened in zip(pairs, is_open, strict=True)]
    )
    if not any(half for _, half in pairs):
        return left, label
    right = aligned([half for _, half in pairs])
    return [
        f"{mean} {'±' if half.strip() else ' '} {half}" for mean, half in zip(left, right, strict=True)
    ], label


def estimate(mean: float, half: float | None) -> str:
    """One mean with the half width of its interval."""
    value, width = _estimate(mean, half)
    return f"{value} ± {width}" if width else value


def aligned(texts: Sequence[str]) -> list[str]:
    """Numbers with blanks around them, so that their decimal points are below each other."""
    behind = [len(text) - _point(text) for text in texts]
    most = max(behind, default=0)
    padded = [text + " " * (most - digits) for text, digits in zip(texts, behind, strict=True)]
    width = max(map(len, padded), default=0)
    return [text.rjust(width) for text in padded]


def quantity(value: float | None, unit: str = "") -> str:
    """A number in three significant digits, counts below 100,000 in full; a dash for none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    whole = float(value).is_integer() and abs(value) < 1e5
    for factor, prefix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if not whole and abs(value) >= factor * 0.9995 and (factor > 1e3 or abs(value) >= 1e4):
            return f"{plain(value / factor, 3)}{prefix}{unit}".rstrip()
    text = f"{value:,.0f}" if whole or abs(value) >= 999.5 else plain(value, 3)
    # Hyphens are no minus signs, and a thin space parts thousands in every language.
    return f"{text.replace(',', chr(0x202F))} {unit}".rstrip()


def measure(value: float | None, unit: str) -> str:
    """A measure in the unit that suits the value; a dash for none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    factor, shown = suited(abs(value), unit)
    return quantity(value * factor, shown)


def _estimate(mean: float | None, half: float | None) -> tuple[str, str]:
    if mean is None:
        return "-", ""
    if not half:
        return plain(mean), ""
    decimals = 1 - _exponent(half)
    # 9.96 is 10, whose second digit stands one place further left.
    decimals = 1 - _exponent(round(half, decimals))
    mean, half = round(mean, decimals), round(half, decimals)
    shown = max(decimals, 0)
    return f"{mean + 0.0:.{shown}f}", f"{half:.{shown}f}"


def _point(text: str) -> int:
    """Where the decimal point of a number is, or would be."""
    return text.index(".") if "." in text else len(text)


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def _most(values: Sequence[float | None]) -> float:
    return max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
