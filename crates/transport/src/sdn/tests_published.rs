//! Published mode against the times of the thesis: everything is sent once.

use super::testing::*;
use crate::agent::{CycleParameters, Failure, SenderAgent};
use crate::segment::{Flags, Segment};
use anabranch_units::{Instant, Span};

/// Section 4.4.1, figures 4.11 and A.1: 50 segments, the CTRL at 4.20 us, the SYN-ACK at 10.48 us, windows
/// of 17 from 18.88 us on, each 18.24 us after the last, and the FIN on the ACK of the last.
#[test]
fn the_single_flow_of_the_thesis() {
    let network = thesis(false).transfer(50 * 960, |_, _| Fate::Arrive);
    let data = network.data();
    let window = |start: u64, segments: u64| (0..segments).map(move |j| start + 100 * j);
    let expected: Vec<u64> = window(1888, 17).chain(window(3712, 17)).chain(window(5536, 16)).collect();
    assert_eq!(times(&data), expected);
    assert!(data.iter().all(|(_, segment)| segment.packet_len() == 1000));
    assert_eq!(network.sender.established_at(), Some(at_us(1048)));
    let rtt = network.sender.rtt();
    assert_eq!((rtt.min, rtt.mean, rtt.max), (us(1216), us(1216), us(1216)));
    // The first ACK is back at 31.04 us: it left 4.16 us before.
    assert_eq!(network.backward()[1].0, at_us(3104 - 416));
    let fin = network.forward(|segment| segment.flags.has(Flags::FIN));
    assert_eq!(times(&fin), [5536 + 1500 + 1216]);
    assert!(is_finished(&network.sender) && network.receiver.is_finished());
    assert_eq!(network.receiver.stats().delivered, 48_000);
    // SYN-ACK, one ACK for each segment, nothing for the FIN, 40 bytes each.
    assert_eq!(network.backward().len(), 51);
    assert_eq!(network.receiver.stats().acks, 50);
    assert!(network.backward().iter().all(|(_, segment)| segment.packet_len() == 40));
    assert!(network.forward(|s| s.payload == 0).iter().all(|(_, segment)| segment.packet_len() == 40));
}

/// A sender that has had its SYN-ACK at 10.48 us, and data.
fn established(reliable: bool) -> SenderAgent {
    let mut sender = SenderAgent::new(&paced(reliable), 7, 1);
    sender.open();
    sender.write_without_end();
    assert!(sender.poll_transmit(Instant::ZERO).is_some_and(|syn| syn.flags.has(Flags::SYN)));
    let flags = Flags::SYN.with(Flags::ACK);
    sender.on_segment(at_us(1048), &Segment { ack: 8, seq: 99, flags, ..Segment::default() });
    assert_eq!(sender.poll_transmit(at_us(1048)), None, "no pure ACK answers the SYN-ACK");
    sender
}

/// When data leave until `end`, in hundredths of microseconds.
fn slots(sender: &mut SenderAgent, end: u64) -> Vec<u64> {
    let sent = run(sender, end);
    assert!(sent.iter().all(|(_, s)| s.payload == 960 && s.flags == Flags::ACK && s.ack == 100));
    times(&sent)
}

/// Section 4.4.2: a second flow arrives, the window of the first shrinks to 8. Its CTRL comes at
/// 36.00 us here, its cycle at 49.16 us; until then the old cycle goes on, and not a segment further.
#[test]
fn a_cycle_ends_when_the_next_starts() {
    for reliable in [false, true] {
        let mut sender = established(reliable);
        sender.on_control(at_us(1100), &CycleParameters { delay_to_next_cycle: us(788), ..single_flow(1) });
        let mut left = slots(&mut sender, 3600);
        let second = CycleParameters { delay_to_next_cycle: us(1316), window_segments: 8, ..single_flow(2) };
        sender.on_control(at_us(3600), &second);
        assert_eq!(sender.poll_transmit(at_us(3600)), None);
        assert_eq!(sender.cwnd(), 17 * 960, "the stored parameters wait");
        left.extend(slots(&mut sender, 8000));
        let window = |start: u64, segments: u64| (0..segments).map(move |j| start + 100 * j);
        // 37.12 + 12 = 49.12 is the last slot before 49.16.
        let expected: Vec<u64> = (window(1888, 17).chain(window(3712, 13)))
            .chain(window(4916, 8))
            .chain(window(6740, 8))
            .collect();
        assert_eq!(left, expected, "reliable: {reliable}");
        assert_eq!((sender.cwnd(), sender.ssthresh()), (8 * 960, u64::MAX));
    }
}

/// A newer CTRL replaces stored parameters, and of two starts the later stands, whichever came first.
#[test]
fn a_pending_start_is_never_brought_forward() {
    for (first, second, start) in [(3000, 500, 4100), (500, 3000, 4400)] {
        let mut sender = established(false);
        let parameters = |epoch, delay, window_segments| CycleParameters {
            delay_to_next_cycle: us(delay),
            window_segments,
            ..single_flow(epoch)
        };
        sender.on_control(at_us(1100), &parameters(1, first, 17));
        sender.on_control(at_us(1400), &parameters(2, second, 2));
        assert_eq!(slots(&mut sender, start + 1000), [start, start + 100]);
    }
}

/// `sInitialDelay` comes once in a cycle; spacing and interval count from the first segment.
#[test]
fn the_initial_delay_comes_before_the_first_interval() {
    let mut sender = established(false);
    let parameters = CycleParameters {
        delay_to_next_cycle: us(100),
        initial_delay: us(912),
        window_segments: 2,
        ..single_flow(1)
    };
    sender.on_control(at_us(1200), &parameters);
    assert_eq!(slots(&mut sender, 5000), [2212, 2312, 4036, 4136]);
}

/// A CTRL whose cycle starts before the SYN-ACK is there: the slots until then pass unused, and those after
/// stay where they were.
#[test]
fn slots_pass_unused_during_the_handshake() {
    let mut network = thesis(false);
    network.controller.changes[0].1.delay_to_next_cycle = us(500);
    let network = network.transfer(20 * 960, |_, _| Fate::Arrive);
    // From 9.20 us on; the SYN-ACK at 10.48 us has let two slots pass.
    let expected: Vec<u64> = (1120..2600).step_by(100).chain((2744..3200).step_by(100)).collect();
    assert_eq!(times(&network.data()), expected);
    assert_eq!(network.assert_in_slots(false), 20);
}

/// One segment lost, and the flow stays as it is: nothing is sent again, no SACK, no FIN, no timer.
#[test]
fn a_lost_segment_leaves_the_flow_unfinished() {
    let mut number = 0;
    let network = thesis(false).transfer(30 * 960, |packet, _| {
        let data = matches!(packet, InTransit::Forward(segment) if segment.payload > 0);
        number += u64::from(data);
        if data && number == 5 { Fate::Lost } else { Fate::Arrive }
    });
    assert_eq!(network.data().len(), 30);
    assert_eq!(network.receiver.stats().delivered, 4 * 960);
    assert!(!is_finished(&network.sender) && !network.receiver.is_finished());
    let stats = network.sender.stats();
    assert_eq!((stats.segments, stats.retransmissions, stats.timeouts), (30, 0, 0));
    assert_eq!(network.sender.in_flight(), 26 * 960);
    assert!(network.backward().iter().all(|(_, segment)| segment.sack.is_empty()));
    assert!(network.forward(|segment| segment.flags.has(Flags::FIN)).is_empty());
}

/// Published CTRLs are not confirmed, and each is news, whatever its number.
#[test]
fn published_mode_knows_no_epochs() {
    let mut sender = established(false);
    sender.on_control(at_us(1100), &single_flow(5));
    sender.on_control(at_us(1100), &CycleParameters { window_segments: 3, ..single_flow(4) });
    assert_eq!(sender.poll_confirmation(), None);
    assert_eq!(slots(&mut sender, 4000), [2568, 2668, 2768]);
}

/// A SYN without an answer is sent once, and given up after the time of the configuration; so is a flow
/// that never hears from its controller.
#[test]
fn a_handshake_without_answer_fails() {
    for lost in [Flags::SYN, Flags::SYN.with(Flags::ACK)] {
        let network = thesis(false).transfer(960, |packet, _| match packet {
            InTransit::Forward(segment) | InTransit::Backward(segment) if segment.flags == lost => Fate::Lost,
            _ => Fate::Arrive,
        });
        assert_eq!(network.sender.failure(), Some(Failure::NoAnswer));
        assert_eq!(network.now, Instant::ZERO + Span::from_secs(127));
        assert_eq!(network.log.iter().filter(|(_, p)| matches!(p, InTransit::Forward(_))).count(), 1);
    }
    let silent = thesis(false).transfer(960, |packet, _| match packet {
        InTransit::Control(_) => Fate::Lost,
        _ => Fate::Arrive,
    });
    assert_eq!(silent.sender.failure(), Some(Failure::NoAnswer));
    assert_eq!(silent.sender.established_at(), Some(at_us(1048)));
}
