"""Pictures of the manual: one of each scenario of examples/classroom, and the map of docs/figures.md.

python docs/generate/classroom.py docs/figures
"""

import sys
from pathlib import Path

from PIL import Image

from anabranch import Scenario

COLOURS = 64
ROOT = Path(__file__).parents[2]
PICTURES = {
    "slow_start": "log",
    "unequal_rtts": "goodput",
    "bufferbloat": "latency",
    "spraying": "goodput",
    "mptcp_failover": "goodput",
}
"""The figure of `anabranch report` that shows what each scenario is about."""


def main(folder: Path) -> None:
    """Runs each of them and keeps its picture."""
    failure = Scenario.load(ROOT / "examples" / "failure.toml").run()
    failure.plot.network(at_s=15, pair=("Denver", "Atlanta")).save(folder / "plot-network.png")
    for name, figure in PICTURES.items():
        result = Scenario.load(ROOT / "examples" / "classroom" / f"{name}.toml").run()
        file = folder / f"classroom-{name}.png"
        getattr(result.plot, figure)().save(file)
        # A palette makes it a third as large, with no difference to the eye.
        Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
