"""The user's choice of attributes for quantities: the table `network.file.attributes`."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from anabranch.text.suggest import listed, nearest_remedy
from anabranch.topology.error import TopologyError

from .units import QUANTITIES, UNITS, Quantity, Unit, unit_named, unit_names

TABLE: Final = "network.file.attributes"
OF_LINKS: Final = (*QUANTITIES, "label")
OF_NODES: Final = ("name", "latitude", "longitude")
_KEYS: Final = ("name", "unit", "backward")


@dataclass(frozen=True, slots=True)
class AttributeChoice:
    """The attribute `name` of a file, with its unit where its quantity has one.

    `backward` is the attribute of the other direction of a link, or None where both are the same.
    """

    name: str
    unit: Unit | None = None
    backward: str | None = None


def choices_from(table: Mapping[str, object]) -> dict[str, AttributeChoice]:
    """The choices of the table `network.file.attributes`, by what they are about.

    Raises TopologyError, with the key as its place, for a key that is none, an entry without a name, and a
    unit that is missing or not one of the quantity.
    """
    choices: dict[str, AttributeChoice] = {}
    for key, entry in table.items():
        if key not in (*OF_LINKS, *OF_NODES):
            raise TopologyError(TABLE, f'no such key "{key}"', nearest_remedy(key, (*OF_LINKS, *OF_NODES)))
        choices[key] = _choice(key, entry)
    return choices


def line_for(quantity: str, name: str, unit: str | None, backward: str | None = None) -> str:
    """The line of a scenario that has an attribute read."""
    parts = [f"name = {quoted(name)}"]
    parts += [] if backward is None else [f"backward = {quoted(backward)}"]
    parts += [] if unit is None else [f'unit = "{unit}"']
    return f"[{TABLE}] {quantity} = {{ {', '.join(parts)} }}"


def quoted(name: str) -> str:
    """A name as a string of TOML, whose escapes are those of JSON, and one more for DEL."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def text_of(attributes: Mapping[str, str], name: str) -> str | None:
    """The value of an attribute, or of an entry of a list: `pos[1]`, counted from 0. None without one."""
    if name in attributes:
        return attributes[name]
    entry = re.fullmatch(r"(.*)\[(\d{1,3})\]", name, re.DOTALL)
    entries = [] if entry is None else entries_of(attributes.get(entry[1], ""))
    return entries[int(entry[2])] if entry is not None and int(entry[2]) < len(entries) else None


def entries_of(text: str) -> list[str]:
    """The entries of a list as a reader hands it on: `[6.08, 50.78]`."""
    is_list = text.startswith("[") and text.endswith("]")
    return [entry.strip() for entry in text[1:-1].split(",")] if is_list else []


def refuse_unused(
    choices: Mapping[str, AttributeChoice], of_links: Collection[str], of_nodes: Collection[str]
) -> None:
    """Raise TopologyError for a chosen attribute that no link, or no node, of the file has."""
    for key, choice in choices.items():
        what, names = ("link", of_links) if key in OF_LINKS else ("node", of_nodes)
        for name in (choice.name, choice.backward):
            if name is not None and name not in names and name.rpartition("[")[0] not in names:
                remedy = nearest_remedy(name, names, "see what it has: anabranch topology show")
                raise TopologyError(
                    f"{TABLE}.{key}", f'no {what} of the file has an attribute "{name}"', remedy
                )


def _choice(key: str, entry: object) -> AttributeChoice:
    place = f"{TABLE}.{key}"
    if not isinstance(entry, Mapping):
        raise TopologyError(place, f"{str(entry)[:40]!r} is no table", f"write {line_for(key, 'bw', None)}")
    unknown = next((str(name) for name in entry if name not in _KEYS), None)
    if unknown is not None:
        raise TopologyError(place, f'no such key "{unknown}"', nearest_remedy(unknown, _KEYS))
    texts = {name: value for name, value in entry.items() if value is not None}
    wrong = next((name for name, value in texts.items() if not isinstance(value, str)), None)
    if wrong is not None:
        raise TopologyError(f"{place}.{wrong}", "is no text", 'write it in quotes: "..."')
    if not texts.get("name"):
        raise TopologyError(f"{place}.name", "is missing", "write what the file calls the attribute")
    if "backward" in texts and key not in QUANTITIES:
        raise TopologyError(f"{place}.backward", f"a {key} has no direction", "leave it out")
    return AttributeChoice(texts["name"], _unit(key, texts.get("unit"), place), texts.get("backward"))


def _unit(key: str, text: str | None, place: str) -> Unit | None:
    quantity: Quantity | None = next((quantity for quantity in QUANTITIES if quantity == key), None)
    if quantity is None or not UNITS[quantity]:
        if text is not None:
            raise TopologyError(f"{place}.unit", f"a {key} has no unit here", "leave it out")
        return None
    units = listed(f'"{name}"' for name in unit_names(quantity))
    if text is None:
        raise TopologyError(f"{place}.unit", "is missing", f"write {units}")
    unit = unit_named(text, quantity)
    if unit is None:
        raise TopologyError(f"{place}.unit", f'"{text}" is no unit of a {key}', f"write {units}")
    return unit
