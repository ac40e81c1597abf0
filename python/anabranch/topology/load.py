"""All topologies: `load` reads one by its specification, `names` lists them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from anabranch.suggest import nearest_remedy, suggest

from .error import TopologyError
from .generators import GENERATORS
from .model import Topology
from .sources import hub
from .sources.files import load_file
from .sources.sndlib import load_sndlib
from .sources.zoo import load_zoo, zoo_graphs

SourceName = Literal["zoo", "sndlib", "generator"]
SOURCES: Final[tuple[SourceName, ...]] = ("zoo", "sndlib", "generator")


@dataclass(frozen=True, slots=True)
class TopologyName:
    """An entry of `anabranch topology list`: what to write; where it cannot be loaded, `note` says why."""

    spec: str
    source: SourceName
    available: bool
    note: str


def load(spec: str, base: Path | None = None, **parameters: object) -> Topology:
    """The topology that `spec` names.

    `zoo/Abilene` and `sndlib/nobel-us` (case does not count), `file:net.graphml` (relative to `base`), or a
    generator's name with its keyword `parameters` in base units. Raises TopologyError, one line, for anything
    that is not there or wrong; parameters for anything but a generator are wrong, too.
    """
    kind, separator, rest = spec.partition("/")
    is_file = spec.startswith("file:")
    if not is_file and not separator and spec in GENERATORS:
        return GENERATORS[spec].build(parameters)
    if not is_file and kind not in ("zoo", "sndlib"):
        raise _unknown(spec)
    if parameters:
        raise TopologyError(spec, f'has no parameter "{min(parameters)}"', "only generators take parameters")
    if is_file:
        return load_file(spec.removeprefix("file:"), base)
    return load_zoo(rest) if kind == "zoo" else load_sndlib(rest)


def names(source: str | None = None) -> list[TopologyName]:
    """Every topology with a name, of one source or of all; with those that the Zoo has but topohub lacks."""
    if source is not None and source not in SOURCES:
        raise TopologyError("", f'no source "{source}" of topologies', nearest_remedy(source, SOURCES))
    found: list[TopologyName] = []
    if source in (None, "zoo"):
        carried = set(hub.graph_names("topozoo"))
        for name in sorted(carried | set(zoo_graphs()), key=str.casefold):
            note = "" if name in carried else f"not carried by topohub; take file:{name}.graphml"
            found.append(TopologyName(f"zoo/{name}", "zoo", name in carried, note))
    if source in (None, "sndlib"):
        found += [TopologyName(f"sndlib/{name}", "sndlib", True, "") for name in hub.graph_names("sndlib")]
    if source in (None, "generator"):
        found += [TopologyName(g.name, "generator", True, g.summary) for g in GENERATORS.values()]
    return found


def _unknown(spec: str) -> TopologyError:
    if spec.lower().endswith((".graphml", ".gml", ".xml", ".txt")):
        return TopologyError("", f'no topology "{spec}"', f"for a file write: file:{spec}")
    near = suggest(spec, [name.spec for name in names() if name.available])
    bare = suggest(
        spec, [name.spec.partition("/")[2] for name in names() if name.available and "/" in name.spec]
    )
    full = next((name.spec for name in names() if name.spec.endswith(f"/{bare}")), None) if bare else None
    if near is None and full is None:
        return TopologyError(
            "",
            f'no topology "{spec}"',
            f"write zoo/NAME, sndlib/NAME, file:PATH or one of {', '.join(GENERATORS)}",
        )
    return TopologyError("", f'no topology "{spec}"', f'nearest: "{near or full}"')
