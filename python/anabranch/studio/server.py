"""The server of the page, on this machine alone: whoever has its address and its token may ask."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from anabranch.errors import AnabranchError
from anabranch.studio.answers import Desk, LongWork
from anabranch.studio.pages import files
from anabranch.studio.work import Data, Work, line_of

TOKEN = "x-studio-token"  # noqa: S105 - the name of a header
"""The header in which a page shows its token."""
_BETWEEN_LOOKS_S = 0.05
_log = logging.getLogger(__name__)
_LARGEST_QUESTION_BYTES = 100_000_000
_LINES = "application/x-ndjson"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
_NOBODY = "'none'"
_NOTEBOOKS = "http://127.0.0.1:* http://localhost:* vscode-webview:"
"""Pages that may show this one in a frame: those of notebooks on this machine."""
_HEADERS = {
    "Content-Security-Policy": _POLICY + _NOBODY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(desk: Desk, token: str, port: int, *, is_framed: bool = False) -> ASGIApp:
    """The application that serves the page and its questions.

    Args:
        desk: answers.
        token: what every question must show.
        port: at which it is reached, for the check of names.
        is_framed: whether notebooks of this machine may have the page in a frame; nobody else may.
    """
    routes = [
        Route("/", partial(_file, "index.html", ancestors=_NOTEBOOKS if is_framed else _NOBODY)),
        Route("/ask", partial(_ask, desk, token), methods=["POST"]),
        Route("/{name}", _named),
    ]
    return OwnNames(Starlette(routes=routes), port)


class OwnNames:
    """Refuses whatever does not come to us by our own name, or from a page of another origin.

    A name of somebody else's that resolves to 127.0.0.1 makes a browser take our answers for those of that
    name's pages (DNS rebinding): the header ``Host`` shows it. ``Origin`` (RFC 6454 section 7) shows whose
    page asks.
    """

    def __init__(self, inner: ASGIApp, port: int) -> None:
        self._inner = inner
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] == "http" and (why := self._refused(scope)):
            await JSONResponse({"error": why}, 403, headers=_HEADERS)(scope, receive, send)
            return
        await self._inner(scope, receive, send)

    def _refused(self, scope: Scope) -> str:
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value.lower() for name, value in headers if name == b"host"]
        origins = [value.lower() for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "this server answers to 127.0.0.1 and localhost alone"
        if any(origin not in self._origins for origin in origins):
            return "a page of another origin may not ask"
        return ""


async def _file(name: str, _request: Request, *, ancestors: str = _NOBODY) -> Response:
    file = files().get(name)
    if file is None:
        return Response("not found", 404, headers=_HEADERS)
    kind, content = file
    headers = _HEADERS | {"Content-Security-Policy": _POLICY + ancestors}
    return Response(content, media_type=kind, headers=headers)


async def _named(request: Request) -> Response:
    return await _file(request.path_params["name"], request)


async def _ask(desk: Desk, token: str, request: Request) -> Response:
    """A question as JSON; the answer as lines of JSON, of which the last has ``answer`` or ``error``."""
    if not hmac.compare_digest(request.headers.get(TOKEN, "").encode(), token.encode()):
        return JSONResponse(
            {"error": "wrong token: open the address that the terminal shows"}, 401, headers=_HEADERS
        )
    try:
        question = await _question(request)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400, headers=_HEADERS)
    if work := desk.works.get(str(question.get("what"))):
        return StreamingResponse(_shown(desk, work, question), media_type=_LINES, headers=_HEADERS)
    line = await run_in_threadpool(_answered, partial(desk.answer, question))
    return Response(line, media_type=_LINES, headers=_HEADERS)


async def _question(request: Request) -> Data:
    """The question of a request.

    Raises:
        ValueError: if it is none.
    """
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > _LARGEST_QUESTION_BYTES:
            raise ValueError("the question is too large")
    question = json.loads(content.decode("utf-8"))
    if not isinstance(question, dict):
        raise ValueError("a question is an object of JSON")  # noqa: TRY004 - as any other text that is none
    return question


def _answered(answer: Callable[[], Data]) -> bytes:
    """The last line of an answer: what was asked for, or what is wrong."""
    try:
        return line_of({"answer": answer()})
    except (AnabranchError, OSError) as error:
        return line_of({"error": str(error)})
    except (TypeError, ValueError, KeyError) as error:
        # A question of another version or by hand, or a mistake of ours, which the terminal tells in full.
        _log.exception("a question cannot be answered")
        return line_of({"error": f"the question cannot be answered: {type(error).__name__}: {error}"})
    except BaseException as error:
        # Panics of compiled code are no exceptions of Python's. The studio goes on.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        _log.exception("a question has failed")
        return line_of({"error": f"{type(error).__name__}: {error}; the terminal says more"})


async def _shown(desk: Desk, kind: LongWork, question: Data) -> AsyncIterator[bytes]:
    """The lines of a picture as they come; whoever goes away ends the work."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(line: bytes | None) -> None:
        try:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        except RuntimeError:
            # A work that was left alone may end behind its server, where nobody listens.
            if not loop.is_closed():
                raise

    def do(work: Work) -> None:
        try:
            put(_answered(lambda: kind.do(question, work, lambda message: put(line_of(message)))))
        finally:
            put(None)

    work = desk.workshop.start(str(question.get("tab", "")), do)
    try:
        while not work.stopped.is_set() or not lines.empty():
            with suppress(TimeoutError):
                line = await asyncio.wait_for(lines.get(), _BETWEEN_LOOKS_S)
                if line is None:
                    return
                yield line
        # A run ends at once and has something to show; what cannot be ended is left alone.
        # Where nobody waits for it any more, neither do we.
        with suppress(TimeoutError):
            patience = 0.0 if work.replaced else kind.patience_s
            while (line := await asyncio.wait_for(lines.get(), patience)) is not None:
                yield line
            return
        yield line_of({"answer": desk.unfinished(question, work)})
    finally:
        # Done already, or nobody listens any more.
        work.replaced = True
        work.stopped.set()
