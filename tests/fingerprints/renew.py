"""``make fingerprints`` writes the fingerprints anew. CHANGELOG.md then says what moved, and why."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from cases import every_scenario
from hashing import FILE, columns_of, hashes_of, simulated


def main() -> None:
    """Runs every scenario and writes the file; says what is new in it."""
    old = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"scenarios": {}}
    columns: dict[str, list[str]] = {}
    runs = {}
    for name, data in every_scenario().items():
        with tempfile.TemporaryDirectory() as folder:
            runs[name] = simulated(data, Path(folder))
        for table, found in columns_of(runs[name]).items():
            columns[table] = list(dict.fromkeys([*columns.get(table, []), *found]))
    hashes = {name: hashes_of(tables, columns) for name, tables in runs.items()}
    moved = [name for name, found in hashes.items() if old["scenarios"].get(name) != found]
    FILE.write_text(json.dumps({"columns": columns, "scenarios": hashes}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(hashes)} scenarios; new or moved: {', '.join(moved) or 'none'}")  # noqa: T201


if __name__ == "__main__":
    main()
