//! Data sequence numbers and data ACKs of 4 and of 8 octets (RFC 8684 section 3.3).

use super::testing::{Network, Side, Wire, mptcp, secs};
use super::{DataNumber, Dss, DssMapping, MptcpOption};
use crate::segment::{Flags, Segment};

/// What both ends of a transfer say: the segments with a data sequence signal and the signals.
fn signals(preset: &str) -> Vec<(Side, Segment, Dss)> {
    let mut network = Network::new(&mptcp(preset, 2), vec![Wire::new(10, 20), Wire::new(30, 20)], 5);
    network.log = Some(Vec::new());
    network.sender.open();
    network.sender.write(300_000);
    network.sender.close();
    assert!(network.run(secs(100.0)));
    network.check_complete(300_000);
    let log = network.log.take().unwrap();
    let signal = |(_, side, segment): (_, Side, Segment)| match segment.mptcp() {
        Some(MptcpOption::Dss(dss)) => Some((side, segment, dss)),
        _ => None,
    };
    log.into_iter().filter_map(signal).collect()
}

fn is_whole(number: DataNumber) -> bool {
    matches!(number, DataNumber::Whole(_))
}

/// All mappings have 8 octets. The receiver acknowledges in kind. The data ACK of a data segment keeps 4 octets, for the
/// payload of a full one leaves no more room; that of a pure ACK has 8 once the other end's DATA_FIN has come with 8.
#[test]
fn eight_octets_are_answered_in_kind() {
    let signals = signals("linux-mptcp");
    let whole_acks = |of: Side, with_data: bool| {
        let chosen =
            signals.iter().filter(|(side, segment, _)| *side == of && (segment.payload > 0) == with_data);
        chosen.map(|(.., dss)| dss.data_ack.is_some_and(is_whole)).collect::<Vec<bool>>()
    };
    for (side, segment, dss) in &signals {
        assert!(dss.mapping.is_none_or(|mapping| is_whole(mapping.data_seq)), "{side:?} {segment:?}");
    }
    assert!(whole_acks(Side::Receiver, false).into_iter().all(|whole| whole));
    let with_data = whole_acks(Side::Sender, true);
    assert!(with_data.len() > 200 && !with_data.contains(&true));
    assert!(whole_acks(Side::Sender, false).contains(&true));
    // 1460 bytes less 12 of timestamps and 24 of the signal: a packet is never longer than the path takes.
    assert_eq!(signals.iter().map(|(_, segment, _)| segment.payload).max(), Some(1424));
    assert_eq!(signals.iter().map(|(_, segment, _)| segment.packet_len()).max(), Some(1500));
}

/// Without the choice nobody writes 8 octets.
#[test]
fn four_octets_are_answered_in_kind() {
    for (side, segment, dss) in signals("mptcp-cubic") {
        let numbers = [dss.data_ack, dss.mapping.map(|mapping| mapping.data_seq)];
        assert!(!numbers.into_iter().flatten().any(is_whole), "{side:?} {segment:?}");
    }
}

/// Lower 32 bits that agree are not enough where all 64 are there: such data are not of this connection.
#[test]
fn data_with_a_foreign_upper_half_are_dropped() {
    for (change, taken) in [(0, 1_000), (1 << 32, 0), (1 << 63, 0)] {
        let mut network = Network::new(&mptcp("linux-mptcp", 1), vec![Wire::new(10, 20)], 5);
        network.log = Some(Vec::new());
        network.sender.open();
        network.sender.write(14_240);
        network.run(secs(2.0));
        let before = network.receiver.stats().delivered;
        let log = network.log.take().unwrap();
        let last = log.iter().rev().find(|(_, side, s)| *side == Side::Sender && s.payload > 0);
        let &(now, _, mut next) = last.unwrap();
        let Some(MptcpOption::Dss(Dss { mapping: Some(mapping), .. })) = next.mptcp() else {
            panic!("data have a mapping")
        };
        let DataNumber::Whole(number) = mapping.data_seq else { panic!("of 8 octets") };
        let length = u64::from(next.payload);
        next.seq = next.seq.wrapping_add(u32::from(next.payload));
        next.payload = 1_000;
        next.flags = next.flags.with(Flags::PSH);
        next.set_mptcp(MptcpOption::Dss(Dss {
            data_ack: None,
            mapping: Some(DssMapping {
                data_seq: DataNumber::Whole((number + length).wrapping_add(change)),
                subflow_seq: mapping.subflow_seq + u32::from(length as u16),
                length: 1_000,
            }),
            data_fin: false,
        }));
        network.receiver.on_segment(now, &next);
        assert_eq!(network.receiver.stats().delivered - before, taken, "{change:x}");
    }
}
