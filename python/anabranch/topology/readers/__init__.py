"""Readers of topology files: one file a format, each from bytes to a Draft."""

from collections.abc import Callable
from typing import Final

from anabranch.topology.draft import Draft

from .gml import read_gml
from .graphml import read_graphml
from .sndlib_native import read_sndlib_native
from .sndlib_xml import read_sndlib_xml

READERS: Final[dict[str, Callable[[bytes, str], Draft]]] = {
    "GraphML": read_graphml,
    "GML": read_gml,
    "SNDlib native": read_sndlib_native,
    "SNDlib XML": read_sndlib_xml,
}
"""Every file format by name. `sources/files.py` tells by the first bytes of a file which one it is."""
