"""The parts that a scenario and a study have in common: each is a file of its own, or stands for one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from anabranch.errors import Origin, ProblemsError
from anabranch.scenario.provenance import Agreement, Provenance
from anabranch.scenario.table import Table


class Document(Table):
    """A table that is part of no other: a scenario or a study. It knows where it comes from."""

    _origin: str | None = None
    _base: Path | None = None
    _provenance: Provenance = Provenance()

    @classmethod
    def own_place(cls) -> str:
        """Nothing: places begin in it."""
        return ""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of a file of it."""
        from anabranch.scenario.schema import json_schema  # noqa: PLC0415 - few ask

        return json_schema(cls)

    @property
    def origin(self) -> str | None:
        """Name of the file it came from, for messages; None if it was built in Python."""
        return self._origin

    @property
    def base(self) -> Path | None:
        """Folder that names of files in it are relative to; None for the current one."""
        return self._base

    @property
    def provenance(self) -> Provenance:
        """The file it was read from, and what has been agreed to of the code that it names."""
        return self._provenance

    def trusted(self) -> Self:
        """The document with code in Python that runs without a question; see docs/security.md."""
        same = self.model_copy()
        same._provenance = self._provenance.with_trust()
        return same

    def agree(self, agreement: Agreement) -> None:
        """Notes what has been agreed to, so that nobody is asked twice."""
        self._provenance = self._provenance.with_agreement(agreement)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values in some fields; it comes from the same file, and is trusted as this one.

        Args:
            update: fields with their values, as a call of the class takes them.
            deep: copy what is in the fields, too.

        Raises:
            ScenarioError: with everything that is wrong with the new values; StudyError for a study.
        """
        try:
            copied = super().model_copy(update=update, deep=deep)
        except ProblemsError as error:
            # The values in question are none of the file's.
            raise type(error)(error.problems, self._origin and str(self._origin)) from None
        if update and isinstance(self._origin, Origin):
            keys = {field.name: field.key for field in type(self).form().fields.values()}
            copied._origin = self._origin.with_changes(keys.get(name, name) for name in update)
        return copied
