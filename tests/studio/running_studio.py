"""A studio that runs in a thread, and what may be asked of it without a browser."""

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch.studio.answers import Desk
from anabranch.studio.folder import Folder
from anabranch.studio.serving import bound, served, server_of

EXAMPLES = Path(__file__).parents[2] / "examples"
TOKEN = "the-token-of-this-test"  # noqa: S105


@dataclass
class Running:
    """A studio that runs, and what may be asked of it without a browser."""

    folder: Path
    trust: bool = False
    first: str | None = None
    port: int = 0
    _server: Any = field(default=None, repr=False)
    _thread: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> "Running":
        opened = bound(self.port or None)
        self.port = opened.getsockname()[1]
        self.desk = Desk(Folder(self.folder), self.first, self.trust)
        self._server = server_of(self.desk, TOKEN, self.port)
        serving = served(self._server, opened, self.desk)
        self._thread = threading.Thread(target=asyncio.run, args=[serving], daemon=True)
        self._thread.start()
        until = time.monotonic() + 20
        while not self._server.started:
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()
        self.desk.close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/#token={TOKEN}"

    @property
    def connections(self) -> set[Any]:
        """Those that the server has accepted, as uvicorn's protocols."""
        connections: set[Any] = self._server.server_state.connections
        return connections

    def lines(
        self,
        question: dict[str, Any],
        headers: dict[str, str] | None = None,
        heard: list[dict[str, Any]] | None = None,
    ) -> list[dict[str, Any]]:
        """All lines of an answer; a refusal is one line with its status. A list has them as they come."""
        lines = [] if heard is None else heard
        every = {"x-studio-token": TOKEN, "content-type": "application/json"} | (headers or {})
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/ask", json.dumps(question).encode(), every
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - as above
                lines += (json.loads(line) for line in response)
                return lines
        except urllib.error.HTTPError as error:
            with error:
                return [{"status": error.code, **json.loads(error.read())}]

    def ask(self, what: str, **question: Any) -> dict[str, Any]:
        """The answer to a question; AssertionError with its message if there is none."""
        last = self.lines({"what": what, "tab": "test", **question})[-1]
        assert "answer" in last, last.get("error", last)
        answer: dict[str, Any] = last["answer"]
        return answer

    def refused(self, what: str, **question: Any) -> str:
        """The message of what is refused."""
        return str(self.lines({"what": what, "tab": "test", **question})[-1]["error"])
