"""Starts the studio: a port, a token, a browser; until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from anabranch.errors import StudioError, reason
from anabranch.process.real_path import real_path
from anabranch.studio.answers import Desk
from anabranch.studio.folder import Folder
from anabranch.studio.server import application

_HOST = "127.0.0.1"
USUAL_PORT = 8765
"""The first port that is tried where none is asked for."""
_NEXT_PORTS = 20
_BETWEEN_LOOKS_S = 0.1
_GRACE_S = 1
"""How long answers may take once the server ends."""


def desk_of(place: Path, *, trust: bool) -> Desk:
    """The desk over a folder, or over the folder of a file, which is shown first.

    Raises:
        StudioError: if it is neither.
    """
    if place.is_dir():
        return Desk(Folder(place), None, trust)
    if place.suffix == ".toml" and (place.is_file() or place.parent.is_dir()):
        # A link that somebody names is meant; those in the folder are not followed out of it.
        place = real_path(place)
        return Desk(Folder(place.parent), place.name, trust)
    raise StudioError(f"{place}: is neither a scenario (.toml) nor a folder")


def bound(port: int | None) -> socket.socket:
    """A socket on this machine alone, at a port, or at a free one near the usual where it is None.

    Raises:
        StudioError: if the port is in use, or may not be taken.
    """
    wanted = [port] if port is not None else [*range(USUAL_PORT, USUAL_PORT + _NEXT_PORTS), 0]
    for number in wanted:
        # With its protocol: asyncio leaves Nagle's algorithm on otherwise, and a line of an answer waits for
        # an acknowledgment, which the browser's host delays by 40 ms.
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":
                # A server that has just ended leaves its port in use for a while otherwise. On Windows it
                # would share the port with whoever has it.
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind((_HOST, number))
            opened.listen()
        except (OSError, OverflowError) as error:
            opened.close()
            if port is None and isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                continue
            why = reason(error) if isinstance(error, OSError) else "no port number"
            raise StudioError(f"port {number}: {why}; leave --port out, and a free one is taken") from None
        return opened
    raise StudioError("no port is free")


def serve(desk: Desk, *, port: int | None, browser: bool, say: Callable[[str], None]) -> None:
    """Serves the studio until Ctrl-C.

    Args:
        desk: answers.
        port: at which; None for a free one near the usual.
        browser: whether to open it.
        say: told the address, and what could not be done.

    Raises:
        StudioError: if the port cannot be had.
    """
    with bound(port) as opened:
        number = opened.getsockname()[1]
        if port is None and number != USUAL_PORT:
            say(f"port {USUAL_PORT} is in use; this is {number}")
        token = secrets.token_urlsafe(24)
        address = f"http://{_HOST}:{number}/#token={token}"
        say(f"studio of {real_path(desk.folder.root)}: {address}")
        say("whoever has this address can read and write there; Ctrl-C ends it")
        if browser and not _opens(address):
            say("no browser could be opened; open the address above in one")
        asyncio.run(served(server_of(desk, token, number), opened, desk))


def server_of(desk: Desk, token: str, port: int, *, is_framed: bool = False) -> uvicorn.Server:
    """The server, which runs over a socket at this port; ``is_framed`` as in :func:`application`."""
    config = uvicorn.Config(
        application(desk, token, port, is_framed=is_framed), log_level="warning", access_log=False,
        lifespan="off", timeout_graceful_shutdown=_GRACE_S,
    )  # fmt: skip
    return uvicorn.Server(config)


async def served(server: uvicorn.Server, opened: socket.socket, desk: Desk) -> None:
    """Runs a server until it is told to exit, as by a signal; works end first, so that their answers do."""

    async def end_works() -> None:
        while not server.should_exit:
            await asyncio.sleep(_BETWEEN_LOOKS_S)
        desk.close()

    ending = asyncio.create_task(end_works())
    try:
        await server.serve(sockets=[opened])
    finally:
        ending.cancel()
        desk.close()


def _opens(address: str) -> bool:
    # A browser of the terminal would take the terminal.
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & os.environ.keys():
        return False
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
