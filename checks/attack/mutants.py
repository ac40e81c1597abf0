"""The mutants: what is mutated, how, and which command gets it. A number decides all of it."""

from __future__ import annotations

import gzip
import random
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import dumbbells
import fits
import hostile
import mutation
import own_code
import planning
import received
import tomli_w
import traffic_files

ROOT = Path(__file__).resolve().parents[2]
SEEDS = "seeds"
"""Folder with the result folders and captures that are damaged."""

SHARES = {
    "scenario": 15,
    "study": 5,
    "topology": 11,
    "files": 7,
    "traffic": 4,
    "export": 7,
    "capture": 7,
    "measurement": 4,
    "hostile": 5,
    "both ends": 5,
    "fit": 4,
    "predict": 3,
    "planning": 4,
    "report": 3,
    "received": 4,
    "own code": 5,
    "arguments": 5,
    "compare": 1,
    "reproduce": 1,
}
"""How many of a hundred mutants are of each kind."""

Prepare = Callable[[random.Random, Path], list[str]]
"""Writes the files of a case into a folder, and returns the arguments of the command."""

CAPTURED = (
    dumbbells.dumbbell("5 ms")
    + """queue = "10 packets"
[[traffic]]
name = "=first"
from = "left1"
to = "right1"
transport = "mptcp"
size = "60 kB"
[[traffic]]
from = "left2"
to = "right2"
transport = "newreno"
size = "60 kB"
[[capture]]
file = "left1.pcapng"
host = "left1"
snap_length = "128 B"
[[capture]]
file = "right1.pcapng"
host = "right1"
snap_length = "128 B"
[[capture]]
file = "right2.pcapng"
host = "right2"
[run]
duration = "1 s"
"""
)
STUDY = """
title = "two"
replications = 3
[scenario.network]
topology = "dumbbell"
[scenario.network.parameters]
bottleneck_capacity = "10 Mbps"
[scenario.network.links]
capacity = "100 Mbps"
delay = "1 ms"
[[scenario.traffic]]
from = "left1"
to = "right1"
size = "50 kB"
start = { distribution = "uniform", low = "0 s", high = "10 ms" }
[scenario.run]
duration = "100 ms"
[[factor]]
field = "network.links.queue"
label = "queue"
levels = ["5 packets", "10 packets"]
[[factor]]
field = "traffic[0].transport"
label = "transport"
levels = ["newreno", "cubic"]
[[metric]]
name = "completion_s"
label = "mean completion time (s)"
column = "completion_s"
[[metric]]
name = "jain_index"
label = "Jain index"
table = "summary"
column = "jain_index"
"""
DEMANDS = (
    b"from,to,rate_mbps\nSeattle,Denver,2.5\nDenver,New York,0.5\nAtlanta,Seattle,1e-1\nHouston,Denver,3\n"
)
GIVEN = b"from,to,kind,weight,path\na,c,path,3,a > b > c\na,c,path,1.5,a > c\nc,a,next-hop,1,c > a\n"
WEIGHTS = b"from,to,weight\na,b,1\nb,a,2\nb,c,30\nc,b,4\na,c,5\nc,a,6\n"
INTERFACES = b"from,to,from_interface,to_interface,from_cost\na,b,x,x,1\nb,c,y,y,3\na,c,z,z,5\n"
MATRIX = b"from,to,rate_mbps\na,b,1\nb,c,0.5\na,c,2\nc,a,1e-1\n"
FLOWS = b"from,to,size_bytes,start_ms\na,b,3000,0\nb,c,500,1.5\nc,a,7e3,20\n"
SIZES = b"0 0\n1000 40\n20000 90\n100000 100\n"
DELAYS = b"24\n18\n18.5\n30\n"
TRACE = b"0\n1\n1\n2\n5\n9\n20\n"
DISH = (
    b'{"id": "0", "dishGetHistory": {"current": "5", "popPingDropRate": [0, 1, 0.25], "popPingLatencyMs": '
    b'[40.0, 40.0, 30.0], "downlinkThroughputBps": [2e6, 0, 1e6], "uplinkThroughputBps": [5e5, "NaN", 7e5]}}'
)
PROFILE = b"time_s,capacity_mbps,delay_ms,loss\n0,8.9,26.4,0\n0.01,9.9,27.5,0.1\n0.02,14.0,20.2,0\n"
GIVEN_ROUTES: dict[str, Any] = {
    "network": {
        "node": [{"name": name} for name in "abc"],
        "links": {"capacity": "10 Mbps", "delay": "1 ms"},
        "link": [{"between": list(ends), "new": True} for ends in ("ab", "bc", "ac")],
    },
    "traffic": [{"from": "a", "to": "c", "size": "20 kB"}],
    "run": {"duration": "50 ms"},
}
COMPARED: dict[str, Any] = {
    "network": {
        "topology": "grid",
        "parameters": {"rows": 2, "columns": 2},
        "links": {"capacity": "4 Mbps", "delay": "1 ms"},
    },
    "traffic": [{"from": "router1.1", "to": "router2.2"}],
    "run": {"duration": "500 ms"},
}
ROBUST: dict[str, Any] = {
    "network": {"topology": "zoo/Abilene", "links": {"capacity": "20 Mbps"}},
    "routing": {"scheme": {"algorithm": "robust", "k": 2}, "demand": {"pair": {"from": "file:demands.csv"}}},
    "traffic": [{"from": "Seattle", "to": "Denver"}],
    "run": {"duration": "50 ms"},
}


def write_seeds(folder: Path) -> None:
    """Runs what the mutants damage: a run with captures, and a study."""
    from anabranch import Scenario, Study  # noqa: PLC0415 - the worker limits its memory after it is imported

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    Scenario.loads(CAPTURED).run(out=folder / "run")
    Study.from_data(tomllib.loads(STUDY)).run(jobs=1, out=folder / "study")
    shutil.copytree(folder / "study", folder / "begun")
    dumbbells.make_begun(folder / "begun", lambda run: run % 2 == 0)
    received.write_planned(folder / "planned", GIVEN_ROUTES)
    own_code.write_seeds(folder / "own")
    fits.write_seeds(folder / "fits")


def kind_of(number: int) -> str:
    """The kind of a mutant, so that every hundred of them have their shares of all."""
    place = number * 37 % 100
    return next(kind for kind, end in zip(SHARES, accumulate(SHARES.values()), strict=True) if place < end)


_TIMES = (
    "duration",
    "at",
    "start",
    "stop",
    "low",
    "high",
    "sample_interval",
    "reaction",
    "inter_arrival",
    "mean",
    "gap",
)


@dataclass(frozen=True)
class _Named:
    """A file that a scenario names."""

    field: tuple[str | None, ...]
    """Where it is named, as a key of ``FILE_FIELDS``."""
    file: str
    content: bytes
    """What is in it; the saved plan among the seeds, if empty."""
    scenario: dict[str, Any]
    is_load: bool = False
    """Whether it is for ``load``."""


def _given(**tables: dict[str, Any]) -> dict[str, Any]:
    """The scenario of three nodes with further fields of its tables."""
    return {**GIVEN_ROUTES, **{name: {**GIVEN_ROUTES.get(name, {}), **of} for name, of in tables.items()}}


_MATRIX = {"matrix": {"from": "file:matrix.csv"}, "size": "3 kB"}
_PROFILED = {"link": ["a", "b"], "from": "file:profile.csv", "repeat": "40 ms"}
_NAMED = (
    _Named(("routing", "paths"), "plan.json", b"",
           _given(routing={"scheme": "given", "paths": "file:plan.json"})),
    _Named(("routing", "paths"), "routes.csv", GIVEN,
           _given(routing={"scheme": "given", "paths": "file:routes.csv"})),
    _Named(("network", "weights"), "weights.csv", WEIGHTS,
           _given(network={"weights": "file:weights.csv"},
                  routing={"scheme": "shortest", "metric": "weight"})),
    _Named(("routing", "demand", "pair", "from"), "demands.csv", DEMANDS, ROBUST, is_load=True),
    _Named(("traffic", None, "matrix", "from"), "matrix.csv", MATRIX, {**GIVEN_ROUTES, "traffic": [_MATRIX]}),
    _Named(("routing", "demand", "matrix", "from"), "m.csv", MATRIX,
           _given(routing={"demand": {"matrix": {"from": "file:m.csv"}}}), is_load=True),
    _Named(("traffic", None, "flow_list"), "flows.csv", FLOWS,
           {**GIVEN_ROUTES, "traffic": [{"flow_list": "file:flows.csv"}]}),
    _Named(("traffic", None, "size"), "sizes.txt", SIZES,
           {**GIVEN_ROUTES, "traffic": [{"from": "a", "to": "b", "flows": 9, "size": "file:sizes.txt"}]}),
    _Named(("profile", None, "from"), "profile.csv", PROFILE, {**GIVEN_ROUTES, "profile": [_PROFILED]}),
    *(
        _Named(("profile", None, "from"), name, content,
               {**GIVEN_ROUTES, "profile": [{"link": ["a", "b"], "from": f"file:{name}", **more}]})
        for name, content, more in (
            ("delays", DELAYS, {"format": "delays", "interval": "10 ms", "at_end": "repeat"}),
            ("trace", TRACE, {"format": "mahimahi", "clock": "first", "interval": "2 ms"}),
            ("dish", DISH, {}),
        )
    ),
)  # fmt: skip


def _by_format(files: Iterable[Path]) -> dict[str, list[bytes]]:
    """The contents of files of topologies, by the name of their format."""
    from anabranch.topology.sources.files import sniff  # noqa: PLC0415 - see above

    contents: dict[str, list[bytes]] = {}
    for file in files:
        content = file.read_bytes()
        contents.setdefault(sniff(content, file.name), []).append(content)
    return contents


def _measurements() -> dict[str, list[bytes]]:
    """The contents of measurements, by the name of their format."""
    from anabranch.runs.measurements.reading import MeasurementFile  # noqa: PLC0415 - see above
    from anabranch.runs.measurements.registry import reader_of  # noqa: PLC0415 - see above

    contents: dict[str, list[bytes]] = {}
    for file in sorted((ROOT / "tests" / "capture" / "measurements").iterdir()):
        reader = reader_of(MeasurementFile(file))
        contents.setdefault(reader.name if reader else "", []).append(file.read_bytes())
    return contents


def _check_covered(topologies: Iterable[str], traffic: Iterable[str], measurements: Iterable[str]) -> None:
    """Every reader has an input to mutate: of topologies, traffic, measurements and files of scenarios.

    Raises:
        RuntimeError: which one has none.
    """
    from anabranch.runs.measurements.registry import READERS as MEASUREMENTS  # noqa: PLC0415 - see above
    from anabranch.scenario.files import FILE_FIELDS  # noqa: PLC0415 - see above
    from anabranch.topology.readers.registry import READERS  # noqa: PLC0415 - see above
    from anabranch.topology.traffic import TRAFFIC_READERS  # noqa: PLC0415 - see above

    without = (READERS.keys() - set(topologies)) | (TRAFFIC_READERS.keys() - set(traffic))
    without |= MEASUREMENTS.keys() - set(measurements)
    without |= {
        repr(field)
        for field in FILE_FIELDS.keys() - {named.field for named in _NAMED} - {("network", "topology")}
    }
    if without:
        raise RuntimeError(f"checks/attack/mutants.py has no input for {', '.join(sorted(without))}")


def _form(draw: random.Random) -> str:
    from anabranch.export.formats import FORMATS  # noqa: PLC0415 - see above

    return draw.choice(sorted(FORMATS))


class Mutants:
    """Every kind of input."""

    def __init__(self, scratch: Path) -> None:
        # These scenarios use every transport, scheme, queue, controller and failure there is.
        sys.path.insert(0, str(ROOT / "tests" / "fingerprints"))
        from cases import every_scenario  # noqa: PLC0415

        self._scenarios = [_short(data) for data in every_scenario().values()]
        for file in sorted((ROOT / "examples").glob("*.toml")):
            self._scenarios.append(_short(tomllib.loads(file.read_text(encoding="utf-8"))))
        self._known = mutation.by_key(self._scenarios)
        self._seeds = scratch.parent / SEEDS
        data = ROOT / "tests" / "topology" / "data"
        self._topologies = _by_format([*sorted(data.iterdir()), ROOT / "examples" / "ring.graphml"])
        self._traffic = traffic_files.by_format()
        self._measurements = _measurements()
        _check_covered(self._topologies, self._traffic, self._measurements)
        self._captures = [file.read_bytes() for file in sorted((self._seeds / "run").glob("*.pcapng"))]
        self._captures += [received.as_pcap(capture) for capture in self._captures]
        _in_process()
        self._prepare: dict[str, Prepare] = {
            "scenario": self._scenario,
            "study": self._study,
            "topology": self._topology,
            "files": self._file,
            "traffic": self._traffic_file,
            "export": self._export,
            "capture": self._capture,
            "measurement": self._measurement,
            "hostile": self._hostile,
            "both ends": self._both_ends,
            "fit": lambda draw, folder: fits.fit_mutant(draw, folder, self._seeds / "fits"),
            "predict": lambda draw, folder: fits.predict_mutant(draw, folder, self._seeds / "fits"),
            "planning": lambda draw, folder: planning.mutant(draw, folder, self._known),
            "report": self._report,
            "received": lambda draw, folder: received.folder_mutant(draw, folder, self._seeds),
            "own code": lambda draw, folder: own_code.mutant(draw, folder, self._seeds / "own"),
            "arguments": self._arguments,
            "compare": self._compare,
            "reproduce": self._reproduce,
        }

    def write(self, number: int, draw: random.Random, folder: Path) -> list[str]:
        """Writes the files of a mutant into a folder, and returns the arguments of the command."""
        return self._prepare[kind_of(number)](draw, folder)

    def _toml(self, draw: random.Random, content: dict[str, Any]) -> bytes:
        other = draw.choice(self._scenarios)
        kind = draw.randrange(10)
        if kind < 7:
            return mutation.of_toml(draw, content, other, self._known)
        change = mutation.of_words if kind < 9 else mutation.of_bytes
        return change(draw, tomli_w.dumps(content).encode(), tomli_w.dumps(other).encode())

    def _scenario(self, draw: random.Random, folder: Path) -> list[str]:
        content = draw.choice(self._scenarios)
        (folder / "x.toml").write_bytes(self._toml(draw, content))
        shutil.copy(ROOT / "examples" / "ring.graphml", folder)
        command = draw.choice(("routes", "run", "run", "run"))
        arguments = [command, "x.toml"]
        if command == "run" and draw.random() > 0.02:
            arguments.append("--no-page")
        if command == "routes" and draw.random() < 0.3:
            arguments.append("--check-forwarding")
        return arguments + ["--json"] * (draw.random() < 0.3)

    def _study(self, draw: random.Random, folder: Path) -> list[str]:
        content = tomllib.loads(STUDY)
        if draw.random() < 0.3:
            content["scenario"] = draw.choice(self._scenarios)
        content["replications"] = 1
        (folder / "x.toml").write_bytes(self._toml(draw, content))
        return ["study", "x.toml", "--jobs", "1", *["--json"] * (draw.random() < 0.3)]

    def _topology(
        self, draw: random.Random, folder: Path, change: mutation.Change = mutation.of_words_or_bytes
    ) -> list[str]:
        form = draw.choice(sorted(self._topologies))
        content = draw.choice(self._topologies[form])
        other = draw.choice(self._topologies[draw.choice(sorted(self._topologies))])
        (folder / "x.net").write_bytes(change(draw, content, other))
        if draw.random() < 0.6:
            return ["topology", "show", "file:x.net", *["--json"] * (draw.random() < 0.4)]
        scenario = {
            "network": {"topology": "file:x.net", "links": {"capacity": "10 Mbps"}},
            "traffic": [{"from": "*", "to": "*", "size": "3 kB"}],
            "run": {"duration": "20 ms"},
        }
        (folder / "x.toml").write_text(tomli_w.dumps(scenario), encoding="utf-8")
        return draw.choice((["routes", "x.toml"], ["run", "x.toml", "--no-page"]))

    def _file(
        self, draw: random.Random, folder: Path, change: mutation.Change = mutation.of_words_or_bytes
    ) -> list[str]:
        """A file that a scenario names: demands, a matrix, a saved plan, paths, weights or a profile."""
        named = draw.choice(_NAMED)
        content = named.content or (self._seeds / "plan.json").read_bytes()
        (folder / named.file).write_bytes(change(draw, content, draw.choice(_NAMED).content or DEMANDS))
        (folder / "x.toml").write_text(tomli_w.dumps(named.scenario), encoding="utf-8")
        command = draw.choice(("routes", "run", "export"))
        if named.is_load:
            return [draw.choice(("load", "brief")), "x.toml", *draw.choice(([], ["--json"], ["--failures"]))]
        further = {"run": ["--out", "out"], "export": ["--to", _form(draw), "--out", "out"]}
        return [command, "x.toml", *further.get(command, [])]

    def _export(self, draw: random.Random, folder: Path) -> list[str]:
        """A mutated scenario for one of the formats."""
        content = draw.choice([GIVEN_ROUTES, COMPARED, *self._scenarios])
        (folder / "x.toml").write_bytes(self._toml(draw, content))
        shutil.copy(ROOT / "examples" / "ring.graphml", folder)
        form = _form(draw) if draw.random() < 0.95 else mutation.word(draw, _form(draw))
        arguments = ["export", "x.toml", "--to", form, "--out", "out"]
        table = draw.choice((INTERFACES, WEIGHTS))
        (folder / "t.csv").write_bytes(mutation.of_words_or_bytes(draw, table, DEMANDS))
        further = (["--interfaces", "t.csv"], ["--present", "t.csv"]) if form.startswith("frr") else ()
        for option in (["--buckets", str(draw.choice((1, 3, 1024)))], ["--resilient"], ["--json"], *further):
            arguments += option if draw.random() < 0.2 else []
        return arguments

    def _both_ends(self, draw: random.Random, folder: Path) -> list[str]:
        sender, receiver = (
            (self._seeds / "run" / f"{end}1.pcapng").read_bytes() for end in ("left", "right")
        )
        if draw.random() < 0.3:
            sender = received.as_pcap(sender)
        if draw.random() < 0.3:
            receiver = received.as_pcap(receiver)
        return received.capture_mutant(draw, folder, (sender, receiver))

    def _capture(
        self, draw: random.Random, folder: Path, change: mutation.Change = mutation.of_bytes
    ) -> list[str]:
        content, other = draw.choice(self._captures), draw.choice(self._captures)
        (folder / "x.pcap").write_bytes(change(draw, content, other))
        arguments = ["capture", "x.pcap"]
        if draw.random() < 0.2:
            (folder / "y.pcap").write_bytes(other)
            arguments.append("y.pcap")
        options = (["--window", "50 ms"], ["--interval", "1 ms"], ["--port", "5001"], ["--disjoint"],
                   ["--subflows", "2"], ["--out", "out"], ["--json"])  # fmt: skip
        for option in options:
            arguments += option if draw.random() < 0.15 else []
        return arguments

    def _measurement(
        self, draw: random.Random, folder: Path, change: mutation.Change = mutation.of_words_or_bytes
    ) -> list[str]:
        """A measurement of another tool, cut, mutated or packed, alone or beside a run or itself."""
        form = draw.choice(sorted(self._measurements))
        original = draw.choice(self._measurements[form])
        other = draw.choice(self._measurements[draw.choice(sorted(self._measurements))])
        content = (
            original[: draw.randrange(len(original))]
            if draw.random() < 0.15
            else change(draw, original, other)
        )
        (folder / "x.log").write_bytes(gzip.compress(content) if draw.random() < 0.1 else content)
        arguments = ["capture", "x.log"]
        if draw.random() < 0.15:
            (folder / "y.log").write_bytes(other)
            arguments.append("y.log")
        options = (["--window", "1 s"], ["--interval", "100 ms"], ["--port", "5201"], ["--format", form],
                   ["--against", str(self._seeds / "run")], ["--against", "x.log"], ["--out", "out"],
                   ["--json"])  # fmt: skip
        for option in options:
            if option[0] not in arguments:
                arguments += option if draw.random() < 0.15 else []
        return arguments

    def _traffic_file(
        self, draw: random.Random, folder: Path, change: mutation.Change = mutation.of_words_or_bytes
    ) -> list[str]:
        return traffic_files.mutant(draw, folder, self._traffic, change)

    def _hostile(self, draw: random.Random, folder: Path) -> list[str]:
        """A file for any reader in a hostile form, or no regular one; sometimes for ``import``."""
        prepare = draw.choice(
            (self._topology, self._topology, self._traffic_file, self._measurement, self._file, self._capture)
        )
        arguments = prepare(draw, folder, hostile.form)
        file = draw.choice(sorted(file for file in folder.iterdir() if file.suffix != ".toml"))
        if draw.random() < 0.12:
            hostile.displace(draw, file)
        return ["import", file.name, "--out", "i.toml"] if draw.random() < 0.15 else arguments

    def _report(self, draw: random.Random, folder: Path) -> list[str]:
        shutil.copytree(self._seeds / draw.choice(("run", "study")), folder / "result")
        files = sorted(file for file in (folder / "result").rglob("*") if file.is_file())
        readable = [file for file in files if file.suffix in (".parquet", ".json", ".toml")]
        file, other = draw.choice(readable), draw.choice(readable)
        kind = draw.randrange(8)
        if kind == 0:
            file.unlink()
        elif kind == 1:
            file.write_bytes(other.read_bytes())
        elif file.suffix != ".parquet" and kind < 6:
            file.write_bytes(mutation.of_words(draw, file.read_bytes(), other.read_bytes()))
        else:
            file.write_bytes(mutation.of_bytes(draw, file.read_bytes(), other.read_bytes()))
        return ["report", "result", *["--figures", "svg"] * (draw.random() < 0.1)]

    def _compare(self, draw: random.Random, folder: Path) -> list[str]:
        kind = draw.randrange(4)
        what = "x.toml"
        if kind == 0:
            change = mutation.of_words if draw.random() < 0.7 else mutation.of_bytes
            (folder / "x.graphml").write_bytes(change(draw, self._topologies["GraphML"][0], b"<node/>"))
            what = "file:x.graphml"
        elif kind == 1:
            what = mutation.word(draw, "zoo/Abilene", "NSFNET", "x.toml")
        content = COMPARED if kind == 3 else draw.choice(self._scenarios)
        (folder / "x.toml").write_bytes(
            tomli_w.dumps(content).encode() if kind == 3 else self._toml(draw, content)
        )
        systems = (
            mutation.word(draw, "hops,delay", "semper-mptcp", "hops, robust") if kind == 3 else "hops,delay"
        )
        arguments = ["compare", what, "--quick", "--jobs", "1", "--out", "out", "--systems", systems]
        return arguments + ["--json"] * (draw.random() < 0.3)

    def _reproduce(self, draw: random.Random, _folder: Path) -> list[str]:
        paper, figure = draw.choice(
            (("sdn", "4.11"), ("tcpbp", "table-2"), ("mprc", "5.9"), ("robust", "12"))
        )
        if draw.random() < 0.5:
            paper = mutation.word(draw, paper)
        else:
            figure = mutation.word(draw, figure)
        arguments = ["reproduce", paper, figure, "--quick", "--jobs", "1", "--out", "out"]
        return arguments + ["--json"] * (draw.random() < 0.3)

    def _arguments(self, draw: random.Random, folder: Path) -> list[str]:
        def word(*usual: str) -> str:
            return mutation.word(draw, *usual)

        content = draw.choice(self._scenarios)
        (folder / "x.toml").write_text(tomli_w.dumps(content), encoding="utf-8")
        kind = draw.randrange(6)
        if kind == 5 and draw.random() < 0.3:
            control = word("cubic", "linux-bbr", "x.py:C", "mptcp")
            only = word("7.7", "5.1.2", "7.10,7.4")
            return ["evaluate", control, "--only", only, "--replications", "1", "--jobs", "1", "--out", "out"]
        if kind == 0:
            return [
                "topology",
                "show",
                word("zoo/Abilene", "sndlib/germany50", "dumbbell", "file:x.gml", "grid"),
            ]
        if kind == 1:
            (folder / "x.pcap").write_bytes(draw.choice(self._captures))
            values = {"--window": "50 ms", "--interval": "1 ms", "--port": "5001", "--subflows": "2"}
            name = draw.choice(sorted(values))
            return ["capture", "x.pcap", name, word(values[name])]
        if kind == 2:
            (folder / "demands.csv").write_bytes(DEMANDS)
            (folder / "x.toml").write_text(tomli_w.dumps(ROBUST), encoding="utf-8")
            return ["load", "x.toml", "--link", word("Seattle->Denver", "Denver->Seattle")]
        fields = ("traffic[0].transport", "network.links.capacity", "run.duration", "event[0].at", "title",
                  "network.parameters.hosts", "routing.scheme.k", "controller.application", "traffic[0].size",
                  "transport.x.preset")  # fmt: skip
        field = draw.choice(fields) if draw.random() < 0.6 else word(*fields)
        value = word('"cubic"', '"10 Mbps"', "3", '"2 ms"', "[1, 2]", '{ algorithm = "codel" }', "true")
        return ["routes" if kind < 5 else "run", "x.toml", "--set", f"{field}={value}"]


def _short(node: Any, key: str = "") -> Any:
    """The same scenario in a fortieth of the time: seconds become some hundredths."""
    if isinstance(node, dict):
        return {name: _short(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_short(value, key) for value in node]
    quantity = re.fullmatch(r"([\d.]+) (ms|s)", node) if isinstance(node, str) and key in _TIMES else None
    return f"{max(float(quantity[1]) / 40, 1e-3):g} {quantity[2]}" if quantity else node


def _in_process() -> None:
    """Studies run in this process: that processes are lost and replaced is tested elsewhere."""
    from anabranch.study import execute  # noqa: PLC0415 - see above
    from anabranch.study.work import RunWorker  # noqa: PLC0415

    def here(design: Any, runs: Any, _jobs: int) -> Any:
        worker = RunWorker(design)
        return (worker.run(number) for number in runs)

    vars(execute)["run_locally"] = here
