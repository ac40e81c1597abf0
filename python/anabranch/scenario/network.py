"""The network: a topology by name, and what its links are like."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    Tag,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from anabranch import _core
from anabranch.scenario.algorithm import declarations
from anabranch.scenario.algorithms.loss import Loss as LossModel
from anabranch.scenario.choice import Algorithm, configuration
from anabranch.scenario.files import names_file
from anabranch.scenario.moved import line
from anabranch.scenario.quantity import (
    HALF_CHARACTER,
    PositiveRate,
    PositiveSpeed,
    Quantity,
    SegmentCount,
    Span,
    Speed,
    is_unicode,
    quoted,
    shown,
)
from anabranch.scenario.queue import Queue, refuse_former
from anabranch.scenario.table import Table, alternative, is_word, refuse, untouched
from anabranch.scenario.variate import FIXED, AnyDistribution, Constant, Drawn, SpanVariate, distribution_of

MOST_WEIGHT = 2**32 - 1
"""Largest weight of a link; OSPF takes 16 bits, IS-IS 24."""
NodeName = Annotated[str, Field(min_length=1)]
NodePair = Annotated[list[NodeName], Field(min_length=2, max_length=2)]


_MOST_LEVELS = 64
"""Tables and lists inside of each other, in a parameter of a generator."""


def _parameter(value: object, steps: tuple[str | int, ...] = ()) -> JsonValue:
    """A parameter as a file has it; quantities become text.

    Raises:
        PydanticCustomError: for what no file can have, at any depth; and NaN, infinities and numbers of more
            than 64 bits.
    """
    if isinstance(value, str) and value.isascii():
        return value
    if len(steps) > _MOST_LEVELS:
        refuse((), f"has more than {_MOST_LEVELS} tables and lists inside of each other")
    if not (value is None or isinstance(value, str | int | float | list | dict)):
        refuse(steps, f"{shown(value)} is neither text, a number, true or false, a list nor a table")
    match value:
        case Quantity():
            return value.plain
        case int() if abs(value) >= 2**64:
            refuse(steps, f"{shown(value)} is too large")
        case float() if not math.isfinite(value):
            refuse(steps, f"{value} is not a number that can be used; write a finite one")
        case str() if not is_unicode(value):
            refuse(steps, f"{quoted(value)} {HALF_CHARACTER}")
        case list():
            return [_parameter(entry, (*steps, index)) for index, entry in enumerate(value)]
        case dict():
            for key in value:
                if not isinstance(key, str) or not is_unicode(key):
                    refuse(steps, f"the key {shown(key)} is not text")
            return {key: _parameter(entry, (*steps, key)) for key, entry in value.items()}
        case _:
            pass
    return value


class _AsInFiles:
    """Validates by :func:`_parameter` alone, and writes a value as it is."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _parameter, json_schema_input_schema=handler(source)
        )


ParameterValue = Annotated[JsonValue, _AsInFiles()]


class DistanceDelay(Table):
    """Propagation delay from the length of a link."""

    source: Literal["distance"] = Field(alias="from")
    """Always ``distance``: the length of the link, mostly the great-circle distance of its ends."""
    speed: PositiveSpeed = Speed("200 km/ms")
    """Speed of propagation; light in fibre does about 200 km/ms."""
    plus: Span = Span(0)
    """Added to every link, for what equipment takes."""


def _delay_kind(value: object) -> str:
    if isinstance(value, DistanceDelay) or (isinstance(value, dict) and "distribution" not in value):
        return alternative("distance")
    return distribution_of(value)


def _loss_kind(value: object) -> str:
    chosen = isinstance(value, dict | Algorithm) or (
        isinstance(value, str) and value in declarations()["loss"]
    )
    return alternative("model" if chosen else "number")


def _moved_model(value: object) -> object:
    """Refuses a table as earlier versions wrote it, with the line to write."""
    if isinstance(value, dict) and "model" in value and "algorithm" not in value:
        rest = {key: entry for key, entry in value.items() if key != "model"}
        raise ValueError(f"names its model by algorithm now; write {line('loss', value['model'], rest)}")
    return value


def _some_arrives(value: str | Algorithm) -> str | Algorithm:
    """Refuses a model that loses every packet."""
    if long_run_loss(value) >= 1:
        raise ValueError(
            'every packet would be lost; a link that carries nothing is an event with state = "down"'
        )
    return value


def long_run_loss(loss: float | str | Algorithm) -> float:
    """Share of packets that a link loses in the long run."""
    if isinstance(loss, int | float):
        return float(loss)
    return _core.mean_loss(json.dumps(configuration(loss)))


def _no_word(value: object) -> object:
    """Refuses the word for a delay from the length of a link, with the table to write."""
    if is_word(value, "distance"):
        raise ValueError('"distance" is a table; write { from = "distance" }, and speed or plus if you like')
    return value


Delay = Annotated[
    Annotated[Span, BeforeValidator(_no_word), Tag(FIXED)]
    | Annotated[DistanceDelay, Tag("<distance>")]
    | AnyDistribution,
    Discriminator(_delay_kind),
    Drawn(Span),
]
Loss = Annotated[
    Annotated[float, Field(ge=0, lt=1), Tag("<number>")]
    | Annotated[LossModel, BeforeValidator(_moved_model), AfterValidator(_some_arrives), Tag("<model>")],
    Discriminator(_loss_kind),
]


class LinkSettings(Table):
    """What a link is like; whatever is left out comes from the next more general place."""

    capacity: PositiveRate | None = None
    """Rate of serialisation, such as ``"10 Mbps"``."""
    delay: Delay | None = None
    """Propagation delay: ``"5 ms"``, ``{ from = "distance", speed = "200 km/ms", plus = "1 ms" }``, or a
    distribution of which each link draws its own; left out everywhere, from the distance at 200 km/ms."""
    queue: Queue | None = None
    """Room for waiting packets, drop-tail: ``"100 packets"`` (also where it is left out), ``"64 kB"``,
    ``"20 ms"`` at the link's capacity, ``"1 BDP"``, ``"unlimited"``, or a list of them; or another queue
    discipline, by name or with its parameters: ``{ algorithm = "codel", limit = "64 kB", ecn = true }``."""
    loss: Loss | None = None
    """Random loss: the probability for each packet, or a table such as ``{ algorithm = "gilbert-elliott",
    to_bad = 0.001, to_good = 0.3 }``."""
    weight: Annotated[int, Field(ge=1, le=MOST_WEIGHT)] | None = None
    """What the link costs where ``routing.metric`` is ``"weight"``: the cost that the operator gives it for
    OSPF or IS-IS; a whole number."""
    jitter: SpanVariate | None = None
    """Random, and added to the delay of each packet; packets stay in order."""

    @field_validator("jitter")
    @classmethod
    def _check_jitter(cls, jitter: SpanVariate | None) -> SpanVariate | None:
        constant = jitter.value if isinstance(jitter, Constant) else jitter
        if isinstance(constant, Span) and constant > 0:
            text = quoted(constant.text)
            raise ValueError(
                f"{text} is the same for every packet, and jitter is random; add it to delay, or write "
                f'{{ distribution = "uniform", low = "0 s", high = {text} }}'
            )
        return jitter

    @model_validator(mode="before")
    @classmethod
    def _check_former(cls, data: Any) -> Any:
        refuse_former(data)
        return data


class LinkSelector(Table):
    """Which links between two nodes are meant."""

    index: Annotated[int, Field(ge=1)] | None = None
    """Which of several parallel links, counted from 1; left out: all of them."""
    direction: Literal["both", "forward", "backward"] = "both"
    """Forward is from the first node that is named to the second."""


class LinkOverride(LinkSettings, LinkSelector):
    """Settings of single links; or, with ``new = true``, one more link."""

    between: NodePair
    """The two nodes at its ends."""
    new: bool = False
    """The topology does not have this link: add it."""

    def _check_together(self) -> None:
        if self.between[0] == self.between[1]:
            refuse("between", f"names {quoted(self.between[0])} twice; a link joins two nodes")
        if self.new and self.index is not None:
            refuse("index", "a new link has no index yet; it is counted after those that are there")


class NewNode(Table):
    """One more node."""

    name: NodeName
    """A name that the topology does not have."""
    latitude: Annotated[float, Field(ge=-90, le=90)] | None = None
    """Degrees north."""
    longitude: Annotated[float, Field(ge=-180, le=180)] | None = None
    """Degrees east."""
    kind: Literal["router", "switch", "host"] | None = None
    """What it is; left out, a router. Hosts are what ``"*"`` stands for, and no switches of a controller."""

    def _check_together(self) -> None:
        if (self.latitude is None) != (self.longitude is None):
            missing = "latitude" if self.latitude is None else "longitude"
            refuse(missing, "is missing; a place has both latitude and longitude")


class HostSettings(Table):
    """What the hosts do besides their transports."""

    offload: Annotated[SegmentCount, Field(ge=1, le=65_535)] | None = None
    """Segmentation offload: up to so many segments of a flow that leave at once are one train, such as
    ``"44 segments"`` (64 kB). Links take, delay, mark and lose it as one packet; the receiving host answers
    it with one ACK. Left out: each segment is a packet."""
    processing_delay: SpanVariate | None = None
    """How long a host takes until it looks at a packet that has come for it: a time, or a distribution of
    which each packet draws its own. Packets stay in order, and those that a node passes on do not wait. Left
    out: no time."""


class HostOverride(HostSettings):
    """Settings of one host."""

    name: NodeName
    """A node where traffic begins."""


class RouterSettings(Table):
    """What the nodes do that pass packets on."""

    processing_delay: SpanVariate | None = None
    """How long a router or switch takes from the arrival of a packet until that is in the queue of its next
    link: a time, or a distribution of which each packet draws its own. Packets stay in order, and those that
    are for the node itself do not wait. Left out: no time."""


class RouterOverride(RouterSettings):
    """Settings of one router."""

    name: NodeName
    """A node that passes packets on."""


class Network(Table):
    """The network that carries the traffic."""

    topology: Annotated[str, Field(min_length=1)] | None = None
    """``"zoo/Abilene"``, ``"sndlib/germany50"``, ``"file:net.graphml"``, or a generator: ``"dumbbell"``. Left
    out, the network consists of the nodes and links that are listed here."""
    parameters: dict[str, ParameterValue] = {}
    """Parameters of a generator, with units: ``bottleneck_capacity = "10 Mbps"``; they take precedence over
    ``links``."""
    links: LinkSettings = untouched(LinkSettings)
    """Settings of all links; they take precedence over what a topology from a file or an archive says."""
    access: LinkSettings = untouched(LinkSettings)
    """Settings of the links at a host; they take precedence over ``links``."""
    delay_class: Literal["LAN", "WAN"] | None = None
    """Propagation delay of each link between two nodes that are no hosts, in place of that in ``links``:
    drawn between 1 and 10 us (LAN) or between 1 and 10 ms (WAN)."""
    link: list[LinkOverride] = []
    """Settings of single links, in this order; they take precedence over ``links``."""
    weights: Annotated[str, Field(min_length=1)] | None = None
    """Weights of single links from a file, ``"file:weights.csv"``, with the header ``from,to,weight``, and
    ``index`` for parallel links; they take precedence over ``links``, and ``link`` over them."""
    node: list[NewNode] = []
    """Nodes added to the topology."""
    hosts: HostSettings = untouched(HostSettings)
    """Settings of all nodes where traffic begins."""
    host: list[HostOverride] = []
    """Settings of single hosts, in this order; they take precedence over ``hosts``."""
    routers: RouterSettings = untouched(RouterSettings)
    """Settings of all nodes that pass packets on."""
    router: list[RouterOverride] = []
    """Settings of single routers, in this order; they take precedence over ``routers``."""

    @field_validator("weights")
    @classmethod
    def _check_weights(cls, weights: str | None) -> str | None:
        if weights is not None and not names_file(weights):
            raise ValueError(f'{quoted(weights)} is not like "file:weights.csv"')
        return weights
