"""Generators of regular networks: one file each, one line in `GENERATORS` each."""

from typing import Final

from .dumbbell import dumbbell
from .fat_tree import fat_tree
from .grid import grid
from .leaf_spine import leaf_spine
from .line import line
from .parallel import ParallelPath, parallel
from .parking_lot import parking_lot
from .registry import Generator, Parameter

_ALL: Final = (
    Generator("dumbbell", dumbbell),
    Generator("fat-tree", fat_tree),
    Generator("grid", grid),
    Generator("leaf-spine", leaf_spine),
    Generator("line", line),
    Generator("parallel", parallel),
    Generator("parking-lot", parking_lot),
)

GENERATORS: Final[dict[str, Generator]] = {generator.name: generator for generator in _ALL}
"""Every generator by the name that a scenario gives it."""

__all__ = ["GENERATORS", "Generator", "ParallelPath", "Parameter"]
