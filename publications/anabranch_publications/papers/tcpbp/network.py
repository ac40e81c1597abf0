"""The network of Vilela 2022: ten switches and 21 symmetric lossy links (figures 6, 7 and 8)."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

LINKS: Final[dict[tuple[str, str], tuple[float, float]]] = {
    ("1", "3"): (8.5, 0.003),
    ("1", "5"): (4.0, 0.0181),
    ("1", "6"): (1.5, 0.009),
    ("1", "9"): (3.2, 0.0012),
    ("2", "3"): (4.0, 0.004),
    ("2", "5"): (5.5, 0.0079),
    ("2", "8"): (1.9, 0.0116),
    ("2", "9"): (7.0, 0.0196),
    ("3", "4"): (1.8, 0.0002),
    ("3", "6"): (9.6, 0.0116),
    ("3", "7"): (8.2, 0.0144),
    ("3", "10"): (4.4, 0.0192),
    ("4", "5"): (0.5, 0.0005),
    ("4", "7"): (7.3, 0.013),
    ("4", "10"): (3.0, 0.0037),
    ("5", "6"): (9.4, 0.0137),
    ("5", "8"): (0.01, 0.0023),
    ("5", "9"): (6.3, 0.0057),
    ("5", "10"): (5.0, 0.0039),
    ("7", "9"): (5.4, 0.0119),
    ("7", "10"): (7.6, 0.0068),
}
"""Delay in ms and loss of each link, both ways. Row 3 of figure 7 prints 4.4 ms for 3-2, row 2 prints 4.0 ms
for 2-3; the second is taken."""

NODES: Final = tuple(str(number) for number in range(1, 11))
PAIRS: Final = tuple(combinations(NODES, 2))
"""The 45 pairs, each one way: routes are the same both ways."""

ROUTINGS: Final[dict[str, dict[str, Any]]] = {
    "hop count": {"scheme": "shortest", "metric": "hops-then-delay"},
    "delay": {"scheme": "shortest", "metric": "delay"},
    "TCPBP": {"scheme": "tcpbp", "metric": "tcpbp"},
    "TCPBP exact": {"scheme": "tcpbp-exact", "metric": "tcpbp"},
}
"""The thesis's metrics, and the exact search. Ties in hops go to the lower delay, which gives its 1-5-10."""

TRANSPORT: Final = {
    "tcpbp-cubic": {
        "preset": "linux-cubic",
        "mss": "1460 B",
        "timestamps": False,
        "autotuning": False,
        "quick_acks": 0,
    },
}
"""TCP CUBIC with an MSS of 1460 B of data (section 4.3.1). The thesis says nothing of the receiver: it has a
fixed window and delays ACKs (RFC 1122)."""

TRAIN_SEGMENTS: Final = 9
"""Segments that a host of the thesis's tables hands to its links at once (GSO), which lose them together. The
thesis does not say; of 1, 2, 4, 6 to 10 and 44 (64 kB) this length was chosen by the three throughputs of
table 4. Table 3 contradicts it: its ratios come out with trains of one."""

TRAINS: Final = {"tcpbp-cubic": {**TRANSPORT["tcpbp-cubic"], "congestion_control": "cubic"}}
"""With trains the window is that of RFC 9438's CUBIC. With ``linux-cubic`` no train length brings table 4
within 10 %: the route by delay keeps 13 % or more below it."""

PAYLOAD_MBPS: Final = 1000 * 1460 / 1500
"""What a link of 1 Gbps carries of data."""


def network(*, queue: str = "1000 packets") -> dict[str, Any]:
    """The table ``[network]``. The thesis gives no queues; 1000 packets are netem's default limit."""
    links = [
        {"between": list(ends), "new": True, "delay": f"{delay_ms * 1000:g} us", "loss": loss}
        for ends, (delay_ms, loss) in LINKS.items()
    ]
    return {
        "node": [{"name": name} for name in NODES],
        "links": {"capacity": "1 Gbps", "queue": queue},
        "link": links,
    }


def scenario(
    routing: str,
    *,
    pairs: tuple[tuple[str, str], ...],
    flows: int = 10,
    duration: str = "60 s",
    train_segments: int = TRAIN_SEGMENTS,
) -> dict[str, Any]:
    """Persistent flows between pairs, each pair with so many, as tables 3 to 5 have them.

    Args:
        routing: of :data:`ROUTINGS`.
        pairs: who sends to whom.
        flows: of each pair, begun within the first second.
        duration: of the run.
        train_segments: of what a host sends at once.
    """
    start = {"distribution": "uniform", "low": "0 ms", "high": "1 s"}
    return {
        "network": {**network(), "hosts": {"offload": f"{train_segments} segments"}},
        "routing": dict(ROUTINGS[routing]),
        "transport": dict(TRAINS),
        "traffic": [
            {"from": origin, "to": to, "flows": flows, "transport": "tcpbp-cubic", "start": start}
            for origin, to in pairs
        ],
        "run": {"duration": duration, "flow_series": False, "link_series": False},
    }
