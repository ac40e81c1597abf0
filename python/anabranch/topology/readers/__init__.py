"""Readers of topology files: one file and one line a format."""

from typing import Final

from anabranch.text.suggest import listed

from . import gml, graphml, sndlib_native, sndlib_xml
from .file_format import FileFormat

_ALL: Final = (
    graphml.READER,
    sndlib_xml.READER,
    sndlib_native.READER,
    gml.READER,
)
"""In this order they are asked whether a file is theirs."""

READERS: Final = {reader.name: reader for reader in _ALL}
"""Every file format by name."""
FORMATS: Final = listed(dict.fromkeys(name.split()[0] for name in READERS))
"""The families of formats for messages and documents: ``A, B or C``."""

__all__ = ["FORMATS", "READERS", "FileFormat"]
