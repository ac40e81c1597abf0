"""Builds the studio without an installation: ``python docs/site/studio.py WASM FOLDER``.

``WASM`` is the folder of ``make wasm`` and ``make networks``. Any web server can serve ``FOLDER``; nothing is
asked of it but these files.
"""

import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from anabranch.setup.imported import import_files
from anabranch.studio.static import static_files

ROOT = Path(__file__).parents[2]
MODULE = ("anabranch_wasm.js", "anabranch_wasm_bg.wasm")
EXAMPLES = (
    "first.toml", "abilene.toml", "classroom/slow_start.toml", "classroom/unequal_rtts.toml",
    "classroom/bufferbloat.toml", "classroom/spraying.toml", "classroom/mptcp_failover.toml", "dumbbell.toml",
    "ecn.toml", "failure.toml", "leaf_spine.toml", "rrul.toml", "sdn_incast.toml", "semper.toml",
    "slow_reader.toml",
)  # fmt: skip
"""Examples that a page can run: the rest names files, plans by a solver, or code in Python."""


def catalogue(networks: Path) -> list[dict[str, Any]]:
    """The networks of a folder; each that has a name alone with the scenario that an import of it gives."""
    entries: list[dict[str, Any]] = json.loads((networks / "index.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as nowhere:
        for entry in entries:
            if not entry["parameters"]:
                made = import_files([], Path(nowhere), named=entry["topology"])
                entry |= {"scenario": made.text, "assumed": list(made.assumed)}
    return entries


def build(wasm: Path, folder: Path) -> int:
    """Writes all files; the bytes of those that are loaded before the first picture, by gzip."""
    shutil.rmtree(folder, ignore_errors=True)
    first = 0
    for name, (_, content) in static_files(EXAMPLES).items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        first += len(gzip.compress(content))
    for name in MODULE:
        shutil.copyfile(wasm / name, folder / name)
        first += len(gzip.compress((wasm / name).read_bytes()))
    for name in EXAMPLES:
        place = folder / "examples" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "examples" / name, place)
    if (wasm / "networks").exists():
        shutil.copytree(wasm / "networks", folder / "networks")
        entries = json.dumps(catalogue(folder / "networks"), ensure_ascii=False, separators=(",", ":"))
        (folder / "networks" / "index.json").write_text(entries, encoding="utf-8")
    return first


if __name__ == "__main__":
    to = Path(sys.argv[2])
    sys.stdout.write(f"{to}: {build(Path(sys.argv[1]), to) / 1e6:.1f} MB by gzip before the first picture\n")
