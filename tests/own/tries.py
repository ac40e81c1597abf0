"""Tries to run code without consent, made in one process by a user who is not root.

Each is a function of its folder: it lays out what was received and opens it. ``main`` says of each what came
of it, as JSON; the code that nobody has agreed to leaves a file ``ran``.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import marshal
import os
import pickle
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anabranch
from anabranch import AnabranchError, Scenario, Study
from anabranch.export.write import export
from anabranch.own.kept_answers import answers_file
from anabranch.study.check import design

Try = Callable[[Path], Any]
TRIES: dict[str, Try] = {}

NETWORK = """
[network]
topology = "dumbbell"
parameters = { hosts = 1, bottleneck_capacity = "10 Mbps" }
links = { capacity = "100 Mbps", delay = "1 ms" }
[[traffic]]
from = "left1"
to = "right1"
transport = "mine"
size = "3 kB"
"""
RUN = '[run]\nduration = "100 ms"\n'
CONTROL = '[transport.mine]\npreset = "newreno"\ncongestion_control = { python = "PYTHON" }\n'
HARMLESS = """
from anabranch.own import CongestionControl
class C(CongestionControl):
    def on_ack(self, ack): pass
    def on_loss(self, episode): pass
"""
RAN = "from pathlib import Path\nPath({ran!r}).touch()\n"


def attempt(function: Try) -> Try:
    """Registers a try under its name."""
    TRIES[function.__name__] = function
    return function


def hostile(folder: Path, harmless: str = HARMLESS) -> str:
    """Code that leaves a file when it runs."""
    return RAN.format(ran=str(folder / "ran")) + harmless


def lay(place: Path, python: str = "x.py:C", text: str = CONTROL, **files: str) -> Path:
    """A scenario in a folder, with files beside it (``x__py`` is ``x.py``)."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "s.toml").write_text(NETWORK + text.replace("PYTHON", python) + RUN)
    for name, content in files.items():
        (place / name.replace("__", ".", 1)).write_text(content)
    return place / "s.toml"


def bytecode(source: str, modified_s: int = 0, size: int = 0) -> bytes:
    """A compiled file (PEP 552) of a source that was changed then, and had so many bytes."""
    fields = (0, modified_s, size)
    head = importlib.util.MAGIC_NUMBER + b"".join(field.to_bytes(4, "little") for field in fields)
    return head + marshal.dumps(compile(source, "beside", "exec"))


def manifest(
    folder: Path, text: str = '{"format": "anabranch-manifest", "format_version": 1, "files": []}'
) -> None:
    """Makes a folder look like a result of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(text)


def here(folder: Path) -> Path:
    """The current folder, which holds nothing of what was received."""
    (folder / "work").mkdir(exist_ok=True)
    os.chdir(folder / "work")
    return folder / "work"


def agreed(folder: Path, **files: str) -> None:
    """Files whose content the user has agreed to, in another scenario of his own."""
    place = folder / "own"
    file = lay(place, **files)
    os.chdir(place)
    sys.path.insert(0, str(place))
    try:
        Scenario.load(file).run()
    finally:
        sys.path.remove(str(place))
    assert not (folder / "ran").exists()


@attempt
def an_absolute_path_outside(folder: Path) -> None:
    here(folder)
    anabranch.run(lay(folder / "got", x__py=hostile(folder)))


@attempt
def a_path_with_dots(folder: Path) -> None:
    here(folder)
    lay(folder / "got", x__py=hostile(folder))
    Scenario.load("../got/s.toml").run()


@attempt
def dots_through_the_current_folder(folder: Path) -> None:
    work = here(folder)
    lay(folder / "got", x__py=hostile(folder))
    Scenario.load(work / ".." / "got" / "s.toml").run()


@attempt
def a_link_to_the_scenario(folder: Path) -> None:
    work = here(folder)
    (work / "s.toml").symlink_to(lay(folder / "got", x__py=""))
    (work / "x.py").write_text(hostile(folder))
    Scenario.load("s.toml").run()


@attempt
def a_link_to_its_folder(folder: Path) -> None:
    work = here(folder)
    (work / "mine").symlink_to(lay(folder / "got", x__py=hostile(folder)).parent)
    Scenario.load("mine/s.toml").run()


@attempt
def a_scenario_from_a_pipe(folder: Path) -> None:
    file = lay(here(folder), x__py=hostile(folder))
    reader, writer = os.pipe()
    threading.Thread(target=lambda: (os.write(writer, file.read_bytes()), os.close(writer))).start()
    code = f"{file.with_name('x.py')}:C"
    Scenario.load(f"/proc/self/fd/{reader}", {"transport.mine.congestion_control.python": code}).run()


@attempt
def a_result_with_other_code(folder: Path) -> None:
    lay(here(folder), x__py=HARMLESS + "# a_result_with_other_code\n")
    Scenario.load("s.toml").run(out="results/s", page=False)
    Path("results/s/code/x.py").write_text(hostile(folder))
    Scenario.load("results/s/scenario.toml").run()


@attempt
def a_folder_in_a_result(folder: Path) -> None:
    got = here(folder) / "got"
    manifest(got)
    Scenario.load(lay(got / "deep" / "er", x__py=hostile(folder))).run()


@attempt
def inside_a_result(folder: Path) -> None:
    got = here(folder) / "got"
    manifest(got)
    lay(got, x__py=hostile(folder))
    os.chdir(got)
    Scenario.load("s.toml").run()


@attempt
def a_study_folder(folder: Path) -> None:
    got = here(folder) / "got"
    got.mkdir()
    (got / "study.json").write_text('{"format": "anabranch-study"}')
    Scenario.load(lay(got, x__py=hostile(folder))).run()


@attempt
def a_manifest_that_is_broken(folder: Path) -> None:
    got = here(folder) / "got"
    manifest(got, '{"format": "anabranch-manifest", "files": 3')
    Scenario.load(lay(got, x__py=hostile(folder))).run()


@attempt
def a_manifest_that_is_a_fifo(folder: Path) -> None:
    got = here(folder) / "got"
    got.mkdir()
    os.mkfifo(got / "manifest.json")
    Scenario.load(lay(got, x__py=hostile(folder))).run()


@attempt
def own_scenario_code_in_a_result(folder: Path) -> None:
    got = here(folder) / "got"
    manifest(got)
    (got / "x.py").write_text(hostile(folder))
    Scenario.load(lay(folder / "work", "got/x.py:C")).run()


def received(folder: Path, python: str, files: dict[str, str]) -> Path:
    """A scenario that was received, and files by their names from its folder on."""
    here(folder)
    scenario = lay(folder / "got", python)
    for name, content in files.items():
        file = folder / "got" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    return scenario


HOSTILE = "hostile"
"""In place of code that leaves a file."""
OF_FILES: dict[str, tuple[str, dict[str, str]]] = {
    "a_module_beside": ("mine:C", {"mine.py": HOSTILE}),
    "a_package_beside": ("packed_beside:C", {"packed_beside/__init__.py": HOSTILE}),
    "a_module_of_a_package_beside": (
        "packed_deep.inner:C", {"packed_deep/__init__.py": HOSTILE, "packed_deep/inner.py": HARMLESS},
    ),
    "a_package_without_init": ("packed_bare.inner:C", {"packed_bare/inner.py": HOSTILE}),
    "code_by_an_absolute_path": ("FOLDER/y.py:C", {"../y.py": HOSTILE}),
    "code_by_dots": ("../y.py:C", {"../y.py": HOSTILE}),
    "a_module_of_the_current_folder": ("tool:C", {"../work/tool.py": HOSTILE}),
}  # fmt: skip
"""The code that a received scenario names, and where it lies."""


def of_files(python: str, files: dict[str, str]) -> Try:
    """A try with code in files."""

    def run(folder: Path) -> None:
        texts = {name: hostile(folder) if text == HOSTILE else text for name, text in files.items()}
        Scenario.load(received(folder, python.replace("FOLDER", str(folder)), texts)).run()

    return run


TRIES |= {name: of_files(*given) for name, given in OF_FILES.items()}


@attempt
def code_by_a_link(folder: Path) -> None:
    here(folder)
    file = lay(folder / "got")
    (folder / "y.py").write_text(hostile(folder))
    (folder / "got" / "x.py").symlink_to(folder / "y.py")
    Scenario.load(file).run()


@attempt
def known_code_with_an_unknown_import(folder: Path) -> None:
    code = "import beside_one\n" + HARMLESS
    agreed(folder, x__py=code, beside_one__py="")
    sys.modules.pop("beside_one", None)
    here(folder)
    Scenario.load(lay(folder / "got", x__py=code, beside_one__py=hostile(folder))).run()


@attempt
def known_code_with_a_hidden_import(folder: Path) -> None:
    code = "import importlib\nimportlib.import_module('beside' + '_two')\n" + HARMLESS
    agreed(folder, x__py=code, beside_two__py="")
    sys.modules.pop("beside_two", None)
    here(folder)
    Scenario.load(lay(folder / "got", x__py=code, beside_two__py=hostile(folder))).run()


@attempt
def known_code_that_imports_while_it_runs(folder: Path) -> None:
    code = HARMLESS.replace(
        "def on_ack(self, ack): pass", "def on_ack(self, ack): __import__('beside' + '_three')"
    )
    agreed(folder, x__py=code, beside_three__py="")
    sys.modules.pop("beside_three", None)
    got = lay(folder / "got", x__py=code, beside_three__py=hostile(folder)).parent
    os.chdir(got)
    manifest(got)
    sys.path.insert(0, str(got))
    try:
        Scenario.load("s.toml").run()
    finally:
        sys.path.remove(str(got))


@attempt
def known_code_with_compiled_code_beside(folder: Path) -> None:
    code, beside = "import beside_four\n" + HARMLESS, "value = 1\n"
    agreed(folder, x__py=code, beside_four__py=beside)
    sys.modules.pop("beside_four", None)
    here(folder)
    file = lay(folder / "got", x__py=code, beside_four__py=beside)
    source = folder / "got" / "beside_four.py"
    status = source.stat()
    cached = Path(importlib.util.cache_from_source(str(source)))
    cached.parent.mkdir()
    cached.write_bytes(bytecode(hostile(folder), int(status.st_mtime), status.st_size))
    Scenario.load(file).run()


@attempt
def known_code_with_bytecode_alone(folder: Path) -> None:
    code = "try:\n    import beside_five\nexcept ImportError:\n    pass\n" + HARMLESS
    agreed(folder, x__py=code)
    here(folder)
    file = lay(folder / "got", x__py=code)
    (folder / "got" / "beside_five.pyc").write_bytes(bytecode(hostile(folder)))
    Scenario.load(file).run()


@attempt
def known_code_with_a_module_in_the_place_of_an_installed_one(folder: Path) -> None:
    code = "import colorsys\n" + HARMLESS
    agreed(folder, x__py=code)
    sys.modules.pop("colorsys", None)
    here(folder)
    Scenario.load(lay(folder / "got", x__py=code, colorsys__py=hostile(folder))).run()


@attempt
def code_that_changes_after_the_answer(folder: Path) -> None:
    code = HARMLESS + "# changes\n"
    agreed(folder, x__py=code)
    here(folder)
    loaded = Scenario.load(lay(folder / "got", x__py=code))
    loaded.run()
    (folder / "got" / "x.py").write_text(hostile(folder))
    loaded.run()


@attempt
def a_module_of_python_itself(folder: Path) -> None:
    here(folder)
    try:
        Scenario.load(lay(folder / "got", "antigravity:C")).run()
    finally:
        if "antigravity" in sys.modules:
            (folder / "ran").touch()


SCHEME = """
from anabranch.own import RoutingScheme
class C(RoutingScheme):
    def paths(self, network, source, target): return []
"""
KINDS = {
    "scheduler": '[transport.mine]\npreset = "mptcp"\nscheduler = { python = "PYTHON" }\n',
    "balancer": '[transport.mine]\npreset = "cubic"\n[routing]\nload_balancing = { python = "PYTHON" }\n',
    "controller": '[transport.mine]\npreset = "cubic"\n[controller]\napplication = { python = "PYTHON" }\n'
    'links = { capacity = "1 Gbps", delay = "1 ms" }\n',
    "scheme": '[transport.mine]\npreset = "cubic"\n[routing]\nscheme = { python = "PYTHON" }\n',
    "control": CONTROL,
}


def of_kind(kind: str) -> Try:
    """A try with a class of a kind."""

    def run(folder: Path) -> None:
        here(folder)
        Scenario.load(lay(folder / "got", text=KINDS[kind], x__py=hostile(folder))).run()

    return run


for _kind in ("scheduler", "balancer", "controller", "scheme"):
    TRIES[f"a_{_kind}"] = of_kind(_kind)


@attempt
def the_scheme_of_an_entry(folder: Path) -> None:
    here(folder)
    file = lay(folder / "got", x__py=hostile(folder), text='[transport.mine]\npreset = "cubic"\n')
    text = file.read_text().replace(
        'size = "3 kB"', 'size = "3 kB"\nrouting = { scheme = { python = "x.py:C" } }'
    )
    file.write_text(text)
    Scenario.load(file).run()


DEMAND = '[routing.demand]\npair = "1 Mbps"\n'


@attempt
def the_routes(folder: Path) -> None:
    here(folder)
    Scenario.load(lay(folder / "got", text=KINDS["scheme"], x__py=hostile(folder))).routes()


@attempt
def the_worst_loads(folder: Path) -> None:
    here(folder)
    Scenario.load(lay(folder / "got", text=KINDS["scheme"] + DEMAND, x__py=hostile(folder))).worst_case()


@attempt
def an_export(folder: Path) -> None:
    here(folder)
    export(
        Scenario.load(lay(folder / "got", text=KINDS["scheme"], x__py=hostile(folder))), "csv", Path("out")
    )


@attempt
def a_run_in_steps(folder: Path) -> None:
    here(folder)
    Scenario.load(lay(folder / "got", x__py=hostile(folder))).start()


@attempt
def a_copy_of_the_scenario(folder: Path) -> None:
    here(folder)
    copy.deepcopy(Scenario.load(lay(folder / "got", x__py=hostile(folder)))).run()


@attempt
def a_pickled_scenario(folder: Path) -> None:
    here(folder)
    loaded = Scenario.load(lay(folder / "got", x__py=hostile(folder)))
    pickle.loads(pickle.dumps(loaded)).run()


@attempt
def a_changed_scenario(folder: Path) -> None:
    here(folder)
    Scenario.load(lay(folder / "got", x__py=hostile(folder))).replace({"run.seed": 2}).run()


STUDY = 'scenario = "SCENARIO"\n[[factor]]\nfield = "run.seed"\nlevels = [1, 2]\n'


@attempt
def a_study_outside(folder: Path) -> None:
    here(folder)
    lay(folder / "got", x__py=hostile(folder))
    (folder / "got" / "study.toml").write_text(STUDY.replace("SCENARIO", "s.toml"))
    Study.load("../got/study.toml").run(1)


@attempt
def a_study_of_ones_own_of_a_scenario_outside(folder: Path) -> None:
    work = here(folder)
    lay(folder / "got", x__py=hostile(folder))
    (work / "study.toml").write_text(STUDY.replace("SCENARIO", "../got/s.toml"))
    design(Study.load("study.toml"))


@attempt
def a_level_of_a_study(folder: Path) -> None:
    here(folder)
    lay(folder / "got", text='[transport.mine]\npreset = "newreno"\n', x__py=hostile(folder))
    text = 'scenario = "s.toml"\n[[factor]]\nlabel = "a"\n[[factor.level]]\nlabel = "one"\n'
    text += 'set = { "transport.mine.congestion_control" = { python = "x.py:C" } }\n'
    (folder / "got" / "study.toml").write_text(text)
    Study.load("../got/study.toml").run(1)


@attempt
def a_study_built_around_a_loaded_scenario(folder: Path) -> None:
    here(folder)
    Study(scenario=Scenario.load(lay(folder / "got", x__py=hostile(folder)))).run(1)


def planted(change: Callable[[Path], object]) -> Try:
    """A try in which the list of answers has the code, and cannot be believed."""

    def run(folder: Path) -> None:
        here(folder)
        file = lay(folder / "got", x__py=hostile(folder))
        os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
        (folder / "config").mkdir()
        try:
            from anabranch.own.code_files import read_code  # noqa: PLC0415
            from anabranch.own.kept_answers import keep_answers  # noqa: PLC0415

            keep_answers([read_code(folder / "got" / "x.py")[1]], frozenset())
            change(answers_file())
            Scenario.load(file).run()
        finally:
            del os.environ["XDG_CONFIG_HOME"]

    return run


def _link(file: Path) -> None:
    shutil.move(file, file.with_name("other"))
    file.symlink_to("other")


def _link_folder(file: Path) -> None:
    shutil.move(file.parent, file.parents[1] / "other")
    file.parent.symlink_to("other")


TRIES["a_list_that_others_can_write"] = planted(lambda file: file.chmod(0o622))
TRIES["a_list_in_a_folder_that_others_can_write"] = planted(lambda file: file.parent.chmod(0o777))
TRIES["a_list_by_a_link"] = planted(_link)
TRIES["a_list_in_a_folder_by_a_link"] = planted(_link_folder)


@attempt
def a_list_below_the_current_folder(folder: Path) -> None:
    got = lay(folder / "got", x__py=hostile(folder)).parent
    os.environ["XDG_CONFIG_HOME"] = str(got / "config")
    from anabranch.own.code_files import read_code  # noqa: PLC0415
    from anabranch.own.kept_answers import keep_answers  # noqa: PLC0415

    keep_answers([read_code(got / "x.py")[1]], frozenset())
    manifest(got)
    os.chdir(got)
    os.environ["XDG_CONFIG_HOME"] = "config"
    try:
        Scenario.load("s.toml").run()
    finally:
        del os.environ["XDG_CONFIG_HOME"]


def _device(make: Callable[[Path], object]) -> Try:
    def run(folder: Path) -> None:
        work = here(folder)
        file = lay(work)
        make(work / "x.py")
        Scenario.load(file).run()

    return run


TRIES["code_that_is_a_device"] = _device(lambda file: file.symlink_to("/dev/zero"))
TRIES["code_that_is_a_fifo"] = _device(os.mkfifo)
TRIES["code_that_is_a_folder"] = _device(Path.mkdir)
TRIES["code_of_a_megabyte"] = _device(
    lambda file: file.write_text(RAN.format(ran=str(file.parents[1] / "ran")) + "#" * 1_000_000)
)


@attempt
def a_file_of_another_user(folder: Path) -> None:
    # The fixture has given it to somebody else.
    os.chdir(folder)
    Scenario.load("s.toml").run()


def main(folder: Path) -> None:
    """Makes each try in a folder of its own."""
    entries = {}
    for name, function in TRIES.items():
        place = folder / name
        place.mkdir(exist_ok=True)
        error = None
        try:
            function(place)
        except AnabranchError as refused:
            error = f"{type(refused).__name__}: {refused}"
        entries[name] = {"ran": (place / "ran").exists(), "error": error}
    sys.stdout.write(json.dumps(entries))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
