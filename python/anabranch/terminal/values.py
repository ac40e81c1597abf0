"""Values that arguments and options take, for completion; each is asked of the part that knows them.

They are asked when the data of ``completion.json`` are made: a Tab reads only these.
"""

from __future__ import annotations

from collections.abc import Iterable


def topologies() -> Iterable[str]:
    """Networks that have a name."""
    from anabranch import topology  # noqa: PLC0415 - nobody else needs it

    return [each.spec for each in topology.names()]


def transports() -> Iterable[str]:
    """Presets of transports."""
    from anabranch import _core  # noqa: PLC0415 - as above

    return _core.transport_preset_names()


def tcp_presets() -> Iterable[str]:
    """Presets that ``anabranch evaluate`` takes."""
    from anabranch.study.evaluation.control import tcp_presets as presets  # noqa: PLC0415 - as above

    return presets()


def sources() -> Iterable[str]:
    """Origins of networks that have a name."""
    return dict.fromkeys([each.partition("/")[0] for each in topologies() if "/" in each] + ["generator"])


def fields() -> Iterable[str]:
    """Fields of a scenario that a value can be set of."""
    from anabranch.scenario.field_paths import field_paths  # noqa: PLC0415 - as above

    return [f"{path}=" for path in field_paths()]


def figure_forms() -> Iterable[str]:
    """Forms of figures."""
    from anabranch.report.looks import FORMATS  # noqa: PLC0415 - as above

    return FORMATS


def failure_kinds() -> Iterable[str]:
    """Kinds of failures; commas and pluses between them are the user's."""
    from anabranch.plans.failures import FAILURE_KINDS  # noqa: PLC0415 - as above

    return FAILURE_KINDS


def figure_sizes() -> Iterable[str]:
    """Sizes of figures."""
    from anabranch.report.looks import WIDTHS  # noqa: PLC0415 - as above

    return WIDTHS


def table_forms() -> Iterable[str]:
    """Forms of tables for papers."""
    from anabranch.report.looks import TABLE_FORMATS  # noqa: PLC0415 - as above

    return TABLE_FORMATS


def export_formats() -> Iterable[str]:
    """Forms of ``anabranch export``."""
    from anabranch.export.formats import FORMATS  # noqa: PLC0415 - as above

    return FORMATS


def measurement_formats() -> Iterable[str]:
    """Forms of measurements."""
    from anabranch.runs.measurements.registry import READERS  # noqa: PLC0415 - as above

    return READERS


def new_kinds() -> Iterable[str]:
    """Kinds that ``anabranch new`` makes."""
    from anabranch.own.kinds import KINDS  # noqa: PLC0415 - as above

    return ["scenario", *KINDS]


def examples() -> Iterable[str]:
    """Examples that are written whole."""
    from anabranch.terminal import manual  # noqa: PLC0415 - as above

    return [each for each in manual.examples() if each.endswith((".toml", ".py"))]


def topics() -> Iterable[str]:
    """Pages of the manual, and commands."""
    from anabranch.terminal import manual  # noqa: PLC0415 - as above

    return manual.pages()
