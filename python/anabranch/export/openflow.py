"""OpenFlow 1.3: flows and select groups for each switch, for ``ovs-ofctl`` and for a REST controller.

The rules are those that live switches get (``switch_rules.py``); this module writes them in words and in
JSON. The last switch gives a packet the Ethernet address of its end system.

Open vSwitch weighs buckets of ``selection_method=hash`` by multiplying a hash with the weight, which is no
share in proportion to it (three to one gives 5/6). A bucket of weight *w* is thus written as *w* buckets of
weight 1, whose shares are equal. The REST files have weights: a switch that keeps to OpenFlow shares by them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from anabranch.export.job import Export, ExportJob
from anabranch.export.layout import HOST_PORT, DeviceLayout
from anabranch.plans.switch_rules import Action, Entry, Numbers, Ports, Rules, SelectGroup, rules_of
from anabranch.routing.planned import Pair
from anabranch.text.csv_cells import csv_text

COOKIE: Final = 0xA11A
"""Cookie of all flows, by which they can be found and removed."""
_FIELDS: Final = "fields(ip_src,ip_dst,ip_proto,tcp_src,tcp_dst,udp_src,udp_dst)"
_WORDS: Final = {"ipv4_src": "nw_src", "ipv4_dst": "nw_dst", "eth_type": "dl_type", "ip_proto": "nw_proto"}
"""Fields that ovs-ofctl has under other names."""


def write(job: ExportJob) -> Export:
    """The flows and groups of all switches."""
    layout = job.layout
    nodes = range(len(layout.names))
    switches = [node for node in nodes if node not in layout.hosts]
    jobs = job.jobs()
    plans = [
        ({pair: one.ways(pair) for pair in one.plan.pairs}, traffic)
        for one, traffic in zip(jobs, (None, *(traffic.traffic for traffic in job.own_plans)), strict=True)
    ]
    addresses = {node: [layout.address(node)] for node in nodes}
    stations = {node: layout.mac(node) for node in nodes}
    rules = rules_of(_ports(layout), layout.links, plans, addresses, Numbers(), stations)
    export = Export(shares=[one.rounded_shares() for one in jobs])
    lines = {
        node: [f"# {layout.label(node)}: {layout.names[node]!r}. Add the groups first.\n"]
        for node in switches
    }
    groups: dict[int, list[str]] = {node: [] for node in switches}
    for entry in rules.entries:
        lines[entry.switch].append(_flow_line(entry))
    for group in rules.groups:
        groups[group.switch].append(_group_line(group))
    for node in switches:
        export.files[f"flows/{layout.file(node, '.flows')}"] = "".join(lines[node])
        export.files[f"groups/{layout.file(node, '.groups')}"] = "".join(groups[node])
    export.files["rest.json"] = _rest(layout, switches, rules)
    export.notes = job.balancing_notes("a group")
    through = sorted({pair for one in jobs for pair in one.plan.pairs if _through_host(one, pair)})
    if through:
        export.notes.append(
            f"hosts forward nothing here, and the paths of these pairs lead through some: "
            f"{job.pairs(through)}"
        )
    counts = f"{len(rules.entries):,} flows and {len(rules.groups):,} select groups"
    parts = [f"{counts} for {len(switches):,} switches.", *_readme(layout, next(iter(switches), 0))]
    if job.own_plans:
        export.files["own_flows.csv"] = _own_flows(job)
        parts.insert(1, _OWN)
    return export.with_readme(layout, "OpenFlow 1.3 export", *parts)


def _ports(layout: DeviceLayout) -> Ports:
    """The ports of switches: interfaces by their numbers, and one for the end system of each."""
    out = {link: (end.node, end.number) for link, end in layout.sender.items()}
    into = {link: (end.node, end.number) for link, end in layout.receiver.items()}
    return Ports(
        {link: port for link, port in out.items() if port[0] not in layout.hosts},
        {link: port for link, port in into.items() if port[0] not in layout.hosts},
        {node: HOST_PORT for node in range(len(layout.names)) if node not in layout.hosts},
    )


def _through_host(job: ExportJob, pair: Pair) -> bool:
    layout = job.layout
    return any(
        layout.links[link].to in layout.hosts and layout.links[link].to != pair[1]
        for links, _ in job.exact_ways(pair)
        for link in links
    )


def _words(actions: Sequence[Action]) -> str:
    """Actions in the words of ovs-ofctl."""
    kinds = {"output": "output:{}", "group": "group:{}"}
    return ",".join(kinds.get(kind, f"set_field:{{}}->{kind}").format(value) for kind, value in actions)


def _flow_line(entry: Entry) -> str:
    match = "".join(f"{_WORDS.get(key, key)}={value}," for key, value in entry.match.items())
    return f"cookie={COOKIE:#x},priority={entry.priority},{match}actions={_words(entry.actions)}\n"


def _group_line(group: SelectGroup) -> str:
    # A basis of its own, or all switches would send a flow the same way.
    method = f"type=select,selection_method=hash,selection_method_param={group.switch + 1},{_FIELDS}"
    buckets = (f",bucket=weight:1,actions={_words(actions)}" * weight for weight, actions in group.buckets)
    return f"group_id={group.number},{method}{''.join(buckets)}\n"


def _rest(layout: DeviceLayout, switches: Sequence[int], rules: Rules) -> str:
    """Groups and flows in the form of ofctl_rest, which os-ken has from Ryu: one message for each entry."""
    groups = [
        {
            "dpid": group.switch + 1,
            "type": "SELECT",
            "group_id": group.number,
            "buckets": [
                {"weight": weight, "actions": list(map(_rest_action, actions))}
                for weight, actions in group.buckets
            ],
        }
        for group in rules.groups
    ]
    flows = [
        {
            "dpid": entry.switch + 1,
            "cookie": COOKIE,
            "priority": entry.priority,
            "match": dict(entry.match),
            "actions": list(map(_rest_action, entry.actions)),
        }
        for entry in rules.entries
    ]
    names = {str(node + 1): layout.names[node] for node in switches}
    return json.dumps({"switches": names, "groups": groups, "flows": flows}, indent=1) + "\n"


def _rest_action(action: Action) -> Mapping[str, Any]:
    kind, value = action
    if kind == "output":
        return {"type": "OUTPUT", "port": value}
    if kind == "group":
        return {"type": "GROUP", "group_id": value}
    return {"type": "SET_FIELD", "field": kind, "value": value}


_OWN: Final = """
Flows in `own_flows.csv` have routes of their own: the switch where they enter tells them by protocol,
addresses and ports, which are those of a run of the scenario. A program takes its source port from there
(`iperf3 --cport`). All other packets between two nodes take the routes of `[routing]`, if it has some for
them.
"""


def _own_flows(job: ExportJob) -> str:
    """Which packets have routes of their own, one way each, as CSV."""
    columns = ("traffic", "protocol", "source", "source_port", "destination", "destination_port")
    rows = []
    for added in job.own_plans:
        for matches in added.traffic.matches.values():
            for match in matches:
                ports = {key[4:]: value for key, value in match.items() if key[:4] in ("tcp_", "udp_")}
                rows.append((
                    " ".join(added.entries), match["ip_proto"],
                    match["ipv4_src"], ports.get("src", ""), match["ipv4_dst"], ports.get("dst", ""),
                ))  # fmt: skip
    return csv_text(columns, rows)


def _readme(layout: DeviceLayout, example: int) -> tuple[str, str]:
    """How end systems are attached, and how the files are loaded; ``example`` is one of the switches."""
    host = f"""
A switch has the interface `eth1` as port 1, and so on; port {HOST_PORT} is where its end system is attached,
which has the address of the node and the Ethernet address 02:00:00:00:00:01 for n1, and so on. On their way
packets have a label in place of it, 02:a0:00:..., by which switches behind the first one go. Switches
answer no ARP. An end system thus needs its routes and neighbours by hand, for example in n1:

    ip addr add {layout.address(0)}/32 dev eth0
    ip link set eth0 address {layout.mac(0)}
    ip route add 10.0.0.0/8 dev eth0 src {layout.address(0)}
    ip neigh add {layout.address(1)} lladdr {layout.mac(1)} dev eth0 nud permanent
"""
    load = f"""
## To load

For each switch, with the name of its bridge in place of `BRIDGE`; groups first:

    ovs-ofctl -O OpenFlow15 add-groups BRIDGE groups/{layout.file(example, ".groups")}
    ovs-ofctl -O OpenFlow13 add-flows BRIDGE flows/{layout.file(example, ".flows")}

The way in which a group chooses (`selection_method`) is an extension of Open vSwitch to OpenFlow 1.5;
over 1.3 it is lost without a word. `ovs-vsctl set bridge BRIDGE protocols=OpenFlow13,OpenFlow15` lets both
in.

`rest.json` has the same for a controller with the REST interface of Ryu's `ofctl_rest`: each entry of
`groups` goes to `POST /stats/groupentry/add`, then each of `flows` to `POST /stats/flowentry/add`; `dpid` is
the number of the node.

## To undo

    ovs-ofctl -O OpenFlow13 del-flows BRIDGE cookie={COOKIE:#x}/-1
    ovs-ofctl -O OpenFlow13 del-groups BRIDGE
"""
    return host, load
