"""The studio in a notebook: the sliders of a scenario, in a frame that the kernel's process answers."""

from __future__ import annotations

import asyncio
import html
import secrets
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import tomli_w

from anabranch.scenario.scenario import Scenario
from anabranch.studio.answers import Desk
from anabranch.studio.folder import Folder
from anabranch.studio.serving import bound, served, server_of

FILE = "notebook.toml"
"""The name of the scenario in the page; Save writes it beside the files that the scenario names."""


@dataclass(slots=True, weakref_slot=True)
class Widget:
    """A scenario with its sliders, which a notebook shows as a frame.

    The page is that of ``anabranch studio``, and the process of the kernel answers it, on this machine alone.
    So it needs a kernel on the machine of the browser, or its port passed on; a saved notebook has an empty
    frame.
    """

    scenario_class: type[Scenario]
    desk: Desk
    address: str
    height: int
    _end: Any = field(repr=False)

    @property
    def scenario(self) -> Scenario:
        """The scenario as the sliders have it now.

        Raises:
            ScenarioError: with what is wrong with it, as the page shows it.
        """
        return self.scenario_class.loads(self.desk.shown, base=self.desk.folder.root)

    def close(self) -> None:
        """Ends the server; the frame answers nothing any more."""
        self._end()

    def _repr_html_(self) -> str:
        """The frame."""
        style = f"width:100%;height:{self.height}px;border:1px solid #ccc"
        # Without leave, a frame of another origin has no clipboard.
        about = f'title="Studio" allow="clipboard-write" style="{style}"'
        return f'<iframe src="{html.escape(self.address)}" {about}></iframe>'


def widget(scenario: Scenario, *, height: int, trust: bool = False) -> Widget:
    """Starts a server for a scenario, until the widget is closed or gone.

    Args:
        scenario: what the sliders change; it stays as it is.
        height: of the frame, in pixels.
        trust: let code of somebody else's run.

    Raises:
        StudioError: if no port is free.
    """
    desk = Desk(Folder(scenario.base or Path.cwd()), FILE, trust)
    desk.text = desk.shown = tomli_w.dumps(scenario.data(given_only=True))
    opened = bound(None)
    port = opened.getsockname()[1]
    token = secrets.token_urlsafe(24)
    server = server_of(desk, token, port, is_framed=True)
    threading.Thread(
        target=asyncio.run, args=[served(server, opened, desk)], name="studio", daemon=True
    ).start()
    address = f"http://127.0.0.1:{port}/#{urlencode({'token': token, 'widget': '1'})}"

    def end() -> None:
        server.should_exit = True

    made = Widget(type(scenario), desk, address, height, None)
    made._end = weakref.finalize(made, end)
    return made
