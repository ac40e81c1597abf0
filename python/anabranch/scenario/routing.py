"""How routes are chosen, and how packets are spread over them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from anabranch.scenario.quantity import PositiveSpan, Span, quoted
from anabranch.scenario.robust import CANDIDATE_METHODS, Demand, Method, Robust
from anabranch.scenario.table import Table, alternative, refuse

Scheme = Literal[
    "shortest",
    "ecmp",
    "k-shortest",
    "disjoint",
    "max-flow",
    "tcpbp",
    "tcpbp-exact",
    "semper",
    "robust",
    "hybrid-hop",
    "hybrid-delay",
    "robust-optimal",
    "robust-single",
]
ROBUST_SCHEMES: tuple[Scheme, ...] = (
    "robust",
    "hybrid-hop",
    "hybrid-delay",
    "robust-optimal",
    "robust-single",
)
"""Schemes that plan for every traffic matrix within ``routing.demand``."""
Metric = Literal[
    "hops",
    "hops-then-delay",
    "delay",
    "inverse-capacity",
    "loss",
    "capacity",
    "tcpbp",
    "smm",
    "argaq",
    "b-over-dl",
]
ADDITIVE_METRICS: tuple[Metric, ...] = ("hops", "hops-then-delay", "delay", "inverse-capacity", "loss", "smm")
"""Metrics that are sums over links. The others are functions of whole paths."""
ThroughputModel = Literal["mathis", "pftk", "cubic", "bbr", "transport"]
Sharing = Literal["none", "pair", "all-pairs"]
Objective = Literal["total", "proportional"]
Spread = Literal[
    "flow",
    "flowlet",
    "packet",
    "packet-round-robin",
    "hash",
    "weighted-hash",
    "resilient-hash",
    "subflow-round-robin",
]
Shares = Literal["equal", "capacity"]


_ANY_METRIC = ("shortest", "k-shortest")
_TCPBP = ("tcpbp", "tcpbp-exact")
_HYBRID: dict[Scheme, Metric] = {"hybrid-hop": "hops", "hybrid-delay": "delay"}
_TAKE_K = ("k-shortest", "disjoint", "semper", *_TCPBP, *ROBUST_SCHEMES)


def _reaction_kind(value: object) -> str:
    return alternative("never" if value == "never" else "span")


class Routing(Table):
    """How routes are chosen, and how packets are spread over them."""

    scheme: Scheme = "shortest"
    """``shortest``: one shortest path; ``ecmp``: all shortest ways, hop by hop; ``k-shortest``: the k
    shortest loop-free paths; ``disjoint``: up to k paths that share no link; ``max-flow``: a split that
    carries most; ``tcpbp``: the path of highest predicted TCP throughput as the published algorithm finds it,
    or its first k; ``tcpbp-exact``: the same without missing any; ``semper``: up to k link-disjoint paths
    between the edge routers, the same ones there and back; ``robust``: the split with the least worst-case
    load over all matrices of ``demand``; ``hybrid-hop`` and ``hybrid-delay``: the same over k paths, with a
    share of the pairs on a single one; ``robust-optimal``: the most TCP throughput up to a worst-case load;
    ``robust-single``: the least worst-case load with every pair on one path."""
    metric: Metric = "hops"
    """What a short path is short in; ``max-flow`` takes the shortest among the splits that carry the most.
    Left out: ``tcpbp`` for the schemes of that name, ``hops`` and ``delay`` for ``hybrid-hop`` and
    ``hybrid-delay``, all of which take no other, and ``hops`` for the others. ``ecmp``, ``disjoint``,
    ``max-flow`` and ``semper`` take those that are sums over links."""
    k: Annotated[int, Field(ge=1, le=64)] | None = None
    """Number of paths for ``k-shortest`` (2 where it is left out), ``tcpbp`` and ``tcpbp-exact`` (1), and the
    most for ``disjoint`` and ``semper`` (as many as there are where it is left out). Candidates of each
    pair for ``robust`` (all paths where it is left out), ``hybrid-hop`` and ``hybrid-delay`` (2),
    ``robust-optimal`` and ``robust-single`` (4)."""
    shares: Shares | None = None
    """What each path of ``semper`` gets: ``equal`` parts (where it is left out), or parts by the ``capacity``
    of its narrowest link."""
    model: ThroughputModel | None = None
    """``tcpbp-exact``: the throughput model by whose prediction paths are chosen, in place of d sqrt(p);
    ``transport``: for each flow that of its own transport."""
    sharing: Sharing | None = None
    """With a ``model``: with whom a flow shares its path. ``none``: with nobody; ``pair`` (where it is left
    out): with the flows of the same pair, in equal parts; ``all-pairs``: with all flows, by max-min fairness,
    and routes of all pairs are chosen together."""
    objective: Objective | None = None
    """With ``sharing = "all-pairs"``: what the routes make large. ``total`` (where it is left out): the sum
    of all flows' rates; ``proportional``: the sum of their logarithms, which starves nobody."""
    spread: Spread = "flow"
    """What keeps to one route: a flow (by a hash of its 5-tuple), a flowlet, or a single packet (at random by
    weight, or in weighted round-robin); or a subflow in both directions: ``hash`` modulo the number of paths,
    ``weighted-hash``, ``resilient-hash``, of which a failure moves only the flows of the failed path, or
    ``subflow-round-robin``, with an entry for each. Left out, ``packet`` for the robust schemes, whose
    fractions are of packets, and ``flow`` for the others."""
    flowlet_gap: PositiveSpan | None = None
    """Pause after which a flow may change its route; for ``spread = "flowlet"``."""
    idle_timeout: PositiveSpan | None = None
    """Time after which an entry of ``spread = "subflow-round-robin"`` that no packet has matched is
    forgotten; left out: never."""
    reaction: Annotated[
        Annotated[Span, Tag("<span>")] | Annotated[Literal["never"], Tag("<never>")],
        Discriminator(_reaction_kind),
    ] = Span("1 s")
    """Time from a failure or repair until new routes are in force, or ``"never"``."""
    demand: Demand | None = None
    """Bounds of the traffic, by which ``anabranch load`` scores any scheme; the robust ones plan by them."""
    robust: Robust | None = None
    """Parameters of the robust schemes."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: object) -> object:
        """What a scheme takes where the scenario does not say."""
        if not isinstance(data, dict):
            return data
        scheme = data.get("scheme")
        metrics = {
            "tcpbp": "tcpbp",
            "tcpbp-exact": "tcpbp",
            **{str(name): metric for name, metric in _HYBRID.items()},
        }
        if isinstance(scheme, str) and scheme in metrics and "metric" not in data:
            data = {**data, "metric": metrics[scheme]}
        if scheme in ROBUST_SCHEMES and "spread" not in data:
            # A packet takes path p with probability x_p (Fukushima et al. 2016, section 6).
            data = {**data, "spread": "packet"}
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_metric()
        self._check_robust()
        if self.k is not None and self.scheme not in _TAKE_K:
            takers = f"{', '.join(_TAKE_K[:-1])} and {_TAKE_K[-1]}"
            refuse("k", f"scheme {quoted(self.scheme)} takes no k; it belongs to {takers}")
        if self.shares is not None and self.scheme != "semper":
            refuse("shares", f"scheme {quoted(self.scheme)} takes no shares; they belong to semper")
        if self.spread == "hash" and (self.scheme == "max-flow" or self.shares == "capacity"):
            refuse(
                "spread",
                '"hash" gives every path the same share, and these have shares of their own; '
                'take "weighted-hash" or "resilient-hash"',
            )
        if self.spread != "subflow-round-robin" and self.idle_timeout is not None:
            refuse(
                "idle_timeout",
                f'only spread = "subflow-round-robin" has one; here spread is {quoted(self.spread)}',
            )
        self._check_model()
        if self.spread == "flowlet" and self.flowlet_gap is None:
            refuse("flowlet_gap", 'is missing; spread = "flowlet" needs one, for example "50 ms"')
        if self.spread != "flowlet" and self.flowlet_gap is not None:
            refuse("flowlet_gap", f'only spread = "flowlet" has one; here spread is {quoted(self.spread)}')
        return self

    def _check_robust(self) -> None:
        if self.scheme not in ROBUST_SCHEMES:
            if self.robust is not None:
                refuse("robust", f'scheme {quoted(self.scheme)} takes none of it; write scheme = "robust"')
            return
        if self.demand is None:
            refuse(
                "demand",
                f"is missing; scheme {quoted(self.scheme)} plans for bounds of the traffic, for example "
                'pair = "50 Mbps"',
            )
        robust = self.robust or Robust()
        if robust.single_percent is not None and self.scheme not in _HYBRID:
            refuse("robust", "single_percent belongs to hybrid-hop and hybrid-delay")
        if robust.level is not None and self.scheme != "robust-optimal":
            refuse("robust", "level belongs to robust-optimal")
        if robust.method is not None:
            self._check_method(robust.method)
        if robust.failures != "none":
            if self.scheme not in ("robust", *_HYBRID) or (self.scheme == "robust" and self.k is None):
                refuse("robust", 'failures takes hybrid-hop, hybrid-delay, or scheme = "robust" with a k')
            if robust.method is not None:
                refuse("robust", "with failures there is one method only; leave method out")

    def _check_method(self, method: Method) -> None:
        if self.scheme not in ("robust", *_HYBRID):
            refuse("robust", f"scheme {quoted(self.scheme)} has one method only; leave method out")
        over_candidates = self.candidate_count() is not None
        if over_candidates != (method in CANDIDATE_METHODS):
            fitting = ", ".join(
                quoted(name)
                for name in ("single-lp", "exchange", "all-paths", "link-flow")
                if (name in CANDIDATE_METHODS) == over_candidates
            )
            kind = f"{self.candidate_count()} paths of each pair" if over_candidates else "all paths"
            refuse("robust", f"method is {quoted(method)}, but {kind} are to be used: choose among {fitting}")

    def candidate_count(self) -> int | None:
        """K of a robust scheme, default filled in; None for all paths."""
        return self.k or {"robust": None, "robust-optimal": 4, "robust-single": 4}.get(self.scheme, 2)

    def _check_metric(self) -> None:
        metric = self.metric
        if self.scheme in _HYBRID and metric != _HYBRID[self.scheme]:
            refuse(
                "metric",
                f"is {quoted(metric)}, but scheme {quoted(self.scheme)} goes by {_HYBRID[self.scheme]}; "
                'leave it out, or write scheme = "robust" with a k',
            )
        if self.scheme in _TCPBP:
            if metric != "tcpbp":
                refuse(
                    "metric",
                    f"is {quoted(metric)}, but scheme {quoted(self.scheme)} goes by tcpbp alone; leave it "
                    f'out, or write scheme = "shortest" or "k-shortest"',
                )
        elif self.scheme not in (*_ANY_METRIC, *ROBUST_SCHEMES) and metric not in ADDITIVE_METRICS:
            sums = ", ".join(quoted(name) for name in ADDITIVE_METRICS)
            refuse(
                "metric",
                f"is {quoted(metric)}, which is no sum over links, and scheme {quoted(self.scheme)} needs "
                f'one: choose among {sums}, or write scheme = "shortest" or "k-shortest"',
            )

    def _check_model(self) -> None:
        if self.model is None:
            for name in ("sharing", "objective"):
                if getattr(self, name) is not None:
                    refuse(
                        name, 'belongs to a model; add one, such as model = "transport", or leave this out'
                    )
            return
        if self.scheme != "tcpbp-exact":
            refuse("model", f"scheme {quoted(self.scheme)} takes no model; it belongs to tcpbp-exact")
        if self.k is not None:
            refuse("k", "with a model each pair has one path, the best; leave k out, or the model")
        if self.objective is not None and self.sharing != "all-pairs":
            refuse(
                "objective", 'belongs to sharing = "all-pairs"; without it each pair has its own best path'
            )
