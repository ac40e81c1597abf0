"""Mutants for the commands that plan a network and simulate nothing: weights, capacity, transfers."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import mutation
import tomli_w

DATA = Path(__file__).resolve().parents[2] / "examples" / "isp"
_ENDS = [line.split(",")[:2] for line in (DATA / "links.csv").read_text(encoding="utf-8").splitlines()[1:]]
_PRICES = "".join(["from,to,price\n", *(f"{a},{b},{2.5 + len(a)}\n" for a, b in _ENDS)]).encode()
_COMMANDS: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "weights": (
        ("--time-limit", "0.05", "--jobs", "1"),
        {"--max-changes": ("2",), "--max-weight": ("100",), "--out": ("out",), "--csv": ("x.csv",)},
    ),
    "capacity": (
        ("--module", "100 Gbps", "--jobs", "1"),
        {"--module": ("40 Gbps",), "--most": ("80",), "--prices": ("prices.csv",), "--xlsx": ("x.xlsx",)},
    ),
    "transfers": (
        ("--jobs", "1"),
        {"--sizes": ("100 kB,10 MB",), "--transport": ("linux-bbr",), "--seconds": ("0.01",),
         "--csv": ("x.csv",)},
    ),
}  # fmt: skip
"""What each command always gets, and options with usual values."""
_USUAL = {"--failures": ("links", "nodes", "links,groups"), "--without": ("Altmark-Rothenau",),
          "--during": ("splicing",)}  # fmt: skip


def mutant(draw: random.Random, folder: Path, values: dict[str, list[object]]) -> list[str]:
    """An operator's network with a damaged file or field, or options that are none."""
    content = tomllib.loads((DATA / "net.toml").read_text(encoding="utf-8"))
    files = {name: (DATA / name).read_bytes() for name in ("links.csv", "traffic.csv")}
    files["prices.csv"] = _PRICES
    damaged = draw.choice((*files, "x.toml", "x.toml", "nothing"))
    for name, given in files.items():
        other = files[draw.choice(sorted(files))]
        changed = mutation.of_words_or_bytes(draw, given, other) if name == damaged else given
        (folder / name).write_bytes(changed)
    text = tomli_w.dumps(content).encode()
    if damaged == "x.toml":
        text = mutation.of_toml(draw, content, content, values)
    (folder / "x.toml").write_bytes(text)
    command = draw.choice(sorted(_COMMANDS))
    always, options = _COMMANDS[command]
    arguments = [command, "x.toml", *always]
    for name, usual in {**options, **_USUAL}.items():
        if draw.random() < 0.25:
            is_odd = damaged == "nothing" and draw.random() < 0.5
            arguments += [name, mutation.word(draw, *usual) if is_odd else draw.choice(usual)]
    return arguments + ["--json"] * (draw.random() < 0.3)
