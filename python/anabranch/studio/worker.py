"""A process that makes pictures for the one that has started it, and ends with it.

A solver ends only with its process, and a live run keeps to the clock only where nothing else runs: whoever
wants to end either ends this. A line of JSON on the input asks; lines of JSON on the output are what there is
before, and last ``answer`` or ``failed``. The line ``stop`` is Ctrl-C: a run shows what it has measured.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from anabranch.errors import AnabranchError
from anabranch.process.signals import interrupt
from anabranch.scenario.scenario import Scenario
from anabranch.studio.drawing import picture_of
from anabranch.studio.keeping import figures, keep
from anabranch.studio.texts import ScenarioText, problem_list
from anabranch.studio.work import Data, line_of

STOP = b"stop\n"
# Code of the user's own may not end this process; we may.
_exit = os._exit
_log = logging.getLogger(__name__)


def main() -> None:
    """Answers one question after the other until the input ends, and with it this process."""
    # In between, Ctrl-C is for whoever has started us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = _output()
    asked: queue.SimpleQueue[Data] = queue.SimpleQueue()
    stopped = threading.Event()
    threading.Thread(target=_listen, args=[asked, stopped], name="input", daemon=True).start()
    # While it has nothing else to do: the solvers, which the first question would wait for.
    import anabranch.plans.worst_loads  # noqa: F401, PLC0415

    while True:
        question = asked.get()
        output.tell(_answer(question, output, stopped))


class _Output:
    """The lines to whoever has started us; nothing else that is printed gets among them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def tell(self, message: Data) -> None:
        """Writes a line; where nobody reads it any more, this process is about to end."""
        with self._lock, suppress(OSError):
            self._stream.write(line_of(message))
            self._stream.flush()


def _output() -> _Output:
    # Solvers print where they like.
    stream = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return _Output(stream)


def _listen(asked: queue.SimpleQueue[Data], stopped: threading.Event) -> None:
    for line in sys.stdin.buffer:
        if line == STOP:
            stopped.set()
            interrupt()
        else:
            asked.put(json.loads(line))
    # Whoever has started us is gone, and whatever goes on is for nobody.
    _exit(0)


def _answer(question: Data, output: _Output, stopped: threading.Event) -> Data:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if stopped.is_set():
            raise KeyboardInterrupt  # noqa: TRY301 - it came before this could hear it
        return {"answer": _picture(question, output)}
    except KeyboardInterrupt:
        return {"answer": None}
    except AnabranchError as error:
        return {"answer": {"problems": problem_list(error)}}
    except BaseException as error:  # noqa: BLE001 - told to whoever asks, who goes on
        # Panics of compiled code are no exceptions of Python's.
        _log.exception("a question has failed")
        return {"failed": f"{type(error).__name__}: {error}; the terminal says more"}
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _picture(question: Data, output: _Output) -> Data:
    """What a question asks for: a picture, or that it is kept, or its figures."""
    source = ScenarioText(question["text"], Path(question["file"]), question["trust"])
    scenario: Scenario = source.scenario()
    if question["mode"] == "live":
        from anabranch.studio.live import live_picture  # noqa: PLC0415 - needs Linux

        return {"problems": [], **live_picture(scenario, output.tell)}
    if "keep" in question:
        return {"problems": [], **keep(scenario, question["mode"], Path(question["keep"]), output.tell)}
    if question.get("figures"):
        return {"problems": [], **figures(scenario, question["mode"], output.tell)}
    made: Any = picture_of(scenario, question["mode"], lambda: None, output.tell)
    return {"problems": [], "picture": made}
