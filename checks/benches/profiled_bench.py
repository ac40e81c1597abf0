"""The engine's bench compiled as wheels are: twice, the second time with a profile of runs of the first.

    python checks/benches/profiled_bench.py

prints the program. It is compiled in target/profiled and target/faster, and takes as long as two builds.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from htsim_ratio import ROOT, PeerError, engine_bench, output

TRAINED = ("10 CUBIC, 100 Mbps", "1000 CUBIC", "fat tree", "38,612")
"""Scenarios of the bench that make the profile; the others are ones that it has not seen."""
_PROFILES = ROOT / "target" / "profiled" / "raw"
_MERGED = ROOT / "target" / "profiled" / "engine.profdata"
_LLVM = re.compile(r"LLVM version: (\d+)")


def profiled_bench() -> Path:
    """The engine's bench, compiled by a profile.

    Raises:
        PeerError: if it cannot be.
    """
    merge = next(_merging_programs(), None)
    if merge is None:
        raise PeerError("llvm-profdata of the compiler's LLVM is missing: rustup component add llvm-tools")
    shutil.rmtree(_PROFILES, ignore_errors=True)
    first = engine_bench(
        RUSTFLAGS=f"-Cprofile-generate={_PROFILES}", CARGO_TARGET_DIR=str(ROOT / "target" / "profiled")
    )
    for name in TRAINED:
        output([str(first), name, "--runs=1"])
    output([merge, "merge", "-o", str(_MERGED), str(_PROFILES)])
    return engine_bench(
        RUSTFLAGS=f"-Cprofile-use={_MERGED}", CARGO_TARGET_DIR=str(ROOT / "target" / "faster")
    )


def _merging_programs() -> Iterator[str]:
    """The programs that read what this compiler writes, best first: an older LLVM does not."""
    root = Path(output(["rustc", "--print", "sysroot"]).strip())
    yield from map(str, root.glob("lib/rustlib/*/bin/llvm-profdata"))
    version = _LLVM.search(output(["rustc", "--version", "--verbose"]))
    if version is not None and (program := shutil.which(f"llvm-profdata-{version[1]}")):
        yield program


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{profiled_bench()}\n")
    except PeerError as failure:
        sys.exit(f"bench: {failure}")
