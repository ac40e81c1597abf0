"""The queue in front of a link as a scenario has it: a discipline, or its room alone."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Discriminator, Tag

from anabranch import _core
from anabranch.scenario.algorithm import declarations
from anabranch.scenario.algorithms import queue as disciplines
from anabranch.scenario.choice import Algorithm, configuration, parameters
from anabranch.scenario.limit import Limit
from anabranch.scenario.quantity import PacketCount, quoted, shown
from anabranch.scenario.table import alternative, refuse


def _queue_kind(value: object) -> str:
    table = isinstance(value, Algorithm) or (isinstance(value, dict) and not value.keys() & {"bdp", "rtt"})
    name = isinstance(value, str) and value != "unlimited" and not re.search(r"\d", value)
    return alternative("discipline" if table or name else "limit")


def _go_together(chosen: str | Algorithm) -> str | Algorithm:
    """Refuses parameters that do not go with each other; the core knows."""
    try:
        _core.resolve_algorithm("queue", json.dumps(configuration(chosen)))
    except _core.SetupError as error:
        refuse(*error.args)
    return chosen


Queue = Annotated[
    Annotated[Limit, Tag("<limit>")]
    | Annotated[disciplines.Queue, AfterValidator(_go_together), Tag("<discipline>")],
    Discriminator(_queue_kind),
]


def parted(queue: object) -> tuple[object, str | Algorithm]:
    """The room of a queue and its discipline; without a queue, or with room alone, that is drop-tail."""
    chosen = "fifo" if queue is None else queue
    if isinstance(chosen, Algorithm):
        return getattr(chosen, "limit", None), chosen
    if isinstance(chosen, str) and chosen in declarations()["queue"]:
        return _usual_limit(chosen), chosen
    return chosen, "fifo"


@cache
def _usual_limit(discipline: str) -> PacketCount:
    """The room of a discipline that is named without one. Every link without a queue asks."""
    return PacketCount(parameters("queue", discipline)["limit"])


def refuse_former(data: object) -> None:
    """Refuses the settings of a link that were written otherwise before, with the line to write now."""
    if not isinstance(data, dict):
        return
    queue = data.get("queue")
    limit = None
    if isinstance(queue, str):
        limit = quoted(queue)
    elif isinstance(queue, dict) and "algorithm" not in queue and queue.keys() & {"packets", "bytes"}:
        limit = f"[{', '.join(shown(bound) for bound in queue.values())}]"
    first = f"limit = {limit}, " if limit else ""
    if "mark_at" in data:
        new = f'queue = {{ algorithm = "threshold", {first}mark_at = {shown(data["mark_at"])} }}'
        refuse("mark_at", f"belongs to the queue now; write {new}")
    if "codel" in data:
        refuse("codel", f"is a queue discipline now; write {_new_codel(data['codel'], first, limit)}")
    if limit and isinstance(queue, dict):
        refuse("queue", f"several bounds are a list now; write queue = {limit}")


def _new_codel(codel: object, first: str, limit: str | None) -> str:
    if codel is False:
        return f"queue = {limit}" if limit else "no codel at all"
    given = codel.items() if isinstance(codel, dict) else ()
    parameters = "".join(f", {key} = {shown(value)}" for key, value in given)
    return f'queue = {{ algorithm = "codel", {first}'.rstrip(", ") + parameters + " }"
