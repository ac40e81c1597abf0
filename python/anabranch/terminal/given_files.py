"""Files and folders of another kind than a command reads: what each is, and which command reads it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import AnabranchError, CommandError

SCENARIO, STUDY, RESULT, RESULTS, FOLDER = "scenario", "study", "result", "results", "folder"
CAPTURE, MEASUREMENT, NETWORK, TRAFFIC, CODE = "capture", "measurement", "network", "traffic", "code"
_CAPTURE_HEADS = (
    *(b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d"),
    b"\x0a\x0d\x0d\x0a",
)
"""The magic numbers of pcap (microseconds, nanoseconds, both byte orders), and of pcapng."""
_CAPTURE_NAMES = (".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz", ".pcap.zst", ".pcapng.zst", ".cap")
_HEAD_BYTES = 1 << 16
_RESULT_FILES = ("summary.json", "study.json")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file or a folder, as a message says it."""

    kind: str
    words: str
    """What it is: ``is a study``."""
    remedy: str
    """What to do with it: ``run it by: anabranch study grid.toml``."""

    @property
    def command(self) -> str:
        """The command line in the remedy."""
        return self.remedy.rpartition(": ")[2]


def given_file(path: Path, wanted: Collection[str] = ()) -> GivenFile | None:
    """The kind of a file or a folder; None for nothing, and for what no command reads.

    Args:
        path: of a file or a folder.
        wanted: the kinds that a command reads; of a folder those files are named that may be meant.
    """
    try:
        if path.is_dir():
            return _folder(path, wanted)
        if path.is_file():
            with path.open("rb") as file:
                return _file(path, file.read(_HEAD_BYTES))
    except (OSError, ValueError):
        pass
    return None


def _file(path: Path, head: bytes) -> GivenFile | None:
    """A file with this beginning."""
    if head.startswith(_CAPTURE_HEADS) or path.name.lower().endswith(_CAPTURE_NAMES):
        return GivenFile(CAPTURE, "is a packet capture", f"read it by: anabranch capture {path}")
    if path.suffix == ".toml":
        return _toml(path)
    if path.suffix == ".py":
        words = "is code in Python, which a scenario names"
        return GivenFile(CODE, words, "how is told by: anabranch help own")
    return _data(path, head)


def _toml(path: Path) -> GivenFile | None:
    """A scenario or a study, by its keys."""
    from anabranch.scenario.reading import parse_toml, read_text  # noqa: PLC0415 - few commands come here

    try:
        keys = parse_toml(read_text(path), None).keys()
    except AnabranchError:
        return None
    if keys & {"factor", "metric", "replications"} and not keys & {"network", "traffic", "run"}:
        return GivenFile(STUDY, "is a study", f"run it by: anabranch study {path}")
    if keys & {"network", "traffic", "run", "routing"}:
        return GivenFile(SCENARIO, "is a scenario", f"run it by: anabranch run {path}")
    return None


def _folder(path: Path, wanted: Collection[str]) -> GivenFile:
    """The folder of a result, or another one, with what in it may be meant."""
    if any((path / name).is_file() for name in _RESULT_FILES):
        return GivenFile(RESULT, "is the folder of a result", f"write its page by: anabranch report {path}")
    inside = sorted(path.iterdir())
    results = [each for each in inside if any((each / name).is_file() for name in _RESULT_FILES)]
    if results and (RESULT in wanted or not any(each.suffix == ".toml" for each in inside)):
        return GivenFile(RESULTS, "is a folder of results", f"give one of them: {_named(results)}")
    files = [each for each in inside if each.suffix == ".toml"]
    remedy = f"give a file in it: {_named(files)}" if files else "it has no scenario and no result"
    return GivenFile(FOLDER, "is a folder", remedy)


def _named(paths: list[Path]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(map(str, paths[:_MOST_NAMED])) + more


def _data(path: Path, head: bytes) -> GivenFile | None:
    """A measurement, a network or traffic, by the beginning of the file."""
    from anabranch.runs.measurements.reading import MeasurementFile, UnreadableError  # noqa: PLC0415 - as above
    from anabranch.runs.measurements.registry import reader_of  # noqa: PLC0415
    from anabranch.topology import TopologyError  # noqa: PLC0415
    from anabranch.topology.sources.files import sniff  # noqa: PLC0415
    from anabranch.topology.traffic.load import recognised  # noqa: PLC0415

    try:
        reader = reader_of(MeasurementFile(path))
    except UnreadableError:
        reader = None
    if reader is not None:
        return GivenFile(
            MEASUREMENT, f"is a measurement ({reader.title})", f"read it by: anabranch capture {path}"
        )
    by_import = f"make a scenario of it by: anabranch import {path}"
    if (form := recognised(head)) is not None:
        return GivenFile(TRAFFIC, f"is traffic ({form.name})", by_import)
    try:
        return GivenFile(NETWORK, f"is a network ({sniff(head, str(path))})", by_import)
    except TopologyError:
        return None


def refusal(path: Path, wanted: Collection[str]) -> str | None:
    """A message on a file or folder of another kind than a command wants; None for all others."""
    given = given_file(path, wanted)
    if given is None or given.kind in wanted:
        return None
    return f"{path}: {given.words}; {given.remedy}"


@contextmanager
def other_kinds_told(path: Path, *wanted: str) -> Iterator[None]:
    """A block in which a file of another kind than the wanted ones is told as such.

    Raises:
        CommandError: with the kind of the file, and the command that reads it.
    """
    try:
        yield
    except AnabranchError:
        message = refusal(path, wanted) or _no_file(path)
        if message is None:
            raise
        raise CommandError(message) from None


def _no_file(path: Path) -> str | None:
    """What to say of a name that is no file here, but something else; None where it is nothing, either."""
    name = path.as_posix()
    if path.exists():
        return None
    if ":/" in name:
        return f"{name}: is an address, and nothing is fetched; download the file, and give its name"
    if (example := _example(name)) is not None:
        return (
            f"{name}: is not here; it is an example, which is written here by: anabranch examples {example}"
        )
    from anabranch import topology  # noqa: PLC0415 - few commands come here

    if "/" in name and any(each.spec == name for each in topology.names()):
        return (
            f"{name}: is the name of a network, not a file; a scenario names it as network.topology; "
            f"see it by: anabranch topology show {name}"
        )
    return None


def _example(name: str) -> str | None:
    """The example of a name that no file has here; None for none."""
    from anabranch.terminal.manual import examples  # noqa: PLC0415 - few commands come here

    plain = name.removeprefix("./").removeprefix("examples/")
    try:
        names = examples()
    except CommandError:
        # An installation without them.
        return None
    example = next((each for each in (plain, f"{plain}.toml") if each in names), None)
    return f"{example} --out examples" if example and name.startswith("examples/") else example
