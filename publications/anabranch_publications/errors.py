"""Errors of a reproduction or a comparison through no fault of Anabranch."""

from anabranch.errors import ProblemsError


class ReproductionError(ProblemsError):
    """A paper or figure that cannot be reproduced."""


class ComparisonError(ProblemsError):
    """Systems that cannot be compared as asked."""
