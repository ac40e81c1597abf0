"""Switches and controller as this process sees them: programs in namespaces, told by lines of JSON."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from anabranch.errors import LiveError
from anabranch.live.namespace import first_in_line, tied
from anabranch.process.python_process import python_command

_READY_S = 40.0
_TABLES_S = 10.0
# Below the switches, which are below the links.
_PRIORITY = 2
_START = "from anabranch.live.switches.controller.__main__ import main; main()"


class TiedProcess:
    """A program in a namespace that ends with the thread that starts it, which has to be the main one."""

    def __init__(self, name: str, namespace: int, command: Sequence[str], *, alone: bool = False) -> None:
        """Starts it; arguments as of :func:`anabranch.live.namespace.tied`."""
        self._name = name
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - until it is closed
        self._process = subprocess.Popen(  # noqa: S603 - our own
            tied(namespace, command, alone=alone),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )

    @property
    def output(self) -> IO[bytes]:
        """The output of the process."""
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        return self._process.stdout

    def ended(self) -> str | None:
        """Why it is not there any more; None while it is."""
        status = self._process.poll()
        return None if status is None else f"{self._name} has ended with status {status}: {self.last_words()}"

    def said(self) -> str:
        """All that it has said to nobody."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def last_words(self) -> str:
        """The last line of what it said to nobody."""
        lines = self.said().split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it says nothing")

    def close(self) -> None:
        """Ends the process, and waits for what it has started: that holds its output open."""
        self._process.kill()
        self._process.communicate()
        self._said.close()


class ControllerProcess(TiedProcess):
    """A controller in the namespace of the switches.

    It listens to its input: its configuration in one line, and then the time zero of the run. On its output
    it tells what it does, an object in each line: ``kind``, ``at_ns`` of the monotonic clock, and more.
    """

    def __init__(self, namespace: int, configuration: dict[str, Any]) -> None:
        """Starts it, and tells it what it is to do."""
        command = [*first_in_line(_PRIORITY), *python_command(_START)]
        super().__init__("the controller", namespace, command)
        self.events: list[dict[str, Any]] = []
        """What it has told so far."""
        self._ready, self._tables = threading.Event(), threading.Event()
        self._reader = threading.Thread(target=self._read, name="controller", daemon=True)
        self._reader.start()
        self._tell(configuration)

    def _tell(self, line: dict[str, Any]) -> None:
        # Where it has ended, `ended` tells.
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(line).encode() + b"\n")
                self._process.stdin.flush()

    def _read(self) -> None:
        for line in self.output:
            event = json.loads(line)
            self.events.append(event)
            if event["kind"] == "ready":
                self._ready.set()
            elif event["kind"] == "tables":
                self._tables.set()
        # Nobody waits for one that has ended.
        self._ready.set()
        self._tables.set()

    def wait(self) -> None:
        """Waits until all switches have their first entries.

        Raises:
            LiveError: if the controller does not get there.
        """
        if not self._ready.wait(_READY_S):
            raise LiveError(f"the controller does not reach all switches within {_READY_S:g} s")
        if not any(event["kind"] == "ready" for event in self.events):
            raise LiveError(f"the controller does not start: {self.last_words()}")

    def begin(self, begin_ns: int) -> None:
        """The run begins at this time of the monotonic clock."""
        self._tell({"begin_ns": begin_ns})

    def tables(self) -> dict[str, Any] | None:
        """The run has ended: what the controller has to say; None where it has ended before."""
        self._tell({"ended": True})
        self._tables.wait(_TABLES_S)
        return next((event for event in self.events if event["kind"] == "tables"), None)

    def close(self) -> None:
        """Ends the controller."""
        self._process.kill()
        self._reader.join()
        super().close()
