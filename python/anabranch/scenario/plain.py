"""Plain data, as files have them, of what stands in a scenario: of objects, and of what users give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from anabranch._core import Other
from anabranch.errors import Problem
from anabranch.scenario.forms import Form, TableForm, alternatives, form_below, tables_of
from anabranch.scenario.place import Location, joined, place
from anabranch.scenario.quantity import HALF_CHARACTER, Quantity, is_unicode, quoted, shown
from anabranch.scenario.record import Record

if TYPE_CHECKING:
    from anabranch.scenario.table import Table

_DEEPEST = 64
"""Tables and lists inside of each other at most."""
_SINGLE = (bool, int, float, Other)
_FREE: Form = {"kind": "free"}


class Noted:
    """Values that no file can hold, noted while data are made plain."""

    def __init__(self, start: str) -> None:
        """``start`` is what places begin with."""
        self._start = start
        self._problems: dict[str, str] = {}

    def add(self, steps: Location, message: str) -> None:
        """Notes what is wrong at a place; the first thing there counts."""
        self._problems.setdefault(place(steps), message)

    def joined(self, others: Iterable[tuple[str, str]]) -> list[Problem]:
        """The noted problems and those that the core has found, but at the same places."""
        rest = [(at, message) for at, message in others if at not in self._problems]
        problems = dict.fromkeys([*self._problems.items(), *rest])
        return [Problem(joined(self._start, at), message) for at, message in problems]


def written(value: Any, *, with_none: bool = False) -> Any:
    """An object of a scenario as a file has it, every default written out.

    Args:
        value: the object.
        with_none: with fields that have no value.
    """
    if isinstance(value, Quantity):
        return value.plain
    if isinstance(value, list):
        return [written(entry, with_none=with_none) for entry in value]
    if isinstance(value, dict):
        return {key: written(entry, with_none=with_none) for key, entry in value.items()}
    if hasattr(value, "data"):
        return value.data(with_none=with_none)
    return value


def plain_data(value: Any, noted: Noted | None = None, steps: tuple[str | int, ...] = ()) -> Any:
    """New plain data of what users give as plain data.

    Args:
        value: the data; tables and quantities in them become plain, too, and what is None is left out.
        noted: gets what no file can hold; None where the data are known to hold.
        steps: where they stand.
    """
    return _plain(value, _FREE, noted, steps)


def plain_value(value: Any, form: Form, noted: Noted, key: str) -> Any:
    """Plain data of a value of a form.

    Args:
        value: what a user gives.
        form: what belongs there.
        noted: gets what no file can hold.
        key: where it stands.
    """
    return _plain(value, form, noted, (key,))


def plain_call(table: type[Table], values: Mapping[str, Any], noted: Noted) -> dict[str, Any]:
    """Plain data of the keywords of a call, by the words that it has.

    Args:
        table: the class that is called.
        values: the keywords with their values.
        noted: gets what no file can hold.
    """
    return _entries(values, [table.form()], noted, ())


def _plain(value: Any, form: Form, noted: Noted | None, steps: tuple[str | int, ...]) -> Any:
    if value is None or isinstance(value, str | Quantity) or type(value) in _SINGLE:
        return _single(value, form, noted, steps)
    if len(steps) > _DEEPEST:
        if noted is not None:
            noted.add(steps[:1], f"has more than {_DEEPEST} tables and lists inside of each other")
        return ""
    if isinstance(value, list):
        return [_plain(entry, _below(form, 0), noted, (*steps, at)) for at, entry in enumerate(value)]
    if isinstance(value, dict):
        return _entries(value, _tables(form, value), noted, steps, form)
    return _of_object(value, form, noted, steps)


def _single(value: Any, form: Form, noted: Noted | None, steps: tuple[str | int, ...]) -> Any:
    """A single value; a quantity of another kind than the one that belongs there is what a message shows."""
    if isinstance(value, Quantity):
        choices = [choice for choice in alternatives(form) if choice["kind"] in ("quantity", "free")]
        kinds = [choice.get("quantity", type(value).__name__) for choice in choices]
        return value.plain if not kinds or type(value).__name__ in kinds else Other(shown(value))
    if isinstance(value, str) and noted is not None and not is_unicode(value):
        noted.add(steps, f"{quoted(value)} {HALF_CHARACTER}")
        return ""
    return value


def _entries(
    value: Mapping[Any, Any],
    tables: list[TableForm],
    noted: Noted | None,
    steps: tuple[str | int, ...],
    form: Form = _FREE,
) -> dict[str, Any]:
    """The entries of a table or a dictionary whose values are there."""
    entries = {}
    for key, entry in value.items():
        if not isinstance(key, str):
            if noted is not None:
                noted.add(steps, f"the key {shown(key)} is not text")
        elif noted is not None and not is_unicode(key):
            noted.add((*steps, key), f"{quoted(key)} {HALF_CHARACTER}")
        elif entry is not None:
            entries[key] = _plain(entry, _of_key(key, tables, form), noted, (*steps, key))
    return entries


def _of_key(key: str, tables: list[TableForm], form: Form) -> Form:
    """The form of an entry by its key, or its name as an attribute."""
    for table in tables:
        if field := table.by_key.get(key) or table.fields.get(key):
            return field.form
    return _below(form, key)


def _below(form: Form, step: str | int) -> Form:
    return form_below(form, step) or _FREE


def _tables(form: Form, value: Mapping[Any, Any]) -> list[TableForm]:
    """The tables that a dictionary may be meant as."""
    tables = list(tables_of(form))
    tagged = [table for table in tables if table.tag and value.get(table.tag["key"]) == table.tag["word"]]
    return tagged or tables


def _of_object(value: Any, form: Form, noted: Noted | None, steps: tuple[str | int, ...]) -> Any:
    """Plain data of a table or an algorithm, if one of its class belongs there; else what a message shows."""
    if isinstance(value, Record):
        return _of_algorithm(value, form)
    given = getattr(value, "_given", None)
    if not isinstance(given, dict):
        return Other(shown(value))
    names = {each.__name__ for each in type(value).__mro__}
    choices = list(alternatives(form))
    tables = {choice["table"] for choice in choices if choice["kind"] == "table"}
    belongs = form is _FREE or bool(
        names & {name.partition("[")[0] for name in tables}
        or ("Own" in names and any(choice["kind"] == "algorithm" for choice in choices))
        or any(choice["kind"] == "free" for choice in choices)
    )
    return plain_data(given, noted, steps) if belongs else Other(shown(value))


def _of_algorithm(value: Any, form: Form) -> Any:
    choices = [choice for choice in alternatives(form) if choice["kind"] in ("algorithm", "free")]
    if not choices or not hasattr(value, "given"):
        return Other(shown(value))
    kinds = {choice.get("registry", value.kind) for choice in choices}
    return value.data(given_only=True) if value.kind in kinds else value.algorithm


def with_keys(table: TableForm, data: dict[str, Any]) -> dict[str, Any]:
    """Plain data of a call in which every field goes by its key, as in a file.

    Args:
        table: what the data are.
        data: the data; a field that they have by its key and by its name stays as it is.
    """
    changed = {}
    for word, value in data.items():
        field = table.by_key.get(word) or table.fields.get(word)
        if field is None or (word != field.key and field.key in data):
            changed[word] = value
        else:
            changed[field.key] = _keys(field.form, value)
    return changed


def _keys(form: Form, value: Any) -> Any:
    if isinstance(value, list):
        return [_keys(_below(form, 0), entry) for entry in value]
    if not isinstance(value, dict):
        return value
    tables = _tables(form, value)
    fitting = [each for each in tables if value.keys() <= {*each.by_key, *each.fields, *each.keys()}]
    if fitting:
        return with_keys(fitting[0], value)
    return {key: _keys(_below(form, key), entry) for key, entry in value.items()}
