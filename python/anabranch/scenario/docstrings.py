"""The documentation strings of fields, read from the source when somebody asks.

Pydantic can attach them to the fields itself (``use_attribute_docstrings``), but then it reads the source of
every table each time the package is imported, which took longer than all else that the package does at its
start. Few ask: the JSON Schema, the reference, and the message about a missing field.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise


def field_docstring(table: type, name: str) -> str | None:
    """The documentation string of a field, its own or that of the field which it overrides; None without any.

    Args:
        table: the class.
        name: the field's name as an attribute.

    Raises:
        OSError: if the source of the class is not there.
    """
    owners = (owner for owner in table.__mro__ if name in inspect.get_annotations(owner))
    texts = (_of_module(owner.__module__).get(owner.__qualname__, {}).get(name) for owner in owners)
    return next(filter(None, texts), None)


@cache
def _of_module(module: str) -> Mapping[str, Mapping[str, str]]:
    """The documentation strings of fields in a module, by the qualified name of their class."""
    return dict(_classes(ast.parse(inspect.getsource(sys.modules[module])).body, ""))


def _classes(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, dict(_fields(node.body))
            yield from _classes(node.body, f"{prefix}{node.name}.")


def _fields(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, following in pairwise(body):
        match field, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
