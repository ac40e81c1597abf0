"""How end hosts send: a preset, and what is changed in it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from anabranch.scenario.algorithm import parameters_of
from anabranch.scenario.algorithms.protocol import TransportFields
from anabranch.scenario.moved import refuse_moved

CHOICES = ("loss_detection", "congestion_control", "pacing", "path_manager", "scheduler")
"""The choices of a transport that have parameters of their own."""


class Transport(TransportFields):
    """A transport: a preset, and what is changed in it.

    The preset decides the protocol, and with it which fields there are. In TCP, loss detection, congestion
    control and pacing are chosen by name, each on its own, or by a table of the name and its parameters:
    ``{ algorithm = "cubic", beta = 0.8 }``. A subflow of Multipath TCP has all of these; the connection has a
    path manager and a scheduler, too.
    """

    preset: Annotated[str, Field(min_length=1)] | None = None
    """Where it starts from; left out, the preset of the table's own name."""

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, data: Any) -> Any:
        refuse_moved(data, CHOICES, set(cls.model_fields))
        return data


def fields_of(protocol: str) -> list[str]:
    """Every field that a transport of a protocol can have, the preset apart."""
    own = parameters_of("protocol", protocol)
    # A subflow of Multipath TCP has all of TCP's.
    return [*own, *parameters_of("protocol", "tcp")] if protocol == "mptcp" else own
