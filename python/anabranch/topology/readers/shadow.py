"""Configurations of Shadow (shadow.github.io, "Network Graph Overview"): the GML in `network.graph.inline`.

Latencies, losses and bandwidths have their units in the values (`latency "10 ms"`). A graph of `type:
1_gbit_switch` is one node; a graph in a file of its own, `network.graph.file.path`, is that file.
"""

import re
from typing import Final

from anabranch.topology.draft import Draft
from anabranch.topology.error import TopologyError

from .file_format import FileFormat
from .gml import read_gml
from .text import decode_text, without_comments
from .yaml_tree import YamlNode, parse_yaml


def read_shadow(data: bytes, where: str) -> Draft:
    """The graph of a configuration. Raises TopologyError, with the line of the graph, for anything else."""
    text, _ = decode_text(data)
    root = parse_yaml(text, where)
    network = _entry(root, "network")
    graph = None if network is None else _entry(network, "graph")
    if graph is None:
        raise TopologyError(where, 'the file has no "network" with a "graph"', "a file of Shadow has it")
    inline = graph.get("inline")
    if inline is None or not inline.text:
        file = _entry(graph, "file")
        path = None if file is None else _entry(file, "path")
        remedy = 'write the graph as GML below "inline: |"'
        if path is not None and path.text:
            remedy = f"the graph is in a file of its own: file:{path.text}"
        raise TopologyError(graph.place, "the graph is not inline", remedy)
    return read_gml(inline.text.encode(), f"{inline.place}, inline graph")


def _entry(node: YamlNode, key: str) -> YamlNode | None:
    """An entry of a mapping; None for what is no mapping."""
    return None if node.entries is None else node.get(key)


def _recognises(text: str) -> bool:
    plain = without_comments(text)
    return re.search(r"(?m)^network:\s*(\n|$)", plain) is not None and "graph:" in plain


READER: Final = FileFormat("Shadow", read_shadow, _recognises)
