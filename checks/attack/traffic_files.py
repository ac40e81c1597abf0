"""Mutants of files of traffic: one of each format, through runs, loads, routes and imports."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import mutation
import tomli_w

DATA = Path(__file__).resolve().parents[2] / "tests" / "topology" / "traffic_data"
_UDP = {"kind": "udp", "packet": "1 kB"}
_NETWORK: dict[str, Any] = {
    "node": [{"name": name} for name in "abc"],
    "links": {"capacity": "10 Mbps", "delay": "1 ms"},
    "link": [{"between": list(ends), "new": True} for ends in ("ab", "bc", "ac")],
}


def by_format() -> dict[str, list[tuple[str, bytes]]]:
    """Names and contents of files of traffic, by the name of their format."""
    from anabranch.topology.traffic.load import recognised  # noqa: PLC0415 - the worker limits its memory first

    files: dict[str, list[tuple[str, bytes]]] = {}
    for file in sorted(DATA.iterdir()):
        reader = recognised(content := file.read_bytes())
        if reader is not None:
            files.setdefault(reader.name, []).append((file.name, content))
    return files


def mutant(
    draw: random.Random, folder: Path, files: dict[str, list[tuple[str, bytes]]], change: mutation.Change
) -> list[str]:
    """Writes a mutated file and a scenario with it, and returns the arguments of a command."""
    from anabranch.topology.traffic import TRAFFIC_READERS  # noqa: PLC0415 - see above

    form = draw.choice(sorted(files))
    name, content = draw.choice(files[form])
    _, other = draw.choice(files[draw.choice(sorted(files))])
    (folder / "x.tm").write_bytes(change(draw, content, other))
    hosts = DATA / Path(name).with_suffix(".hosts")
    if hosts.exists():
        text = hosts.read_bytes()
        (folder / "x.hosts").write_bytes(
            text if draw.random() < 0.7 else mutation.of_bytes(draw, text, content)
        )
    if draw.random() < 0.25:
        return [
            "import",
            "x.tm",
            "--topology",
            draw.choice(("zoo/Abilene", "sndlib/abilene")),
            "--out",
            "i.toml",
        ]
    matrix: dict[str, Any] = {"from": "file:x.tm"}
    for key, value in (("number", draw.randrange(1, 4)), ("unit", "1 kbps"), ("scale", 0.5)):
        matrix |= {key: value} if draw.random() < 0.2 else {}
    kinds = {"flows": (0,), "sizes": (1,)}.get(TRAFFIC_READERS[form].holds, (2, 3))
    kind = draw.choice(kinds if draw.random() < 0.9 else range(4))
    entry: dict[str, Any] = {"matrix": matrix, "application": _UDP}
    if kind == 0:
        entry = {"flow_list": "file:x.tm"}
    elif kind == 1:
        entry = {"from": "a", "to": "b", "flows": 20, "size": "file:x.tm"}
    elif kind == 2 and draw.random() < 0.5:
        entry["matrix"] = {**matrix, "interval": "10 ms"}
    data: dict[str, Any] = {"network": _NETWORK, "traffic": [entry], "run": {"duration": "20 ms"}}
    command = ["run", "x.toml", "--no-page", "--out", "out"]
    if kind == 3:
        data = {"network": _NETWORK, "routing": {"demand": {"matrix": matrix}}}
        command = [draw.choice(("load", "routes")), "x.toml"]
    (folder / "x.toml").write_text(tomli_w.dumps(data), encoding="utf-8")
    return command
