"""What all tests need of the process that runs them, and what is said of tests that were skipped."""

import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

# A shell without job control has what it starts in the background ignore Ctrl-C, and nohup the end of its
# terminal, which all children inherit. The tests of signals would wait for ever, and a search that nothing
# ends takes all memory.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

KINDS = ("not installed: ", "needs root: ", "not here: ", "by chance: ")
"""How the reason of a skipped test begins: a program or package that ``make test-tools`` or ``make setup``
installs; rights; data that are not in the repository, a system, what a kernel has; a busy machine."""


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """Ctrl-C raises, whatever earlier tests of the process have left: by the system's default it ends all."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def whole_machine() -> Iterator[None]:
    """For tests that make switches or named namespaces, or look for those of all: one at a time.

    Other processes of the same tests have theirs at the same time.
    """
    if sys.platform == "win32":
        # Windows has no such lock, nor what these tests make.
        yield
        return
    import fcntl  # noqa: PLC0415 - Windows has none

    with (Path(tempfile.gettempdir()) / "anabranch-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--no-skips``."""
    parser.addoption("--no-skips", action="store_true", help="fail if a test is skipped that could run in CI")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a session with ``--no-skips`` in which something was skipped that CI could have run."""
    fails = any(map(_is_avoidable, _reasons(session.config)))
    if session.config.getoption("--no-skips") and fails and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says at the end which tests were skipped for want of what, and what would run them."""
    reasons = _reasons(config)
    if not reasons:
        return
    terminalreporter.write_sep("=", "not tested here", yellow=True)
    for reason, count in reasons.most_common():
        unknown = "" if reason.startswith(KINDS) else f" (begins with none of {KINDS}, as conftest.py asks)"
        terminalreporter.write_line(f"{count} skipped: {reason}{unknown}")
    if count := sum(count for reason, count in reasons.items() if reason.startswith(KINDS[0])):
        terminalreporter.write_line(
            f"{count} {'was' if count == 1 else 'were'} skipped for want of something to install. "
            "As root: make test-tools (Debian's programs), then make test"
        )


def _reasons(config: pytest.Config) -> Counter[str]:
    """How many tests were skipped for each reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter is not None else []
    return Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)


def _is_avoidable(reason: str) -> bool:
    """Whether what is missing can be installed, or is said to be rights that root has, or is not said."""
    if reason.startswith("needs root: "):
        return os.geteuid() == 0
    return reason.startswith("not installed: ") or not reason.startswith(KINDS)


# What tests agree to is kept in no configuration of the user's. Before other modules copy the environment.
_CONFIGURATION = tempfile.mkdtemp(prefix="anabranch-tests-")
os.environ["XDG_CONFIG_HOME"] = _CONFIGURATION


def pytest_unconfigure(config: pytest.Config) -> None:  # noqa: ARG001 - a hook
    """Removes the configuration."""
    shutil.rmtree(_CONFIGURATION, ignore_errors=True)
