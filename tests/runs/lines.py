"""A scenario of two hosts on a line, for tests of the folders that its run is written to."""

_LINE = """
[network]
topology = "line"
[network.links]
capacity = "10 Mbps"
delay = "2 ms"
[[traffic]]
from = "source"
to = "sink"
{flow}
[run]
duration = "100 ms"
"""
ENDLESS = _LINE.format(flow='transport = "cubic"')
"""A flow that goes on until the end."""
SIZED = _LINE.format(flow='size = "20 kB"')
"""A flow that completes."""
