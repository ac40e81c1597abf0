"""What scenarios of several parts have in common: a dumbbell, a capture, a study, and one that has begun."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

CAPTURE = """
[[capture]]
file = "left1.pcapng"
host = "left1"
"""
STUDY = """
scenario = "plain.toml"
replications = REPLICATIONS
keep = "tables"
[[factor]]
field = "traffic[0].transport"
levels = ["newreno", "cubic"]
"""


def dumbbell(delay: str = "1 ms") -> str:
    """Two hosts on either side; what follows it may add to its links."""
    return f"""
[network]
topology = "dumbbell"
[network.parameters]
hosts = 2
bottleneck_capacity = "10 Mbps"
[network.links]
capacity = "100 Mbps"
delay = "{delay}"
"""


def study(replications: int) -> str:
    """A study of two transports in ``plain.toml``."""
    return STUDY.replace("REPLICATIONS", str(replications))


def make_begun(folder: Path, keeps: Callable[[int], bool]) -> None:
    """Makes a finished study a begun one, as a kill leaves it: with the runs whose numbers are kept."""
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if keeps(json.loads(line)["run"])))
    for file in (*folder.glob("cells.*"), *folder.glob("runs.*"), *folder.glob("study.xlsx")):
        file.unlink()
