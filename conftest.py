"""What all tests of the project need of the process that runs them."""

import os
import shutil
import signal
import tempfile

import pytest

# A shell without job control has what it starts in the background ignore Ctrl-C, which all children inherit.
# The tests of Ctrl-C would wait for ever, and a search that nothing ends takes all memory.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests agree to is kept in no configuration of the user's. Before other modules copy the environment.
_CONFIGURATION = tempfile.mkdtemp(prefix="anabranch-tests-")
os.environ["XDG_CONFIG_HOME"] = _CONFIGURATION


def pytest_unconfigure(config: pytest.Config) -> None:  # noqa: ARG001 - a hook
    """Removes the configuration."""
    shutil.rmtree(_CONFIGURATION, ignore_errors=True)
