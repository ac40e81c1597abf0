"""Generators of regular networks: one file each, one line in `GENERATORS` each."""

from typing import Final

from .dragonfly import dragonfly
from .dumbbell import dumbbell
from .fat_tree import fat_tree
from .grid import grid
from .leaf_spine import leaf_spine
from .line import line
from .parallel import parallel
from .parking_lot import parking_lot
from .registry import Generator
from .slim_fly import slim_fly

_ALL: Final = (
    Generator(dragonfly, ("local_", "global_", "host_")),
    Generator(dumbbell, ("bottleneck_", "access_")),
    Generator(fat_tree, ("fabric_", "host_")),
    Generator(grid),
    Generator(leaf_spine, ("fabric_", "host_")),
    Generator(line),
    Generator(parallel),
    Generator(parking_lot, ("bottleneck_", "access_")),
    Generator(slim_fly, ("fabric_", "host_")),
)

GENERATORS: Final = {generator.name: generator for generator in _ALL}
"""Every generator by the name that a scenario gives it."""

__all__ = ["GENERATORS", "Generator"]
