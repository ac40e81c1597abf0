"""From ``"my_module:Vegas"`` to a class: where its module is looked for.

A module is looked for in the scenario's folder, in the current folder and among installed packages. A file is
executed once for each content that it has, so that an edited one is read again.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from anabranch.errors import reason
from anabranch.own.failure import place_of_mistake
from anabranch.scenario.files import code_file
from anabranch.scenario.quantity import quoted
from anabranch.suggest import nearest_remedy

_NOTEBOOK = "__main__"


class LoadError(ValueError):
    """A reference that leads to no class that can be used, with a message for the scenario."""


def load(reference: str, base: Path | None) -> type:
    """The class of a reference.

    Args:
        reference: ``module:Class``, or ``path/of/a/file.py:Class``.
        base: the scenario's folder; None for the current one.

    Raises:
        LoadError: if there is no such module or class, or the module cannot be executed.
    """
    module_name, colon, class_name = reference.partition(":")
    if not colon or not module_name or not class_name.isidentifier():
        raise LoadError(f'{quoted(reference)} names no class; write "module:Class"')
    module = _module(module_name, base)
    found = getattr(module, class_name, None)
    if not inspect.isclass(found):
        classes = [name for name, value in vars(module).items() if _is_own(value, module)]
        hint = nearest_remedy(class_name, classes, f"it has {', '.join(classes) or 'no classes'}")
        raise LoadError(f"{quoted(module_name)} has no class {quoted(class_name)}; {hint}")
    return found


def _is_own(value: object, module: ModuleType) -> bool:
    return inspect.isclass(value) and value.__module__ == module.__name__


def _module(name: str, base: Path | None) -> ModuleType:
    if name == _NOTEBOOK:
        return sys.modules[_NOTEBOOK]
    file = code_file(name, base)
    path = None if file is None else ((base or Path()) / file).resolve()
    try:
        content = b"" if path is None else path.read_bytes()
    except OSError as error:
        raise LoadError(f"{quoted(name)} cannot be read: {reason(error)}") from None
    folders = [(base or Path()).resolve(), Path.cwd()]
    try:
        if path is not None:
            return _executed(path, content, folders)
        with _searched(folders):
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the user's code raises
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            listed = " and ".join(dict.fromkeys(f"{folder}/" for folder in folders))
            message = f"there is no module {quoted(name)}: neither in {listed} nor among installed packages"
            raise LoadError(message) from None
        raise LoadError(place_of_mistake(error, f"{quoted(name)} cannot be imported")) from None


def _executed(path: Path, content: bytes, folders: list[Path]) -> ModuleType:
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
            with _searched([path.parent, *folders]):
                # Not by a loader, whose cache of bytecode goes by the file's time in whole seconds.
                exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - the user's own
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


@contextmanager
def _searched(folders: list[Path]) -> Iterator[None]:
    """Looks for modules in these folders first, while the block runs."""
    added = [str(folder) for folder in folders]
    before = list(sys.path)
    sys.path[:0] = added
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before
