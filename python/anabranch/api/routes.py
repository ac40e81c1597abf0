"""Routes, which a notebook shows as tables."""

from __future__ import annotations

from anabranch.plans.routes import Routes, routes

__all__ = ["Routes", "routes"]


def _html(routes: Routes) -> str:
    from anabranch.media.notebook import pieces_html  # noqa: PLC0415 - only notebooks ask
    from anabranch.report.views.routes import route_pieces  # noqa: PLC0415 - as above

    return pieces_html(route_pieces(routes))


# Routes know nothing of what draws them.
setattr(Routes, "_repr_html_", _html)  # noqa: B010 - a type checker need not know
