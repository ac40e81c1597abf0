"""From pydantic's errors to messages with a place and a remedy."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from anabranch.errors import Problem
from anabranch.scenario.algorithm import declarations
from anabranch.scenario.docstrings import field_docstring
from anabranch.scenario.quantity import HALF_CHARACTER, ZERO_ERROR, is_unicode, number_hint, quoted, shown
from anabranch.scenario.record import Record, field_names
from anabranch.scenario.table import FIELD_ERROR, Table, is_alternative
from anabranch.scenario.variate import DISTRIBUTIONS
from anabranch.suggest import suggest

Location = Sequence[str | int]

_APPLICATIONS = ("constant-rate", "poisson", "messages", "ping", "udp")
_LISTED_KEYS = 40
# Nobody repairs more at a time, and each takes a look for the nearest name.
_MOST_PROBLEMS = 100


def problems(error: ValidationError, model: type[Table], *, called: bool = False) -> list[Problem]:
    """Every error of a validation, once, with its place as a path of keys.

    Args:
        error: the errors.
        model: the table that was validated.
        called: whether it was called in Python: its fields go by their names as attributes then.
    """
    details = error.errors(include_url=False)
    told = (located(detail, model, called=called) for detail in details[:_MOST_PROBLEMS])
    found = list(dict.fromkeys(Problem(place(location), message) for location, message in told))
    if len(details) > _MOST_PROBLEMS:
        found.append(Problem("", f"and {len(details) - _MOST_PROBLEMS:,} more problems"))
    return found


def value_message(error: ValidationError) -> str:
    """What is wrong with a value that a type of the user's own refuses; of several mistakes the first."""
    detail = error.errors(include_url=False)[0]
    if detail["type"] in _MESSAGES:
        return _message(detail, detail["loc"], Table, called=False)
    # Types may refuse what no table does.
    return f"{shown(detail['input'])}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


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


def located(detail: ErrorDetails, model: Any, *, called: bool = False) -> tuple[Location, str]:
    """Where an error is, and what to say about it.

    Args:
        detail: the error.
        model: the type that was to be read.
        called: whether it was called in Python: its fields go by their names as attributes then.
    """
    location = list(detail["loc"])
    context = detail.get("ctx", {})
    kind, read = detail["type"], detail["input"]
    if kind == FIELD_ERROR:
        steps = [*location, *context["steps"]]
        at = _as_called(steps, model) if called and not location else steps
        return at, context["message"]
    if kind == "invalid_key" or (kind == "string_type" and _is_key(location, read)):
        around = location[: -1 if kind == "invalid_key" else -2]
        return around, f"the key {shown(read)} is not text"
    if _is_key(location, read):
        location[-2:] = [str(read)]
    # A key that is missing nobody has written, in whichever way.
    at = _as_called(location, model) if called and kind == "missing" and len(location) == 1 else location
    return at, _message(detail, location, model, called)


def _as_called(location: Location, model: Any) -> Location:
    """The place of a field in a table that is called in Python."""
    names = {field.alias: name for name, field in model.model_fields.items()}
    return [names.get(str(location[0]), location[0]), *location[1:]]


def _is_key(location: Location, read: object) -> bool:
    """Whether an error is about a key, as pydantic marks it, and no key of this name."""
    if len(location) < 2 or location[-1] != "[key]":
        return False
    # Half a character comes back as something else.
    return str(location[-2]) == str(read) or (isinstance(read, str) and not is_unicode(read))


def _message(detail: ErrorDetails, location: Location, model: Any, called: bool) -> str:
    """What to say about an error; its kind decides."""
    kind, read, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_field(str(location[-1]), location[:-1], model, called)
    if kind == "missing":
        return "is missing" + _purpose_of(model, location)
    if kind == "list_type":
        hint = _IN_BRACKETS if called else _list_hint(location)
        return f"{shown(read)} is not a list; {hint}"
    said = _MESSAGES.get(kind, "{read} does not belong here")
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


def _unknown_field(key: str, location: Location, model: Any, called: bool) -> str:
    """A key that its table does not have."""
    known = known_keys(model, location)
    table = _table_at(model, location)
    spellings: dict[str, str] = {}
    if called and table is not None:
        # What is called has the names of attributes; in a dictionary both are right.
        names = {field.alias or name: name for name, field in table.model_fields.items()}
        if twin := names.get(key, next((alias for alias, name in names.items() if name == key), None)):
            return f"is another name of {quoted(twin)}, which is there, too; leave out one of the two"
        spellings = {name: name for name in names.values()} if location else names
        known = known if location else list(names.values())
    return unknown_key(key, known, spellings)


def listed(names: list[str]) -> str:
    """Names as a sentence has them: ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _no_alternative(read: object, context: dict[str, Any]) -> str:
    """A table that is no alternative of its field."""
    chosen_by = context.get("discriminator", "")
    key, choices = ("kind", _APPLICATIONS) if "application" in chosen_by else ("distribution", DISTRIBUTIONS)
    if isinstance(read, Table | Record):
        return f"{shown(read)} does not belong here; a table here has a {key}: {', '.join(choices)}"
    if not isinstance(read, dict):
        return f"{shown(read)} is not a table"
    if key in read:
        return f"{key} {unknown_choice(read[key], list(choices))}"
    return f"a table here needs the key {quoted(key)}: one of {', '.join(map(quoted, choices))}"


def _no_table(read: object, context: dict[str, Any]) -> str:
    """What stands in place of a table: perhaps another one."""
    if isinstance(read, Table | Record):
        wanted = context.get("class_name", "a dictionary")
        return f"{shown(read)} does not belong here; give {wanted}, or a dictionary of its keys"
    return f"{shown(read)} is not a table"


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
    "string_unicode": f"{{read}} {HALF_CHARACTER}",
    "dict_type": _no_table,
    "model_type": _no_table,
    "model_attributes_type": _no_table,
    "json_invalid": "is not JSON: {error}",
    "too_short": _wrong_length,
    "too_long": _wrong_length,
    "greater_than": "{read} must be above {gt}",
    "greater_than_equal": "{read} must be at least {ge}",
    "less_than": "{read} must be below {lt}",
    "less_than_equal": "{read} must be at most {le}",
}
"""What to say about each kind of pydantic's errors."""


def unknown_key(key: str, known: Iterable[str], spellings: Mapping[str, str] | None = None) -> str:
    """What to say about a key that a table does not have.

    Args:
        key: the key.
        known: the keys that it has.
        spellings: further ones that may be meant, each with the key to write.
    """
    names = list(known)
    others = spellings or {}
    hint = suggest(key, list(dict.fromkeys([*names, *others])))
    if hint:
        return f"no such key; nearest: {quoted(others.get(hint, hint))}"
    return f"no such key; there are {', '.join(names[:_LISTED_KEYS])}" if names else "no such key"


def unknown_choice(read: object, choices: Sequence[str]) -> str:
    """What to say about a value that is none of the choices."""
    hint = suggest(read, choices) if isinstance(read, str) else None
    listed = ", ".join(quoted(choice) for choice in choices)
    if len(choices) == 1:
        return f"{shown(read)} is not known; it must be {listed}"
    near = f"nearest: {quoted(hint)}; " if hint else ""
    return f"{shown(read)} is not known; {near}there are {listed}"


_IN_BRACKETS = "write it in square brackets"


def _list_hint(location: Location) -> str:
    keys = [part for part in location if isinstance(part, str) and not is_alternative(part)]
    if keys and keys[-1] in ("traffic", "event", "capture"):
        return f"write [[{keys[-1]}]], in double brackets"
    if keys[-2:] in (["network", "link"], ["network", "node"], ["controller", "link"]):
        return f"write [[{'.'.join(keys[-2:])}]], in double brackets"
    return _IN_BRACKETS


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


def called_names(model: type[Table]) -> list[str]:
    """Names of the fields of a table as keywords in Python."""
    return list(model.model_fields)


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
            annotation = field_of(annotation, part, by_name=True)
        if annotation is None:
            return None
    tables = (a for a in alternatives(annotation) if isinstance(a, type) and issubclass(a, BaseModel))
    return next(tables, None)


def field_of(annotation: Any, key: str, *, by_name: bool = False) -> Any:
    """The type of a key of a table, in whichever alternative has it first; None where none has.

    With ``by_name``, the key may be the name of its attribute, too.
    """
    for choice in alternatives(annotation):
        if get_origin(choice) is dict:
            return get_args(choice)[1]
        if key in (fields := fields_of(choice, by_name=by_name)):
            return fields[key]
    return None


def fields_of(kind: Any, *, by_name: bool = False) -> dict[str, Any]:
    """The types of a table's fields by their keys, or by their attributes, too; none for what is no table."""
    if not isinstance(kind, type):
        return {}
    if issubclass(kind, Record):
        hints = get_type_hints(kind, include_extras=True)
        return {name: hints[name] for name in field_names(kind)}
    if not issubclass(kind, BaseModel):
        return {}
    named = kind.model_fields if by_name else {}
    fields = {**named, **{field.alias or name: field for name, field in kind.model_fields.items()}}
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
