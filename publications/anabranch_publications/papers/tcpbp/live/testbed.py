"""The ten switches of Vilela 2022, scaled to what one thread carries."""

from __future__ import annotations

from typing import Any, Final

from anabranch_publications.papers.tcpbp.network import network

CAPACITY: Final = "100 Mbps"
FLOWS: Final = 4
SCALED: Final = (
    f"Links of {CAPACITY} in place of 1 Gbps, and {FLOWS} flows in place of ten: one thread carries all."
)


def network_table(train_segments: int = 1, *, evenly: bool = False) -> dict[str, Any]:
    """The table ``[network]``, with hosts that hand so many segments to their links at once.

    Args:
        train_segments: of a train at most.
        evenly: whether losses are evenly spaced, in place of independent draws.
    """
    table = network()
    table["links"]["capacity"] = CAPACITY
    if evenly:
        for link in table["link"]:
            link["loss"] = {"algorithm": "periodic", "probability": link["loss"]}
    if train_segments > 1:
        table["hosts"] = {"offload": f"{train_segments} segments"}
    return table


def controller(application: dict[str, Any] | str, **more: str) -> dict[str, Any]:
    """The table ``[controller]``."""
    return {"application": application, "links": {"capacity": "1 Gbps", "delay": "1 ms"}, **more}
