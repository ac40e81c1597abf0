"""Readers of traffic in files: one file and one line a format."""

from typing import Final

from anabranch.text.suggest import listed

from . import abilene, flow_csv, hpcc, htsim, networks, rate_csv, repetita, sizes, totem, yates

_ALL: Final = (
    # SNDlib's document element is that of Net2Plan.
    networks.XML,
    networks.NATIVE,
    networks.NET2PLAN,
    totem.READER,
    repetita.READER,
    abilene.READER,
    flow_csv.READER,
    rate_csv.READER,
    htsim.READER,
    hpcc.READER,
    sizes.READER,
    yates.READER,
)
"""In this order they are asked whether a file is theirs."""

TRAFFIC_READERS: Final = {reader.name: reader for reader in _ALL}
"""Every file format of traffic by name."""
TRAFFIC_FORMATS: Final = listed(TRAFFIC_READERS)
"""The formats for messages and documents: ``A, B or C``."""

__all__ = ["TRAFFIC_FORMATS", "TRAFFIC_READERS"]
