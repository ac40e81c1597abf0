"""Mutants of measurements that a path is fitted to, and of fits that predictions are made over."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import mutation
import received

_PINGS = "".join(f"64 bytes from 10.0.0.2: icmp_seq={n} ttl=64 time={20 + n % 7}.{n} ms\n" for n in range(40))
_SECOND = "rate=6 Mbps, delay=10 ms, buffer=1 BDP, loss=0.1 %"
_SHORT_S = 3.0
_FEWEST = "10"


def write_seeds(folder: Path) -> None:
    """A short transfer, captured at both ends, the fit to it, and one to a transfer of Multipath TCP."""
    from anabranch import Scenario, fit  # noqa: PLC0415 - the worker limits its memory after it is imported
    from anabranch.fitting.path import BY_SUBFLOW, PathModel, Sprayed, scenario_data  # noqa: PLC0415 - the same

    one = PathModel(5.0, 20.0, 15_000, loss=2e-3, udp_mbps=1.0)
    both = (Sprayed(4.0, 20.0, 15_000), Sprayed(2.0, 40.0, 15_000))
    several = PathModel(4.0, 20.0, 15_000, paths=both, balancing=BY_SUBFLOW)
    for name, model, transport in (("one", one, "linux-cubic"), ("several", several, "linux-mptcp")):
        traffic = [{"name": "f", "from": "src", "to": "dst", "transport": transport}]
        data = scenario_data(model, traffic, _SHORT_S, seed=3, capture="src.pcapng")
        data["capture"].append({"file": "dst.pcapng", "host": "dst", "snap_length": "128 B"})
        Scenario.model_validate(data).run(out=folder / name, page=False)
        fit(folder / name / "src.pcapng", budget=int(_FEWEST), out=folder / f"{name}-fit", page=False)


def fit_mutant(draw: random.Random, folder: Path, seeds: Path) -> list[str]:
    """A damaged capture or ping, sometimes beside captures that are whole."""
    kind = draw.choice(("one", "one", "several"))
    content, other = (seeds / kind / "src.pcapng").read_bytes(), (seeds / kind / "dst.pcapng").read_bytes()
    is_damaged = draw.random() < 0.8
    (folder / "x.pcapng").write_bytes(mutation.of_bytes(draw, content, other) if is_damaged else content)
    arguments = [
        "fit",
        "x.pcapng",
        "--budget",
        _FEWEST,
        "--out",
        "out",
        *["--no-page"] * (draw.random() < 0.9),
    ]
    if draw.random() < 0.25:
        (folder / "y.pcapng").write_bytes(mutation.of_bytes(draw, other, content))
        arguments += draw.choice((["--receiver", "y.pcapng"], ["y.pcapng"]))
    if draw.random() < 0.25:
        (folder / "ping.txt").write_bytes(mutation.of_words_or_bytes(draw, _PINGS.encode(), content))
        arguments += ["--ping", "ping.txt"]
    options = (["--transport", "linux-bbr"], ["--transport", "linux-mptcp"], ["--port", "5001"], ["--json"])
    for option in options:
        arguments += option if draw.random() < 0.1 else []
    return arguments


def predict_mutant(draw: random.Random, folder: Path, seeds: Path) -> list[str]:
    """A damaged fit, as the fitted path or as the second one, or options that are none."""
    kind = draw.choice(("one", "one", "several"))
    shutil.copytree(seeds / f"{kind}-fit", folder / "fit")
    shutil.copytree(seeds / "one-fit", folder / "second")
    if draw.random() < 0.7:
        file = folder / draw.choice(("fit", "fit", "second")) / "fit.json"
        content = file.read_bytes()
        is_json = draw.random() < 0.7
        file.write_bytes(
            received.of_json(draw, content) if is_json else mutation.of_words_or_bytes(draw, content, content)
        )
    arguments = ["predict", "fit", "--transport", draw.choice(("linux-cubic", "linux-mptcp", "linux-bbr"))]
    values: dict[str, tuple[str, ...]] = {
        "--buffer": ("100 kB", "2 BDP"), "--second-path": (_SECOND, "second"), "--size": ("20 kB",),
        "--flows": ("2",), "--transport": ("linux-reno",),
    }  # fmt: skip
    for name, usual in values.items():
        if draw.random() < 0.3:
            arguments += [name, mutation.word(draw, *usual) if draw.random() < 0.5 else draw.choice(usual)]
    return arguments + ["--json"] * (draw.random() < 0.3)
