"""The in-cast study beyond the thesis's breaking points: the stretched schedule, and loss."""

from __future__ import annotations

from typing import Any

from anabranch.report.study_figures import study_figure
from anabranch.study.model import Factor, Level, Metric, Study
from anabranch.study.result import StudyResult
from anabranch_publications.papers.findings import Finding
from anabranch_publications.papers.model import Context, FigureResult
from anabranch_publications.papers.sdn.network import (
    FREE_QUEUE,
    FREE_QUEUE_PACKETS,
    PAYLOAD_BYTES,
    dumbbell,
    published,
    stretched,
)
from anabranch_publications.papers.sdn.studies import COMPLETION, DROPS, QUEUE, TABLES, flow_numbers

SEGMENTS = 1000
METRICS = [
    COMPLETION,
    Metric(name="delivered_bytes", label="bytes delivered", column="delivered_bytes", statistic="sum"),
    QUEUE,
    DROPS,
]


def _schedules() -> Factor:
    choices: dict[str, tuple[str, dict[str, Any]]] = {
        "published": ("published", published()),
        "stretched": ("sdn-paced", stretched()),
    }
    levels = [
        Level(
            label=label,
            settings={"traffic[0].transport": transport}
            | {f"controller.{key}": value for key, value in controller.items()},
        )
        for label, (transport, controller) in choices.items()
    ]
    return Factor(label="schedule", level=levels)


def _study(context: Context, name: str, title: str, counts: list[int], loss: float) -> StudyResult:
    def make() -> Study:
        scenario = dumbbell(10, SEGMENTS, controller={}, transport="sdn-paced", duration="20 s")
        scenario["network"]["links"]["loss"] = loss
        if loss:
            scenario["controller"] |= stretched()
            scenario["controller"]["links"]["loss"] = loss
            return Study(
                title=title,
                scenario=scenario,
                factors=[flow_numbers(counts)],
                metrics=METRICS[1:],
                replications=3,
                output=TABLES,
            )
        factors = [flow_numbers(counts), _schedules()]
        return Study(title=title, scenario=scenario, factors=factors, metrics=METRICS, output=TABLES)

    return context.study(name, make)


def incast(context: Context) -> FigureResult:
    """Up to 200 flows at once: queue and completion time of both schedules; then with 1 % loss everywhere."""
    counts = [20, 54, 55, 200] if context.quick else [1, 20, 40, 54, 55, 81, 82, 108, 109, 150, 200]
    clean = _study(context, "incast-stretched", "In-cast with both schedules", counts, 0.0)
    lossy = _study(context, "incast-loss", "In-cast at 1 % loss on every link", [200], 0.01)
    number, schedule = (factor.name for factor in clean.factors)
    rows = clean.cells.filter(clean.cells[schedule] == "stretched")
    queue = max(rows["queue_max_packets_max"].to_list())
    wanted = [int(n) * SEGMENTS * PAYLOAD_BYTES for n in rows[number].to_list()]
    lost = sum(rows["drops"].to_list())
    (delivered,) = lossy.cells["delivered_bytes_min"].to_list()
    (lost_at_random,) = lossy.cells["drops_min"].to_list()
    findings = (
        Finding(
            "stretched schedule: longest queue of the bottleneck, up to 200 flows at once",
            "persistent queue beyond 54 flows (published schedule)",
            f"{queue:g} packets",
            queue <= FREE_QUEUE_PACKETS,
            FREE_QUEUE,
            "bound",
        ),
        Finding("stretched schedule: packets lost", "none", f"{lost:g}", lost == 0, kind="bound"),
        Finding(
            "stretched schedule: bytes delivered",
            "all",
            "all" if rows["delivered_bytes"].to_list() == wanted else "not all",
            rows["delivered_bytes"].to_list() == wanted,
            kind="bound",
        ),
        Finding(
            "1 % loss on every link, 200 flows: bytes delivered",
            "the thesis has no retransmission",
            f"{delivered:.0f} of {wanted[-1]}, with {lost_at_random:g} packets lost",
            delivered == wanted[-1] and lost_at_random > 0,
            "all of them, though packets are lost",
            "bound",
        ),
    )
    names = ("queue_max_packets", "completion_ms")
    return FigureResult(
        "incast-stretched",
        "In-cast beyond the breaking point: the stretched schedule",
        findings,
        {"incast": clean.cells, "loss": lossy.cells},
        {name: study_figure(clean, name) for name in names},
    )
