"""OpenFlow 1.3: flows and select groups for each switch, for ``ovs-ofctl`` and for a REST controller.

The first switch of a pair chooses the path of each flow by a select group; switches behind it follow. Where
the port at which a packet comes in does not tell them which path that is, the first switch gives the packets
of each path a VLAN number, and the last one takes it away. Packets that are forwarded hop by hop meet a group
at every switch.

Open vSwitch weighs buckets of ``selection_method=hash`` by multiplying a hash with the weight, which is no
share in proportion to it (three to one gives 5/6). A bucket of weight *w* is thus written as *w* buckets of
weight 1, whose shares are equal. The REST files have weights: a switch that keeps to OpenFlow shares by them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

from anabranch.export.forwarding import Pair
from anabranch.export.job import Export, ExportJob, readme
from anabranch.export.layout import HOST_PORT, DeviceLayout

COOKIE: Final = 0xA11A
"""Cookie of all flows, by which they can be found and removed."""
_FIRST_VLAN: Final = 2
_OF_PAIR, _OF_DESTINATION = 200, 100
_FIELDS: Final = "fields(ip_src,ip_dst,ip_proto,tcp_src,tcp_dst,udp_src,udp_dst)"
_ETH_IP: Final = 0x0800
_VLAN_PRESENT: Final = 0x1000


@dataclass(frozen=True, slots=True)
class _Hop:
    """What a switch does with a packet of some path."""

    port: int
    push: int | None = None
    """VLAN number to give it."""
    pop: bool = False
    deliver: str | None = None
    """Ethernet address of the end system that it goes to."""


@dataclass
class _Switch:
    flows: list[tuple[int, dict[str, Any], list[_Hop] | int]] = field(default_factory=list)
    """Priority, match, and what is done: hops, or the number of a group."""
    groups: list[list[tuple[_Hop, int]]] = field(default_factory=list)
    """Buckets with their weights; the first group is number 1."""

    def group(self, buckets: list[tuple[_Hop, int]]) -> list[_Hop] | int:
        """The group of these buckets; the hop itself where there is one only."""
        merged: dict[_Hop, int] = defaultdict(int)
        for hop, weight in buckets:
            merged[hop] += weight
        if len(merged) == 1:
            return list(merged)
        entry = list(merged.items())
        if entry not in self.groups:
            self.groups.append(entry)
        return self.groups.index(entry) + 1


def write(job: ExportJob) -> Export:
    """The flows and groups of all switches."""
    layout = job.layout
    switches = {node: _Switch() for node in range(len(layout.names)) if node not in layout.hosts}
    tagged = [pair for pair in sorted(job.plan.paths) if _add_paths(job, switches, pair)]
    _add_tables(job, switches)
    export = Export(shares=job.rounded_shares())
    for node, switch in switches.items():
        export.files[f"flows/{layout.file(node, '.flows')}"] = _flow_lines(layout, node, switch)
        export.files[f"groups/{layout.file(node, '.groups')}"] = _group_lines(node, switch)
    export.files["rest.json"] = _rest(layout, switches)
    through = sorted({pair for pair in job.plan.pairs if _through_host(job, pair)})
    if through:
        export.notes.append(
            f"hosts forward nothing here, and the paths of these pairs lead through some: "
            f"{job.pairs(through)}"
        )
    export.files["README.md"] = _readme(job, switches, tagged, export.notes)
    return export


def _add_paths(job: ExportJob, switches: dict[int, _Switch], pair: Pair) -> bool:
    """Flows of a pair with explicit paths; whether its packets get VLAN numbers."""
    layout, ways = job.layout, job.ways(pair)
    inner = [_steps(layout, pair, way.links) for way, _ in ways]
    following: dict[tuple[int, int], set[int]] = defaultdict(set)
    for steps in inner:
        for node, port_in, port_out in steps[1:]:
            following[node, port_in].add(port_out)
    tagged = any(len(ports) > 1 for ports in following.values())
    addresses = {"ipv4_src": layout.address(pair[0]), "ipv4_dst": layout.address(pair[1])}
    buckets: dict[tuple[int, int], list[tuple[_Hop, int]]] = defaultdict(list)
    seen: set[tuple[int, int, int | None]] = set()
    for number, (steps, (_, weight)) in enumerate(zip(inner, ways, strict=True)):
        vlan = _FIRST_VLAN + number if tagged and len(steps) > 1 else None
        for place, (node, port_in, port_out) in enumerate(steps):
            last = place == len(steps) - 1
            deliver = layout.mac(pair[1]) if last else None
            if place == 0:
                buckets[node, port_in].append((_Hop(port_out, vlan, deliver=deliver), weight))
                continue
            if (node, port_in, vlan) in seen:
                continue
            seen.add((node, port_in, vlan))
            match = {"in_port": port_in, **addresses} | ({} if vlan is None else {"vlan_vid": vlan})
            hop = _Hop(port_out, pop=last and vlan is not None, deliver=deliver)
            switches[node].flows.append((_OF_PAIR, match, [hop]))
    # A host with several links chooses the first switch itself.
    for (node, port_in), entries in buckets.items():
        switch = switches[node]
        switch.flows.append((_OF_PAIR, {"in_port": port_in, **addresses}, switch.group(entries)))
    return tagged


def _steps(layout: DeviceLayout, pair: Pair, links: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """The switches of a path, each with the ports where packets come in and go out."""
    found = []
    port_in = HOST_PORT
    for link in links:
        node = layout.links[link].origin
        if node not in layout.hosts:
            found.append((node, port_in, layout.sender[link].number))
        port_in = layout.receiver[link].number
    if pair[1] not in layout.hosts:
        found.append((pair[1], port_in, HOST_PORT))
    return found


def _add_tables(job: ExportJob, switches: dict[int, _Switch]) -> None:
    """Flows by destination, for pairs that are forwarded hop by hop."""
    layout = job.layout
    for to in sorted({to for _, to in job.plan.by_table}):
        match = {"ipv4_dst": layout.address(to)}
        deliver = layout.mac(to)
        for node, links in sorted(job.plan.tables[to].items()):
            if node in layout.hosts:
                continue
            weights = job.weights(dict.fromkeys(links, 1 / len(links)))
            buckets = [
                (
                    _Hop(
                        layout.sender[link].number,
                        deliver=deliver if to in layout.hosts and layout.links[link].to == to else None,
                    ),
                    weight,
                )
                for link, weight in weights.items()
            ]
            switches[node].flows.append((_OF_DESTINATION, match, switches[node].group(buckets)))
        if to not in layout.hosts:
            switches[to].flows.append((_OF_DESTINATION, match, [_Hop(HOST_PORT, deliver=deliver)]))


def _through_host(job: ExportJob, pair: Pair) -> bool:
    layout = job.layout
    return any(
        layout.links[link].to in layout.hosts and layout.links[link].to != pair[1]
        for way in job.plan.paths.get(pair, ())
        for link in way.links
    )


def _actions(hop: _Hop, port_in: int | None) -> list[str]:
    """The actions of a hop in the words of ovs-ofctl; out of the port of entry it takes another word."""
    actions = []
    if hop.push is not None:
        actions += ["push_vlan:0x8100", f"set_field:{_VLAN_PRESENT | hop.push}->vlan_vid"]
    if hop.pop:
        actions.append("pop_vlan")
    if hop.deliver is not None:
        actions.append(f"set_field:{hop.deliver}->eth_dst")
    return [*actions, "in_port" if hop.port == port_in else f"output:{hop.port}"]


_WORDS: Final = {"in_port": "in_port", "ipv4_src": "nw_src", "ipv4_dst": "nw_dst", "vlan_vid": "dl_vlan"}
"""Fields of a match as ovs-ofctl has them."""


def _flow_lines(layout: DeviceLayout, node: int, switch: _Switch) -> str:
    lines = [f"# {layout.label(node)}: {layout.names[node]}. Add the groups first."]
    for priority, match, done in switch.flows:
        words = ",".join(["ip", *(f"{_WORDS[key]}={value}" for key, value in match.items())])
        actions = [f"group:{done}"] if isinstance(done, int) else _actions(done[0], match.get("in_port"))
        lines.append(f"cookie={COOKIE:#x},priority={priority},{words},actions={','.join(actions)}")
    return "\n".join(lines) + "\n"


def _group_lines(node: int, switch: _Switch) -> str:
    lines = []
    for number, buckets in enumerate(switch.groups, start=1):
        # A basis of its own, or all switches would send a flow the same way.
        line = (
            f"group_id={number},type=select,selection_method=hash,selection_method_param={node + 1},{_FIELDS}"
        )
        for hop, weight in buckets:
            line += f",bucket=weight:1,actions={','.join(_actions(hop, None))}" * weight
        lines.append(line)
    return "\n".join(lines) + "\n" if lines else ""


def _rest(layout: DeviceLayout, switches: dict[int, _Switch]) -> str:
    """Groups and flows in the form of ofctl_rest, which os-ken has from Ryu: one message for each entry."""
    groups, flows = [], []
    for node, switch in switches.items():
        for number, buckets in enumerate(switch.groups, start=1):
            entries = [{"weight": weight, "actions": _rest_actions(hop, None)} for hop, weight in buckets]
            groups.append({"dpid": node + 1, "type": "SELECT", "group_id": number, "buckets": entries})
        for priority, match, done in switch.flows:
            actions = (
                [{"type": "GROUP", "group_id": done}]
                if isinstance(done, int)
                else _rest_actions(done[0], match.get("in_port"))
            )
            flows.append(
                {
                    "dpid": node + 1,
                    "cookie": COOKIE,
                    "priority": priority,
                    "match": {"eth_type": _ETH_IP, **match},
                    "actions": actions,
                }
            )
    switches_by_dpid = {str(node + 1): layout.names[node] for node in switches}
    return json.dumps({"switches": switches_by_dpid, "groups": groups, "flows": flows}, indent=1) + "\n"


def _rest_actions(hop: _Hop, port_in: int | None) -> list[dict[str, Any]]:
    actions: list[dict[str, Any]] = []
    if hop.push is not None:
        actions += [
            {"type": "PUSH_VLAN", "ethertype": 0x8100},
            {"type": "SET_FIELD", "field": "vlan_vid", "value": _VLAN_PRESENT | hop.push},
        ]
    if hop.pop:
        actions.append({"type": "POP_VLAN"})
    if hop.deliver is not None:
        actions.append({"type": "SET_FIELD", "field": "eth_dst", "value": hop.deliver})
    # OFPP_IN_PORT: a switch sends nothing back through its port of entry by that port's own number.
    return [*actions, {"type": "OUTPUT", "port": 0xFFFFFFF8 if hop.port == port_in else hop.port}]


def _readme(job: ExportJob, switches: dict[int, _Switch], tagged: list[Pair], notes: list[str]) -> str:
    layout = job.layout
    example = next(iter(switches), 0)
    groups = sum(len(switch.groups) for switch in switches.values())
    flows = sum(len(switch.flows) for switch in switches.values())
    vlan = (
        f"The packets of {len(tagged):,} pairs have a VLAN number between their first switch and their last: "
        f"{job.pairs(tagged)}. Leave room for its four bytes in the MTU of the links."
        if tagged
        else "No packet gets a VLAN number."
    )
    host = f"""
A switch has the interface `eth1` as port 1, and so on; port {HOST_PORT} is where its end system is attached,
which has the address of the node and the Ethernet address 02:00:00:00:00:01 for n1, and so on. Switches
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
    said = "".join(f"\n- {note}" for note in notes)
    return readme(
        layout,
        "OpenFlow 1.3 export",
        f"{flows:,} flows and {groups:,} select groups for {len(switches):,} switches. {vlan}",
        "## What it cannot express\n\n- load balancing packet by packet: a group keeps a flow on one path\n"
        + said,
        host,
        load,
    )
