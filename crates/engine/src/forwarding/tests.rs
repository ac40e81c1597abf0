use super::*;
use crate::balancer::{
    FlowParameters, FlowletParameters, HashParameters, PacketRoundRobinParameters, ResilientHashParameters,
    SubflowRoundRobinParameters, WeightedHashParameters,
};
use crate::capture::host_address;
use crate::packet::Direction;
use anabranch_network::{Link, Node, Path};
use anabranch_routing::{AdditiveMetric, LinkMask, Scheme, WeightedPath};
use anabranch_routing::{EcmpScheme, SemperScheme};
use anabranch_transport::wire::Endpoint;
use anabranch_units::{FlowId, Rate, Span};
use std::collections::BTreeSet;

/// Host 0 at switch 1, hosts 4 and 5 at switch 3; between the switches an edge and node 2,
/// whose two edges are as short together. Link 2n leads the way written, 2n + 1 back.
fn network() -> Network {
    let link = |from, to, us| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(1_000_000),
        delay: Span::from_us(us),
        loss: 0.0,
        weight: 1,
    };
    let edges = [(0, 1, 1), (1, 3, 2), (1, 2, 1), (2, 3, 1), (3, 4, 1), (3, 5, 1)];
    let links = edges.iter().flat_map(|&(a, b, us)| [link(a, b, us), link(b, a, us)]).collect();
    let nodes = (0..6).map(|number| Node { name: number.to_string(), place: None }).collect();
    Network::new(nodes, links).expect("a valid network")
}

fn packet_to(destination: NodeId) -> Packet {
    Packet {
        flow: FlowId(0),
        direction: Direction::Forward,
        subflow: 0,
        destination,
        bytes: 1500,
        steering: Steering::NextHops,
        cursor: 0,
        hops_left: 64,
    }
}

/// Packets from this port of host 0 to host 4.
fn key(port: u16) -> FlowKey {
    let end = |node, port| Endpoint { addr: host_address(NodeId(node)), port };
    FlowKey::new(end(0, port), end(4, 5001), u32::from(port))
}

/// Flows from host 0 to host 4 take both ways, each from switch to switch along the table; the
/// table knows no way from host 5, where no packet to 4 can be.
#[test]
fn tables_lead_hop_by_hop_over_all_equal_ways() {
    let (network, from, to) = (network(), NodeId(0), NodeId(4));
    let plan = Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Delay }).plan(
        &network,
        &LinkMask::all_up(&network),
        &[(from, to)],
    );
    let pairs = [(from, to), (NodeId(5), to)];
    let mut forwarding = Forwarding::new(
        LoadBalancing::Flow(FlowParameters {}),
        Streams::new(1, 0),
        6,
        pairs.into_iter().map(by_first),
    );
    forwarding.install(&network, &plan);
    let route = forwarding.index(by_first((from, to))).expect("a pair that was given");
    let mut ways = BTreeSet::new();
    for index in 0..50 {
        let key = key(49_152 + index);
        assert_eq!(forwarding.start(Instant::ZERO, route, &key), Some(PathStart::NextHops(0)));
        let (mut node, mut packet, mut passed) = (from, packet_to(to), Vec::new());
        while node != to {
            let link = forwarding.next_link(Instant::ZERO, node, &mut packet, |_| key);
            let link = link.expect("every node on the way has a next hop");
            passed.push(link.0);
            node = network.link(link).to;
        }
        ways.insert(passed);
    }
    assert_eq!(ways, BTreeSet::from([vec![0, 2, 8], vec![0, 4, 6, 8]]));

    let stranger = forwarding.index(by_first((NodeId(5), to))).expect("a pair that was given");
    let key = key(49_152);
    assert_eq!(forwarding.start(Instant::ZERO, stranger, &key), None);
    let nowhere = forwarding.next_link(Instant::ZERO, NodeId(5), &mut packet_to(to), |_| key);
    assert_eq!(nowhere, None);
}

/// Where one of two next hops fails, all take the other, and both again when it is back. A plan that changes nothing moves
/// no flowlet: fifty that were drawn anew would stay with a probability of 2^-50.
#[test]
fn next_hops_are_those_of_the_plan_in_force() {
    let (network, from, to) = (network(), NodeId(0), NodeId(4));
    let flowlets = LoadBalancing::Flowlet(FlowletParameters { gap: Span::from_ms(1) });
    let mut forwarding = Forwarding::new(flowlets, Streams::new(1, 0), 6, [by_first((from, to))].into_iter());
    let mut mask = LinkMask::all_up(&network);
    let mut taken = |direct| {
        mask.set_link(LinkId(2), direct);
        let scheme = Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Delay });
        forwarding.install(&network, &scheme.plan(&network, &mask, &[(from, to)]));
        let mut behind_the_switch = |port| {
            let mut packet = packet_to(to);
            forwarding.next_link(Instant::ZERO, NodeId(1), &mut packet, |_| key(port)).expect("a next hop").0
        };
        (49_152..49_202).map(&mut behind_the_switch).collect::<Vec<_>>()
    };
    let before = taken(true);
    assert_eq!(before.iter().collect::<BTreeSet<_>>(), BTreeSet::from([&2, &4]));
    assert_eq!(taken(true), before);
    assert_eq!(taken(false), [4; 50]);
    assert_eq!(taken(true).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([2, 4]));
}

/// A shared turn is one for all destinations behind the same links, as the group of next hops of a switch has it: of two packets
/// each way has one, to whichever of hosts 4 and 5 they go, and a new plan goes on with the turn.
#[test]
fn a_switch_has_one_turn_for_the_same_next_hops() {
    let (network, from) = (network(), NodeId(0));
    let pairs = [(from, NodeId(4)), (from, NodeId(5))];
    let scheme = Scheme::Ecmp(EcmpScheme { metric: AdditiveMetric::Delay });
    let plan = scheme.plan(&network, &LinkMask::all_up(&network), &pairs);
    let in_turn = LoadBalancing::PacketRoundRobin(PacketRoundRobinParameters { shared: true });
    let mut forwarding = Forwarding::new(in_turn, Streams::new(1, 0), 6, pairs.into_iter().map(by_first));
    let mut taken = Vec::new();
    for (place, to) in [4, 5, 5, 4, 4, 5, 5, 5, 4, 4].into_iter().enumerate() {
        if place % 3 == 0 {
            forwarding.install(&network, &plan);
        }
        let mut packet = packet_to(NodeId(to));
        let link = forwarding.next_link(Instant::ZERO, NodeId(1), &mut packet, |_| key(49_152));
        taken.push(link.expect("a next hop").0);
    }
    for pair in taken.chunks(2) {
        assert!(pair == [2, 4] || pair == [4, 2], "{taken:?}");
    }
}

/// A pair that goes by the first of the plans.
fn by_first((from, to): (NodeId, NodeId)) -> Ends {
    Ends { routing: 0, from, to }
}

/// Nodes 0 and 4 with four ways between them over 1, 2, 3 and 5, at equal cost.
fn four_ways() -> Network {
    let link = |from, to| Link {
        from: NodeId(from),
        to: NodeId(to),
        capacity: Rate::from_bps(1_000_000),
        delay: Span::from_ms(1),
        loss: 0.0,
        weight: 1,
    };
    let pairs = [(0, 1), (1, 4), (0, 2), (2, 4), (0, 3), (3, 4), (0, 5), (5, 4)];
    let links = pairs.iter().flat_map(|&(a, b)| [link(a, b), link(b, a)]).collect();
    let nodes = (0..6).map(|number| Node { name: number.to_string(), place: None }).collect();
    Network::new(nodes, links).expect("a valid network")
}

const FORTH: (NodeId, NodeId) = (NodeId(0), NodeId(4));
const BACK: (NodeId, NodeId) = (NodeId(4), NodeId(0));

/// The middle node over which a packet of the subflow from this port of node 0 sets out.
fn middle(forwarding: &mut Forwarding, network: &Network, (from, to): (NodeId, NodeId), port: u16) -> NodeId {
    let client = Endpoint { addr: host_address(NodeId(0)), port };
    let server = Endpoint { addr: host_address(NodeId(4)), port: 5001 };
    let index = 2 * u32::from(port - 50_000);
    let key = match (from, to) {
        FORTH => FlowKey::new(client, server, index),
        _ => FlowKey::new(server, client, index + 1),
    };
    let route = forwarding.index(by_first((from, to))).expect("a pair that was given");
    let start = forwarding.start(Instant::ZERO, route, &key);
    let Some(PathStart::Path(cursor)) = start else { panic!("{start:?} is no path") };
    network.link(forwarding.path_links[cursor as usize]).to
}

/// The middle nodes over which a hundred subflows go from 0 to 4, while segments and acknowledgments take
/// turns. Both go the same way.
fn middles(forwarding: &mut Forwarding, network: &Network) -> Vec<NodeId> {
    let mut both = |port| {
        let forth = middle(forwarding, network, FORTH, port);
        assert_eq!(middle(forwarding, network, BACK, port), forth);
        forth
    };
    (50_000..50_100).map(&mut both).collect()
}

fn semper_of_hops() -> Scheme {
    let shares = anabranch_routing::PathShares::Equal;
    Scheme::Semper(SemperScheme { k: None, metric: AdditiveMetric::Hops, shares })
}

/// The stateful balancer (Garcia-Aviles 2017, section IV) has one entry for both directions of a subflow: where
/// acknowledgments begin in another order than the segments did, each still goes back as its subflow went.
#[test]
fn acknowledgments_follow_the_entries_of_their_subflows() {
    let network = four_ways();
    let stateful = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    let mut forwarding =
        Forwarding::new(stateful, Streams::new(1, 0), 6, [FORTH, BACK].map(by_first).into_iter());
    let plan = semper_of_hops().plan(&network, &LinkMask::all_up(&network), &[FORTH, BACK]);
    forwarding.install(&network, &plan);
    let ports = 50_000..50_008;
    let forth: Vec<NodeId> =
        ports.clone().map(|port| middle(&mut forwarding, &network, FORTH, port)).collect();
    assert_eq!(forth.iter().collect::<BTreeSet<_>>().len(), 4, "eight subflows take four ways in turn");
    let mut back: Vec<NodeId> =
        ports.rev().map(|port| middle(&mut forwarding, &network, BACK, port)).collect();
    back.reverse();
    assert_eq!(back, forth);
}

/// A subflow keeps its entry for as long as its way is there (Garcia-Aviles 2017, section IV), also one that set out when
/// there was no other; those that begin later take all ways in turn.
#[test]
fn subflows_of_an_only_way_stay_when_others_come() {
    let network = four_ways();
    let stateful = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    let mut forwarding = Forwarding::new(stateful, Streams::new(1, 0), 6, [by_first(FORTH)].into_iter());
    let mut mask = LinkMask::all_up(&network);
    let mut over = |forwarding: &mut Forwarding, up, ports: std::ops::Range<u16>| {
        [2, 3, 5].into_iter().for_each(|node| mask.set_node(NodeId(node), up));
        forwarding.install(&network, &semper_of_hops().plan(&network, &mask, &[FORTH]));
        ports.map(|port| middle(forwarding, &network, FORTH, port).0).collect::<Vec<_>>()
    };
    assert_eq!(over(&mut forwarding, false, 50_000..50_008), [1; 8]);
    assert_eq!(over(&mut forwarding, true, 50_000..50_008), [1; 8]);
    let later: BTreeSet<u32> = over(&mut forwarding, true, 50_008..50_016).into_iter().collect();
    assert_eq!(later, BTreeSet::from([1, 2, 3, 5]));
}

/// The ways back are those of the plan in force, also where it has as many as the one before: two over nodes 1 and 2, and
/// over 2 and 3 when 1 has failed.
#[test]
fn as_many_other_ways_lead_back_as_forth() {
    let network = four_ways();
    let stateful = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    let mut forwarding =
        Forwarding::new(stateful, Streams::new(1, 0), 6, [FORTH, BACK].map(by_first).into_iter());
    for down in [[3, 5], [1, 5]] {
        let mut mask = LinkMask::all_up(&network);
        down.into_iter().for_each(|node| mask.set_node(NodeId(node), false));
        forwarding.install(&network, &semper_of_hops().plan(&network, &mask, &[FORTH, BACK]));
        let taken: BTreeSet<NodeId> = middles(&mut forwarding, &network).into_iter().collect();
        let up = [1, 2, 3].into_iter().filter(|node| !down.contains(node));
        assert_eq!(taken, up.map(NodeId).collect());
    }
}

/// A path is known by its edges, in both directions alike; one that a plan lists twice is two choices.
#[test]
fn a_path_listed_twice_has_two_identities() {
    let mirror = Mirror::new(&four_ways());
    let identities = |paths: [[u32; 2]; 3]| {
        let paths = paths.map(|links| links.map(LinkId));
        identities(paths.iter().map(<[LinkId; 2]>::as_slice), Some(&mirror))
    };
    let forth = identities([[0, 2], [0, 2], [4, 6]]);
    assert_eq!(forth.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(identities([[3, 1], [3, 1], [7, 5]]), forth);
}

/// A plan that leaves a route as it was leaves its flowlets where they are (Kandula 2007: a flowlet is not split).
/// A hundred that were drawn anew would stay with a probability of 4^-100.
#[test]
fn a_plan_with_the_same_paths_moves_no_flowlet() {
    let network = four_ways();
    let flowlets = LoadBalancing::Flowlet(FlowletParameters { gap: Span::from_ms(1) });
    let mut forwarding = Forwarding::new(flowlets, Streams::new(1, 0), 6, [by_first(FORTH)].into_iter());
    let plan = semper_of_hops().plan(&network, &LinkMask::all_up(&network), &[FORTH]);
    let mut taken = || {
        forwarding.install(&network, &plan);
        let ports = 50_000..50_100;
        ports.map(|port| middle(&mut forwarding, &network, FORTH, port)).collect::<Vec<_>>()
    };
    let before = taken();
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(taken(), before);
}

/// The edge over node 2 fails and returns. Flows that it carried go elsewhere and come back. With the
/// spreads that promise it no other flow moves. With `hash` two in three of the 75 others do, standard
/// deviation 4; with `weighted-hash` those between 2/3 and 3/4, which the fourth path takes from the third:
/// 1/12 of all, 8 with a deviation of 3.
#[test]
fn a_failure_moves_the_flows_of_the_path_and_both_directions_alike() {
    let network = four_ways();
    let (pairs, scheme) = ([FORTH, BACK], semper_of_hops());
    let stateful = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    for (spread, expected) in [
        (LoadBalancing::Hash(HashParameters {}), 34..=66),
        (LoadBalancing::WeightedHash(WeightedHashParameters {}), 1..=20),
        (LoadBalancing::ResilientHash(ResilientHashParameters {}), 0..=0),
        (stateful, 0..=0),
    ] {
        let mut forwarding =
            Forwarding::new(spread.clone(), Streams::new(1, 0), 6, pairs.into_iter().map(by_first));
        let mut mask = LinkMask::all_up(&network);
        let mut install = |forwarding: &mut Forwarding, up| {
            mask.set_node(NodeId(2), up);
            forwarding.install(&network, &scheme.plan(&network, &mask, &pairs));
        };
        install(&mut forwarding, true);
        let before = middles(&mut forwarding, &network);
        let used: BTreeSet<NodeId> = before.iter().copied().collect();
        assert_eq!(used, BTreeSet::from([1, 2, 3, 5].map(NodeId)));
        install(&mut forwarding, false);
        let during = middles(&mut forwarding, &network);
        assert!(!during.contains(&NodeId(2)));
        let of_others = || before.iter().zip(&during).filter(|(before, _)| **before != NodeId(2));
        let moved = of_others().filter(|(before, during)| before != during).count();
        assert!(expected.contains(&moved), "{spread:?}: {moved}");
        install(&mut forwarding, true);
        assert_eq!(middles(&mut forwarding, &network), before, "{spread:?}");
    }
}

/// A spread that hashes each direction for itself sends some acknowledgments another way: the check above
/// can fail.
#[test]
#[should_panic(expected = "left == right")]
fn a_plain_hash_is_not_symmetric() {
    let network = four_ways();
    let (pairs, scheme) = ([FORTH, BACK], semper_of_hops());
    let mut forwarding = Forwarding::new(
        LoadBalancing::Flow(FlowParameters {}),
        Streams::new(1, 0),
        6,
        pairs.into_iter().map(by_first),
    );
    forwarding.install(&network, &scheme.plan(&network, &LinkMask::all_up(&network), &pairs));
    middles(&mut forwarding, &network);
}

/// The same pair goes over node 1 by one plan, hop by hop, and over nodes 2 and 3 by the other two, of which one is
/// hop by hop as well. A node that fails moves what goes over it, and nothing else.
#[test]
fn plans_of_one_network_lead_their_own_ways() {
    let network = four_ways();
    let (from, to) = FORTH;
    let table = |middle: u32, first: u32| {
        let next = vec![(NodeId(0), [LinkId(first)].into()), (NodeId(middle), [LinkId(first + 2)].into())];
        let routes = vec![Route { from, to, paths: Vec::new() }];
        Plan { routes, tables: vec![NextHopsTo { to, next }], ..Plan::default() }
    };
    let links = Path::new(&network, vec![LinkId(8), LinkId(10)]).expect("a path over node 3");
    let paths = vec![WeightedPath { links, weight: 1.0 }];
    let along = Plan { routes: vec![Route { from, to, paths }], ..Plan::default() };
    let plan = Plan { others: vec![along, table(2, 4)], ..table(1, 0) };
    plan.check(&network).expect("a plan");
    let ends = |routing| Ends { routing, from, to };
    let mut forwarding =
        Forwarding::new(LoadBalancing::Flow(FlowParameters {}), Streams::new(1, 0), 6, (0..3).map(ends));
    // What a sender has noted of its route goes by the plan in force.
    let route = |routing| KnownRoute::from(forwarding.index(ends(routing)).expect("it was given"));
    let mut known = [0, 1, 2].map(route);
    let mut middles = |forwarding: &mut Forwarding| {
        [0, 1, 2].map(|routing| {
            let (key, route) = (key(49_152), &mut known[routing]);
            let start = forwarding.set_out(Instant::ZERO, route, &key)?;
            assert_eq!(forwarding.set_out(Instant::ZERO, route, &key), Some(start));
            assert_eq!(forwarding.start(Instant::ZERO, route.index(), &key), Some(start));
            let mut packet = packet_to(to);
            (packet.steering, packet.cursor) = start.steering();
            let link = forwarding.next_link(Instant::ZERO, from, &mut packet, |_| key)?;
            let middle = network.link(link).to;
            let last = forwarding.next_link(Instant::ZERO, middle, &mut packet, |_| key)?;
            assert_eq!(network.link(last).to, to);
            Some(middle.0)
        })
    };
    forwarding.install(&network, &plan);
    assert_eq!(middles(&mut forwarding), [Some(1), Some(3), Some(2)]);
    let mut mask = LinkMask::all_up(&network);
    mask.set_node(NodeId(2), false);
    forwarding.install(&network, &anabranch_routing::prune(&plan, &network, &mask));
    assert_eq!(middles(&mut forwarding), [Some(1), Some(3), None]);
}

/// Two packets set out along the same path if it has the same links: of five subflows in turn over four ways the first and
/// the last.
#[test]
fn paths_are_the_same_link_by_link() {
    let network = four_ways();
    let stateful = LoadBalancing::SubflowRoundRobin(SubflowRoundRobinParameters { idle_timeout: None });
    let mut forwarding = Forwarding::new(stateful, Streams::new(1, 0), 6, [by_first(FORTH)].into_iter());
    forwarding.install(&network, &semper_of_hops().plan(&network, &LinkMask::all_up(&network), &[FORTH]));
    let route = forwarding.index(by_first(FORTH)).expect("a pair that was given");
    let starts = [50_000, 50_001, 50_002, 50_003, 50_004]
        .map(|port| forwarding.start(Instant::ZERO, route, &key(port)).expect("a way"));
    let same = |other| forwarding.is_same_path(&network, (starts[0], starts[other]), FORTH.1);
    assert_eq!([0, 1, 2, 3, 4].map(same), [true, false, false, false, true]);
}
