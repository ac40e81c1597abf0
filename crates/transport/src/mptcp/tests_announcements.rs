//! Addresses that are announced (RFC 8684 section 3.4.1), and how far they are accepted.

use super::testing::{Network, Side, Wire, secs};
use super::tests_addresses::{UP, about_addresses, carriers, complete, limited, mesh, sent, state};
use super::{AddressChange, FullmeshParameters, MptcpOption, SubflowState};
use crate::log::Decision;
use crate::segment::Segment;
use anabranch_units::Instant;

/// A network of one address here and three there, of which the last two come up later.
fn growing(limits: FullmeshParameters) -> Network {
    let wires = vec![Wire::new(10, 10), Wire::new(20, 10), Wire::new(15, 10)];
    let mut network = Network::between(&limited("mptcp", limits), wires, 3, 1);
    network.log = Some(Vec::new());
    network.sender.keep_log(100_000);
    for id in [1, 2] {
        network.sender.know_remote(id, AddressChange::Down);
        network.receiver.on_address(network.now, id, AddressChange::Down);
    }
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(1.0));
    assert_eq!(carriers(&sent(&mut network)), [0]);
    network
}

fn opened(network: &Network) -> usize {
    (0..network.sender.subflow_count()).filter(|&index| state(network, index) != SubflowState::Idle).count()
}

fn announcements(network: &mut Network) -> Vec<bool> {
    let log = network.sender.take_log();
    let accepted = log.iter().filter_map(|entry| match entry.decision {
        Decision::AddressAnnounced { accepted } => Some(accepted),
        _ => None,
    });
    accepted.collect()
}

/// RFC 8684 section 3.4.1: an address that comes up is announced with its HMAC, echoed without, and joined.
#[test]
fn an_address_that_comes_up_is_announced_and_joined() {
    let mut network = growing(FullmeshParameters::default());
    network.change(Side::Receiver, 1, UP);
    network.run(secs(2.0));
    let seen = sent(&mut network);
    let options = about_addresses(&seen);
    let address = [192, 0, 2, 7];
    assert!(matches!(
        options[0],
        (Side::Receiver, 0, MptcpOption::AddAddr { address_id: 1, hmac: Some(_), .. })
    ));
    assert_eq!(options[1], (Side::Sender, 0, MptcpOption::AddAddr { address_id: 1, address, hmac: None }));
    assert_eq!((options.len(), carriers(&seen)), (2, vec![0, 1]));
    assert_eq!(network.sender.subflow_addresses(1).remote, 1);
    assert_eq!(announcements(&mut network), [true]);
    let answer = seen.iter().find_map(|(_, _, segment)| match segment.mptcp()? {
        MptcpOption::JoinSynAck { address_id, .. } => Some(address_id),
        _ => None,
    });
    assert_eq!(answer, Some(1), "the other end's own identifier");
    complete(network);
}

/// RFC 8684 section 3.4.1: without an echo it is sent again, a second later and then after twice as long, three times at
/// most (Linux); an echo ends that.
#[test]
fn an_announcement_is_repeated_until_it_is_echoed() {
    let of = |seen: &[(Instant, Side, Segment)]| -> Vec<f64> {
        let announced = seen.iter().filter(|(_, side, segment)| {
            *side == Side::Receiver && matches!(segment.mptcp(), Some(MptcpOption::AddAddr { .. }))
        });
        announced.map(|(at, _, _)| at.as_secs_f64()).collect()
    };
    for (heard_from, expected) in
        [(1.5, vec![1.0, 2.0]), (4.5, vec![1.0, 2.0, 4.0, 8.0]), (1e6, vec![1.0, 2.0, 4.0, 8.0])]
    {
        let mut network = growing(FullmeshParameters::default());
        network.wires[0].dead = vec![(network.now, secs(heard_from))];
        network.change(Side::Receiver, 1, UP);
        network.run(secs(40.0));
        assert_eq!(of(&sent(&mut network)), expected, "heard from {heard_from} s on");
        assert_eq!(opened(&network) > 1, heard_from < 1e6);
    }
}

/// Each ACK has room for one option: what is to be told at one time goes on as many ACKs.
#[test]
fn several_announcements_go_on_several_acks() {
    let mut network = growing(FullmeshParameters::default());
    network.wires[0].dead = vec![(network.now, secs(1.5))];
    network.change(Side::Receiver, 1, UP);
    network.change(Side::Receiver, 2, UP);
    network.run(secs(1.9));
    sent(&mut network);
    network.run(secs(2.2));
    assert_eq!(
        (about_addresses(&sent(&mut network)).len(), opened(&network)),
        (4, 3),
        "two and their echoes"
    );

    let wires = vec![Wire::new(10, 10), Wire::new(20, 10), Wire::new(15, 10)];
    let mut network = Network::new(&mesh("mptcp"), wires, 1);
    network.log = Some(Vec::new());
    network.sender.on_address(network.now, 2, AddressChange::Down);
    network.sender.open();
    network.sender.write_without_end();
    network.run(secs(1.0));
    network.sender.on_address(network.now, 0, AddressChange::Down);
    network.change(Side::Sender, 1, AddressChange::Down);
    network.run(secs(2.0));
    network.now = secs(2.0);
    sent(&mut network);
    network.change(Side::Sender, 2, UP);
    network.run(secs(2.2));
    let removed: Vec<_> =
        about_addresses(&sent(&mut network)).into_iter().map(|(_, _, option)| option).collect();
    assert_eq!(removed, [0, 1].map(|address_id| MptcpOption::RemoveAddr { address_id }));
    complete(network);
}

/// RFC 8684 section 3.4.1: with a wrong HMAC it is ignored and not echoed.
#[test]
fn a_forged_announcement_is_ignored() {
    let mut network = growing(FullmeshParameters::default());
    network.change(Side::Receiver, 1, UP);
    let genuine = sent(&mut network).into_iter().find(|(_, side, _)| *side == Side::Receiver);
    let mut forged = genuine.expect("it announces").2;
    let Some(MptcpOption::AddAddr { address_id, address, hmac: Some(hmac) }) = forged.mptcp() else {
        panic!("{forged:?}")
    };
    let mut other = growing(FullmeshParameters::default());
    for option in [
        MptcpOption::AddAddr { address_id, address, hmac: Some(hmac ^ 1) },
        MptcpOption::AddAddr { address_id: 2, address, hmac: Some(hmac) },
        MptcpOption::AddAddr { address_id, address: [192, 0, 2, 8], hmac: Some(hmac) },
    ] {
        forged.set_mptcp(option);
        other.sender.on_segment(other.now, &forged);
        other.flush();
    }
    assert_eq!((about_addresses(&sent(&mut other)), opened(&other)), (vec![], 1));
    forged.set_mptcp(MptcpOption::AddAddr { address_id, address, hmac: Some(hmac) });
    other.sender.on_segment(other.now, &forged);
    other.flush();
    assert_eq!((about_addresses(&sent(&mut other)).len(), opened(&other)), (1, 2));
}

/// `ip mptcp limits`: so many announced addresses are accepted, and so many subflows opened; every authentic
/// announcement is echoed all the same. An address that goes makes room for another.
#[test]
fn limits_hold_for_announced_addresses() {
    let count = |limit: u16, add_addr_accepted: u16| {
        let mut network = growing(FullmeshParameters { limit, add_addr_accepted });
        network.change(Side::Receiver, 1, UP);
        network.run(secs(2.0));
        network.change(Side::Receiver, 2, UP);
        network.run(secs(3.0));
        let echoes = about_addresses(&sent(&mut network));
        assert_eq!(echoes.iter().filter(|(side, ..)| *side == Side::Sender).count(), 2);
        (announcements(&mut network), network)
    };
    let live = |network: &Network| {
        (0..network.sender.subflow_count())
            .filter(|&i| state(network, i) == SubflowState::Established)
            .count()
    };
    let (accepted, network) = count(255, 0);
    assert_eq!((accepted, live(&network)), (vec![false, false], 1));
    let (accepted, mut network) = count(255, 1);
    assert_eq!((accepted, live(&network)), (vec![true, false], 2));
    network.change(Side::Receiver, 1, AddressChange::Down);
    network.run(secs(4.0));
    network.change(Side::Receiver, 2, AddressChange::Down);
    network.change(Side::Receiver, 2, UP);
    network.run(secs(5.0));
    assert_eq!((announcements(&mut network), live(&network)), (vec![true], 2));
    let (accepted, network) = count(2, 8);
    assert_eq!((accepted, live(&network)), (vec![true, true], 2));
    assert_eq!(live(&count(255, 8).1), 3);
}
