"""The sources of networks: collections with names, files, and generators.

Start with `load`, which takes what a scenario's `topology` says; `names` lists what has a name, `GENERATORS`
the generators with their parameters. Every error is a TopologyError, one readable line.

Readers (`readers/`) turn bytes into a Draft; `attributes/` reads the quantities of its nodes and links and
names the rest; `directions.py` pairs one-way links; `assemble.py` makes names unique and fills gaps
(`gaps.py`) with a note for each; generators (`generators/`) build a Topology directly. Nothing here knows
scenarios or the engine.
"""

from .error import TopologyError
from .gaps import MEAN_EARTH_RADIUS_KM, great_circle_km
from .generators import GENERATORS
from .load import TopologyName, load, names
from .model import Place, Topology, TopologyLink, TopologyNode

__all__ = [
    "GENERATORS",
    "MEAN_EARTH_RADIUS_KM",
    "Place",
    "Topology",
    "TopologyError",
    "TopologyLink",
    "TopologyName",
    "TopologyNode",
    "great_circle_km",
    "load",
    "names",
]
