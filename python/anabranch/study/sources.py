"""The scenario of a study as plain data, and the code of the user's own that both name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from anabranch.errors import Problem, ScenarioError, StudyError
from anabranch.scenario.files import CodeReference, code_references
from anabranch.scenario.plain import plain_data
from anabranch.scenario.provenance import Agreement, Provenance
from anabranch.scenario.reading import field_steps, parse_toml, read_text
from anabranch.scenario.scenario import Scenario
from anabranch.study.description import Study


class ScenarioSource(NamedTuple):
    """The scenario of a study, before any level is set."""

    data: dict[str, Any]
    origin: str | None
    """Its name for messages."""
    base: Path | None
    """The folder of its files."""
    provenance: Provenance
    """Where it and the study come from."""


def scenario_of(study: Study) -> ScenarioSource:
    """The scenario of a study.

    Raises:
        StudyError: if its file cannot be read.
    """
    given, base = study.scenario, study.base
    if isinstance(given, Scenario):
        provenance = study.provenance.joined(given.provenance)
        return ScenarioSource(given.data(given_only=True), _name(given.origin), given.base, provenance)
    if isinstance(given, dict):
        return ScenarioSource(plain_data(given), _name(study.origin), base, study.provenance)
    path = (base or Path()) / given
    try:
        data = parse_toml(read_text(path), path.name)
    except ScenarioError as error:
        raise StudyError([Problem("scenario", str(error))], study.origin) from None
    provenance = study.provenance
    # A study that a program has built names a file as the program would load it.
    provenance = provenance.joined(Provenance.of_file(path))
    return ScenarioSource(data, path.name, path.parent, provenance)


def _name(origin: str | None) -> str | None:
    """The name of a file alone: runs have other values than those in its text."""
    return origin and str(origin)


def study_code(study: Study) -> list[CodeReference]:
    """The classes of the user's own that the scenario of a study and its levels name.

    Raises:
        StudyError: if the scenario's file cannot be read.
    """
    references = list(code_references(scenario_of(study).data))
    for factor in study.factors:
        settings = [level.settings for level in factor.level or ()]
        settings += [{factor.field: value} for value in factor.levels or () if factor.field is not None]
        for fields in settings:
            for field, value in fields.items():
                references += code_references(plain_data(value), field_steps(field))
    return list(dict.fromkeys(references))


def study_agreement(study: Study) -> Agreement | None:
    """The code among it that may run; None where there is none.

    Raises:
        ConsentError: if nobody has agreed to it.
        StudyError: if the scenario's file cannot be read.
    """
    references = study_code(study)
    if not references:
        return None
    from anabranch.own.consent import agreement_of  # noqa: PLC0415 - few studies have such code

    source = scenario_of(study)
    agreement = agreement_of(source.provenance, references, source.base)
    study.agree(agreement)
    return agreement
