"""Closed forms of fabrics."""

import math
from collections.abc import Callable

import anabranch

Fabric = Callable[..., anabranch.Scenario]


def idle_path_us(size: int, gbps: int, hops: int, delay_us: float = 1.0) -> float:
    """The closed form of one flow on an idle path, until its last acknowledgment.

    With s = 4150 x 8 / C for a full packet, s_l for the last one and s_a = 64 x 8 / C it is
    (n - 2 + h) s + s_l + D + h s_a + D, over h links with a delay of D together; the last, shorter packet
    waits for the one before it at each of them.
    """
    count = math.ceil(size / 4086)
    last = size - (count - 1) * 4086 + 64
    s, s_l, s_a = (8 * length / gbps / 1000 for length in (4150, last, 64))
    return (count - 2 + hops) * s + s_l + hops * s_a + 2 * hops * delay_us
