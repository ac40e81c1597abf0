"""Messages on values of parameters of a class of the user's own, whose types pydantic checks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anabranch.scenario.quantity import number_hint, shown
from anabranch.scenario.unknown import unknown_choice

if TYPE_CHECKING:
    from pydantic import ValidationError

_MESSAGES = {
    "value_error": "{error}",
    "finite_number": "{read} is not a number that can be used; write a finite one",
    "bool_type": "{read} is neither true nor false",
    "int_type": "{read} is not a whole number",
    "int_from_float": "{read} is not a whole number",
    "float_type": "{read} is not a number{hint}",
    "string_type": "{read} is not text; write it in double quotes",
    "string_too_short": "is empty",
    "greater_than": "{read} must be above {gt}",
    "greater_than_equal": "{read} must be at least {ge}",
    "less_than": "{read} must be below {lt}",
    "less_than_equal": "{read} must be at most {le}",
}
"""What to say about each kind of pydantic's errors."""


def value_message(error: ValidationError) -> str:
    """A message on a value that a type of the user's own refuses; of several mistakes the first."""
    detail = error.errors(include_url=False)[0]
    kind, read, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "literal_error":
        return unknown_choice(read, re.findall(r"'([^']*)'", context["expected"]))
    if kind in _MESSAGES:
        return _MESSAGES[kind].format(read=shown(read), hint=number_hint(read), **context)
    # Types may refuse what no table does.
    return f"{shown(read)}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"
