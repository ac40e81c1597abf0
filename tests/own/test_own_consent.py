"""Code that a scenario names runs only where its user has written it, or has agreed to it."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tries
import tries_imports
from other_user import OTHER_UID, UID, as_user, users_folder

TRIES = [Path(module.__file__ or "") for module in (tries, tries_imports)]
NOT_CONSENT = {
    "known_code_with_a_hidden_import": "nobody has agreed to it",
    "known_code_that_imports_while_it_runs": "nobody has agreed to it",
    "known_code_with_compiled_code_beside": None,
    "known_code_with_bytecode_alone": None,
    "a_link_to_a_package_with_bytecode": "is no source, and nobody has agreed to it",
    "a_package_of_bytecode": "is no source, and nobody has agreed to it",
    "a_package_of_the_current_folder_without_init": "is no source, and nobody has agreed to it",
    "known_code_with_a_package_behind_a_link": None,
    "known_code_that_imports_a_part_later": None,
    "a_module_of_python_itself": "is a module of Python itself",
    "code_that_is_a_device": "is not a regular file",
    "code_that_is_a_fifo": "is not a regular file",
    "code_that_is_a_folder": "is not a regular file",
    "code_of_a_megabyte": "has a megabyte or more",
}
"""Tries in which what is harmless runs, or that fail for what can be seen before anybody is asked."""


@pytest.fixture(scope="module")
def tried() -> Iterator[dict[str, Any]]:
    """What came of each try."""
    with users_folder() as folder:
        for file in TRIES:
            (folder / file.name).write_bytes(file.read_bytes())
        foreign = folder / "a_file_of_another_user"
        file = tries.lay(foreign, x__py=tries.hostile(foreign))
        if os.geteuid() == 0:
            os.chown(foreign, UID, UID)
            os.chown(file, OTHER_UID, OTHER_UID)
        done = as_user([sys.executable, TRIES[-1].name, str(folder)], folder)
        assert done.returncode == 0, done.stderr[-3000:]
        yield json.loads(done.stdout)


@pytest.mark.parametrize("name", tries.TRIES)
def test_nothing_runs_without_consent(name: str, tried: dict[str, Any]) -> None:
    if name == "a_file_of_another_user" and os.geteuid() != 0:
        pytest.skip("needs root: for a file of another user")
    outcome = tried[name]
    assert not outcome["ran"]
    if name not in NOT_CONSENT:
        assert (outcome["error"] or "").startswith("ConsentError: "), outcome
        assert "trust=True" in outcome["error"]
    elif NOT_CONSENT[name] is not None:
        assert NOT_CONSENT[name] in (outcome["error"] or ""), outcome
