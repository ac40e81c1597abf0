"""Runs for the pages to be tested, and what a page holds."""

import base64
import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import Result, Scenario

EVIL = "<script>document.title='owned'</script>"
"""What a name must not be: it would rename the page."""
IMAGE = '"><img src=x onerror="document.title=\'owned\'">'

ABILENE = """
title = "Abilene: two transfers"
[network]
topology = "zoo/Abilene"
[network.links]
capacity = "10 Mbps"
delay = { from = "distance", speed = "200 km/ms", plus = "1 ms" }
queue = "30 packets"
[routing]
scheme = "disjoint"
load_balancing = "packet"
[[traffic]]
name = "bulk"
from = "Seattle"
to = "Atlanta"
transport = "linux-cubic"
[[traffic]]
name = "side"
from = "Denver"
to = "Houston"
flows = 6
size = "400 kB"
transport = "newreno"
[[event]]
at = "3 s"
link = ["Denver", "Kansas City"]
state = "down"
[[event]]
at = "5 s"
link = ["Denver", "Kansas City"]
state = "up"
[run]
duration = "8 s"
"""

MULTIPATH = """
title = "Two connections over four links"
[network]
[[network.node]]
name = "left"
kind = "switch"
[[network.node]]
name = "right"
kind = "switch"
[[network.node]]
name = "h1"
kind = "host"
[[network.node]]
name = "h2"
kind = "host"
[[network.node]]
name = "s"
kind = "host"
[[network.link]]
between = ["left", "right"]
new = true
[[network.link]]
between = ["left", "right"]
new = true
[[network.link]]
between = ["left", "right"]
new = true
[[network.link]]
between = ["left", "right"]
new = true
[[network.link]]
between = ["h1", "left"]
new = true
[[network.link]]
between = ["h2", "left"]
new = true
[[network.link]]
between = ["right", "s"]
new = true
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "50 packets"
[network.access]
capacity = "1 Gbps"
delay = "10 us"
queue = "unlimited"
[routing]
scheme = "semper"
load_balancing = "hash"
[transport.mptcp]
path_manager = { algorithm = "ndiffports", subflows = 16 }
[[traffic]]
name = "m"
from = ["h1", "h2"]
to = "s"
transport = "mptcp"
[run]
duration = "4 s"
"""
"""Parallel links, which only their numbers tell apart."""

NODES = ("a", EVIL, IMAGE, "d")
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="l" for="node" attr.name="label" attr.type="string"/>
<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>
"""


def hostile(folder: Any) -> Result:
    """A run whose title, nodes, flows and transport have names that are HTML."""
    escape = {"<": "&lt;", ">": "&gt;", '"': "&quot;"}
    names = ["".join(escape.get(letter, letter) for letter in name) for name in NODES]
    nodes = "".join(f'<node id="n{i}"><data key="l">{name}</data></node>' for i, name in enumerate(names))
    edges = "".join(f'<edge source="n{i}" target="n{(i + 1) % 4}"/>' for i in range(4))
    (folder / "net.graphml").write_text(GRAPHML.format(nodes=nodes, edges=edges), encoding="utf-8")
    scenario = {
        "title": f"{EVIL} & more",
        "network": {
            "topology": f"file:{folder / 'net.graphml'}",
            "links": {"capacity": "10 Mbps", "delay": "1 ms"},
        },
        "traffic": [{"name": EVIL, "from": EVIL, "to": IMAGE, "size": "50 kB", "transport": IMAGE}],
        "transport": {IMAGE: {"preset": "cubic"}},
        "run": {"duration": "1 s"},
    }
    return Scenario.model_validate(scenario).run()


def document(page: str) -> dict[str, Any]:
    """The data in a page."""
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    document: dict[str, Any] = json.loads(text)
    return document


def numbers(column: dict[str, str]) -> NDArray[np.float64]:
    """The numbers of a column, as the page's script reads them."""
    data = np.frombuffer(base64.b64decode(column["base64"]), dtype=f"<{column['kind']}")
    return data.astype(float)


def shown(table: dict[str, Any]) -> dict[str, Any]:
    """The columns of a table of the page by their keys: numbers as an array, texts as a list."""
    return {
        column["key"]: [column["text"]["words"][int(at)] for at in numbers(column["text"]["index"])]
        if "text" in column
        else numbers(column["data"])
        for column in table["columns"]
    }
