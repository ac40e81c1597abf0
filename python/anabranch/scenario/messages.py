"""From pydantic's errors to messages with a place and a remedy."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from anabranch.errors import Problem
from anabranch.scenario.algorithm import declarations
from anabranch.scenario.docstrings import field_docstring
from anabranch.scenario.quantity import ZERO_ERROR, number_hint, quoted, shown
from anabranch.scenario.record import Record, field_names
from anabranch.scenario.table import FIELD_ERROR, is_alternative
from anabranch.scenario.variate import DISTRIBUTIONS
from anabranch.suggest import suggest

Location = Sequence[str | int]

_APPLICATIONS = ("constant-rate", "poisson", "messages", "ping", "udp")
_LISTED_KEYS = 40
# Nobody repairs more at a time, and each takes a look for the nearest name.
_MOST_PROBLEMS = 100


def problems(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Every error of a validation, once, with its place as a path of keys."""
    details = error.errors(include_url=False)
    told = (located(detail, model) for detail in details[:_MOST_PROBLEMS])
    found = list(dict.fromkeys(Problem(place(location), message) for location, message in told))
    if len(details) > _MOST_PROBLEMS:
        found.append(Problem("", f"and {len(details) - _MOST_PROBLEMS:,} more problems"))
    return found


def place(location: Location) -> str:
    """``("traffic", 0, "from")`` as ``traffic[0].from``; tags of alternatives are left out."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not is_alternative(part):
            text += ("." if text else "") + key_in_place(part)
    return text


def key_in_place(key: str) -> str:
    """A key as a place shows it: in quotes where TOML needs them, and always on one line."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quoted(key)


def located(detail: ErrorDetails, model: Any) -> tuple[Location, str]:
    """Where an error is, and what to say about it.

    Args:
        detail: the error.
        model: the type that was to be read.
    """
    location = list(detail["loc"])
    context = detail.get("ctx", {})
    if detail["type"] == FIELD_ERROR:
        return [*location, *context["field"].split(".")], context["message"]
    return location, _message(detail, location, context, model)


def _message(detail: ErrorDetails, location: Location, context: dict[str, Any], model: Any) -> str:
    """What to say about an error; its kind decides."""
    kind, read = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return unknown_key(str(location[-1]), known_keys(model, location[:-1]))
    if kind == "missing":
        return "is missing" + _purpose_of(model, location)
    if kind == "list_type":
        return f"{shown(read)} is not a list; {_list_hint(location)}"
    said = _MESSAGES.get(kind)
    if said is None:
        return f"{shown(read)}: {detail['msg']}"
    return said.format(read=shown(read), **context) if isinstance(said, str) else said(read, context)


def wrong_number(read: object, _: Any = None) -> str:
    """What to say about a value that is no number."""
    return f"{shown(read)} is not a number{number_hint(read)}"


def _wrong_length(_: object, context: dict[str, Any]) -> str:
    wanted = context.get("min_length", context.get("max_length"))
    return f"has {context['actual_length']} in place of {wanted} entries"


def _wrong_choice(read: object, context: dict[str, Any]) -> str:
    return choice_or_elsewhere(read, re.findall(r"'([^']*)'", context["expected"]))


_FIELDS_OF_KINDS = {
    "scheme": "routing.scheme",
    "load_balancing": "routing.load_balancing",
    "congestion_control": "congestion_control of [transport.NAME]",
    "scheduler": "scheduler of [transport.NAME]",
    "path_manager": "path_manager of [transport.NAME]",
    "queue": "queue of links",
    "loss": "loss of links",
    "application": "controller.application",
}
"""Where a scenario names an algorithm, by its kind."""


def choice_or_elsewhere(read: object, choices: Sequence[str]) -> str:
    """What to say about a name that is none of the choices, but perhaps of another kind of algorithm."""
    name = read if isinstance(read, str) else ""
    kinds = [kind for kind in _FIELDS_OF_KINDS if name in declarations().get(kind, {})]
    if not kinds:
        return unknown_choice(read, choices)
    article = "an" if kinds[0][0] in "aeiou" else "a"
    noun, field = kinds[0].replace("_", " "), _FIELDS_OF_KINDS[kinds[0]]
    return f"{shown(read)} is {article} {noun}, for {field}; here there are {', '.join(map(quoted, choices))}"


def listed(names: list[str]) -> str:
    """Names as a sentence has them: ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _no_alternative(read: object, context: dict[str, Any]) -> str:
    """A table that is no alternative of its field."""
    if not isinstance(read, dict):
        return f"{shown(read)} is not a table"
    chosen_by = context.get("discriminator", "")
    key, choices = ("kind", _APPLICATIONS) if "application" in chosen_by else ("distribution", DISTRIBUTIONS)
    if key in read:
        return f"{key} {unknown_choice(read[key], list(choices))}"
    return f"a table here needs the key {quoted(key)}: one of {', '.join(map(quoted, choices))}"


_NOT_A_TABLE = "{read} is not a table"
_MESSAGES: dict[str, str | Callable[[object, dict[str, Any]], str]] = {
    ZERO_ERROR: "{read} must be above zero, for example {example}",
    "value_error": "{error}",
    "literal_error": _wrong_choice,
    "union_tag_invalid": _no_alternative,
    "union_tag_not_found": _no_alternative,
    "finite_number": "{read} is not a number that can be used; write a finite one",
    "bool_type": "{read} is neither true nor false",
    "int_type": "{read} is not a whole number",
    "int_from_float": "{read} is not a whole number",
    "float_type": wrong_number,
    "string_type": "{read} is not text; write it in double quotes",
    "string_too_short": "is empty",
    "dict_type": _NOT_A_TABLE,
    "model_type": _NOT_A_TABLE,
    "model_attributes_type": _NOT_A_TABLE,
    "too_short": _wrong_length,
    "too_long": _wrong_length,
    "greater_than": "{read} must be above {gt}",
    "greater_than_equal": "{read} must be at least {ge}",
    "less_than": "{read} must be below {lt}",
    "less_than_equal": "{read} must be at most {le}",
}
"""What to say about each kind of pydantic's errors."""


def unknown_key(key: str, known: Iterable[str]) -> str:
    """What to say about a key that a table does not have."""
    names = list(known)
    hint = suggest(key, names)
    if hint:
        return f"no such key; nearest: {quoted(hint)}"
    return f"no such key; there are {', '.join(names[:_LISTED_KEYS])}" if names else "no such key"


def unknown_choice(read: object, choices: Sequence[str]) -> str:
    """What to say about a value that is none of the choices."""
    hint = suggest(read, choices) if isinstance(read, str) else None
    listed = ", ".join(quoted(choice) for choice in choices)
    if len(choices) == 1:
        return f"{shown(read)} is not known; it must be {listed}"
    near = f"nearest: {quoted(hint)}; " if hint else ""
    return f"{shown(read)} is not known; {near}there are {listed}"


def _list_hint(location: Location) -> str:
    keys = [part for part in location if isinstance(part, str) and not is_alternative(part)]
    if keys and keys[-1] in ("traffic", "event", "capture"):
        return f"write [[{keys[-1]}]], in double brackets"
    if keys[-2:] in (["network", "link"], ["network", "node"], ["controller", "link"]):
        return f"write [[{'.'.join(keys[-2:])}]], in double brackets"
    return "write it in square brackets"


def _purpose_of(model: Any, location: Location) -> str:
    """What the missing field is for."""
    table = _table_at(model, location[:-1])
    for name, field in table.model_fields.items() if table else ():
        if table and (field.alias or name) == location[-1] and (text := field_docstring(table, name)):
            return purpose(text.replace("``", "`"))
    return ""


def purpose(text: str) -> str:
    """What a field is for, in brackets: the first sentence of its description."""
    sentence = re.split(r"[.:;](?:\s|$)", " ".join(text.split()))[0].replace("`", '"')
    return f" ({sentence[:1].lower()}{sentence[1:]})"


def known_keys(model: Any, location: Location) -> list[str]:
    """Keys of the table at a location, as the scenario writes them."""
    table = _table_at(model, location)
    return [field.alias or name for name, field in table.model_fields.items()] if table else []


def _table_at(model: Any, location: Location) -> type[BaseModel] | None:
    """The table that an error's location leads to, None where that is not a table."""
    annotation: Any = model
    for part in location:
        if isinstance(part, int):
            annotation = next(
                (get_args(a)[0] for a in alternatives(annotation) if get_origin(a) is list), None
            )
        elif is_alternative(part):
            annotation = next(iter(_tagged(annotation, part)), None)
        else:
            annotation = field_of(annotation, part)
        if annotation is None:
            return None
    tables = (a for a in alternatives(annotation) if isinstance(a, type) and issubclass(a, BaseModel))
    return next(tables, None)


def field_of(annotation: Any, key: str) -> Any:
    """The type of a key of a table, in whichever alternative has it first; None where none has."""
    for choice in alternatives(annotation):
        if get_origin(choice) is dict:
            return get_args(choice)[1]
        if key in (fields := fields_of(choice)):
            return fields[key]
    return None


def fields_of(kind: Any) -> dict[str, Any]:
    """The types of a table's fields by their keys; none for what is no table."""
    if not isinstance(kind, type):
        return {}
    if issubclass(kind, Record):
        hints = get_type_hints(kind, include_extras=True)
        return {name: hints[name] for name in field_names(kind)}
    if not issubclass(kind, BaseModel):
        return {}
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    # pydantic keeps the metadata of an Annotated apart from its type.
    return {
        key: Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        for key, field in fields.items()
    }


def alternatives(annotation: Any) -> Iterator[Any]:
    """The plain types in a type: unions and annotations are opened."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from alternatives(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for choice in get_args(annotation):
            yield from alternatives(choice)
    else:
        yield annotation


def _tagged(annotation: Any, tag: str) -> Iterator[Any]:
    """The alternatives that carry a tag."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        if Tag(tag) in metadata:
            yield inner
        else:
            yield from _tagged(inner, tag)
    elif origin in (Union, types.UnionType):
        for choice in get_args(annotation):
            yield from _tagged(choice, tag)
