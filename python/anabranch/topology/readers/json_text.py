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
    """A value as the text of an attribute: lists and objects as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def texts_of(entry: Mapping[str, Any], without: tuple[str, ...]) -> dict[str, str]:
    """The attributes of a node or a link, without those that say what it joins; null is none."""
    return {key: text_of(value) for key, value in entry.items() if key not in without and value is not None}
