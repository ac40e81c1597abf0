"""Imports of code that has been agreed to file by file: of the modules beside it, no others are executed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, all_suffixes
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from anabranch.own.code_files import CodeFileError, read_code
from anabranch.process.real_path import real_path
from anabranch.scenario.provenance import Agreement

REMEDY = "import it by a statement at the top of the file, or give --trust (trust=True)"


class AgreedModules:
    """A finder of modules, for ``sys.meta_path``."""

    def __init__(self, agreement: Agreement, folders: Sequence[Path]) -> None:
        """For modules in these folders; those that lie elsewhere are left to the other finders."""
        self._agreement = agreement
        self._folders = [real_path(folder) for folder in folders]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of this name, if it lies in the folders, or in a package of theirs.

        What is in such a package is found here or nowhere, wherever its folder or a link in it leads.

        Raises:
            ImportError: if nobody has agreed to it, or such a package has no module of this name.
        """
        package, _, last = name.rpartition(".")
        if not package:
            return self._in(self._folders, name, last) or self._namespace(name, last, self._folders)
        if not _is_from_here(package):
            return None
        folders = [Path(entry) for entry in path or ()]
        spec = self._in(folders, name, last) or self._namespace(name, last, folders)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return spec

    def _in(self, folders: Sequence[Path], name: str, last: str) -> ModuleSpec | None:
        """The module of this name in the first folder that has one."""
        for folder in folders:
            package = folder / last / "__init__.py"
            if package.is_file():
                inside = [str(package.parent)]
                loader = self._loader(package)
                return spec_from_file_location(
                    name, package, loader=loader, submodule_search_locations=inside
                )
            file = folder / f"{last}.py"
            if file.is_file():
                return spec_from_file_location(name, file, loader=self._loader(file))
            for compiled in (*_forms(folder, last), *_forms(folder / last, "__init__")):
                raise ImportError(f"{compiled} is no source, and nobody has agreed to it; {REMEDY}")
        return None

    def _namespace(self, name: str, last: str, folders: Sequence[Path]) -> ModuleSpec | None:
        """A package without a file of its own; an installed package goes before it."""
        places = [str(folder / last) for folder in folders if (folder / last).is_dir()]
        if not places or (name == last and PathFinder.find_spec(name) is not None):
            return None
        spec = ModuleSpec(name, _Nothing(), is_package=True)
        spec.submodule_search_locations = places
        return spec

    def _loader(self, file: Path) -> Loader:
        try:
            content, code = read_code(file)
        except CodeFileError as error:
            raise ImportError(str(error)) from None
        if not self._agreement.allows(code.digest):
            raise ImportError(f"{file} is imported, and nobody has agreed to it; {REMEDY}")
        return _Content(file, content)


def _forms(folder: Path, name: str) -> Iterator[Path]:
    """What Python would import under a name in a folder, be it source or compiled."""
    return (file for suffix in all_suffixes() if os.path.lexists(file := folder / f"{name}{suffix}"))


def _is_from_here(package: str) -> bool:
    """Whether a package that has been imported was found in such folders."""
    spec = getattr(sys.modules.get(package), "__spec__", None)
    return isinstance(getattr(spec, "loader", None), _Content | _Nothing)


class _Content(Loader):
    """Executes what has been read; no bytecode beside the file takes its place."""

    def __init__(self, file: Path, content: bytes) -> None:
        self._file, self._content = file, content

    def exec_module(self, module: ModuleType) -> None:
        """Executes the module."""
        exec(compile(self._content, str(self._file), "exec"), module.__dict__)  # noqa: S102 - agreed to


class _Nothing(Loader):
    """Of a package without a file: there is nothing to execute."""

    def exec_module(self, module: ModuleType) -> None:
        """Leaves the module as it is."""
