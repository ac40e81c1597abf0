"""How many times faster than ns-3: prints packet-hops per CPU-second of both on the same scenarios.

    python checks/benches/ns3_ratio.py NS3.json ANABRANCH.json

The files come from ns3_peer.py and anabranch_peer.py of checks/validation; `make bench` makes both.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "validation"))

from columns import aligned
from compare import Pair, speed_row
from records import Results
from scenarios import all_scenarios

HEAD = ("scenario", "ns-3, CPU s", "ours, CPU s", "ns-3, M hops/s", "ours, M hops/s", "ratio", "goal")


def main(theirs_file: Path, ours_file: Path) -> int:
    """Prints the table; 1 if the files have no scenario in common."""
    theirs, ours = Results.load(theirs_file), Results.load(ours_file)
    pairs = [Pair(scenario, theirs.of(scenario), ours.of(scenario)) for scenario in all_scenarios()]
    rows = [speed_row(pair).cells for pair in pairs if pair.theirs and pair.ours]
    sys.stdout.write(aligned([HEAD, *rows]))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
