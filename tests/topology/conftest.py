"""Where the topology tests find the Topology Zoo archive."""

import os
import tarfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def zoo_archive_path() -> Path:
    """The archive of the 276 GraphML files: ANABRANCH_ZOO_ARCHIVE, or in ../shared/data."""
    stated = os.environ.get("ANABRANCH_ZOO_ARCHIVE")
    return Path(stated) if stated else REPOSITORY.parent / "shared/data/topology-zoo/graphml.tar.gz"


@pytest.fixture(scope="session")
def zoo_files() -> dict[str, bytes]:
    """Every GraphML file of the Topology Zoo by the graph's name; skips where the archive is not there."""
    path = zoo_archive_path()
    if not path.is_file():
        pytest.skip(
            f"not here: the archive of the Topology Zoo at {path}; set ANABRANCH_ZOO_ARCHIVE to its path"
        )
    files = {}
    with tarfile.open(path) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if member.name.endswith(".graphml") and stream is not None:
                files[Path(member.name).stem] = stream.read()
    return files
