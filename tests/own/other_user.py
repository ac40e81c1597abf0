"""Running a program as a user who is not root, wherever Python is installed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

UID = 65534
OTHER_UID = 54321


@contextmanager
def users_folder() -> Iterator[Path]:
    """A folder of that user's, which others can look into."""
    with tempfile.TemporaryDirectory(prefix="anabranch-trust-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(folder, UID, UID)
        yield folder


def as_user(command: list[str], folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder as a user who is not root, whose home is the folder.

    He may read whatever root may: Python may lie in root's home.
    """
    capability = "+dac_read_search"
    user = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    user += [f"--inh-caps={capability}", f"--ambient-caps={capability}"]
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
    return subprocess.run(  # noqa: S603 - our own
        [*(user if os.geteuid() == 0 else []), *command],
        cwd=folder, env=environment | {"HOME": str(folder), "NO_COLOR": "1"}, capture_output=True, text=True,
        timeout=300, check=False, **options,
    )  # fmt: skip


def anabranch(*arguments: str) -> list[str]:
    """The command line as a program and its arguments."""
    return [sys.executable, "-m", "anabranch", *arguments]
