"""What all tests need of the process that runs them, and what is said of tests that were skipped."""

import os
import re
import shutil
import signal
import tempfile
from collections import Counter

import pytest

# A shell without job control has what it starts in the background ignore Ctrl-C, which all children inherit.
# The tests of Ctrl-C would wait for ever, and a search that nothing ends takes all memory.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

BY_CHANCE = re.compile(
    "the machine is too busy|this kernel has no |the kernel dropped packets|one run of five that scatter"
)
"""Reasons that no package takes away: a busy machine, and what a kernel was built without."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--no-skips``."""
    parser.addoption(
        "--no-skips", action="store_true", help="fail if a test is skipped for want of something to install"
    )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails a session with ``--no-skips`` in which something was not there."""
    if session.config.getoption("--no-skips") and _missing(session.config) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says at the end which tests were skipped for want of what, and what would run them."""
    missing = _missing(config)
    if not missing:
        return
    terminalreporter.write_sep("=", "not tested here", yellow=True)
    for reason, count in missing.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
    terminalreporter.write_line(
        f"{missing.total()} tests are skipped for want of something to install. As root: make test-tools "
        "(Debian), then make test"
    )


def _missing(config: pytest.Config) -> Counter[str]:
    """How many tests were skipped for each reason that a package would take away."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter is not None else []
    reasons = (report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    return Counter(reason for reason in reasons if not BY_CHANCE.match(reason))


# What tests agree to is kept in no configuration of the user's. Before other modules copy the environment.
_CONFIGURATION = tempfile.mkdtemp(prefix="anabranch-tests-")
os.environ["XDG_CONFIG_HOME"] = _CONFIGURATION


def pytest_unconfigure(config: pytest.Config) -> None:  # noqa: ARG001 - a hook
    """Removes the configuration."""
    shutil.rmtree(_CONFIGURATION, ignore_errors=True)
