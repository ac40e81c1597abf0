"""More tries to have code run without consent: packages, links, installed modules, and a home elsewhere."""

import importlib.util
import marshal
import os
import sys
from pathlib import Path

import tries
from tries import HARMLESS, agreed, attempt, here, hostile, lay, manifest

from anabranch import Scenario


def bytecode(source: str) -> bytes:
    """A module as Python compiles it, without a source."""
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(source, "b", "exec"))


def write(file: Path, content: str | bytes) -> None:
    """A file, with the folders on the way."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


@attempt
def a_link_to_a_package_elsewhere(folder: Path) -> None:
    here(folder)
    file = lay(folder / "got", "linked_one.sub:C")
    write(folder / "other" / "sub" / "__init__.py", hostile(folder))
    (folder / "got" / "linked_one").symlink_to("../other")
    Scenario.load(file).run()


@attempt
def a_link_to_a_package_with_bytecode(folder: Path) -> None:
    here(folder)
    file = lay(folder / "got", "linked_two.sub:C")
    write(folder / "other" / "sub.pyc", bytecode(hostile(folder)))
    (folder / "got" / "linked_two").symlink_to("../other")
    Scenario.load(file).run()


@attempt
def a_package_of_bytecode(folder: Path) -> None:
    work = here(folder)
    # As for a program whose folder is the current one.
    sys.path.insert(0, "")
    try:
        write(work / "packed_code" / "__init__.pyc", bytecode(hostile(folder)))
        Scenario.load(lay(folder / "got", "packed_code:C")).run()
    finally:
        sys.path.remove("")


@attempt
def a_package_of_the_current_folder_without_init(folder: Path) -> None:
    work = here(folder)
    sys.path.insert(0, "")
    try:
        write(work / "packed_here" / "inner" / "__init__.pyc", bytecode(hostile(folder)))
        Scenario.load(lay(folder / "got", "packed_here.inner:C")).run()
    finally:
        sys.path.remove("")


@attempt
def known_code_with_a_package_behind_a_link(folder: Path) -> None:
    code = "try:\n    import linked_three.sub\nexcept ImportError:\n    pass\n" + HARMLESS
    agreed(folder, x__py=code)
    here(folder)
    file = lay(folder / "got", x__py=code)
    write(folder / "other" / "sub" / "__init__.py", hostile(folder))
    (folder / "got" / "linked_three").symlink_to("../other")
    Scenario.load(file).run()


@attempt
def known_code_that_imports_a_part_later(folder: Path) -> None:
    """The package was imported in an earlier run, and its part is in this one."""
    later = "__import__('packed_' + 'later.' + 'sub')"
    code = "try:\n    import packed_later\nexcept ImportError:\n    pass\n" + HARMLESS.replace(
        "def on_ack(self, ack): pass", f"def on_ack(self, ack):\n        {later}"
    )
    place = folder / "own"
    (place / "packed_later").mkdir(parents=True)
    write(place / "packed_later" / "sub.py", "")
    agreed(folder, x__py=code)
    for name in ("packed_later", "packed_later.sub"):
        sys.modules.pop(name, None)
    here(folder)
    file = lay(folder / "got", x__py=code)
    write(folder / "other" / "sub.pyc", bytecode(hostile(folder)))
    (folder / "got" / "packed_later").symlink_to("../other")
    Scenario.load(file).run()


def _installed(folder: Path, name: str, *, beside: bool = False) -> None:
    """A received scenario names an installed module, which does something when it is imported."""
    here(folder)
    site = folder / "site"
    write(site / name / "__init__.py", "")
    write(site / name / "__main__.py", hostile(folder))
    file = lay(folder / "got", f"{name}.__main__:C")
    if beside:
        (folder / "got" / name).mkdir()
    sys.path.append(str(site))
    try:
        Scenario.load(file).run()
    finally:
        sys.path.remove(str(site))


@attempt
def an_installed_module(folder: Path) -> None:
    _installed(folder, "installed_one")


@attempt
def an_installed_module_with_a_folder_beside(folder: Path) -> None:
    _installed(folder, "installed_two", beside=True)


@attempt
def a_home_below_the_current_folder(folder: Path) -> None:
    got = lay(folder / "got", x__py=hostile(folder)).parent
    from anabranch.own.code_files import read_code  # noqa: PLC0415
    from anabranch.own.kept_answers import keep_answers  # noqa: PLC0415

    home = os.environ["HOME"]
    try:
        os.environ["HOME"] = str(got / "h")
        keep_answers([read_code(got / "x.py")[1]], frozenset())
        manifest(got)
        os.chdir(got)
        os.environ["HOME"] = "h"
        Scenario.load("s.toml").run()
    finally:
        os.environ["HOME"] = home


if __name__ == "__main__":
    tries.main(Path(sys.argv[1]))
