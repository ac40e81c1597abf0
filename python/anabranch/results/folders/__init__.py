"""Folders of results: what is in them is whole, what is not ours stays, one process at a time writes there.

A result is written beside its place and put there in one step (``replacement.py``). A folder that grows, as
that of a study, gets its further files together (``addition.py``), and a file alone is written whole
(``whole_file.py``). All of them write into a folder of their own that nobody else can reach
(``staging.py``), by descriptors and never through links (``directory.py``). What a folder holds that came
from elsewhere is read in the same way (``reading.py``).
"""

from anabranch.results.folders.addition import Addition, adding
from anabranch.results.folders.manifest import Manifest, foreign, read_manifest
from anabranch.results.folders.reading import open_inside, read_inside, regular_files
from anabranch.results.folders.replacement import Replacement, check_target, replacing
from anabranch.results.folders.whole_file import copy_whole, write_folder, write_whole

__all__ = [
    "Addition",
    "Manifest",
    "Replacement",
    "adding",
    "check_target",
    "copy_whole",
    "foreign",
    "open_inside",
    "read_inside",
    "read_manifest",
    "regular_files",
    "replacing",
    "write_folder",
    "write_whole",
]
