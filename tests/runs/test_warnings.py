"""What a run warns of: it can be run, and yet hardly be meant."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anabranch import Scenario
from anabranch.errors import ScenarioError
from anabranch.terminal.cli import app

# One way 20 ms and 30 ms by two paths: a round trip of 60 ms by the slower one.
TEXT = """
[network]
topology = "parallel"
[network.parameters]
paths = [{ delay = "20 ms" }, { delay = "30 ms" }]
[network.links]
capacity = "10 Mbps"
[[traffic]]
name = "transfer"
from = "source"
to = "sink"
transport = "mprc"
[transport.mprc]
loss_detection = { algorithm = "fastrto", fastrto_max = "50 ms" }
[routing]
scheme = "disjoint"
load_balancing = "packet"
[run]
duration = "1 s"
"""
WARNING = (
    'transport.mprc.loss_detection.fastrto_max: 50 ms is below the round trip of "transfer.0", 60 ms without '
    "queues: the timer follows the measured round trips, and this bound does nothing"
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("", ""), [WARNING]),
        (('"50 ms"', '"60 ms"'), []),
        (
            ('transport = "mprc"', 'transport = "cubic"'),
            ["transport.mprc: no traffic uses it, so that it changes nothing"],
        ),
        # Hop by hop, with every link of one cost.
        (('scheme = "disjoint"', 'scheme = "ecmp"\nmetric = "hops"'), [WARNING]),
        # The faster path alone: 40 ms.
        (('scheme = "disjoint"\nload_balancing = "packet"', 'scheme = "shortest"\nmetric = "delay"'), []),
    ],
)
def test_a_largest_fastrto_below_the_round_trip_is_told(change: tuple[str, str], expected: list[str]) -> None:
    assert TEXT.count(change[0]) >= 1
    result = Scenario.loads(TEXT.replace(*change)).run()
    assert result.summary["warnings"] == expected


def test_the_command_line_says_it_on_standard_error(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(TEXT)
    ran = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out"), "--json"])
    assert ran.exit_code == 0
    assert f"warning: {WARNING}\n" in ran.stderr
    assert "warning: " not in ran.stdout


CONTROLLER = """
[controller]
metric = "METRIC"
[controller.links]
capacity = "1 Gbps"
delay = "1 ms"
"""


@pytest.mark.parametrize(
    ("metric", "least"),
    [("tcpbp", "least delay"), ("b-over-dl", "least delay"), ("loss", "fewest hops"), ("argaq", None)],
)
@pytest.mark.parametrize("place", ["routing.metric", "controller.metric"])
def test_a_metric_of_loss_without_loss_is_told_wherever_it_stands(
    place: str, metric: str, least: str | None, tmp_path: Path
) -> None:
    """What lacks any loss is no network that a metric of loss can choose routes in."""
    routing = 'scheme = "disjoint"\nload_balancing = "packet"'
    ours = f'metric = "{metric}"'
    text = TEXT.replace("[routing]\n" + routing, CONTROLLER.replace("METRIC", metric))
    if place == "routing.metric":
        text = TEXT.replace(routing, ours)
    file = tmp_path / "scenario.toml"
    file.write_text(text.replace('"50 ms"', '"80 ms"'))
    message = f'{place}: no link loses packets, so that "{metric}" tells no paths apart; routes are those of '
    expected = [] if least is None else [message + least]

    shown = CliRunner().invoke(app, ["routes", str(file), "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["warnings"] == expected
    ran = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0
    assert [line for line in ran.stderr.splitlines() if "tells no paths" in line] == [
        f"warning: {line}" for line in expected
    ]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["warnings"] == expected


@pytest.mark.parametrize("metric", ["tcpbp", "argaq", "b-over-dl", "smm"])
@pytest.mark.parametrize("controller", ["", CONTROLLER])
def test_a_metric_that_multiplies_by_delay_without_any_is_told(metric: str, controller: str) -> None:
    """d sqrt(p) = d / (1 - p) = 0 for d = 0, however much is lost; slog + d is not. Control links do not
    count."""
    place = "controller.metric" if controller else "routing.metric"
    ours = controller.replace("METRIC", metric) or f'[routing]\nmetric = "{metric}"\n'
    text = TEXT.replace('[routing]\nscheme = "disjoint"\nload_balancing = "packet"', ours)
    text = re.sub('"[23]0 ms"', '"0 ms"', text)
    text = text.replace('"10 Mbps"', '"10 Mbps"\ndelay = "0 ms"\nloss = 0.01')
    message = f'{place}: no link has a delay, so that "{metric}" tells no paths apart; routes are those of '
    assert Scenario.loads(text).routes().warnings == (() if metric == "smm" else (message + "fewest hops",))


ASIDE = "".join(f'[[network.node]]\nname = "{node}"\n' for node in ("aside", "behind")) + "".join(
    f'[[network.link]]\nnew = true\nbetween = ["{a}", "{b}"]\ndelay = "5 ms"\nloss = LOSS\n'
    for a, b in (("sink", "aside"), ("aside", "behind"), ("behind", "sink"))
)
"""A ring at the receiver."""


@pytest.mark.parametrize("controller", ["", CONTROLLER])
@pytest.mark.parametrize(
    ("metric", "loss", "lacks"),
    [
        ("tcpbp", "0.1", "loses packets"),
        ("loss", "0.1", "loses packets"),
        ("argaq", "0", "has a delay"),
        ("hops", "0.1", None),
    ],
)
def test_links_where_no_data_can_come_by_tell_no_paths_apart(
    metric: str, loss: str, lacks: str | None, controller: str
) -> None:
    """Links of a ring lose packets and have delays; who goes round it is where they were before."""
    place = "controller.metric" if controller else "routing.metric"
    ours = controller.replace("METRIC", metric) or f'[routing]\nmetric = "{metric}"\n'
    text = TEXT.replace('[routing]\nscheme = "disjoint"\nload_balancing = "packet"', ours)
    text = text.replace('"50 ms"', '"80 ms"') + ASIDE.replace("LOSS", loss)
    if lacks == "has a delay":
        text = re.sub('"[23]0 ms"', '"0 ms"', text).replace(
            "[network.links]", '[network.links]\ndelay = "0 ms"'
        )
    warnings = Scenario.loads(text).routes().warnings
    told = [warning for warning in warnings if f'"{metric}" tells no paths apart' in warning]
    start = f"{place}: no link between the ends of traffic {lacks}, so that"
    assert [warning.startswith(start) for warning in told] == ([] if lacks is None else [True])

    # A sender behind it crosses it; under a controller hosts pass nothing on.
    if not controller:
        text += '[[traffic]]\nfrom = "aside"\nto = "source"\n'
        warnings = Scenario.loads(text).routes().warnings
        assert not [warning for warning in warnings if "tells no paths apart" in warning]


WAITING = """
[network]
topology = "dumbbell"
[network.links]
capacity = "10 Mbps"
delay = "1 ms"
[[traffic]]
name = "transfer"
from = "left1"
to = "right1"
transport = "mptcp"
size = "4 MB"
[[event]]
at = "1 s"
link = ["router-left", "router-right"]
state = "down"
[run]
duration = "20 s"
"""


def test_a_connection_that_waits_for_a_path_is_told() -> None:
    result = Scenario.loads(WAITING).run()
    warning, unfinished = result.summary["warnings"]
    assert unfinished.startswith("completion times: 1 of 1 unfinished")
    since_s = result.connections["stalled_since_s"][0]
    # Some retransmission timeouts after the failure (RFC 6298: at least 200 ms here), well before the end.
    assert 1.2 < since_s < 5
    assert warning == (
        f"transfer.0: no subflow has had an answer since {since_s:.6g} s; the connection waits for a path "
        "to come back"
    )
    repaired = WAITING.replace("[run]", '[[event]]\nat = "5 s"\n' + 'link = ["router-left", "router-right"]\n'
                               'state = "up"\n[run]')  # fmt: skip
    result = Scenario.loads(repaired).run()
    assert result.summary["warnings"] == []
    assert result.flows["delivered_bytes"][0] == 4_000_000
    assert result.connections["stalled_s"][0] > 0


MESH = """
[network]
topology = "parallel"
[network.parameters]
paths = [{ delay = "1 ms" }, { delay = "2 ms" }]
[network.links]
capacity = "10 Mbps"
[[traffic]]
name = "transfer"
from = "source"
to = "sink"
transport = "mptcp"
size = "100 kB"
[transport.mptcp]
path_manager = "fullmesh"
[routing]
scheme = "disjoint"
[run]
duration = "5 s"
"""


def test_interfaces_without_a_path_are_told() -> None:
    """Each end has two interfaces. Over disjoint paths each of them is of use, though two of four pairs have
    no path; the single shortest path leaves the second of either end out, and so does a limit of 1."""
    assert Scenario.loads(MESH).run().summary["warnings"] == []
    result = Scenario.loads(MESH.replace("disjoint", "shortest")).run()
    assert result.subflows["state"].to_list()[0] == "established"
    (warning,) = result.summary["warnings"]
    assert warning == (
        "transfer.0: it has 1 of the 2 paths between its hosts that share no link, for its routes "
        'have no others; routing.scheme = "disjoint" has 2'
    )
    limited = MESH.replace('"fullmesh"', '{ algorithm = "fullmesh", limit = 1 }')
    (warning,) = Scenario.loads(limited).run().summary["warnings"]
    assert warning == (
        "transfer.0: its routes join 2 pairs of interfaces, more than the limit of its full mesh; "
        'transport.mptcp.path_manager = { algorithm = "fullmesh", limit = 2 } opens a subflow for each'
    )


def test_a_full_mesh_has_all_paths_of_linux_mptcp_as_it_comes() -> None:
    """Two paths of 10 Mbps, and four: more than the two subflows beside the first of a kernel unasked."""
    as_it_comes = MESH.replace('"mptcp"', '"linux-mptcp"').replace("100 kB", "unlimited")
    as_it_comes = as_it_comes.replace('[transport.mptcp]\npath_manager = "fullmesh"\n', "")
    result = Scenario.loads(as_it_comes).run()
    assert result.subflows["state"].to_list() == ["established"] * 2
    assert result.flows["goodput_mbps"][0] > 0.9 * 20
    more = as_it_comes.replace('{ delay = "1 ms" },', '{ delay = "1 ms" },' * 3)
    assert Scenario.loads(more).run().flows["goodput_mbps"][0] > 0.9 * 40


@pytest.mark.parametrize("preset", ["mptcp", "mptcp-olia", "mptcp-balia", "mptcp-cubic"])
def test_every_preset_has_all_disjoint_paths_as_it_comes(preset: str) -> None:
    ours = MESH.replace('"mptcp"', f'"{preset}"').replace("100 kB", "unlimited")
    ours = ours.replace('[transport.mptcp]\npath_manager = "fullmesh"\n', "")
    result = Scenario.loads(ours).run()
    assert result.subflows["path"].to_list() == ["source > path1 > sink", "source > path2 > sink"]
    assert result.flows["goodput_mbps"][0] > 0.85 * 20
    assert result.summary["warnings"] == []
    # Hashed routes, where the hosts have one interface each, keep two ports.
    hashed = ours.replace('topology = "parallel"', 'topology = "dumbbell"').replace('scheme = "disjoint"', "")
    hashed = hashed.replace('paths = [{ delay = "1 ms" }, { delay = "2 ms" }]', "hosts = 1")
    hashed = hashed.replace('"source"', '"left1"').replace('"sink"', '"right1"')
    hashed = hashed.replace('capacity = "10 Mbps"', 'capacity = "10 Mbps"\ndelay = "1 ms"')
    subflows = Scenario.loads(hashed).run().subflows
    assert subflows["client_port"].n_unique() == subflows.height == 2
    # With one path of two the routes are told, and with ports alone the path manager.
    (warning,) = Scenario.loads(ours.replace("disjoint", "shortest")).run().summary["warnings"]
    assert warning.startswith("transfer.0: it has 1 of the 2 paths between its hosts that share no link")
    ports = ours.replace("[routing]", f'[transport.{preset}]\npath_manager = "ndiffports"\n[routing]')
    (warning,) = Scenario.loads(ports).run().summary["warnings"]
    assert warning == (
        "transfer.0: its routes join 2 pairs of interfaces, and ndiffports (subflows = 2) leaves "
        "it to a hash of ports which of these are used, so that some may not be; "
        f'transport.{preset}.path_manager = "fullmesh" opens a subflow for each'
    )


@pytest.mark.parametrize(
    ("balancer", "scheme", "manager", "paths"),
    [
        ('"packet"', "disjoint", '"ndiffports"', 2),
        ('"packet-round-robin"', "disjoint", '"ndiffports"', 2),
        ('{ algorithm = "packet" }', "ecmp", '"ndiffports"', 2),
        ('"packet"', "ecmp", '"default"', 2),
        # One path joins the two interfaces of a subflow, or hosts have one path.
        ('"packet"', "disjoint", '"fullmesh"', None),
        ('"packet"', "disjoint", '{ algorithm = "ndiffports", by_interfaces = true }', None),
        ('"packet"', "shortest", '"ndiffports"', None),
        ('"hash"', "disjoint", '"ndiffports"', None),
        ('"flow"', "ecmp", '"ndiffports"', None),
        ('"subflow-round-robin"', "disjoint", '"ndiffports"', None),
    ],
)
def test_subflows_without_a_path_of_their_own_are_told(
    balancer: str, scheme: str, manager: str, paths: int | None
) -> None:
    text = MESH.replace('"fullmesh"', manager).replace("2 ms", "1 ms")
    text = text.replace('"disjoint"', f'"{scheme}"\nmetric = "hops"\nload_balancing = {balancer}')
    sentences = [each for each in Scenario.loads(text).run().summary["warnings"] if "each subflow" in each]
    if paths is None:
        assert sentences == []
        return
    name = "packet-round-robin" if "robin" in balancer else "packet"
    assert sentences == [
        f'transfer.0: routing.load_balancing = "{name}" distributes the packets of each subflow over {paths} '
        "paths, so that none of its subflows has a path of its own to measure and to fill; "
        'routing.load_balancing = "hash" keeps each of them on one'
    ]
    single = text.replace('transport = "mptcp"', 'transport = "mprc"')
    assert not any("each subflow" in each for each in Scenario.loads(single).run().summary["warnings"])


def test_a_fabric_between_hosts_of_one_interface_sprays_their_subflows() -> None:
    """Paths of one pair of interfaces, which a full mesh cannot tell apart."""
    text = """
[network]
topology = "leaf-spine"
[network.links]
capacity = "1 Gbps"
delay = "1 us"
[[traffic]]
from = ["host1.1", "host1.2"]
to = ["host2.1", "host2.2"]
pairs = "in-order"
transport = "mptcp"
[routing]
scheme = { algorithm = "k-shortest", k = 4 }
load_balancing = "packet"
[run]
duration = "1 ms"
"""
    (sentences,) = (each for each in Scenario.loads(text).run().summary["warnings"] if "each subflow" in each)
    assert sentences.startswith("traffic[0].0 (and 1 more): ")
    assert "over 4 paths" in sentences


def test_only_pairs_that_paths_join_there_and_back_count() -> None:
    """Berlin to Munich over four paths there, of which the other four back share the interfaces of one."""
    text = """
[network]
topology = "sndlib/germany50"
[network.links]
capacity = "10 Mbps"
[[traffic]]
from = "Berlin"
to = "Muenchen"
transport = "linux-mptcp"
[routing]
scheme = { algorithm = "k-shortest", k = 4 }
[run]
duration = "1 s"
"""
    result = Scenario.loads(text).run()
    (warning,) = (each for each in result.summary["warnings"] if "share no link" in each)
    assert f"it has {result.subflows.height} of the 4 paths" in warning


def test_a_full_mesh_opens_a_subflow_where_new_routes_lead() -> None:
    """The shortest path fails after a second; the other one leads over the second interface of either end."""
    text = MESH.replace("disjoint", "shortest").replace('size = "100 kB"', 'size = "unlimited"')
    text = text.replace("[routing]\n", '[routing]\nreaction = "20 ms"\n')
    failing = text + '[[event]]\nat = "1 s"\nlink = ["source", "path1"]\nstate = "down"\n'
    rows = Scenario.loads(failing).run().subflows.rows(named=True)
    assert [row["path"] for row in rows] == ["source > path1 > sink", "source > path2 > sink"]
    assert rows[1]["opened_s"] == pytest.approx(1.02, abs=0.001)
    # From then on it has 10 Mbps, but for its slow start.
    assert rows[1]["delivered_bytes"] > 0.85 * 10e6 / 8 * 3.98


def test_a_flow_that_the_core_refuses_has_its_name() -> None:
    with pytest.raises(ScenarioError, match=r"^transfer\.0: the path manager fullmesh"):
        Scenario.loads(MESH.replace("disjoint", "ecmp")).run()


DOWNLOAD = """
[network]
node = [{ name = "phone", kind = "host" }, { name = "isp" }, { name = "server", kind = "host" }]
[[network.link]]
between = ["phone", "isp"]
new = true
[[network.link]]
between = ["phone", "isp"]
new = true
[[network.link]]
between = ["isp", "server"]
new = true
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
[routing]
scheme = "k-shortest"
[[traffic]]
name = "video"
from = "server"
to = "phone"
transport = "linux-mptcp"
[run]
duration = "3 s"
"""


def test_an_address_that_nobody_hears_of_is_told() -> None:
    def address(at: str, index: int, state: str) -> str:
        place = f'address = ["phone", "isp"]\nindex = {index}\nstate = "{state}"'
        return f'[[event]]\nat = "{at}"\n{place}\n'

    def run(*events: str, text: str = DOWNLOAD) -> tuple[list[str], int]:
        result = Scenario.loads(text + "".join(events)).run()
        return result.summary["warnings"], int(result.subflows["handshake_s"].is_not_null().sum())

    late = address("0 s", 2, "down"), address("1 s", 2, "up")
    stock = (
        'video.0: "phone" announces an address at 1 s, and add_addr_accepted of its path manager is 0, as in '
        "a stock kernel, so that no subflow goes there"
    )
    assert run(*late) == ([stock], 1)
    accepts = 'path_manager = { algorithm = "fullmesh", limit = 3, add_addr_accepted = 1 }'
    message = DOWNLOAD + f"[transport.linux-mptcp]\n{accepts}\n"
    assert run(*late, text=message) == ([], 2)
    # Without an address there is no subflow on which to announce one.
    warnings, opened = run(*late[:1], address("1 s", 1, "down"), address("2 s", 2, "up"), text=message)
    assert (len(warnings), opened) == (2, 1)
    assert warnings[0] == (
        'video.0: "phone" has no address at 1 s, and only the end that sends data opens subflows: the '
        "connection waits from then on, whatever address comes up"
    )
    assert "no subflow has had an answer since" in warnings[1]
    # The end that sends opens them itself.
    upload = DOWNLOAD.replace('from = "server"\nto = "phone"', 'from = "phone"\nto = "server"')
    assert run(*late[:1], address("1 s", 1, "down"), address("2 s", 2, "up"), text=upload) == ([], 2)
