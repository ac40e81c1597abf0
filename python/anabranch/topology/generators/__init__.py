"""Generators of regular networks: one file each, one line in `GENERATORS` each."""

from collections.abc import Callable
from typing import Final

from anabranch.topology.model import Topology

from .dumbbell import dumbbell
from .fat_tree import fat_tree
from .grid import grid
from .leaf_spine import leaf_spine
from .line import line
from .parallel import parallel
from .parking_lot import parking_lot
from .registry import Generator

_ALL: Final[tuple[Callable[..., Topology], ...]] = (
    dumbbell,
    fat_tree,
    grid,
    leaf_spine,
    line,
    parallel,
    parking_lot,
)

GENERATORS: Final = {generator.name: generator for generator in map(Generator, _ALL)}
"""Every generator by the name that a scenario gives it."""

__all__ = ["GENERATORS", "Generator"]
