"""Exports as files: what stands in them by hand, what other readers make of them, and what is refused."""

from __future__ import annotations

import ast
import csv
import io
import itertools
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import networkx
import pytest
import yaml
from export_scenarios import CROSSED, SPLIT, diamond, given

from anabranch import Scenario
from anabranch.errors import ExportError, ResultError, ScenarioError
from anabranch.export.formats import FORMATS
from anabranch.export.write import export
from anabranch.plans.worst_loads import worst_loads

DEMAND = '[routing.demand]\npair = "1 Mbps"\n'


def test_every_format_says_how_to_load_and_to_undo(tmp_path: Path) -> None:
    assert len(FORMATS) >= 12
    for name in FORMATS:
        files = export(diamond(SPLIT), name, tmp_path / name)
        readme = (tmp_path / name / "README.md").read_text()
        for heading in ("## To load", "## To undo", "## What it cannot express", "## Nodes"):
            assert heading in readme, (name, heading)
        there = {
            path.relative_to(tmp_path / name).as_posix()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        assert set(files.files) == there - {"manifest.json"}


def test_routes_as_tables_come_back_as_they_were(tmp_path: Path) -> None:
    for routing in ('scheme = "ecmp"\nmetric = "weight"\n', 'scheme = { algorithm = "robust", k = 3 }\n'):
        original = diamond(routing + DEMAND)
        export(original, "csv", tmp_path, replace=True)
        again = original.replace({"routing.scheme": "given", "routing.paths": f"file:{tmp_path}/routes.csv"})
        before, after = worst_loads(original).links, worst_loads(again).links
        assert max(link.load for link in before) > 0
        assert [link.load for link in after] == pytest.approx([link.load for link in before], abs=1e-9)
    assert (tmp_path / "weights.csv").read_text().splitlines()[:2] == ["from,to,weight,index", "a,b,4,1"]


def test_graphml_is_the_same_network_again(tmp_path: Path) -> None:
    scenario = diamond('scheme = "shortest"\nmetric = "weight"\n')
    export(scenario, "graphml", tmp_path)
    read = networkx.read_graphml(tmp_path / "network.graphml")
    assert (len(read.nodes), len(read.edges)) == (4, 10)
    edge = read.edges["n1", "n2"]
    assert (edge["capacity_bps"], edge["delay_ms"], edge["loss"], edge["weight"]) == (10**7, 1.25, 0.001, 4)
    text = (
        f'[network]\ntopology = "file:{tmp_path}/network.graphml"\n[[traffic]]\nfrom = "a"\nto = "d"\n'
        '[run]\nduration = "1 s"\n[routing]\nmetric = "weight"\n'
    )
    pair, other = Scenario.loads(text).routes().pairs[0], scenario.routes().pairs[0]
    assert [(path.nodes, path.delay_ms, path.loss, path.igp_cost) for path in pair.paths] == [
        (path.nodes, path.delay_ms, path.loss, path.igp_cost) for path in other.paths
    ]


def test_networkx_reads_network_and_routes(tmp_path: Path) -> None:
    export(diamond(SPLIT), "networkx", tmp_path)
    data = json.loads((tmp_path / "network.json").read_text())
    graph = networkx.node_link_graph(data, edges="edges")
    assert (len(graph.nodes), len(graph.edges)) == (4, 10)
    assert graph.edges["a", "b", "a->b"]["delay_s"] == 0.00125
    (route,) = (route for route in graph.graph["routes"] if (route["from"], route["to"]) == ("a", "d"))
    assert [(path["nodes"], path["weight"]) for path in route["paths"]] == [
        (["a", "b", "d"], 0.75),
        (["a", "c", "d"], 0.25),
    ]


def test_next_hops_have_the_weights_of_the_plan(tmp_path: Path) -> None:
    export(diamond(SPLIT), "iproute2", tmp_path)
    script = (tmp_path / "routes" / "n1-a.sh").read_text()
    assert "ip nexthop replace id 100000 group 1001,3/1002,1 proto 186" in script
    assert "ip route replace 10.0.0.4/32 nhid 100000 src 10.0.0.1 proto 186" in script
    assert "seg6" not in script
    export(diamond(SPLIT), "iproute2", tmp_path, buckets=128, resilient=True, replace=True)
    script = (tmp_path / "routes" / "n1-a.sh").read_text()
    assert "group 1001,3/1002,1 type resilient buckets 128 proto 186" in script


def test_pairs_that_cannot_go_by_destination_get_segments(tmp_path: Path) -> None:
    export(diamond(CROSSED), "iproute2", tmp_path)
    script = (tmp_path / "routes" / "n1-a.sh").read_text()
    # Far ends of the links: a-b is edge 0, b-d 1, a-c 2, c-d 3, b-c 4.
    assert "encap seg6 mode encap segs fd00::1,fd00::1:1 dev eth1 weight 1" in script
    assert "encap seg6 mode encap segs fd00::1,fd00::4:1,fd00::3:1 dev eth1 weight 1" in script
    assert "encap seg6 mode encap segs fd00::2:1,fd00::3:1 dev eth2 weight 2" in script
    readme = (tmp_path / "README.md").read_text()
    assert "b to d: at b it goes other ways than a to d" in readme


def test_static_routes_share_equally(tmp_path: Path) -> None:
    export(diamond('scheme = "ecmp"\n'), "frr", tmp_path / "equal")
    text = (tmp_path / "equal" / "n1-a" / "frr.conf").read_text()
    assert "ip route 10.0.0.4/32 172.16.0.1 eth1\nip route 10.0.0.4/32 172.16.0.5 eth2\n" in text
    equal_paths = given(("abd", 1), ("abcd", 1), ("acd", 1), ("bd", 1), ("dba", 1))
    export(diamond(equal_paths), "frr", tmp_path / "stacks")
    text = (tmp_path / "stacks" / "n1-a" / "frr.conf").read_text()
    # Links are numbered both ways: b->d is 2, b->c 8, c->d 6.
    assert "ip route 10.0.0.4/32 172.16.0.1 eth1 label 100008/100006\n" in text
    assert (
        "mpls lsp 100008 172.16.0.9 implicit-null" in (tmp_path / "stacks" / "n2-b" / "frr.conf").read_text()
    )


def test_buckets_of_a_group_and_labels_where_paths_cross(tmp_path: Path) -> None:
    """Over b and over c the paths agree wherever they meet, unless b sends on both to d and to c."""
    export(diamond(SPLIT), "openflow", tmp_path / "split")
    group = (tmp_path / "split" / "groups" / "n1-a.groups").read_text()
    assert re.findall(r"set_field:(\S+?)->eth_dst,output:(\d)", group) == [
        *[("02:a0:00:00:00:01", "1")] * 3,
        ("02:a0:00:00:00:01", "2"),
    ]
    flows = (tmp_path / "split" / "flows" / "n4-d.flows").read_text()
    assert "eth_dst=02:a0:00:00:00:01,actions=set_field:02:00:00:00:00:04->eth_dst,output:1000" in flows
    export(diamond(CROSSED), "openflow", tmp_path / "crossed")
    group = (tmp_path / "crossed" / "groups" / "n1-a.groups").read_text()
    ports = dict(re.findall(r"set_field:(\S+?)->eth_dst,output:(\d)", group))
    flows = (tmp_path / "crossed" / "flows" / "n2-b.flows").read_text()
    ways = dict(re.findall(r"eth_dst=(\S+?),actions=output:(\d)", flows))
    # Of what comes from a, some goes to d and some to c; what comes back from d goes to a.
    assert sorted(ways[label] for label in ports) == ["2", "3"]
    rest = json.loads((tmp_path / "crossed" / "rest.json").read_text())
    (entry,) = (group for group in rest["groups"] if group["dpid"] == 1)
    assert sorted(bucket["weight"] for bucket in entry["buckets"]) == [1, 1, 2]


def test_rounding_says_what_it_adds_worst_link_first(tmp_path: Path) -> None:
    """0.7 and 0.3 in at most three buckets are 2/3 and 1/3: one flow of a, and none of b's, over a->c."""
    routing = given(("abd", 0.7), ("acd", 0.3), ("bd", 1))
    files = export(diamond(routing), "openflow", tmp_path, buckets=3)
    assert files.what == "flows"
    worst = files.loads[0]
    assert (worst.link, worst.before) == ("a->c", pytest.approx(0.3))
    assert worst.added == pytest.approx(1 / 3 - 0.3)
    assert [entry.added for entry in files.loads] == sorted((e.added for e in files.loads), reverse=True)
    exact = export(diamond(routing), "openflow", tmp_path, buckets=10, replace=True)
    assert max(abs(entry.added) for entry in exact.loads) < 1e-12


def test_rounding_of_worst_case_loads(tmp_path: Path) -> None:
    """1 Mbps between any two of 10 Mbps: a's share over a->c is 0.03 before, and 1/30 after rounding."""
    pairs = [(a, b) for a in "abcd" for b in "abcd" if a != b]
    direct = {frozenset(edge) for edge in (("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("b", "c"))}
    single = [(a + b, 1.0) for a, b in pairs if frozenset((a, b)) in direct]
    routing = given(*single, ("abd", 0.7), ("acd", 0.3), ("dba", 1))
    files = export(diamond(routing + DEMAND), "csv", tmp_path, buckets=3)
    assert files.what == "worst-case load"
    worst = files.loads[0]
    assert worst.link in ("a->c", "c->d")
    assert (worst.before, worst.after) == (pytest.approx(0.13), pytest.approx(0.1 + 0.1 / 3))


def test_emulators_name_what_they_cannot_express(tmp_path: Path) -> None:
    scenario = diamond(
        'scheme = "ecmp"\n', loss='{ algorithm = "gilbert-elliott", to_bad = 0.01, to_good = 0.5 }'
    )
    for name in ("mininet", "containerlab"):
        files = export(scenario, name, tmp_path / name)
        assert any(note.startswith("a loss model with bursts") for note in files.notes)
    head = (tmp_path / "mininet" / "topology.py").read_text().split('"""')[1]
    assert "- a loss model with bursts; the mean loss stands for it: a->b and 9 more" in head
    top = (tmp_path / "containerlab" / "anabranch.clab.yml").read_text().splitlines()[:4]
    assert any("a loss model with bursts" in line for line in top)


def test_the_script_of_mininet_is_the_network(tmp_path: Path) -> None:
    """Its own parser where Mininet is installed; else what the script says, by Python's."""
    export(diamond('scheme = "ecmp"\n'), "mininet", tmp_path)
    tree = ast.parse((tmp_path / "topology.py").read_text())
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isupper()
    }
    assert list(values["NODES"]) == ["n1", "n2", "n3", "n4"]
    assert values["NODES"]["n1"] == ("a", "10.0.0.1", "n1-a.sh")
    ends, settings = values["LINKS"][0][:2], values["LINKS"][0][2:]
    assert ends == (("n1", "eth1"), ("n2", "eth1"))
    assert settings[0] == settings[1]
    assert settings[0] == {"delay": "1.250000ms", "bw": 10.0, "loss": 0.1, "max_queue_size": 100}
    script = (tmp_path / "addresses" / "n1-a.sh").read_text()
    assert "ip addr replace 172.16.0.0/31 dev n1-eth1" in script
    assert "dev eth" not in script


def test_mininet_builds_the_topology(tmp_path: Path) -> None:
    topo = pytest.importorskip("mininet.topo", reason="not installed: Mininet")
    assert topo is not None
    export(diamond('scheme = "ecmp"\n'), "mininet", tmp_path)
    scope: dict[str, object] = {"__name__": "topology", "__file__": str(tmp_path / "topology.py")}
    exec(compile((tmp_path / "topology.py").read_text(), "topology.py", "exec"), scope)  # noqa: S102 - our own
    built = scope["topos"]["anabranch"]()  # type: ignore[index]
    assert sorted(built.nodes()) == ["n1", "n2", "n3", "n4"]
    assert len(built.links()) == 5


CONTAINERLAB = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "topology"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9][a-zA-Z0-9_.-]*$"},
        "topology": {
            "type": "object",
            "additionalProperties": False,
            "required": ["nodes"],
            "properties": {
                "kinds": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"image": {"type": "string", "minLength": 1}},
                    },
                },
                "nodes": {
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": {"pattern": "^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$"},
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["kind"],
                        "properties": {
                            "kind": {"const": "linux"},
                            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                            "binds": {
                                "type": "array",
                                "items": {"type": "string", "pattern": "^[^:]+:/[^:]*(:(ro|rw))?$"},
                            },
                            "exec": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
                "links": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["endpoints"],
                        "properties": {
                            "endpoints": {
                                "type": "array",
                                "minItems": 2,
                                "maxItems": 2,
                                "uniqueItems": True,
                                # eth0 is the management network's.
                                "items": {"type": "string", "pattern": "^[^:]+:eth[1-9][0-9]{0,11}$"},
                            },
                            "vars": {
                                "type": "object",
                                "additionalProperties": False,
                                "properties": {"anabranch": {"type": "object", "minProperties": 1}},
                            },
                        },
                    },
                },
            },
        },
    },
}
"""What containerlab's manual says of the topology file, as far as an export uses it: stricter than its own
schema, which is only at hand where Go's module cache has it."""
CONTAINERLAB_MODULE = "github.com/srl-labs/containerlab@v0.60.0"


def containerlabs_schema() -> dict[str, Any]:
    """Its own schema, from Go's module cache; skips the test without one. It asks no network."""
    if (go := shutil.which("go")) is None:
        pytest.skip("not installed: Go")
    said = subprocess.run(
        [go, "mod", "download", "-json", CONTAINERLAB_MODULE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=mod"},
    )
    if said.returncode:
        pytest.skip(f"not installed: containerlab's schema (go mod download {CONTAINERLAB_MODULE})")
    folder = Path(json.loads(said.stdout)["Dir"])
    schema: dict[str, Any] = json.loads((folder / "schemas" / "clab.schema.json").read_text())
    return schema


@pytest.mark.parametrize("scheme", ["ecmp", "shortest"])
def test_containerlabs_own_schema_takes_the_file(tmp_path: Path, scheme: str) -> None:
    schema = containerlabs_schema()
    export(diamond(f'scheme = "{scheme}"\n'), "containerlab", tmp_path)
    lab = yaml.safe_load((tmp_path / "anabranch.clab.yml").read_text())
    # Its patterns of ports, which no export has, are none of Python's.
    jsonschema.Draft7Validator(schema).validate(lab)
    lab["topology"]["nodes"]["n1"]["kinds"] = "linux"
    with pytest.raises(jsonschema.ValidationError, match="kinds"):
        jsonschema.Draft7Validator(schema).validate(lab)
    print(f"clab.schema.json of {CONTAINERLAB_MODULE.partition('@')[2]}")


def test_the_file_of_containerlab_is_yaml_of_its_form(tmp_path: Path) -> None:
    """Its loader is a program in Go; our own description of the file stands for it."""
    export(diamond('scheme = "ecmp"\n'), "containerlab", tmp_path)
    lab = yaml.safe_load((tmp_path / "anabranch.clab.yml").read_text())
    jsonschema.Draft202012Validator.check_schema(CONTAINERLAB)
    jsonschema.validate(lab, CONTAINERLAB)
    assert list(lab["topology"]["nodes"]) == ["n1", "n2", "n3", "n4"]
    for node in lab["topology"]["nodes"].values():
        assert lab["topology"]["kinds"][node["kind"]]["image"]
        assert all((tmp_path / bind.split(":")[0]).is_file() for bind in node["binds"])
    ends = [end for link in lab["topology"]["links"] for end in link["endpoints"]]
    assert len(ends) == len(set(ends)) == 10
    assert {end.split(":")[0] for end in ends} == lab["topology"]["nodes"].keys()
    # The description does refuse something.
    lab["topology"]["links"][0]["endpoints"][0] = "n1:eth0"
    with pytest.raises(jsonschema.ValidationError, match="eth0"):
        jsonschema.validate(lab, CONTAINERLAB)
    lab["topology"]["links"][0]["endpoints"][0] = "n1:eth1"
    assert [link["endpoints"] for link in lab["topology"]["links"]][:2] == [
        ["n1:eth1", "n2:eth1"],
        ["n2:eth2", "n4:eth1"],
    ]
    lines = (tmp_path / "links.sh").read_text().splitlines()
    assert (
        "containerlab tools netem set -n clab-anabranch-n1 -i eth1 --delay 1250us --rate 10000 --loss 0.1"
        in lines
    )


@pytest.mark.parametrize(
    ("to", "buckets", "words"),
    [
        (
            "openflw",
            64,
            '--to: format "openflw" is not known; nearest: "openflow"; there are "openflow", ',
        ),
        ("openflow", 0, "--buckets 0: a group has 1 to 1,024 of them"),
        ("iproute2", 300, "--buckets 300: a nexthop of Linux has a weight of at most 256"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, to: str, buckets: int, words: str) -> None:
    with pytest.raises(ExportError) as caught:
        export(diamond(SPLIT), to, tmp_path / "out", buckets=buckets)
    assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_files_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ResultError, match=r"has what Anabranch did not write there: mine\.txt"):
        export(diamond(SPLIT), "csv", tmp_path)
    export(diamond(SPLIT), "csv", tmp_path, replace=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_controller_has_no_plan(tmp_path: Path) -> None:
    links = {"capacity": "10 Mbps", "delay": "1 ms"}
    data = {**diamond('scheme = "shortest"\n').data(), "controller": {"links": links}}
    del data["routing"]
    with pytest.raises(ScenarioError, match="a controller chooses while it runs"):
        export(Scenario.from_data(data), "csv", tmp_path / "out")


EVENT = '[[event]]\nat = "0.5 s"\nlink = ["a", "b"]\nstate = "down"\n'
FORGETFUL = '{ algorithm = "gilbert-elliott", to_bad = 0.01, to_good = 0.5 }'


@pytest.mark.parametrize("name", list(FORMATS))
def test_only_what_a_scenario_has_is_told_as_left_out(name: str, tmp_path: Path) -> None:
    """Each property beside the same scenario without it: the note is there, and is not."""

    def notes(routing: str, *, more: str = "", loss: str = "0.001") -> str:
        files = export(diamond(routing, more=more, loss=loss), name, tmp_path / "out", replace=True)
        readme = (tmp_path / "out" / "README.md").read_text()
        assert all(f"- {note}" in readme for note in files.notes)
        assert files.notes or "Nothing of these routes is left out." in readme
        return "\n".join(files.notes)

    by_packet = 'load_balancing = "packet"\n'
    single, several = notes('scheme = "shortest"\n'), notes('scheme = "ecmp"\n')
    # What routers, or policies of one path, make of several is told in test_export_igp.
    of_paths = ("scheme ", "shares of ")
    several = "\n".join(note for note in several.split("\n") if not note.startswith(of_paths))
    assert "\n".join(note for note in single.split("\n") if not note.startswith(of_paths)) == several
    assert "load balancing" not in single
    assert "load balancing" not in notes(f'scheme = "shortest"\n{by_packet}')
    has_routes = name not in ("graphml", "networkx", "csv", "mahimahi", "frr-sr")
    assert ('load balancing "packet"' in notes(f'scheme = "ecmp"\n{by_packet}')) is has_routes
    hashed = notes('scheme = "ecmp"\nload_balancing = "hash"\n')
    expressed = "keeps a flow on one path by a hash as well; not expressed is that both directions of a flow"
    assert (expressed in hashed) is has_routes
    assert "a failure moves" not in hashed
    resilient = notes('scheme = "ecmp"\nload_balancing = "resilient-hash"\n')
    assert ("and that a failure moves the flows of its path alone" in resilient) is has_routes
    is_network = name not in ("openflow", "iproute2") and not name.startswith("frr")
    assert "bursts" not in single
    assert ("bursts" in notes('scheme = "shortest"\n', loss=FORGETFUL)) is is_network
    is_emulator = name in ("mininet", "containerlab")
    assert "events" not in single
    assert ("events" in notes('scheme = "shortest"\n', more=EVENT)) is is_emulator


def test_names_that_a_spreadsheet_would_run_are_text_and_come_back(tmp_path: Path) -> None:
    names = ["=1+1", "+a", "-b", "@c", "'=d", "-3"]
    nodes = "".join(f'[[network.node]]\nname = "{name}"\n' for name in names)
    links = "".join(
        f'[[network.link]]\nbetween = ["{a}", "{b}"]\nnew = true\n' for a, b in itertools.pairwise(names)
    )
    original = Scenario.loads(
        f'{nodes}{links}[network.links]\ncapacity = "1 Mbps"\ndelay = "1 ms"\nweight = 3\n'
        f'[[traffic]]\nfrom = "=1+1"\nto = "-3"\n[run]\nduration = "1 s"\n{DEMAND}'
        '[routing]\nscheme = "ecmp"\nmetric = "weight"\n'
    )
    export(original, "csv", tmp_path)
    tables = [file for file in tmp_path.iterdir() if file.suffix == ".csv"]
    assert len(tables) >= 4
    for file in tables:
        cells = [cell for row in csv.reader(io.StringIO(file.read_text(), newline="")) for cell in row]
        assert "'''=d" in cells or "''=d" in cells
        assert all(cell[:1] not in "=+-@" or cell in ("-3", "") for cell in cells)
    again = original.replace(
        {
            "routing.scheme": "given",
            "routing.paths": f"file:{tmp_path}/routes.csv",
            "network.weights": f"file:{tmp_path}/weights.csv",
        }
    )
    before, after = ([link.load for link in worst_loads(each).links] for each in (original, again))
    assert after == before
    assert max(before) > 0


LINE_ENDS = "\n\r\x0b\x0c\x1c\x85\u2028\u2029"


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_names_begin_no_line_of_their_own(name: str, tmp_path: Path) -> None:
    """In whatever file a line would begin with it, the rest of a name could be a command or a heading."""
    names = [f"{letter}{end}EVIL" for letter, end in zip("abcdefgh", LINE_ENDS, strict=True)]
    nodes = [{"name": one} for one in names]
    ring = [*itertools.pairwise(names), (names[-1], names[0])]
    jitter = {"distribution": "uniform", "low": "0 s", "high": "1 ms"}
    links = [{"between": list(ends), "new": True, "jitter": jitter} for ends in ring]
    scenario = Scenario.from_data(
        {
            "title": f"Ring{LINE_ENDS}EVIL",
            "network": {
                "node": nodes, "link": links,
                "links": {"capacity": "10 Mbps", "delay": "1 ms", "weight": 3, "loss": 0.001},
            },
            "traffic": [{"from": names[0], "to": names[4], "size": "10 kB"}],
            "run": {"duration": "1 s"},
            "routing": {"scheme": "ecmp", "metric": "weight"},
        }
    )  # fmt: skip
    files = export(scenario, name, tmp_path / "out")
    assert len(files.files) >= 2
    for file in files.files:
        text = (tmp_path / "out" / file).read_bytes().decode()
        assert file.endswith((".csv", ".trace", ".sh")) or "EVIL" in text or "/" in file
        if file.endswith(".csv"):
            # Names of a table are as they are, in quotes where they have several lines (RFC 4180).
            cells = {cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row}
            assert not [cell for cell in cells if cell.startswith("EVIL")], file
            continue
        assert not [line for line in text.splitlines() if line.lstrip().startswith("EVIL")], file
    readme = (tmp_path / "out" / "README.md").read_text()
    for letter in "abcdefgh":
        assert f"| {letter} EVIL | router |" in readme
