"""Values of a scenario as plain data, as a file has them, and as Python objects.

The core has checked plain data before they become objects, so that nothing is checked here again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from anabranch.scenario import quantity
from anabranch.scenario.classes import class_of, classes_of, own_class
from anabranch.scenario.declarations import PYTHON, declarations
from anabranch.scenario.forms import QUANTITY, TABLE, Form, alternatives, declared_form, table_forms
from anabranch.scenario.quantity import Quantity

if TYPE_CHECKING:
    from anabranch.scenario.algorithm import Own
    from anabranch.scenario.choice import Algorithm

Convert = Callable[[Any], Any]


class Values(list[Any]):
    """The values of a field, in their order; they do not change."""

    def _unchangeable(self, *_: object, **__: object) -> NoReturn:
        raise AttributeError("the values of a scenario do not change; model_copy(update=...) makes a copy")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _unchangeable
    append = extend = insert = remove = pop = clear = sort = reverse = _unchangeable

    def __reduce__(self) -> tuple[Any, ...]:
        """As it is pickled and copied: by its entries."""
        return Values, (list(self),)


class NamedValues(dict[str, Any]):
    """The values of a field by their names; they do not change."""

    def _unchangeable(self, *_: object, **__: object) -> NoReturn:
        raise AttributeError("the values of a scenario do not change; model_copy(update=...) makes a copy")

    __setitem__ = __delitem__ = __ior__ = _unchangeable
    update = pop = popitem = clear = setdefault = _unchangeable

    def __reduce__(self) -> tuple[Any, ...]:
        """As it is pickled and copied: by its entries."""
        return NamedValues, (dict(self),)


def converter(form: Form) -> Convert:
    """Makes an object of plain data of a form."""
    make = _CONVERTERS.get(form["kind"])
    return _frozen if make is None else make(form)


def _optional(form: Form) -> Convert:
    inner = converter(form["of"])
    return lambda value: None if value is None else inner(value)


def _list(form: Form) -> Convert:
    entry = converter(form["of"])
    return lambda values: Values(map(entry, values))


def _named(form: Form) -> Convert:
    entry = converter(form["of"])
    return lambda values: NamedValues((name, entry(value)) for name, value in values.items())


def _table(form: Form) -> Convert:
    name, _, of = form["table"].partition("[")
    return lambda value: class_of(name).of_data(value, of=of.rstrip("]"))


def _one_of(form: Form) -> Convert:
    choices = list(alternatives(form))
    return lambda value: _chosen(choices, value)


_CONVERTERS: Mapping[str, Callable[[Form], Convert]] = {
    "optional": _optional,
    "within": lambda form: converter(form["of"]),
    "declared": lambda form: converter(declared_form(form["parameter"])),
    "quantity": lambda form: getattr(quantity, form["quantity"]),
    "real": lambda _: float,
    "list": _list,
    "named": _named,
    "table": _table,
    "algorithm": lambda form: lambda value: choice_of_data(form["registry"], value),
    "one-of": _one_of,
}
"""What makes objects of a form, by its kind; what is not here stays as it is."""


def _frozen(value: Any) -> Any:
    """Plain data that do not change."""
    if isinstance(value, list):
        return Values(map(_frozen, value))
    if isinstance(value, dict):
        return NamedValues((key, _frozen(entry)) for key, entry in value.items())
    return value


def choice_of_data(kind: str, data: Any) -> str | Algorithm | Own:
    """The choice of an algorithm in plain data that hold: a name, or a table."""
    if isinstance(data, str):
        return data
    name = data.get("algorithm")
    if name is None or name == PYTHON:
        return own_class().of_data(data)
    return classes_of(kind)[name].of_data(data)


def _chosen(choices: list[Form], value: Any) -> Any:
    """The object of the alternative that plain data are meant as."""
    if isinstance(value, dict):
        return converter(_table_of(choices, value))(value)
    if isinstance(value, list):
        return converter(next(each for each in choices if each["kind"] == "list"))(value)
    if isinstance(value, str):
        return _text(choices, value)
    numbers = (
        each for each in choices if each["kind"] in ("whole", "real") or each.get(QUANTITY) == "Number"
    )
    return converter(next(numbers))(value)


def _table_of(choices: list[Form], value: Mapping[str, Any]) -> Form:
    def fits(choice: Form) -> bool:
        if choice["kind"] == "algorithm":
            return "algorithm" in value or "python" in value
        if choice["kind"] != TABLE:
            return bool(choice["kind"] == "named")
        table = table_forms()[choice["table"]]
        if table.tag is not None:
            return bool(value.get(table.tag["key"]) == table.tag["word"])
        kinds = table.by_key.get("kind")
        names: list[str] = kinds.form.get("names", []) if kinds is not None else []
        return value.get("kind") in names if names else value.keys() <= table.by_key.keys()

    return next(filter(fits, choices))


def _text(choices: list[Form], value: str) -> Any:
    """Text: a name, or a quantity of whichever has its unit."""
    quantities: list[type[Quantity]] = []
    for choice in choices:
        if choice["kind"] in ("choice", "algorithm") and _is_name(choice, value):
            return value
        if "pattern" in choice and re.match(choice["pattern"], value):
            return value
        if choice["kind"] == QUANTITY:
            quantities.append(getattr(quantity, choice[QUANTITY]))
    if not quantities or (
        any(choice["kind"] == "products" for choice in choices) and value.rstrip().endswith("BDP")
    ):
        return value
    kind = next((each for each in quantities if has_unit(value, each)), quantities[0])
    return kind(value)


def _is_name(choice: Form, value: str) -> bool:
    if choice["kind"] == "choice":
        return value in choice["names"]
    return value in declarations()[choice["registry"]]


def has_unit(text: str, kind: type[Quantity]) -> bool:
    """Whether a text ends with a unit of a quantity."""
    units = "|".join(map(re.escape, kind.units))
    return bool(units) and re.fullmatch(rf".*[\d.]\s*({units})\s*", text) is not None
