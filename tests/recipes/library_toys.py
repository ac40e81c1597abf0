"""Toys of the library, and of what the core has beside algorithms in files of their own."""

from __future__ import annotations

from library_files import (
    EXAMPLE,
    EXPORT_FORMAT,
    GENERATOR,
    LOSS_MODEL,
    MEASUREMENTS,
    MODEL,
    PATH_MANAGER,
    READER,
    TRAFFIC_READER,
)
from toy import Toy

PACKAGE = "python/anabranch"
MANAGERS = "crates/transport/src/mptcp/path_manager"
LIBRARY: dict[str, Toy] = {
    "a path manager": Toy(
        files={f"{MANAGERS}/toy.rs": PATH_MANAGER},
        insertions={
            f"{MANAGERS}/mod.rs": [
                ("mod ndiffports;\n", "mod toy;\n"),
                ("pub use ndiffports::NdiffportsParameters;\n", "pub use toy::ToyParameters;\n"),
                ('    "fullmesh" => Fullmesh(FullmeshParameters),\n', '    "toy" => Toy(ToyParameters),\n'),
            ]
        },
        tests=(("anabranch-transport", "mptcp::path_manager"),),
    ),
    "a transport preset": Toy(
        insertions={
            "crates/transport/src/preset.rs": [
                (
                    "pub const PRESETS: &[(&str, &str)] = &[\n",
                    '    ("toy-reno", "NewReno with RACK (RFC 8985)"),\n',
                ),
                (
                    '        "linux-reno" => linux_tuned("linux-reno"),\n',
                    '        "toy-reno" => tcp("rack", "newreno"),\n',
                ),
            ],
            f"{PACKAGE}/report/looks.py": [
                ('    "newreno": _BLUE,\n', '    "toy-reno": _SKY,\n'),
            ],
            "docs/transports.md": [
                (
                    "| preset | loss detection | congestion control | undo |\n|---|---|---|---|\n",
                    "| `toy-reno` | RACK-TLP | NewReno | no |\n",
                ),
            ],
        },
        run="""
flows = scenario({"traffic[0].transport": "toy-reno"}).run().flows
assert flows["goodput_mbps"].min() > 0.9, flows
""",
    ),
    "a loss model": Toy(
        insertions={
            "crates/engine/src/loss.rs": [
                ('    "trace" => Trace(Trace),\n', '    "every-second" => EverySecond(EverySecond),\n'),
                ("    /// No random loss.\n    #[derive(Copy)]\n    pub struct NoLoss {}\n}\n", LOSS_MODEL),
            ],
            "docs/links.md": [
                (
                    '| `loss = "none"` | none; also `0` | |\n',
                    '| `loss = "every-second"` | every second packet | |\n',
                ),
            ],
        },
        tests=(("anabranch-engine", "loss"),),
        run="""
udp = '{ kind = "udp", rate = "1 Mbps", packet = "1 kB" }'
fields = {"network.links.loss": "every-second", "traffic[0].application": udp}
flows = scenario(fields).run().tables["datagram_flows"]
# Three links on the way.
assert abs(flows["received"].sum() / flows["sent"].sum() - 1 / 8) < 0.02, flows
""",
    ),
    "a throughput model": Toy(
        files={f"{PACKAGE}/models/toy.py": MODEL},
        insertions={
            f"{PACKAGE}/models/__init__.py": [
                (
                    "from anabranch.models.pftk import pftk\n",
                    "from anabranch.models.toy import MODEL as TOY\n",
                ),
                ("(MATHIS, PFTK, CUBIC, BBR, WINDOW", ", TOY"),
            ],
            "docs/models.md": [
                (
                    "| model | formula | source | range | transports |\n|---|---|---|---|---|\n",
                    "| `toy` | 1 | ours | p from 1e-5 to 0.5 | |\n",
                ),
            ],
        },
        run="""
from anabranch.models import MODELS, PathConditions
path = PathConditions(rtt_s=0.1, loss=0.01, mss_bytes=1250)
assert abs(MODELS["toy"].predict(path).mbps - 0.1) < 1e-9
""",
    ),
    "a file format of topologies": Toy(
        files={f"{PACKAGE}/topology/readers/toy.py": READER},
        insertions={
            f"{PACKAGE}/topology/readers/registry.py": [
                ("    sndlib_xml,\n", "    toy,\n"),
                ("    gml.READER,\n", "    toy.READER,\n"),
            ],
        },
        run="""
import pathlib, tempfile
from anabranch.topology import TopologyError, load
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "net").write_text("TOY\\nleft1 hub\\nhub right1\\nleft2 hub\\nhub right2\\n")
    flows = scenario({"network.topology": f"file:{folder}/net", "network.parameters": "{}"}).run().flows
    assert flows["goodput_mbps"].min() > 0.9, flows
    pathlib.Path(folder, "other").write_text("ABC")
    try:
        load(f"file:{folder}/other")
    except TopologyError as error:
        assert "Toy" in str(error), error
    else:
        raise AssertionError("a file of no format is read")
""",
    ),
    "a file format of traffic": Toy(
        files={f"{PACKAGE}/topology/traffic/readers/toy.py": TRAFFIC_READER},
        insertions={
            f"{PACKAGE}/topology/traffic/readers/__init__.py": [
                (
                    "import abilene, flow_csv, hpcc, htsim, networks, rate_csv, repetita, sizes, totem",
                    ", toy",
                ),
                ("    totem.READER,\n", "    toy.READER,\n"),
            ],
        },
        run="""
import pathlib, tempfile
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "tm").write_text("RATES\\nleft1 right1 0.5\\nleft2 right2 0.25\\n")
    matrix = f"{{from = 'file:{folder}/tm'}}"
    udp = "{kind = 'udp', packet = '1 kB'}"
    fields = {"traffic": f"[{{matrix = {matrix}, application = {udp}}}]"}
    flows = scenario(fields).run().tables["datagram_flows"]
    assert flows["sent"].sum() > 0, flows
""",
    ),
    "a format of measurements": Toy(
        files={f"{PACKAGE}/runs/measurements/toy.py": MEASUREMENTS},
        insertions={
            f"{PACKAGE}/runs/measurements/registry.py": [
                ("from anabranch.runs.measurements import flent, iperf3, qlog, ss, starlink", ", toy"),
                ("    starlink.READER,\n", "    toy.READER,\n"),
            ],
            "docs/measurements.md": [
                ("| `--format` | file | what it has |\n|---|---|---|\n", "| `toy` | a toy | throughput |\n"),
            ],
        },
        run="""
import pathlib, tempfile
from anabranch.runs.capture import analyze
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "x").write_text("TOY\\n8\\n10\\n")
    measured = analyze([pathlib.Path(folder, "x")])
    assert measured.connections["throughput_mbps"].to_list() == [9.0], measured.connections
    assert measured.connections["retransmissions"].to_list() == [None]
""",
    ),
    "a generator": Toy(
        files={f"{PACKAGE}/topology/generators/toy_star.py": GENERATOR},
        insertions={
            f"{PACKAGE}/topology/generators/__init__.py": [
                ("from .registry import Generator\n", "from .toy_star import toy_star\n"),
                ("    Generator(line),\n", "    Generator(toy_star),\n"),
            ],
            "docs/topologies.md": [
                (
                    "| generator | makes | parameters, with their defaults |\n|---|---|---|\n",
                    "| `toy-star` | hosts around one router | `leaves` (3); `capacity`, `delay`, `loss` |\n",
                ),
            ],
        },
        run="""
from anabranch.topology import load
star = load("toy-star", leaves=5)
assert (len(star.nodes), len(star.links)) == (6, 5), star
""",
    ),
    "an export format": Toy(
        files={f"{PACKAGE}/export/toy.py": EXPORT_FORMAT},
        insertions={
            f"{PACKAGE}/export/formats.py": [
                (
                    "FORMATS: Final[Mapping[str, Format]] = {\n",
                    '    "toy": Format("toy:write", "the names of links", "nothing"),\n',
                ),
            ],
        },
        run="""
import pathlib, subprocess, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    (path / "x.toml").write_text(TEXT)
    call = [sys.executable, "-m", "anabranch", "export"]
    subprocess.run([*call, "x.toml", "--to", "toy", "--out", "out"], cwd=path, check=True)
    assert "router-left->router-right" in (path / "out" / "links.txt").read_text()
    text = subprocess.run([*call, "--help"], check=True, capture_output=True, text=True).stdout
    assert "toy" in text, text
""",
    ),
    "a table on the page of loads, in its workbook and its CSV files": Toy(
        insertions={
            f"{PACKAGE}/report/views/loads.py": [
                (
                    "    tables = [_links(loads), _matrix(loads, link)]\n",
                    "    rows = [(one.link, one.load) for one in loads.links if one.load > 0]\n"
                    '    tables.append(plan_table("toy", "Used links", ("link", "load_percent"), rows))\n',
                ),
            ],
        },
        run='''
import pathlib, tempfile
from anabranch.report.load_page import save_load_page
loads = anabranch.Scenario.loads("""
network = { topology = "sndlib/nobel-us", links = { capacity = "500 Mbps" } }
routing = { scheme = "shortest", demand = { ingress = "400 Mbps", egress = "400 Mbps" } }
traffic = [{ from = "*", to = "*" }]
run = { duration = "1 s" }
""").worst_case(failures=True)
with tempfile.TemporaryDirectory() as folder:
    page = save_load_page(pathlib.Path(folder, "loads.html"), loads).read_text()
assert "Used links" in page
''',
    ),
    "a command": Toy(
        insertions={
            f"{PACKAGE}/terminal/cli.py": [
                (
                    "    print_json(head | json_schema(table))\n",
                    '\n\n@app.command()\ndef toy() -> None:\n    """Say nothing."""\n    write("")\n',
                ),
            ],
            "docs/generate/examples.py": [
                ('    "schema": "anabranch schema --study",\n', '    "toy": "anabranch toy",\n'),
            ],
        },
        run="""
import subprocess, sys
subprocess.run([sys.executable, "-m", "anabranch", "toy"], check=True)
""",
    ),
    "an example": Toy(
        files={"examples/toy.toml": EXAMPLE},
        insertions={
            "docs/index.md": [
                ("| file | shows |\n|---|---|\n", "| `examples/toy.toml` | a toy |\n"),
            ],
        },
    ),
}
"""By what they add."""
