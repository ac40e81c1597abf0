"""The files of toys of the library: formats, readers, generators and models that do something small."""

from __future__ import annotations

EXPORT_FORMAT = '''"""The links, one in each line."""

from __future__ import annotations

from anabranch.export.job import Export, ExportJob

_README = """
## To load

Read it.

## To undo

Delete it.
"""


def write(job: ExportJob) -> Export:
    """The names of all links in one file."""
    lines = "".join(f"{link.name}\\n" for link in job.layout.links)
    export = Export({"links.txt": lines}, notes=["a list of links has no routes"])
    return export.with_readme(job.layout, "List of links", _README, interfaces=False)
'''

READER = '''"""A toy format: a line `TOY`, then the two ends of a link in each line."""

from typing import Final

from anabranch.topology.draft import Draft, DraftNode
from anabranch.topology.error import TopologyError
from anabranch.topology.model import TopologyLink

from .file_format import FileFormat
from .text import decode_text


def read_toy(data: bytes, where: str) -> Draft:
    """The links of a file. Raises TopologyError for a line that is no link."""
    text, notes = decode_text(data)
    ends = [line.split() for line in text.splitlines()[1:]]
    for number, pair in enumerate(ends, 2):
        if len(pair) != 2:
            raise TopologyError(f"{where}, line {number}", "this is no link", "write two names")
    nodes = [DraftNode(name) for name in dict.fromkeys(name for pair in ends for name in pair)]
    return Draft(nodes, [TopologyLink(a, b) for a, b in ends], notes=notes)


READER: Final = FileFormat("Toy", read_toy, lambda text: text.startswith("TOY\\n"))
'''

TRAFFIC_READER = '''"""A toy format: a line `RATES`, then sender, receiver and Mbps in each line."""

from typing import Final

from anabranch.topology.model import DemandUnit
from anabranch.topology.traffic.file_format import FileSource, TrafficFormat
from anabranch.topology.traffic.model import NodeList, TrafficFile
from anabranch.topology.traffic.numbers import amount
from anabranch.topology.traffic.readers.entries import matrix_of


def read_rates(source: FileSource) -> TrafficFile:
    """The matrix of a file."""
    nodes, lines = NodeList(), [line.split() for line in source.text().splitlines()[1:]]
    rows = [(nodes.place(a), nodes.place(b), amount(rate, "a rate", source.where)) for a, b, rate in lines]
    matrix, _ = matrix_of(rows)
    return TrafficFile("Toy rates", nodes.names(), unit=DemandUnit("Mbps", 1e6), matrices=(matrix,))


READER: Final = TrafficFormat(
    "Toy rates", "a matrix", "Mbps", read_rates, lambda text: text.startswith("RATES\\n")
)
'''

GENERATOR = '''"""A star: hosts around one router."""

from anabranch.topology.model import Topology, TopologyNode

from .quantities import LinkQuantities, check_count, check_size, generated, node_run


def toy_star(link: LinkQuantities, *, leaves: int = 3) -> Topology:
    """Hosts around one router.

    Nodes: `hub`, `leaf1`, `leaf2`, ... leaves + 1 nodes, leaves links.
    """
    check_count("leaves", leaves)
    check_size(leaves + 1, leaves)
    hosts = node_run("leaf", leaves, "host")
    links = [link.link("hub", host.name) for host in hosts]
    return generated(f"toy-star(leaves={leaves})", [TopologyNode("hub"), *hosts], links, "Generated: a star.")
'''

MODEL = '''"""One segment in each round trip."""

from __future__ import annotations

from typing import Final

from anabranch.models.model import Model, ValidRange, predicted
from anabranch.models.path import PathConditions, Prediction

NAME: Final = "toy"
VALID: Final = ValidRange(1e-5, 0.5)


def toy(path: PathConditions) -> Prediction:
    """MSS / RTT, whatever the loss."""
    return predicted(path, NAME, VALID, lambda _: 1.0)


MODEL: Final = Model(NAME, "ours", VALID, toy)
'''

PATH_MANAGER = """use super::{Interfaces, PathManager, SubflowAddresses};

anabranch_units::parameters! {
    /// The first subflow and no other.
    pub struct ToyParameters {}
}

impl PathManager for ToyParameters {
    fn subflows(&self, _: &Interfaces) -> Vec<SubflowAddresses> {
        vec![SubflowAddresses::default()]
    }
}
"""

LOSS_MODEL = """
anabranch_units::parameters! {
    /// Every second packet is lost.
    #[derive(Copy)]
    pub struct EverySecond {}
}

/// The process of [`EverySecond`], which takes no draw.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Alternating(bool);

impl LossModel for EverySecond {
    type Process = Alternating;

    fn start(&self) -> Alternating {
        Alternating(false)
    }

    fn mean(&self) -> f64 {
        0.5
    }
}

impl Losses for Alternating {
    fn lost(&mut self, _: impl FnOnce() -> bool, _: &mut Stream) -> bool {
        self.0 = !self.0;
        !self.0
    }
}
"""

EXAMPLE = """title = "A toy"

[network]
topology = "dumbbell"
links = { capacity = "10 Mbps", delay = "1 ms" }

[[traffic]]
from = "left1"
to = "right1"
size = "10 kB"

[run]
duration = "1 s"
"""

MEASUREMENTS = """\"\"\"A rate in Mbps a line, a line each second.\"\"\"

from anabranch.runs.measurements.model import MeasuredFlow, Measurement, MeasurementFormat
from anabranch.runs.measurements.reading import MeasurementFile


def _read(source: MeasurementFile, _interval_s: float) -> Measurement:
    found = Measurement("toy", interval_s=1.0)
    flow = found.new_flow(MeasuredFlow("tcp", name="toy"))
    for number, line in source.lines():
        if number > 1:
            rate = found.doubts.number(line, f"in line {number}")
            found.add(flow, number - 2.0, number - 1.0, throughput_mbps=rate)
    return found


READER = MeasurementFormat("toy", "toy", lambda source: source.head_text.startswith("TOY"), _read)
"""
