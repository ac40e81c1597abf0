"""The scenarios of an evaluation: what RFC 9743 asks in each section, and what is measured there.

RFC 9743 names no thresholds: it asks that authors measure, and that the community judges. So each measure
stands beside that of CUBIC (RFC 9438) in the place of the control, under the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.study.evaluation.control import BBR, CUBIC, ECN, MULTIPATH, OWN, RENO
from anabranch.study.evaluation.measures import (
    RunMeasure,
    back,
    completion,
    fairness,
    goodput,
    latency,
    lost,
    oscillation,
    queue,
    sent_without_feedback,
    spurious,
    stream_lost,
)
from anabranch.study.evaluation.scenarios import (
    Table,
    at,
    bdp,
    dumbbell,
    flows,
    scenario,
    stream,
    transfers,
    two_paths,
)

_RTT_MS = 40
_WHOLE = "goodput of the capacity"
_OTHERS = "goodput of the others, of an equal share"
_TRANSFERS = completion("completion of transfers, mean", "transfer", "mean")


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario with its measures."""

    key: str
    """Its name in files: letters and hyphens."""
    section: str
    """Of RFC 9743."""
    title: str
    """What happens in it."""
    scenario: Table
    """Plain data without ``transport``."""
    measures: tuple[RunMeasure, ...]

    @property
    def transports(self) -> list[str]:
        """The names of the transports that its flows have."""
        return [entry["transport"] for entry in self.scenario["traffic"] if "transport" in entry]


def _alone() -> list[Case]:
    """Section 5.1: flows of the control alone."""
    many = scenario(dumbbell("1 Mbps", [100], "20 packets"), [flows(OWN, 1, OWN, 50)], 60)
    silence = scenario(
        dumbbell("20 Mbps", [_RTT_MS], bdp(1, _RTT_MS)),
        [flows(OWN, 1, OWN)],
        60,
        event=[at("15 s", state="silent"), at("25 s", state="up")],
    )
    deep = scenario(dumbbell("10 Mbps", [_RTT_MS], bdp(10, _RTT_MS)), [flows(OWN, 1, OWN)], 30)
    shallow = scenario(dumbbell("20 Mbps", [_RTT_MS], bdp(0.5, _RTT_MS)), [flows(OWN, 1, OWN, 4)], 30)
    fair = scenario(dumbbell("20 Mbps", [_RTT_MS], bdp(1, _RTT_MS)), [_one_after_the_other()], 60)
    unequal = scenario(
        dumbbell("20 Mbps", [20, 80], bdp(1, _RTT_MS)), [flows("short", 1, OWN), flows("long", 2, OWN)], 60
    )
    short = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, bdp(1, _RTT_MS)),
        [flows(OWN, 1, OWN), transfers("transfer", 2, OWN, "100 kB", "500 ms", "27 s")],
        30,
    )
    return [
        Case(
            "collapse", "5.1.1", "50 flows over 1 Mbps: less than a packet of each fits", many,
            (goodput(_WHOLE, OWN, (20, 60), 1), lost("segments lost", OWN)),
        ),
        Case(
            "silence", "5.1.1, 5.2", "for 10 s everything is lost, ACKs, too", silence,
            (sent_without_feedback((15, 25)), back(OWN, (5, 15), 25)),
        ),
        Case(
            "bufferbloat", "5.1.2", "one flow, a queue of 10 bandwidth-delay products", deep,
            (queue((10, 30), 10), queue((10, 30), 10, 95), goodput(_WHOLE, OWN, (10, 30), 10)),
        ),
        Case(
            "loss", "5.1.3", "four flows, a queue of half a bandwidth-delay product", shallow,
            (lost("segments lost", OWN), goodput(_WHOLE, OWN, (10, 30), 20)),
        ),
        Case(
            "fairness", "5.1.4", "four flows that begin 5 s apart", fair,
            (fairness(OWN, (30, 60)), oscillation(OWN, (30, 60))),
        ),
        Case(
            "rtt-fairness", "5.1.4", "two flows of 20 and 80 ms", unequal,
            (goodput("goodput of the flow of 80 ms, of an equal share", "long", (20, 60), 10),),
        ),
        Case(
            "short-flows", "5.1.5", "transfers of 100 kB beside a long flow, all of the control", short,
            (_TRANSFERS, goodput(_WHOLE, OWN, (5, 27), 20)),
        ),
    ]  # fmt: skip


def _one_after_the_other() -> Table:
    return flows(OWN, 1, OWN, 4, start="0 s") | {"inter_arrival": "5 s"}


def _mixed() -> list[Case]:
    """Section 5.2: beside other controls."""
    cases = [_beside(CUBIC, products, "CUBIC") for products in (0.5, 1, 4)]
    cases += [_beside(RENO, 1, "NewReno"), _beside(BBR, 1, "BBR")]
    crowd = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, bdp(1, _RTT_MS)),
        [flows(OWN, 1, OWN, 8), flows("other", 2, CUBIC)],
        60,
    )
    call = scenario(
        dumbbell("10 Mbps", [_RTT_MS] * 2, bdp(2, _RTT_MS)),
        [flows(OWN, 1, OWN), stream("call", 2, "1 Mbps", "500 B")],
        30,
    )
    short = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, bdp(1, _RTT_MS)),
        [flows(OWN, 1, OWN), transfers("transfer", 2, CUBIC, "100 kB", "500 ms", "27 s")],
        30,
    )
    return [
        Case(
            "starvation", "5.2", "one flow of CUBIC beside eight of the control", crowd,
            (goodput("goodput of CUBIC, of an equal share", "other", (20, 60), 20 / 9),),
        ),
        *cases,
        Case(
            "real-time", "5.2.2", "a call of 1 Mbps without congestion control beside one flow", call,
            (latency("call"), stream_lost("call")),
        ),
        Case(
            "short-and-long", "5.2.3", "transfers of 100 kB of CUBIC beside a long flow of the control",
            short, (_TRANSFERS,),
        ),
    ]  # fmt: skip


def _beside(rival: str, products: float, name: str) -> Case:
    data = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, bdp(products, _RTT_MS)),
        [flows(OWN, 1, OWN, 2), flows("other", 2, rival, 2)],
        60,
    )
    room = {0.5: "half a bandwidth-delay product", 1: "one", 4: "four"}[products]
    return Case(
        f"beside-{rival}-{products:g}".replace(".", "-"),
        "5.2.1",
        f"two flows beside two of {name}, a queue of {room}",
        data,
        (goodput(_OTHERS, "other", (20, 60), 10), lost("segments of the others lost", "other")),
    )


def _general() -> list[Case]:
    """Section 6: paths of general use."""
    cases = []
    for mbps, rtt_ms in ((2, 30), (50, 40), (200, 100)):
        data = scenario(dumbbell(f"{mbps} Mbps", [rtt_ms], bdp(1, rtt_ms)), [flows(OWN, 1, OWN)], 30)
        measures = (goodput(_WHOLE, OWN, (10, 30), mbps), queue((10, 30), mbps))
        title = f"one flow over {mbps} Mbps and {rtt_ms} ms, tail-drop of one bandwidth-delay product"
        cases.append(Case(f"tail-drop-{mbps}", "6.1, 6.3", title, data, measures))
    bursts = {"algorithm": "gilbert-elliott", "to_bad": 1e-3, "to_good": 0.2}
    path = (bdp(1, _RTT_MS), [flows(OWN, 1, OWN)])
    radio = (
        ("wireless-loss", "1 % of the packets are lost", {"loss": 0.01}),
        ("wireless-bursts", "losses in bursts of 5 packets, 0.5 % in all", {"loss": bursts}),
        (
            "wireless-jitter", "each packet is up to 10 ms late, in order",
            {"jitter": {"distribution": "uniform", "low": "0 ms", "high": "10 ms"}},
        ),
    )  # fmt: skip
    for key, title, link in radio:
        data = scenario(dumbbell("20 Mbps", [_RTT_MS], path[0], **link), path[1], 30)
        cases.append(Case(key, "6.4", title, data, (goodput(_WHOLE, OWN, (10, 30), 20),)))
    rates = [20, 8, 14, 5, 17, 11]
    changes = [at(f"{second} s", capacity=f"{rates[second % 6]} Mbps") for second in range(1, 30)]
    mean = sum(rates[second % 6] for second in range(10, 30)) / 20
    data = scenario(dumbbell("20 Mbps", [_RTT_MS], path[0]), path[1], 30, event=changes)
    title = "the capacity is another one each second, 5 to 20 Mbps"
    return [*cases, Case("wireless-capacity", "6.4", title, data, (goodput(_WHOLE, OWN, (10, 30), mean),))]


def _queues() -> list[Case]:
    """Section 7.1: active queue management."""
    cases = []
    disciplines: tuple[tuple[str, str, Table], ...] = (
        ("codel", "CoDel", {"algorithm": "codel", "ecn": False}),
        ("pie", "PIE", {"algorithm": "pie", "ecn": False}),
        ("fq-codel", "FQ-CoDel", {"algorithm": "fq-codel", "ecn": False}),
        ("codel-ecn", "CoDel with marks", {"algorithm": "codel", "ecn": True}),
        ("threshold-ecn", "marks above 20 packets", {"algorithm": "threshold", "mark_at": "20 packets"}),
    )
    for key, name, discipline in disciplines:
        transport = ECN if key.endswith("ecn") else OWN
        network = dumbbell("20 Mbps", [_RTT_MS], {**discipline, "limit": bdp(4, _RTT_MS)})
        data = scenario(network, [flows(OWN, 1, transport, 2)], 30)
        measures = (goodput(_WHOLE, OWN, (10, 30), 20), queue((10, 30), 20), lost("segments lost", OWN))
        cases.append(Case(key, "7.1", f"two flows, {name}", data, measures))
    data = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, {"algorithm": "fq-codel", "ecn": False}),
        [flows(OWN, 1, OWN, 2), flows("other", 2, CUBIC, 2)],
        40,
    )
    shares = (goodput(_OTHERS, "other", (10, 40), 10),)
    return [*cases, Case("fq-codel-cubic", "7.1", "two flows beside two of CUBIC, FQ-CoDel", data, shares)]


def _special() -> list[Case]:
    """Sections 7.3 to 7.9: paths that change, are slow, long, or reorder."""
    one = [flows(OWN, 1, OWN)]
    room = bdp(1, _RTT_MS)
    longer = scenario(dumbbell("20 Mbps", [_RTT_MS], room), one, 40, event=[at("15 s", delay="35 ms")])
    slow = scenario(dumbbell("100 kbps", [200], "10 packets"), one, 300)
    satellite = scenario(dumbbell("20 Mbps", [600], bdp(1, 600)), one, 60)
    reorder = {"probability": 0.02, "delay": "4 ms"}
    reordered = scenario(dumbbell("20 Mbps", [_RTT_MS], room, reorder=reorder), one, 30)
    outage = scenario(
        dumbbell("20 Mbps", [_RTT_MS], room),
        one,
        40,
        event=[at("15 s", state="silent"), at("17 s", state="up")],
    )
    burst = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, room),
        [*one, stream("burst", 2, "18 Mbps", "1000 B", "15 s", "17 s")],
        40,
    )
    steps = scenario(
        dumbbell("50 Mbps", [_RTT_MS], room),
        one,
        45,
        event=[at("15 s", capacity="5 Mbps"), at("25 s", capacity="50 Mbps")],
    )
    return [
        Case(
            "longer-path", "7.3", "the round trip takes 40 ms, from 15 s on 100 ms", longer,
            (goodput(_WHOLE, OWN, (20, 40), 20), spurious(OWN)),
        ),
        Case("slow-path", "7.4", "one flow over 100 kbps and 200 ms", slow,
             (goodput(_WHOLE, OWN, (60, 300), 0.1), lost("segments lost", OWN))),
        Case("satellite", "7.5", "one flow over 20 Mbps and 600 ms", satellite,
             (goodput(_WHOLE, OWN, (20, 60), 20), queue((20, 60), 20))),
        Case("reordering", "7.7", "2 % of the packets overtake 4 ms of others", reordered,
             (goodput(_WHOLE, OWN, (10, 30), 20), spurious(OWN))),
        Case("outage", "7.8", "everything is lost for 2 s", outage, (back(OWN, (5, 15), 17),)),
        Case("onset", "7.8", "18 of 20 Mbps are taken by others for 2 s", burst,
             (lost("segments lost", OWN), back(OWN, (5, 15), 17))),
        Case("capacity-steps", "7.9", "50 Mbps fall to 5 Mbps for 10 s", steps,
             (queue((15.5, 25), 5), lost("segments lost", OWN), back(OWN, (5, 15), 25))),
    ]  # fmt: skip


def _multipath() -> list[Case]:
    """Sections 7.10 and 7.11: several paths, and a data center."""
    apart: Table = {"scheme": {"algorithm": "disjoint", "k": 2}}
    paths = two_paths(("20 Mbps", "10 ms"), ("10 Mbps", "20 ms"))
    start = {"distribution": "uniform", "low": "0 s", "high": "500 ms"}
    flow = {"name": OWN, "from": "source", "to": "sink", "transport": MULTIPATH, "start": start}
    both = scenario(paths, [flow], 30, routing=apart)
    dying = scenario(
        paths,
        [flow],
        30,
        routing={**apart, "reaction": "never"},
        event=[at("15 s", ["source", "path1"], state="silent")],
    )
    shared = scenario(
        dumbbell("20 Mbps", [_RTT_MS] * 2, bdp(1, _RTT_MS)),
        [flows(OWN, 1, MULTIPATH), flows("other", 2, CUBIC)],
        60,
    )
    senders = [f"left{number}" for number in range(1, 17)]
    incast = scenario(
        {
            "topology": "dumbbell",
            "parameters": {
                "left_hosts": 16,
                "right_hosts": 1,
                "bottleneck_capacity": "1 Gbps",
                "bottleneck_delay": "20 us",
                "access_capacity": "1 Gbps",
                "access_delay": "10 us",
            },
            "links": {"queue": "100 packets"},
        },
        [
            {
                "name": OWN,
                "from": senders,
                "to": "right1",
                "transport": OWN,
                "size": "256 kB",
                "start": {"distribution": "uniform", "low": "0 s", "high": "100 us"},
            }
        ],
        5,
        sample_interval="10 ms",
    )
    return [
        Case("paths-together", "7.10", "two disjoint paths of 20 and 10 Mbps, the control on each", both,
             (goodput("goodput of both capacities", OWN, (10, 30), 30),)),
        Case("paths-shared", "7.10", "two subflows in one bottleneck beside a flow of CUBIC", shared,
             (goodput("goodput of CUBIC, of an equal share", "other", (20, 60), 10),)),
        Case("path-lost", "7.10", "the path of 20 Mbps loses everything from 15 s on", dying,
             (goodput("goodput of the path that is left", OWN, (18, 30), 10),)),
        Case("incast", "7.11", "16 hosts send 256 kB at once to one over 1 Gbps", incast,
             (completion("completion of the last", OWN, "max"),)),
    ]  # fmt: skip


def cases() -> list[Case]:
    """All scenarios, in the order of RFC 9743."""
    return [*_alone(), *_mixed(), *_general(), *_queues(), *_special(), *_multipath()]


PLAINEST = next(case for case in cases() if case.transports == [OWN])
"""A scenario of the control alone."""
NOT_RUN = (
    ("5.3.1", "deviations from RFC 2914 and RFC 7141 are for the author to explain"),
    ("5.3.2", "incremental deployment is for the author to discuss"),
    ("6.2", "there are no tunnels in a simulation of paths"),
    ("7.1", "L4S (RFC 9332): there is no dual queue"),
    ("7.2", "there are no circuit breakers; lost segments and silence are measured in 5.1.1 and 5.1.3"),
    ("7.6", "there are no misbehaving senders, receivers or attackers"),
)
"""Sections of RFC 9743 that are not measured, and why."""
