"""Folders of results: what is in them is whole, what is not ours stays, one process at a time writes there.

A result is written beside its place and put there in one step (``replacement.py``). A folder that grows, as
that of a study, gets its further files together (``addition.py``), and a file alone is written whole
(``whole_file.py``).
"""

from anabranch.folders.addition import Addition, adding
from anabranch.folders.manifest import foreign, read_manifest
from anabranch.folders.replacement import Replacement, check_target, replacing
from anabranch.folders.whole_file import write_whole

__all__ = [
    "Addition",
    "Replacement",
    "adding",
    "check_target",
    "foreign",
    "read_manifest",
    "replacing",
    "write_whole",
]
