"""A scenario: everything one run needs, as a file or as Python objects."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from glob import has_magic
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import tomli_w

from anabranch import _core
from anabranch.errors import Origin, Problem, ScenarioError
from anabranch.scenario.document import Document
from anabranch.scenario.field_paths import other_field
from anabranch.scenario.files import (
    CodeReference,
    code_references,
    companions_of,
    series_of,
    with_files,
)
from anabranch.scenario.plain import Noted, plain_data
from anabranch.scenario.provenance import Provenance
from anabranch.scenario.reading import field_steps, origin_of, parse_toml, read_text, value_of, with_value
from anabranch.scenario.unknown import unknown_choice

if TYPE_CHECKING:
    from anabranch.scenario.tables import (
        Capture,
        Controller,
        Event,
        Network,
        Profile,
        Routing,
        Run,
        Traffic,
        Transport,
    )

_STUDY_KEYS = {"scenario", "factor", "metric", "replications"}


def _unknown_transports(data: object) -> list[Problem]:
    """The transports of traffic that neither a table nor a preset has, of plain data."""
    entries, tables = (data.get("traffic"), data.get("transport")) if isinstance(data, dict) else (None, None)
    own_names = [str(name) for name in tables] if isinstance(tables, dict) else []
    names = list(dict.fromkeys([*own_names, *_core.transport_preset_names()]))
    return [
        Problem(f"traffic[{number}].transport", f"transport {unknown_choice(name, names)}")
        for number, entry in enumerate(entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(name := entry.get("transport"), str) and name not in names
    ]


class Scenario(Document):
    """Everything one run needs: network, routing or controller, traffic, transports, events, measurements.

    Routes and loads need the network alone, with the bounds or the matrix of ``routing.demand``.
    """

    title: str
    """One line for people."""
    network: Network
    """The network that carries the traffic."""
    routing: Routing
    """How routes are chosen, and how packets are spread over them."""
    controller: Controller | None
    """The SDN controller that sets up every flow; left out, nodes forward by the routes of ``routing``."""
    traffic: list[Traffic]
    """Who sends what to whom; a run needs some."""
    transport: dict[str, Transport]
    """Transports by name: presets with changes."""
    event: list[Event]
    """Changes of the network at given times."""
    profile: list[Profile]
    """Measured conditions of links, replayed from files."""
    run_settings: Run
    """How long, with which randomness, and what is sampled; a run needs it."""
    capture: list[Capture]
    """Packets written to files."""
    _read: _core.Scenario | None = None

    derived: ClassVar = {"routing": lambda _: {}, "run_settings": lambda _: {"duration": "1 s"}}
    unwritten: ClassVar = {"traffic": lambda _: True, "run_settings": lambda _: True}

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            network: Any,
            title: Any = ...,
            routing: Any = ...,
            controller: Any = ...,
            traffic: Any = ...,
            transport: Any = ...,
            event: Any = ...,
            profile: Any = ...,
            run_settings: Any = ...,
            run: Any = ...,
            capture: Any = ...,
        ) -> None: ...

    def __eq__(self, other: object) -> bool:
        """Whether two scenarios say the same, wherever they come from."""
        return isinstance(other, Scenario) and self.data() == other.data()

    def kept_in(self, folder: Path) -> Self:
        """The scenario with the files that it names copied into folders of their own.

        Raises:
            OSError: if one cannot be copied.
        """
        kept: dict[str, Path] = {}

        def keep(name: str, place: str) -> str:
            source = (self.base or Path()) / name
            # A pattern becomes a folder with what it stands for.
            plain = "series" if has_magic(source.name) and not source.exists() else source.name
            free = (f"{place}/{prefix}{plain}" for prefix in chain([""], (f"{n}-" for n in count(2))))
            return next(path for path in free if kept.setdefault(path, source) == source)

        data = with_files(self.data(), keep, base=self.base)
        for path, source in kept.items():
            target = folder / path
            series = series_of(source)
            (target.parent if series is None else target).mkdir(parents=True, exist_ok=True)
            copies = [(source, target)] if series is None else [(file, target / file.name) for file in series]
            for file, copy in copies:
                shutil.copyfile(file, copy)
                for beside in companions_of(file):
                    shutil.copyfile(beside, copy.with_suffix(beside.suffix))
        return type(self).from_data(data, provenance=self._provenance) if kept else self

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    def code(self) -> list[CodeReference]:
        """The classes of the user's own that it names."""
        return list(code_references(self))

    @classmethod
    def load(cls, path: Path | str, overrides: Mapping[str, str] | None = None) -> Self:
        """The scenario in a TOML file.

        Args:
            path: the file.
            overrides: fields to set, such as ``{"run.duration": "10 s", "traffic[0].flows": "3"}``.

        Raises:
            ScenarioError: with everything that is wrong with it.
        """
        path = Path(path)
        scenario = cls.loads(read_text(path), overrides, origin=path.name, base=path.parent)
        scenario._provenance = Provenance.of_file(path)
        return scenario

    @classmethod
    def loads(
        cls,
        text: str,
        overrides: Mapping[str, str] | None = None,
        *,
        origin: str | None = None,
        base: Path | None = None,
        provenance: Provenance | None = None,
    ) -> Self:
        """The scenario in a TOML text; ``origin`` names it in messages, the rest is as in :meth:`from_data`.

        Raises:
            ScenarioError: with everything that is wrong with it.
        """
        data = parse_toml(text, origin)
        if _STUDY_KEYS & data.keys() and not data.keys() & {"network", "traffic", "run"}:
            message = f"is a study; run it by: anabranch study {origin or 'FILE'}"
            raise ScenarioError([Problem("", message)], origin)
        for field, value in (overrides or {}).items():
            data = cls._with(data, field, value_of(value), "--set")
        name = origin_of(origin, text, overrides or ()) if origin else None
        scenario = cls._made(data, Noted(""), name, base, provenance or Provenance())
        if overrides:
            scenario._check_transports()
        return scenario

    @classmethod
    def _made(
        cls,
        data: dict[str, Any],
        noted: Noted,
        origin: str | None,
        base: Path | None,
        provenance: Provenance,
    ) -> Self:
        """The scenario in plain data.

        Raises:
            ScenarioError: with what was noted when it was made plain, and all else that is wrong with it.
        """
        read = _core.Scenario(data)
        problems = noted.joined(read.problems)
        if problems:
            raise ScenarioError(list(dict.fromkeys([*problems, *_unknown_transports(data)])), origin)
        scenario = cls.of_data(data)
        scenario._origin, scenario._base, scenario._provenance = origin, base, provenance
        scenario._read = read
        return scenario

    @classmethod
    def _with(cls, data: dict[str, Any], field: str, value: Any, origin: str | None) -> dict[str, Any]:
        """Plain data with one field set.

        Raises:
            ScenarioError: if there is no such place.
        """
        try:
            steps = field_steps(field)
            message = other_field(steps, value)
            if message is None:
                return with_value(data, steps, value)
        except ValueError as error:
            message = str(error)
        raise ScenarioError([Problem("", message)], origin)

    def _check_transports(self) -> None:
        """Checks the names of transports; without overrides the setup does so, with what else is wrong.

        Raises:
            ScenarioError: with every unknown name.
        """
        traffic = [{"transport": entry.transport} for entry in self.traffic]
        problems = _unknown_transports({"transport": self.transport, "traffic": traffic})
        if problems:
            raise ScenarioError(problems, self._origin)

    @classmethod
    def from_data(
        cls,
        data: object,
        *,
        origin: str | None = None,
        base: Path | None = None,
        provenance: Provenance | None = None,
    ) -> Self:
        """The scenario in plain data, as a TOML parser returns it.

        Args:
            data: the data.
            origin: name of the file it came from, for messages.
            base: folder that names of files are relative to; None for the current one.
            provenance: the file that it was read from, which decides whether its code runs unasked; left out
                where the program itself has made the data.

        Raises:
            ScenarioError: with everything that is wrong with it.
        """
        noted = Noted("")
        given = plain_data(data, noted)
        return cls._made(given, noted, origin, base, provenance or Provenance())

    def core(self) -> _core.Scenario:
        """The scenario as the core has read it, which happens once."""
        read = self._read
        if read is None:
            read = self._read = _core.Scenario(self._given)
        return read

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """A scenario with other values in some fields; the old one stays as it is.

        Args:
            changes: fields with their values as in a file, such as ``{"traffic[0].transport": "mprc",
                "run.seed": 2, "network.links.capacity": "20 Mbps"}``.

        Raises:
            ScenarioError: if there is no such field, or with everything that is wrong then.
        """
        data: dict[str, Any] = dict(self._given)
        for field, value in changes.items():
            data = self._with(data, field, plain_data(value, Noted("")), self._origin)
        origin = self._origin.with_changes(changes) if isinstance(self._origin, Origin) else self._origin
        changed = type(self).from_data(data, origin=origin, base=self._base, provenance=self._provenance)
        changed._check_transports()
        return changed

    def data(self, *, given_only: bool = False, with_none: bool = False) -> dict[str, Any]:
        """Plain data, as a TOML parser would return them; what is not set is left out.

        Args:
            given_only: without the defaults of what is left out.
            with_none: with fields that have no value.
        """
        data = super().data(given_only=given_only, with_none=with_none)
        if self.controller is not None and not given_only:
            # Written out, its defaults would read like a choice beside the controller's.
            routing = data.pop("routing")
            if given := {key: routing[key] for key in self._given.get("routing", {})}:
                data["routing"] = given
        return data

    def toml(self) -> str:
        """The scenario as TOML, every default written out; reads back to an equal scenario."""
        return tomli_w.dumps(self.data())

    def fingerprint(self) -> str:
        """SHA-256 of :meth:`toml`, in hexadecimal."""
        return hashlib.sha256(self.toml().encode()).hexdigest()
