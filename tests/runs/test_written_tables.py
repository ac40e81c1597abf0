"""Tables of a result are written piece by piece."""

import errno
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from anabranch.results import result
from anabranch.results.result import write_parquet


def test_a_large_table_is_never_in_memory_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table = pl.DataFrame({name: rng.random(1_000_000) for name in "abc"})
    pieces: list[int] = []
    write = result._Written.write
    monkeypatch.setattr(
        result._Written, "write", lambda self, piece: pieces.append(len(piece)) or write(self, piece)
    )
    write_parquet(table, tmp_path / "large.parquet")
    assert sum(pieces) == (tmp_path / "large.parquet").stat().st_size > 20_000_000
    assert max(pieces) < 4_000_000
    assert pl.read_parquet(tmp_path / "large.parquet").equals(table)
    table.write_parquet(tmp_path / "by_polars.parquet")
    assert (tmp_path / "by_polars.parquet").read_bytes() == (tmp_path / "large.parquet").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="not here: Linux, whose device it is")
@pytest.mark.parametrize("rows", [1, 1_000_000])
def test_a_full_disk_is_the_error_of_the_system(rows: int) -> None:
    with pytest.raises(OSError, match="No space left") as full:
        write_parquet(pl.DataFrame({"a": np.random.default_rng(1).random(rows)}), Path("/dev/full"))
    assert full.value.errno == errno.ENOSPC
