"""The registry of file formats: one line each. It imports every reader; who reads no file does without it."""

from typing import Final

from anabranch.text.suggest import listed

from . import (
    brite,
    containerlab,
    dot,
    edge_csv,
    fnss,
    gexf,
    gml,
    graphml,
    hpcc,
    htsim,
    inet,
    ndnsim,
    net2plan,
    node_link,
    orbis,
    repetita,
    rocketfuel,
    rocketfuel_cch,
    shadow,
    sndlib_native,
    sndlib_xml,
)

_ALL: Final = (
    graphml.READER,
    gexf.READER,
    fnss.READER,
    net2plan.READER,
    sndlib_xml.READER,
    sndlib_native.READER,
    node_link.READER,
    dot.READER,
    containerlab.READER,
    shadow.READER,
    gml.READER,
    repetita.READER,
    brite.READER,
    hpcc.READER,
    htsim.READER,
    inet.READER,
    ndnsim.READER,
    rocketfuel_cch.READER,
    edge_csv.READER,
    rocketfuel.READER,
    orbis.READER,
)
"""In this order they are asked whether a file is theirs."""

READERS: Final = {reader.name: reader for reader in _ALL}
"""Every file format by name."""
FORMATS: Final = listed(dict.fromkeys(name.split()[0] for name in READERS))
"""The families of formats for messages and documents: ``A, B or C``."""
