"""All topologies: `load` reads one by its specification, `names` lists them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args

from anabranch.text.suggest import nearest_remedy, suggest

from .attributes.choices import TABLE, choices_from
from .error import TopologyError
from .generators import GENERATORS
from .model import Topology

SourceName = Literal["zoo", "topohub", "sndlib", "generator"]
SOURCES: Final[tuple[SourceName, ...]] = get_args(SourceName)
_ARCHIVES: Final = tuple(source for source in SOURCES if source != "generator")
_KEPT: Final = 8
"""Networks of archives that are kept."""
_FILE_ENDINGS: Final = (
    *(".graphml", ".gml", ".gexf", ".xml", ".json", ".dot", ".gv", ".csv", ".tsv", ".yml", ".yaml", ".txt"),
    *(".n2p", ".graph", ".intra", ".cch", ".brite", ".topo", ".inet", ".orbis", ".mn", ".rspec"),
)
"""How names of files of networks end, for a message."""


@dataclass(frozen=True, slots=True)
class TopologyName:
    """An entry of `anabranch topology list`: what to write, and what it is."""

    spec: str
    source: SourceName
    note: str


def load(
    spec: str,
    base: Path | None = None,
    *,
    attributes: Mapping[str, object] = MappingProxyType({}),
    **parameters: object,
) -> Topology:
    """The topology that `spec` names.

    `zoo/Abilene`, `topohub/Abilene` and `sndlib/nobel-us` (case does not count), `file:net.graphml` (relative
    to `base`), or a generator's name with its keyword `parameters` in base units. `attributes` says which
    attributes of a file are which quantities, as a scenario's `network.file.attributes` does:
    `{"capacity": {"name": "bw", "unit": "Mbps"}}`. Raises TopologyError, one line, for anything that is not
    there or wrong; parameters for anything but a generator and attributes for anything but a file are wrong,
    too.
    """
    kind, separator, rest = spec.partition("/")
    is_file = spec.startswith("file:")
    if attributes and not is_file:
        raise TopologyError(TABLE, f"says how a file is read, and {spec} is none", "leave it out")
    if not is_file and not separator and spec in GENERATORS:
        return GENERATORS[spec].build(parameters)
    if not is_file and kind not in _ARCHIVES:
        raise _unknown(spec)
    if parameters:
        raise TopologyError(spec, f'has no parameter "{min(parameters)}"', "only generators take parameters")
    if is_file:
        from .sources.files import load_file  # noqa: PLC0415 - it imports the readers of all formats

        return load_file(spec.removeprefix("file:"), base, choices_from(attributes))
    return _carried(kind, rest)


@lru_cache(maxsize=_KEPT)
def _carried(kind: str, name: str) -> Topology:
    """A network of an archive, which is the package's own: whoever runs it often reads it once."""
    return _archive(kind)(name)


def _archive(kind: str) -> Callable[[str], Topology]:
    """The reader of an archive. A run imports the one that it reads, not the formats of all of them."""
    if kind == "zoo":
        from .sources.zoo import load_zoo  # noqa: PLC0415 - see above

        return load_zoo
    if kind == "topohub":
        from .sources.hub_zoo import load_hub_zoo  # noqa: PLC0415 - see above

        return load_hub_zoo
    from .sources.sndlib import load_sndlib  # noqa: PLC0415 - see above

    return load_sndlib


def names(source: str | None = None) -> list[TopologyName]:
    """Every topology with a name, of one source or of all. Raises TopologyError for an unknown source."""
    if source is not None and source not in SOURCES:
        raise TopologyError("", f'no source "{source}" of topologies', nearest_remedy(source, SOURCES))
    from .sources import hub, hub_zoo  # noqa: PLC0415 - for names alone
    from .sources.zoo import zoo_graphs  # noqa: PLC0415 - for names alone

    every_name: list[TopologyName] = []
    if source in (None, "zoo"):
        graphs = sorted(zoo_graphs().values(), key=lambda graph: graph.name.casefold())
        notes = {graph.name: f"{graph.nodes} nodes, {graph.links} links" for graph in graphs}
        every_name += [TopologyName(f"zoo/{name}", "zoo", note) for name, note in notes.items()]
    if source in (None, "topohub"):
        carried = hub.graph_names(hub_zoo.GROUP)
        every_name += [TopologyName(f"topohub/{name}", "topohub", "simplified") for name in carried]
    if source in (None, "sndlib"):
        every_name += [TopologyName(f"sndlib/{name}", "sndlib", "") for name in hub.graph_names("sndlib")]
    if source in (None, "generator"):
        every_name += [TopologyName(g.name, "generator", g.summary) for g in GENERATORS.values()]
    return every_name


def _unknown(spec: str) -> TopologyError:
    if spec.lower().endswith(_FILE_ENDINGS):
        return TopologyError("", f'no topology "{spec}"', f"for a file write: file:{spec}")
    near = suggest(spec, [name.spec for name in names()])
    bare = suggest(spec, [name.spec.partition("/")[2] for name in names() if "/" in name.spec])
    full = next((name.spec for name in names() if name.spec.endswith(f"/{bare}")), None) if bare else None
    if near is None and full is None:
        return TopologyError(
            "",
            f'no topology "{spec}"',
            f"write zoo/NAME, topohub/NAME, sndlib/NAME, file:PATH or one of {', '.join(GENERATORS)}",
        )
    return TopologyError("", f'no topology "{spec}"', f'nearest: "{near or full}"')
