"""JSON documents whose numbers keep their digits, with an error of one line for everything else."""

import json
from collections.abc import Mapping
from typing import Any

from anabranch.topology.error import TopologyError


def parse_json(text: str, where: str) -> Any:
    """The document, its numbers as the texts that they are.

    Raises TopologyError, with the line, for anything but sound JSON, and for one that is nested too deeply.
    """
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise TopologyError(
            f"{where}, line {error.lineno}",
            f"not JSON from here on ({error.msg})",
            "the file is cut off or damaged: fetch it again, or mend it here",
        ) from error
    except RecursionError:
        raise TopologyError(
            where, "lists are nested too deeply", "a network needs no more than ten levels"
        ) from None


def text_of(value: Any) -> str:
    """A value as the text of an attribute: a list is `[6.08, 50.78]`, an object is JSON."""
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def texts_of(entry: Mapping[str, Any], without: tuple[str, ...], path: str = "") -> dict[str, str]:
    """The attributes of a node or a link without some keys; null is none, an inner object's are `a.b`."""
    texts: dict[str, str] = {}
    for key, value in entry.items():
        if key in without or value is None:
            continue
        if isinstance(value, dict):
            texts |= texts_of(value, (), f"{path}{key}.")
        else:
            texts[f"{path}{key}"] = text_of(value)
    return texts
