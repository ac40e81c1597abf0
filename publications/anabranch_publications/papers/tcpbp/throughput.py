"""Tables 3, 4 and 5 of Vilela 2022: what 10, 25 and 50 parallel flows get on the routes of each metric."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from anabranch.study.model import Factor, Level, Metric, Output, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import (
    Finding,
    Prediction,
    Refutation,
    Tolerance,
    number,
    predicts,
    refutes,
)
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.sql import query
from anabranch_publications.papers.tcpbp.network import (
    PAIRS,
    PAYLOAD_MBPS,
    ROUTINGS,
    TRAIN_SEGMENTS,
    scenario,
)
from anabranch_publications.papers.tcpbp.tables import (
    PUBLISHED_INVERSE,
    PUBLISHED_ROUTE,
    Pair,
    formula,
    inverse,
    routes,
)

FLOWS: Final = (10, 25, 50)
PUBLISHED_RATIO: Final = {
    # flows: (hop count, all routes; different ones; delay, all routes; different ones)
    10: (1.0095, 1.8222, 1.0025, 1.5523),
    25: (1.0093, 1.8362, 1.0027, 1.5321),
    50: (1.0092, 1.650, 1.0022, 1.412),
}
PUBLISHED_MBPS: Final = {"TCPBP": 17.1, "hop count": 13.3, "delay": 16.8}
"""Table 4: throughput of each flow on 1 => 10."""
PUBLISHED_JAIN: Final = {
    10: {"TCPBP": 0.88, "delay": 0.91, "hop count": 0.90},
    25: {"TCPBP": 0.89, "delay": 0.93, "hop count": 0.92},
    50: {"TCPBP": 0.95, "delay": 0.94, "hop count": 0.94},
}
"""Table 5."""
JAIN_WIDTH: Final = round(max(max(ours.values()) - min(ours.values()) for ours in PUBLISHED_JAIN.values()), 2)
"""By how much printed indices of the metrics differ with one number of flows, "not significantly"."""

ALL_ROUTES_WIDTH: Final = 0.0007
"""By how much the printed ratios over all routes of the numbers of flows differ from each other."""

BEST: Final = "TCPBP exact"
"""Our counterpart of the thesis's TCPBP: table 2 has the routes of the exact search."""

TWO_ROUTES_VARY: Final = (
    "the thesis's delays and losses vary by 5 % each, so that d sqrt(p) of a route does by 7.5 %"
)
SEGMENT_TRAINS: Final = 1
"""Length of trains with which table 3 comes out, and table 4 does not: what a host without segmentation
offload sends."""
JAIN_PAIRS: Final[tuple[Pair, ...]] = tuple(
    tuple(name.split("-"))  # type: ignore[misc]
    for name in ("1-10", "2-7", "3-10", "4-5", "5-8", "1-9", "6-9", "3-6", "5-9")
)
"""A fifth of the pairs, short and long ones."""
JAIN_FROM_S: Final = 2


def different(other: str) -> list[Pair]:
    """Pairs whose best route is not that of another routing."""
    return [pair for pair in PAIRS if routes(BEST)[pair] != routes(other)[pair]]


def goodput(context: Context) -> pl.DataFrame:
    """Goodput of each flow by pair, routing and number of flows; hosts send one segment at a time.

    A route that several routings share is simulated once: the same packets would take it.
    """
    names = [name for name in ROUTINGS if name != "TCPBP"]
    alike = [pair for pair in PAIRS if len({routes(name)[pair] for name in names}) == 1]
    unlike = [pair for pair in PAIRS if pair not in alike]
    one = _table(context, "routes-alike", alike, names[:1])
    several = _table(context, "routes-unlike", unlike, names)
    copies = [one.with_columns(pl.lit(name).alias("routing")) for name in names]
    return pl.concat([*copies, several])


def _table(context: Context, name: str, pairs: Sequence[Pair], routings: Sequence[str]) -> pl.DataFrame:
    def make() -> Study:
        flows = FLOWS[:1] if context.quick else FLOWS
        return _study(pairs, routings, flows, duration="12 s" if context.quick else "30 s")

    result = context.study(name, make)
    runs = result.runs.with_columns(pl.col("pair").cast(pl.String), pl.col("routing").cast(pl.String))
    return runs.group_by("pair", "routing", "flows", maintain_order=True).agg(pl.col("flow_mbps").median())


def _study(pairs: Sequence[Pair], routings: Sequence[str], flows: Sequence[int], *, duration: str) -> Study:
    return Study(
        title="Vilela 2022, table 3",
        scenario=scenario(routings[0], pairs=PAIRS[:1], duration=duration, train_segments=SEGMENT_TRAINS),
        factors=_factors(pairs, routings, flows),
        metrics=[Metric(name="flow_mbps", label="goodput (Mbps)", column="goodput_mbps", statistic="mean")],
        replications=1,
        keep="metrics",
        output=Output(figures=[]),
    )


def _factors(pairs: Sequence[Pair], routings: Sequence[str], flows: Sequence[int]) -> list[Factor]:
    """Who sends to whom, over which routes, and how many flows at once."""
    ends = [Level(label=f"{a}-{b}", settings={"traffic[0].from": a, "traffic[0].to": b}) for a, b in pairs]
    levels = [
        Level(label=name, settings={f"routing.{key}": value for key, value in ROUTINGS[name].items()})
        for name in routings
    ]
    return [
        Factor(label="pair", level=ends),
        Factor(label="routing", level=levels),
        Factor(field="traffic[0].flows", label="flows", levels=list(flows)),
    ]


def printed_law() -> tuple[float, float]:
    """Mbps of a flow over 1 / (RTT sqrt(p)) by the three routes of table 4, and how far they are from it.

    Returns:
        The middle of the three printed ratios, and the farthest of them from it over it.
    """
    ratios = [PUBLISHED_MBPS[name] / PUBLISHED_INVERSE[name] for name in PUBLISHED_MBPS]
    middle = (max(ratios) + min(ratios)) / 2
    return middle, (max(ratios) - middle) / middle


@predicts
def capped_law(flows: int, other: str) -> Prediction:
    """The ratio over all routes by the law, with no flow above its share of a link.

    The law's constant and its error are those of the printed table 4; routes and links are those of table 2
    and figure 7.
    """
    constant, error = printed_law()

    def share(routing: str, pair: Pair) -> float:
        return min(constant * inverse(routes(routing)[pair]), PAYLOAD_MBPS / flows)

    total = {routing: sum(share(routing, pair) for pair in PAIRS) for routing in (BEST, other)}
    # Both routes of a pair may be off, each the other way.
    unsure = sum(error * (share(BEST, pair) + share(other, pair)) for pair in different(other))
    ratio = total[BEST] / total[other]
    return Prediction(
        ratio,
        unsure / total[other],
        "no flow exceeds its share of a link, so that 5-8 with its 20 us of round trip does not outweigh the "
        "other 44 pairs as it does in the law without capacities, which gives 1.007 and 1.001; the law has "
        f"the constant of the printed table 4, whose three routes are within {100 * error:.1f} % of it",
    )


@refutes
def own_tables(flows: int, other: str, printed: float) -> Refutation:
    """A printed ratio over all routes, by the throughputs of table 4 and what the links carry.

    Pairs with one route for both metrics make the ratio smallest if each of their flows has all of its share
    of a link. The others have what the law gives them, with the constant of table 4 and its error against the
    claim, and no more than such a share.
    """
    constant, error = printed_law()
    most = PAYLOAD_MBPS / flows
    changed = different(other)
    alike = most * (len(PAIRS) - len(changed))

    def total(routing: str, factor: float) -> float:
        return sum(min(factor * constant * inverse(routes(routing)[pair]), most) for pair in changed)

    least = (alike + total(BEST, 1 - error)) / (alike + total(other, 1 + error))
    return Refutation(
        least > printed + ALL_ROUTES_WIDTH,
        f"with links of 1 Gbps, the routes of table 2 and the throughputs of table 4 the ratio is "
        f"{least:.4f} at least: {len(PAIRS) - len(changed)} pairs whose routes are the same cannot outweigh "
        f"{len(changed)} that gain, as none of their flows has more than {most:.0f} Mbps",
    )


def _ratios(table: pl.DataFrame, flows: int, other: str) -> tuple[float, float]:
    """TCPBP over another routing: of the means over all pairs, and the mean ratio where routes differ."""
    best, rival = (sum(_by_pair(table, flows, routing).values()) for routing in (BEST, other))
    return best / rival, _ratio_where_different(table, flows, other)


def _ratio_where_different(table: pl.DataFrame, flows: int, other: str) -> float:
    best, rival = (_by_pair(table, flows, routing) for routing in (BEST, other))
    changed = [f"{a}-{b}" for a, b in different(other)]
    return statistics.fmean(best[pair] / rival[pair] for pair in changed)


def _by_pair(table: pl.DataFrame, flows: int, routing: str) -> dict[str, float]:
    """Goodput of a flow in Mbps."""
    chosen = table.filter((pl.col("flows") == flows) & (pl.col("routing") == routing))
    return dict(zip(chosen["pair"].to_list(), chosen["flow_mbps"].to_list(), strict=True))


def improvement(context: Context) -> FigureResult:
    """Table 3: TCPBP over hop count and delay."""
    table = goodput(context)
    findings: list[Finding] = []
    shown = []
    for flows in FLOWS[:1] if context.quick else FLOWS:
        hop_all, hop_changed, delay_all, delay_changed = PUBLISHED_RATIO[flows]
        for other, all_routes, changed in (
            ("hop count", hop_all, hop_changed),
            ("delay", delay_all, delay_changed),
        ):
            everywhere, where_different = _ratios(table, flows, other)
            shown.append(
                {"flows": flows, "over": other, "all routes": everywhere, "different routes": where_different}
            )
            findings += [
                number(
                    f"over {other}, different routes, n_f = {flows}",
                    changed,
                    where_different,
                    unit="",
                    digits=2,
                    tolerance=Tolerance(0.15 * changed, f"{TWO_ROUTES_VARY}, and a ratio of two by 15 %"),
                ),
                number(
                    f"over {other}, all routes, n_f = {flows}",
                    all_routes,
                    everywhere,
                    unit="",
                    digits=4,
                    tolerance=Tolerance(
                        ALL_ROUTES_WIDTH,
                        "by so much the printed ratios of the numbers of flows differ from each other",
                    ),
                    prediction=capped_law(flows, other),
                    refutation=own_tables(flows, other, all_routes),
                ),
            ]
    if not context.quick:
        findings += [_diminishes(table, other) for other in ("hop count", "delay")]
    return FigureResult(
        "table-3",
        "Table 3: throughput ratio of TCPBP",
        tuple(findings),
        {"goodput": table},
        shown={"TCPBP (exact) over the others": pl.DataFrame(shown)},
        note="Different routes: mean over pairs of the ratio of goodputs. All routes: ratio of the means. "
        "Hosts send one segment at a time, as without segmentation offload; 30 s of one seed. Tables 3 and 4 "
        "contradict each other: 50 flows of the 17 Mbps of table 4 fill a link of 1 Gbps, so that ratios "
        "fall with the number of flows, and the printed ones hardly do from 10 to 25. With the trains that "
        "give table 4 its throughputs the ratios over hop count are 1.59, 1.32 and 1.20.",
    )


def _diminishes(table: pl.DataFrame, other: str) -> Finding:
    """Section 4.4: the ratio of different routes diminishes considerably from 25 to 50 flows."""
    ten, twenty_five, fifty = (_ratios(table, flows, other)[1] for flows in FLOWS)
    return Finding(
        f"over {other}, different routes, from n_f = 25 to 50",
        "diminishes considerably",
        f"{ten:.2f}, {twenty_five:.2f}, {fifty:.2f} with 10, 25 and 50",
        twenty_five - fifty > abs(ten - twenty_five),
        "by more than it changes from 10 to 25, as the printed numbers do",
    )


def one_to_ten(context: Context) -> FigureResult:
    """Table 4: formula and throughput of 1 => 10."""
    lengths = train_lengths(context)
    (row,) = lengths.filter(pl.col("train") == f"{TRAIN_SEGMENTS} segments").to_dicts()
    ours = {name: float(row[name]) for name in PUBLISHED_MBPS}
    findings = formula(context)
    for name, published in PUBLISHED_MBPS.items():
        findings.append(
            number(
                f"{name}: throughput of a flow, trains of {TRAIN_SEGMENTS} segments",
                published,
                ours[name],
                unit="Mbps",
                digits=1,
                tolerance=Tolerance(
                    0.1 * published, f"{TWO_ROUTES_VARY}, and 60 s of ten flows scatter by 2.5 %"
                ),
                kind="fitted",
            )
        )
    ranked = sorted(ours, key=lambda name: -ours[name])
    wanted = sorted(PUBLISHED_MBPS, key=lambda name: -PUBLISHED_MBPS[name])
    findings.append(Finding("order", " > ".join(wanted), " > ".join(ranked), ranked == wanted, kind="fitted"))
    for name in ("TCPBP", "delay"):
        ratio = PUBLISHED_MBPS[name] / PUBLISHED_MBPS["hop count"]
        findings.append(
            number(
                f"{name} over hop count",
                ratio,
                ours[name] / ours["hop count"],
                unit="",
                digits=2,
                tolerance=Tolerance(0.15 * ratio, f"{TWO_ROUTES_VARY}, and a ratio of two by 15 %"),
                kind="fitted",
            )
        )
    findings.append(proportional(ours))
    return FigureResult(
        "table-4",
        "Table 4: 1 => 10",
        tuple(findings),
        {"trains": lengths},
        shown={"Throughput of a flow in Mbps by the length of trains": lengths},
        note="A host hands its links trains of segments, which they lose whole; trains of one segment are "
        f"what a simulator without segmentation offload has. The length {TRAIN_SEGMENTS} was chosen by the "
        "three throughputs, which so hold by construction, with their order and their ratios; 8 and 10 do as "
        "well. Table 3 contradicts it.",
    )


def proportional(ours: Mapping[str, float]) -> Finding:
    """Section 4.4: throughput over 1 / (RTT sqrt(p)) is nearly the same on the three routes."""
    printed, measured = (
        [mbps[name] / inverses[name] for name in PUBLISHED_MBPS]
        for mbps, inverses in (
            (PUBLISHED_MBPS, PUBLISHED_INVERSE),
            (ours, {name: inverse(PUBLISHED_ROUTE[name]) for name in PUBLISHED_MBPS}),
        )
    )
    most = max(printed) / min(printed) * 1.05
    return Finding(
        f"throughput over 1 / (RTT sqrt(p)): {', '.join(PUBLISHED_MBPS)}",
        "quite close: " + ", ".join(f"{ratio:.4f}" for ratio in printed),
        ", ".join(f"{ratio:.4f}" for ratio in measured),
        max(measured) / min(measured) <= most,
        f"the largest at most {most:.2f} of the least: as printed, and 60 s of ten flows scatter by 2.5 %, a "
        "ratio of two by 5 %",
    )


def train_lengths(context: Context) -> pl.DataFrame:
    """Throughput of a flow of 1 => 10 by routing and length of trains."""
    lengths = (1, TRAIN_SEGMENTS) if context.quick else (1, 2, 4, 6, 7, 8, TRAIN_SEGMENTS, 10, 44)

    def make() -> Study:
        names = list(PUBLISHED_ROUTE)
        levels = [
            Level(label=name, settings={f"routing.{k}": v for k, v in ROUTINGS[_exact(name)].items()})
            for name in names
        ]
        trains = Factor(
            field="network.hosts.offload", label="train", levels=[f"{length} segments" for length in lengths]
        )
        return Study(
            title="Vilela 2022, table 4: trains",
            scenario=scenario(BEST, pairs=(("1", "10"),), duration="15 s" if context.quick else "60 s"),
            factors=[Factor(label="routing", level=levels), trains],
            metrics=[Metric(name="flow_mbps", label="goodput (Mbps)", column="goodput_mbps")],
            replications=1 if context.quick else 3,
            keep="metrics",
            output=Output(figures=[]),
        )

    result = context.study("trains", make)
    column = result.factors[1].name
    runs = result.runs.with_columns(pl.col("routing").cast(pl.String))
    medians = runs.group_by(column, "routing", maintain_order=True).agg(pl.col("flow_mbps").median().round(1))
    return medians.pivot(on="routing", index=column, values="flow_mbps")


def _exact(name: str) -> str:
    """Our counterpart of a routing of the thesis."""
    return BEST if name == "TCPBP" else name


def fairness(context: Context) -> FigureResult:
    """Table 5: Jain's index among the parallel flows of a pair, of each second, mean over pairs."""
    names = list(PUBLISHED_JAIN[FLOWS[0]])
    chosen = FLOWS[:1] if context.quick else FLOWS

    def make() -> Study:
        base = scenario(BEST, pairs=JAIN_PAIRS[:1], duration="8 s" if context.quick else "20 s")
        base["run"] |= {"flow_series": True, "sample_interval": "1 s"}
        return Study(
            title="Vilela 2022, table 5",
            scenario=base,
            factors=_factors(JAIN_PAIRS, [_exact(name) for name in names], chosen),
            metrics=[Metric(name="jain", label="Jain's index", column="goodput_mbps", statistic="jain")],
            replications=1,
            keep="tables",
            output=Output(figures=[]),
        )

    result = context.study("fairness", make)
    by_second = jain_of_each_second(result)
    whole = {
        (str(routing), int(flows)): float(jain)
        for routing, flows, jain in result.runs.group_by("routing", "flows")
        .agg(pl.col("jain").mean())
        .iter_rows()
    }
    findings, shown = [], []
    for flows in chosen:
        ours = {name: by_second[_exact(name), flows] for name in names}
        printed = PUBLISHED_JAIN[flows]
        findings += [
            number(
                f"{name}, n_f = {flows}", printed[name], ours[name], unit="", digits=2,
                tolerance=Tolerance(
                    JAIN_WIDTH,
                    "by so much the printed indices of the metrics differ, not significantly by the thesis",
                ),
            )
            for name in names
        ]  # fmt: skip
        between = max(printed.values()) - min(printed.values())
        findings.append(
            Finding(
                f"largest difference between the metrics, n_f = {flows}",
                "values do not differ significantly across the metrics",
                f"{max(ours.values()) - min(ours.values()):.3f}",
                max(ours.values()) - min(ours.values()) <= between,
                f"no more than the printed values differ, {between:.2f}",
            )
        )
        shown += [
            {
                "flows": flows,
                "routing": name,
                "printed": printed[name],
                "of_each_second": ours[name],
                "of_whole_runs": whole[_exact(name), flows],
            }
            for name in names
        ]
    return FigureResult(
        "table-5",
        "Table 5: fairness",
        tuple(findings),
        shown={f"Jain's index, mean over {len(JAIN_PAIRS)} pairs": pl.DataFrame(shown)},
        note="The thesis measured with iperf, which prints a throughput for each second, and does not say "
        "over what its index is. Over whole runs flows that see the same losses are alike, whatever else is "
        f"chosen; the claims are held to the index of each second. Trains of {TRAIN_SEGMENTS} segments, as "
        "in table 4.",
    )


def jain_of_each_second(result: StudyResult) -> dict[tuple[str, int], float]:
    """Jain's index of the goodputs of each second, mean over seconds and runs, by routing and flows.

    A flow that has nothing in a second counts with 0. The first two seconds, in which flows begin, are left
    out.
    """
    answer = query(
        result,
        "select routing, flows, avg(jain) from (select cast(r.routing as varchar) as routing, r.flows, "  # noqa: S608 - no input
        "sum(s.goodput_mbps) ** 2 / (r.flows * sum(s.goodput_mbps ** 2)) as jain "
        f"from flow_series s join runs r on r.run = s.run where s.time_s > {JAIN_FROM_S} + 1e-6 "
        "group by r.run, r.routing, r.flows, s.time_s) group by routing, flows",
    )
    return {(str(routing), int(flows)): float(jain) for routing, flows, jain in answer.iter_rows()}
