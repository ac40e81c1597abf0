"""What emulators of networks take of a link, and what they cannot express."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from anabranch import _core
from anabranch.export.layout import DeviceLayout
from anabranch.setup.model import LinkSetup

_PS_PER_MS: Final = 1e9
PLAIN_LOSS: Final = ("none", "bernoulli")
PLAIN_QUEUE: Final = ("drop-tail", "fifo")
MEAN_LOSS: Final = "queues, jitter and loss models with bursts: of a loss model the mean is written"
"""What the files of a network alone cannot express."""


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
    packets = link.queue.limit.get("packets")
    return LinkParameters(
        link.capacity / 1e6,
        link.delay / _PS_PER_MS,
        100 * mean_loss(link),
        None if packets is None else int(str(packets)),
    )


def mean_loss(link: LinkSetup) -> float:
    """Long-run probability that a packet is lost at random."""
    return float(_core.mean_loss(json.dumps(link.loss)))


def cannot_express(layout: DeviceLayout, most_mbps: float | None) -> list[str]:
    """What of a network an emulator of plain links leaves out, in plain sentences.

    Args:
        layout: the network.
        most_mbps: the highest rate that it emulates; None for any.
    """
    notes = ["load balancing, transports, traffic and events of the scenario: this is the network alone"]
    groups = {
        "a loss model with bursts; the mean loss stands for it": [
            link for link in layout.links if link.loss["algorithm"] not in PLAIN_LOSS
        ],
        "jitter": [link for link in layout.links if link.jitter is not None],
        "a queue discipline other than drop-tail": [
            link for link in layout.links if link.queue.discipline["algorithm"] not in PLAIN_QUEUE
        ],
        "a queue that is bounded in bytes": [
            link for link in layout.links if link.queue.limit.get("bytes") is not None
        ],
        f"a capacity above {most_mbps or 0:g} Mbps; it has none here": [
            link for link in layout.links if most_mbps is not None and link.capacity / 1e6 > most_mbps
        ],
        "one direction only; the other one is there, too": [
            link for number, link in enumerate(layout.links) if layout.receiver[number].out is None
        ],
    }
    for what, links in groups.items():
        if links:
            more = f" and {len(links) - 1:,} more" if len(links) > 1 else ""
            notes.append(f"{what}: {links[0].name}{more}")
    return notes
