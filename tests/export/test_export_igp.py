"""Configurations with costs: interfaces of an operator's from four sources, costs by hand, refusals."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from export_scenarios import CROSSED, EDGES, SPLIT, diamond

from anabranch import Scenario
from anabranch.errors import ExportError, ScenarioError
from anabranch.export.ports import read_ports
from anabranch.export.write import Exported, export

ECMP = 'scheme = "ecmp"\nmetric = "weight"\n'
NODES = ("a", "b", "c", "d")
TABLE = """node,neighbour,interface,address,cost
a,,lo,192.0.2.1/32,
a,b,ge-0/0/1,198.51.100.1/30,11
a,c,ge-0/0/2,198.51.100.5/30,12
a,,ge-0/0/9,,
b,,lo,192.0.2.2/32,
b,a,xe1,198.51.100.2/30,21
b,d,xe2,198.51.100.9/30,22
b,c,xe3,198.51.100.13/30,23
c,,lo,192.0.2.3/32,
c,a,xe1,198.51.100.6/30,31
c,d,xe2,198.51.100.17/30,32
c,b,xe3,198.51.100.14/30,33
d,,lo,192.0.2.4/32,
d,b,eth-1,198.51.100.10/30,41
d,c,eth-2,198.51.100.18/30,42
"""


def written(scenario: Scenario, to: str, folder: Path, **options: Path) -> tuple[Exported, dict[str, str]]:
    """The export, and its configurations by node."""
    exported = export(scenario, to, folder, replace=True, **options)
    files = {path.parent.name.split("-")[1]: path.read_text() for path in folder.glob("n*/frr.conf")}
    return exported, files


def interface_lines(text: str, name: str) -> list[str]:
    """The lines of an interface in a configuration."""
    match = re.search(rf"(?m)^interface {re.escape(name)}\n((?: .*\n)*)exit$", text)
    assert match, name
    return [line.strip() for line in match[1].splitlines()]


def test_ospf_has_the_cost_of_each_interface_in_the_operators_words(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    exported, files = written(diamond(ECMP), "frr-ospf", tmp_path / "out", interfaces=tmp_path / "t.csv")
    assert sorted(files) == list(NODES)
    assert interface_lines(files["a"], "ge-0/0/1") == [
        "ip address 198.51.100.1/30", "ip ospf area 0", "ip ospf network point-to-point", "ip ospf cost 4",
    ]  # fmt: skip
    assert interface_lines(files["a"], "ge-0/0/9") == ["ip ospf area 0", "ip ospf passive"]
    assert interface_lines(files["a"], "lo") == ["ip address 192.0.2.1/32", "ip ospf area 0"]
    assert "router ospf\n ospf router-id 192.0.2.1\n" in files["a"]
    assert "hostname a\n" in files["a"]
    assert "ospfd=yes" in (tmp_path / "out" / "n1-a" / "daemons").read_text()
    assert not [entry for entry in exported.loads if abs(entry.added) > 1e-12]
    rows = list(csv.DictReader((tmp_path / "out" / "costs.csv").read_text().splitlines()))
    assert len(rows) == 2 * len(EDGES)
    assert rows[0] == {
        "link": "a->b", "router": "a", "interface": "ge-0/0/1", "weight": "4", "cost": "4", "off_percent": "0"
    }  # fmt: skip


def test_isis_has_wide_metrics_and_a_title_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    _, files = written(diamond(ECMP), "frr-isis", tmp_path / "out", interfaces=tmp_path / "t.csv")
    assert "isis metric 4" in interface_lines(files["d"], "eth-2")
    # 192.0.2.4 as twelve digits in groups of four.
    assert " net 49.0001.1920.0000.2004.00\n" in files["d"]
    assert " metric-style wide\n" in files["d"]


def test_four_sources_say_the_same(tmp_path: Path) -> None:
    """A table, columns of the CSV of links, configurations of FRR, a file of containerlab."""
    (tmp_path / "t.csv").write_text(TABLE)
    written(diamond(ECMP), "frr-ospf", tmp_path / "frr", interfaces=tmp_path / "t.csv")
    rows = {(row["node"], row["neighbour"]): row for row in csv.DictReader(TABLE.splitlines())}
    lines = ["from,to,from_interface,to_interface,from_address,to_address,from_cost,to_cost"]
    lab = ["name: x", "topology:", "  nodes:", *(f"    {node}: {{kind: linux}}" for node in NODES)]
    lab += ["    host: {kind: linux}", "  links:", '    - endpoints: ["a:ge-0/0/9", "host:eth1"]']
    for a, b in EDGES:
        one, other = rows[a, b], rows[b, a]
        words = (a, b, one["interface"], other["interface"], one["address"], other["address"])
        lines.append(",".join((*words, one["cost"], other["cost"])))
        lab.append(f'    - endpoints: ["{a}:{one["interface"]}", "{b}:{other["interface"]}"]')
    (tmp_path / "links.csv").write_text("\n".join(lines))
    (tmp_path / "x.clab.yml").write_text("\n".join(lab))
    table = read_ports(tmp_path / "t.csv", NODES)
    expected = {(port.node, port.neighbour, port.interface, port.address) for port in table.ports}
    assert len(expected) == 11
    of_frr = read_ports(tmp_path / "frr", NODES)
    assert {(port.node, port.neighbour, port.interface, port.address) for port in of_frr.ports} == expected
    assert {port.cost for port in of_frr.ports if port.neighbour is not None} == {4}
    assert of_frr.own_addresses == table.own_addresses
    of_links = read_ports(tmp_path / "links.csv", NODES).ports
    inside = {port for port in expected if port[1] is not None}
    assert {(port.node, port.neighbour, port.interface, port.address) for port in of_links} == inside
    assert {(port.node, port.neighbour): port.cost for port in of_links} == {
        (NODES.index(a), NODES.index(b)): int(row["cost"]) for (a, b), row in rows.items() if b
    }
    of_lab = read_ports(tmp_path / "x.clab.yml", NODES).ports
    assert {port[:3] for port in expected} == {(port.node, port.neighbour, port.interface) for port in of_lab}


def test_parallel_links_are_told_apart_by_name(tmp_path: Path) -> None:
    text = (
        '[[network.node]]\nname = "a"\n[[network.node]]\nname = "b"\n'
        + '[[network.link]]\nbetween = ["a", "b"]\nnew = true\nweight = 5\n'
        + '[[network.link]]\nbetween = ["a", "b"]\nnew = true\nweight = 7\n'
        + '[network.links]\ncapacity = "10 Mbps"\ndelay = "1 ms"\n'
        + f'[routing]\n{ECMP}[routing.demand]\npair = "1 Mbps"\n'
    )
    (tmp_path / "t.csv").write_text(
        "node,link,interface\na,a->b#2,x2\na,a->b,x1\nb,b->a,y1\nb,b->a#2,y2\na,,lo\n"
    )
    _, files = written(Scenario.loads(text), "frr-ospf", tmp_path / "out", interfaces=tmp_path / "t.csv")
    interfaces = (("a", "x1"), ("a", "x2"), ("b", "y1"), ("b", "y2"))
    assert [interface_lines(files[node], name)[-1] for node, name in interfaces] == [
        "ip ospf cost 5", "ip ospf cost 7", "ip ospf cost 5", "ip ospf cost 7",
    ]  # fmt: skip
    (tmp_path / "t.csv").write_text("node,neighbour,interface\na,b,x1\na,b,x2\nb,a,y1\nb,a,y2\n")
    exported, _ = written(Scenario.loads(text), "frr-ospf", tmp_path / "out", interfaces=tmp_path / "t.csv")
    assert any("does not tell parallel links apart (a - b)" in remark for remark in exported.remarks)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("a,b,ge-0/0/1", "a,x,ge-0/0/1", 't.csv, line 3: the network has no node "x"'),
        (
            "198.51.100.1/30",
            "198.51.100.1",
            'line 3: the address is "198.51.100.1"; write it with its prefix',
        ),
        ("198.51.100.1/30", "198.51.100.2/30", "198.51.100.2 is the address of both ends of the link"),
        ("198.51.100.1/30", "10.9.9.1/30", "are the ends of a link, and no subnet of both"),
        ("198.51.100.1/30", "", "ge-0/0/1 has no address, and the other end of the link, xe1, has one"),
        ("a,c,ge-0/0/2", "a,c,ge-0/0/1", "a has ge-0/0/1 twice, first in t.csv, line 3"),
        ("a,c,ge-0/0/2,198.51.100.5/30,12\n", "", "has no interface of these links: a to c; add a row"),
        ("xe1,198.51.100.6/30,31", "xe1,198.51.100.6/30,-3", 'line 11: the cost is "-3"'),
        ("node,neighbour", "node,other", "the table does not say where interfaces lead"),
        ("ge-0/0/2", "ge 2", 'line 4: the interface is "ge 2"'),
    ],
)
def test_a_table_that_does_not_fit_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in TABLE
    (tmp_path / "t.csv").write_text(TABLE.replace(old, new, 1))
    with pytest.raises((ScenarioError, ExportError)) as caught:
        export(diamond(ECMP), "frr-ospf", tmp_path / "out", interfaces=tmp_path / "t.csv")
    assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_costs_that_no_device_has_are_scaled_and_told(tmp_path: Path) -> None:
    """130,000 and 3: 65,535 and 1.5, which is 2; by it the two ways of a to d are no longer as they were."""
    weights = "".join(
        f"{a},{b},{130_000 if (a, b) == ('a', 'b') else 3}\n" for e in EDGES for a, b in (e, e[::-1])
    )
    (tmp_path / "w.csv").write_text(f"from,to,weight\n{weights}")
    scenario = diamond(ECMP).replace({"network.weights": f"file:{tmp_path}/w.csv"})
    exported, files = written(scenario, "frr-ospf", tmp_path / "out")
    assert "ip ospf cost 65535" in files["a"]
    assert "ip ospf cost 2\n" in files["d"]
    (note,) = exported.notes
    assert note.startswith("costs above 65,535: all are scaled by 0.5041 and rounded, furthest off: ")
    assert "b->a 1.51235 as 2" in note
    _, files = written(scenario, "frr-isis", tmp_path / "out")
    assert "isis metric 130000" in files["a"]


def test_routes_that_costs_do_not_make_are_told_with_their_load(tmp_path: Path) -> None:
    """a sends 3 to 1 by b and c; routers share evenly, so that a->b carries 0.5 of it and not 0.75."""
    exported, _ = written(diamond(SPLIT), "frr-ospf", tmp_path / "out")
    assert 'the routes of scheme "given"' in exported.notes[0]
    assert "OSPF sends by the costs of links alone" in exported.notes[0]
    added = {entry.link: (entry.before, entry.after) for entry in exported.loads}
    assert added["a->b"] == pytest.approx((0.75, 0.5))
    assert added["a->c"] == pytest.approx((0.25, 0.5))


def test_what_has_no_costs_is_refused(tmp_path: Path) -> None:
    def without(metric: str) -> Scenario:
        text = diamond(f'scheme = "ecmp"\nmetric = "{metric}"\n').toml()
        return Scenario.loads(re.sub(r"(?m)^weight = .*\n", "", text))

    with pytest.raises(ExportError) as caught:
        export(without("loss"), "frr-ospf", tmp_path / "out")
    assert "routers find routes by costs of links, and a->b has none; give network.links.weight" in str(
        caught.value
    )
    _, files = written(without("hops"), "frr-ospf", tmp_path / "hops")
    assert files["a"].count("ip ospf cost 1\n") == 2
    _, files = written(without("inverse-capacity"), "frr-ospf", tmp_path / "capacity")
    assert files["a"].count("ip ospf cost 1\n") == 2
    _, files = written(without("delay"), "frr-ospf", tmp_path / "delay")
    assert files["a"].count("ip ospf cost 1\n") == 2
    for option in ("interfaces", "present"):
        with pytest.raises(ExportError) as caught:
            export(diamond(ECMP), "mininet", tmp_path / "out", **{option: tmp_path})
        assert str(caught.value).startswith(f"--{option}: changes nothing with --to mininet; it is for ")


def test_policies_have_one_path_and_say_so(tmp_path: Path) -> None:
    """The path with three quarters is colour 100, the other 101; by one path a->b carries all."""
    exported, files = written(diamond(SPLIT), "frr-sr", tmp_path / "out")
    assert "  policy color 100 endpoint 10.0.0.4\n" in files["a"]
    lists = re.findall(r"segment-list (\S+)\n((?:   index .*\n)+)", files["a"])
    # Labels of a->b and b->d, then of a->c and c->d.
    assert [(name, re.findall(r"label (\d+)", lines)) for name, lines in lists] == [
        ("n4-1", ["100000", "100002"]), ("n4-2", ["100004", "100006"]),
    ]  # fmt: skip
    assert "mpls lsp 100002 172.16.0.3 implicit-null" in files["b"]
    assert any(
        "shares of 2 pairs with several paths: a policy of FRR has one list" in note
        for note in exported.notes
    )
    rows = list(csv.DictReader((tmp_path / "out" / "policies.csv").read_text().splitlines()))
    assert [(row["color"], row["planned_share"], row["path"]) for row in rows if row["from"] == "a"] == [
        ("100", "0.75", "a > b > d"), ("101", "0.25", "a > c > d"),
    ]  # fmt: skip
    assert {entry.link: entry.after for entry in exported.loads}["a->b"] == 1


def test_unequal_shares_are_groups_with_weights(tmp_path: Path) -> None:
    """Static routes beside them share evenly, which is what a's own packets do where nothing comes in."""
    exported, files = written(diamond(SPLIT), "frr", tmp_path / "out")
    assert (
        "nexthop-group TO-10.0.0.4\n nexthop 172.16.0.1 eth1 weight 3\n nexthop 172.16.0.5 eth2 weight "
        "1\nexit\n"
        "pbr-map ANABRANCH seq 1\n match dst-ip 10.0.0.4/32\n set nexthop-group TO-10.0.0.4\nexit\n"
    ) in files["a"]
    assert "pbr-policy ANABRANCH" in interface_lines(files["a"], "eth1")
    assert "pbr-policy" not in files["b"]
    assert "pbrd=yes" in (tmp_path / "out" / "n1-a" / "daemons").read_text()
    assert exported.notes[0].startswith(
        "unequal shares of packets that these routers send themselves: a, d; "
    )
    assert {entry.link: entry.after for entry in exported.loads}["a->b"] == pytest.approx(0.5)
    (tmp_path / "t.csv").write_text(TABLE + "d,,cust,,\n")
    exported, files = written(diamond(SPLIT), "frr", tmp_path / "out", interfaces=tmp_path / "t.csv")
    assert interface_lines(files["a"], "ge-0/0/9") == ["pbr-policy ANABRANCH"]
    assert exported.notes == ()
    assert {entry.link: entry.after for entry in exported.loads}["a->b"] == pytest.approx(0.75)


def test_explicit_paths_have_weights_too(tmp_path: Path) -> None:
    """By destination these paths do not go: stacks of labels in a group."""
    _, files = written(diamond(CROSSED), "frr", tmp_path / "out")
    assert " nexthop 172.16.0.5 eth2 label 100006 weight 2\n" in files["a"]


def test_costs_of_capacities_are_exact(tmp_path: Path) -> None:
    """40, 100 and 200 Mbps: 5, 2 and 1."""
    more = "".join(
        f'[[network.link]]\nbetween = ["{a}", "{b}"]\ncapacity = "{rate} Mbps"\n'
        for (a, b), rate in zip(EDGES, (40, 100, 200, 200, 100), strict=True)
    )
    text = diamond('scheme = "ecmp"\nmetric = "inverse-capacity"\n', more=more).toml()
    _, files = written(Scenario.loads(re.sub(r"(?m)^weight = .*\n", "", text)), "frr-ospf", tmp_path / "out")
    assert [interface_lines(files["b"], f"eth{n}")[-1] for n in (1, 2, 3)] == [
        "ip ospf cost 5", "ip ospf cost 2", "ip ospf cost 2",
    ]  # fmt: skip
    assert interface_lines(files["d"], "eth2")[-1] == "ip ospf cost 1"


def planned(cost: int) -> Scenario:
    """The diamond with another cost from a to b, and traffic."""
    more = f'[[network.link]]\nbetween = ["a", "b"]\ndirection = "forward"\nweight = {cost}\n'
    return diamond(f'{ECMP}[routing.demand]\npair = "1 Mbps"\n', more=more)


def test_changes_from_what_runs_and_back(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    table = tmp_path / "t.csv"
    written(planned(4), "frr-ospf", tmp_path / "now", interfaces=table)
    (tmp_path / "now.toml").write_text(planned(4).toml())
    (tmp_path / "now.csv").write_text(
        "from,to,weight\n" + "".join(f"{a},{b},4\n{b},{a},4\n" for a, b in EDGES)
    )
    for source in ("now", "now.toml", "now.csv"):
        exported, _ = written(
            planned(6), "frr-ospf", tmp_path / "then", interfaces=table, present=tmp_path / source
        )
        (row,) = csv.DictReader((tmp_path / "then" / "change.csv").read_text().splitlines())
        assert (row["router"], row["interface"], row["link"]) == ("a", "ge-0/0/1", "a->b")
        assert (row["cost_before"], row["cost_after"]) == ("4", "6")
        command = "vtysh -c 'configure terminal' -c 'interface ge-0/0/1' -c 'ip ospf cost {}'"
        assert command.format(6) in (tmp_path / "then" / "change.txt").read_text()
        assert command.format(4) in (tmp_path / "then" / "back.txt").read_text()
        assert "1 cost differs from" in exported.remarks[0]
        assert "no packet can go round" in exported.remarks[1]
    # The costs of the table itself are others: its ten are changed.
    exported, _ = written(planned(6), "frr-ospf", tmp_path / "then", interfaces=table, present=table)
    assert exported.remarks[0].startswith("10 costs differ from")
    exported, _ = written(
        planned(4), "frr-ospf", tmp_path / "then", interfaces=table, present=tmp_path / "now"
    )
    assert exported.remarks[0].startswith("Nothing is to be changed")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "from,to,weight\na,b,4\n",
            "has no cost of these links: b->a, b->d, d->b, a->c, c->a and 4 more; add them",
        ),
        ("from,to,weight\na,b,0\n", 'line 2: the weight is "0"'),
        ("from,to,weight\na,z,1\n", 'line 2: the network has no node "z"'),
        ("from,to,weight\na,d,1\n", 'line 2: no link from "a" to "d"'),
        ("x,y\n1,2\n", "is no table of interfaces"),
    ],
)
def test_present_costs_that_do_not_fit_are_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "now.csv").write_text(text)
    with pytest.raises((ScenarioError, ExportError)) as caught:
        export(planned(4), "frr-ospf", tmp_path / "out", present=tmp_path / "now.csv")
    assert words in str(caught.value)


def test_changes_need_traffic(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    with pytest.raises(ExportError) as caught:
        export(diamond(ECMP), "frr-ospf", tmp_path / "out", present=tmp_path / "t.csv")
    assert "--present looks at the loads on the way, and the scenario has no traffic" in str(caught.value)


def test_a_link_out_of_service_has_a_weight_and_no_change(tmp_path: Path) -> None:
    """The file of weights has all links; b-c is down, and so has neither an interface nor a step."""
    down = '[network.out_of_service]\nlinks = ["b-c"]\n'
    scenario = diamond(f'{ECMP}[routing.demand]\npair = "1 Mbps"\n', more=down)
    (tmp_path / "now.csv").write_text(
        "from,to,weight\n" + "".join(f"{a},{b},9\n{b},{a},9\n" for a, b in EDGES)
    )
    (tmp_path / "t.csv").write_text(TABLE)
    exported, files = written(
        scenario, "frr-ospf", tmp_path / "out", interfaces=tmp_path / "t.csv", present=tmp_path / "now.csv"
    )
    assert exported.remarks[0].startswith("8 costs differ from")
    assert any("lead to no link of the network: 2, such as b xe3, c xe3" in one for one in exported.remarks)
    assert "xe3" not in files["b"]


def test_a_router_with_both_protocols_has_a_cost_of_each(tmp_path: Path) -> None:
    """OSPF has 4 everywhere as planned, IS-IS 7: it alone has something to change."""
    (tmp_path / "t.csv").write_text(TABLE)
    written(planned(4), "frr-ospf", tmp_path / "now", interfaces=tmp_path / "t.csv")
    for file in (tmp_path / "now").glob("n*/frr.conf"):
        file.write_text(file.read_text().replace(" ip ospf cost 4\n", " ip ospf cost 4\n isis metric 7\n"))
    for form, words in (("frr-ospf", "Nothing is to be changed"), ("frr-isis", "10 costs differ")):
        exported, _ = written(planned(4), form, tmp_path / "out", present=tmp_path / "now")
        assert exported.remarks[0].startswith(words)


RECEIVED = """hostname {name}
interface {interface}
 ip address 10.1.0.{last}/31
 ip ospf cost 1
"""


@pytest.mark.parametrize("interface", ["e1';touch${IFS}ran;'", "e1`id`", "e1$(id)", 'e1"', "e1\\x"])
def test_a_received_configuration_names_nothing_that_a_shell_obeys(interface: str, tmp_path: Path) -> None:
    for last, (name, ours) in enumerate((("a", interface), ("b", "e1"))):
        (tmp_path / name).mkdir()
        text = RECEIVED.format(name=name, interface=ours, last=last)
        (tmp_path / name / "frr.conf").write_text(text)
    with pytest.raises(ScenarioError, match="which no configuration can name"):
        read_ports(tmp_path, ["a", "b"])
