"""The runs by which a wheel is compiled a second time: the compiler is told how often each branch was taken.

``maturin build --release --pgo`` runs this with the library of its first build (``pgo-command`` in
pyproject.toml). Each way of sending is there once: a few flows and many, long and short ones, along one path,
over subflows and sprayed.
"""

import sys
from pathlib import Path

from anabranch import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = (
    ("ten flows", "dumbbell.toml", {}),
    (
        "a thousand flows",
        "dumbbell.toml",
        {
            "network.parameters.bottleneck_capacity": "10 Gbps",
            "network.parameters.access_capacity": "10 Gbps",
            "network.links.queue": "4000 packets",
            "traffic[0].flows": 100,
            "run.duration": "300 ms",
        },
    ),
    (
        "short flows",
        "dumbbell.toml",
        {"traffic[0].flows": 400, "traffic[0].size": "20 kB", "traffic[0].inter_arrival": "20 ms"},
    ),
    ("a permutation", "leaf_spine.toml", {}),
    (
        "a sprayed permutation",
        "leaf_spine.toml",
        {
            "network.links.queue": {"algorithm": "trim", "limit": "42 packets"},
            "traffic[0].transport": "uet",
            "run.duration": "10 ms",
        },
    ),
    ("sprayed paths that fail", "first.toml", {}),
    ("subflows", "semper.toml", {"run.duration": "5 s"}),
    ("lossy paths", "lossy.toml", {"run.duration": "10 s"}),
    ("marks", "ecn.toml", {"run.duration": "5 s"}),
)
"""A name, an example, and the fields that differ here."""


def main() -> None:
    """Runs each of them."""
    for name, example, fields in RUNS:
        hops = Scenario.load(EXAMPLES / example, fields).run().summary["packet_hops"]
        sys.stdout.write(f"{name}: {hops:,} packet-hops\n")


if __name__ == "__main__":
    main()
