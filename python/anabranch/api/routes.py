"""Routes, which a notebook shows as tables."""

from __future__ import annotations

from anabranch.plans.routes import Routes, routes

__all__ = ["Routes", "routes"]


def _html(found: Routes) -> str:
    from anabranch import notebook  # noqa: PLC0415 - only notebooks ask

    return notebook.routes_html(found)


# Routes know nothing of what draws them.
setattr(Routes, "_repr_html_", _html)  # noqa: B010 - a type checker need not know
