"""python/anabranch/terminal/completion.json: what a Tab completes, from the command line's own options."""

import json
from collections.abc import Iterable
from typing import Any

import typer.main

from anabranch.scenario.declarations import declarations
from anabranch.scenario.field_paths import field_paths
from anabranch.scenario.forms import Form
from anabranch.terminal import values
from anabranch.terminal.cli import app

FIELDS = "fields"
TOPOLOGIES, TRANSPORTS = "topologies", "transports"
TEXTS = {"topology": TOPOLOGIES, "transport": TRANSPORTS, "preset": TRANSPORTS}
"""By the last step of a path whose value is a name, the list of these names."""
TABLES = ("table", "list", "named", "free")


def first_sentence(text: str | None) -> str:
    """The first sentence of a help."""
    return (text or "").split("\n")[0].partition(". ")[0].rstrip(".")


class Book:
    """The data, with every list of values once."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {}

    def list_of(self, parameter: Any, context: Any) -> str | None:
        """The name of the list that a parameter's values are in; None without values."""
        items = [item.value for item in parameter.shell_complete(context, "")]
        if not items or getattr(items[0], "type", "plain") != "plain":
            return None
        if items == list(values.fields()):
            return FIELDS
        for name, expected in self.lists.items():
            if expected == items:
                return name
        self.lists[parameter.name] = items
        return str(parameter.name)

    def parameter(self, parameter: Any, context: Any) -> dict[str, Any]:
        """An option or an argument."""
        is_flag = getattr(parameter, "is_flag", False)
        data: dict[str, Any] = {"help": first_sentence(getattr(parameter, "help", ""))}
        if parameter.param_type_name == "argument":
            data = {"many": parameter.nargs == -1}
        else:
            data["takes"] = not is_flag
        if not is_flag and (name := self.list_of(parameter, context)):
            data["values"] = name
        return data

    def command(self, command: Any, context: Any) -> dict[str, Any]:
        """A command, or a group with its commands."""
        options = {
            name: self.parameter(each, context)
            for each in command.get_params(context)
            if each.param_type_name == "option"
            for name in each.opts
            if name.startswith("--")
        }
        arguments = [
            self.parameter(each, context) for each in command.params if each.param_type_name == "argument"
        ]
        data: dict[str, Any] = {
            "help": first_sentence(command.help),
            "options": options,
            "arguments": arguments,
        }
        if hasattr(command, "commands"):
            data["commands"] = {
                name: self.command(each, type(context)(each, info_name=name, parent=context))
                for name in command.commands
                if (each := command.get_command(context, name)) is not None
            }
        return data


def field_values(path: str, forms: Iterable[Form]) -> list[str] | str | None:
    """The values of a field: a list of names, the name of a list, empty for any; None for a table."""
    plain = [form for form in forms if form["kind"] not in TABLES]
    if not plain:
        return None
    last = path.rpartition(".")[2]
    if any(form["kind"] == "text" for form in plain) and last in TEXTS:
        return TEXTS[last]
    names: dict[str, None] = {}
    for form in plain:
        if form["kind"] == "choice":
            names |= dict.fromkeys(form["names"])
        elif form["kind"] == "algorithm":
            names |= dict.fromkeys(declarations()[form["registry"]])
        elif form["kind"] == "switch":
            names |= dict.fromkeys(("true", "false"))
    return list(names)


def text() -> str:
    """The file."""
    program = typer.main.get_command(app)
    book = Book()
    book.lists[TOPOLOGIES] = list(values.topologies())
    book.lists[TRANSPORTS] = list(values.transports())
    context = program.context_class(program, info_name="anabranch")
    data = {
        "program": book.command(program, context),
        "lists": book.lists,
        "fields": {path: field_values(path, forms) for path, forms in field_paths().items()},
    }
    return json.dumps(data, indent=0, ensure_ascii=False) + "\n"
