"""Open questions of Garcia-Aviles 2017: unequal paths, how many subflows, neighbours, short requests."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from anabranch.models import coverage_distribution, subflows_needed
from anabranch.report.study_figures import study_figure
from anabranch.study.result import MetricInfo, StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.semper.network import (
    EDGES,
    PATH_MBPS,
    PAYLOAD,
    STATEFUL,
    SUBFLOWS,
    scenario,
)
from anabranch_publications.papers.semper.studies import (
    Method,
    experiment,
    goodput_sql,
    median,
    sample_s,
    study,
    usable_mbps,
)

HYBRID: Final[tuple[dict[str, Any], ...]] = (
    {"capacity": "20 Mbps", "delay": "10 ms"},
    {"capacity": "100 Mbps", "delay": "15 ms"},
    {"capacity": "30 Mbps", "delay": "40 ms", "loss": 1e-3},
)
"""A private line, broadband and LTE: what the thesis's title is about, and its experiments are not."""

HYBRID_MBPS: Final = (20, 100, 30)
BROADBAND: Final = 2
"""Which of them fails, counted from 1."""

FAILS_S, RETURNS_S, ENDS_S = 30, 60, 150


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to balance the hybrid WAN."""

    routing: dict[str, str]
    moves: float | None
    """Share of the subflows that change path when the second of three paths fails, where it is known."""
    congestion_control: str = "lia"
    lte_loss: float = 1e-3
    subflows: int = SUBFLOWS
    shares: str = "equal"


ALL_EQUAL: Final = {"load_balancing": "resilient-hash"}
VARIANTS: Final = {
    # Modulo 3 and then modulo 2, two remainders of six keep their path.
    "hash": Variant({"load_balancing": "hash"}, 2 / 3),
    "weighted-hash by capacity": Variant({"load_balancing": "weighted-hash"}, None, shares="capacity"),
    "resilient-hash": Variant(ALL_EQUAL, 1 / 3),
    "resilient-hash by capacity": Variant(ALL_EQUAL, 100 / 150, shares="capacity"),
    "stateful, 3 subflows": Variant({"load_balancing": STATEFUL}, 1 / 3, subflows=3),
    "resilient-hash, no loss on LTE": Variant(ALL_EQUAL, None, lte_loss=0.0),
    "resilient-hash, CUBIC uncoupled": Variant(ALL_EQUAL, None, congestion_control="cubic"),
}


def _window(after_s: float, until_s: float) -> str:
    """Mean goodput of all connections between two instants, as SQL; samples are of one second."""
    rates = goodput_sql(after_s, until_s, until_s - after_s)
    return f"select run, sum(rate) from ({rates}) group by run"  # noqa: S608 - no input


def _hybrid_document(variant: Variant, senders: int) -> dict[str, Any]:
    paths = [*HYBRID[:-1], {**HYBRID[-1], "loss": variant.lte_loss}]
    document = scenario(
        paths,
        senders,
        variant.subflows,
        duration_s=ENDS_S,
        reaction="1 s",
        transport={"congestion_control": variant.congestion_control},
    )
    document["routing"] |= variant.routing
    document["routing"]["scheme"]["shares"] = variant.shares
    document["event"] = [
        {"at": f"{at} s", "link": list(EDGES), "index": BROADBAND, "state": state}
        for at, state in ((FAILS_S, "down"), (RETURNS_S, "up"))
    ]
    return document


def hybrid(context: Context) -> FigureResult:
    """Three unlike paths; the largest fails and returns."""
    senders, runs = 4, 2 if context.quick else 5
    # As long in a quick run: coupled windows take more than half a minute to fill a path that came back.
    levels = {name: _hybrid_document(variant, senders) for name, variant in VARIANTS.items()}
    metrics = {
        MetricInfo("before_mbps", "before the failure (Mbps)"): _window(15, FAILS_S),
        MetricInfo("during_mbps", "while broadband is down (Mbps)"): _window(FAILS_S + 3, RETURNS_S),
        MetricInfo("return_mbps", "3 to 13 s after its return (Mbps)"): _window(
            RETURNS_S + 3, RETURNS_S + 13
        ),
        MetricInfo("after_mbps", "the last 20 s (Mbps)"): _window(ENDS_S - 20, ENDS_S),
        MetricInfo("moved_share", "share of subflows that changed their path"): (
            "select run, avg(case when path_changes > 0 then 1.0 else 0.0 end) from subflows group by run"
        ),
    }
    method = Method(ENDS_S, 20, runs)
    result = study(context, "hybrid", "A private line, broadband and LTE", levels, method, metrics)
    findings = []
    for name, variant in VARIANTS.items():
        if variant.moves is not None:
            findings.append(_moved(result, name, variant.moves, senders * variant.subflows * runs))
    findings += _hybrid_totals(result)
    return FigureResult(
        "hybrid",
        "Hybrid WAN: unequal paths, and a path that fails and returns",
        tuple(findings),
        {"runs": result.runs},
        {"before": study_figure(result, "before_mbps"), "moved": study_figure(result, "moved_share")},
        {f"Medians over {runs} runs": _medians(result, [metric.name for metric in metrics])},
        note=(
            "20 Mbps with 10 ms, 100 Mbps with 15 ms, 30 Mbps with 40 ms and a loss of 1e-3; four "
            "hosts, 32 subflows "
            f"each, LIA. Broadband is down from {FAILS_S} to {RETURNS_S} s; routers notice within 1 s."
        ),
    )


def _moved(result: StudyResult, name: str, expected: float, subflows: int) -> Finding:
    """The share of subflows that a failure moved, within three standard errors."""
    values = result.runs.filter(pl.col("setting").cast(pl.String) == name)["moved_share"].to_list()
    ours = statistics.fmean(values)
    return Finding(
        f"{name}: share of subflows that move",
        f"{expected:.3f} by the rule of the spread",
        f"{ours:.3f}",
        abs(ours - expected) <= 3 * (expected * (1 - expected) / subflows) ** 0.5,
        "within three standard errors over the subflows",
        "bound",
        ratio=ours / expected,
    )


def _hybrid_totals(result: StudyResult) -> list[Finding]:
    whole = sum(HYBRID_MBPS) * PAYLOAD
    left = (sum(HYBRID_MBPS) - HYBRID_MBPS[BROADBAND - 1]) * PAYLOAD
    findings = []
    for name, variant in VARIANTS.items():
        before, during, back, after = (
            median(result, f"{when}_mbps", name) for when in ("before", "during", "return", "after")
        )
        full = before >= 0.95 * whole and during >= 0.95 * left and after >= 0.95 * whole
        findings += [
            Finding(
                f"{name}: total before, during and long after the failure",
                f"{whole:.1f}, {left:.1f} and {whole:.1f} Mbps of data to be had",
                f"{before:.1f}, {during:.1f} and {after:.1f} Mbps",
                full,
                "0.95 of each or more",
                "bound",
                remark=LOSSY_LTE if variant.lte_loss and variant.congestion_control == "lia" else "",
            ),
            Finding(
                f"{name}: 3 to 13 s after the return, over what it was before",
                "recovery is practically immediate (section VI-C, equal paths)",
                f"{back / before:.2f}",
                back >= 0.95 * before,
                "0.95 or more",
                "question",
                remark=SLOW_RETURN if variant.congestion_control == "lia" else "",
            ),
        ]
    return findings


LOSSY_LTE: Final = (
    "LIA shifts traffic away from the path with the higher loss, here LTE with 1e-3 of its own: "
    "without that loss, or "
    "with uncoupled windows, the paths are full"
)
SLOW_RETURN: Final = (
    "the subflows on the path are in congestion avoidance, and all subflows of a host together grow "
    "by a segment in "
    "a round trip at most, like ones by a K-th of it (RFC 6356, equation 2); with uncoupled CUBIC it "
    "takes seconds"
)


def _medians(result: StudyResult, metrics: Sequence[str]) -> pl.DataFrame:
    return result.runs.group_by("setting", maintain_order=True).agg(pl.col(name).median() for name in metrics)


def sizing(context: Context) -> FigureResult:
    """The K that a wanted share of the capacity needs, and how often simulated runs have that share."""
    runs = 20 if context.quick else 60
    method = Method(8, 3, runs) if context.quick else Method(12, 5, runs)
    wanted = (
        [(8, 2, 0.75), (4, 1, 1.0)]
        if context.quick
        else [(paths, senders, share) for paths in (4, 8) for senders in (1, 4) for share in (0.75, 1.0)]
    )
    numbers = {case: subflows_needed(*case, probability=0.95) for case in wanted}
    labels = {
        case: f"P = {case[0]}, N = {case[1]}, {case[2]:.0%} wanted: K = {k}" for case, k in numbers.items()
    }
    levels = {labels[case]: experiment(case[0], case[1], k, method) for case, k in numbers.items()}
    result = study(context, "sizing", "K for a wanted share with a probability of 95 %", levels, method)
    findings = []
    for case, k in numbers.items():
        paths, senders, share = case
        chances = coverage_distribution(paths, senders, k)
        least = round(share * paths)
        exact = sum(chances[least:])
        runs_of_case = result.runs.filter(pl.col("setting").cast(pl.String) == labels[case])
        wanted_mbps = 0.98 * share * usable_mbps(paths, PATH_MBPS)
        used = sum(count >= least for count in runs_of_case["used_paths"].to_list()) / runs
        carried = sum(total >= wanted_mbps for total in runs_of_case["total_mbps"].to_list()) / runs
        most = max(3 * (exact * (1 - exact) / runs) ** 0.5, 1 / runs)
        findings.append(
            Finding(
                f"{labels[case]}: runs that use so many paths, and that carry them",
                f"{exact:.3f} by the closed form",
                f"{used:.3f} and {carried:.3f}",
                abs(used - exact) <= most and abs(carried - exact) <= most,
                "within three standard errors over the runs",
                "bound",
                remark=NOT_YET_FULL,
                ratio=used / exact,
            )
        )
    return FigureResult(
        "sizing",
        "How many subflows",
        tuple(findings),
        {"runs": result.runs},
        note=f"{runs} runs of {method.duration_s:g} s each; within three standard errors of the closed form.",
    )


NOT_YET_FULL: Final = (
    "the paths are in use as computed; some seconds after its start one host with many coupled subflows "
    "has not filled those on which slow start ended early"
)

SHARED: Final = ((1, 2), (1, 8), (1, 32), (2, 2))
"""Paths and subflows of the connection that has a neighbour."""

COUPLINGS: Final = {
    "LIA": "lia",
    "OLIA": "olia",
    "BALIA": "balia",
    "NewReno, uncoupled": "newreno",
    "CUBIC, uncoupled": "cubic",
}


def sharing(context: Context) -> FigureResult:
    """A connection of many subflows beside a single TCP connection, on one path and on two."""
    method = Method(30, 20, 2) if context.quick else Method(100, 75, 20)
    levels: dict[str, dict[str, Any]] = {}
    for paths, subflows in SHARED:
        for name, controller in COUPLINGS.items():
            document = experiment(paths, 1, subflows, method, spread=STATEFUL)
            document["transport"]["mptcp"]["congestion_control"] = controller
            document["network"]["node"].append({"name": "neighbour", "kind": "host"})
            access = {"new": True, "capacity": "10 Gbps", "delay": "10 us", "queue": "unlimited"}
            document["network"]["link"].append({"between": ["neighbour", EDGES[0]], **access})
            neighbour = {
                **document["traffic"][0],
                "name": "single",
                "from": "neighbour",
                "transport": "linux-reno",
            }
            document["traffic"].append(neighbour)
            levels[f"P = {paths}, K = {subflows}: {name}"] = document
    after = method.duration_s - method.window_s
    rates = goodput_sql(after, method.duration_s, method.window_s / sample_s(method))
    metrics = {
        MetricInfo(f"{who}_mbps", label): f"select run, rate from ({rates}) where flow = {flow}"  # noqa: S608 - no input
        for who, label, flow in (("mptcp", "Multipath TCP (Mbps)", 0), ("single", "single TCP (Mbps)", 1))
    }
    result = study(context, "sharing", "Beside a single TCP connection", levels, method, metrics)
    findings = [_beside(result, paths, subflows, name) for paths, subflows in SHARED for name in COUPLINGS]
    return FigureResult(
        "sharing",
        "Beside a single TCP connection",
        tuple(findings),
        {"runs": result.runs},
        {"single": study_figure(result, "single_mbps")},
        {f"Medians over {method.runs} runs": _medians(result, ["mptcp_mbps", "single_mbps"])},
        note="The neighbour is linux-reno on the same path of 50 Mbps, or on one of two. "
        "Shares are means with 1.96 standard errors.",
    )


def _beside(result: StudyResult, paths: int, subflows: int, name: str) -> Finding:
    """What a connection takes beside a single TCP connection, over half of one path."""
    label = f"P = {paths}, K = {subflows}: {name}"
    ours, other = (median(result, f"{who}_mbps", label) for who in ("mptcp", "single"))
    if paths > 1:
        # RFC 6356, goal 2: to the neighbour it is no more than another TCP connection.
        return Finding(
            f"{label}: what the neighbour has on its path",
            f"{usable_mbps(1, PATH_MBPS) / 2:.1f} Mbps or more, as beside one TCP connection",
            f"{other:.1f} Mbps; Multipath TCP {ours:.1f}",
            other >= 0.95 * usable_mbps(1, PATH_MBPS) / 2,
            "0.95 of half the path or more (RFC 6356, goal 2)",
            "bound",
            remark="CUBIC beside NewReno: one connection of it takes more than half, too"
            if "CUBIC" in name
            else "",
        )
    what = f"{label}: Multipath TCP over half of the path"
    share, error = _mean_share(result, label)
    if "uncoupled" not in name:
        # Runs differ by more than the bound is away, so that the mean is judged, and said how sure it is.
        words = f"{share:.2f} +- {error:.2f}"
        judged = "at most a fifth more than a TCP connection"
        return Finding(what, "at most 1.2", words, share <= 1.2, judged, "bound", remark=LARGEST_WINDOW)
    # So many connections of their own beside one.
    alone = 2 * subflows / (subflows + 1)
    least = 0.95 * alone
    most = 1.05 * alone if "NewReno" in name else 2.0
    words = f"{alone:.2f}, as {subflows} connections" + (
        "" if "NewReno" in name else ", or more: CUBIC beside NewReno"
    )
    judged = "within 5 %, and for CUBIC no less than that"
    return Finding(what, words, f"{share:.2f}", least <= share <= most, judged, "bound", ratio=share / alone)


def _mean_share(result: StudyResult, label: str) -> tuple[float, float]:
    """Mean over the runs of what the connection takes over half of the path, and 1.96 standard errors."""
    runs_of_setting = result.runs.filter(pl.col("setting").cast(pl.String) == label)
    shares = [
        2 * ours / (ours + other)
        for ours, other in zip(
            runs_of_setting["mptcp_mbps"].to_list(), runs_of_setting["single_mbps"].to_list(), strict=True
        )
    ]
    return statistics.fmean(shares), 1.96 * statistics.stdev(shares) / len(shares) ** 0.5


LARGEST_WINDOW: Final = (
    "LIA adds max(w) / W segments a round trip (RFC 6356, equations (1) and (2)), which is 1/K only while "
    "the windows w are alike; they wander, the largest is two or three times the mean. Without any queue, "
    "under equal random losses, the connection gets 1.2 (K = 8) and 1.4 (K = 32) times what one TCP "
    "connection gets"
)
"""docs/semper.md, "Neighbours with a single path"; crates/engine/tests/mptcp_shares.rs has the balance."""

SCHEDULERS: Final = ("lowest-rtt", "round-robin", "redundant", "blest")
SINGLE: Final = "single TCP"
SMALL_BUFFER: Final = "200 kB"
"""A receive buffer that a path's bandwidth times its delay exceeds: 100 Mbps times 30 ms are 375 kB."""

REQUESTS: Final = (
    ("10 kB", None),
    ("100 kB", None),
    ("102 kB", None),
    ("1 MB", None),
    ("1 MB", SMALL_BUFFER),
)
"""Sizes, and the receive buffer where it is not the default. 100 kB are 70 segments, just three rounds of
slow start from ten; 102 kB need a fourth."""


def _case(size: str, buffer: str | None) -> str:
    return size if buffer is None else f"{size} into {buffer}"


def _request_levels(count: int, cases: Sequence[tuple[str, str | None]], duration_s: float) -> dict[str, Any]:
    levels: dict[str, Any] = {}
    for size, buffer in cases:
        for scheduler in (*SCHEDULERS, SINGLE):
            buffers: dict[str, Any] = {} if buffer is None else {"receive_buffer": buffer}
            choice = {"scheduler": SCHEDULERS[0] if scheduler == SINGLE else scheduler}
            document = scenario(HYBRID, 1, 4, duration_s=duration_s, transport={**choice, **buffers})
            document["traffic"][0] |= {"flows": count, "inter_arrival": "400 ms", "size": size}
            document["transport"]["single"] = {"preset": "linux-reno", **buffers}
            if scheduler == SINGLE:
                document["traffic"][0]["transport"] = "single"
            document["run"]["flow_series"] = False
            levels[f"{_case(size, buffer)}, {scheduler}"] = document
    return levels


def requests(context: Context) -> FigureResult:
    """Completion times of short requests over the three unlike paths."""
    count = 60 if context.quick else 300
    cases = (REQUESTS[0], REQUESTS[-1]) if context.quick else REQUESTS
    method = Method(count * 0.4 + 10, 1, 1 if context.quick else 5)
    metrics = {
        MetricInfo(f"completion_{name}_ms", f"{label} of completion times (ms)"): (
            f"select run, 1000 * {how} from flows group by run"  # noqa: S608 - no input
        )
        for name, label, how in (
            ("median", "median", "median(completion_s)"),
            ("p95", "95th percentile", "quantile_cont(completion_s, 0.95)"),
        )
    } | {
        MetricInfo(
            "finished", "requests that finished"
        ): "select run, count(completion_s) from flows group by run",
        MetricInfo("sent_over_size", "segments sent over those of the request"): (
            "select run, sum(segments_sent) * 1428.0 / sum(delivered_bytes) from flows group by run"
        ),
    }
    levels = _request_levels(count, cases, method.duration_s)
    result = study(context, "requests", "Short requests under each scheduler", levels, method, metrics)
    findings = [_all_finish(result, count)]
    for case in cases:
        findings += _ranking(result, _case(*case), first_window=case[0] == "10 kB")
    return FigureResult(
        "requests",
        "Short requests under each scheduler",
        tuple(findings),
        {"runs": result.runs},
        {"p95": study_figure(result, "completion_p95_ms")},
        {f"Medians over {method.runs} runs": _medians(result, [metric.name for metric in metrics])},
        note=(
            f"{count} requests of one host, one every 400 ms, each a connection of its own with four "
            "subflows at random "
            "on the paths of the hybrid WAN. Requests are all there is to send: a subflow has room "
            "when an ACK arrives on "
            "it, mostly when no other has, so that a scheduler has little to choose unless the "
            "receive window is short."
        ),
    )


def _all_finish(result: StudyResult, count: int) -> Finding:
    least = min(int(value) for value in result.runs["finished"].to_list())
    what = "requests that finish, in the worst run"
    return Finding(what, f"{count}", f"{least}", least == count, "all of them", "bound")


def _ranking(result: StudyResult, case: str, *, first_window: bool) -> list[Finding]:
    """Medians and 95th percentiles by scheduler, best first."""
    findings = []
    for metric, words in (("completion_median_ms", "median"), ("completion_p95_ms", "95th percentile")):
        times = {name: median(result, metric, f"{case}, {name}") for name in (*SCHEDULERS, SINGLE)}
        ranked = ", ".join(
            f"{name} {times[name]:.0f}" for name in sorted(times, key=lambda name: times[name])
        )
        best = min(times[name] for name in SCHEDULERS)
        alike = all(abs(time / times[SINGLE] - 1) <= 0.02 for time in times.values())
        findings.append(
            Finding(
                f"{case}: {words} of completion times in ms, best first",
                "all alike: it leaves in the first window, before others have joined"
                if first_window
                else "the best scheduler ahead of one TCP connection on a path at random",
                ranked,
                alike if first_window else best < times[SINGLE],
                "within 2 % of one TCP connection" if first_window else "less than one TCP connection needs",
                "question",
            )
        )
    return findings
