"""Solvers that the publication describes, or that end where its solver did: the library has faster ones.

They find the same least load as `anabranch.routing.robust`, and share with it little but the evaluator, so
that tests check the two against each other. The splits differ: of the many with this load `link_flow` ends
with one in their middle, and `exchange` with the one that its matrices have led to.
"""

from anabranch_publications.papers.robust.solvers.exchange import exchange
from anabranch_publications.papers.robust.solvers.link_flow import link_flow

__all__ = ["exchange", "link_flow"]
