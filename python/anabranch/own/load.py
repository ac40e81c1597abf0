"""From ``"my_module:Vegas"`` to a class: where its module is looked for.

A module is looked for in the scenario's folder, in the current folder and among installed packages. A file is
executed once for each content that it has, so that an edited one is read again.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from anabranch.own.code_files import (
    NOTEBOOK,
    CodeFileError,
    installed_files,
    local_module,
    module_folders,
    read_code,
)
from anabranch.own.failure import place_of_mistake
from anabranch.own.running import own_code_runs
from anabranch.process.real_path import real_path
from anabranch.scenario.files import code_file
from anabranch.scenario.provenance import Agreement
from anabranch.scenario.quantity import quoted
from anabranch.text.suggest import nearest_remedy

_TRUST = "give --trust (trust=True)"


class LoadError(ValueError):
    """A reference that leads to no class that can be used, with a message for the scenario."""


def check_reference(reference: str, base: Path | None) -> None:
    """Looks whether there is a module for a reference; nothing of it is executed.

    Args:
        reference: ``module:Class``, or ``path/of/a/file.py:Class``.
        base: the scenario's folder; None for the current one.

    Raises:
        LoadError: if it names no class, there is no such module, or its file is no file of code.
    """
    module_name, _ = _parts(reference)
    if module_name == NOTEBOOK:
        return
    path = _file(module_name, base)
    if path is None:
        _check_module(module_name, base)
        return
    _content(path, module_name)


def load(reference: str, base: Path | None, agreement: Agreement) -> type:
    """The class of a reference.

    Args:
        reference: ``module:Class``, or ``path/of/a/file.py:Class``.
        base: the scenario's folder; None for the current one.
        agreement: what may be executed.

    Raises:
        LoadError: if there is no such module or class, or the module cannot be executed.
    """
    module_name, class_name = _parts(reference)
    module = _module(module_name, base, agreement)
    loaded = getattr(module, class_name, None)
    if not inspect.isclass(loaded):
        classes = [name for name, value in vars(module).items() if _is_own(value, module)]
        hint = nearest_remedy(class_name, classes, f"it has {', '.join(classes) or 'no classes'}")
        raise LoadError(f"{quoted(module_name)} has no class {quoted(class_name)}; {hint}")
    return loaded


def _parts(reference: str) -> tuple[str, str]:
    """The module and the class that a reference names."""
    module_name, colon, class_name = reference.partition(":")
    if not colon or not module_name or not class_name.isidentifier():
        raise LoadError(f'{quoted(reference)} names no class; write "module:Class"')
    return module_name, class_name


def _file(name: str, base: Path | None) -> Path | None:
    """The file of a module; None where it is a package, or is installed."""
    file = code_file(name, base)
    return None if file is None else real_path((base or Path()) / file)


def _content(path: Path, name: str) -> tuple[bytes, str]:
    """The content of a file of code, and its digest."""
    try:
        content, code = read_code(path, name)
    except CodeFileError as error:
        raise LoadError(str(error)) from None
    return content, code.digest


def _check_module(name: str, base: Path | None) -> None:
    """Looks whether there is a module that is no file of the user's; its parents are not imported."""
    top = name.partition(".")[0]
    folders = module_folders(base)
    if top in sys.stdlib_module_names and not local_module(top, folders):
        raise LoadError(f"{quoted(name)} is a module of Python itself, and has no algorithm")
    searched = [*map(str, folders), *sys.path]
    if top not in sys.modules and PathFinder.find_spec(top, searched) is None:
        raise _no_module(name, folders)


def _check_installed(name: str, folders: list[Path], agreement: Agreement) -> None:
    """Makes sure that an installed module has been agreed to: its import may do whatever it likes.

    Those in the folders, and their packages, are looked at where they are imported.

    Raises:
        LoadError: if nobody has agreed to one of its files.
    """
    top = name.partition(".")[0]
    if agreement.everything or local_module(top, folders):
        return
    files = installed_files(name, folders)
    if not files and not any((folder / top).is_dir() for folder in folders):
        if name not in sys.modules:
            raise _no_module(name, folders)
        raise LoadError(f"{quoted(name)} has no file that can be looked at; {_TRUST}")
    for file in files:
        if not agreement.allows(_content(file, str(file))[1]):
            raise LoadError(f"{file} is installed, and nobody has agreed to it; {_TRUST}")


def _no_module(name: str, folders: list[Path]) -> LoadError:
    listed = " and ".join(dict.fromkeys(f"{folder}/" for folder in folders))
    return LoadError(f"there is no module {quoted(name)}: neither in {listed} nor among installed packages")


def _is_own(value: object, module: ModuleType) -> bool:
    return inspect.isclass(value) and value.__module__ == module.__name__


def _module(name: str, base: Path | None, agreement: Agreement) -> ModuleType:
    if name == NOTEBOOK:
        return sys.modules[NOTEBOOK]
    path = _file(name, base)
    folders = module_folders(base)
    content, digest = (b"", "") if path is None else _content(path, name)
    if path is None:
        _check_module(name, base)
        _check_installed(name, folders, agreement)
    elif not agreement.allows(digest):
        raise LoadError(f"{quoted(name)} has changed since it was agreed to; nothing of it has run")
    try:
        if path is not None:
            return _executed(path, content, agreement, folders)
        with own_code_runs(agreement, folders):
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise _no_module(name, folders) from None
        raise LoadError(place_of_mistake(error, f"{quoted(name)} cannot be imported")) from None


def _executed(path: Path, content: bytes, agreement: Agreement, folders: list[Path]) -> ModuleType:
    """The module of a file. It is in ``sys.modules``, as dataclasses expect it.

    Its name there is its own: a ``random.py`` must not take the place of another module.
    """
    digest = hashlib.sha256(str(path).encode() + content).hexdigest()
    name = f"{path.stem}__{digest[:16]}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:
            with own_code_runs(agreement, [path.parent, *folders]):
                # Not by a loader, whose cache of bytecode goes by the file's time in whole seconds.
                exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - the user's own
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
