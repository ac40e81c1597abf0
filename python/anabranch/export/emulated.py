"""The properties of a link that emulators of networks take, and those that they cannot express."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from anabranch.export.job import ExportJob
from anabranch.export.layout import DeviceLayout
from anabranch.scenario.loss import long_run_loss
from anabranch.setup.model import LinkSetup

_PS_PER_MS: Final = 1e9
PLAIN_LOSS: Final = ("none", "bernoulli")
PLAIN_QUEUE: Final = ("drop-tail", "fifo")


@dataclass(frozen=True, slots=True)
class LinkParameters:
    """A directed link in the units of emulators."""

    mbps: float
    delay_ms: float
    loss_percent: float
    """Mean of the loss model."""
    queue_packets: int | None
    """Room for waiting packets; None where it is in bytes, or unlimited."""


def parameters(link: LinkSetup) -> LinkParameters:
    """The parameters of a link."""
    return LinkParameters(
        link.capacity / 1e6,
        link.delay / _PS_PER_MS,
        100 * mean_loss(link),
        link.queue.limit.packets,
    )


def mean_loss(link: LinkSetup) -> float:
    """Long-run probability that a packet is lost at random."""
    return long_run_loss(link.loss)


def link_attributes(link: LinkSetup) -> dict[str, object]:
    """The attributes of a link in files of networks; the delay has all its digits."""
    values: dict[str, object] = {
        "name": link.name,
        "capacity_bps": link.capacity,
        "delay_ms": format((Decimal(link.delay) / 10**9).normalize(), "f"),
        "loss": mean_loss(link),
    }
    return values if link.weight is None else {**values, "weight": link.weight}


def blanks_in_names(layout: DeviceLayout) -> list[str]:
    """A note for a file whose names have single blanks only when it is read again."""
    odd = [name for name in layout.names if " ".join(name.split()) != name]
    return (
        [f"several blanks in a row in names; they are one when the file is read: {odd[0]!r}"] if odd else []
    )


def cannot_express(job: ExportJob, most_mbps: float | None) -> list[str]:
    """The properties of a network that an emulator of plain links leaves out, in plain sentences.

    Args:
        job: with the network.
        most_mbps: the highest rate that it emulates; None for any.
    """
    layout = job.layout
    parts = "transports, traffic and events" if job.has_events else "transports and traffic"
    notes = [f"{parts} of the scenario: this is the network alone", *job.balancing_notes("Linux")]
    groups = _of_any_plain_link(layout) | {
        "a queue discipline other than drop-tail": [
            link for link in layout.links if link.queue.discipline.algorithm not in PLAIN_QUEUE
        ],
        "a queue that is bounded in bytes": [
            link for link in layout.links if link.queue.limit.bytes is not None
        ],
        f"a capacity above {most_mbps or 0:g} Mbps; it has none here": [
            link for link in layout.links if most_mbps is not None and link.capacity / 1e6 > most_mbps
        ],
        "one direction only; the other one is there, too": [
            link for number, link in enumerate(layout.links) if layout.receiver[number].out is None
        ],
    }
    return notes + _told(groups)


def not_in_a_network_file(layout: DeviceLayout) -> list[str]:
    """Properties left out by files of capacity, delay and mean loss for each link."""
    return ["queues of links", *_told(_of_any_plain_link(layout))]


def _of_any_plain_link(layout: DeviceLayout) -> dict[str, list[LinkSetup]]:
    """The links that have more than a capacity, a delay and a mean loss, by what that is."""
    return {
        "a loss model with bursts; the mean loss stands for it": [
            link for link in layout.links if link.loss.algorithm not in PLAIN_LOSS
        ],
        "jitter": [link for link in layout.links if link.jitter is not None],
        "a token bucket": [link for link in layout.links if link.shaper or link.policer],
        "packets that are reordered, duplicated or damaged": [
            link for link in layout.links if link.impairments
        ],
    }


def _told(groups: Mapping[str, Sequence[LinkSetup]]) -> list[str]:
    """A line for each property that links have, with the first of them."""
    more = {what: f" and {len(links) - 1:,} more" if len(links) > 1 else "" for what, links in groups.items()}
    return [f"{what}: {links[0].name}{more[what]}" for what, links in groups.items() if links]
