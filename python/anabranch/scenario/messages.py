"""From pydantic's errors to messages with a place and a remedy."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from anabranch.errors import Problem
from anabranch.scenario.algorithm import NAME_ONLY, PYTHON, Algorithm, owners
from anabranch.scenario.docstrings import field_docstring
from anabranch.scenario.quantity import ZERO_ERROR, quoted, shown
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
    found = list(dict.fromkeys(_problem(detail, model) for detail in details[:_MOST_PROBLEMS]))
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


def _problem(detail: ErrorDetails, model: type[BaseModel]) -> Problem:
    location = list(detail["loc"])
    context = detail.get("ctx", {})
    if detail["type"] == FIELD_ERROR:
        return Problem(place([*location, *context["field"].split(".")]), context["message"])
    return Problem(place(location), _message(detail, location, context, model))


def _message(
    detail: ErrorDetails, location: Location, context: dict[str, Any], model: type[BaseModel]
) -> str:
    """What to say about an error; its kind decides."""
    kind, read = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return _unknown_field(str(location[-1]), location[:-1], model)
    if kind == "missing":
        return "is missing" + _purpose(model, location)
    if kind == "list_type":
        return f"{shown(read)} is not a list; {_list_hint(location)}"
    said = _MESSAGES.get(kind)
    if said is None:
        return f"{shown(read)}: {detail['msg']}"
    text = said.format(read=shown(read), **context) if isinstance(said, str) else said(read, context)
    return text + _elsewhere(read, location)


def _elsewhere(read: object, location: Location) -> str:
    """Where a value belongs that is none of its field: schemes choose routes, balancers spread over them."""
    from anabranch.scenario.algorithms.scheme import Scheme  # noqa: PLC0415 - for a mistake

    (names, _), *_ = (get_args(choice) for choice in get_args(get_args(Scheme)[0]))
    is_scheme = "load_balancing" in location and read in get_args(names)
    return f"; {quoted(str(read))} is a routing.scheme" if is_scheme else ""


def _wrong_number(read: object, _: dict[str, Any]) -> str:
    if isinstance(read, str) and (share := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", read)):
        return f"{shown(read)} is not a number; write a share of 1: {float(share[1]) / 100:.10g}"
    hint = "; write it without quotes" if isinstance(read, str) else ""
    return f"{shown(read)} is not a number{hint}"


def _wrong_length(_: object, context: dict[str, Any]) -> str:
    wanted = context.get("min_length", context.get("max_length"))
    return f"has {context['actual_length']} in place of {wanted} entries"


def _wrong_choice(read: object, context: dict[str, Any]) -> str:
    return unknown_choice(read, re.findall(r"'([^']*)'", context["expected"]))


def _unknown_field(key: str, location: Location, model: type[BaseModel]) -> str:
    """A key that its table does not have; a parameter of another algorithm says whose it is."""
    known = known_keys(model, location)
    table = _table_at(model, location)
    if table is None or not issubclass(table, Algorithm):
        return unknown_key(key, known)
    kind, name = table.__module__.rpartition(".")[2], table.model_fields["algorithm"].default
    found = owners(key, [kind]) or owners(key)
    if not found:
        return unknown_key(key, known)
    listed = " and ".join(
        f"{_listed([owner for other, owner in found if other == of])} ({of})"
        for of in dict.fromkeys(of for of, _ in found)
    )
    own = [field for field in known if field != "algorithm"]
    has = f"which has {', '.join(own)}" if own else "which has no parameters"
    return f"is a parameter of {listed}; the {kind} here is {quoted(name)}, {has}"


def _listed(names: list[str]) -> str:
    """Names as a sentence has them: ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _no_algorithm(read: dict[str, Any], context: dict[str, Any]) -> str:
    """A table of an algorithm that has no name, or an unknown one."""
    tags = re.findall(r"'<([^']*)>'", context.get("expected_tags", ""))
    names = [tag for tag in tags if tag not in (NAME_ONLY, PYTHON)]
    if "algorithm" in read:
        return f"algorithm {unknown_choice(read['algorithm'], names)}"
    own = '; or "python": a class of yours' if PYTHON in tags else ""
    return f'a table here needs the key "algorithm": one of {", ".join(map(quoted, names))}{own}'


def _no_alternative(read: object, context: dict[str, Any]) -> str:
    """A table that is no alternative of its field."""
    if not isinstance(read, dict):
        return f"{shown(read)} is not a table"
    chosen_by = context.get("discriminator", "")
    if "by_algorithm" in chosen_by:
        return _no_algorithm(read, context)
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
    "float_type": _wrong_number,
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


def _purpose(model: type[BaseModel], location: Location) -> str:
    """What the missing field is for: the first sentence of its description."""
    table = _table_at(model, location[:-1])
    for name, field in table.model_fields.items() if table else ():
        if table and (field.alias or name) == location[-1] and (text := field_docstring(table, name)):
            sentence = re.split(r"[.:;](?:\s|$)", " ".join(text.split()))[0].replace("``", '"')
            return f" ({sentence[:1].lower()}{sentence[1:]})"
    return ""


def known_keys(model: type[BaseModel], location: Location) -> list[str]:
    """Keys of the table at a location, as the scenario writes them."""
    table = _table_at(model, location)
    return [field.alias or name for name, field in table.model_fields.items()] if table else []


def _table_at(model: type[BaseModel], location: Location) -> type[BaseModel] | None:
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
        if isinstance(choice, type) and issubclass(choice, BaseModel):
            for name, field in choice.model_fields.items():
                if (field.alias or name) == key:
                    # pydantic keeps the metadata of an Annotated apart from its type.
                    return (
                        Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
                    )
    return None


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
