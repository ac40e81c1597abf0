"""Imports of code that has been agreed to file by file: of the modules beside it, no others are executed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from anabranch.own.code_files import CodeFileError, read_code
from anabranch.scenario.provenance import Agreement

_FORMS = (".py", ".pyc", ".so", ".pyd")


class AgreedModules:
    """A finder of modules, for ``sys.meta_path``."""

    def __init__(self, agreement: Agreement, folders: Sequence[Path]) -> None:
        """For modules in these folders; those that lie elsewhere are left to the other finders."""
        self._agreement = agreement
        self._folders = [folder.resolve() for folder in folders]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of this name, if it lies in the folders.

        Raises:
            ImportError: if nobody has agreed to it.
        """
        last = name.rpartition(".")[2]
        folders = self._folders if path is None else self._inside(path)
        for folder in folders:
            package = folder / last / "__init__.py"
            if package.is_file():
                return spec_from_file_location(
                    name,
                    package,
                    loader=self._loader(package),
                    submodule_search_locations=[str(package.parent)],
                )
            file = folder / f"{last}.py"
            if file.is_file():
                return spec_from_file_location(name, file, loader=self._loader(file))
            others = [*folder.glob(f"{_escaped(last)}.*")]
            other = next((other for other in others if other.suffix in _FORMS), None)
            if other is not None:
                raise ImportError(f"{other} is compiled, and nobody has agreed to it; {_REMEDY}")
        return self._namespace(name, folders, path)

    def _namespace(self, name: str, folders: Sequence[Path], path: Sequence[str] | None) -> ModuleSpec | None:
        """A package without a file of its own, which comes last."""
        places = [str(folder / name.rpartition(".")[2]) for folder in folders]
        places = [place for place in places if Path(place).is_dir()]
        if not places or PathFinder.find_spec(name, path) is not None:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = places
        return spec

    def _inside(self, path: Sequence[str]) -> list[Path]:
        found = [Path(entry).resolve() for entry in path]
        return [one for one in found if any(one.is_relative_to(folder) for folder in self._folders)]

    def _loader(self, file: Path) -> Loader:
        try:
            content, code = read_code(file)
        except CodeFileError as error:
            raise ImportError(str(error)) from None
        if not self._agreement.allows(code.digest):
            raise ImportError(f"{file} is imported, and nobody has agreed to it; {_REMEDY}")
        return _Content(file, content)


_REMEDY = "import it by a statement at the top of the file, or give --trust (trust=True)"


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


class _Content(Loader):
    """Executes what has been read; no bytecode beside the file takes its place."""

    def __init__(self, file: Path, content: bytes) -> None:
        self._file, self._content = file, content

    def exec_module(self, module: ModuleType) -> None:
        """Executes the module."""
        exec(compile(self._content, str(self._file), "exec"), module.__dict__)  # noqa: S102 - agreed to
