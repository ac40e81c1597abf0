"""Questions of the page and their answers: plain data in, plain data out, whoever carries them."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from anabranch import _core, topology
from anabranch.errors import AnabranchError, Problem, StudioError
from anabranch.results.folders.stamp import stamp
from anabranch.results.result import json_ready
from anabranch.scenario.scenario import Scenario
from anabranch.setup import Needed, resolve
from anabranch.studio import keeping
from anabranch.studio.apart import Apart
from anabranch.studio.drawing import MODES, is_long, picture_of
from anabranch.studio.folder import Folder
from anabranch.studio.live_lines import LiveLines, why_not_live
from anabranch.studio.pictures import land, network_picture
from anabranch.studio.texts import UNSAVED, ScenarioText, edited, problem_list
from anabranch.studio.work import Data, Teller, Work, Workshop

LIVE_GRACE_S = 10.0
"""How long a live run that is stopped has to show what it has measured."""
KEEP_GRACE_S = 10.0
"""How long a run that is kept has to write what it has measured, once it is stopped."""
BESIDE = "-beside"
"""The end of the name of a tab whose run stands beside the one that is shown (``compare.js``)."""
_LARGEST_IMPORT_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class LongWork:
    """An answer that takes long, and of which something is told on the way."""

    do: Callable[[Data, Work, Teller], Data]
    patience_s: float = 2.0
    """How long it has to answer once it is stopped, until it is left alone."""


@dataclass
class Desk:
    """Answers the questions of all tabs."""

    folder: Folder
    first: str | None
    """The file that is shown first."""
    trust: bool = False
    text: str | None = None
    """What is shown first in place of the text of that file, which need not be there."""
    shown: str = ""
    """The text that was shown last."""

    @cached_property
    def workshop(self) -> Workshop:
        """The threads that make runs."""
        return Workshop()

    @cached_property
    def apart(self) -> Apart:
        """The processes of what takes long."""
        return Apart()

    @cached_property
    def lives(self) -> str:
        """Why there can be no live runs here; empty where they can be."""
        return why_not_live()

    @property
    def works(self) -> Mapping[str, LongWork]:
        """Questions that are answered by a work of their tab, by name."""
        return {
            "show": LongWork(self.show),
            "live": LongWork(self.live, LIVE_GRACE_S + 1.0),
            "keep": LongWork(self.keep, KEEP_GRACE_S + 1.0),
            "figures": LongWork(self.figures),
        }

    @property
    def questions(self) -> Mapping[str, Callable[[Data], Data]]:
        """Questions that are answered at once, by name."""
        return {
            "welcome": self.welcome, "open": self.open, "save": self.save, "look": self.look,
            "stop": self.stop, "land": self.land, "import": self.imported, "command": self.command,
            "topologies": self.topologies, "study": self.study, "describe": self.describe,
            "machine": self.machine,
        }  # fmt: skip

    def answer(self, question: Data) -> Data:
        """The answer to a question.

        Raises:
            AnabranchError: with what is wrong.
        """
        asked = self.questions.get(str(question.get("what")))
        if asked is None:
            raise StudioError(f'"{question.get("what")}" is no question that this version answers')
        try:
            return asked(question)
        except KeyError as missing:
            raise StudioError(f"the question lacks {missing}") from None

    def close(self) -> None:
        """Ends every work, and the processes of those that have one."""
        self.workshop.close()
        self.apart.close()

    def welcome(self, _question: Data) -> Data:
        """A greeting with what the page shows first."""
        files = self.folder.scenarios()
        if self.first is not None and self.first not in files and self.folder.place(self.first).is_file():
            # A folder may have more files than are listed.
            files.insert(0, self.first)
        return {
            "version": _core.version(),
            "folder": str(self.folder.root),
            "files": files,
            "first": self.first,
            "text": self.text,
            "transports": _core.transport_preset_names(),
        }

    def machine(self, _question: Data) -> Data:
        """The abilities of this machine: ``live`` says why it has no live runs, and is empty where it has."""
        return {"live": self.lives}

    def open(self, question: Data) -> Data:
        """A file with its text and its stamp."""
        text, stamp = self.folder.read(question["file"])
        return {"file": question["file"], "text": text, "stamp": stamp}

    def save(self, question: Data) -> Data:
        """Writes a file; ``stamp`` is that of what the page has seen of it, null to write over it."""
        stamp = self.folder.write(question["file"], question["text"], question.get("stamp", ""))
        return {"file": question["file"], "stamp": stamp, "files": self.folder.scenarios()}

    def look(self, question: Data) -> Data:
        """Whether a file is as the page knows it: ``same``, ``changed`` with its text, or ``gone``."""
        now = stamp(self.folder.place(question["file"]))
        if now is None:
            return {"state": "gone"}
        if now == question["stamp"]:
            return {"state": "same"}
        return {"state": "changed", **self.open(question)}

    def stop(self, question: Data) -> Data:
        """Ends the run of a tab, which shows what it has measured."""
        return {"stopped": self.workshop.stop(question["tab"])}

    def land(self, question: Data) -> Data:
        """Outlines of land within a box of degrees: west, south, east, north."""
        west, south, east, north = map(float, question["box"])
        return land((west, south, east, north))

    def topologies(self, _question: Data) -> Data:
        """The names of networks in archives, and of generators."""
        return {"names": [{"name": each.spec, "note": each.note} for each in topology.names()]}

    def imported(self, question: Data) -> Data:
        """A scenario of files of other programs, which are kept beside it where it names them."""
        from anabranch.setup.imported import import_files  # noqa: PLC0415 - few ask

        files = [_sent(file) for file in question.get("files", [])]
        into = self.folder.place(question.get("file") or UNSAVED).parent
        with tempfile.TemporaryDirectory(prefix="anabranch-studio-") as place:
            sent = []
            for name, content in files:
                sent.append(Path(place) / name)
                sent[-1].write_bytes(content)
            made = import_files(sent, Path(place), named=question.get("topology"))
        text = made.text
        kept = [name for name, _ in files if f'"file:{name}"' in text]
        for name, content in files:
            if name in kept:
                keeping.write_new(into / name, content)
        return {
            "text": text,
            "taken": [
                {"file": file.name, "holds": file.holds, "notes": list(file.notes)} for file in made.files
            ],
            "assumed": list(made.assumed),
            "kept": kept,
        }

    def describe(self, question: Data) -> Data:
        """The data in a text and everything that is wrong with it, without a run."""
        source = self._source(question, question["text"])
        return {"data": json_ready(source.data()), "problems": _problems(source)}

    def command(self, question: Data) -> Data:
        """The command line that shows what the page shows."""
        return {"command": keeping.command_line(self._source(question, question["text"]), question["mode"])}

    def keep(self, question: Data, work: Work, tell: Teller) -> Data:
        """Writes what is shown into a folder of results; ``progress`` is told on the way.

        Raises:
            StudioError: if the name is none, or with what is wrong with the scenario.
        """
        place = keeping.place_of(self.folder, str(question.get("name", "")))
        target = self.folder.root / place
        try:
            made = self._made_apart(question, work, tell, KEEP_GRACE_S, keep=str(target.absolute()))
        except KeyboardInterrupt:
            # A run that was stopped late is written all the same.
            made = {"files": [], "interrupted": True} if target.exists() else {"stopped": True}
        return {"folder": place.as_posix()} | made

    def study(self, question: Data) -> Data:
        """Writes a study of fields and their levels."""
        source = self._source(question, question["text"])
        file = keeping.write_study(
            source, self.folder, question["factors"], int(question.get("replications", 1))
        )
        return {"file": file, "command": f"anabranch study {file}"}

    def figures(self, question: Data, work: Work, tell: Teller) -> Data:
        """Figures of what is shown, as PNG; ``progress`` is told on the way.

        Raises:
            StudioError: if there are none, or with what is wrong with the scenario.
        """
        try:
            return self._made_apart(question, work, tell, figures=True)
        except KeyboardInterrupt:
            return {"stopped": True}

    def _made_apart(
        self, question: Data, work: Work, tell: Teller, grace_s: float = 1.5, **wanted: Any
    ) -> Data:
        """What another process makes of a scenario (``worker.py``).

        Raises:
            StudioError: with what is wrong with the scenario.
            KeyboardInterrupt: if the work has ended before there was an answer.
        """
        source = self._source(question, question["text"])
        asked = _told_apart(source, _mode(question)) | wanted
        answer = self.apart.ask(asked, work, tell, grace_s=grace_s)
        if problems := answer.pop("problems"):
            raise StudioError("\n".join(str(Problem(each["place"], each["message"])) for each in problems))
        return answer

    def show(self, question: Data, work: Work, tell: Teller) -> Data:
        """Changes the text, says what is wrong with it, and draws it: a run, its routes or its loads.

        Told on the way: ``edited`` (the text and its data), and ``progress`` (seconds simulated of all).

        Raises:
            AnabranchError: if a change leads nowhere.
        """
        mode = _mode(question)
        source, about = self._edited(question, mode, tell)
        try:
            shown = self._picture(source, mode, work, tell)
        except AnabranchError as error:
            shown = {"problems": problem_list(error)}
        except KeyboardInterrupt:
            return about | _stopped(work)
        if shown["problems"]:
            return about | shown | {"picture": self._network_alone(source)}
        return about | shown | {"replaced": work.replaced}

    def live(self, question: Data, work: Work, tell: Teller) -> Data:
        """Simulates a scenario and runs it live, and draws both as they come.

        Told on the way: ``edited`` and ``progress`` as of :meth:`show`, ``beside`` (the picture of the
        simulation), and ``picture`` (the lines of the live run until now).

        Raises:
            AnabranchError: if a change leads nowhere.
        """
        source, about = self._edited(question, "live", tell)
        lines = LiveLines()
        try:
            if self.lives:
                raise StudioError(self.lives)
            shown = self.apart.ask(
                _told_apart(source, "live"), work, lambda line: lines.hear(line, tell), grace_s=LIVE_GRACE_S
            )
        except AnabranchError as error:
            shown = {"problems": problem_list(error)}
        except KeyboardInterrupt:
            return about | _stopped(work)
        return about | {"picture": None} | shown | {"replaced": work.replaced}

    def _edited(self, question: Data, mode: str, tell: Teller) -> tuple[ScenarioText, Data]:
        """The text with the changes of a question, which is told at once."""
        text = edited(question["text"], question["changes"]) if question.get("changes") else question["text"]
        source = self._source(question, text)
        about: Data = {"text": text, "data": json_ready(source.data()), "mode": mode}
        if not str(question.get("tab")).endswith(BESIDE):
            self.shown = text
        tell({"edited": about})
        return source, about

    def unfinished(self, question: Data, work: Work) -> Data:
        """The answer where a work is stopped that does not look whether it is to end."""
        text = question["text"]
        data = json_ready(self._source(question, text).data())
        return {"text": text, "data": data, "mode": question.get("mode", "run")} | _stopped(work)

    def _picture(self, source: ScenarioText, mode: str, work: Work, tell: Teller) -> Data:
        """The picture of a scenario, and what is wrong with it."""
        scenario = source.scenario()
        if is_long(scenario, mode):
            return self.apart.ask(_told_apart(source, mode), work, tell)
        if scenario.routing.demand is not None:
            # Whoever has bounds of the traffic will ask for loads.
            self.apart.warm()
        with self._guard(scenario):
            return {"problems": [], "picture": picture_of(scenario, mode, work.look, tell)}

    def _network_alone(self, source: ScenarioText) -> Data | None:
        """The network of a scenario that cannot run, for those who draw it; None where there is none."""
        try:
            return network_picture(resolve(source.network()))
        except AnabranchError:
            return None

    def _guard(self, scenario: Scenario) -> Any:
        return self.workshop.own_code if scenario.code() else nullcontext()

    def _source(self, question: Data, text: str) -> ScenarioText:
        return ScenarioText(text, self.folder.place(question.get("file") or UNSAVED), self.trust)


def _mode(question: Data) -> str:
    """What a question wants to see.

    Raises:
        StudioError: if there is nothing of the kind.
    """
    mode = str(question.get("mode", "run"))
    if mode not in MODES:
        raise StudioError(f'"{mode}" is no mode; there are {", ".join(MODES)}')
    return mode


def _told_apart(source: ScenarioText, mode: str) -> Data:
    """The question to another process (``worker.py``)."""
    return {"text": source.text, "file": str(source.file), "trust": source.trust, "mode": mode}


def _stopped(work: Work) -> Data:
    """The answer where a work has ended before there was anything to show."""
    return {"problems": [], "picture": None, "stopped": True, "replaced": work.replaced}


def _problems(source: ScenarioText) -> list[Data]:
    try:
        resolve(source.scenario(), Needed.NOTHING)
    except AnabranchError as error:
        return problem_list(error)
    return []


def _sent(file: Data) -> tuple[str, bytes]:
    """A file that the page sends: its plain name, and its bytes.

    Raises:
        StudioError: if it has no name, or is too large.
    """
    name = Path(str(file.get("name", ""))).name
    try:
        content = base64.b64decode(file.get("base64", ""), validate=True)
    except (binascii.Error, ValueError):
        raise StudioError(f'"{name}" has not come whole') from None
    if not name or name in (".", "..") or "\0" in name:
        raise StudioError("a file without a name")
    if len(content) > _LARGEST_IMPORT_BYTES:
        raise StudioError(f'"{name}" is larger than {_LARGEST_IMPORT_BYTES // 1_000_000} MB')
    return name, content
