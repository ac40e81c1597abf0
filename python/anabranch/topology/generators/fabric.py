"""Oversubscription and planes, which fabrics of switches have in common."""

import math
from collections.abc import Iterator
from dataclasses import replace

from anabranch.topology.error import TopologyError
from anabranch.topology.model import MAX_CAPACITY_BPS

from .quantities import LinkQuantities, check_count


def oversubscribed(
    fabric: LinkQuantities, host: LinkQuantities, ratio: float | None, hosts: int, uplinks: int
) -> LinkQuantities:
    """The quantities of fabric links with the capacity that makes a leaf oversubscribed by `ratio`.

    The ratio is the capacity of the links to the `hosts` of a leaf over that of its `uplinks`, as data sheets
    have it: 3 is 3:1. Without a ratio the quantities stay. Raises TopologyError for a ratio that is no number
    above 0, without the capacity of host links, and beside a capacity of fabric links that says otherwise.
    """
    if ratio is None:
        return fabric
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio < math.inf:
        raise TopologyError("oversubscription", f"{ratio!r} is no ratio", "give a number above 0, such as 3")
    if host.capacity_bps is None:
        raise TopologyError(
            "oversubscription",
            "the capacity of the links of hosts is missing, of which the ratio makes that of the fabric",
            "give host_capacity",
        )
    exact_bps = hosts * host.capacity_bps / (uplinks * ratio)
    if not 1 <= exact_bps <= MAX_CAPACITY_BPS:
        raise TopologyError(
            "oversubscription",
            f"{ratio} makes {exact_bps:g} bps for a fabric link",
            "give a ratio that makes 1 bps to 1 Pbps",
        )
    capacity_bps = round(exact_bps)
    if fabric.capacity_bps not in (None, capacity_bps):
        raise TopologyError(
            "oversubscription",
            f"{ratio} makes {capacity_bps} bps for a fabric link, and {fabric.prefix}capacity is "
            f"{fabric.capacity_bps} bps",
            "leave out one of the two",
        )
    return replace(fabric, capacity_bps=capacity_bps)


def planes_of(planes: int) -> Iterator[str]:
    """The prefix of the names of the switches of each plane: empty where there is one only.

    Planes are fabrics of their own that have no link to each other; each host has a link to every one.
    Raises TopologyError unless `planes` is a count.
    """
    check_count("planes", planes)
    return iter([""] if planes == 1 else [f"plane{plane}-" for plane in range(1, planes + 1)])


def plane_name(planes: int) -> str:
    """The end of the name of a topology with several planes."""
    return f", planes={planes}" if planes > 1 else ""


def plane_words(planes: int) -> str:
    """The end of a sentence about a topology with several planes."""
    return f", in {planes} planes that only hosts join" if planes > 1 else ""
