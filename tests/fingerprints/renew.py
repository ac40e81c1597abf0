"""``make fingerprints`` writes the fingerprints anew. CHANGELOG.md then says what moved, and why."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from cases import every_scenario
from hashing import FILE, columns_of, hashes_of, simulated
from setups import FILE as SETUPS
from setups import every_setup, hash_setup


def main() -> None:
    """Writes both files; says what is new in them."""
    _renew_setups()
    _renew_runs()


def _renew_setups() -> None:
    old = json.loads(SETUPS.read_text(encoding="utf-8")) if SETUPS.exists() else {}
    hashes = {name: hash_setup(scenario) for name, scenario in every_setup().items()}
    moved = [name for name, entry in hashes.items() if old.get(name) != entry]
    SETUPS.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
    print(f"{len(hashes)} setups; new or moved: {', '.join(moved) or 'none'}")  # noqa: T201


def _renew_runs() -> None:
    old = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"scenarios": {}}
    columns: dict[str, list[str]] = {}
    runs = {}
    for name, data in every_scenario().items():
        with tempfile.TemporaryDirectory() as folder:
            runs[name] = simulated(data, Path(folder))
        for table, entry in columns_of(runs[name]).items():
            columns[table] = list(dict.fromkeys([*columns.get(table, []), *entry]))
    hashes = {name: hashes_of(tables, columns) for name, tables in runs.items()}
    moved = [name for name, entry in hashes.items() if old["scenarios"].get(name) != entry]
    FILE.write_text(json.dumps({"columns": columns, "scenarios": hashes}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(hashes)} scenarios; new or moved: {', '.join(moved) or 'none'}")  # noqa: T201


if __name__ == "__main__":
    main()
